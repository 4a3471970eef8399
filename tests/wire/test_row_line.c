#include "suites.h"

#include "chance.h"
#include "domain/records.h"
#include "wire/row_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES (4u << 20)
#define BYTES_MAX  200

static const char *const names[] = {
#define RECORD(name, struct_, keys) #struct_,
#include "domain/records.def"
#undef RECORD
};

union row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

/* Storage for bytes members. */
struct pool {
	uint8_t bytes[16][BYTES_MAX];
	size_t used;
};

static uint64_t any_number(uint64_t *state)
{
	static const uint64_t edges[] = {0, 1, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63,
		UINT64_C(1) << 53, (UINT64_C(1) << 53) - 1, 0 - (UINT64_C(1) << 53)};

	return chance_below(state, 3) ? chance(state) : edges[chance_below(state, 8)];
}

/* Writes random bytes. Half of the time they are not text; without NUL if @text. */
static void any_bytes(uint64_t *state, uint8_t *bytes, size_t len, bool text)
{
	static const char *const pieces[] = {"a", "\"", "\\", "ü", "\n", "\x7f", "\xc3",
		"\xed\xa0\x80", "𝄞", "/"};
	size_t at = 0;

	memset(bytes, 'x', len);
	while (at < len) {
		const char *piece = pieces[chance_below(state, 10)];
		size_t size = strlen(piece);

		if (at + size > len)
			break;
		memcpy(bytes + at, piece, size);
		at += size;
	}
	if (!text && len && !chance_below(state, 2))
		bytes[chance_below(state, len)] = 0;
}

static void any_member(uint64_t *state, struct pool *pool, const struct field *field,
	uint8_t *member);

static void any_row(uint64_t *state, struct pool *pool, const struct field *table, uint8_t *row)
{
	for (; table->name; table++)
		any_member(state, pool, table, row + table->offset);
}

static void any_member(uint64_t *state, struct pool *pool, const struct field *field,
	uint8_t *member)
{
	struct bytes bytes;
	sum_t sum;

	switch (field->type) {
	case FIELD_SUM:
		/* Any sign, and more than 64 bits. */
		sum = (sum_t)(int64_t)any_number(state) * (sum_t)(1 + chance_below(state, 1000000));
		memcpy(member, &sum, sizeof(sum));
		return;
	case FIELD_BOOL:
		*member = chance_below(state, 2) != 0;
		return;
	case FIELD_ENUM:
		field_store_number(member, field->size, chance_below(state, field->count));
		return;
	case FIELD_STR:
	case FIELD_SECRET:
		any_bytes(state, member, chance_below(state, field->size), true);
		return;
	case FIELD_BYTES:
	case FIELD_JSON:
		bytes.data = pool->bytes[pool->used];
		bytes.len = (uint32_t)chance_below(state, BYTES_MAX);
		any_bytes(state, pool->bytes[pool->used++], bytes.len, false);
		memcpy(member, &bytes, sizeof(bytes));
		return;
	case FIELD_GROUP:
		for (uint32_t i = 0; i < field->count; i++) {
			if (field->count == 1 || chance_below(state, 2))
				any_row(state, pool, field->sub, member + i * field->size);
		}
		return;
	default:
		field_store_number(member, field->size, any_number(state));
	}
}

/* Replaces pointers by a digest of their data, so that rows can be compared. */
static uint64_t digest_and_clear(const struct field *table, uint8_t *row)
{
	uint64_t digest = 14695981039346656037u;
	struct bytes bytes;

	for (; table->name; table++) {
		if (table->type != FIELD_BYTES && table->type != FIELD_JSON)
			continue;
		memcpy(&bytes, row + table->offset, sizeof(bytes));
		digest ^= bytes.len;
		for (uint32_t i = 0; i < bytes.len; i++)
			digest = (digest ^ bytes.data[i]) * 1099511628211u;
		memset(row + table->offset, 0, sizeof(bytes));
	}
	return digest;
}

/* Every kind of row with any content reads back unchanged. */
START_TEST(rows_read_back)
{
	uint64_t state = 20250131;
	char why[ROW_LINE_WHY_SIZE];
	struct row_line line;
	struct buffer out;

	row_line_init(&line);
	buffer_init(&out, LINE_BYTES);
	for (int i = 0; i < 200 * RECORD_COUNT; i++) {
		enum record record = (enum record)(i % RECORD_COUNT);
		const struct record_info *info = &record_infos[record];
		struct pool pool = {.used = 0};
		union row row, back;

		memset(&row, 0, sizeof(row));
		any_row(&state, &pool, info->fields, (uint8_t *)&row);
		buffer_reset(&out);
		ck_assert(row_line_put(&out, names[record], info->fields, &row, true));
		ck_assert_int_eq(out.data[out.len - 1], '\n');
		ck_assert_ptr_eq(memchr(out.data, '\n', out.len), out.data + out.len - 1);
		ck_assert_msg(row_line_read(&line, (char *)out.data, out.len - 1, why) ==
				ROW_LINE_DONE,
			"%s: %s", names[record], why);
		ck_assert_str_eq(line.name, names[record]);
		memset(&back, 0, sizeof(back));
		ck_assert_msg(row_line_take(&line, info->fields, info->size, &back, true, why) ==
				ROW_LINE_DONE,
			"%s: %s", names[record], why);
		ck_assert_uint_eq(digest_and_clear(info->fields, (uint8_t *)&row),
			digest_and_clear(info->fields, (uint8_t *)&back));
		ck_assert_mem_eq(&row, &back, info->size);
	}
	buffer_free(&out);
	row_line_free(&line);
}
END_TEST

