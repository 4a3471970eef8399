/*
 * fuzz_body - the body of a request, by the table of every route (wire/body.h).
 *
 * The first byte chooses the route, the rest is the body. What is taken must be what another look
 * at the JSON says; a body that is refused must not have filled an amount.
 */
#include "fuzz.h"

#include "base/text.h"
#include "wire/bodies.h"
#include "wire/body.h"
#include "wire/operations.h"
#include "wire/render.h"

#include <jansson.h>

static const struct body_field *table_of(unsigned int choice)
{
	const struct body_field *tables[64];
	unsigned int count = 0;

	for (unsigned int i = 0; i < OPERATION_COUNT; i++) {
		if (http_operations[i].body)
			tables[count++] = http_operations[i].body;
	}
	return tables[choice % count];
}

static void check_text(const struct body_field *field, const json_t *value, const char *member)
{
	const size_t len = strnlen(member, field->size);

	must(json_is_string(value));
	must(len < field->size);
	must(len == json_string_length(value));
	must(memcmp(member, json_string_value(value), len) == 0);
	must(text_is_utf8_clean(member, len));
	must(len || field->type == BODY_TEXT);
	must(field->type != BODY_NAME || text_is_name(member, 64));
}

static void check_amount(const struct body_field *field, const json_t *value, const void *member)
{
	char text[64];
	money_t money;

	memcpy(&money, member, sizeof(money));
	must(money <= MONEY_MAX);
	must(money >= (field->type == BODY_AMOUNT));
	must(json_is_number(value));
	/* The nearest double of its four decimals is the very number. */
	snprintf(text, sizeof(text), "%lld.%04lld", (long long)money / MONEY_UNITS_PER_CREDIT,
		(long long)money % MONEY_UNITS_PER_CREDIT);
	must(strtod(text, NULL) == json_number_value(value));
}

static void check_object(const json_t *value, const void *member, struct bytes body)
{
	struct bytes object;
	json_t *again;

	memcpy(&object, member, sizeof(object));
	must(object.data >= body.data && object.data + object.len <= body.data + body.len);
	must(object.len >= 2 && object.data[0] == '{' && object.data[object.len - 1] == '}');
	again = json_loadb((const char *)object.data, object.len, JSON_REJECT_DUPLICATES, NULL);
	must(again && json_equal(again, value));
	json_decref(again);
}

static void check_number(const struct body_field *field, const json_t *value, const void *member)
{
	uint64_t number = field_load_number(member, field->size);

	if (field->type == BODY_INTEGER) {
		must(json_is_integer(value));
		must((int64_t)number == json_integer_value(value));
		must(number < UINT64_C(1) << 53);
	} else if (field->type == BODY_BOOL) {
		must(json_is_boolean(value) && number == (uint64_t)json_is_true(value));
	} else if (field->type == BODY_RESULT) {
		must(number > RESULT_NONE && number < ROUND_RESULT_COUNT);
		must(strcmp(json_string_value(value), round_result_names[number]) == 0);
	} else if (field->type == BODY_WORDS) {
		must(json_is_array(value));
		must((number != 0) == (json_array_size(value) != 0));
	} else {
		must(number == 1);
	}
}

/* @json is NULL where a number does not fit a double: another look is not possible then. */
static void check_taken(const struct body_field *field, const json_t *json, const uint8_t *record,
	const uint8_t *before, struct bytes body)
{
	const json_t *value = json_object_get(json, field->name);
	const uint8_t *member = record + field->offset;

	if (!json)
		return;
	if (!value) {
		must(!field->required);
		must(memcmp(member, before + field->offset, field->size) == 0);
		return;
	}
	switch (field->type) {
	case BODY_ID:
	case BODY_NAME:
	case BODY_TEXT:
		check_text(field, value, (const char *)member);
		break;
	case BODY_AMOUNT:
	case BODY_PAYOUT:
		check_amount(field, value, member);
		break;
	case BODY_OBJECT:
		check_object(value, member, body);
		break;
	default:
		check_number(field, value, member);
		break;
	}
}

static void check_refused(enum refusal refusal, const struct body_field *table,
	const uint8_t *record, const uint8_t *before, const char *detail, const json_t *json)
{
	const struct error_body error = {.refusal = refusal,
		.detail = detail,
		.request_id = "fuzz"};
	struct buffer out;
	json_t *told;

	must(refusal == REFUSAL_BAD_REQUEST || refusal == REFUSAL_INVALID_AMOUNT);
	must(detail[0] && strnlen(detail, BODY_DETAIL_MAX) < BODY_DETAIL_MAX);
	must(!json || !strstr(detail, "not valid JSON"));
	for (; table->name; table++) {
		if (table->type == BODY_AMOUNT || table->type == BODY_PAYOUT)
			must(memcmp(record + table->offset, before + table->offset, table->size) ==
				0);
	}
	buffer_init(&out, FUZZ_ROW_MAX);
	must(render_error(&out, &error));
	told = json_loadb((const char *)out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	must(told && strcmp(json_string_value(json_object_get(told, "detail")), detail) == 0);
	json_decref(told);
	buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes body = {data, (uint32_t)size};
	const struct body_field *table = table_of(fuzz_byte(&body)), *field;
	char detail[BODY_DETAIL_MAX], detail_again[BODY_DETAIL_MAX];
	union any_body record, again, before;
	enum refusal refusal;
	json_t *json;
	bool zero;

	memset(&before, 0xa5, sizeof(before));
	memcpy(&record, &before, sizeof(record));
	memcpy(&again, &before, sizeof(again));
	refusal = body_parse(body.data, body.len, table, &record, detail);
	/* Jansson does not see a zero byte after a number. */
	zero = body.len && memchr(body.data, 0, body.len);
	must(!zero || refusal == REFUSAL_BAD_REQUEST);
	json = zero ? NULL
		    : json_loadb((const char *)body.data, body.len, JSON_REJECT_DUPLICATES, NULL);
	if (refusal == REFUSAL_NONE) {
		must(!json || json_is_object(json));
		for (field = table; field->name; field++)
			check_taken(field, json, (const uint8_t *)&record, (const uint8_t *)&before,
				body);
	} else {
		check_refused(refusal, table, (const uint8_t *)&record, (const uint8_t *)&before,
			detail, json);
	}
	must(body_parse(body.data, body.len, table, &again, detail_again) == refusal);
	must(strcmp(detail, detail_again) == 0);
	must(memcmp(&record, &again, sizeof(record)) == 0);
	json_decref(json);
	return 0;
}
