/*
 * Tests moves of a dealer between two ledgers: each step, an interruption at each command, and an abort.
 */
#include "case_moves.h"

#include "base/pack.h"
#include "base/text.h"
#include "ledger/rows/moves.h"

#include <stdio.h>
#include <string.h>

/* To and fro on each store, with each wallet. */
START_TEST(a_dealer_moves)
{
	const enum wallet_mode mode = (enum wallet_mode)(_i % WALLET_MODE_COUNT);
	unsigned int before[RECORD_COUNT];

	make_world(_i / WALLET_MODE_COUNT, mode);
	count_all(before);
	move_all();
	counts_are(before);
	/* Once more it is done already. */
	move_all();
	back = true;
	move_all();
	counts_are(before);
	case_prove();
	back = false;
	move_all();
	counts_are(before);
	restart();
	goes_on_there(mode);
	case_close();
}
END_TEST

START_TEST(a_command_that_is_sent_twice_acts_once)
{
	unsigned int before[RECORD_COUNT];

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	count_all(before);
	is_doubled = true;
	move_all();
	is_doubled = false;
	counts_are(before);
	goes_on_there(WALLET_SEAMLESS);
	case_close();
}
END_TEST

/* Each command fails once: before it arrives, or with its answer lost. The same command again goes on. */
START_TEST(an_interrupted_move_goes_on)
{
	unsigned int before[RECORD_COUNT];
	enum outcome code = OUTCOME_FAILED;
	int commands = 0;

	for (int at = 0; code != OUTCOME_DONE; at += 3) {
		make_world(CASE_MEMORY, WALLET_SEAMLESS);
		count_all(before);
		calls_left = at;
		is_done = _i;
		code = run_move(move_dealer);
		restart();
		/* In between each ledger agrees with itself. */
		case_prove();
		move_all();
		counts_are(before);
		goes_on_there(WALLET_SEAMLESS);
		case_close();
		commands = at;
	}
	ck_assert_int_gt(commands, 100);
}
END_TEST

START_TEST(an_aborted_move_leaves_nothing)
{
	unsigned int before[RECORD_COUNT], now[RECORD_COUNT];
	enum outcome code = OUTCOME_FAILED;

	for (int at = 0; code != OUTCOME_DONE; at += 5) {
		make_world(CASE_MEMORY, WALLET_TRANSFER);
		count_all(before);
		calls_left = at;
		is_done = true;
		code = run_move(move_dealer);
		restart();
		calls_left = -1;
		if (run_move(move_abort) == OUTCOME_DONE && code != OUTCOME_DONE) {
			count_all(now);
			for (unsigned int i = 0; i < move_record_count; i++)
				ck_assert_uint_eq(now[move_records[i]] - before[move_records[i]],
					move_records[i] == RECORD_RETIRED_DIGEST &&
						now[RECORD_RETIRED_DIGEST] >
							before[RECORD_RETIRED_DIGEST]);
			case_prove();
			ck_assert_int_eq(case_in("alice", "next", CREDIT).verdict.refusal, 0);
			case_prove();
		} else if (code != OUTCOME_DONE) {
			/* It was too late: the move goes on. */
			move_all();
		}
		close_world();
	}
}
END_TEST

/* A batch of results has items of two dealers, of which one has moved and the other one is to stay. */
START_TEST(an_abort_keeps_the_batch_of_another_dealer)
{
	enum outcome code = OUTCOME_FAILED;
	unsigned int aborted = 0;

	make_world(CASE_MEMORY, WALLET_TRANSFER);
	move_all();
	mover = "else";
	is_done = true;
	for (int at = 1; code != OUTCOME_DONE; at += 4) {
		calls_left = at;
		code = run_move(move_dealer);
		calls_left = -1;
		if (code == OUTCOME_DONE || run_move(move_abort) != OUTCOME_DONE)
			break;
		aborted++;
		ck_assert_uint_eq(count_stored(other_db, RECORD_RESULT_BATCH), 1);
	}
	ck_assert_uint_gt(aborted, 20);
	move_all();
	mover = "demo";
	ck_assert_uint_eq(count_stored(other_db, RECORD_RESULT_BATCH), 1);
	go_there();
	ck_assert(run_batch().verdict.replay);
	case_prove();
	case_close();
}
END_TEST

