#include "store/pg/column.h"

#include "base/check.h"
#include "base/wide.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NUMERIC_BASE       10000
#define NUMERIC_DIGITS_MAX 10 /* of base 10,000: more than an integer of 128 bits has */
#define NUMERIC_NEGATIVE   0x4000

static const struct column_type type_bool = {"boolean", 16, 1000};
static const struct column_type type_small = {"smallint", 21, 1005};
static const struct column_type type_int = {"integer", 23, 1007};
static const struct column_type type_big = {"bigint", 20, 1016};
static const struct column_type type_numeric = {"numeric", 1700, 1231};
static const struct column_type type_text = {"text", 25, 1009};
static const struct column_type type_bytes = {"bytea", 17, 1001};

static struct column_table tables[RECORD_COUNT];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static const struct column_type *type_of(enum field_type type)
{
	switch (type) {
	case FIELD_BOOL:
		return &type_bool;
	case FIELD_U8:
	case FIELD_ENUM:
		return &type_small;
	case FIELD_U16:
		return &type_int;
	case FIELD_U32:
	case FIELD_I32:
	case FIELD_U64:
	case FIELD_MONEY:
	case FIELD_TIME_MS:
		return &type_big;
	case FIELD_SUM:
		return &type_numeric;
	case FIELD_STR:
	case FIELD_SECRET:
	case FIELD_JSON:
		return &type_text;
	case FIELD_BYTES:
		return &type_bytes;
	case FIELD_NONE:
	case FIELD_GROUP:
	case FIELD_SUM_64:
		break;
	}
	return NULL;
}

static void add_column(struct column_table *table, const char *prefix, const struct field *field,
	uint32_t offset)
{
	struct column *column = &table->columns[table->count++];

	CHECK(table->count <= COLUMNS_MAX);
	CHECK(snprintf(column->name, sizeof(column->name), "%s%s", prefix, field->name) <
		(int)sizeof(column->name));
	column->type = type_of(field->type);
	CHECK(column->type);
	column->field = field;
	column->offset = offset + field->offset;
}

static void add_group(struct column_table *table, const struct field *group)
{
	for (uint32_t i = 0; i < group->count; i++) {
		char prefix[COLUMN_NAME_SIZE];

		if (group->count == 1)
			snprintf(prefix, sizeof(prefix), "%s_", group->name);
		else
			snprintf(prefix, sizeof(prefix), "%s_%u_", group->name, i + 1);
		for (const struct field *field = group->sub; field->name; field++)
			add_column(table, prefix, field, group->offset + i * group->size);
	}
}

static void make_tables(void)
{
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		const struct record_info *info = &record_infos[record];
		struct column_table *table = &tables[record];

		table->name = info->name;
		table->key_count = info->key_count;
		for (const struct field *field = info->fields; field->name; field++) {
			if (field->type == FIELD_GROUP)
				add_group(table, field);
			else
				add_column(table, "", field, 0);
		}
	}
}

const struct column_table *column_table_of(enum record record)
{
	pthread_once(&tables_once, make_tables);
	return &tables[record];
}

/* ---- writing */

static bool put_number(struct buffer *out, uint64_t number, uint32_t size)
{
	uint8_t bytes[8];

	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(number >> (8 * (size - 1 - i)));
	return buffer_append(out, bytes, size);
}

/* Four numbers of two bytes: digits, weight of the first, sign, digits after the point. Then the digits. */
static bool put_numeric(struct buffer *out, wide_t value)
{
	const bool negative = value < 0;
	wide_unsigned_t rest = negative ? -(wide_unsigned_t)value : (wide_unsigned_t)value;
	uint16_t digits[NUMERIC_DIGITS_MAX];
	unsigned int count = 0;

	for (; rest; rest /= NUMERIC_BASE) {
		CHECK(count < NUMERIC_DIGITS_MAX);
		digits[count++] = (uint16_t)(rest % NUMERIC_BASE);
	}
	put_number(out, count, 2);
	put_number(out, count ? count - 1 : 0, 2);
	put_number(out, negative ? NUMERIC_NEGATIVE : 0, 2);
	put_number(out, 0, 2);
	while (count)
		put_number(out, digits[--count], 2);
	return !out->failed;
}

static bool put_bytes(struct buffer *out, struct bytes bytes)
{
	return !bytes.len || buffer_append(out, bytes.data, bytes.len);
}

bool column_put_value(struct buffer *out, const struct column *column, const void *row)
{
	const struct field *field = column->field;
	const uint8_t *member = (const uint8_t *)row + column->offset;
	struct bytes bytes;
	int32_t number;
	wide_t sum;

	switch (field->type) {
	case FIELD_BOOL:
		return put_number(out, *(const bool *)member, 1);
	case FIELD_U8:
	case FIELD_ENUM:
		return put_number(out, field_load_number(member, field->size), 2);
	case FIELD_U16:
		return put_number(out, field_load_number(member, field->size), 4);
	case FIELD_I32:
		memcpy(&number, member, sizeof(number));
		return put_number(out, (uint64_t)(int64_t)number, 8);
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_MONEY:
	case FIELD_TIME_MS:
		return put_number(out, field_load_number(member, field->size), 8);
	case FIELD_SUM:
		memcpy(&sum, member, sizeof(sum));
		return put_numeric(out, sum);
	case FIELD_STR:
	case FIELD_SECRET:
		return buffer_append_str(out, (const char *)member);
	case FIELD_BYTES:
	case FIELD_JSON:
		memcpy(&bytes, member, sizeof(bytes));
		return put_bytes(out, bytes);
	case FIELD_NONE:
	case FIELD_GROUP:
	case FIELD_SUM_64:
		break;
	}
	return false;
}

