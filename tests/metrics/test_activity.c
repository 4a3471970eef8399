/*
 * Tests the calls of the last 24 hours, and the copy of the workers' counters from which they come.
 */
#include "suites.h"

#include "base/log.h"
#include "metrics/activity.h"

#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINUTE INT64_C(60000)
/* 2026-01-01 00:00:00, the beginning of a span; the host was booted an hour before. */
#define WALL INT64_C(1767225600000)
#define BOOT (60 * MINUTE)

static struct activity activity;
static struct counters counters;
static struct activity_span spans[ACTIVITY_SPANS_MAX];
static uint32_t span_count;

static void setup(void)
{
	memset(&activity, 0, sizeof(activity));
	memset(&counters, 0, sizeof(counters));
}

/* Takes a sample @ms after the beginning. */
static void take(int64_t ms)
{
	activity_take(&activity, &counters, BOOT + ms);
}

static struct moment moment(int64_t ms)
{
	return (struct moment){.wall_ms = WALL + ms, .boot_ms = BOOT + ms, .boot = 1};
}

static void look(int64_t ms)
{
	const struct moment now = moment(ms);

	span_count = activity_spans(&activity, &now, spans);
}

static uint64_t all_calls(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < span_count; i++)
		sum += spans[i].calls;
	return sum;
}

START_TEST(nothing_is_known_at_first)
{
	const struct moment now = moment(0);

	look(0);
	ck_assert_uint_eq(span_count, 0);
	ck_assert_int_eq(activity_since(&activity, &now), 0);
	/* What the workers counted before the first sample is of an unknown time. */
	counters.requests[OPERATION_BETS][REFUSAL_NONE] = 1000;
	take(0);
	look(0);
	ck_assert_uint_eq(span_count, 1);
	ck_assert_uint_eq(all_calls(), 0);
	ck_assert_uint_eq(spans[0].known_ms, 0);
	ck_assert_int_eq(activity_since(&activity, &now), WALL);
}
END_TEST

START_TEST(calls_by_their_answer)
{
	take(0);
	counters.requests[OPERATION_BETS][REFUSAL_NONE] = 1;
	counters.requests[OPERATION_BETS][REFUSAL_BET_REJECTED] = 2;
	counters.requests[OPERATION_TRANSFER_IN][REFUSAL_NONE] = 4;
	counters.requests[OPERATION_TRANSFER_OUT][REFUSAL_NONE] = 8;
	counters.requests[OPERATION_TRANSFER_OUT][REFUSAL_SERVICE_UNAVAILABLE] = 16;
	counters.requests[OPERATION_BALANCE][REFUSAL_NONE] = 32;
	counters.requests[OPERATION_NONE][REFUSAL_NOT_FOUND] = 64;
	/* Probes are no calls. */
	counters.requests[OPERATION_READYZ][REFUSAL_NONE] = 128;
	counters.requests[OPERATION_METRICS][REFUSAL_NONE] = 128;
	counters.requests[OPERATION_HEALTHZ][REFUSAL_NONE] = 128;
	counters.requests[OPERATION_DOCTOR][REFUSAL_INVALID_SIGNATURE] = 128;
	take(1000);
	look(1000);
	ck_assert_uint_eq(span_count, 1);
	ck_assert_uint_eq(spans[0].calls, 127);
	ck_assert_uint_eq(spans[0].refused, 66);
	ck_assert_uint_eq(spans[0].failed, 16);
	ck_assert_uint_eq(spans[0].transfers, 12);
	ck_assert_uint_eq(spans[0].bets, 1);
	ck_assert_uint_eq(spans[0].known_ms, 1000);
	/* The same counts again are no calls. */
	take(2000);
	look(2000);
	ck_assert_uint_eq(spans[0].calls, 127);
}
END_TEST

/* One call a minute, and one more in the last one of each span. */
static void run_minutes(unsigned int minutes)
{
	for (unsigned int i = 0; i < minutes; i++) {
		counters.requests[OPERATION_STAT][REFUSAL_NONE] += i % 15 == 14 ? 2 : 1;
		take(i * MINUTE + 30000);
	}
}

START_TEST(spans_follow_the_wall_clock)
{
	take(0);
	run_minutes(40);
	look(40 * MINUTE);
	ck_assert_uint_eq(span_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(spans[i].begin_ms, WALL + i * 15 * MINUTE);
		ck_assert_uint_eq(spans[i].calls, i < 2 ? 16 : 10);
		ck_assert_uint_eq(spans[i].known_ms, (i < 2 ? 15 : 10) * MINUTE);
	}
	/* The wall clock is set: what was counted moves with it, and nothing is lost. */
	span_count = activity_spans(&activity,
		&(struct moment){WALL + 39 * MINUTE, BOOT + 40 * MINUTE, 1}, spans);
	ck_assert_uint_eq(span_count, 4);
	ck_assert_int_eq(spans[0].begin_ms, WALL - 15 * MINUTE);
	ck_assert_uint_eq(spans[0].known_ms, MINUTE);
	ck_assert_uint_eq(all_calls(), 42);
}
END_TEST

