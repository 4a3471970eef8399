/*
 * Tests incarnations of an installation and the ids that they assign: life.h.
 */
#include "ledger/rows/life.h"

#include "case.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/counters.h"

#include <check.h>
#include <string.h>

#define NOW_MS   INT64_C(1795737600000) /* 2026-11-27 */
#define YEAR_MS  (INT64_C(365) * 86400 * 1000)
#define HOUR_MS  INT64_C(3600000)
#define LIVES    200
#define RATE_MAX 60000 /* ids per second: below 10^6 / LIFE_STRIDE */

static uint64_t first_id(uint64_t transaction_id, uint64_t event, int64_t newest_ms,
	int64_t wall_ms)
{
	const struct life_past past = {transaction_id, event, newest_ms};

	const uint64_t first = life_first_id(&past, wall_ms, 0);

	for (uint32_t number = 1; first && number < LIFE_STRIDE; number++)
		ck_assert_uint_eq(life_first_id(&past, wall_ms, number), first + number);
	return first;
}

START_TEST(a_life_begins_at_the_microseconds_of_the_clock)
{
	const uint64_t us = (uint64_t)(NOW_MS - LIFE_EPOCH_MS) * 1000;

	ck_assert_uint_eq(life_floor(NOW_MS), us);
	ck_assert_uint_eq(first_id(0, 0, 0, NOW_MS), us);
	ck_assert_uint_eq(first_id(17, 3, NOW_MS - YEAR_MS, NOW_MS), us);
	/* The newest row is later than the clock. */
	ck_assert_uint_eq(first_id(17, 3, NOW_MS + 1, NOW_MS), us + 1008);
	/* The data contains higher ids than the clock allows. */
	ck_assert_uint_eq(first_id(us + 33, 0, 0, NOW_MS), us + 48);
	ck_assert_uint_eq(first_id(0, us + 32, 0, NOW_MS), us + 48);
	ck_assert_uint_eq(first_id(TRANSACTION_ID_MAX - 16, 0, 0, NOW_MS), TRANSACTION_ID_MAX - 15);
	ck_assert_uint_eq(first_id(TRANSACTION_ID_MAX - 15, 0, 0, NOW_MS), 0);
	ck_assert_uint_eq(first_id(TRANSACTION_ID_MAX, 0, 0, NOW_MS), 0);
}
END_TEST

START_TEST(ids_last_until_the_year_2305)
{
	const int64_t end_ms = LIFE_EPOCH_MS + (INT64_C(1) << 53) / 1000;

	ck_assert_int_gt(end_ms, LIFE_EPOCH_MS + 285 * YEAR_MS);
	ck_assert_uint_lt(life_floor(LIFE_CLOCK_MAX_MS), TRANSACTION_ID_MAX);
	ck_assert_uint_eq(life_floor(LIFE_CLOCK_MAX_MS + 1), 0);
	ck_assert_uint_eq(life_floor(LIFE_EPOCH_MS), 0);
	ck_assert_uint_eq(life_floor(0), 0);
	ck_assert_uint_eq(life_floor(INT64_MIN), 0);
}
END_TEST