/* The data of the other ledger went back between the cut and the opening: the rows are copied again. */
START_TEST(a_copy_that_went_back_is_made_again)
{
	unsigned int before[RECORD_COUNT];

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	count_all(before);
	move_until(&case_ledger, MOVE_LEFT, &other, MOVE_ARRIVING);
	ledger_free(&other);
	other_db->close(other_db);
	open_there();
	move_all();
	counts_are(before);
	goes_on_there(WALLET_SEAMLESS);
	case_close();
}
END_TEST

/* The other ledger has lost the dealer after it was opened: no row is deleted. */
START_TEST(rows_stay_if_the_other_ledger_lost_the_dealer)
{
	unsigned int bets;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	bets = count_stored(case_db, RECORD_BET);
	move_until(&case_ledger, MOVE_REMOVING, &other, MOVE_ARRIVED);
	ledger_free(&other);
	other_db->close(other_db);
	open_there();
	calls_left = -1;
	ck_assert_int_eq(run_move(move_dealer), OUTCOME_FAILED);
	ck_assert_uint_eq(count_stored(case_db, RECORD_BET), bets);
	close_world();
}
END_TEST

START_TEST(calls_are_refused_meanwhile)
{
	const struct bet_place_cmd bet = case_bet_cmd("late", "late", CREDIT);
	struct dealer_move_cmd cmd = {.operator= case_operator(),
		.action = MOVE_LEAVE,
		.casino_id = "demo",
		.id = "moveaaaaaaaaaaaaaaaa",
		.peer = "2"};
	struct bet_place_result placed;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	placed = case_bet("sending", "sending", CREDIT);
	ck_assert_int_eq(case_run(COMMAND_DEALER_MOVE, &cmd)->result.verdict.refusal, 0);
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &bet)->result.verdict.refusal,
		REFUSAL_SERVICE_UNAVAILABLE);
	ck_assert_int_eq(case_balance("alice").verdict.refusal, REFUSAL_SERVICE_UNAVAILABLE);
	ck_assert_int_eq(case_operate(due_event, CALLBACK_RETRY), REFUSAL_SERVICE_UNAVAILABLE);
	case_pass(HOUR);
	ck_assert_int_eq(case_claim(due_event).verdict.refusal, REFUSAL_DEALER_BUSY);
	/* What is being sent ends first. */
	cmd.action = MOVE_CUT;
	ck_assert_int_eq(case_run(COMMAND_DEALER_MOVE, &cmd)->result.verdict.refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_int_eq(case_end(&placed.send, CALLBACK_SUCCESS).bet.state, BET_ACCEPTED);
	ck_assert_int_eq(case_run(COMMAND_DEALER_MOVE, &cmd)->result.verdict.refusal, 0);
	/* From here on there is no way back, and lists leave the dealer out. */
	cmd.action = MOVE_STAY;
	ck_assert_int_eq(case_run(COMMAND_DEALER_MOVE, &cmd)->result.verdict.refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	case_prove();
	close_world();
}
END_TEST

static bool find_alice(void *context, struct bytes key, const void *row)
{
	struct player_name *found = context;

	(void)key;
	*found = *(const struct player_name *)row;
	return strcmp(found->casino_id, "demo") != 0;
}

/* Returns true if the ledger says that it has the player. */
static bool has_player(struct ledger *ledger, const struct player_name *name)
{
	const struct player_find_cmd cmd = {
		.player_ids = {(const uint8_t *)name->player_id, PLAYER_ID_SIZE - 1}};
	union any_result result;

	calls_left = -1;
	ck_assert_int_eq(ask(ledger, COMMAND_PLAYER_FIND, &cmd, &result), STATUS_OK);
	ck_assert_uint_eq(result.player_find.found.len, 1);
	return result.player_find.found.data[0];
}

/* A worker asks each cell for a player. The one that has only rows of a dealer that it does not serve says no. */
START_TEST(a_player_is_found_in_one_ledger)
{
	const struct store_range names = {.record = RECORD_PLAYER_NAME};
	struct player_name name;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	ck_assert_int_eq(case_db->scan(case_db, &names, find_alice, &name), STATUS_OK);
	ck_assert_str_eq(name.casino_id, "demo");
	move_until(&case_ledger, MOVE_LEFT, &other, MOVE_ARRIVING);
	ck_assert_uint_eq(count_stored(other_db, RECORD_PLAYER_NAME), 1);
	ck_assert(has_player(&case_ledger, &name));
	ck_assert(!has_player(&other, &name));
	move_until(&case_ledger, MOVE_REMOVING, &other, MOVE_ARRIVED);
	ck_assert_uint_eq(count_stored(case_db, RECORD_PLAYER_NAME), 2);
	ck_assert(!has_player(&case_ledger, &name));
	ck_assert(has_player(&other, &name));
	close_world();
}
END_TEST

/* Of a batch with a dealer that leaves nothing is stored, so that its key is free in both ledgers. */
START_TEST(a_new_batch_waits_for_the_move)
{
	struct settle_batch_result result;
	unsigned int batches, requests;

	make_world(CASE_MEMORY, WALLET_TRANSFER);
	place_bet("demo", "b7", "late");
	place_bet("else", "b8", "late");
	batches = count_stored(case_db, RECORD_RESULT_BATCH);
	requests = count_stored(case_db, RECORD_REQUEST);
	move_until(&case_ledger, MOVE_LEAVING, &other, MOVE_ARRIVING);
	result = send_batch("late", "one", "late");
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_SERVICE_UNAVAILABLE);
	ck_assert_uint_gt(result.verdict.retry_after_s, 0);
	ck_assert_uint_eq(count_stored(case_db, RECORD_RESULT_BATCH), batches);
	ck_assert_uint_eq(count_stored(case_db, RECORD_REQUEST), requests);
	/* One that was stored before is repeated. */
	ck_assert(run_batch().verdict.replay);
	move_all();
	case_prove();
	close_world();
}
END_TEST

