#include "wire/parse.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number with at most this many digits before its point fits in int64_t and double. */
#define DIGITS_MAX    18
#define EXPONENT_CLIP INT64_C(1000000000000)

/*
 * Jansson 2.14 ignores a failed allocation while it collects a token. The token could lose bytes: a
 * digit of an amount, or the closing quote of a string. So after one failed allocation all later
 * ones in the parse fail too. The parse then ends before the token is used.
 */
static _Thread_local enum { MEMORY_ANY, MEMORY_PARSING, MEMORY_EXHAUSTED } memory;

static void *parse_malloc(size_t size)
{
	void *data = memory == MEMORY_EXHAUSTED ? NULL : malloc(size);

	if (!data && memory == MEMORY_PARSING)
		memory = MEMORY_EXHAUSTED;
	return data;
}

static void install_memory(void)
{
	json_set_alloc_funcs(parse_malloc, free);
}

static enum refusal refuse_body(enum refusal refusal, const char *text,
	char detail[BODY_DETAIL_MAX])
{
	snprintf(detail, BODY_DETAIL_MAX, "%s", text);
	return refusal;
}

static size_t skip_digits(const char *text, size_t len, size_t at)
{
	while (at < len && text[at] >= '0' && text[at] <= '9')
		at++;
	return at;
}

/* Adds the exponent at @at ("e+12"), if any, to *exponent. Returns the offset of its end. */
static size_t read_exponent(const char *text, size_t len, size_t at, int64_t *exponent)
{
	size_t digit = at + 1;
	int64_t value = 0;
	bool negative;

	if (at >= len || (text[at] != 'e' && text[at] != 'E'))
		return at;
	negative = digit < len && text[digit] == '-';
	if (negative || (digit < len && text[digit] == '+'))
		digit++;
	if (skip_digits(text, len, digit) == digit)
		return at;
	for (; digit < len && text[digit] >= '0' && text[digit] <= '9'; digit++) {
		if (value < EXPONENT_CLIP)
			value = value * 10 + (text[digit] - '0');
	}
	*exponent += negative ? -value : value;
	return digit;
}

/*
 * Reads the number whose first digit is at @at, by the grammar of JSON. Returns the offset of its
 * end. Sets *huge if it has more than DIGITS_MAX digits before its point when written out.
 */
static size_t read_number(const char *text, size_t len, size_t at, bool *huge)
{
	size_t end = text[at] == '0' ? at + 1 : skip_digits(text, len, at);
	size_t first = at, point = end, fraction;
	int64_t digits;

	if (end < len && text[end] == '.') {
		fraction = skip_digits(text, len, end + 1);
		if (fraction > end + 1)
			end = fraction;
	}
	while (first < end && (text[first] == '0' || text[first] == '.'))
		first++;
	/* Digits from the first that is not zero to the point; zero or negative for 0.0xyz. */
	digits = (int64_t)point - (int64_t)first + (first > point ? 1 : 0);
	if (first == end)
		digits = -EXPONENT_CLIP * 100;
	end = read_exponent(text, len, end, &digits);
	*huge = digits > DIGITS_MAX;
	return end;
}

static size_t skip_string(const char *text, size_t len, size_t at)
{
	for (at++; at < len && text[at] != '"'; at++) {
		if (text[at] == '\\')
			at++;
	}
	return at + 1;
}

/* Properties that the parser must not meet. */
struct survey {
	unsigned int nesting; /* deepest nesting; the outermost object counts as 1 */
	bool huge;            /* a number that fits no int64_t or no double */
};

/*
 * Examines @text before the parser. In @copy, a copy of @text, it overwrites every huge number with
 * 1e99. The parser accepts 1e99, and every use refuses it as too large. A number that overflows
 * would fail the whole parse, even under an unknown key.
 */
static struct survey look_over(const char *text, size_t len, char *copy)
{
	struct survey survey = {0, false};
	unsigned int depth = 0;
	size_t at = 0, end;
	bool huge;

	while (at < len) {
		switch (text[at]) {
		case '"':
			at = skip_string(text, len, at);
			continue;
		case '{':
		case '[':
			if (++depth > survey.nesting)
				survey.nesting = depth;
			break;
		case '}':
		case ']':
			if (depth)
				depth--;
			break;
		default:
			if (text[at] < '0' || text[at] > '9')
				break;
			end = read_number(text, len, at, &huge);
			survey.huge = survey.huge || huge;
			if (huge && copy) {
				/*
				 * 1e99 fits: the shortest huge number, 1e18, has the same length.
				 */
				memset(copy + at, ' ', end - at);
				memcpy(copy + at, "1e99", 4);
			}
			at = end;
			continue;
		}
		at++;
	}
	return survey;
}

bool parse_has_zero(const void *bytes, size_t len, unsigned int *line, unsigned int *column)
{
	const char *text = bytes;
	const char *zero = len ? memchr(text, 0, len) : NULL;

	if (!zero)
		return false;
	*line = *column = 1;
	for (; text < zero; text++) {
		if (*text == '\n') {
			(*line)++;
			*column = 1;
		} else if (((uint8_t)*text & 0xc0) != 0x80) {
			(*column)++;
		}
	}
	return true;
}

