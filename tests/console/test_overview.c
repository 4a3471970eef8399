/* Tests the figures of the overview that are computed from those of the ledger. */
#include "suites.h"

#include "console/sections/activity.h"
#include "console/sections/dealers.h"

#include <string.h>

START_TEST(calls_a_minute)
{
	ck_assert_int_eq(activity_rate(0, 900000), 0);
	ck_assert_int_eq(activity_rate(1500, 900000), 100 * MONEY_UNITS_PER_CREDIT);
	/* To two decimals. */
	ck_assert_int_eq(activity_rate(1, 900000), 700);
	ck_assert_int_eq(activity_rate(7, 180000), 23300);
	/* A span that began just now is not extrapolated. */
	ck_assert_int_eq(activity_rate(7, 0), 7 * MONEY_UNITS_PER_CREDIT);
	ck_assert_int_eq(activity_rate(7, 1000), 7 * MONEY_UNITS_PER_CREDIT);
	/* The largest span that a ledger can answer. */
	ck_assert_int_eq(activity_rate(15 * (uint64_t)UINT32_MAX, 900000),
		(money_t)UINT32_MAX * MONEY_UNITS_PER_CREDIT);
}
END_TEST

START_TEST(attempts_in_words)
{
	static struct dealer_metrics dealer;
	char text[DEALERS_ANSWERED_SIZE];

	memset(&dealer, 0, sizeof(dealer));
	dealers_answered(&dealer, text);
	ck_assert_str_eq(text, "");
	dealer.recent[CALLBACK_UNKNOWN].count = 60;
	dealer.recent[CALLBACK_NOT_SENT].count = 1;
	dealers_answered(&dealer, text);
	ck_assert_str_eq(text, "ok 0.0 %, refused 0, no answer 61");
	/* All but one are not 100 %. */
	dealer.recent[CALLBACK_UNKNOWN].count = 0;
	dealer.recent[CALLBACK_NOT_SENT].count = 0;
	dealer.recent[CALLBACK_SUCCESS].count = 99999;
	dealer.recent[CALLBACK_REFUSED].count = 1;
	dealers_answered(&dealer, text);
	ck_assert_str_eq(text, "ok 99.9 %, refused 1, no answer 0");
	dealer.recent[CALLBACK_REFUSED].count = 0;
	dealers_answered(&dealer, text);
	ck_assert_str_eq(text, "ok 100.0 %, refused 0, no answer 0");
	/* The largest counts fit. */
	for (unsigned int i = 0; i < CALLBACK_CLASS_COUNT; i++)
		dealer.recent[i].count = UINT32_MAX;
	dealers_answered(&dealer, text);
	ck_assert_str_eq(text, "ok 25.0 %, refused 4,294,967,295, no answer 8,589,934,590");
}
END_TEST

Suite *overview_suite(void)
{
	Suite *suite = suite_create("overview");
	TCase *cases = tcase_create("overview");

	tcase_add_test(cases, calls_a_minute);
	tcase_add_test(cases, attempts_in_words);
	suite_add_tcase(suite, cases);
	return suite;
}
