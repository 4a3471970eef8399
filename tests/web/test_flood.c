/*
 * Tests the cost of callers without a key (web/flood.h): bytes hashed and lines logged.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The sum of their bodies exceeds every budget. */
#define FLOOD_REQUESTS 1100
#define STRANGER       "REMOTE_ADDR=203.0.113.7"
#define HONEST         "REMOTE_ADDR=192.0.2.1"

_Static_assert(FLOOD_REQUESTS *(int64_t)BODY_MAX > FLOOD_PROCESS_BURST, "no budget is used up");

static char large[BODY_MAX + 1];
/* The time that the budgets see. It advances only when a test sets it. */
static int64_t now_ms;

/* Makes bodies of the largest size: a valid transfer, and blanks. */
static void setup_flood(void)
{
	web_case_setup();
	memset(large, ' ', BODY_MAX);
	memcpy(large, BODY_TRANSFER, strlen(BODY_TRANSFER));
	now_ms = clock_boot_ms();
}

static int ask_now(const struct ask *what)
{
	return ask_at(what, NOW_MS, now_ms);
}

/*
 * Sends @what repeatedly at one moment. Returns the total cost, and the code of the last answer.
 */
static size_t flood_with(const struct ask *what, int *code)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < FLOOD_REQUESTS; i++) {
		*code = ask_now(what);
		bytes += signature_bytes;
	}
	return bytes;
}

/* Without headers that can be a signature, nothing is hashed, and every call is answered 401. */
START_TEST(malformed_costs_nothing)
{
	static const struct ask cases[] = {{.caller = "-", .body = large, .more = {STRANGER}},
		{.signature = "-", .body = large, .more = {STRANGER}},
		{.signature = "00", .body = large, .more = {STRANGER}}};
	int code;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_uint_eq(flood_with(&cases[i], &code), 0);
		ck_assert_int_eq(code, 401);
	}
}
END_TEST

/* An unknown id causes bounded work, then 429. Its address regains its budget over time. */
START_TEST(unknown_is_bounded)
{
	struct ask what = {.caller = "nobody", .body = large, .more = {STRANGER}};
	size_t bytes;
	int code;

	bytes = flood_with(&what, &code);
	ck_assert_uint_le(bytes,
		AUTH_WORK * (FLOOD_ADDRESS_BURST + FLOOD_CALLER_BURST + 2 * BODY_MAX));
	ck_assert_int_eq(code, 429);
	ck_error("rate_limited");
	ck_assert(reply_has("Retry-After: 1"));
	ck_assert_uint_gt(worker.counting.kept.auth_failures[CALLER_DEALER][AUTH_FLOOD], 0);
	/* This also holds for every other id from that address, but not from other addresses. */
	what.caller = "somebody";
	ck_assert_int_eq(ask_now(&what), 429);
	what.more[0] = HONEST;
	ck_assert_int_eq(ask_now(&what), 401);
	ck_assert_uint_eq(signatures, AUTH_WORK);
	what.more[0] = STRANGER;
	now_ms += 60000;
	ck_assert_int_eq(ask_now(&what), 401);
	ck_assert_uint_eq(signatures, AUTH_WORK);
}
END_TEST

/* A dealer's id with a wrong signature costs no more than an unknown id. */
START_TEST(known_is_bounded)
{
	struct ask what = {.key = KEY_OTHER, .body = large, .more = {STRANGER}};
	size_t bytes;
	int code;

	bytes = flood_with(&what, &code);
	ck_assert_uint_le(bytes,
		AUTH_WORK * (FLOOD_ADDRESS_BURST + FLOOD_CALLER_BURST + 2 * BODY_MAX));
	ck_assert_int_eq(code, 429);
	/* The dealer calls from its own address and has not called before. */
	ck_assert_int_eq(ask_now(&(struct ask){.body = large, .more = {HONEST}}), 200);
}
END_TEST

