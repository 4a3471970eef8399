/* The parts of src/peer that need no other host, and the hello (link/hello.h). */
#include "link/hello.h"
#include "peer/address.h"
#include "peer/pump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static const struct hello example = {.cell = "0123456789abcdef",
	.member = "host-b",
	.socket = SOCKET_ADMIN,
	.role = ROLE_SUPPORT,
	.uid = 33,
	.login_uid = UINT32_MAX};

static enum frame_read read_text(const char *text, struct hello *hello, size_t *size)
{
	return hello_get((struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)}, hello,
		size);
}

START_TEST(a_hello_is_read_back)
{
	char line[HELLO_MAX + 1] = "";
	struct hello hello;
	size_t len = hello_put(line, &example), size;

	ck_assert_str_eq(line, "CBP1 0123456789abcdef host-b admin support 33 4294967295\n");
	for (size_t i = 0; i < len; i++)
		ck_assert_int_eq(hello_get((struct bytes){(uint8_t *)line, (uint32_t)i}, &hello,
					 &size),
			FRAME_INCOMPLETE);
	ck_assert_int_eq(read_text(line, &hello, &size), FRAME_COMPLETE);
	ck_assert_uint_eq(size, len);
	ck_assert_mem_eq(&hello, &example, sizeof(hello));
}
END_TEST

START_TEST(other_lines_are_no_hello)
{
	static const char *const lines[] = {"\n", "CBP2 c m edge none 1 2\n",
		"CBP1 c m edge none 1\n", "CBP1 c m edge 1 2\n", "CBP1 c m edge none 1 2 3\n",
		"CBP1  c m edge none 1 2\n", "CBP1 c m edge none 1 2 \n",
		"CBP1 c m Edge none 1 2\n", "CBP1 c m root none 1 2\n", "CBP1 c m edge root 1 2\n",
		"CBP1 c m edge  1 2\n", "CBP1 c m edge none 01 2\n", "CBP1 c m edge none +1 2\n",
		"CBP1 c m edge none 4294967296 2\n", "CBP1 c m edge none -1 2\n",
		"CBP1 c/d m edge none 1 2\n", "CBP1 c m/n edge none 1 2\n",
		"CBP1 c m edge none 1 2\r\n"};
	char full[HELLO_MAX + 1];
	struct hello hello;
	size_t size;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(read_text(lines[i], &hello, &size) == FRAME_GARBAGE, "%s", lines[i]);
	memset(full, 'x', HELLO_MAX);
	full[HELLO_MAX] = 0;
	ck_assert_int_eq(read_text(full, &hello, &size), FRAME_GARBAGE);
	ck_assert_int_eq(read_text(full + 1, &hello, &size), FRAME_INCOMPLETE);
	ck_assert_int_eq(hello_get((struct bytes){(const uint8_t *)"CBP1\0c m edge none 1 2\n", 23},
				 &hello, &size),
		FRAME_GARBAGE);
}
END_TEST

START_TEST(a_hello_without_names_is_not_written)
{
	char line[HELLO_MAX];
	struct hello hello = example;

	hello.cell[0] = 0;
	ck_assert_uint_eq(hello_put(line, &hello), 0);
	hello = example;
	strcpy(hello.member, "a b");
	ck_assert_uint_eq(hello_put(line, &hello), 0);
}
END_TEST

START_TEST(addresses_are_numbers_with_a_port)
{
	static const char *const bad[] = {"", "10.0.0.1", ":1", "10.0.0.1:0", "10.0.0.1:65536",
		"host:1", "[fd00::1]", "fd00::1:1", "[fd00::1:1", "10.0.0.1:1x", "[]:1", "[:1"};
	struct address address;

	ck_assert(address_parse("10.0.0.1:7410", &address));
	ck_assert_int_eq(address.storage.ss_family, AF_INET);
	ck_assert(address_parse("[fd00::1]:7410", &address));
	ck_assert_int_eq(address.storage.ss_family, AF_INET6);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!address_parse(bad[i], &address), "%s", bad[i]);
}
END_TEST

/* An end that gives and takes as much as the case permits, a number of bytes that varies. */
struct scripted {
	const uint8_t *given;
	size_t size, at;
	uint8_t *taken;
	size_t took;
	bool closed; /* takes nothing for now */
	unsigned int turn;
};

