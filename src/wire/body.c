#include "wire/body.h"

#include "base/text.h"
#include "domain/money.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER_MAX ((INT64_C(1) << 53) - 1)
#define NAME_MAX_BYTES 64
/* Above every amount. */
#define AMOUNT_LIMIT 1e11
/* A number of at most so many digits before its point fits int64_t and double. */
#define DIGITS_MAX 18
#define EXPONENT_CLIP INT64_C(1000000000000)

/*
 * Jansson 2.14 ignores a failed allocation while it collects a token: the token would lose bytes,
 * an amount a digit, a string its closing quote. So once an allocation fails during a parse all
 * that follow fail too, which ends the parse before the token is looked at.
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

static enum refusal refuse(enum refusal refusal, const char *text, char detail[BODY_DETAIL_MAX])
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

/* The exponent at @at ("e+12"), if there is one, added to *exponent. Returns where it ends. */
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
 * Reads the number whose first digit is at @at, as JSON's grammar has it. Returns where it ends;
 * *huge tells that it has more than DIGITS_MAX digits before its point when written out.
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
	/* Digits from the first that is not zero to the point; none or less for 0.0xyz. */
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

/* What the parser must not meet. */
struct survey {
	unsigned int nesting; /* the deepest; the outermost object counts 1 */
	bool huge;            /* a number that no int64_t or no double holds */
};

/*
 * Looks over @text before the parser does. With @copy, a copy of @text, every huge number in it is
 * overwritten by 1e99, which every use refuses as too large and the parser can hold: a number that
 * overflows would fail the whole parse, also under an unknown key.
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
				/* The shortest huge number, 1e18, is as long. */
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

/* Why the parser refused. */
static enum refusal explain(const json_error_t *error, char detail[BODY_DETAIL_MAX])
{
	/* Jansson gives no error at all for some of its allocations. */
	if (memory == MEMORY_EXHAUSTED)
		return refuse(REFUSAL_SERVICE_UNAVAILABLE, "out of memory", detail);
	if (json_error_code(error) == json_error_duplicate_key)
		return refuse(REFUSAL_BAD_REQUEST, "the body has a key twice", detail);
	snprintf(detail, BODY_DETAIL_MAX, "the body is not valid JSON (line %d, column %d)",
		error->line, error->column);
	return REFUSAL_BAD_REQUEST;
}

/* Parses into *body, for the caller to decref. */
static enum refusal load(const char *text, size_t len, json_t **body, char detail[BODY_DETAIL_MAX])
{
	static pthread_once_t installed = PTHREAD_ONCE_INIT;
	struct survey survey = look_over(text, len, NULL);
	enum refusal refusal = REFUSAL_NONE;
	json_error_t error;
	char *copy = NULL;

	if (!len)
		return refuse(REFUSAL_BAD_REQUEST, "the body is empty", detail);
	if (survey.nesting > BODY_NESTING_MAX) {
		snprintf(detail, BODY_DETAIL_MAX, "the body is nested deeper than %d",
			BODY_NESTING_MAX);
		return REFUSAL_BAD_REQUEST;
	}
	if (survey.huge) {
		copy = malloc(len);
		if (!copy)
			return refuse(REFUSAL_SERVICE_UNAVAILABLE, "out of memory", detail);
		memcpy(copy, text, len);
		look_over(text, len, copy);
		text = copy;
	}
	pthread_once(&installed, install_memory);
	memory = MEMORY_PARSING;
	*body = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!*body || memory == MEMORY_EXHAUSTED)
		refusal = explain(&error, detail);
	else if (!json_is_object(*body))
		refusal = refuse(REFUSAL_BAD_REQUEST, "the body is not a JSON object", detail);
	memory = MEMORY_ANY;
	free(copy);
	return refusal;
}

static enum refusal complain(const struct body_field *field, const char *must,
	char detail[BODY_DETAIL_MAX])
{
	snprintf(detail, BODY_DETAIL_MAX, "%s: %s", field->name, must);
	return REFUSAL_BAD_REQUEST;
}

static enum refusal take_text(const struct body_field *field, const json_t *value, char *member,
	char detail[BODY_DETAIL_MAX])
{
	size_t max = field->size - 1, len;
	char must[96];
	bool good;

	if (!json_is_string(value))
		return complain(field, "must be a string", detail);
	len = json_string_length(value);
	if (field->type == BODY_ID) {
		good = len >= 1 && len <= max && text_is_utf8_clean(json_string_value(value), len);
		snprintf(must, sizeof(must),
			"must be 1 to %zu bytes of UTF-8 without control characters", max);
	} else {
		if (max > NAME_MAX_BYTES)
			max = NAME_MAX_BYTES;
		good = text_is_name(json_string_value(value), max);
		snprintf(must, sizeof(must), "must be 1 to %zu of A-Z a-z 0-9 _ . -", max);
	}
	if (!good || !text_copy_len(member, field->size, json_string_value(value), len))
		return complain(field, must, detail);
	return REFUSAL_NONE;
}

static enum refusal take_integer(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	int64_t number = json_integer_value(value);

	if (!json_is_number(value))
		return complain(field, "must be an integer", detail);
	if (!json_is_integer(value) || number < 0 || number > INTEGER_MAX)
		return complain(field, "must be an integer from 0 to 9007199254740991", detail);
	memcpy(member, &number, sizeof(number));
	return REFUSAL_NONE;
}

/* The shape of one field; takes all but amounts, which are judged when every shape is good. */
static enum refusal take(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	if (!value)
		return field->required ? complain(field, "is required", detail) : REFUSAL_NONE;
	switch (field->type) {
	case BODY_ID:
	case BODY_NAME:
		return take_text(field, value, member, detail);
	case BODY_INTEGER:
		return take_integer(field, value, member, detail);
	case BODY_AMOUNT:
		if (!json_is_number(value))
			return complain(field, "must be a number", detail);
		break;
	case BODY_NONE:
		break;
	}
	return REFUSAL_NONE;
}

/* api.md, Common rules, Money. */
static enum refusal take_amount(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	double x = json_number_value(value);
	const char *must = NULL;
	money_t money;

	if (x <= 0)
		must = "must be above zero";
	else if (x >= AMOUNT_LIMIT)
		must = "must be at most 99999999999.9999";
	else if (json_is_integer(value) ? !money_from_integer(json_integer_value(value), &money)
					: !money_from_double(x, &money))
		must = "must have at most 4 decimals";
	if (must) {
		complain(field, must, detail);
		return REFUSAL_INVALID_AMOUNT;
	}
	memcpy(member, &money, sizeof(money));
	return REFUSAL_NONE;
}

enum refusal body_parse(const void *text, size_t len, const struct body_field *table, void *record,
	char detail[BODY_DETAIL_MAX])
{
	const struct body_field *field;
	json_t *body = NULL;
	enum refusal refusal;

	detail[0] = '\0';
	refusal = load(text, len, &body, detail);
	for (field = table; field->name && refusal == REFUSAL_NONE; field++)
		refusal = take(field, json_object_get(body, field->name),
			(char *)record + field->offset, detail);
	for (field = table; field->name && refusal == REFUSAL_NONE; field++) {
		const json_t *value = json_object_get(body, field->name);

		if (field->type == BODY_AMOUNT && value)
			refusal = take_amount(field, value, (char *)record + field->offset, detail);
	}
	json_decref(body);
	return refusal;
}
