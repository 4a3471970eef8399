#include "suites.h"

#include "base/pack.h"
#include "chance.h"
#include "domain/records.h"
#include "domain/row_bounds.h"
#include "guard.h"

#include <stdlib.h>
#include <string.h>

#define PACKED_MAX 16384
#define ROUNDS     300

/* Any record. */
union any_record {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

static size_t alignment(const struct field *field)
{
	size_t most = 1;

	switch (field->type) {
	case FIELD_STR:
	case FIELD_SECRET:
		return 1;
	case FIELD_BYTES:
	case FIELD_JSON:
		return _Alignof(struct bytes);
	case FIELD_GROUP:
		for (const struct field *sub = field->sub; sub->name; sub++)
			most = alignment(sub) > most ? alignment(sub) : most;
		return most;
	default:
		return field->size;
	}
}

static size_t round_up(size_t value, size_t to)
{
	return (value + to - 1) / to * to;
}

/* Lays the fields out as the compiler does: a gap is a member that is missing in the table. */
static void check_layout(const struct field *table, size_t size)
{
	size_t at = 0, most = 1;

	for (; table->name; table++) {
		size_t align = alignment(table);
		size_t count = table->type == FIELD_GROUP ? table->count : 1;

		most = align > most ? align : most;
		at = round_up(at, align);
		ck_assert_msg(table->offset == at, "before %s", table->name);
		at += table->size * count;
		if (table->type == FIELD_GROUP)
			check_layout(table->sub, table->size);
	}
	ck_assert_uint_eq(round_up(at, most), size);
}

START_TEST(tables_lie_as_their_structs)
{
	for (int kind = 0; kind < RECORD_COUNT; kind++)
		check_layout(record_infos[kind].fields, record_infos[kind].size);
}
END_TEST

/* Marks the bytes of @record that @table describes. */
static void cover(const struct field *table, uint8_t *record)
{
	for (; table->name; table++) {
		if (table->type == FIELD_JSON || table->type == FIELD_BYTES) {
			/* The padding within this member is not another member. */
			memset(record + table->offset, 0xff, sizeof(uint8_t *) + sizeof(uint32_t));
			continue;
		}
		if (table->type != FIELD_GROUP) {
			memset(record + table->offset, 0xff, table->size);
			continue;
		}
		for (uint32_t i = 0; i < table->count; i++)
			cover(table->sub, record + table->offset + (size_t)i * table->size);
	}
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define HAVE_CLEAR_PADDING 1
#endif
#endif
#ifdef HAVE_CLEAR_PADDING
/*
 * The tables describe every byte that is not padding, including a bool in a hole. GCC 12 misplaces the padding
 * that follows an array of structs with padding, such as the keys of a dealer: there, only
 * tables_lie_as_their_structs looks for gaps.
 */
START_TEST(tables_describe_every_byte)
{
	union any_record described;

#define RECORD(name, struct_, keys)                                                                \
	{                                                                                          \
		struct struct_ whole;                                                              \
                                                                                                   \
		memset(&whole, 0xff, sizeof(whole));                                               \
		__builtin_clear_padding(&whole);                                                   \
		memset(&described, 0, sizeof(described));                                          \
		cover(struct_##_fields, (uint8_t *)&described);                                    \
		ck_assert_msg(strcmp(#struct_, "dealer") == 0 ||                                   \
				memcmp(&whole, &described, sizeof(whole)) == 0,                    \
			#struct_);                                                                 \
	}
#include "domain/records.def"
#undef RECORD
}
END_TEST
#else
START_TEST(tables_describe_every_byte)
{
	union any_record described;

	/* No more bytes than the struct has, and none twice. */
	for (int kind = 0; kind < RECORD_COUNT; kind++) {
		size_t marked = 0;

		memset(&described, 0, sizeof(described));
		cover(record_infos[kind].fields, (uint8_t *)&described);
		for (size_t i = 0; i < sizeof(described); i++)
			marked += ((uint8_t *)&described)[i] != 0;
		ck_assert_uint_le(marked, record_infos[kind].size);
		/* The rest is padding. */
		ck_assert_uint_gt(marked * 3, record_infos[kind].size * 2);
	}
}
END_TEST
#endif

/* Makes any text without NUL that fits. Short ones are frequent, so that keys collide. */
static void fill_text(uint64_t *state, char *text, uint32_t size)
{
	uint64_t len = chance_below(state, chance(state) & 1 ? size : (size < 4 ? size : 4));

	for (uint64_t i = 0; i < len; i++)
		text[i] = (char)(1 + chance_below(state, chance(state) & 1 ? 255 : 3));
}

static void fill_number(uint64_t *state, const struct field *field, uint8_t *member)
{
	uint64_t value = chance(state) >> chance_below(state, 64);

	if (field->type == FIELD_BOOL)
		value &= 1;
	if (field->type == FIELD_ENUM)
		value %= field->count;
	if (field->type == FIELD_SUM)
		memcpy(member, &(sum_t){-(sum_t)value * INT32_MAX}, sizeof(sum_t));
	else if (field->size == 1)
		*member = (uint8_t)value;
	else if (field->size == 2)
		memcpy(member, &(uint16_t){(uint16_t)value}, 2);
	else if (field->size == 4)
		memcpy(member, &(uint32_t){(uint32_t)value}, 4);
	else
		memcpy(member, &value, 8);
}

/* Returns some JSON text, or none. */
static struct bytes some_json(uint64_t *state)
{
	static const uint8_t text[] = "{\"a\":[1,2,3]}";

	return (struct bytes){text, chance(state) & 1 ? (uint32_t)sizeof(text) - 1 : 0};
}

/* Writes random valid content to a zeroed record. */
static void fill(uint64_t *state, const struct field *table, uint8_t *record)
{
	for (; table->name; table++) {
		uint8_t *member = record + table->offset;
		struct bytes json;

		switch (table->type) {
		case FIELD_STR:
		case FIELD_SECRET:
			fill_text(state, (char *)member, table->size);
			break;
		case FIELD_GROUP:
			for (uint32_t i = 0; i < table->count; i++)
				fill(state, table->sub, member + (size_t)i * table->size);
			break;
		case FIELD_BYTES:
		case FIELD_JSON:
			json = some_json(state);
			memcpy(member, &json, sizeof(json));
			break;
		default:
			fill_number(state, table, member);
		}
	}
}

static bool has_json(const struct field *table)
{
	while (table->name && table->type != FIELD_JSON && table->type != FIELD_BYTES)
		table++;
	return table->name != NULL;
}

START_TEST(round_trips)
{
	const struct record_info *info = &record_infos[_i];
	struct guard guard = guard_make(PACKED_MAX);
	union any_record record, back;
	uint64_t state = (uint64_t)_i;
	struct buffer out, again;

	buffer_init(&out, PACKED_MAX);
	buffer_init(&again, PACKED_MAX);
	for (unsigned int i = chance_rounds(ROUNDS); i; i--) {
		struct bytes in;

		memset(&record, 0, sizeof(record));
		fill(&state, info->fields, (uint8_t *)&record);
		buffer_reset(&out);
		ck_assert(pack_record(&out, info->fields, &record));
		memset(&back, 0, sizeof(back));
		in = (struct bytes){guard_put(&guard, out.data, out.len), (uint32_t)out.len};
		ck_assert(unpack_record(&in, info->fields, &back));
		ck_assert_uint_eq(in.len, 0);
		/* Equal texts at different addresses are equal when packed, not as structs. */
		buffer_reset(&again);
		ck_assert(pack_record(&again, info->fields, &back));
		ck_assert_uint_eq(again.len, out.len);
		ck_assert_mem_eq(again.data, out.data, out.len);
		if (!has_json(info->fields))
			ck_assert_msg(memcmp(&record, &back, info->size) == 0, "%s", info->name);
	}
	buffer_free(&again);
	buffer_free(&out);
	guard_free(&guard);
}
END_TEST

/* An accepted input must equal the output of pack_record(): no row has two forms. */
static void check_hostile(const struct record_info *info, struct guard *guard, const uint8_t *data,
	size_t len)
{
	struct bytes in = {guard_put(guard, data, len), (uint32_t)len};
	const uint8_t *start = in.data;
	union any_record record;
	struct buffer again;

	memset(&record, 0, sizeof(record));
	if (!unpack_record(&in, info->fields, &record))
		return;
	buffer_init(&again, PACKED_MAX);
	ck_assert(pack_record(&again, info->fields, &record));
	ck_assert_uint_eq(again.len, len - in.len);
	ck_assert_mem_eq(again.data, start, again.len);
	buffer_free(&again);
}

START_TEST(hostile_bytes)
{
	const struct record_info *info = &record_infos[_i];
	struct guard guard = guard_make(PACKED_MAX);
	union any_record record;
	uint64_t state = 100 + (uint64_t)_i;
	struct buffer out;

	buffer_init(&out, PACKED_MAX);
	memset(&record, 0, sizeof(record));
	fill(&state, info->fields, (uint8_t *)&record);
	ck_assert(pack_record(&out, info->fields, &record));
	for (size_t len = 0; len < out.len; len++) {
		struct bytes in = {guard_put(&guard, out.data, len), (uint32_t)len};

		ck_assert(!unpack_record(&in, info->fields, &record));
	}
	for (unsigned int i = chance_rounds(20 * ROUNDS); i; i--) {
		uint8_t mutated[PACKED_MAX];

		memcpy(mutated, out.data, out.len);
		for (uint64_t n = 1 + chance_below(&state, 4); n; n--)
			mutated[chance_below(&state, out.len)] = (uint8_t)chance(&state);
		check_hostile(info, &guard, mutated, out.len);
	}
	buffer_free(&out);
	guard_free(&guard);
}
END_TEST

static int compare_member(const struct field *field, const uint8_t *a, const uint8_t *b)
{
	uint64_t x = 0, y = 0;
	unsigned int e, f;

	if (field->type == FIELD_STR)
		return strcmp((const char *)a, (const char *)b);
	/* Only a type that sorts as it is packed may be in a key. */
	ck_assert_msg(field->type == FIELD_U64 || field->type == FIELD_U32 ||
			field->type == FIELD_ENUM,
		"%s", field->name);
	if (field->type != FIELD_U64) {
		memcpy(&e, a, sizeof(e));
		memcpy(&f, b, sizeof(f));
		x = e;
		y = f;
	} else {
		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
	}
	return x < y ? -1 : x > y;
}

static int compare_keys(const struct record_info *info, const union any_record *a,
	const union any_record *b)
{
	for (unsigned int i = 0; i < info->key_count; i++) {
		const struct field *field = &info->fields[i];
		int order = compare_member(field, (const uint8_t *)a + field->offset,
			(const uint8_t *)b + field->offset);

		if (order)
			return order < 0 ? -1 : 1;
	}
	return 0;
}

static int compare_packed(const struct buffer *a, const struct buffer *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->data, b->data, len);

	if (!order)
		return a->len < b->len ? -1 : a->len > b->len;
	return order < 0 ? -1 : 1;
}

START_TEST(keys_sort_as_their_fields)
{
	const struct record_info *info = &record_infos[_i];
	union any_record record[2];
	struct buffer key[2], part;
	uint64_t state = 200 + (uint64_t)_i;

	buffer_init(&key[0], 1024);
	buffer_init(&key[1], 1024);
	buffer_init(&part, 1024);
	for (unsigned int i = chance_rounds(20 * ROUNDS); i; i--) {
		memset(record, 0, sizeof(record));
		fill(&state, info->fields, (uint8_t *)&record[0]);
		fill(&state, info->fields, (uint8_t *)&record[1]);
		/* Half of them share their first field. */
		if (chance(&state) & 1)
			memcpy((uint8_t *)&record[1] + info->fields[0].offset,
				(uint8_t *)&record[0] + info->fields[0].offset,
				info->fields[0].size);
		for (int k = 0; k < 2; k++) {
			buffer_reset(&key[k]);
			ck_assert(pack_key(&key[k], info->fields, info->key_count, &record[k]));
		}
		ck_assert_int_eq(compare_packed(&key[0], &key[1]),
			compare_keys(info, &record[0], &record[1]));
		for (unsigned int count = 0; count < info->key_count; count++) {
			buffer_reset(&part);
			ck_assert(pack_key(&part, info->fields, count, &record[0]));
			ck_assert_uint_lt(part.len, key[0].len);
			if (part.len)
				ck_assert_mem_eq(part.data, key[0].data, part.len);
		}
	}
	buffer_free(&key[0]);
	buffer_free(&key[1]);
	buffer_free(&part);
}
END_TEST

START_TEST(keys_round_trip)
{
	const struct record_info *info = &record_infos[_i];
	struct guard guard = guard_make(1024);
	union any_record record, back;
	uint64_t state = 300 + (uint64_t)_i;
	struct buffer key;

	buffer_init(&key, 1024);
	for (unsigned int i = chance_rounds(ROUNDS); i; i--) {
		struct bytes in;

		memset(&record, 0, sizeof(record));
		fill(&state, info->fields, (uint8_t *)&record);
		buffer_reset(&key);
		ck_assert(pack_key(&key, info->fields, info->key_count, &record));
		memset(&back, 0, sizeof(back));
		in = (struct bytes){guard_put(&guard, key.data, key.len), (uint32_t)key.len};
		ck_assert(unpack_key(&in, info->fields, info->key_count, &back));
		ck_assert_uint_eq(in.len, 0);
		ck_assert_int_eq(compare_keys(info, &record, &back), 0);
		for (size_t len = 0; len < key.len; len++) {
			in = (struct bytes){guard_put(&guard, key.data, len), (uint32_t)len};
			ck_assert(!unpack_key(&in, info->fields, info->key_count, &back));
		}
	}
	buffer_free(&key);
	guard_free(&guard);
}
END_TEST

START_TEST(keys_of_a_dealer)
{
	struct dealer dealer;

	memset(&dealer, 0, sizeof(dealer));
	/* Its empty name does not find an unused slot. */
	ck_assert_ptr_null(dealer_key_find(&dealer, ""));
	strcpy(dealer.keys[1].key_id, "k2");
	ck_assert_ptr_eq(dealer_key_find(&dealer, "k2"), &dealer.keys[1]);
	ck_assert_ptr_null(dealer_key_find(&dealer, "k1"));
}
END_TEST

/* A rule that names no member of its struct checks nothing. */
START_TEST(a_kind_of_a_move_has_a_bound)
{
	struct dealer_move move = {.casino_id = "demo", .id = "move", .peer = "other"};
	char why[ROW_BOUNDS_WHY_SIZE];

	move.page_kind = RECORD_COUNT - 1;
	ck_assert_msg(row_bounds_check(RECORD_DEALER_MOVE, &move, true, why), "%s", why);
	move.page_kind = RECORD_COUNT;
	ck_assert(!row_bounds_check(RECORD_DEALER_MOVE, &move, true, why));
}
END_TEST

Suite *records_suite(void)
{
	const TTest *const tests[] = {tables_lie_as_their_structs, tables_describe_every_byte,
		keys_of_a_dealer, a_kind_of_a_move_has_a_bound, NULL};
	Suite *suite = suite_make("records", tests, 60);
	TCase *kinds = tcase_create("kinds");

	tcase_set_timeout(kinds, 120);
	tcase_add_loop_test(kinds, round_trips, 0, RECORD_COUNT);
	tcase_add_loop_test(kinds, hostile_bytes, 0, RECORD_COUNT);
	tcase_add_loop_test(kinds, keys_sort_as_their_fields, 0, RECORD_COUNT);
	tcase_add_loop_test(kinds, keys_round_trip, 0, RECORD_COUNT);
	suite_add_tcase(suite, kinds);
	return suite;
}