static struct settle_answer first_answer(const struct settle_batch_result *result)
{
	struct settle_answer answer;
	struct bytes answers = result->answers;

	memset(&answer, 0, sizeof(answer));
	ck_assert(unpack_record(&answers, settle_answer_fields, &answer));
	return answer;
}

/* Both ledgers received a batch, each at another time. The answer that settled wins. */
START_TEST(a_batch_in_both_ledgers_is_merged)
{
	struct settle_batch_result result;

	make_world(CASE_MEMORY, WALLET_TRANSFER);
	place_bet("demo", "b7", "late");
	move_all();
	result = send_batch("late", "one", "late");
	ck_assert_int_eq(result.verdict.refusal, 0);
	ck_assert_int_ne(first_answer(&result).verdict.refusal, 0);
	case_pass(MINUTE);
	/* case_ledger is now the one that has demo. */
	swap_ledgers();
	result = send_batch("late", "two", "late");
	ck_assert_int_eq(first_answer(&result).verdict.refusal, 0);
	move_all();
	case_prove();
	swap_ledgers();
	case_prove();
	result = send_batch("late", "three", "late");
	ck_assert_str_eq(result.request_id, "one");
	ck_assert_int_eq(first_answer(&result).verdict.refusal, 0);
	case_prove();
	close_world();
}
END_TEST

/* A reader of all dealers does not see the rows that arrive, nor those that the other ledger has. */
START_TEST(the_feed_of_all_leaves_a_moving_dealer_out)
{
	const struct feed_cmd all = {.after = 0};
	union any_result here, there;

	make_world(CASE_MEMORY, WALLET_TRANSFER);
	ck_assert_int_eq(ask(&case_ledger, COMMAND_FEED, &all, &here), STATUS_OK);
	ck_assert_uint_gt(here.feed.count, 3);
	move_until(&case_ledger, MOVE_LEFT, &other, MOVE_ARRIVING);
	ck_assert_uint_gt(count_stored(other_db, RECORD_TRANSACTION), 3);
	ck_assert_int_eq(ask(&other, COMMAND_FEED, &all, &there), STATUS_OK);
	ck_assert_uint_eq(there.feed.count, 0);
	ck_assert_int_eq(ask(&case_ledger, COMMAND_FEED, &all, &there), STATUS_OK);
	ck_assert_uint_gt(there.feed.count, 0);
	ck_assert_uint_lt(there.feed.count, here.feed.count);
	close_world();
}
END_TEST

