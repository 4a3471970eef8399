#include "suites.h"

#include "base/pack.h"

#include <string.h>

struct inner {
	char name[4];
	uint16_t number;
};
struct outer {
	bool flag;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	int32_t i32;
	uint64_t u64;
	unsigned int kind;
	int64_t money;
	char text[6];
	struct inner group[2];
	struct bytes rest;
	struct bytes json;
};
static const char *const kind_names[] = {"a", "b"};
static const struct field inner_fields[] = {
	FIELD(FIELD_STR, inner, name),
	FIELD(FIELD_U16, inner, number),
	FIELD_END,
};
static const struct field outer_fields[] = {
	FIELD(FIELD_BOOL, outer, flag),
	FIELD(FIELD_U8, outer, u8),
	FIELD(FIELD_U16, outer, u16),
	FIELD(FIELD_U32, outer, u32),
	FIELD(FIELD_I32, outer, i32),
	FIELD(FIELD_U64, outer, u64),
	FIELD_NAMED(outer, kind, kind_names, 2),
	FIELD(FIELD_MONEY, outer, money),
	FIELD(FIELD_STR, outer, text),
	FIELD_SUB(outer, group, inner, inner_fields),
	FIELD(FIELD_BYTES, outer, rest),
	FIELD(FIELD_JSON, outer, json),
	FIELD_END,
};

static const uint8_t rest[] = {0, 1, 2};
static const uint8_t json[] = {'{', '}'};
/* The layout on the wire and on disk, byte for byte. It must not change by accident. */
static const uint8_t packed[] = {
	1,                                              /* flag */
	2,                                              /* u8 */
	3, 4,                                           /* u16 */
	5, 6, 7, 8,                                     /* u32 */
	0xff, 0xff, 0xff, 0xfe,                         /* i32 */
	0, 1, 2, 3, 4, 5, 6, 7,                         /* u64 */
	1,                                              /* kind */
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* money */
	0, 5, 'h', 'e', 'l', 'l', 'o',                  /* text */
	0, 3, 'o', 'n', 'e', 0, 1,                      /* group[0] */
	0, 0, 0, 2,                                     /* group[1] */
	0, 0, 0, 3, 0, 1, 2,                            /* rest */
	0, 0, 0, 2, '{', '}',                           /* json */
};

/* Holes are also zero, because the structs are compared byte for byte. */
static void fill_example(struct outer *outer)
{
	memset(outer, 0, sizeof(*outer));
	outer->flag = true;
	outer->u8 = 2;
	outer->u16 = 0x0304;
	outer->u32 = 0x05060708;
	outer->i32 = -2;
	outer->u64 = UINT64_C(0x0001020304050607);
	outer->kind = 1;
	outer->money = -1;
	strcpy(outer->text, "hello");
	strcpy(outer->group[0].name, "one");
	outer->group[0].number = 1;
	outer->group[1].number = 2;
	outer->rest.data = rest;
	outer->rest.len = sizeof(rest);
	outer->json.data = json;
	outer->json.len = sizeof(json);
}

START_TEST(layout)
{
	struct outer outer, back;
	struct bytes in = {packed, sizeof(packed)};
	struct buffer out;

	fill_example(&outer);
	buffer_init(&out, 1024);
	ck_assert(pack_record(&out, outer_fields, &outer));
	ck_assert_uint_eq(out.len, sizeof(packed));
	ck_assert_mem_eq(out.data, packed, sizeof(packed));
	memset(&back, 0, sizeof(back));
	ck_assert(unpack_record(&in, outer_fields, &back));
	ck_assert_uint_eq(in.len, 0);
	ck_assert_ptr_eq(back.rest.data, packed + sizeof(packed) - 6 - 3);
	ck_assert_uint_eq(back.rest.len, 3);
	ck_assert_ptr_eq(back.json.data, packed + sizeof(packed) - 2);
	ck_assert_uint_eq(back.json.len, 2);
	ck_assert_mem_eq(&back, &outer, offsetof(struct outer, rest));
	buffer_free(&out);
}
END_TEST

