#include "test_link.h"

#include "base/pack.h"
#include "chance.h"
#include "link/commands.h"
#include "link/frame.h"

#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint32_t pick(uint32_t below)
{
	return (uint32_t)chance_below(&state, below);
}

static struct bytes of(const struct buffer *buffer)
{
	return (struct bytes){buffer->data, (uint32_t)buffer->len};
}

START_TEST(request_comes_back)
{
	struct buffer out;
	struct frame_request request;
	size_t size, start;

	buffer_init(&out, FRAME_MAX);
	start = frame_open_request(&out, COMMAND_BALANCE, 77);
	buffer_append_str(&out, "hello");
	frame_close(&out, start);
	for (uint32_t len = 0; len < out.len; len++)
		ck_assert_int_eq(frame_get_request((struct bytes){out.data, len}, &request, &size),
			FRAME_INCOMPLETE);
	ck_assert_int_eq(frame_get_request(of(&out), &request, &size), FRAME_COMPLETE);
	ck_assert_uint_eq(size, out.len);
	ck_assert_uint_eq(request.command, COMMAND_BALANCE);
	ck_assert_uint_eq(request.tag, 77);
	ck_assert_uint_eq(request.payload.len, 5);
	ck_assert_mem_eq(request.payload.data, "hello", 5);
	ck_assert_str_eq(request.request_id, "");
	buffer_free(&out);
}
END_TEST

START_TEST(requests_have_names)
{
	static const char longest[] =
		"0123456789-abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ.";
	static const struct {
		const char *name, *taken;
	} cases[] = {{"a", "a"}, {longest, ""}, {longest + 1, longest + 1}, {"", ""}, {"a b", ""},
		{"a\n", ""}};
	struct frame_request request;
	struct buffer out;
	size_t size, start;

	ck_assert_uint_eq(strlen(longest), FRAME_REQUEST_ID_SIZE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_init(&out, FRAME_MAX);
		start = frame_open_request(&out, COMMAND_BALANCE, 77);
		frame_name_request(&out, start, cases[i].name);
		buffer_append_str(&out, "hello");
		frame_close(&out, start);
		ck_assert_int_eq(frame_get_request(of(&out), &request, &size), FRAME_COMPLETE);
		ck_assert_str_eq(request.request_id, cases[i].taken);
		ck_assert_uint_eq(request.payload.len, 5);
		ck_assert_mem_eq(request.payload.data, "hello", 5);
		buffer_free(&out);
	}
}
END_TEST

/* An invalid request name is garbage. */
START_TEST(names_are_checked)
{
	static const struct {
		uint16_t named;
		const char *payload;
		enum frame_read expected;
	} cases[] = {{2, "ab", FRAME_COMPLETE}, {3, "ab", FRAME_GARBAGE}, {2, "a b", FRAME_GARBAGE},
		{1, "\"", FRAME_GARBAGE}, {1, "\n", FRAME_GARBAGE}, {65535, "ab", FRAME_GARBAGE}};
	struct frame_request request;
	struct buffer out;
	size_t size, start;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_init(&out, FRAME_MAX);
		start = frame_open_request(&out, COMMAND_BALANCE, 77);
		buffer_append_str(&out, cases[i].payload);
		frame_close(&out, start);
		out.data[6] = (uint8_t)(cases[i].named >> 8);
		out.data[7] = (uint8_t)cases[i].named;
		ck_assert_int_eq(frame_get_request(of(&out), &request, &size), cases[i].expected);
		buffer_free(&out);
	}
	/* A NUL does not end the name. */
	buffer_init(&out, FRAME_MAX);
	start = frame_open_request(&out, COMMAND_BALANCE, 77);
	buffer_append(&out, "a\0b", 3);
	frame_close(&out, start);
	out.data[7] = 3;
	ck_assert_int_eq(frame_get_request(of(&out), &request, &size), FRAME_GARBAGE);
	buffer_free(&out);
}
END_TEST

START_TEST(answer_comes_back)
{
	const struct frame_answer sent = {3, FRAME_BUSY, 5, 9, {NULL, 0}};
	struct frame_answer answer;
	struct buffer out;
	size_t size;

	buffer_init(&out, FRAME_MAX);
	frame_close(&out, frame_open_answer(&out, &sent));
	ck_assert_int_eq(frame_get_answer(of(&out), &answer, &size), FRAME_COMPLETE);
	ck_assert_uint_eq(answer.command, 3);
	ck_assert_uint_eq(answer.outcome, FRAME_BUSY);
	ck_assert_uint_eq(answer.tag, 5);
	ck_assert_uint_eq(answer.generation, 9);
	ck_assert_uint_eq(answer.payload.len, 0);
	buffer_free(&out);
}
END_TEST

