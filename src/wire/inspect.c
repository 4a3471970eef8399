#include "wire/inspect.h"

#include "base/text.h"
#include "wire/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const inspect_type_names[INSPECT_TYPE_COUNT] = {"not there", "null", "true or false",
	"an integer", "a number with a fraction", "a string", "an array", "an object"};

static const char empty_body[] =
	"the body is empty: send one JSON object; where a proxy drops the body "
	"of a GET, use POST on the same path";

const char *const inspect_remedies[INSPECT_FAULT_COUNT] = {
	[INSPECT_EMPTY] = empty_body,
	[INSPECT_GZIP] = "the body is compressed (gzip): send it uncompressed",
	[INSPECT_UTF16] = "the body is in UTF-16: send and sign it in UTF-8",
	[INSPECT_BOM] = "the body begins with a byte order mark: send UTF-8 without one",
	[INSPECT_FORM] =
		"the body is a form (name=value): send JSON with Content-Type: application/json",
	[INSPECT_MULTIPART] =
		"the body is a multipart form: send JSON with Content-Type: application/json",
	[INSPECT_PRINTED] = "the body is a printed PHP array: send what json_encode() makes of it",
	[INSPECT_QUOTED] =
		"the body is a JSON string that holds JSON: serialise it once, not twice",
	[INSPECT_SINGLE] =
		"the body has ' where JSON has \", as a printed Python dict: use a JSON library",
};

static void set_text(char text[INSPECT_TEXT_MAX], const char *from, size_t len)
{
	size_t room = INSPECT_TEXT_MAX - 1;

	if (len > room)
		len = room;
	/* Do not cut inside a character. */
	while (len && len == room && ((uint8_t)from[len] & 0xc0) == 0x80)
		len--, room--;
	memcpy(text, from, len);
	text[len] = '\0';
}

static bool body_begins(struct bytes body, const char *with, size_t len)
{
	return body.len >= len && memcmp(body.data, with, len) == 0;
}

/* Returns true for name=value pairs separated by &, which are not JSON. */
static bool is_form(struct bytes body)
{
	const char *text = (const char *)body.data;
	size_t at = 0;

	while (at < body.len && (isalnum((unsigned char)text[at]) || memchr("_-.%[]", text[at], 6)))
		at++;
	return at && at < body.len && text[at] == '=';
}

/* Returns true for an array in the format of print_r(), var_dump() or serialize(). */
static bool is_printed(struct bytes body)
{
	return body_begins(body, "Array", 5) || body_begins(body, "array(", 6) ||
		body_begins(body, "a:", 2);
}

/* Returns the fault that the first bytes show. */
static enum inspect_fault look_at_head(struct bytes body)
{
	if (!body.len)
		return INSPECT_EMPTY;
	if (body_begins(body, "\x1f\x8b", 2))
		return INSPECT_GZIP;
	if (body_begins(body, "\xef\xbb\xbf", 3))
		return INSPECT_BOM;
	if (body_begins(body, "\xff\xfe", 2) || body_begins(body, "\xfe\xff", 2) ||
		body_begins(body, "{\0", 2) || body_begins(body, "\0{", 2))
		return INSPECT_UTF16;
	if (body_begins(body, "--", 2))
		return INSPECT_MULTIPART;
	if (is_printed(body))
		return INSPECT_PRINTED;
	return is_form(body) ? INSPECT_FORM : INSPECT_FINE;
}

/* Returns the offset of the error's line and column, or the end of the body. */
static size_t place_of(struct bytes body, const json_error_t *error)
{
	size_t at = error->position > 0 ? (size_t)error->position : 0;

	return at < body.len ? at : body.len;
}

/* Classifies the text at @at, where the parser stopped. */
static enum inspect_fault look_at_place(struct bytes body, size_t at, struct inspection *inspection)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity", "None", "True", "False",
		"undefined", NULL};
	const char *text = (const char *)body.data;
	size_t before = at;

	/* The parser stopped after the unexpected token. */
	for (unsigned int i = 0; words[i]; i++) {
		size_t len = strlen(words[i]);

		for (size_t from = at > len ? at - len : 0; from <= at; from++) {
			if (from + len <= body.len && memcmp(text + from, words[i], len) == 0) {
				set_text(inspection->text, words[i], len);
				return INSPECT_WORD;
			}
		}
	}
	if (before && before <= body.len && memchr("}]", text[before - 1], 2)) {
		for (before--; before && memchr(" \t\r\n", text[before - 1], 4);)
			before--;
		if (before && text[before - 1] == ',')
			return INSPECT_COMMA;
	}
	if ((at && text[at - 1] == '\'') || (at < body.len && text[at] == '\''))
		return INSPECT_SINGLE;
	return at >= body.len ? INSPECT_CUT : INSPECT_SYNTAX;
}

static enum inspect_fault fault_of(struct bytes body, const json_error_t *error,
	struct inspection *inspection)
{
	const char *text = error->text, *quote;

	switch (json_error_code(error)) {
	case json_error_duplicate_key:
		/* duplicate object key near '"amount"' */
		quote = strstr(text, "near '");
		if (quote)
			set_text(inspection->text, quote + 6, strcspn(quote + 6, "'"));
		return INSPECT_TWICE;
	case json_error_invalid_utf8:
		return INSPECT_NOT_UTF8;
	case json_error_stack_overflow:
		return INSPECT_DEEP;
	case json_error_premature_end_of_input:
		return INSPECT_CUT;
	default:
		return look_at_place(body, place_of(body, error), inspection);
	}
}

