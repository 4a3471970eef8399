/*
 * Tests the sums of a dealer's days. case_prove() compares them with all rows after each case.
 */
#include "case_wagers.h"

#include "domain/dealer_day.h"
#include "domain/statistics.h"
#include "store/recount.h"

#include <stdio.h>
#include <string.h>

/* 2024-12-31T16:59:59.999Z: the last millisecond of the year at UTC+7 */
#define YEAR_END INT64_C(1735664399999)
#define OFFSET   420

/* As case_open_mode(), at @now_ms, for a dealer of UTC+7. */
static void open_at(int kind, enum wallet_mode mode, int64_t now_ms)
{
	struct dealer_put_cmd cmd;

	case_now_ms = now_ms;
	case_open_empty(kind);
	cmd = case_dealer_cmd("demo");
	cmd.dealer.mode = mode;
	cmd.dealer.utc_offset_min = OFFSET;
	if (mode == WALLET_SEAMLESS) {
		strcpy(cmd.dealer.url, "https://dealer.example/");
		strcpy(cmd.dealer.path_betting_correction, "/betting-correction");
	}
	ck_assert_int_eq(case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	case_player_add("demo", "alice");
}

struct found_day {
	uint32_t number;
	struct dealer_day day;
};

static void see_day(void *context, const void *row)
{
	struct found_day *found = context;

	if (((const struct dealer_day *)row)->number == found->number)
		found->day = *(const struct dealer_day *)row;
}

/* Returns the sums of the day of @time_ms. */
static struct dealer_day day_at(int64_t time_ms)
{
	struct found_day found = {.number = statistics_day(time_ms, OFFSET)};

	case_list(RECORD_DEALER_DAY, false, 0, see_day, &found);
	return found.day;
}

static void sum_is(const struct day_sum *sum, uint64_t count, money_t credits)
{
	ck_assert_uint_eq(sum->count, count);
	ck_assert(sum->amount == (sum_t)credits * CREDIT);
}

START_TEST(a_day_ends_at_the_midnight_of_its_dealer)
{
	struct dealer_day last, first;

	open_at(_i, WALLET_TRANSFER, YEAR_END);
	case_in("alice", "in-1", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_now_ms++;
	case_in("alice", "in-2", 5 * CREDIT);
	case_out("alice", "out-1", 7 * CREDIT);
	case_bet("b2", "g1", 20 * CREDIT);
	case_settle("s1", "g1", RESULT_WIN, 80 * CREDIT);
	last = day_at(YEAR_END);
	first = day_at(YEAR_END + 1);
	ck_assert_uint_eq(last.number + 1, first.number);
	sum_is(&last.transferred_in, 1, 100);
	sum_is(&last.settled, 1, 30);
	sum_is(&last.paid, 0, 0);
	sum_is(&first.transferred_in, 1, 5);
	sum_is(&first.transferred_out, 1, 7);
	sum_is(&first.settled, 1, 20);
	sum_is(&first.paid, 1, 80);
	case_prove();
	if (_i == CASE_DISK) {
		case_reopen();
		last = day_at(YEAR_END);
		sum_is(&last.settled, 1, 30);
		case_prove();
	}
	case_close();
}
END_TEST

START_TEST(a_later_change_moves_within_the_day_of_the_bet)
{
	struct round_correct_cmd correct;
	struct bet_cancel_cmd cancel;
	struct dealer_day placed, later;

	open_at(_i, WALLET_TRANSFER, YEAR_END);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_bet("b2", "g2", 10 * CREDIT);
	case_settle("s1", "g1", RESULT_WIN, 50 * CREDIT);
	case_pass(DAY);
	correct = case_correct_cmd("c1", "g1", 1, RESULT_WIN, 20 * CREDIT);
	ck_assert_int_eq(case_run(COMMAND_ROUND_CORRECT, &correct)->result.verdict.refusal,
		REFUSAL_NONE);
	cancel = case_cancel_cmd("x1", "b2", "g2");
	ck_assert_int_eq(case_run(COMMAND_BET_CANCEL, &cancel)->result.verdict.refusal,
		REFUSAL_NONE);
	placed = day_at(YEAR_END);
	later = day_at(YEAR_END + DAY);
	sum_is(&placed.settled, 1, 30);
	sum_is(&placed.accepted, 0, 0);
	sum_is(&placed.refunded, 1, 10);
	sum_is(&placed.paid, 1, 50);
	sum_is(&placed.corrected, 0, 0);
	sum_is(&later.corrected, 1, -30);
	sum_is(&later.cancelled, 1, 10);
	sum_is(&later.settled, 0, 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_seamless_day)
{
	struct bet_place_result won, refused, lost;
	struct round_settle_result settled;
	struct round_correct_cmd correct;
	struct dealer_day day;
	struct day_report report;

	open_at(_i, WALLET_SEAMLESS, YEAR_END);
	won = case_bet("b1", "g1", 30 * CREDIT);
	day = day_at(YEAR_END);
	sum_is(&day.pending, 1, 30);
	ck_assert_uint_eq(day.callbacks_waiting, 1);
	case_end(&won.send, CALLBACK_SUCCESS);
	refused = case_bet("b2", "g2", 4 * CREDIT);
	case_end(&refused.send, CALLBACK_REFUSED);
	lost = case_bet("b3", "g3", 5 * CREDIT);
	/* The day has ended when the dealer's answer fails to come. */
	case_pass(SECOND);
	case_end(&lost.send, CALLBACK_UNKNOWN);
	settled = case_settle("s1", "g1", RESULT_WIN, 80 * CREDIT);
	case_end(&settled.send, CALLBACK_SUCCESS);
	correct = case_correct_cmd("c1", "g1", 1, RESULT_WIN, 60 * CREDIT);
	ck_assert_int_eq(case_run(COMMAND_ROUND_CORRECT, &correct)->result.verdict.refusal,
		REFUSAL_NONE);
	day = day_at(YEAR_END);
	sum_is(&day.settled, 1, 30);
	sum_is(&day.rejected, 1, 4);
	sum_is(&day.refunding, 1, 5);
	sum_is(&day.pending, 0, 0);
	sum_is(&day.paid, 0, 0);
	ck_assert_uint_eq(day.callbacks_waiting, 0);
	ck_assert_uint_eq(day.callbacks_success, 1);
	ck_assert_uint_eq(day.callbacks_refused, 1);
	ck_assert_uint_eq(day.callbacks_unknown, 1);
	dealer_day_report(&day, &report);
	sum_is(&report.bets, 3, 39);
	sum_is(&report.refunded, 1, 5);
	ck_assert(report.profit == 30 * CREDIT);
	ck_assert_uint_eq(report.callbacks, 3);
	day = day_at(YEAR_END + SECOND);
	sum_is(&day.paid, 1, 80);
	sum_is(&day.corrected, 1, -20);
	/* The result, its correction and the refund; the latter two have not been sent. */
	ck_assert_uint_eq(day.callbacks_success, 1);
	case_prove();
	case_close();
}
END_TEST

START_TEST(another_offset_begins_again)
{
	const struct dealer values = {.utc_offset_min = -60};
	struct dealer_day day;

	open_at(_i, WALLET_TRANSFER, YEAR_END);
	case_in("alice", "in-1", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	ck_assert_int_eq(case_dealer_set(DEALER_UTC_OFFSET, &values).verdict.refusal, REFUSAL_NONE);
	case_pass(2 * DAY);
	/* The bet is older than the sums: its day stays as it was counted. */
	case_settle("s1", "g1", RESULT_LOSS, 0);
	case_in("alice", "in-2", 5 * CREDIT);
	day = day_at(YEAR_END);
	sum_is(&day.accepted, 1, 30);
	sum_is(&day.settled, 0, 0);
	day = day_at(YEAR_END + 2 * DAY - 8 * HOUR);
	sum_is(&day.transferred_in, 1, 5);
	case_prove();
	case_close();
}
END_TEST

/* At noon UTC it is the next day at +720: its sums may not go on under an offset in which it is still today. */
START_TEST(an_offset_of_the_west_begins_later)
{
	const struct dealer east = {.utc_offset_min = 720}, west = {.utc_offset_min = 0};
	const int64_t noon = YEAR_END - YEAR_END % DAY + 20 * HOUR;

	open_at(_i, WALLET_TRANSFER, noon - 4 * DAY);
	ck_assert_int_eq(case_dealer_set(DEALER_UTC_OFFSET, &east).verdict.refusal, REFUSAL_NONE);
	case_in("alice", "in-0", CREDIT);
	case_pass(4 * DAY);
	case_in("alice", "in-1", 100 * CREDIT);
	ck_assert_int_eq(case_dealer_set(DEALER_UTC_OFFSET, &west).verdict.refusal, REFUSAL_NONE);
	case_in("alice", "in-2", 5 * CREDIT);
	case_prove();
	case_pass(DAY);
	case_in("alice", "in-3", 7 * CREDIT);
	case_prove();
	case_pass(DAY);
	case_in("alice", "in-4", 9 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

static void see_dealer(void *context, const void *row)
{
	*(int64_t *)context = ((const struct dealer *)row)->days_from_ms;
}

/*
 * A state of an older schema had no sums of days. They begin after each row that was not counted: also after
 * one that a clock ahead made, however many younger rows follow it.
 */
START_TEST(an_upgrade_begins_after_a_clock_that_was_ahead)
{
	static struct slot slots[100];
	char why[200], id[32];
	int64_t ahead_ms, from_ms = 0;
	struct callback_grant grant;

	open_at(CASE_MEMORY, _i ? WALLET_SEAMLESS : WALLET_TRANSFER, YEAR_END);
	case_now_ms += 3 * DAY;
	ahead_ms = case_now_ms;
	if (_i) {
		grant = case_bet("ahead", "ahead", CREDIT).send;
		case_end(&grant, CALLBACK_REFUSED);
	} else {
		case_in("alice", "ahead", 100 * CREDIT);
	}
	case_now_ms -= 3 * DAY;
	for (unsigned int n = 0; n < 1100; n += 100) {
		for (unsigned int i = 0; i < 100; i++) {
			snprintf(id, sizeof(id), "b%u", n + i);
			memset(&slots[i], 0, sizeof(slots[i]));
			slots[i].command = COMMAND_BET_PLACE;
			slots[i].cmd.bet_place = case_bet_cmd(id, id, CREDIT / 100);
		}
		case_run_batch(slots, 100);
	}
	ck_assert_int_eq(recount(case_db, 2, why, sizeof(why)), STATUS_OK);
	case_list(RECORD_DEALER, false, 0, see_dealer, &from_ms);
	ck_assert_int_eq(from_ms, ahead_ms + 1);
	/* The proof knows the row when its time has come. */
	case_pass(3 * DAY);
	case_prove();
	case_close();
}
END_TEST

START_TEST(first_complete_day)
{
	struct dealer dealer = {.utc_offset_min = OFFSET};
	uint32_t number;

	ck_assert_uint_eq(dealer_day_first(&dealer), 0);
	dealer.days_from_ms = YEAR_END;
	ck_assert_uint_eq(dealer_day_first(&dealer), statistics_day(YEAR_END, OFFSET) + 1);
	/* Exactly at midnight, the new day is complete. */
	dealer.days_from_ms = YEAR_END + 1;
	ck_assert_uint_eq(dealer_day_first(&dealer), statistics_day(YEAR_END + 1, OFFSET));
	ck_assert(!dealer_day_number(&dealer, YEAR_END, &number));
	ck_assert(dealer_day_number(&dealer, YEAR_END + 1, &number));
}
END_TEST

Suite *days_suite(void)
{
	Suite *suite = suite_create("days");
	TCase *cases = tcase_create("days");

	tcase_add_loop_test(cases, a_day_ends_at_the_midnight_of_its_dealer, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(cases, a_later_change_moves_within_the_day_of_the_bet, 0,
		CASE_STORE_COUNT);
	tcase_add_loop_test(cases, a_seamless_day, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(cases, another_offset_begins_again, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(cases, an_offset_of_the_west_begins_later, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(cases, an_upgrade_begins_after_a_clock_that_was_ahead, 0, 2);
	tcase_add_test(cases, first_complete_day);
	suite_add_tcase(suite, cases);
	return suite;
}