/* A dealer at the address of the flood is served at its first call and from then on. */
START_TEST(honest_at_the_same_address)
{
	struct ask stranger = {.caller = "nobody", .body = large, .more = {STRANGER}};
	struct ask imitator = {.key = KEY_OTHER, .body = large, .more = {STRANGER}};
	struct ask honest = {.more = {STRANGER}};
	size_t bytes;
	int code;

	flood_with(&stranger, &code);
	ck_assert_int_eq(code, 429);
	ck_assert_int_eq(ask_now(&honest), 200);
	ck_assert_uint_eq(signatures, 1);
	/* Also if the flood uses the dealer's id; the flood is still bounded. */
	bytes = flood_with(&imitator, &code);
	ck_assert_int_eq(code, 429);
	ck_assert_uint_le(bytes, AUTH_WORK * (FLOOD_PAIR_BURST + 2 * BODY_MAX));
	ck_assert_int_eq(ask_now(&honest), 200);
	ck_assert_uint_eq(signatures, 1);
	/* A flood of small bodies is checked, and does not exclude the dealer either. */
	ck_assert_uint_le(strlen(BODY_TRANSFER), FLOOD_SMALL_BYTES);
	imitator.body = NULL;
	flood_with(&imitator, &code);
	ck_assert_int_eq(code, 401);
	ck_assert_int_eq(ask_now(&honest), 200);
	/* Its large bodies are accepted again after a time. */
	honest.body = large;
	ck_assert_int_eq(ask_now(&honest), 429);
	now_ms += 1000;
	ck_assert_int_eq(ask_now(&honest), 200);
	honest.body = NULL;
	/* Also with the key in the second slot. */
	honest.key = KEY_TWO;
	ck_assert_int_eq(ask_now(&honest), 200);
}
END_TEST

/* Many addresses share one budget. */
START_TEST(process_is_bounded)
{
	char address[64];
	struct ask what = {.caller = "nobody", .body = large, .more = {address}};
	size_t bytes = 0;

	for (unsigned int i = 0; i < FLOOD_REQUESTS; i++) {
		snprintf(address, sizeof(address), "REMOTE_ADDR=2001:db8:%x::1", i);
		ask_now(&what);
		bytes += signature_bytes;
	}
	ck_assert_uint_le(bytes,
		AUTH_WORK * (FLOOD_PROCESS_BURST + FLOOD_CALLER_BURST + 2 * BODY_MAX));
	ck_assert_int_eq(ask_now(&(struct ask){.more = {HONEST}}), 200);
	ck_assert_int_eq(ask_now(&(struct ask){.more = {HONEST}}), 200);
}
END_TEST

/* All addresses of an IPv6 network of 64 bits count as one. */
START_TEST(network_is_one_address)
{
	char address[64];
	struct ask what = {.caller = "nobody", .body = large, .more = {address}};

	for (unsigned int i = 0; i < FLOOD_REQUESTS; i++) {
		snprintf(address, sizeof(address), "REMOTE_ADDR=2001:db8::%x", i);
		ask_now(&what);
	}
	ck_assert_uint_eq(signatures, 0);
	snprintf(address, sizeof(address), "REMOTE_ADDR=2001:db8:0:1::1");
	ck_assert_int_eq(ask_now(&what), 401);
}
END_TEST

/* Valid calls cost nothing, however many and large. */
START_TEST(good_calls_are_free)
{
	struct ask what = {.body = large, .more = {HONEST}};
	int code;

	flood_with(&what, &code);
	ck_assert_int_eq(code, 200);
	ck_assert_int_eq(ask_now(&(struct ask){.caller = "nobody", .more = {HONEST}}), 401);
	ck_assert_uint_eq(signatures, AUTH_WORK);
}
END_TEST

START_TEST(lines_are_bounded)
{
	uint64_t left_out;
	unsigned int lines = 0;

	for (unsigned int i = 0; i < FLOOD_REQUESTS; i++)
		lines += flood_may_log(&flood, now_ms, &left_out);
	ck_assert_uint_eq(lines, FLOOD_LINES_BURST);
	ck_assert(flood_may_log(&flood, now_ms + 1000, &left_out));
	ck_assert_uint_eq(left_out, FLOOD_REQUESTS - FLOOD_LINES_BURST);
	ck_assert(flood_may_log(&flood, now_ms + 1000, &left_out));
	ck_assert_uint_eq(left_out, 0);
}
END_TEST

Suite *web_flood_suite(void)
{
	Suite *suite = suite_create("flood");
	TCase *tcase = tcase_create("flood");

	tcase_add_checked_fixture(tcase, setup_flood, web_case_teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, malformed_costs_nothing);
	tcase_add_test(tcase, unknown_is_bounded);
	tcase_add_test(tcase, known_is_bounded);
	tcase_add_test(tcase, honest_at_the_same_address);
	tcase_add_test(tcase, process_is_bounded);
	tcase_add_test(tcase, network_is_one_address);
	tcase_add_test(tcase, good_calls_are_free);
	tcase_add_test(tcase, lines_are_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
