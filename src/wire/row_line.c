#include "wire/row_line.h"

#include "domain/money.h"
#include "wire/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_KEY "record"

/* State of the row that is filled. */
struct taking {
	struct row_line *line;
	bool secrets;
	char *why;
};

static enum row_line_status take_members(struct taking *taking, const json_t *object,
	const struct field *table, uint8_t *row, size_t others);

static enum row_line_status bad_line(char why[ROW_LINE_WHY_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static enum row_line_status bad_line(char why[ROW_LINE_WHY_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, ROW_LINE_WHY_SIZE, format, args);
	va_end(args);
	return ROW_LINE_BAD;
}

static enum row_line_status unfit_member(struct taking *taking, const struct field *field,
	const char *must)
{
	return bad_line(taking->why, "%s must be %s", field->name, must);
}

void row_line_init(struct row_line *line)
{
	memset(line, 0, sizeof(*line));
	arena_init(&line->bytes);
}

void row_line_free(struct row_line *line)
{
	json_decref(line->json);
	arena_free(&line->bytes);
	row_line_init(line);
}

enum row_line_status row_line_read(struct row_line *line, const char *text, size_t len,
	char why[ROW_LINE_WHY_SIZE])
{
	char detail[BODY_DETAIL_MAX];
	json_t *json = NULL;
	const char *name;
	enum refusal refusal = parse_object(text, len, &json, detail);

	arena_reset(&line->bytes);
	json_decref(line->json);
	line->json = json;
	if (refusal == REFUSAL_SERVICE_UNAVAILABLE)
		return ROW_LINE_NO_MEMORY;
	if (refusal != REFUSAL_NONE)
		return bad_line(why, "it is no object of JSON (%s)", detail);
	name = json_string_value(json_object_get(json, RECORD_KEY));
	if (!name || strlen(name) >= sizeof(line->name))
		return bad_line(why, "it does not name its record");
	snprintf(line->name, sizeof(line->name), "%s", name);
	return ROW_LINE_DONE;
}

/* Reads an integer, or a string of its digits. */
static bool take_digits(const json_t *value, bool *negative, uint64_t *number)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_integer(value)) {
		*negative = json_integer_value(value) < 0;
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	*negative = text && text[0] == '-';
	if (!text || text[*negative] < '0' || text[*negative] > '9')
		return false;
	errno = 0;
	*number = *negative ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	return !errno && !*end;
}

static enum row_line_status take_number(struct taking *taking, const struct field *field,
	const json_t *value, uint8_t *member)
{
	const bool sign = field->type == FIELD_I32 || field->type == FIELD_TIME_MS;
	const unsigned int bits = 8 * field->size;
	uint64_t number, max = UINT64_MAX >> (64 - bits + sign);
	bool negative;

	if (!take_digits(value, &negative, &number))
		return unfit_member(taking, field, "a whole number");
	if (negative ? !sign || ~number > max : number > max)
		return unfit_member(taking, field, "a number that fits");
	field_store_number(member, field->size, number);
	return ROW_LINE_DONE;
}

static enum row_line_status take_enum(struct taking *taking, const struct field *field,
	const json_t *value, uint8_t *member)
{
	const char *text = json_string_value(value);

	for (uint32_t i = 0; text && i < field->count; i++) {
		if (strcmp(text, field->names[i]) != 0)
			continue;
		field_store_number(member, field->size, i);
		return ROW_LINE_DONE;
	}
	return unfit_member(taking, field, "one of its names");
}

/* Sums exceed the limit of amounts, and so may an amount of a damaged row. */
static enum row_line_status take_sum(struct taking *taking, const struct field *field,
	const json_t *value, uint8_t *member)
{
	const char *text = json_string_value(value);
	money_t money;
	sum_t sum;

	if (!text || !sum_from_text(text, &sum))
		return unfit_member(taking, field, "an amount in a string, such as \"12.34\"");
	if (field->type != FIELD_MONEY) {
		memcpy(member, &sum, sizeof(sum));
		return ROW_LINE_DONE;
	}
	if (sum > INT64_MAX || sum < INT64_MIN)
		return unfit_member(taking, field, "an amount that fits");
	money = (money_t)sum;
	memcpy(member, &money, sizeof(money));
	return ROW_LINE_DONE;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum row_line_status take_hex(struct taking *taking, const struct field *field,
	const char *hex, struct bytes *bytes)
{
	const size_t len = strlen(hex) / 2;
	uint8_t *data = arena_take(&taking->line->bytes, len ? len : 1);

	if (!data)
		return ROW_LINE_NO_MEMORY;
	for (size_t i = 0; i < len; i++) {
		int high = digit_of(hex[2 * i]), low = digit_of(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return unfit_member(taking, field, "hex digits");
		data[i] = (uint8_t)(high << 4 | low);
	}
	*bytes = (struct bytes){data, (uint32_t)len};
	return hex[2 * len] ? unfit_member(taking, field, "pairs of hex digits") : ROW_LINE_DONE;
}

/* Reads the bytes of a string, or of {"hex":"..."}. */
static enum row_line_status take_bytes(struct taking *taking, const struct field *field,
	const json_t *value, struct bytes *bytes)
{
	const char *hex = json_string_value(json_object_get(value, "hex"));

	if (hex && json_object_size(value) == 1)
		return take_hex(taking, field, hex, bytes);
	if (!json_is_string(value) || json_string_length(value) > UINT32_MAX)
		return unfit_member(taking, field, "a string");
	*bytes = (struct bytes){(const uint8_t *)json_string_value(value),
		(uint32_t)json_string_length(value)};
	if (!bytes->len)
		bytes->data = NULL;
	return ROW_LINE_DONE;
}

static enum row_line_status take_text(struct taking *taking, const struct field *field,
	const json_t *value, uint8_t *member)
{
	struct bytes bytes = {NULL, 0};
	enum row_line_status status = take_bytes(taking, field, value, &bytes);

	if (status)
		return status;
	if (bytes.len >= field->size || (bytes.len && memchr(bytes.data, 0, bytes.len)))
		return unfit_member(taking, field, "shorter, and without NUL");
	if (bytes.len)
		memcpy(member, bytes.data, bytes.len);
	return ROW_LINE_DONE;
}

static enum row_line_status take_group(struct taking *taking, const struct field *field,
	const json_t *value, uint8_t *member)
{
	enum row_line_status status = ROW_LINE_DONE;
	const json_t *element;

	if (field->count == 1)
		return json_is_object(value) ? take_members(taking, value, field->sub, member, 0)
					     : unfit_member(taking, field, "an object");
	if (!json_is_array(value) || json_array_size(value) != field->count)
		return unfit_member(taking, field, "an array of all its elements");
	for (uint32_t i = 0; i < field->count && !status; i++) {
		element = json_array_get(value, i);
		if (json_is_object(element))
			status = take_members(taking, element, field->sub,
				member + (size_t)i * field->size, 0);
		else if (!json_is_null(element))
			status = unfit_member(taking, field, "an array of objects and nulls");
	}
	return status;
}

static enum row_line_status take_value(struct taking *taking, const struct field *field,
	const json_t *value, uint8_t *member)
{
	enum row_line_status status;
	struct bytes bytes = {NULL, 0};

	switch (field->type) {
	case FIELD_BOOL:
		*member = json_is_true(value);
		return json_is_boolean(value) ? ROW_LINE_DONE
					      : unfit_member(taking, field, "true or false");
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I32:
	case FIELD_TIME_MS:
		return take_number(taking, field, value, member);
	case FIELD_ENUM:
		return take_enum(taking, field, value, member);
	case FIELD_MONEY:
	case FIELD_SUM:
	case FIELD_SUM_64:
		return take_sum(taking, field, value, member);
	case FIELD_STR:
	case FIELD_SECRET:
		return take_text(taking, field, value, member);
	case FIELD_BYTES:
	case FIELD_JSON:
		status = take_bytes(taking, field, value, &bytes);
		if (!status)
			memcpy(member, &bytes, sizeof(bytes));
		return status;
	case FIELD_GROUP:
		return take_group(taking, field, value, member);
	case FIELD_NONE:
		break;
	}
	return bad_line(taking->why, "%s cannot be read", field->name);
}

/* @others: number of keys of @object in addition to the members. */
static enum row_line_status take_members(struct taking *taking, const json_t *object,
	const struct field *table, uint8_t *row, size_t others)
{
	enum row_line_status status = ROW_LINE_DONE;
	size_t count = others;

	for (; table->name && !status; table++) {
		const json_t *value = json_object_get(object, table->name);

		if (table->type == FIELD_SECRET && !taking->secrets)
			continue;
		count++;
		status = value ? take_value(taking, table, value, row + table->offset)
			       : bad_line(taking->why, "%s is missing", table->name);
	}
	if (!status && json_object_size(object) != count)
		return bad_line(taking->why, "it holds what this version does not know");
	return status;
}

bool row_line_holds(const struct row_line *line, const struct field *table)
{
	for (; table->name; table++) {
		if (table->type != FIELD_SECRET && !json_object_get(line->json, table->name))
			return false;
	}
	return true;
}

enum row_line_status row_line_take(struct row_line *line, const struct field *table, uint32_t size,
	void *row, bool secrets, char why[ROW_LINE_WHY_SIZE])
{
	struct taking taking = {.line = line, .secrets = secrets, .why = why};

	memset(row, 0, size);
	return take_members(&taking, line->json, table, row, 1);
}
