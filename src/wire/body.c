#include "wire/body.h"

#include "base/text.h"
#include "domain/money.h"
#include "domain/records.h"
#include "wire/inspect.h"
#include "wire/parse.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define INTEGER_MAX    ((INT64_C(1) << 53) - 1)
#define NAME_MAX_BYTES 64
/* Larger than every amount. */
#define AMOUNT_LIMIT 1e11
/* A longer number is not quoted in the answer. */
#define SENT_MAX 32

static enum refusal complain_of_field(const struct body_field *field, const char *must,
	char detail[BODY_DETAIL_MAX])
{
	snprintf(detail, BODY_DETAIL_MAX, "%s: %s", field->name, must);
	return REFUSAL_BAD_REQUEST;
}

static enum refusal take_text(const struct body_field *field, const json_t *value, char *member,
	char detail[BODY_DETAIL_MAX])
{
	size_t max = field->size - 1, len, min = field->type == BODY_ID;
	char must[96];
	bool good;

	if (!json_is_string(value))
		return complain_of_field(field, "must be a string", detail);
	len = json_string_length(value);
	if (field->type == BODY_ID || field->type == BODY_TEXT) {
		good = len >= min && len <= max &&
			text_is_utf8_clean(json_string_value(value), len);
		snprintf(must, sizeof(must),
			"must be %s%zu bytes of UTF-8 without control characters",
			min ? "1 to " : "at most ", max);
	} else {
		if (max > NAME_MAX_BYTES)
			max = NAME_MAX_BYTES;
		good = text_is_name(json_string_value(value), max);
		snprintf(must, sizeof(must), "must be 1 to %zu of A-Z a-z 0-9 _ . -", max);
	}
	if (!good || !text_copy_len(member, field->size, json_string_value(value), len))
		return complain_of_field(field, must, detail);
	return REFUSAL_NONE;
}

static enum refusal take_integer(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	int64_t number = json_integer_value(value);

	if (!json_is_number(value))
		return complain_of_field(field, "must be an integer", detail);
	if (!json_is_integer(value) || number < 0 || number > INTEGER_MAX)
		return complain_of_field(field, "must be an integer from 0 to 9007199254740991",
			detail);
	memcpy(member, &number, sizeof(number));
	return REFUSAL_NONE;
}

static enum refusal take_bool(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	const bool set = json_is_true(value);

	if (!json_is_boolean(value))
		return complain_of_field(field, "must be true or false", detail);
	memcpy(member, &set, sizeof(set));
	return REFUSAL_NONE;
}

static enum refusal take_result(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	const char *text = json_string_value(value);

	if (!text)
		return complain_of_field(field, "must be a string", detail);
	for (unsigned int i = RESULT_NONE + 1; i < ROUND_RESULT_COUNT; i++) {
		const enum round_result result = (enum round_result)i;

		if (strcmp(round_result_names[i], text) != 0)
			continue;
		memcpy(member, &result, sizeof(result));
		return REFUSAL_NONE;
	}
	return complain_of_field(field, "must be win, loss or refund", detail);
}

/* Returns the bit of @word in @words, or 0 if it is none of them. */
static uint32_t word_bit(const char *const *words, const json_t *word)
{
	const char *text = json_string_value(word);

	for (unsigned int i = 0; text && words[i]; i++) {
		if (strcmp(words[i], text) == 0)
			return UINT32_C(1) << i;
	}
	return 0;
}

static enum refusal take_words(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	uint32_t set = 0, bit;

	if (!json_is_array(value))
		return complain_of_field(field, "must be an array", detail);
	for (size_t i = 0; i < json_array_size(value); i++) {
		bit = word_bit(field->words, json_array_get(value, i));
		if (!bit)
			return complain_of_field(field, "holds what is not known", detail);
		set |= bit;
	}
	memcpy(member, &set, sizeof(set));
	return REFUSAL_NONE;
}

/* For members of which only the presence matters. */
static enum refusal take_presence(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	const bool there = true;

	if (field->type == BODY_HAS_STRING && !json_is_string(value))
		return complain_of_field(field, "must be a string", detail);
	if (field->type == BODY_HAS_OBJECT && !json_is_object(value))
		return complain_of_field(field, "must be an object", detail);
	memcpy(member, &there, sizeof(there));
	return REFUSAL_NONE;
}

/* Returns true for a string that would be a number without its quotes. */
static bool number_in_quotes(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && text[strspn(text, " +-")] && strspn(text, "0123456789.+- ") == strlen(text);
}

/*
 * Checks the type of one field and stores its value. Amounts and objects are stored later, when
 * every type is correct.
 */
