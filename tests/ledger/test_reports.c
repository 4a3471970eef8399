/*
 * Tests A4 (a player's bets and wins by day) and A5 (how a game ended).
 */
#include "case_wagers.h"

#include "base/pack.h"

#include <stdio.h>
#include <string.h>

/* 2024-12-31T23:59:59.999Z */
#define YEAR_END INT64_C(1735689599999)
/* 2024-02-28T23:59:59.999Z, of a leap year */
#define FEBRUARY_28 INT64_C(1709164799999)

static void bet(const char *id, const char *game, money_t amount, bool addition)
{
	struct bet_place_cmd cmd = case_bet_cmd(id, game, amount);

	cmd.addition = addition;
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal, REFUSAL_NONE);
}

static void settle(const char *id, const char *game, enum round_result result, money_t payout)
{
	ck_assert_int_eq(case_settle(id, game, result, payout).verdict.refusal, REFUSAL_NONE);
}

static struct user_stat_result stat_of(const char *user)
{
	struct user_stat_cmd cmd = {.bet_summary = true};

	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, user);
	return case_run(COMMAND_USER_STAT, &cmd)->result.user_stat;
}

/* @ago: days before today. */
static void assert_day(unsigned int ago, uint64_t count, money_t turnover, money_t profit)
{
	const struct user_stat_result result = stat_of("alice");
	const struct statistics *day = &result.days[STATISTICS_DAYS - 1 - ago];

	ck_assert_uint_eq(day->bet_count, count);
	ck_assert(day->turnover == turnover * CREDIT);
	ck_assert(day->profit_loss == profit * CREDIT);
}

static void assert_all(uint64_t count, money_t turnover, money_t profit)
{
	const struct user_stat_result result = stat_of("alice");

	ck_assert_uint_eq(result.sums.bet_count, count);
	ck_assert(result.sums.turnover == turnover * CREDIT);
	ck_assert(result.sums.profit_loss == profit * CREDIT);
}

static void open_at(int kind, int64_t now_ms, int32_t utc_offset_min)
{
	struct dealer values = {.utc_offset_min = utc_offset_min};

	case_now_ms = now_ms;
	case_open(kind);
	case_dealer_set(DEALER_UTC_OFFSET, &values);
	case_in("alice", "in", 10000 * CREDIT);
}

START_TEST(a_bet_belongs_to_the_day_of_its_acceptance)
{
	open_at(_i, YEAR_END, 0);
	bet("b1", "g1", 30 * CREDIT, false);
	bet("b2", "g1", 5 * CREDIT, true);
	assert_day(0, 1, 0, 0);
	case_now_ms++;
	assert_day(0, 0, 0, 0);
	assert_day(1, 1, 0, 0);
	/*
	 * Another bet of the round belongs to the next day; the payout is booked on the first
	 * one's day.
	 */
	bet("b3", "g1", 10 * CREDIT, false);
	settle("s1", "g1", RESULT_WIN, 100 * CREDIT);
	assert_day(1, 1, 35, 65);
	assert_day(0, 1, 10, -10);
	assert_all(2, 45, 55);
	case_now_ms += 28 * DAY;
	assert_day(29, 1, 35, 65);
	case_now_ms += DAY;
	assert_day(29, 1, 10, -10);
	case_now_ms += DAY;
	assert_day(29, 0, 0, 0);
	assert_all(2, 45, 55);
	case_close();
}
END_TEST

/* A sum of binary fractions would be 1.0000000000000002 or similar. */
START_TEST(ten_thousand_smallest_stakes_make_one)
{
	const struct dealer values = {.decimals = 4};
	char id[32], game[32];

	open_at(CASE_MEMORY, YEAR_END, 0);
	ck_assert_int_eq(case_dealer_set(DEALER_DECIMALS, &values).verdict.refusal, REFUSAL_NONE);
	for (unsigned int i = 0; i < 10000; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		snprintf(game, sizeof(game), "g%u", i / 250);
		bet(id, game, 1, i % 2);
		if (i % 250 == 249)
			settle(game, game, RESULT_LOSS, 0);
	}
	assert_all(5000, 1, -1);
	assert_day(0, 5000, 1, -1);
	case_close();
}
END_TEST

START_TEST(refunds_take_the_bet_away)
{
	open_at(_i, YEAR_END, 0);
	bet("b1", "g1", 30 * CREDIT, false);
	bet("b2", "g1", 5 * CREDIT, true);
	bet("b3", "g2", 7 * CREDIT, false);
	case_now_ms += 3 * DAY;
	settle("s1", "g1", RESULT_REFUND, 0);
	settle("s2", "g2", RESULT_LOSS, 0);
	assert_day(0, 0, 0, 0);
	assert_day(3, 1, 7, -7);
	assert_all(1, 7, -7);
	case_close();
}
END_TEST

START_TEST(a_changed_offset_is_for_new_bets)
{
	struct dealer values = {.utc_offset_min = 0};

	/* Bangkok: its day began at 17:00 of the UTC day before. */
	open_at(_i, YEAR_END - 8 * HOUR, 7 * 60);
	bet("b1", "g1", 10 * CREDIT, false);
	case_now_ms += 2 * HOUR;
	bet("b2", "g2", 20 * CREDIT, false);
	assert_day(0, 1, 0, 0);
	assert_day(1, 1, 0, 0);
	case_dealer_set(DEALER_UTC_OFFSET, &values);
	ck_assert_int_eq(stat_of("alice").utc_offset_min, 0);
	/* In UTC it is still the last day of the year; b2 stays booked on the first. */
	bet("b3", "g3", 40 * CREDIT, false);
	settle("s2", "g2", RESULT_LOSS, 0);
	settle("s3", "g3", RESULT_LOSS, 0);
	assert_day(0, 2, 40, -40);
	case_now_ms += DAY;
	assert_day(0, 1, 20, -20);
	assert_day(1, 2, 40, -40);
	case_close();
}
END_TEST