START_TEST(a_day_is_kept)
{
	const struct moment now = moment(3000 * MINUTE - 1);

	take(0);
	run_minutes(3000);
	look(3000 * MINUTE - 1);
	/* The last 96 of 200 spans, all of them whole. */
	ck_assert_uint_eq(span_count, 96);
	ck_assert_int_eq(spans[0].begin_ms, WALL + 1560 * MINUTE);
	ck_assert_uint_eq(all_calls(), 1440 + 96);
	ck_assert_int_eq(activity_since(&activity, &now), WALL + 1560 * MINUTE);
	/* Seven minutes later, the day begins within a span. */
	look(3007 * MINUTE);
	ck_assert_uint_eq(span_count, ACTIVITY_SPANS_MAX);
	ck_assert_uint_eq(spans[0].known_ms, 7 * MINUTE);
	ck_assert_uint_eq(spans[0].calls, 8);
	ck_assert_uint_eq(spans[ACTIVITY_SPANS_MAX - 1].calls, 0);
	/* A day without a sample leaves nothing. */
	look(4500 * MINUTE);
	ck_assert_uint_eq(all_calls(), 0);
}
END_TEST

START_TEST(a_new_file_of_counters)
{
	take(0);
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = 100;
	take(1000);
	/* The file was deleted and made anew, and 3 calls were counted in it. */
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = 3;
	take(2000);
	look(2000);
	ck_assert_uint_eq(all_calls(), 103);
	/* A worker that writes anything does not wrap the sum. */
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = UINT64_MAX;
	take(3000);
	look(3000);
	ck_assert_uint_eq(all_calls(), UINT32_MAX);
}
END_TEST

START_TEST(a_time_without_samples_is_unknown)
{
	take(0);
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = 10;
	take(MINUTE + 20000);
	/* Up to two minutes, as at a restart, nothing is lost. */
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = 17;
	take(3 * MINUTE + 20000);
	look(3 * MINUTE + 20000);
	ck_assert_uint_eq(all_calls(), 17);
	ck_assert_uint_eq(spans[0].known_ms, 3 * MINUTE + 20000);
	/* Another host of the cell serves for 30 minutes; the workers here answer by it. */
	look(20 * MINUTE);
	ck_assert_uint_eq(span_count, 2);
	ck_assert_uint_eq(spans[0].known_ms, 3 * MINUTE + 20000);
	ck_assert_uint_eq(spans[1].known_ms, 0);
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = 9000;
	take(33 * MINUTE + 20000);
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = 9004;
	take(33 * MINUTE + 50000);
	look(34 * MINUTE);
	ck_assert_uint_eq(span_count, 3);
	ck_assert_uint_eq(spans[0].known_ms, 3 * MINUTE + 20000);
	ck_assert_uint_eq(spans[1].known_ms, 0);
	ck_assert_uint_eq(spans[2].known_ms, 40000);
	ck_assert_uint_eq(spans[0].calls, 17);
	ck_assert_uint_eq(spans[1].calls, 0);
	ck_assert_uint_eq(spans[2].calls, 4);
	/* A gap of more than a day. */
	counters.requests[OPERATION_STAT][REFUSAL_NONE] = 20000;
	take(3000 * MINUTE);
	look(3000 * MINUTE + 5000);
	ck_assert_uint_eq(all_calls(), 0);
	for (uint32_t i = 0; i + 1 < span_count; i++)
		ck_assert_uint_eq(spans[i].known_ms, 0);
	ck_assert_uint_eq(spans[span_count - 1].known_ms, 5000);
}
END_TEST

START_TEST(the_counters_are_copied)
{
	static struct counting counting;
	char directory[64], path[96], why[256];

	log_open("test", false, LOG_LEVEL_ERROR);
	scratch_make(directory);
	snprintf(path, sizeof(path), "%s/" COUNTERS_FILE, directory);
	memset(&counters, 7, sizeof(counters));
	ck_assert(!counters_copy(path, &counters));
	ck_assert(counters_make(directory, "edge.sock", why, sizeof(why)));
	ck_assert(counting_init(&counting, path));
	counting_look(&counting, COUNTING_LOOK_MS);
	counting_request(&counting, OPERATION_BETS, REFUSAL_NONE, 5);
	counting_auth_failure(&counting, CALLER_CLIENT, AUTH_FLOOD);
	ck_assert(counters_copy(path, &counters));
	ck_assert_uint_eq(counters.requests[OPERATION_BETS][REFUSAL_NONE], 1);
	ck_assert_uint_eq(counters.requests[OPERATION_BALANCE][REFUSAL_NONE], 0);
	ck_assert_uint_eq(counters.auth_failures[CALLER_CLIENT][AUTH_FLOOD], 1);
	counting_free(&counting);
	/* A file of another size, and a pipe, which nothing writes to. */
	ck_assert_int_eq(truncate(path, 100), 0);
	ck_assert(!counters_copy(path, &counters));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert(!counters_copy(path, &counters));
	scratch_remove(directory);
}
END_TEST

Suite *activity_suite(void)
{
	Suite *suite = suite_create("activity");
	TCase *tc = tcase_create("activity");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, nothing_is_known_at_first);
	tcase_add_test(tc, calls_by_their_answer);
	tcase_add_test(tc, spans_follow_the_wall_clock);
	tcase_add_test(tc, a_day_is_kept);
	tcase_add_test(tc, a_new_file_of_counters);
	tcase_add_test(tc, a_time_without_samples_is_unknown);
	tcase_add_test(tc, the_counters_are_copied);
	suite_add_tcase(suite, tc);
	return suite;
}
