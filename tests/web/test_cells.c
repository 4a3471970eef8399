/* A worker with several cells: which ledger is asked, and how often. With one cell nothing more is asked. */
#include "web_case.h"

#include "base/clock.h"
#include "base/text.h"
#include "web/request/web_request.h"
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
	cells.calls_max = 4;
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

/* An old id may begin with the character of a cell that is silent. The others are asked first. */
START_TEST(a_search_passes_a_silent_cell)
{
	two_cells(fake.path);
	cells.list[1].number = 5;
	cells.list[1].silent_ms = clock_boot_ms();
	answers(true, REFUSAL_NONE);
	ck_assert_int_eq(bet(BODY "\"player_id\":\"faaaaaaaaaaaaaaaaaaa\"}"), 200);
	ck_assert_uint_eq(worker.cells->at, 0);
	ck_assert_uint_eq(calls_of(COMMAND_PLAYER_FIND), 1);
}
END_TEST

/* Makes cell @at silent for long, and not to be probed; its keys are old. */
static void silence(unsigned int at)
{
	cells.list[at].silent_ms = 1;
	cells.list[at].pause_ms = INT64_MAX;
	worker.cells->list[at].link->asked_ms -= 2 * KEYRING_FRESH_MS;
	all_calls();
}

static void check_nothing_is_counted(void)
{
	for (unsigned int at = 0; at < 2; at++)
		ck_assert_uint_eq(cells.list[at].calls, 0);
}

START_TEST(an_unsigned_call_waits_for_no_silent_cell)
{
	two_cells("/proc/none/edge.sock");
	cells.list[1].silent_ms = 1;
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	silence(0);
	cells.list[1].pause_ms = INT64_MAX;
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_OTHER}), 503);
	ck_assert_uint_eq(signatures, AUTH_WORK);
	ck_assert_int_eq(ask(&(struct ask){.caller = "nobody"}), 503);
	ck_assert_uint_eq(signatures, AUTH_WORK);
	ck_assert_uint_eq(all_calls(), 0);
	/* With a key that was valid it may ask. The answer ends the silence. */
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	ck_assert_uint_eq(calls_of(COMMAND_KEYRING), 1);
	ck_assert_int_eq(cells.list[0].silent_ms, 0);
	check_nothing_is_counted();
}
END_TEST

/* Calls with an unknown dealer's name are charged while a cell is silent, too. */
START_TEST(a_flood_is_bounded_while_a_cell_is_silent)
{
	static char large[BODY_MAX];
	const struct ask what = {.caller = "nobody", .body = large};
	unsigned int unavailable = 0;

	memset(large, ' ', sizeof(large) - 1);
	two_cells("/proc/none/edge.sock");
	cells.list[1].silent_ms = 1;
	cells.list[1].pause_ms = INT64_MAX;
	while (unavailable < 1000 && ask(&what) == 503)
		unavailable++;
	ck_assert_int_eq(reply_code(&worker.reply), 429);
	ck_assert_uint_gt(unavailable, 0);
}
END_TEST

START_TEST(only_some_calls_wait_for_one_cell)
{
	two_cells("/proc/none/edge.sock");
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	check_nothing_is_counted();
	silence(0);
	worker.cells->list[0].link->asked_ms = clock_boot_ms();
	cells.list[0].calls = cells.calls_max;
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 503);
	ck_error("service_unavailable");
	ck_assert_uint_eq(all_calls(), 0);
	/* One finds that it answers again. */
	cells.list[0].pause_ms = 0;
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	ck_assert_int_eq(cells.list[0].silent_ms, 0);
	ck_assert_uint_eq(cells.list[0].calls, cells.calls_max);
}
END_TEST

/* A long call, whose ledger answered before the cell became silent. */
START_TEST(an_older_answer_ends_no_silence)
{
	struct link *link;

	two_cells(fake.path);
	link = worker.cells->list[1].link;
	for (int64_t later = 0; later < 2; later++) {
		cell_links_begin(worker.cells, "r");
		ck_assert_int_eq(cell_links_choose(worker.cells, 1), STATUS_OK);
		cells.list[1].silent_ms = worker.cells->began_ms + 5;
		link->asked_ms = worker.cells->began_ms + 4 + later;
		ck_assert_int_eq(cell_links_end(worker.cells, STATUS_OK), STATUS_OK);
		ck_assert_int_eq(cells.list[1].silent_ms != 0, !later);
	}
}
END_TEST

/* A call that was meant for a silent cell at first has all its time for the next one. */
START_TEST(the_next_cell_has_its_own_time)
{
	struct web_request web = {.deadline_ms = INT64_MAX, .longest_deadline_ms = INT64_MAX};

	two_cells(fake.path);
	web.cells = worker.cells;
	cells.list[1].silent_ms = 1;
	cell_links_begin(worker.cells, "r");
	for (unsigned int at = 2; at-- > 0;) {
		ck_assert_int_eq(cell_links_choose(worker.cells, at), STATUS_OK);
		web_request_use_cell(&web);
		ck_assert_int_eq(web.deadline_ms == INT64_MAX, !at);
		ck_assert_uint_eq(web.ledger_deadline_ms,
			at ? CELL_SILENT_MS : cells.ledger_deadline_ms);
	}
	cell_links_end(worker.cells, STATUS_OK);
	check_nothing_is_counted();
}
END_TEST

/* Only a default cell of another version ends the worker. */
START_TEST(another_version_is_silence)
{
	two_cells(fake.path);
	for (unsigned int at = 0; at < 2; at++) {
		cell_links_begin(worker.cells, "r");
		ck_assert_int_eq(cell_links_choose(worker.cells, at), STATUS_OK);
		ck_assert_int_eq(cell_links_end(worker.cells, STATUS_PROTOCOL),
			at ? STATUS_NOT_SENT : STATUS_PROTOCOL);
		ck_assert_int_eq(cells.list[at].silent_ms != 0, at);
	}
}
END_TEST

Suite *web_cells_suite(void)
{
	const TTest *const tests[] = {one_cell_is_asked_nothing_more, a_player_is_searched_once,
		a_remembered_cell_is_forgotten, an_unknown_player_is_searched_in_all_cells,
		an_unknown_player_may_be_in_a_silent_cell, a_dealer_in_two_cells_is_served_by_none,
		a_search_passes_a_silent_cell, an_older_answer_ends_no_silence,
		the_next_cell_has_its_own_time, another_version_is_silence};
	const TTest *const of_wallet[] = {an_unsigned_call_waits_for_no_silent_cell,
		a_flood_is_bounded_while_a_cell_is_silent, only_some_calls_wait_for_one_cell};
	Suite *suite = suite_create("web_cells");
	TCase *tcase = tcase_create("cells"), *wallet = tcase_create("wallet");

	tcase_add_checked_fixture(tcase, web_case_platform, web_case_teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(wallet, web_case_setup, web_case_teardown);
	for (size_t i = 0; i < sizeof(of_wallet) / sizeof(of_wallet[0]); i++)
		tcase_add_test(wallet, of_wallet[i]);
	tcase_set_timeout(wallet, 60);
	suite_add_tcase(suite, wallet);
	return suite;
}