static enum refusal refuse_place(unsigned int line, unsigned int column,
	char detail[BODY_DETAIL_MAX])
{
	snprintf(detail, BODY_DETAIL_MAX, "the body is not valid JSON (line %u, column %u)", line,
		column);
	return REFUSAL_BAD_REQUEST;
}

/* Returns the reason for the parser's refusal. */
static enum refusal explain_error(const json_error_t *error, char detail[BODY_DETAIL_MAX])
{
	/* Jansson reports no error for some failed allocations. */
	if (memory == MEMORY_EXHAUSTED)
		return refuse_body(REFUSAL_SERVICE_UNAVAILABLE, "out of memory", detail);
	if (json_error_code(error) == json_error_duplicate_key)
		return refuse_body(REFUSAL_BAD_REQUEST,
			"the body has a key twice: send each key "
			"once",
			detail);
	return refuse_place((unsigned int)error->line, (unsigned int)error->column, detail);
}

enum refusal parse_object(const void *bytes, size_t len, json_t **body,
	char detail[BODY_DETAIL_MAX])
{
	static pthread_once_t installed = PTHREAD_ONCE_INIT;
	struct survey survey = look_over(bytes, len, NULL);
	enum refusal refusal = REFUSAL_NONE;
	const char *text = bytes;
	unsigned int line, column;
	json_error_t error;
	char *copy = NULL;

	*body = NULL;
	if (!len)
		return refuse_body(REFUSAL_BAD_REQUEST, "the body is empty", detail);
	if (parse_has_zero(bytes, len, &line, &column))
		return refuse_place(line, column, detail);
	if (survey.nesting > BODY_NESTING_MAX) {
		snprintf(detail, BODY_DETAIL_MAX,
			"the body is nested deeper than %d: send a "
			"flatter object",
			BODY_NESTING_MAX);
		return REFUSAL_BAD_REQUEST;
	}
	if (survey.huge) {
		copy = malloc(len);
		if (!copy)
			return refuse_body(REFUSAL_SERVICE_UNAVAILABLE, "out of memory", detail);
		memcpy(copy, text, len);
		look_over(text, len, copy);
		text = copy;
	}
	pthread_once(&installed, install_memory);
	memory = MEMORY_PARSING;
	*body = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!*body || memory == MEMORY_EXHAUSTED)
		refusal = explain_error(&error, detail);
	else if (!json_is_object(*body))
		refusal = refuse_body(REFUSAL_BAD_REQUEST, "the body is not a JSON object", detail);
	memory = MEMORY_ANY;
	free(copy);
	return refusal;
}

static size_t skip_space(const char *text, size_t len, size_t at)
{
	while (at < len &&
		(text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
		at++;
	return at;
}

/* Returns the end of the object, array or string at @at, in valid JSON. */
static size_t skip_nested(const char *text, size_t len, size_t at)
{
	unsigned int depth = 0;

	do {
		if (text[at] == '"') {
			at = skip_string(text, len, at);
			continue;
		}
		depth += text[at] == '{' || text[at] == '[';
		depth -= text[at] == '}' || text[at] == ']';
		at++;
	} while (depth && at < len);
	return at;
}

static size_t skip_value(const char *text, size_t len, size_t at)
{
	if (at < len && strchr("{[\"", text[at]))
		return skip_nested(text, len, at);
	while (at < len && !strchr(",}] \t\r\n", text[at]))
		at++;
	return at;
}

/*
 * Jansson reports no places, but keeps the order: the n-th key of the object is the n-th key of the
 * text, however the text escapes it.
 */
struct bytes parse_text_of(const void *bytes, size_t len, json_t *body, const char *key)
{
	const char *text = bytes;
	size_t at = skip_space(text, len, 0), end;

	for (void *i = json_object_iter(body); i; i = json_object_iter_next(body, i)) {
		/* After the brace or the comma: key, colon, value. */
		at = skip_space(text, len, at + 1);
		at = skip_space(text, len, skip_string(text, len, at));
		at = skip_space(text, len, at + 1);
		end = skip_value(text, len, at);
		if (strcmp(json_object_iter_key(i), key) == 0)
			return (struct bytes){(const uint8_t *)bytes + at, (uint32_t)(end - at)};
		at = skip_space(text, len, end);
	}
	return (struct bytes){NULL, 0};
}

struct bytes parse_next_item(struct bytes *rest)
{
	const char *text = (const char *)rest->data;
	/* After the bracket or the comma. */
	size_t at = rest->len ? skip_space(text, rest->len, 1) : 0, end;
	struct bytes item = {NULL, 0};

	if (at >= rest->len || text[at] == ']')
		return item;
	end = skip_value(text, rest->len, at);
	item = (struct bytes){rest->data + at, (uint32_t)(end - at)};
	end = skip_space(text, rest->len, end);
	*rest = (struct bytes){rest->data + end, (uint32_t)(rest->len - end)};
	return item;
}