bool column_put_array(struct buffer *out, const struct column *column, const void *const *rows,
	unsigned int count)
{
	put_number(out, 1, 4); /* dimensions */
	put_number(out, 0, 4); /* no NULL */
	put_number(out, column->type->oid, 4);
	put_number(out, count, 4);
	put_number(out, 1, 4); /* the first index */
	for (unsigned int i = 0; i < count; i++) {
		const size_t at = out->len;
		uint32_t len;

		put_number(out, 0, 4);
		if (!column_put_value(out, column, rows[i]) || out->failed)
			return false;
		len = (uint32_t)(out->len - at - 4);
		for (unsigned int byte = 0; byte < 4; byte++)
			out->data[at + byte] = (uint8_t)(len >> (8 * (3 - byte)));
	}
	return !out->failed;
}

/* ---- reading */

static uint64_t get_number(const uint8_t *value, uint32_t size)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < size; i++)
		number = number << 8 | value[i];
	return number;
}

static bool get_numeric(const uint8_t *value, uint32_t len, wide_t *sum)
{
	const uint32_t count = len >= 8 ? (uint32_t)get_number(value, 2) : 0;
	const int weight = len >= 8 ? (int16_t)get_number(value + 2, 2) : 0;
	const uint32_t sign = len >= 8 ? (uint32_t)get_number(value + 4, 2) : 0;
	wide_unsigned_t found = 0;

	if (len < 8 || len != 8 + 2 * count || (sign && sign != NUMERIC_NEGATIVE))
		return false;
	if (count && (weight >= NUMERIC_DIGITS_MAX || weight + 1 < (int)count))
		return false;
	for (int i = 0; count && i <= weight; i++) {
		const uint64_t digit = i < (int)count ? get_number(value + 8 + 2 * i, 2) : 0;

		if (found > (~(wide_unsigned_t)0 >> 1) / NUMERIC_BASE)
			return false;
		found = found * NUMERIC_BASE + digit;
	}
	if (found > ~(wide_unsigned_t)0 >> 1)
		return false;
	*sum = sign ? -(wide_t)found : (wide_t)found;
	return true;
}

static bool get_text(const struct field *field, const uint8_t *value, uint32_t len, uint8_t *member)
{
	if (len >= field->size || (len && memchr(value, 0, len)))
		return false;
	memset(member, 0, field->size);
	if (len)
		memcpy(member, value, len);
	return true;
}

/* Returns whether a number of @size bytes, read from a column that is wider, fits the member. */
static bool number_fits(const struct field *field, uint64_t number)
{
	const int64_t value = (int64_t)number;

	switch (field->type) {
	case FIELD_ENUM:
		return number < field->count;
	case FIELD_U8:
		return number <= UINT8_MAX;
	case FIELD_U16:
		return number <= UINT16_MAX;
	case FIELD_U32:
		return number <= UINT32_MAX;
	case FIELD_I32:
		return value >= INT32_MIN && value <= INT32_MAX;
	default:
		return true;
	}
}

static bool store_number(const struct column *column, const uint8_t *value, uint32_t len,
	uint32_t width, uint8_t *member)
{
	uint64_t number;

	if (len != width)
		return false;
	number = get_number(value, width);
	if (!number_fits(column->field, number))
		return false;
	field_store_number(member, column->field->size, number);
	return true;
}

bool column_get_value(const struct column *column, const uint8_t *value, uint32_t len, void *row)
{
	const struct field *field = column->field;
	uint8_t *member = (uint8_t *)row + column->offset;
	struct bytes bytes = {len ? value : NULL, len};
	wide_t sum;

	switch (field->type) {
	case FIELD_BOOL:
		if (len != 1 || value[0] > 1)
			return false;
		*(bool *)member = value[0];
		return true;
	case FIELD_U8:
	case FIELD_ENUM:
		return store_number(column, value, len, 2, member);
	case FIELD_U16:
		return store_number(column, value, len, 4, member);
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_MONEY:
	case FIELD_TIME_MS:
		return store_number(column, value, len, 8, member);
	case FIELD_SUM:
		if (!get_numeric(value, len, &sum))
			return false;
		memcpy(member, &sum, sizeof(sum));
		return true;
	case FIELD_STR:
	case FIELD_SECRET:
		return get_text(field, value, len, member);
	case FIELD_BYTES:
	case FIELD_JSON:
		memcpy(member, &bytes, sizeof(bytes));
		return true;
	case FIELD_NONE:
	case FIELD_GROUP:
	case FIELD_SUM_64:
		break;
	}
	return false;
}