void inspect_body(struct bytes body, struct inspection *inspection)
{
	const char *text = (const char *)body.data;
	char detail[BODY_DETAIL_MAX];
	json_error_t error;
	json_t *json = NULL;

	memset(inspection, 0, sizeof(*inspection));
	inspection->fault = look_at_head(body);
	if (inspection->fault != INSPECT_FINE)
		return;
	if (parse_object(text, body.len, &json, detail) == REFUSAL_NONE)
		goto out;
	json_decref(json);
	if (parse_has_zero(text, body.len, &inspection->line, &inspection->column)) {
		inspection->fault = INSPECT_ZERO;
		return;
	}
	json = json_loadb(text, body.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (json) {
		inspection->fault = json_is_object(json) ? INSPECT_DEEP : INSPECT_NOT_OBJECT;
		if (json_is_string(json) && strspn(json_string_value(json), "{["))
			inspection->fault = INSPECT_QUOTED;
		goto out;
	}
	inspection->line = error.line > 0 ? (unsigned int)error.line : 0;
	inspection->column = error.column > 0 ? (unsigned int)error.column : 0;
	inspection->fault = fault_of(body, &error, inspection);
out:
	json_decref(json);
}

static enum inspect_type type_of(const json_t *value)
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_OBJECT:
		return INSPECT_OBJECT;
	case JSON_ARRAY:
		return INSPECT_ARRAY;
	case JSON_STRING:
		return INSPECT_STRING;
	case JSON_INTEGER:
		return INSPECT_INTEGER;
	case JSON_REAL:
		return INSPECT_REAL;
	case JSON_TRUE:
	case JSON_FALSE:
		return INSPECT_BOOL;
	default:
		return value ? INSPECT_NULL : INSPECT_ABSENT;
	}
}

/* Returns true if two keys differ only in case, _ and -: userId and user_id. */
static bool is_similar(const char *one, const char *other)
{
	for (;;) {
		one += strspn(one, "_- ");
		other += strspn(other, "_- ");
		if (tolower((unsigned char)*one) != tolower((unsigned char)*other))
			return false;
		if (!*one)
			return true;
		one++;
		other++;
	}
}

void inspect_member(struct bytes body, const char *key, struct inspect_member *member)
{
	char detail[BODY_DETAIL_MAX];
	json_t *json = NULL, *value;
	struct bytes text;
	void *i;

	memset(member, 0, sizeof(*member));
	if (parse_object(body.data, body.len, &json, detail) != REFUSAL_NONE)
		goto out;
	value = json_object_get(json, key);
	member->type = type_of(value);
	if (value) {
		text = parse_text_of(body.data, body.len, json, key);
		set_text(member->text, (const char *)text.data, text.len);
		member->integer = json_is_string(value)
			? strtoll(json_string_value(value), NULL, 10)
			: json_integer_value(value);
		goto out;
	}
	for (i = json_object_iter(json); i && !member->similar[0];
		i = json_object_iter_next(json, i)) {
		if (is_similar(json_object_iter_key(i), key))
			set_text(member->similar, json_object_iter_key(i),
				strlen(json_object_iter_key(i)));
	}
out:
	json_decref(json);
}

bool inspect_string(struct bytes body, const char *key, char *to, size_t size)
{
	char detail[BODY_DETAIL_MAX];
	json_t *json = NULL;
	const json_t *value;
	bool copied = false;

	to[0] = '\0';
	if (parse_object(body.data, body.len, &json, detail) == REFUSAL_NONE) {
		value = json_object_get(json, key);
		copied = json_is_string(value) &&
			text_copy_len(to, size, json_string_value(value),
				json_string_length(value));
	}
	if (!copied)
		to[0] = '\0';
	json_decref(json);
	return copied;
}

/* Copies the string value of @key, or nothing. */
static void take_string(const json_t *json, const char *key, char *to, size_t size)
{
	const json_t *value = json_object_get(json, key);

	if (!json_is_string(value) ||
		!text_copy_len(to, size, json_string_value(value), json_string_length(value)))
		to[0] = '\0';
}

/* Copies the first amount that the body has, as it is written. */
static void take_amount(struct bytes body, json_t *json, char *to, size_t size)
{
	static const char *const keys[] = {"amount", "bet_amount", "payout_amount"};
	struct bytes text;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!json_is_number(json_object_get(json, keys[i])))
			continue;
		text = parse_text_of(body.data, body.len, json, keys[i]);
		if (!text_copy_len(to, size, (const char *)text.data, text.len))
			to[0] = '\0';
		return;
	}
	if (json_is_true(json_object_get(json, "all")))
		text_copy(to, size, "all");
}

void inspect_ids(struct bytes body, struct inspect_ids *ids)
{
	char detail[BODY_DETAIL_MAX];
	json_t *json = NULL;

	memset(ids, 0, sizeof(*ids));
	if (parse_object(body.data, body.len, &json, detail) == REFUSAL_NONE) {
		take_string(json, "casino_id", ids->casino_id, sizeof(ids->casino_id));
		take_string(json, "user_id", ids->user_id, sizeof(ids->user_id));
		take_string(json, "player_id", ids->player_id, sizeof(ids->player_id));
		take_string(json, "game_id", ids->game_id, sizeof(ids->game_id));
		take_string(json, "request_transaction_id", ids->request_transaction_id,
			sizeof(ids->request_transaction_id));
		take_amount(body, json, ids->amount, sizeof(ids->amount));
		ids->request_timestamp =
			json_integer_value(json_object_get(json, "request_timestamp"));
	}
	json_decref(json);
}
