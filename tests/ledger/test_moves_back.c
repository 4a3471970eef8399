/*
 * Tests moves of a dealer if the data of one of the ledgers went back to a backup: no row is deleted that the other
 * ledger does not have, and nothing is paid twice.
 */
#include "case_moves.h"

#include "base/pack.h"
#include "ledger/rows/moves.h"

#include <string.h>

/* A copy of the rows of one kind. */
struct copy {
	enum record record;
	struct ws *ws;
	struct store *store;
};

static bool copy_row(void *context, struct bytes key, const void *row)
{
	const struct copy *copy = context;

	(void)key;
	ws_want(copy->ws, copy->record, row);
	ck_assert_int_eq(copy->store->load(copy->store, copy->ws), STATUS_OK);
	ws_put(copy->ws, copy->record, row);
	return true;
}

/* Returns a copy of the data, as a backup. */
static struct store *back_up(struct store *from)
{
	struct copy copy = {.store = memory_store_new()};

	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		const struct store_range range = {.record = record};

		copy.record = record;
		copy.ws = ws_new();
		ck_assert_ptr_nonnull(copy.ws);
		ck_assert_int_eq(from->scan(from, &range, copy_row, &copy), STATUS_OK);
		ck_assert_int_eq(copy.store->save(copy.store, copy.ws), SAVE_OK);
		ws_delete(copy.ws);
	}
	return copy.store;
}

/* Puts the backup in the place of the first ledger. */
static void restore_here(struct store *backup)
{
	ledger_free(&case_ledger);
	case_db->close(case_db);
	case_db = backup;
	ck_assert_int_eq(ledger_init(&case_ledger, case_db, 7, &case_outbox, case_moment()), 0);
	restart();
}

/* Puts the backup in the place of the other ledger. */
static void restore_there(struct store *backup)
{
	ledger_free(&other);
	other_db->close(other_db);
	other_db = backup;
	ck_assert_int_eq(ledger_init(&other, other_db, 8, &case_outbox, case_moment()), 0);
	restart();
}

/*
 * Demo goes there and comes back. The first ledger goes back to a backup of the time between, while the other one
 * deletes the rows.
 */
START_TEST(another_move_is_no_proof)
{
	struct store *backup;
	unsigned int bets;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	move_all();
	backup = back_up(case_db);
	back = true;
	move_until(&other, MOVE_REMOVING, &case_ledger, MOVE_ARRIVED);
	bets = count_stored(other_db, RECORD_BET);
	ck_assert_uint_gt(bets, 0);
	restore_here(backup);
	ck_assert_int_eq(run_move(move_dealer), OUTCOME_FAILED);
	ck_assert_ptr_nonnull(strstr(sessions[0].failure.detail, "older backup"));
	ck_assert_uint_eq(count_stored(other_db, RECORD_BET), bets);
	close_world();
}
END_TEST

/* The other ledger went back to the time before the move, which was done here. */
START_TEST(a_move_that_is_done_needs_its_proof)
{
	struct store *backup;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	backup = back_up(other_db);
	move_all();
	restore_there(backup);
	ck_assert_int_eq(run_move(move_dealer), OUTCOME_FAILED);
	ck_assert_ptr_nonnull(strstr(sessions[0].failure.detail, "older backup"));
	close_world();
}
END_TEST

/* The first ledger went back to "leaving", after the dealer arrived: there is one way only. */
START_TEST(no_abort_after_the_arrival)
{
	struct store *backup;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	move_until(&case_ledger, MOVE_LEAVING, &other, MOVE_ARRIVING);
	backup = back_up(case_db);
	move_all();
	restore_here(backup);
	ck_assert_int_eq(run_move(move_abort), OUTCOME_FAILED);
	ck_assert_ptr_nonnull(strstr(sessions[0].failure.detail, "has arrived"));
	move_all();
	ck_assert_uint_eq(count_stored(case_db, RECORD_PLAYER), 1);
	goes_on_there(WALLET_SEAMLESS);
	case_close();
}
END_TEST

/* An abort stopped halfway, and then the dealer moved to a third ledger: what is left there can be undone. */
START_TEST(an_aborted_half_is_undone_later)
{
	struct store *third;
	unsigned int before;

	make_world(CASE_MEMORY, WALLET_TRANSFER);
	before = count_stored(other_db, RECORD_REQUEST);
	move_until(&case_ledger, MOVE_LEAVING, &other, MOVE_ARRIVING);
	for (int calls = 0; moves_find(&case_ledger.derived.moves, "demo"); calls++) {
		calls_left = calls;
		ck_assert_int_ne(run_move(move_abort), OUTCOME_DONE);
	}
	calls_left = -1;
	third = other_db;
	ledger_free(&other);
	open_there();
	strcpy(other.figures.installation, "00000000000000000000000000000003");
	move_all();
	other_db->close(other_db);
	ledger_free(&other);
	other_db = third;
	ck_assert_int_eq(ledger_init(&other, other_db, 9, &case_outbox, case_moment()), 0);
	strcpy(other.figures.installation, "00000000000000000000000000000002");
	calls_left = -1;
	ck_assert_msg(run_move(move_abort) == OUTCOME_DONE, "%s", sessions[0].failure.detail);
	ck_assert_uint_eq(count_stored(other_db, RECORD_REQUEST), before);
	ck_assert_ptr_null(moves_find(&other.derived.moves, "demo"));
	close_world();
}
END_TEST