static enum refusal take_member(const struct body_field *field, const json_t *value, void *member,
	char detail[BODY_DETAIL_MAX])
{
	if (!value)
		return field->required ? complain_of_field(field, "is required", detail)
				       : REFUSAL_NONE;
	switch (field->type) {
	case BODY_ID:
	case BODY_NAME:
	case BODY_TEXT:
		return take_text(field, value, member, detail);
	case BODY_BOOL:
		return take_bool(field, value, member, detail);
	case BODY_RESULT:
		return take_result(field, value, member, detail);
	case BODY_WORDS:
		return take_words(field, value, member, detail);
	case BODY_INTEGER:
		return take_integer(field, value, member, detail);
	case BODY_HAS_STRING:
	case BODY_HAS_OBJECT:
	case BODY_HAS_ANY:
		return take_presence(field, value, member, detail);
	case BODY_AMOUNT:
	case BODY_PAYOUT:
		if (!json_is_number(value))
			return complain_of_field(field,
				number_in_quotes(value) ? "must be a number, without quotes"
							: "must be a number",
				detail);
		break;
	case BODY_OBJECT:
		if (!json_is_object(value))
			return complain_of_field(field, "must be an object", detail);
		break;
	case BODY_ARRAY:
		if (!json_is_array(value))
			return complain_of_field(field, "must be an array", detail);
		break;
	case BODY_NONE:
		break;
	}
	return REFUSAL_NONE;
}

/* Writes a message with the nearest amount if there are too many decimals, as in 0.1 + 0.2. */
static void complain_decimals(const struct body_field *field, double x, struct bytes sent,
	unsigned int decimals, char detail[BODY_DETAIL_MAX])
{
	char nearest[MONEY_TEXT_MAX], must[96];
	money_t money;

	money_nearest(x, decimals, &money);
	if (money > 0 && sent.len <= SENT_MAX) {
		money_format(money, decimals, nearest);
		snprintf(must, sizeof(must), "must have at most %u decimals; %.*s is nearest to %s",
			decimals, (int)sent.len, (const char *)sent.data, nearest);
	} else {
		snprintf(must, sizeof(must), "must have at most %u decimals", decimals);
	}
	complain_of_field(field, must, detail);
}

/* contract, "Amounts". @sent is the number's text in the body. */
static enum refusal take_amount(const struct body_field *field, const json_t *value, void *member,
	struct bytes sent, unsigned int decimals, char detail[BODY_DETAIL_MAX])
{
	double x = json_number_value(value);
	const char *must = NULL;
	money_t money;

	if (x < 0 && field->type == BODY_PAYOUT)
		must = "must not be negative";
	else if (x <= 0 && field->type == BODY_AMOUNT)
		must = "must be above zero";
	else if (x >= AMOUNT_LIMIT)
		must = "must be at most 99999999999.9999";
	else if (json_is_integer(value) ? !money_from_integer(json_integer_value(value), &money)
					: !money_from_double(x, &money)) {
		complain_decimals(field, x, sent, decimals, detail);
		return REFUSAL_INVALID_AMOUNT;
	}
	if (must) {
		complain_of_field(field, must, detail);
		return REFUSAL_INVALID_AMOUNT;
	}
	memcpy(member, &money, sizeof(money));
	return REFUSAL_NONE;
}

/* Replaces the parser's message of a syntax error when the kind of the body is known. */
static const char not_json[] = "the body is not valid JSON";

static void tell_kind(const void *text, size_t len, char detail[BODY_DETAIL_MAX])
{
	struct inspection inspection;

	if (len && strncmp(detail, not_json, sizeof(not_json) - 1) != 0)
		return;
	inspect_body((struct bytes){text, (uint32_t)len}, &inspection);
	if (inspect_remedies[inspection.fault])
		snprintf(detail, BODY_DETAIL_MAX, "%s", inspect_remedies[inspection.fault]);
}

enum refusal body_parse(const void *text, size_t len, const struct body_field *table, void *record,
	char detail[BODY_DETAIL_MAX])
{
	return body_parse_of(text, len, table, record, MONEY_DECIMALS_MAX, detail);
}

enum refusal body_parse_of(const void *text, size_t len, const struct body_field *table,
	void *record, unsigned int decimals, char detail[BODY_DETAIL_MAX])
{
	const struct body_field *field;
	struct bytes object;
	json_t *body = NULL;
	enum refusal refusal;

	detail[0] = '\0';
	refusal = parse_object(text, len, &body, detail);
	if (refusal == REFUSAL_BAD_REQUEST)
		tell_kind(text, len, detail);
	for (field = table; field->name && refusal == REFUSAL_NONE; field++)
		refusal = take_member(field, json_object_get(body, field->name),
			(char *)record + field->offset, detail);
	for (field = table; field->name && refusal == REFUSAL_NONE; field++) {
		const json_t *value = json_object_get(body, field->name);
		char *member = (char *)record + field->offset;

		if (!value)
			continue;
		if (field->type == BODY_AMOUNT || field->type == BODY_PAYOUT)
			refusal = take_amount(field, value, member,
				parse_text_of(text, len, body, field->name), decimals, detail);
		if (field->type == BODY_OBJECT || field->type == BODY_ARRAY) {
			object = parse_text_of(text, len, body, field->name);
			memcpy(member, &object, sizeof(object));
		}
	}
	json_decref(body);
	return refusal;
}

bool body_next_item(struct bytes *rest, struct bytes *item)
{
	*item = parse_next_item(rest);
	return item->len > 0;
}
