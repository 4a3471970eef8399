/*
 * Tests the proof of data that no ledger serves: archive/prove.h.
 */
#include "archive/prove.h"

#include "case.h"

#include <check.h>
#include <string.h>

/* One movement now, and a count of open bets that no row explains: a clock set back could, while a ledger serves. */
static void make_loose(void)
{
	struct total total = {.casino_id = "demo"};
	const struct total *row;
	struct ws *ws = ws_new();

	case_in("alice", "one", 10000);
	ck_assert_ptr_nonnull(ws);
	ws_want(ws, RECORD_TOTAL, &total);
	ck_assert_int_eq(case_db->load(case_db, ws), STATUS_OK);
	row = ws_get(ws, RECORD_TOTAL, &total);
	ck_assert_ptr_nonnull(row);
	total = *row;
	total.open_bets = 5;
	ws_put(ws, RECORD_TOTAL, &total);
	ck_assert_int_eq(case_db->save(case_db, ws), SAVE_OK);
	ws_delete(ws);
}

static struct check_found prove(void)
{
	static struct session session;
	struct check_found found;

	session = (struct session){.settings_loaded = true};
	settings_defaults(&session.settings);
	ck_assert_msg(archive_prove(&session, case_db, &found, NULL, NULL) == OUTCOME_DONE, "%s",
		session.failure.detail);
	return found;
}

START_TEST(rows_at_rest_are_read_once)
{
	struct check_found found;

	case_open(_i);
	case_now_ms = clock_wall_ms() - 1000;
	found = prove();
	ck_assert_uint_eq(found.problems, 0);
	ck_assert_uint_eq(found.passes, 1);
	make_loose();
	found = prove();
	ck_assert_msg(found.problems == 1 && strstr(found.first, "open_bets is kept as 5"), "%s",
		found.first);
	ck_assert_uint_eq(found.passes, 1);
	case_close();
}
END_TEST

START_TEST(rows_after_the_clock_are_read_again)
{
	struct check_found found;

	case_open(_i);
	case_now_ms = clock_wall_ms() + 3600 * 1000;
	make_loose();
	found = prove();
	ck_assert_uint_eq(found.problems, 1);
	ck_assert_uint_eq(found.passes, 3);
	case_close();
}
END_TEST

Suite *atrest_suite(void)
{
	Suite *suite = suite_create("atrest");
	TCase *tc = tcase_create("atrest");

	tcase_add_loop_test(tc, rows_at_rest_are_read_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, rows_after_the_clock_are_read_again, 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tc);
	return suite;
}