/* Unpacks the example with the byte at @at replaced. */
static bool unpacks_with(size_t at, uint8_t byte)
{
	uint8_t data[sizeof(packed)];
	struct bytes in = {data, sizeof(data)};
	struct outer back;

	memcpy(data, packed, sizeof(packed));
	data[at] = byte;
	return unpack_record(&in, outer_fields, &back);
}

START_TEST(refuses_what_is_out_of_range)
{
	ck_assert(unpacks_with(0, 0));
	ck_assert(!unpacks_with(0, 2)); /* bool */
	ck_assert(unpacks_with(20, 0));
	ck_assert(!unpacks_with(20, 2)); /* enum */
	ck_assert(!unpacks_with(30, 6)); /* text longer than its member */
	ck_assert(!unpacks_with(31, 0)); /* text with a NUL in it */
	ck_assert(!unpacks_with(47, 1)); /* bytes longer than the input */
	ck_assert(!unpacks_with(50, 4));
}
END_TEST

START_TEST(a_full_buffer_is_told)
{
	struct outer outer;

	fill_example(&outer);
	for (size_t max = 0; max < sizeof(packed); max++) {
		struct buffer out;

		buffer_init(&out, max);
		ck_assert(!pack_record(&out, outer_fields, &outer));
		ck_assert(out.failed);
		buffer_free(&out);
	}
}
END_TEST

START_TEST(digest_sees_every_change)
{
	struct field changed[13];
	uint64_t digest = field_digest(0, outer_fields);

	ck_assert_uint_eq(sizeof(changed), sizeof(outer_fields));
	ck_assert_uint_eq(digest, field_digest(0, outer_fields));
	ck_assert_uint_ne(digest, field_digest(1, outer_fields));
	memcpy(changed, outer_fields, sizeof(changed));
	changed[3].name = "U32";
	ck_assert_uint_ne(digest, field_digest(0, changed));
	memcpy(changed, outer_fields, sizeof(changed));
	changed[3].type = FIELD_I32;
	ck_assert_uint_ne(digest, field_digest(0, changed));
	memcpy(changed, outer_fields, sizeof(changed));
	changed[8].size++;
	ck_assert_uint_ne(digest, field_digest(0, changed));
	memcpy(changed, outer_fields, sizeof(changed));
	changed[9].sub = outer_fields;
	ck_assert_uint_ne(digest, field_digest(0, changed));
}
END_TEST

START_TEST(finds_by_name)
{
	ck_assert_ptr_eq(field_find(outer_fields, "u32"), &outer_fields[3]);
	ck_assert_ptr_null(field_find(outer_fields, "u33"));
}
END_TEST

START_TEST(numbers_of_every_width)
{
	static const uint32_t sizes[] = {1, 2, 4, 8};
	const uint64_t value = UINT64_C(0xfedcba9876543210);
	const int32_t negative = -5;
	uint8_t member[11];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t kept = sizes[i] == 8 ? value : value & ((UINT64_C(1) << 8 * sizes[i]) - 1);

		memset(member, 0x5a, sizeof(member));
		/* At any alignment. */
		field_store_number(member + 1, sizes[i], value);
		ck_assert_uint_eq(field_load_number(member + 1, sizes[i]), kept);
		ck_assert_uint_eq(member[0], 0x5a);
		ck_assert_uint_eq(member[1 + sizes[i]], 0x5a);
	}
	ck_assert_int_eq((int32_t)(uint32_t)field_load_number(&negative, sizeof(negative)), -5);
}
END_TEST

Suite *pack_suite(void)
{
	const TTest *const tests[] = {layout, refuses_what_is_out_of_range, a_full_buffer_is_told,
		digest_sees_every_change, finds_by_name, numbers_of_every_width, NULL};

	return suite_make("pack", tests, 10);
}