START_TEST(secrets_are_left_out)
{
	struct dealer dealer, back;
	char why[ROW_LINE_WHY_SIZE];
	struct row_line line;
	struct buffer out;

	memset(&dealer, 0, sizeof(dealer));
	strcpy(dealer.casino_id, "demo");
	strcpy(dealer.keys[1].key_id, "k2");
	strcpy(dealer.keys[1].secret, "s3cret");
	row_line_init(&line);
	buffer_init(&out, LINE_BYTES);
	ck_assert(row_line_put(&out, "dealer", dealer_fields, &dealer, false));
	buffer_append(&out, "", 1);
	ck_assert_ptr_eq(strstr((char *)out.data, "s3cret"), NULL);
	ck_assert_ptr_eq(strstr((char *)out.data, "secret"), NULL);
	ck_assert_ptr_ne(strstr((char *)out.data, "\"keys\":[null,{\"key_id\":\"k2\","), NULL);
	ck_assert_int_eq(row_line_read(&line, (char *)out.data, out.len - 2, why), ROW_LINE_DONE);
	ck_assert_int_eq(row_line_take(&line, dealer_fields, sizeof(back), &back, true, why),
		ROW_LINE_BAD);
	ck_assert_str_eq(why, "secret is missing");
	ck_assert_int_eq(row_line_take(&line, dealer_fields, sizeof(back), &back, false, why),
		ROW_LINE_DONE);
	memset(dealer.keys[1].secret, 0, sizeof(dealer.keys[1].secret));
	ck_assert_mem_eq(&dealer, &back, sizeof(back));
	/* If no member is expected, one is too many. */
	buffer_reset(&out);
	strcpy(dealer.keys[1].secret, "s3cret");
	ck_assert(row_line_put(&out, "dealer", dealer_fields, &dealer, true));
	ck_assert_int_eq(row_line_read(&line, (char *)out.data, out.len - 1, why), ROW_LINE_DONE);
	ck_assert_int_eq(row_line_take(&line, dealer_fields, sizeof(back), &back, false, why),
		ROW_LINE_BAD);
	buffer_free(&out);
	row_line_free(&line);
}
END_TEST

struct small {
	char name[4];
	int32_t i32;
	uint8_t u8;
	bool flag;
	unsigned int kind;
	int64_t money;
	struct bytes bytes;
};
static const char *const kinds[] = {"one", "two"};
static const struct field small_fields[] = {
	FIELD(FIELD_STR, small, name),
	FIELD(FIELD_I32, small, i32),
	FIELD(FIELD_U8, small, u8),
	FIELD(FIELD_BOOL, small, flag),
	FIELD_NAMED(small, kind, kinds, 2),
	FIELD(FIELD_MONEY, small, money),
	FIELD(FIELD_BYTES, small, bytes),
	FIELD_END,
};

#define SMALL(name, i32, u8, flag, kind, money, bytes)                                             \
	"{\"record\":\"small\",\"name\":" name ",\"i32\":" i32 ",\"u8\":" u8 ",\"flag\":" flag     \
	",\"kind\":" kind ",\"money\":" money ",\"bytes\":" bytes "}"

START_TEST(what_is_written_is_the_format)
{
	const struct small small = {.name = "ab",
		.i32 = -5,
		.u8 = 7,
		.flag = true,
		.kind = 1,
		.money = -12500,
		.bytes = {(const uint8_t *)"a\"\n\0", 4}};
	struct buffer out;

	buffer_init(&out, LINE_BYTES);
	ck_assert(row_line_put(&out, "small", small_fields, &small, false));
	buffer_append(&out, "", 1);
	ck_assert_str_eq((char *)out.data,
		SMALL("\"ab\"", "-5", "7", "true", "\"two\"", "\"-1.25\"",
			"{\"hex\":\"61220a00\"}") "\n");
	buffer_free(&out);
}
END_TEST

