/*
 * Tests the reasons to delay callbacks: permits and breaker (permits), and due times, leases and
 * turns (schedule).
 */
#include "case.h"

#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"

#include <stdio.h>
#include <string.h>

static struct permits permits;
static uint64_t next_id;

/* Makes one call of demo that ends with @class. Returns false if there is no permit. */
static bool call(enum callback_class class, int64_t now_ms)
{
	uint64_t id = ++next_id;

	if (!permits_take(&permits, "demo", id, 20, now_ms, now_ms + 10000))
		return false;
	permits_give(&permits, "demo", id, class, now_ms);
	return true;
}

START_TEST(permits_are_limited)
{
	ck_assert(permits_init(&permits));
	for (uint64_t id = 1; id <= 3; id++)
		ck_assert(permits_take(&permits, "demo", id, 3, 100, 10100));
	ck_assert(!permits_take(&permits, "demo", 4, 3, 100, 10100));
	/* A held permit may be taken again, because a batch may be run again. */
	ck_assert(permits_take(&permits, "demo", 2, 3, 100, 10100));
	ck_assert(permits_take(&permits, "other", 4, 3, 100, 10100));
	permits_give(&permits, "demo", 1, CALLBACK_SUCCESS, 200);
	permits_give(&permits, "demo", 1, CALLBACK_SUCCESS, 200);
	ck_assert_uint_eq(permits_inflight(&permits, "demo", 200), 2);
	ck_assert(permits_take(&permits, "demo", 4, 3, 200, 10200));
	/* The permit of a killed worker is released when its lease expires. */
	ck_assert_uint_eq(permits_inflight(&permits, "demo", 10100), 1);
	ck_assert_uint_eq(permits_inflight(&permits, "demo", 10200), 0);
	permits_free(&permits);
}
END_TEST

/*
 * A worker can name dealers that do not exist. They must not occupy slots, whose number is
 * limited.
 */
START_TEST(names_that_hold_no_permit_take_no_place)
{
	char name[32];

	ck_assert(permits_init(&permits));
	for (unsigned int i = 0; i < 3 * DEALERS_MAX; i++) {
		snprintf(name, sizeof(name), "no-dealer-%u", i);
		ck_assert(!permits_give(&permits, name, 1, CALLBACK_SUCCESS, 100));
	}
	ck_assert(permits_take(&permits, "demo", 1, 1, 100, 10100));
	permits_free(&permits);
}
END_TEST

