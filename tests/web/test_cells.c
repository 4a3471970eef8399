/* A worker with several cells: which ledger is asked, and how often. With one cell nothing more is asked. */
#include "web_case.h"

#include "base/text.h"
#include "wire/operations.h"

#include <string.h>

#define BETS    "/platform/bets"
#define PLAYER  "aaaaaaaaaaaaaaaaaaaa"
#define BODY    "{\"request_transaction_id\":\"r1\",\"game_id\":\"g1\",\"bet_amount\":10,"
#define BY_ID   BODY "\"player_id\":\"" PLAYER "\"}"
#define BY_NAME BODY "\"casino_id\":\"demo\",\"user_id\":\"alice\"}"

static struct web_cells cells;

/* Gives the worker two cells: the fake ledger, and the one at @path. */
static void two_cells(const char *path)
{
	const char *const paths[2] = {fake.path, path};

	worker_free(&worker);
	memset(&cells, 0, sizeof(cells));
	cells.count = 2;
	/* A cell counts as silent soon. */
	cells.ledger_deadline_ms = 1;
	for (unsigned int at = 0; at < 2; at++) {
		cells.list[at].number = at;
		cells.list[at].name[0] = (char)('a' + (int)at);
		ck_assert(text_copy(cells.list[at].ledger_path, sizeof(cells.list[at].ledger_path),
			paths[at]));
	}
	service.cells = &cells;
	ck_assert(worker_init(&worker, &service));
}

static int bet(const char *body)
{
	return ask(&(struct ask){.path = BETS, .body = body});
}

/* Sets the answers of PLAYER_FIND and BET_PLACE. */
static void answers(bool found, enum refusal refusal)
{
	static const uint8_t digits[2] = {0, 1};

	fake_lock(&fake);
	fake.results.player_find.found = (struct bytes){&digits[found], 1};
	fake.results.bet_place.verdict.refusal = refusal;
	fake_unlock(&fake);
}

static unsigned int calls_of(enum command command)
{
	unsigned int calls;

	fake_lock(&fake);
	calls = fake.calls[command];
	fake.calls[command] = 0;
	fake_unlock(&fake);
	return calls;
}

static unsigned int all_calls(void)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < COMMAND_COUNT; i++)
		sum += calls_of((enum command)i);
	return sum;
}

START_TEST(one_cell_is_asked_nothing_more)
{
	ck_assert_int_eq(bet(BY_ID), 200);
	/* KEYRING and BET_PLACE. */
	ck_assert_uint_eq(all_calls(), 2);
	ck_assert_int_eq(bet(BY_NAME), 200);
	ck_assert_uint_eq(all_calls(), 1);
}
END_TEST

START_TEST(a_player_is_searched_once)
{
	two_cells("/proc/none/edge.sock");
	answers(true, REFUSAL_NONE);
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_int_eq(bet(BY_ID), 200);
		ck_assert_uint_eq(calls_of(COMMAND_PLAYER_FIND), i == 0);
		ck_assert_uint_eq(calls_of(COMMAND_BET_PLACE), 1);
	}
}
END_TEST

/* The player may have moved since: the worker searches again before it answers that it is unknown. */
START_TEST(a_remembered_cell_is_forgotten)
{
	two_cells(fake.path);
	answers(true, REFUSAL_NONE);
	ck_assert_int_eq(bet(BY_ID), 200);
	all_calls();
	answers(true, REFUSAL_USER_NOT_FOUND);
	ck_assert_int_eq(bet(BY_ID), 404);
	ck_error("user_not_found");
	ck_assert_uint_eq(calls_of(COMMAND_PLAYER_FIND), 1);
	ck_assert_uint_eq(calls_of(COMMAND_BET_PLACE), 2);
}
END_TEST

START_TEST(an_unknown_player_is_searched_in_all_cells)
{
	two_cells(fake.path);
	answers(false, REFUSAL_USER_NOT_FOUND);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(bet(BY_ID), 404);
		ck_assert_uint_eq(calls_of(COMMAND_PLAYER_FIND), 2);
		ck_assert_uint_eq(calls_of(COMMAND_BET_PLACE), 1);
	}
}
END_TEST

START_TEST(an_unknown_player_may_be_in_a_silent_cell)
{
	two_cells("/proc/none/edge.sock");
	answers(false, REFUSAL_NONE);
	ck_assert_int_eq(bet(BY_ID), 503);
	ck_error("service_unavailable");
	ck_assert_uint_eq(calls_of(COMMAND_BET_PLACE), 0);
	/* A dealer of the cell that answers is served. */
	ck_assert_int_eq(bet(BY_NAME), 200);
	ck_assert_int_eq(bet(BODY "\"casino_id\":\"nowhere\",\"user_id\":\"alice\"}"), 503);
}
END_TEST

/* Both cells are the fake ledger, so each dealer is in two. */
START_TEST(a_dealer_in_two_cells_is_served_by_none)
{
	two_cells(fake.path);
	ck_assert_int_eq(bet(BY_NAME), 503);
	ck_error("service_unavailable");
	ck_assert_uint_eq(calls_of(COMMAND_BET_PLACE), 0);
	/* An unknown one is in no cell, and the default cell refuses it. */
	answers(false, REFUSAL_DEALER_NOT_FOUND);
	ck_assert_int_eq(bet(BODY "\"casino_id\":\"nowhere\",\"user_id\":\"alice\"}"), 404);
	ck_error("dealer_not_found");
}
END_TEST

Suite *web_cells_suite(void)
{
	const TTest *const tests[] = {one_cell_is_asked_nothing_more, a_player_is_searched_once,
		a_remembered_cell_is_forgotten, an_unknown_player_is_searched_in_all_cells,
		an_unknown_player_may_be_in_a_silent_cell, a_dealer_in_two_cells_is_served_by_none};
	Suite *suite = suite_create("web_cells");
	TCase *tcase = tcase_create("cells");

	tcase_add_checked_fixture(tcase, web_case_platform, web_case_teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