static size_t some_bytes(struct scripted *end, size_t most)
{
	const size_t steps[] = {1, 7, 0, 4096, 3, 0, 20000, 2};
	const size_t step = steps[end->turn++ % 8];

	return step < most ? step : most;
}

static ssize_t scripted_read(void *context, void *to, size_t size)
{
	struct scripted *end = context;
	const size_t left = end->size - end->at;
	const size_t got = some_bytes(end, size < left ? size : left);

	if (!left)
		return 0;
	if (!got)
		return END_AGAIN;
	memcpy(to, end->given + end->at, got);
	end->at += got;
	return (ssize_t)got;
}

static ssize_t scripted_write(void *context, const void *from, size_t size)
{
	struct scripted *end = context;
	const size_t put = end->closed ? 0 : some_bytes(end, size);

	if (!put)
		return END_AGAIN;
	memcpy(end->taken + end->took, from, put);
	end->took += put;
	return (ssize_t)put;
}

#define BYTES 300000
static uint8_t sent[BYTES], got[BYTES];

START_TEST(a_pump_passes_all_bytes_in_their_order)
{
	struct scripted ends = {.given = sent, .size = BYTES, .taken = got};
	const struct pump_end end = {scripted_read, scripted_write, &ends};
	struct pump pump;
	unsigned int rounds = 0;

	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (uint8_t)(i * 2654435761u >> 13);
	ck_assert(pump_init(&pump));
	while ((!pump.ended || pump.len) && ++rounds < 1000000) {
		ck_assert(pump_fill(&pump, &end));
		ck_assert(pump_drain(&pump, &end));
	}
	ck_assert_uint_eq(ends.took, BYTES);
	ck_assert_mem_eq(sent, got, BYTES);
	pump_free(&pump);
}
END_TEST

START_TEST(a_full_pump_reads_nothing_more)
{
	struct scripted ends = {.given = sent, .size = BYTES, .taken = got, .closed = true};
	const struct pump_end end = {scripted_read, scripted_write, &ends};
	struct pump pump;

	ck_assert(pump_init(&pump));
	for (unsigned int i = 0; i < 1000; i++) {
		ck_assert(pump_fill(&pump, &end));
		ck_assert(pump_drain(&pump, &end));
	}
	ck_assert_uint_eq(pump_room(&pump), 0);
	ck_assert_uint_eq(ends.at, PUMP_SIZE);
	ck_assert(!pump_put(&pump, "x", 1));
	ends.closed = false;
	while (pump.len)
		ck_assert(pump_drain(&pump, &end));
	ck_assert_mem_eq(sent, got, PUMP_SIZE);
	ck_assert(pump_put(&pump, "x", 1));
	pump_free(&pump);
	ck_assert_uint_eq(pump_room(&pump), 0);
}
END_TEST

static ssize_t broken_read(void *context, void *to, size_t size)
{
	(void)context;
	(void)to;
	(void)size;
	return END_BROKEN;
}

static ssize_t broken_write(void *context, const void *from, size_t size)
{
	(void)context;
	(void)from;
	(void)size;
	return END_BROKEN;
}

START_TEST(a_broken_end_is_reported)
{
	const struct pump_end end = {broken_read, broken_write, NULL};
	struct pump pump;

	ck_assert(pump_init(&pump));
	ck_assert(!pump_fill(&pump, &end));
	ck_assert(pump_drain(&pump, &end));
	ck_assert(pump_put(&pump, "x", 1));
	ck_assert(!pump_drain(&pump, &end));
	pump_free(&pump);
}
END_TEST

static Suite *peer_suite(void)
{
	Suite *suite = suite_create("peer");
	TCase *tcase = tcase_create("parts");

	tcase_add_test(tcase, a_hello_is_read_back);
	tcase_add_test(tcase, other_lines_are_no_hello);
	tcase_add_test(tcase, a_hello_without_names_is_not_written);
	tcase_add_test(tcase, addresses_are_numbers_with_a_port);
	tcase_add_test(tcase, a_pump_passes_all_bytes_in_their_order);
	tcase_add_test(tcase, a_full_pump_reads_nothing_more);
	tcase_add_test(tcase, a_broken_end_is_reported);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(void) = {peer_suite, NULL};

	return tap_main(makers);
}