START_TEST(breaker_opens_and_closes)
{
	int64_t now_ms = 1000000;

	ck_assert(permits_init(&permits));
	/* Refusals never open the breaker. */
	for (int i = 0; i < 50; i++)
		ck_assert(call(CALLBACK_REFUSED, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_CLOSED);
	permits_free(&permits);
	ck_assert(permits_init(&permits));
	/* 6 of 9 failures are too few; 7 of 10 are 70 %. */
	for (int i = 0; i < 9; i++)
		ck_assert(call(i < 6 ? CALLBACK_UNKNOWN : CALLBACK_SUCCESS, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_CLOSED);
	ck_assert(call(CALLBACK_NOT_SENT, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_OPEN);
	ck_assert(!call(CALLBACK_SUCCESS, now_ms + PERMITS_OPEN_MS - 1));
	/* In the half-open state, one call is allowed and its result decides. */
	now_ms += PERMITS_OPEN_MS;
	ck_assert(permits_take(&permits, "demo", 500, 20, now_ms, now_ms + 10000));
	ck_assert(!permits_take(&permits, "demo", 501, 20, now_ms, now_ms + 10000));
	permits_give(&permits, "demo", 500, CALLBACK_UNKNOWN, now_ms);
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_OPEN);
	now_ms += PERMITS_OPEN_MS;
	ck_assert(call(CALLBACK_SUCCESS, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_CLOSED);
	/* Earlier results are forgotten. */
	ck_assert(call(CALLBACK_UNKNOWN, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_CLOSED);
	permits_free(&permits);
}
END_TEST

/* A look of an operator that fails says nothing about the dealer, not even as the test call. */
START_TEST(uncounted_calls_leave_the_breaker)
{
	int64_t now_ms = 1000000;

	ck_assert(permits_init(&permits));
	for (uint64_t id = 1; id <= 50; id++) {
		ck_assert(permits_take(&permits, "demo", id, 20, now_ms, now_ms + 10000));
		ck_assert(permits_give_uncounted(&permits, "demo", id, now_ms));
		ck_assert(!permits_give_uncounted(&permits, "demo", id, now_ms));
	}
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_CLOSED);
	ck_assert_uint_eq(permits_inflight(&permits, "demo", now_ms), 0);
	for (int i = 0; i < 10; i++)
		call(CALLBACK_UNKNOWN, now_ms);
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_OPEN);
	now_ms += PERMITS_OPEN_MS;
	ck_assert(permits_take(&permits, "demo", 500, 20, now_ms, now_ms + 10000));
	ck_assert(!permits_take(&permits, "demo", 501, 20, now_ms, now_ms + 10000));
	ck_assert(permits_give_uncounted(&permits, "demo", 500, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_HALF_OPEN);
	ck_assert(call(CALLBACK_SUCCESS, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_CLOSED);
	permits_free(&permits);
}
END_TEST

/* Opens the breaker of demo at @now_ms with calls that are not sent. */
static void open_once(int64_t now_ms)
{
	while (permits_breaker(&permits, "demo", now_ms) == BREAKER_CLOSED)
		ck_assert(call(CALLBACK_NOT_SENT, now_ms));
}

START_TEST(openings_are_remembered)
{
	struct permits_history history;
	int64_t now_ms = 1000000;

	ck_assert(permits_init(&permits));
	permits_history(&permits, "demo", now_ms, &history);
	ck_assert_uint_eq(history.opened, 0);
	ck_assert_uint_eq(history.count, 0);
	ck_assert_int_eq(history.bad_ms, 0);
	ck_assert(call(CALLBACK_REFUSED, now_ms));
	permits_history(&permits, "demo", now_ms, &history);
	ck_assert_int_eq(history.bad_ms, 0);
	open_once(now_ms);
	permits_history(&permits, "demo", now_ms, &history);
	ck_assert_int_eq(history.breaker, BREAKER_OPEN);
	ck_assert_int_eq(history.next_ms, now_ms + PERMITS_OPEN_MS);
	ck_assert_uint_eq(history.opened, 1);
	ck_assert_int_eq(history.openings[0].opened_ms, now_ms);
	ck_assert_int_eq(history.openings[0].closed_ms, 0);
	ck_assert_int_eq(history.bad_ms, now_ms);
	ck_assert_uint_eq(history.bad_id, next_id);
	ck_assert_int_eq(history.bad_class, CALLBACK_NOT_SENT);
	/* A test call that fails is part of the same opening; one that succeeds ends it. */
	ck_assert(call(CALLBACK_UNKNOWN, now_ms + PERMITS_OPEN_MS));
	ck_assert(call(CALLBACK_SUCCESS, now_ms + 2 * PERMITS_OPEN_MS));
	permits_history(&permits, "demo", now_ms + 2 * PERMITS_OPEN_MS, &history);
	ck_assert_int_eq(history.breaker, BREAKER_CLOSED);
	ck_assert_int_eq(history.next_ms, 0);
	ck_assert_uint_eq(history.opened, 1);
	ck_assert_uint_eq(history.openings[0].tests, 1);
	ck_assert_int_eq(history.openings[0].closed_ms, now_ms + 2 * PERMITS_OPEN_MS);
	ck_assert_int_eq(history.bad_class, CALLBACK_UNKNOWN);
	/* The newest ones are kept. */
	for (int64_t i = 1; i <= PERMITS_OPENINGS; i++) {
		open_once(now_ms + i * 1000000);
		ck_assert(call(CALLBACK_SUCCESS, now_ms + i * 1000000 + PERMITS_OPEN_MS));
	}
	permits_history(&permits, "demo", now_ms + 99 * 1000000, &history);
	ck_assert_uint_eq(history.opened, PERMITS_OPENINGS + 1);
	ck_assert_uint_eq(history.count, PERMITS_OPENINGS);
	ck_assert_int_eq(history.openings[0].opened_ms, now_ms + PERMITS_OPENINGS * 1000000);
	ck_assert_int_eq(history.openings[PERMITS_OPENINGS - 1].opened_ms, now_ms + 1000000);
	/* An unknown dealer has none, and gets no entry. */
	permits_history(&permits, "other", now_ms, &history);
	ck_assert_uint_eq(history.opened, 0);
	permits_free(&permits);
}
END_TEST

/* If the worker of a half-open probe dies, the breaker opens again when the lease expires. */
START_TEST(lost_calls_count_as_unknown)
{
	int64_t now_ms = 1000000;

	ck_assert(permits_init(&permits));
	for (uint64_t id = 1; id <= 10; id++)
		ck_assert(permits_take(&permits, "demo", id, 20, now_ms, now_ms + 10000));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms + 9999), BREAKER_CLOSED);
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms + 10000), BREAKER_OPEN);
	permits_free(&permits);
}
END_TEST

