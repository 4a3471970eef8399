#include "wire/rewrite.h"

#include "base/text.h"
#include "wire/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of members of an object. A text with a larger object is not rewritten. */
#define MEMBERS_MAX     1024
#define NUMBER_TEXT_MAX 40

/* State of the pass over the text. */
struct json_walk {
	const char *text;
	size_t len;
	size_t at;
	const struct rewrite_form *form;
	struct buffer *out;
};

struct member {
	size_t key; /* offsets of its key and its value */
	size_t value;
};

bool rewrite_may(struct bytes text)
{
	char detail[BODY_DETAIL_MAX];
	json_t *json = NULL;
	bool may = parse_object(text.data, text.len, &json, detail) == REFUSAL_NONE;

	json_decref(json);
	return may;
}

static void skip_space(struct json_walk *walk)
{
	while (walk->at < walk->len && strchr(" \t\r\n", walk->text[walk->at]))
		walk->at++;
}

static char peek_char(struct json_walk *walk)
{
	skip_space(walk);
	return walk->at < walk->len ? walk->text[walk->at] : '\0';
}

/* Starts a new line at @depth, for layouts with lines. */
static void new_line(struct json_walk *walk, unsigned int depth)
{
	static const char *const indents[LAYOUT_COUNT] =
		{[LAYOUT_INDENT_2] = "  ", [LAYOUT_INDENT_4] = "    ", [LAYOUT_INDENT_TAB] = "\t"};
	const char *indent = indents[walk->form->layout];

	if (!indent)
		return;
	buffer_append_str(walk->out, "\n");
	for (unsigned int i = 0; i < depth; i++)
		buffer_append_str(walk->out, indent);
}

static unsigned int read_hex4(const char *text)
{
	char digits[5] = "";

	memcpy(digits, text, 4);
	return (unsigned int)strtoul(digits, NULL, 16);
}

/*
 * Reads the character of a string at walk->at, escaped or not. A surrogate pair is one character.
 */