/* Two names with one hash: what is missing of the one that left is no fault in the feed of the other one. */
START_TEST(the_feed_of_a_dealer_with_an_equal_hash_goes_on)
{
	struct feed_cmd next = {.casino_id = "d549599"};
	union any_result result;

	ck_assert_uint_eq(text_hash("d712382"), text_hash("d549599"));
	make_world(CASE_MEMORY, WALLET_TRANSFER);
	case_add_dealer("d712382", WALLET_TRANSFER);
	case_add_dealer("d549599", WALLET_TRANSFER);
	next.after = case_ledger.derived.transaction_id;
	ck_assert_int_eq(adjust("d712382", "leaves").verdict.refusal, 0);
	ck_assert_int_eq(adjust("d549599", "stays").verdict.refusal, 0);
	mover = "d712382";
	move_all();
	mover = "demo";
	ck_assert_int_eq(ask(&case_ledger, COMMAND_FEED, &next, &result), STATUS_OK);
	ck_assert_uint_eq(result.feed.count, 1);
	close_world();
}
END_TEST

/* A ledger that starts again between the arrival and the opening knows the keys of the dealer. */
START_TEST(keys_are_known_after_a_restart)
{
	struct dealer_key_cmd cmd = {.operator= case_operator(),
		.action = KEY_ADD,
		.casino_id = "there",
		.key_id = "k2"};

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	move_until(&case_ledger, MOVE_LEFT, &other, MOVE_ARRIVING);
	restart();
	move_all();
	case_secret("second", cmd.secret);
	ck_assert_int_eq(run_there(COMMAND_DEALER_KEY, &cmd)->result.verdict.refusal,
		REFUSAL_KEY_KNOWN);
	close_world();
}
END_TEST

/* Each dealer of a batch passes the limit, which counts the moves before the batch. The calls of all are refused. */
START_TEST(moves_over_the_limit_are_guarded)
{
	static struct slot batch[MOVES_MAX + 1];
	struct verdict verdict;
	char name[CASINO_ID_SIZE];

	case_open(CASE_MEMORY);
	memset(batch, 0, sizeof(batch));
	for (unsigned int i = 0; i <= MOVES_MAX; i++) {
		snprintf(name, sizeof(name), "dealer%u", i);
		case_add_dealer(name, WALLET_TRANSFER);
		batch[i].command = COMMAND_DEALER_MOVE;
		batch[i].cmd.dealer_move = (struct dealer_move_cmd){.operator= case_operator(),
			.action = MOVE_LEAVE,
			.peer = "2"};
		strcpy(batch[i].cmd.dealer_move.casino_id, name);
		snprintf(batch[i].cmd.dealer_move.id, MOVE_ID_SIZE, "%07uaaaaaaaaaaaaa", i);
	}
	case_run_batch(batch, MOVES_MAX + 1);
	for (unsigned int i = 0; i <= MOVES_MAX; i++) {
		ck_assert_int_eq(batch[i].result.verdict.refusal, 0);
		ck_assert(moves_refuse(&case_ledger.derived.moves,
			batch[i].cmd.dealer_move.casino_id, false, &verdict));
	}
	case_close();
}
END_TEST

static void put_counter(struct store *store, const char *name, uint64_t value)
{
	struct counter counter = {.value = value};
	struct ws *ws = ws_new();

	ck_assert_ptr_nonnull(ws);
	strcpy(counter.name, name);
	ws_want(ws, RECORD_COUNTER, &counter);
	ck_assert_int_eq(store->load(store, ws), STATUS_OK);
	ws_put(ws, RECORD_COUNTER, &counter);
	ck_assert_int_eq(store->save(store, ws), SAVE_OK);
	ws_delete(ws);
}

/* Retention steps, with a pause after each. The first one sees a new clock. */
static void retain(unsigned int steps)
{
	for (unsigned int i = 0; i < steps; i++) {
		retention_step(&case_ledger.retention, case_moment());
		case_pass(MINUTE);
	}
}