START_TEST(outcomes_grow_old)
{
	int64_t now_ms = 1000000;

	ck_assert(permits_init(&permits));
	for (int i = 0; i < 9; i++)
		ck_assert(call(CALLBACK_UNKNOWN, now_ms));
	now_ms += PERMITS_WINDOW_MS;
	ck_assert(call(CALLBACK_UNKNOWN, now_ms));
	ck_assert_int_eq(permits_breaker(&permits, "demo", now_ms), BREAKER_CLOSED);
	permits_free(&permits);
}
END_TEST

static struct schedule schedule;
static const char *barred; /* a dealer that accepts no calls */

static bool may(void *context, const char *casino_id, uint32_t already)
{
	const uint32_t *most = context;

	return already < *most && !(barred && strcmp(casino_id, barred) == 0);
}

static void set(uint64_t event, const char *casino_id, int64_t due_ms, uint64_t owner)
{
	const struct schedule_entry entry = {
		.event = event,
		.due_ms = due_ms,
		.owner = owner,
		.sending = owner != 0,
		.kind = CALLBACK_BETTING_RESULT,
	};

	ck_assert(schedule_set(&schedule, casino_id, &entry));
}

static uint32_t claim(int64_t now_ms, uint32_t per_dealer, uint64_t *events, uint32_t most)
{
	return schedule_claimable(&schedule, now_ms, may, &per_dealer, events, most);
}

START_TEST(oldest_first_and_in_turn)
{
	uint64_t events[16];

	ck_assert(schedule_init(&schedule));
	for (uint64_t i = 0; i < 6; i++)
		set(100 + i, "a", 50 - (int64_t)i, 0);
	set(200, "b", 45, 0);
	set(300, "c", 99, 0);
	/* a's oldest, b's, a's next; c's is not due. */
	ck_assert_uint_eq(claim(60, 3, events, 16), 4);
	ck_assert_uint_eq(events[0], 105);
	ck_assert_uint_eq(events[1], 200);
	ck_assert_uint_eq(events[2], 104);
	ck_assert_uint_eq(events[3], 103);
	barred = "a";
	ck_assert_uint_eq(claim(60, 3, events, 16), 1);
	ck_assert_uint_eq(events[0], 200);
	barred = NULL;
	schedule_remove(&schedule, 105);
	schedule_remove(&schedule, 105);
	set(100, "a", 1, 0);
	ck_assert_uint_eq(claim(60, 1, events, 1), 1);
	ck_assert_ptr_null(schedule_find(&schedule, 105));
	ck_assert_int_eq(schedule_find(&schedule, 100)->due_ms, 1);
	schedule_free(&schedule);
}
END_TEST

START_TEST(an_owner_is_waited_for)
{
	const int64_t lease_ms = 1000, patience_ms = SCHEDULE_OWNER_PATIENCE_MS;
	uint64_t events[4];

	ck_assert(schedule_init(&schedule));
	set(1, "a", lease_ms, 77);
	ck_assert_uint_eq(claim(lease_ms - 1, 9, events, 4), 0);
	/* The lease has expired, but its owner may only be slow. */
	ck_assert_uint_eq(claim(lease_ms, 9, events, 4), 0);
	ck_assert_uint_eq(schedule_overdue_owner(&schedule, lease_ms + patience_ms - 1), 0);
	ck_assert_uint_eq(schedule_overdue_owner(&schedule, lease_ms + patience_ms), 77);
	ck_assert_uint_eq(claim(lease_ms + patience_ms, 9, events, 4), 1);
	schedule_owner_gone(&schedule, 77);
	ck_assert_uint_eq(claim(lease_ms - 1, 9, events, 4), 0);
	ck_assert_uint_eq(claim(lease_ms, 9, events, 4), 1);
	schedule_free(&schedule);
}
END_TEST