/* A length below the head or above the bound is garbage, not a reason to wait. */
START_TEST(lengths_are_bounded)
{
	static const struct {
		uint8_t bytes[4];
		enum frame_read expected;
	} cases[] = {
		{{0, 0, 0, 0}, FRAME_GARBAGE},
		{{0, 0, 0, 11}, FRAME_GARBAGE},
		{{0, 0, 0, 12}, FRAME_INCOMPLETE},
		{{0, 0x13, 0xff, 0xfc}, FRAME_INCOMPLETE},
		{{0, 0x13, 0xff, 0xfd}, FRAME_GARBAGE},
		{{0xff, 0xff, 0xff, 0xff}, FRAME_GARBAGE},
		{{'G', 'E', 'T', ' '}, FRAME_GARBAGE},
	};
	struct frame_request request;
	size_t size;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(frame_get_request((struct bytes){cases[i].bytes, 4}, &request,
					 &size),
			cases[i].expected);
}
END_TEST

START_TEST(greeting_comes_back)
{
	struct buffer out;
	uint64_t protocol = 0, generation = 0;

	buffer_init(&out, 64);
	greeting_put(&out, 12, 34);
	ck_assert_int_eq(greeting_get((struct bytes){out.data, 3}, &protocol, &generation),
		FRAME_INCOMPLETE);
	ck_assert_int_eq(greeting_get(of(&out), &protocol, &generation), FRAME_COMPLETE);
	ck_assert_uint_eq(protocol, 12);
	ck_assert_uint_eq(generation, 34);
	out.data[0] = 'H';
	ck_assert_int_eq(greeting_get(of(&out), &protocol, &generation), FRAME_GARBAGE);
	buffer_free(&out);
}
END_TEST

/*
 * Feeds random bytes to every decoder in memory of their exact size: it refuses or reads them,
 * never beyond.
 */
START_TEST(decoders_survive_anything)
{
	const struct command_info *info = &command_infos[_i];
	union any_cmd cmd;
	union any_result result;

	for (unsigned int left = chance_rounds(20000); left; left--) {
		uint32_t len = pick(400);
		uint8_t *bytes = malloc(len ? len : 1);
		struct bytes in = {bytes, len};

		ck_assert_ptr_nonnull(bytes);
		/* Use mostly small numbers, which are plausible lengths and enums. */
		for (uint32_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)pick(pick(4) ? 3 : 256);
		unpack_record(&in, info->cmd_fields, &cmd);
		in = (struct bytes){bytes, len};
		unpack_record(&in, info->result_fields, &result);
		free(bytes);
	}
}
END_TEST

/* A member that is missing in its table would be lost in transit: fill all, send, and compare. */
static void fill(const struct field *table, void *record, uint8_t *blob)
{
	for (; table->name; table++) {
		uint8_t *member = (uint8_t *)record + table->offset;
		struct bytes bytes = {blob, 1 + pick(8)};
		uint32_t value;

		switch (table->type) {
		case FIELD_STR:
		case FIELD_SECRET:
			memset(member, 'a' + (int)pick(26), pick(table->size));
			break;
		case FIELD_BOOL:
			*member = (uint8_t)pick(2);
			break;
		case FIELD_ENUM:
			value = pick(table->count);
			memcpy(member, &value, sizeof(value));
			break;
		case FIELD_BYTES:
		case FIELD_JSON:
			memcpy(member, &bytes, sizeof(bytes));
			break;
		case FIELD_GROUP:
			for (uint32_t i = 0; i < table->count; i++)
				fill(table->sub, member + i * table->size, blob);
			break;
		default:
			for (uint32_t i = 0; i < table->size; i++)
				member[i] = (uint8_t)pick(256);
			break;
		}
	}
}