/* Each case differs in one place from a readable line. */
START_TEST(what_is_not_exact_is_refused)
{
	/* Replaces one member of a readable line. */
	static const struct {
		const char *member;
		const char *value;
		const char *why;
	} cases[] = {
		{"name", "\"abcd\"", "name must be shorter"},
		{"name", "7", "name must be a string"},
		{"name", "{\"hex\":\"00\"}", "NUL"},
		{"name", "{\"hex\":\"4g\"}", "hex digits"},
		{"name", "{\"hex\":\"414\"}", "pairs of hex"},
		{"i32", "2147483648", "i32 must be a number that fits"},
		{"i32", "-2147483649", "i32 must be a number that fits"},
		{"i32", "1.0", "i32 must be a whole number"},
		{"i32", "\" 1\"", "i32 must be a whole number"},
		{"i32", "\"1x\"", "i32 must be a whole number"},
		{"u8", "256", "u8 must be a number that fits"},
		{"u8", "-1", "u8 must be a number that fits"},
		{"u8", "\"18446744073709551616\"", "u8 must be a whole number"},
		{"flag", "1", "flag must be true or false"},
		{"kind", "\"three\"", "kind must be one"},
		{"kind", "1", "kind must be one"},
		{"money", "1", "money must be an amount"},
		{"money", "\"1.\"", "money must be an amount"},
		{"money", "\".1\"", "money must be an amount"},
		{"money", "\"1.00001\"", "money must be an amount"},
		{"money", "\"1.1.1\"", "money must be an amount"},
		{"money", "\"922337203685477.5808\"", "money must be an amount"},
		{"money", "\"99999999999999999999\"", "money must be an amount"},
		{"bytes", "[]", "bytes must be a string"},
		{"bytes", "{\"hex\":\"\",\"x\":1}", "bytes must be a string"},
		{"bytes", "\"\",\"more\":1", "does not know"},
		{"u8", NULL, "u8 is missing"},
	};
	static const char *const members[][2] = {{"name", "\"a\""}, {"i32", "1"}, {"u8", "7"},
		{"flag", "true"}, {"kind", "\"two\""}, {"money", "\"1\""}, {"bytes", "\"\""}};
	char why[ROW_LINE_WHY_SIZE];
	struct row_line line;
	struct small small;
	struct buffer text;

	row_line_init(&line);
	buffer_init(&text, LINE_BYTES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_reset(&text);
		buffer_append_str(&text, "{\"record\":\"small\"");
		for (size_t j = 0; j < sizeof(members) / sizeof(members[0]); j++) {
			if (strcmp(members[j][0], cases[i].member) != 0)
				buffer_printf(&text, ",\"%s\":%s", members[j][0], members[j][1]);
			else if (cases[i].value)
				buffer_printf(&text, ",\"%s\":%s", members[j][0], cases[i].value);
		}
		buffer_append(&text, "}", 2);
		ck_assert_int_eq(row_line_read(&line, (char *)text.data, text.len - 1, why),
			ROW_LINE_DONE);
		ck_assert_msg(row_line_take(&line, small_fields, sizeof(small), &small, true,
				      why) == ROW_LINE_BAD,
			"%s", text.data);
		ck_assert_msg(strstr(why, cases[i].why) != NULL, "%s: %s", text.data, why);
	}
	buffer_free(&text);
	row_line_free(&line);
}
END_TEST

START_TEST(what_reads)
{
	static const char text[] = SMALL("\"\"", "\"-2147483648\"", "\"255\"", "false", "\"one\"",
		"\"-922337203685477.5808\"", "\"\\u00fc\"");
	char why[ROW_LINE_WHY_SIZE];
	struct row_line line;
	struct small small;

	row_line_init(&line);
	ck_assert_int_eq(row_line_read(&line, text, sizeof(text) - 1, why), ROW_LINE_DONE);
	ck_assert_int_eq(row_line_take(&line, small_fields, sizeof(small), &small, true, why),
		ROW_LINE_DONE);
	ck_assert_int_eq(small.i32, INT32_MIN);
	ck_assert_uint_eq(small.u8, 255);
	ck_assert_int_eq(small.money, INT64_MIN);
	ck_assert_uint_eq(small.bytes.len, 2);
	ck_assert_mem_eq(small.bytes.data, "ü", 2);
	row_line_free(&line);
}
END_TEST

START_TEST(lines_that_are_none)
{
	static const char *const texts[] = {"", "x", "[]", "{\"record\":7}", "{}",
		"{\"record\":\"a\"", "{\"record\":\"a\",\"b\":1,\"b\":2}", "{\"record\":\"a\"} {}",
		"{\"record\":\"a\\u0000b\"}",
		"{\"record\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"};
	char why[ROW_LINE_WHY_SIZE];
	struct row_line line;

	row_line_init(&line);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		why[0] = '\0';
		ck_assert_int_eq(row_line_read(&line, texts[i], strlen(texts[i]), why),
			ROW_LINE_BAD);
		ck_assert_str_ne(why, "");
	}
	row_line_free(&line);
}
END_TEST

/* A row with a value that has no name is damaged and is not written. */
START_TEST(damaged_rows_are_not_written)
{
	struct small small = {.kind = 2};
	struct buffer out;

	buffer_init(&out, LINE_BYTES);
	ck_assert(!row_line_put(&out, "small", small_fields, &small, true));
	ck_assert(out.failed);
	buffer_free(&out);
}
END_TEST

Suite *row_line_suite(void)
{
	const TTest *const tests[] = {rows_read_back, secrets_are_left_out,
		what_is_written_is_the_format, what_is_not_exact_is_refused, what_reads,
		lines_that_are_none, damaged_rows_are_not_written, NULL};

	return suite_make("row_line", tests, 30);
}