/* A takeover calls no dealer, so neither a backlog nor the breaker delays it. */
START_TEST(what_was_left_goes_before_what_is_due)
{
	uint64_t events[8];

	ck_assert(schedule_init(&schedule));
	for (uint64_t i = 1; i <= 1000; i++)
		set(i, "a", 1, 0);
	set(2000, "a", 50, 77);
	set(2001, "a", 40, 78);
	schedule_owner_gone(&schedule, 77);
	schedule_owner_gone(&schedule, 78);
	barred = "a";
	ck_assert_uint_eq(claim(45, 9, events, 8), 1);
	ck_assert_uint_eq(claim(60, 9, events, 8), 2);
	ck_assert_uint_eq(events[0], 2001);
	ck_assert_uint_eq(events[1], 2000);
	barred = NULL;
	/* They use none of the dealer's capacity. */
	ck_assert_uint_eq(claim(60, 1, events, 8), 3);
	ck_assert_uint_eq(events[2], 1);
	/* One of them is due again and is placed after the others. */
	set(2001, "a", 55, 0);
	set(1, "a", 70, 79);
	ck_assert_uint_eq(claim(60, 1, events, 8), 2);
	ck_assert_uint_eq(events[0], 2000);
	ck_assert_uint_eq(events[1], 2);
	schedule_remove(&schedule, 2000);
	schedule_remove(&schedule, 1);
	ck_assert_uint_eq(schedule.count, 1000);
	schedule_free(&schedule);
}
END_TEST

/*
 * Compares thousands of events with a plain array: the heap, the hash table and the walk must
 * agree.
 */
START_TEST(many_events_agree_with_an_array)
{
	enum { EVENTS = 5000 };
	static int64_t due[EVENTS + 1];
	static uint64_t events[EVENTS];
	uint64_t state = 42;
	uint32_t expected = 0, found;
	char name[8];

	ck_assert(schedule_init(&schedule));
	for (int i = 0; i < 20000; i++) {
		uint64_t event, random;

		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		random = state >> 33;
		event = 1 + random % EVENTS;
		snprintf(name, sizeof(name), "d%u", (unsigned int)(event % 7));
		if (random % 5 == 0) {
			schedule_remove(&schedule, event);
			due[event] = 0;
		} else {
			due[event] = 1 + (int64_t)(random / 7 % 1000);
			/* Some are being sent by a process that has exited. */
			set(event, name, due[event], random % 3 ? 0 : 9);
		}
	}
	schedule_owner_gone(&schedule, 9);
	for (uint64_t event = 1; event <= EVENTS; event++)
		expected += due[event] && due[event] <= 100;
	/* A walk holds 256 slots at a time, which is enough for a claim. */
	found = claim(100, 200, events, EVENTS);
	ck_assert_uint_eq(found, expected);
	for (uint32_t i = 0; i < found; i++) {
		ck_assert(due[events[i]] && due[events[i]] <= 100);
		due[events[i]] = 0;
	}
	schedule_free(&schedule);
}
END_TEST

Suite *permits_suite(void)
{
	Suite *suite = suite_create("permits");
	TCase *tc = tcase_create("permits");

	tcase_add_test(tc, permits_are_limited);
	tcase_add_test(tc, names_that_hold_no_permit_take_no_place);
	tcase_add_test(tc, breaker_opens_and_closes);
	tcase_add_test(tc, uncounted_calls_leave_the_breaker);
	tcase_add_test(tc, openings_are_remembered);
	tcase_add_test(tc, lost_calls_count_as_unknown);
	tcase_add_test(tc, outcomes_grow_old);
	tcase_add_test(tc, oldest_first_and_in_turn);
	tcase_add_test(tc, an_owner_is_waited_for);
	tcase_add_test(tc, what_was_left_goes_before_what_is_due);
	tcase_add_test(tc, many_events_agree_with_an_array);
	suite_add_tcase(suite, tc);
	return suite;
}