/* Retention has passed over the ids of the dealer before it arrives, and a pass is under way. */
START_TEST(retention_begins_again)
{
	unsigned int bodies;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	put_counter(other_db, "retention", last_id + 1000000);
	other.retention.begun = true;
	move_all();
	ck_assert(!other.retention.begun);
	go_there();
	bodies = count_stored(case_db, RECORD_CALLBACK_BODY);
	case_pass(100 * DAY);
	case_ledger.retention.days = 30;
	retain(5);
	ck_assert_uint_lt(count_stored(case_db, RECORD_CALLBACK_BODY), bodies);
	case_prove();
	case_close();
}
END_TEST

/* Rows of a dealer that leaves are not changed under the copy. */
START_TEST(retention_waits_for_a_move)
{
	unsigned int bodies;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	calls_left = 6;
	is_done = true;
	ck_assert_int_ne(run_move(move_dealer), OUTCOME_DONE);
	case_pass(100 * DAY);
	case_ledger.retention.days = 30;
	bodies = count_stored(case_db, RECORD_CALLBACK_BODY);
	retain(5);
	ck_assert_uint_eq(count_stored(case_db, RECORD_CALLBACK_BODY), bodies);
	calls_left = -1;
	ck_assert_int_eq(run_move(move_abort), OUTCOME_DONE);
	retain(5);
	ck_assert_uint_lt(count_stored(case_db, RECORD_CALLBACK_BODY), bodies);
	close_world();
}
END_TEST

/* A reader of the feed in the new cell sees what was and what comes, in the order of the ids. */
START_TEST(the_feed_goes_on)
{
	struct feed_cmd cmd = {.casino_id = "demo"};
	struct feed_result before, after;
	struct slot *slot;
	uint64_t next;

	make_world(CASE_MEMORY, WALLET_TRANSFER);
	slot = case_run(COMMAND_FEED, &cmd);
	ck_assert_int_eq(ask(&case_ledger, COMMAND_FEED, &cmd, &slot->result), STATUS_OK);
	before = slot->result.feed;
	ck_assert_uint_gt(before.count, 3);
	move_all();
	run_there(COMMAND_FEED, &cmd);
	after = slots[1].result.feed;
	ck_assert_uint_eq(after.count, before.count);
	cmd.after = next = after.next;
	go_there();
	case_in("alice", "next", CREDIT);
	ck_assert_int_eq(ask(&case_ledger, COMMAND_FEED, &cmd, &slot->result), STATUS_OK);
	after = slot->result.feed;
	ck_assert_uint_eq(after.count, 1);
	ck_assert_uint_gt(after.next, next);
	case_close();
}
END_TEST

Suite *moves_suite(void)
{
	Suite *suite = suite_create("moves");
	TCase *tests = tcase_create("moves");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, a_dealer_moves, 0, CASE_STORE_COUNT * WALLET_MODE_COUNT);
	tcase_add_test(tests, a_command_that_is_sent_twice_acts_once);
	tcase_add_loop_test(tests, an_interrupted_move_goes_on, 0, 2);
	tcase_add_test(tests, an_aborted_move_leaves_nothing);
	tcase_add_test(tests, an_abort_keeps_the_batch_of_another_dealer);
	tcase_add_test(tests, a_copy_that_went_back_is_made_again);
	tcase_add_test(tests, rows_stay_if_the_other_ledger_lost_the_dealer);
	tcase_add_test(tests, calls_are_refused_meanwhile);
	tcase_add_test(tests, a_player_is_found_in_one_ledger);
	tcase_add_test(tests, a_new_batch_waits_for_the_move);
	tcase_add_test(tests, a_batch_in_both_ledgers_is_merged);
	tcase_add_test(tests, the_feed_of_all_leaves_a_moving_dealer_out);
	tcase_add_test(tests, the_feed_of_a_dealer_with_an_equal_hash_goes_on);
	tcase_add_test(tests, keys_are_known_after_a_restart);
	tcase_add_test(tests, moves_over_the_limit_are_guarded);
	tcase_add_test(tests, retention_begins_again);
	tcase_add_test(tests, retention_waits_for_a_move);
	tcase_add_test(tests, the_feed_goes_on);
	suite_add_tcase(suite, tests);
	return suite;
}