/* Writes into the data that it was restored. */
static void audit_restore(struct store *store)
{
	struct counter counter = {.name = "audit"};
	struct audit audit = {.time_ms = case_now_ms, .action = "restore"};
	struct ws *ws = ws_new();

	ck_assert_ptr_nonnull(ws);
	ws_want(ws, RECORD_COUNTER, &counter);
	ck_assert_int_eq(store->load(store, ws), STATUS_OK);
	counter = *(const struct counter *)ws_get(ws, RECORD_COUNTER, &counter);
	audit.seq = ++counter.value;
	ws_put(ws, RECORD_COUNTER, &counter);
	ws_append(ws, RECORD_AUDIT, &audit);
	ck_assert_int_eq(store->save(store, ws), SAVE_OK);
	ws_delete(ws);
}

static struct dealer demo;

static bool find_demo(void *context, struct bytes key, const void *row)
{
	(void)context;
	(void)key;
	demo = *(const struct dealer *)row;
	return strcmp(demo.casino_id, "demo") != 0;
}

/*
 * The other ledger has opened the dealer, and may have paid. Then it goes back to a backup of before, or its data is
 * lost: the dealer arrives held.
 */
START_TEST(a_dealer_that_arrives_again_is_held)
{
	const struct store_range dealers = {.record = RECORD_DEALER};
	struct store *backup;
	int64_t cut_ms;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	case_pass(DAY);
	move_until(&case_ledger, MOVE_LEAVING, &other, MOVE_ARRIVING);
	backup = back_up(other_db);
	case_pass(MINUTE);
	move_until(&case_ledger, MOVE_LEFT, &other, MOVE_ARRIVED);
	cut_ms = case_now_ms;
	case_pass(MINUTE);
	if (_i == 0) {
		audit_restore(backup);
		restore_there(backup);
	} else {
		backup->close(backup);
		ledger_free(&other);
		other_db->close(other_db);
		open_there();
	}
	move_all();
	go_there();
	ck_assert_int_eq(case_db->scan(case_db, &dealers, find_demo, NULL), STATUS_OK);
	ck_assert_str_eq(demo.casino_id, "demo");
	ck_assert_int_eq(demo.callbacks_held_ms, case_now_ms);
	ck_assert_int_eq(demo.keys_restored_ms, case_now_ms);
	ck_assert_int_eq(demo.restored_to_ms, cut_ms);
	ck_assert_uint_gt(demo.restored_id, last_id);
	case_pass(HOUR);
	ck_assert_int_eq(case_claim(due_event).verdict.refusal, REFUSAL_DEALER_BUSY);
	case_prove();
	case_close();
}
END_TEST

static bool pack_demo(void *context, struct bytes key, const void *row)
{
	const struct dealer *dealer = row;

	(void)key;
	return strcmp(dealer->casino_id, "demo") != 0 ||
		pack_record(context, dealer_fields, dealer);
}

/* Opens the dealer, as a creditbridgectl does that compared before the other ledger went back. */
START_TEST(the_opening_needs_what_was_compared)
{
	struct dealer_move_cmd cmd = {.operator= case_operator(),
		.action = MOVE_OPEN,
		.casino_id = "demo",
		.peer = "1"};
	const struct slot *slot;
	const struct live_move *live;
	const struct store_range dealers = {.record = RECORD_DEALER};
	struct buffer given;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	move_until(&case_ledger, MOVE_LEAVING, &other, MOVE_ARRIVING);
	/* The row of the sums has arrived. */
	calls_left = 15;
	ck_assert_int_ne(run_move(move_dealer), OUTCOME_DONE);
	ck_assert_uint_eq(count_stored(other_db, RECORD_TOTAL), 2);
	live = moves_find(&other.derived.moves, "demo");
	memcpy(cmd.id, live->id, sizeof(cmd.id));
	cmd.page = 1000;
	buffer_init(&given, 64 * 1024);
	ck_assert_int_eq(case_db->scan(case_db, &dealers, pack_demo, &given), STATUS_OK);
	cmd.dealer = (struct bytes){given.data, (uint32_t)given.len};
	slot = run_there(COMMAND_DEALER_MOVE, &cmd);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_ptr_nonnull(strstr(slot->result.verdict.detail, "compared"));
	ck_assert(!slot->result.dealer_move.has_opened);
	buffer_free(&given);
	move_all();
	close_world();
}
END_TEST

Suite *moves_back_suite(void)
{
	Suite *suite = suite_create("moves_back");
	TCase *tests = tcase_create("moves_back");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, another_move_is_no_proof);
	tcase_add_test(tests, a_move_that_is_done_needs_its_proof);
	tcase_add_test(tests, no_abort_after_the_arrival);
	tcase_add_test(tests, an_aborted_half_is_undone_later);
	tcase_add_test(tests, the_opening_needs_what_was_compared);
	tcase_add_loop_test(tests, a_dealer_that_arrives_again_is_held, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}