START_TEST(days_have_dates)
{
	static const struct {
		int64_t now_ms;
		int32_t utc_offset_min;
		const char *date;
	} rows[] = {
		{0, 0, "1970-01-01"},
		{YEAR_END, 0, "2024-12-31"},
		{YEAR_END + 1, 0, "2025-01-01"},
		{YEAR_END, 1, "2025-01-01"},
		{YEAR_END + 1, -1, "2024-12-31"},
		{FEBRUARY_28, 0, "2024-02-28"},
		{FEBRUARY_28 + 1, 0, "2024-02-29"},
		{FEBRUARY_28 + 1 + DAY, 0, "2024-03-01"},
		{FEBRUARY_28 + 1 - 365 * DAY, 0, "2023-03-01"},
		{INT64_C(951782400000), 0, "2000-02-29"},
		{INT64_C(4107542400000), 0, "2100-03-01"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char date[DATE_SIZE];

		statistics_date(statistics_day(rows[i].now_ms, rows[i].utc_offset_min), date);
		ck_assert_str_eq(date, rows[i].date);
	}
}
END_TEST

static struct result_inquire_result inquire(const char *game, uint32_t after)
{
	struct result_inquire_cmd cmd = {.after_bet = after};

	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, "alice");
	strcpy(cmd.game_id, game);
	return case_run(COMMAND_RESULT_INQUIRE, &cmd)->result.result_inquire;
}

START_TEST(a_game_is_read_by_pages)
{
	struct result_inquire_result result = {.more = true};
	uint32_t seen = 0;
	char id[32];

	open_at(_i, YEAR_END, 0);
	ck_assert_int_eq(inquire("g1", 0).verdict.refusal, REFUSAL_GAME_NOT_FOUND);
	for (unsigned int i = 0; i < 150; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		bet(id, "g1", CREDIT, i % 3 == 2);
	}
	settle("s1", "g1", RESULT_WIN, 200 * CREDIT);
	while (result.more) {
		struct bytes bets;
		struct bet row;

		result = inquire("g1", result.last_bet);
		ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
		ck_assert_int_eq(result.round.payout_amount, 200 * CREDIT);
		bets = result.bets;
		for (uint32_t i = 0; i < result.count; i++) {
			ck_assert(unpack_record(&bets, bet_fields, &row));
			ck_assert_uint_eq(row.number, ++seen);
			ck_assert_uint_eq(row.user_bet.len, 10);
		}
		ck_assert_uint_eq(bets.len, 0);
	}
	ck_assert_uint_eq(seen, 150);
	case_close();
}
END_TEST

/* contract, "Rate limit": one call of the dealer, however many pages its answer takes. */
START_TEST(pages_are_one_call)
{
	struct dealer two = {.rate_limit = 2};
	struct result_inquire_result result = {.more = true};
	unsigned int pages = 0;
	char id[32];

	open_at(_i, YEAR_END, 0);
	for (unsigned int i = 0; i < 256; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		bet(id, "g1", CREDIT, false);
	}
	ck_assert_int_eq(case_dealer_set(DEALER_RATE_LIMIT, &two).verdict.refusal, REFUSAL_NONE);
	for (; result.more; pages++) {
		result = inquire("g1", result.last_bet);
		ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	}
	ck_assert_uint_ge(pages, 4);
	ck_assert_int_eq(inquire("g1", 0).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(inquire("g1", 0).verdict.refusal, REFUSAL_RATE_LIMITED);
	ck_assert_int_eq(inquire("g1", 64).verdict.refusal, REFUSAL_NONE);
	case_close();
}
END_TEST

/* A report reads the same number of rows, however many exist. */
START_TEST(a_report_declares_few_rows)
{
	char id[32];

	open_at(_i, YEAR_END, 0);
	for (unsigned int i = 0; i < 500; i++) {
		unsigned int rows = 0;

		if (i == 1 || i == 499) {
			stat_of("alice");
			for (const struct ws_row *row = case_ledger.ws.first; row; row = row->next)
				rows++;
			/* Dealer, player, lifetime, days. */
			ck_assert_uint_eq(rows, 3 + STATISTICS_DAYS);
		}
		snprintf(id, sizeof(id), "b%u", i);
		bet(id, i < 250 ? "g1" : "g2", CREDIT, false);
		case_now_ms += HOUR;
	}
	case_close();
}
END_TEST

START_TEST(reports_are_refused)
{
	struct user_stat_cmd cmd = {.bet_summary = false};

	open_at(_i, YEAR_END, 0);
	ck_assert_int_eq(stat_of("bob").verdict.refusal, REFUSAL_USER_NOT_FOUND);
	strcpy(cmd.casino_id, "nowhere");
	strcpy(cmd.user_id, "alice");
	ck_assert_int_eq(case_run(COMMAND_USER_STAT, &cmd)->result.verdict.refusal,
		REFUSAL_INVALID_SIGNATURE);
	case_close();
}
END_TEST

Suite *reports_suite(void)
{
	Suite *suite = suite_create("reports");
	TCase *tc = tcase_create("reports");

	tcase_add_loop_test(tc, a_bet_belongs_to_the_day_of_its_acceptance, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, ten_thousand_smallest_stakes_make_one);
	tcase_add_loop_test(tc, refunds_take_the_bet_away, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_changed_offset_is_for_new_bets, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, days_have_dates);
	tcase_add_loop_test(tc, a_game_is_read_by_pages, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, pages_are_one_call, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_report_declares_few_rows, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, reports_are_refused, 0, CASE_STORE_COUNT);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