static void comes_back(const struct field *table, size_t size)
{
	union {
		union any_cmd cmd;
		union any_result result;
	} sent, got;
	uint8_t blob[8] = {1, 2, 3};
	struct buffer out, again;
	struct bytes in;

	memset(&sent, 0, sizeof(sent));
	memset(&got, 0, sizeof(got));
	fill(table, &sent, blob);
	buffer_init(&out, FRAME_MAX);
	buffer_init(&again, FRAME_MAX);
	ck_assert(pack_record(&out, table, &sent));
	in = of(&out);
	ck_assert(unpack_record(&in, table, &got));
	ck_assert_uint_eq(in.len, 0);
	/* Compare the packed forms, because bytes members contain pointers. */
	ck_assert(pack_record(&again, table, &got));
	ck_assert_uint_eq(out.len, again.len);
	ck_assert_mem_eq(out.data, again.data, out.len);
	for (uint32_t len = 0; len < out.len; len++) {
		in = (struct bytes){out.data, len};
		ck_assert(!unpack_record(&in, table, &got));
	}
	ck_assert_uint_le(size, sizeof(sent));
	buffer_free(&out);
	buffer_free(&again);
}

START_TEST(commands_come_back)
{
	for (unsigned int round = 0; round < 50; round++) {
		comes_back(command_infos[_i].cmd_fields, command_infos[_i].cmd_size);
		comes_back(command_infos[_i].result_fields, command_infos[_i].result_size);
	}
}
END_TEST

/* Returns the alignment of the field's type. */
static uint32_t alignment(const struct field *field)
{
	uint32_t most = 1;

	switch (field->type) {
	case FIELD_STR:
	case FIELD_SECRET:
		return 1;
	case FIELD_BYTES:
	case FIELD_JSON:
		return (uint32_t) _Alignof(struct bytes);
	case FIELD_GROUP:
		for (const struct field *sub = field->sub; sub->name; sub++)
			most = alignment(sub) > most ? alignment(sub) : most;
		return most;
	default:
		return field->size;
	}
}

static uint32_t aligned(uint32_t offset, uint32_t to)
{
	return (offset + to - 1) / to * to;
}

/*
 * Checks that the table's members are adjacent. A gap that alignment does not explain is a
 * forgotten member, which would be lost in transit.
 */
static void complete(const char *name, const struct field *table, uint32_t size)
{
	uint32_t end = 0, most = 1;

	for (; table->name; table++) {
		uint32_t align = alignment(table);

		ck_assert_msg(table->offset == aligned(end, align), "%s: before %s", name,
			table->name);
		end = table->offset + table->size * (table->type == FIELD_GROUP ? table->count : 1);
		most = align > most ? align : most;
		if (table->type == FIELD_GROUP)
			complete(table->name, table->sub, table->size);
	}
	ck_assert_msg(size == aligned(end, most), "%s: at its end", name);
}

START_TEST(command_tables_are_complete)
{
	const struct command_info *info = &command_infos[_i];

	complete(info->name, info->cmd_fields, info->cmd_size);
	complete(info->name, info->result_fields, info->result_size);
}
END_TEST

START_TEST(record_tables_are_complete)
{
	complete(record_infos[_i].name, record_infos[_i].fields, record_infos[_i].size);
}
END_TEST

START_TEST(protocol_is_stable_and_sensitive)
{
	const struct field one[] = {{.name = "a", .type = FIELD_U32, .size = 4}, FIELD_END};
	const struct field two[] = {{.name = "b", .type = FIELD_U32, .size = 4}, FIELD_END};
	const struct field three[] = {{.name = "a", .type = FIELD_U64, .size = 8}, FIELD_END};

	ck_assert_uint_eq(command_protocol(), command_protocol());
	ck_assert_uint_ne(field_digest(1, one), field_digest(1, two));
	ck_assert_uint_ne(field_digest(1, one), field_digest(1, three));
	ck_assert_uint_ne(field_digest(1, one), field_digest(2, one));
}
END_TEST

Suite *frame_suite(void)
{
	Suite *suite = suite_create("frame");
	TCase *tc = tcase_create("frame");

	tcase_add_test(tc, request_comes_back);
	tcase_add_test(tc, requests_have_names);
	tcase_add_test(tc, names_are_checked);
	tcase_add_test(tc, answer_comes_back);
	tcase_add_test(tc, lengths_are_bounded);
	tcase_add_test(tc, greeting_comes_back);
	tcase_add_loop_test(tc, decoders_survive_anything, 0, COMMAND_COUNT);
	tcase_add_loop_test(tc, commands_come_back, 0, COMMAND_COUNT);
	tcase_add_loop_test(tc, command_tables_are_complete, 0, COMMAND_COUNT);
	tcase_add_loop_test(tc, record_tables_are_complete, 0, RECORD_COUNT);
	tcase_add_test(tc, protocol_is_stable_and_sensitive);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