START_TEST(a_clock_that_cannot_be_right_is_refused)
{
	char why[256];

	ck_assert_int_eq(life_check_clock(NOW_MS, 0, why, sizeof(why)), STATUS_OK);
	ck_assert_int_eq(life_check_clock(NOW_MS, NOW_MS - YEAR_MS, why, sizeof(why)), STATUS_OK);
	ck_assert_int_eq(life_check_clock(NOW_MS, NOW_MS + LIFE_BEHIND_MAX_MS, why, sizeof(why)),
		STATUS_OK);
	ck_assert_int_eq(life_check_clock(NOW_MS, NOW_MS + LIFE_BEHIND_MAX_MS + 1, why,
				 sizeof(why)),
		STATUS_CONFIG);
	ck_assert_ptr_nonnull(strstr(why, "10 minutes before the newest row"));
	ck_assert_int_eq(life_check_clock(HOUR_MS, 0, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_ptr_nonnull(strstr(why, "set the clock"));
	ck_assert_int_eq(life_check_clock(LIFE_CLOCK_MAX_MS + 1, 0, why, sizeof(why)),
		STATUS_CONFIG);
}
END_TEST

/*
 * An installation is restored again and again. An incarnation begins from any state of an earlier
 * one, even the first. Each assigns as many ids as its time allows.
 */
START_TEST(no_two_lives_share_an_id)
{
	/* The last id and the time of each saved state; the ends of all incarnations. */
	static uint64_t kept[LIVES];
	static int64_t kept_ms[LIVES];
	uint64_t random = (uint64_t)_i * UINT64_C(0x9e3779b97f4a7c15) + 1, highest = 0;
	int64_t now_ms = NOW_MS;

	kept[0] = (uint64_t)_i; /* data of a version before incarnations, or new data */
	kept_ms[0] = NOW_MS;
	for (unsigned int life = 1; life < LIVES; life++) {
		unsigned int from;
		uint64_t first, count;
		int64_t lasts_ms;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		from = (unsigned int)(random >> 33) % life;
		now_ms += 1 + (int64_t)((random >> 20) & 0xff);
		lasts_ms = 1 + (int64_t)((random >> 40) & 0xffff);
		count = (uint64_t)lasts_ms * RATE_MAX / 1000;
		first = first_id(kept[from], kept[from] / 2, kept_ms[from], now_ms);
		ck_assert_uint_gt(first, highest);
		ck_assert_uint_eq(first % LIFE_STRIDE, 0);
		now_ms += lasts_ms;
		highest = first + count * LIFE_STRIDE;
		/* A backup may end at any moment of the incarnation. */
		kept[life] = first + (random >> 8) % (count + 1) * LIFE_STRIDE;
		kept_ms[life] = now_ms - lasts_ms;
	}
}
END_TEST

static uint64_t counter_of(const char *name)
{
	struct ws ws;
	uint64_t value;

	ws_init(&ws);
	counter_want(&ws, name);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	value = counter_read(&ws, name);
	ws_free(&ws);
	return value;
}

static void begin_first(void)
{
	char why[256];

	ck_assert_int_eq(life_begin_first(case_db, case_now_ms, 0, why, sizeof(why)), STATUS_OK);
}

START_TEST(new_data_begins_its_first_life)
{
	struct transfer_result first, second;

	case_open_empty(_i);
	begin_first();
	ck_assert_uint_eq(counter_of(LIFE_STRIDE_COUNTER), LIFE_STRIDE);
	/* A repetition has no effect. */
	begin_first();
	case_close();

	/* The ids in the data that an engine finds. */
	case_open(CASE_DISK);
	begin_first();
	case_reopen();
	first = case_in("alice", "one", 10000);
	second = case_in("alice", "two", 10000);
	ck_assert_uint_eq(first.transaction_id, life_floor(case_now_ms));
	ck_assert_uint_eq(second.transaction_id, life_floor(case_now_ms) + LIFE_STRIDE);
	/* The next engine continues above the clock, and never below the ids already assigned. */
	case_now_ms += 1000;
	case_reopen();
	first = case_in("alice", "three", 10000);
	ck_assert_uint_eq(first.transaction_id, life_floor(case_now_ms));
	case_now_ms -= HOUR_MS;
	case_reopen();
	second = case_in("alice", "four", 10000);
	ck_assert_uint_eq(second.transaction_id, first.transaction_id + LIFE_STRIDE);
	case_prove();
	case_close();
}
END_TEST

/* What two hosts give out that restored the same data at the same moment. */
static void take_ids(uint32_t number, uint64_t *ids, unsigned int count)
{
	const struct life_begin begin = {.wall_ms = NOW_MS, .newest_ms = NOW_MS, .number = number};
	struct life_begun begun;
	struct life_block block = {0};
	struct ws ws;

	ws_init(&ws);
	life_want(&ws);
	case_open_empty(CASE_MEMORY);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	ck_assert(life_begin(&ws, &begin, &begun));
	/* As an engine that starts has it (ledger/derived_state.c). */
	ws.id_stride = LIFE_STRIDE;
	ws.id_number = counter_read(&ws, LIFE_NUMBER_COUNTER);
	ws.id_floor = life_floor(NOW_MS);
	for (unsigned int i = 0; i < count; i++) {
		ids[i] = i % 2 ? life_block_take(&ws, LIFE_TRANSACTIONS, 3, &block)
			       : life_take_id(&ws, LIFE_TRANSACTIONS);
		ck_assert_uint_gt(ids[i], life_floor(NOW_MS) - 1);
	}
	ck_assert_uint_eq(ids[0], begun.first_id);
	ws_free(&ws);
	case_close();
}

START_TEST(hosts_of_different_numbers_share_no_id)
{
	uint64_t ids[2][50];

	for (uint32_t number = 0; number < LIFE_STRIDE; number++) {
		take_ids(number, ids[0], 50);
		take_ids((number + 1 + (uint32_t)_i) % LIFE_STRIDE, ids[1], 50);
		for (unsigned int i = 0; i < 50; i++) {
			for (unsigned int j = 0; j < 50; j++)
				ck_assert_uint_ne(ids[0][i], ids[1][j]);
		}
	}
}
END_TEST

START_TEST(an_engine_goes_on_with_the_number_of_its_life)
{
	struct transfer_result first, second;
	char why[256];

	case_open_empty(_i);
	ck_assert_int_eq(life_begin_first(case_db, case_now_ms, 5, why, sizeof(why)), STATUS_OK);
	ck_assert_uint_eq(counter_of(LIFE_NUMBER_COUNTER), 5);
	case_close();

	case_open(CASE_DISK);
	ck_assert_int_eq(life_begin_first(case_db, case_now_ms, 5, why, sizeof(why)), STATUS_OK);
	/* Another number of the host has effect from the next life on. */
	ck_assert_int_eq(life_begin_first(case_db, case_now_ms, 7, why, sizeof(why)), STATUS_OK);
	case_reopen();
	first = case_in("alice", "one", 10000);
	second = case_in("alice", "two", 10000);
	ck_assert_uint_eq(first.transaction_id, life_floor(case_now_ms) + 5);
	ck_assert_uint_eq(second.transaction_id, first.transaction_id + LIFE_STRIDE);
	case_prove();
	case_close();
}
END_TEST

START_TEST(data_before_lives_goes_on_one_by_one)
{
	case_open(CASE_DISK);
	ck_assert_uint_eq(case_in("alice", "one", 10000).transaction_id, 1);
	begin_first();
	ck_assert_uint_eq(counter_of(LIFE_STRIDE_COUNTER), 0);
	case_reopen();
	ck_assert_uint_eq(case_in("alice", "two", 10000).transaction_id, 2);
	case_close();
}
END_TEST

START_TEST(a_life_needs_a_clock)
{
	char why[256];

	case_open_empty(_i);
	ck_assert_int_eq(life_begin_first(case_db, HOUR_MS, 0, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_ptr_nonnull(strstr(why, "set the clock"));
	ck_assert_uint_eq(counter_of(LIFE_STRIDE_COUNTER), 0);
	case_close();
}
END_TEST

START_TEST(the_newest_row_is_found)
{
	int64_t newest_ms;

	case_open_empty(_i);
	ck_assert_int_eq(life_newest(case_db, &newest_ms), STATUS_OK);
	ck_assert_int_eq(newest_ms, 0);
	case_close();
	case_open(_i);
	ck_assert_int_eq(life_newest(case_db, &newest_ms), STATUS_OK);
	ck_assert_int_eq(newest_ms, case_now_ms); /* time of the audit's newest row */
	case_now_ms += 5000;
	case_in("alice", "one", 10000);
	ck_assert_int_eq(life_newest(case_db, &newest_ms), STATUS_OK);
	ck_assert_int_eq(newest_ms, case_now_ms);
	case_close();
}
END_TEST

Suite *life_suite(void)
{
	Suite *suite = suite_create("life");
	TCase *tc = tcase_create("life");

	tcase_add_test(tc, a_life_begins_at_the_microseconds_of_the_clock);
	tcase_add_test(tc, ids_last_until_the_year_2305);
	tcase_add_test(tc, a_clock_that_cannot_be_right_is_refused);
	tcase_add_loop_test(tc, no_two_lives_share_an_id, 0, 20);
	tcase_add_loop_test(tc, new_data_begins_its_first_life, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, hosts_of_different_numbers_share_no_id, 0, 3);
	tcase_add_loop_test(tc, an_engine_goes_on_with_the_number_of_its_life, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, data_before_lives_goes_on_one_by_one);
	tcase_add_loop_test(tc, a_life_needs_a_clock, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, the_newest_row_is_found, 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tc);
	return suite;
}