static uint32_t read_character(struct json_walk *walk)
{
	static const char names[] = "bfnrt", characters[] = "\b\f\n\r\t";
	const char *text = walk->text + walk->at, *name;
	uint32_t code = 0, low;
	size_t len;

	if (text[0] != '\\') {
		len = text_utf8_len(text, walk->len - walk->at, &code);
		walk->at += len ? len : 1;
		return code;
	}
	if (text[1] != 'u') {
		name = strchr(names, text[1]);
		walk->at += 2;
		return name && *name ? (uint32_t)characters[name - names] : (uint8_t)text[1];
	}
	code = read_hex4(text + 2);
	walk->at += 6;
	if (code >= 0xd800 && code < 0xdc00 && walk->at + 6 <= walk->len && text[6] == '\\') {
		low = read_hex4(text + 8);
		walk->at += 6;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	return code;
}

static void put_utf8(struct buffer *out, uint32_t code)
{
	uint8_t bytes[4];
	size_t len = 0;

	if (code < 0x80) {
		bytes[len++] = (uint8_t)code;
	} else if (code < 0x800) {
		bytes[len++] = (uint8_t)(0xc0 | code >> 6);
		bytes[len++] = (uint8_t)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		bytes[len++] = (uint8_t)(0xe0 | code >> 12);
		bytes[len++] = (uint8_t)(0x80 | (code >> 6 & 63));
		bytes[len++] = (uint8_t)(0x80 | (code & 63));
	} else {
		bytes[len++] = (uint8_t)(0xf0 | code >> 18);
		bytes[len++] = (uint8_t)(0x80 | (code >> 12 & 63));
		bytes[len++] = (uint8_t)(0x80 | (code >> 6 & 63));
		bytes[len++] = (uint8_t)(0x80 | (code & 63));
	}
	buffer_append(out, bytes, len);
}

static void put_escape(struct json_walk *walk, uint32_t code)
{
	if (code >= 0x10000) {
		put_escape(walk, 0xd800 + ((code - 0x10000) >> 10));
		code = 0xdc00 + ((code - 0x10000) & 0x3ff);
	}
	if (walk->form->escape == ESCAPE_UNICODE_UP)
		buffer_printf(walk->out, "\\u%04X", code);
	else
		buffer_printf(walk->out, "\\u%04x", code);
}

static void put_character(struct json_walk *walk, uint32_t code)
{
	static const char names[] = "bfnrt\"\\", characters[] = "\b\f\n\r\t\"\\";
	const char *found = code && code < 0x80 ? strchr(characters, (int)code) : NULL;
	const struct rewrite_form *form = walk->form;

	if (found)
		buffer_printf(walk->out, "\\%c", names[found - characters]);
	else if (code == '/' && form->slashes)
		buffer_append_str(walk->out, "\\/");
	else if (code < 0x20)
		put_escape(walk, code);
	else if (code >= 0x80 &&
		(form->escape == ESCAPE_UNICODE || form->escape == ESCAPE_UNICODE_UP))
		put_escape(walk, code);
	else if (form->escape == ESCAPE_HTML && (code == '<' || code == '>' || code == '&'))
		put_escape(walk, code);
	else
		put_utf8(walk->out, code);
}

/* Continue after the quotes. */
static void put_string(struct json_walk *walk)
{
	buffer_append_str(walk->out, "\"");
	for (walk->at++; walk->at < walk->len && walk->text[walk->at] != '"';)
		put_character(walk, read_character(walk));
	walk->at++;
	buffer_append_str(walk->out, "\"");
}

/* A number, or true, false, null. */
static void put_word(struct json_walk *walk)
{
	size_t from = walk->at, len;
	enum rewrite_number number = walk->form->number;
	char text[NUMBER_TEXT_MAX + 1] = "";
	double value;

	while (walk->at < walk->len && !strchr(",]} \t\r\n", walk->text[walk->at]))
		walk->at++;
	len = walk->at - from;
	if (number == NUMBER_AS_IS || len > 18 || strchr("tfn", walk->text[from])) {
		buffer_append(walk->out, walk->text + from, len);
		return;
	}
	memcpy(text, walk->text + from, len);
	/* Only a point or an exponent marks a float. Times and ids stay unchanged. */
	if (!strpbrk(text, ".eE") && (number == NUMBER_SHORT || len > 12)) {
		buffer_append_str(walk->out, text);
		return;
	}
	value = strtod(text, NULL);
	if (number == NUMBER_FIXED)
		snprintf(text, sizeof(text), "%.2f", value);
	else
		snprintf(text, sizeof(text), "%.15g", value);
	buffer_append_str(walk->out, text);
	if (number == NUMBER_POINT && !strpbrk(text, ".e"))
		buffer_append_str(walk->out, ".0");
}

static void put_value(struct json_walk *walk, unsigned int depth);

static void skip_value(struct json_walk *walk)
{
	unsigned int depth = 0;
	char c;

	do {
		c = peek_char(walk);
		if (c == '"') {
			for (walk->at++; walk->at < walk->len && walk->text[walk->at] != '"';)
				walk->at += walk->text[walk->at] == '\\' ? 2 : 1;
			walk->at++;
		} else if (c == '{' || c == '[') {
			depth++;
			walk->at++;
		} else if (c == '}' || c == ']') {
			depth--;
			walk->at++;
		} else if (c == ',' || c == ':') {
			walk->at++;
		} else {
			while (walk->at < walk->len && !strchr(",:]} \t\r\n", walk->text[walk->at]))
				walk->at++;
		}
	} while (depth && walk->at < walk->len);
}

/* Finds the members of the object at walk->at and sets walk->at to its end. */
static size_t find_members(struct json_walk *walk, struct member *members)
{
	size_t count = 0;

	for (walk->at++; peek_char(walk) != '}' && walk->at < walk->len;) {
		if (peek_char(walk) == ',')
			walk->at++;
		skip_space(walk);
		if (count == MEMBERS_MAX)
			return 0;
		members[count].key = walk->at;
		skip_value(walk);
		skip_space(walk);
		walk->at++;
		skip_space(walk);
		members[count++].value = walk->at;
		skip_value(walk);
	}
	walk->at++;
	return count;
}

/* Compares keys in their escaped form. Serialisers that sort have plain names. */
static int compare_members(const void *one, const void *other, void *text)
{
	const char *a = (const char *)text + ((const struct member *)one)->key + 1;
	const char *b = (const char *)text + ((const struct member *)other)->key + 1;

	while (*a == *b && *a != '"') {
		a++;
		b++;
	}
	return (*a == '"' ? -1 : (int)(uint8_t)*a) - (*b == '"' ? -1 : (int)(uint8_t)*b);
}

static void put_members(struct json_walk *walk, const struct member *members, size_t count,
	unsigned int depth)
{
	enum rewrite_layout layout = walk->form->layout;
	const char *comma = layout == LAYOUT_SPACED ? ", " : ",";
	const char *colon = layout == LAYOUT_COMPACT ? ":" : ": ";

	for (size_t i = 0; i < count; i++) {
		if (i)
			buffer_append_str(walk->out, comma);
		new_line(walk, depth + 1);
		walk->at = members[i].key;
		put_string(walk);
		buffer_append_str(walk->out, colon);
		walk->at = members[i].value;
		put_value(walk, depth + 1);
	}
}

static void put_object(struct json_walk *walk, unsigned int depth)
{
	struct member *members = malloc(MEMBERS_MAX * sizeof(*members));
	size_t count, end;

	count = members ? find_members(walk, members) : 0;
	if (!members || (!count && walk->text[walk->at - 1] != '}')) {
		walk->out->failed = true;
		free(members);
		return;
	}
	end = walk->at;
	if (walk->form->sorted)
		qsort_r(members, count, sizeof(*members), compare_members,
			(void *)(uintptr_t)walk->text);
	buffer_append_str(walk->out, "{");
	put_members(walk, members, count, depth);
	if (count)
		new_line(walk, depth);
	buffer_append_str(walk->out, "}");
	walk->at = end;
	free(members);
}

static void put_array(struct json_walk *walk, unsigned int depth)
{
	const char *comma = walk->form->layout == LAYOUT_SPACED ? ", " : ",";
	bool empty;

	walk->at++;
	empty = peek_char(walk) == ']';
	buffer_append_str(walk->out, "[");
	while (peek_char(walk) != ']' && walk->at < walk->len && !walk->out->failed) {
		if (peek_char(walk) == ',') {
			buffer_append_str(walk->out, comma);
			walk->at++;
		}
		new_line(walk, depth + 1);
		put_value(walk, depth + 1);
	}
	walk->at++;
	if (!empty)
		new_line(walk, depth);
	buffer_append_str(walk->out, "]");
}

static void put_value(struct json_walk *walk, unsigned int depth)
{
	switch (peek_char(walk)) {
	case '{':
		put_object(walk, depth);
		break;
	case '[':
		put_array(walk, depth);
		break;
	case '"':
		put_string(walk);
		break;
	default:
		put_word(walk);
	}
}

bool rewrite_json(struct bytes text, const struct rewrite_form *form, struct buffer *out)
{
	struct json_walk walk = {(const char *)text.data, text.len, 0, form, out};

	put_value(&walk, 0);
	return !out->failed;
}

void rewrite_name(const struct rewrite_form *form, char name[REWRITE_NAME_MAX])
{
	static const char *const layouts[LAYOUT_COUNT] = {"compact", "a space after : and ,",
		"a space after :", "indented by 2", "indented by 4", "indented by tabs"};
	static const char *const escapes[ESCAPE_COUNT] = {"", ", \\u00e9 for other letters",
		", \\u00E9 for other letters", ", \\u003c for <"};
	static const char *const numbers[NUMBER_COUNT] = {"", ", 10 for 10.0", ", 10.0 for 10",
		", 10.00 for 10"};

	snprintf(name, REWRITE_NAME_MAX, "%s%s%s%s%s", layouts[form->layout],
		form->sorted ? ", keys sorted" : "", form->slashes ? ", \\/ for /" : "",
		escapes[form->escape], numbers[form->number]);
}
