/*
 * Tests moves of a dealer between two ledgers: each step, an interruption at each command, and an abort.
 *
 * The ledger that the dealer leaves is case_ledger. The other one takes its place when it is to be proved.
 */
#include "case_wagers.h"

#include "admin/move/move.h"
#include "base/pack.h"
#include "base/text.h"
#include "ledger/commands/moves/move_rows.h"
#include "ledger/rows/life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ledger other;
static struct store *other_db;
static struct slot slots[2];
static struct session sessions[2];
static struct move move;
static int calls_left; /* until one fails; below 0: none does */
static bool is_done;   /* the call that fails was done, and its answer is lost */
static unsigned int moves_made;
static const char *mover = "demo";
static bool is_doubled; /* each command is sent twice, as after a broken connection */
static bool back;       /* the dealer moves from the other ledger to case_ledger */

static void run_in(struct ledger *ledger, struct slot *slot, enum command command, const void *cmd)
{
	struct buffer out;

	memset(slot, 0, sizeof(*slot));
	slot->command = command;
	slot->link = 1;
	memcpy(&slot->cmd, cmd, command_infos[command].cmd_size);
	ck_assert_int_eq(ledger_run(ledger, slot, 1, case_moment()), STATUS_OK);
	buffer_init(&out, FRAME_MAX);
	ledger_answer(ledger, slot, 1, &out);
	ck_assert(!out.failed);
	buffer_free(&out);
}

static enum status ask(void *closure, enum command command, const void *cmd, void *result)
{
	struct ledger *ledger = closure;
	struct slot *slot = &slots[ledger == &other];
	const bool fails = calls_left == 0;

	calls_left -= calls_left >= 0;
	if (fails && !is_done)
		return STATUS_NOT_SENT;
	for (unsigned int times = 0; times <= is_doubled; times++)
		run_in(ledger, slot, command, cmd);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	memcpy(result, &slot->result, command_infos[command].result_size);
	return fails ? STATUS_UNKNOWN : STATUS_OK;
}

/* Runs one command in the other ledger. */
static struct slot *run_there(enum command command, const void *cmd)
{
	union any_result result;

	calls_left = -1;
	ck_assert_int_eq(ask(&other, command, cmd, &result), STATUS_OK);
	return &slots[1];
}

static void name_ledgers(void)
{
	strcpy(case_ledger.figures.installation, "00000000000000000000000000000001");
	strcpy(other.figures.installation, "00000000000000000000000000000002");
}

/* Ends both ledgers and starts them again, as after a kill. */
static void restart(void)
{
	ledger_free(&case_ledger);
	ledger_free(&other);
	ck_assert_int_eq(ledger_init(&case_ledger, case_db, 3, &case_outbox, case_moment()), 0);
	ck_assert_int_eq(ledger_init(&other, other_db, 4, &case_outbox, case_moment()), 0);
	name_ledgers();
}

static struct client_put_cmd slots_client(void)
{
	struct client_put_cmd cmd = {.operator= case_operator(), .client_id = "slots"};

	case_secret("slots", cmd.secret);
	return cmd;
}

static void begin_life(struct store *store, uint32_t number)
{
	char why[256];

	ck_assert_int_eq(life_begin_first(store, case_now_ms, number, why, sizeof(why)), STATUS_OK);
}

static void open_there(void)
{
	const struct client_put_cmd client = slots_client();
	struct dealer_put_cmd dealer = case_dealer_cmd("there");

	other_db = memory_store_new();
	begin_life(other_db, 1);
	ck_assert_int_eq(ledger_init(&other, other_db, 2, &case_outbox, case_moment()), 0);
	name_ledgers();
	ck_assert_int_eq(run_there(COMMAND_CLIENT_PUT, &client)->result.verdict.refusal, 0);
	ck_assert_int_eq(run_there(COMMAND_DEALER_PUT, &dealer)->result.verdict.refusal, 0);
}

/* The other ledger takes the place of the one that the dealer left. */
static void go_there(void)
{
	ledger_free(&case_ledger);
	case_db->close(case_db);
	ledger_free(&other);
	case_db = other_db;
	ck_assert_int_eq(ledger_init(&case_ledger, case_db, 5, &case_outbox, case_moment()), 0);
}

static void retire_key(void)
{
	struct dealer_key_cmd cmd = {.casino_id = "demo"};

	for (unsigned int action = KEY_ADD; action <= KEY_RETIRE; action++) {
		cmd.operator= case_operator();
		cmd.action = (enum key_action)action;
		case_secret("second", cmd.secret);
		strcpy(cmd.key_id, action == KEY_RETIRE ? "k1" : "k2");
		ck_assert_int_eq(case_run(COMMAND_DEALER_KEY, &cmd)->result.verdict.refusal, 0);
	}
}

/* A batch of results of a round of demo and of one of else. */
static struct settle_batch_result run_batch(void)
{
	static struct buffer items;
	struct settle_batch_cmd batch = {.client_id = "slots",
		.request_transaction_id = "batch",
		.request_id = "call",
		.digest = "digest",
		.count = 2};
	struct settle_item item = {.result = RESULT_WIN, .payout_amount = 3 * CREDIT};

	buffer_free(&items);
	buffer_init(&items, 64 * 1024);
	strcpy(item.player.casino_id, "demo");
	strcpy(item.player.user_id, "alice");
	strcpy(item.game_id, "in-batch");
	ck_assert(pack_record(&items, settle_item_fields, &item));
	strcpy(item.player.casino_id, "else");
	ck_assert(pack_record(&items, settle_item_fields, &item));
	batch.items = (struct bytes){items.data, (uint32_t)items.len};
	return case_run(COMMAND_SETTLE_BATCH, &batch)->result.settle_batch;
}

/* Ends the attempt, if there is one: a dealer does not leave before. */
static void end_sent(const struct callback_grant *send)
{
	const struct callback_grant grant = *send;

	if (grant.event)
		case_end(&grant, CALLBACK_SUCCESS);
}

static void place_bet(const char *casino_id, const char *id, const char *game)
{
	struct bet_place_cmd cmd = case_bet_cmd(id, game, CREDIT);
	struct bet_place_result placed;

	strcpy(cmd.player.casino_id, casino_id);
	placed = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	end_sent(&placed.send);
}

static struct adjust_result adjust(const char *casino_id, const char *operation_id)
{
	struct adjust_cmd cmd = {.operator= case_operator(), .amount = 100 * CREDIT};

	strcpy(cmd.operator.operation_id, operation_id);
	strcpy(cmd.casino_id, casino_id);
	strcpy(cmd.user_id, "alice");
	return case_run(COMMAND_ADJUST, &cmd)->result.adjust;
}

/* What demo did before it moved. */
static struct transfer_result transferred;
static uint64_t due_event, last_id;

static void make_world(int kind, enum wallet_mode mode)
{
	struct transfer_inquire_cmd seal = {.casino_id = "demo",
		.request_transaction_id = "sealed",
		.seal = true};
	struct round_correct_cmd correct = case_correct_cmd("correct", "won", 1, RESULT_LOSS, 0);
	struct bet_cancel_cmd cancel = case_cancel_cmd("cancel", "b2", "cancelled");

	const struct client_put_cmd client = slots_client();
	struct round_settle_result settled;

	case_open_mode(kind, mode);
	begin_life(case_db, 0);
	ledger_free(&case_ledger);
	ck_assert_int_eq(ledger_init(&case_ledger, case_db, 6, &case_outbox, case_moment()), 0);
	ck_assert_int_eq(case_run(COMMAND_CLIENT_PUT, &client)->result.verdict.refusal, 0);
	case_add_dealer("else", WALLET_TRANSFER);
	if (mode == WALLET_TRANSFER) {
		transferred = case_in("alice", "in", 100 * CREDIT);
		case_out("alice", "too much", 1000 * CREDIT);
		adjust("demo", "adjusted");
		case_run(COMMAND_TRANSFER_INQUIRE, &seal);
	}
	adjust("else", "adjusted else");
	place_bet("demo", "b0", "open");
	place_bet("demo", "b1", "won");
	place_bet("demo", "b2", "cancelled");
	place_bet("demo", "b3", "in-batch");
	place_bet("else", "b4", "in-batch");
	settled = case_settle("r1", "won", RESULT_WIN, 2 * CREDIT);
	end_sent(&settled.send);
	end_sent(&case_run(COMMAND_ROUND_CORRECT, &correct)->result.round_correct.send);
	end_sent(&case_run(COMMAND_BET_CANCEL, &cancel)->result.bet_cancel.send);
	ck_assert_int_eq(run_batch().verdict.refusal, 0);
	if (mode == WALLET_SEAMLESS) {
		const uint64_t parked = case_refused_result(1, CREDIT);

		case_park(parked);
		ck_assert_int_eq(case_operate(parked, CALLBACK_RETRY), 0);
		case_refuse(parked);
		due_event = case_refused_result(2, CREDIT);
	}
	retire_key();
	last_id = case_ledger.derived.transaction_id;
	open_there();
}

static void close_world(void)
{
	ledger_free(&other);
	other_db->close(other_db);
	case_close();
}

static void begin_move(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		sessions[i] = (struct session){.ask = ask,
			.ask_closure = (i == 0) == back ? (void *)&other : (void *)&case_ledger,
			.operator= case_operator(),
			.connected = false};
		snprintf(sessions[i].operator.operation_id, OPERATION_ID_SIZE, "%07uaaaaaaaaaaaaa",
			++moves_made);
	}
	move_open(&move, &sessions[0], &sessions[1], mover);
	strcpy(move.to_name, "b");
	move.settle_ms = 0; /* There are no workers. */
}

/* Runs the command once. Returns its outcome. */
static enum outcome run_move(enum outcome (*what)(struct move *move))
{
	enum outcome code;

	begin_move();
	code = what(&move);
	move_close(&move);
	return code;
}

static void move_all(void)
{
	calls_left = -1;
	ck_assert_msg(run_move(move_dealer) == OUTCOME_DONE, "%s", sessions[0].failure.detail);
}

static bool count_row(void *context, struct bytes key, const void *row)
{
	(void)key;
	(void)row;
	++*(unsigned int *)context;
	return true;
}

/* All rows of a kind, hidden ones too. */
static unsigned int count_stored(struct store *store, enum record record)
{
	const struct store_range range = {.record = record};
	unsigned int count = 0;

	ck_assert_int_eq(store->scan(store, &range, count_row, &count), STATUS_OK);
	return count;
}

static void count_all(unsigned int counts[RECORD_COUNT])
{
	for (unsigned int record = 0; record < RECORD_COUNT; record++)
		counts[record] = count_stored(case_db, record) + count_stored(other_db, record);
}

/* No row is lost or there twice, except those that stay in both ledgers. */
static void counts_are(const unsigned int before[RECORD_COUNT])
{
	unsigned int now[RECORD_COUNT];

	count_all(now);
	for (unsigned int at = 0; at < move_record_count; at++) {
		const enum record record = move_records[at];
		const unsigned int copies = move_copies(record) || record == RECORD_REQUEST;

		ck_assert_msg(now[record] == before[record] + copies, "%s: %u, before %u",
			record_infos[record].name, now[record], before[record]);
	}
	ck_assert_uint_eq(now[RECORD_DEALER], before[RECORD_DEALER]);
}

/* Proves both ledgers, and that demo goes on in the other one. */
static void goes_on_there(enum wallet_mode mode)
{
	struct transfer_result again;
	struct settle_batch_result batch;

	case_prove();
	ck_assert_int_eq(case_balance("alice").verdict.refusal, REFUSAL_INVALID_SIGNATURE);
	go_there();
	case_prove();
	batch = run_batch();
	ck_assert_int_eq(batch.verdict.refusal, 0);
	ck_assert(batch.verdict.replay);
	if (mode == WALLET_TRANSFER) {
		again = case_in("alice", "in", 100 * CREDIT);
		ck_assert(again.verdict.replay);
		ck_assert_uint_eq(again.transaction_id, transferred.transaction_id);
		ck_assert_int_eq(case_in("alice", "sealed", CREDIT).verdict.refusal,
			REFUSAL_TRANSACTION_SEALED);
		again = case_in("alice", "next", CREDIT);
		ck_assert_uint_gt(again.transaction_id, last_id);
	} else {
		case_pass(HOUR);
		ck_assert_int_eq(case_claim(due_event).verdict.refusal, 0);
	}
	case_prove();
}

/* To and fro on each store, with each wallet. */
START_TEST(a_dealer_moves)
{
	const enum wallet_mode mode = _i % WALLET_MODE_COUNT;
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
	const struct live_move *ours = NULL;
	unsigned int before[RECORD_COUNT];

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	count_all(before);
	is_done = true;
	for (int at = 20; !ours || ours->state != MOVE_LEFT; at++) {
		calls_left = at;
		ck_assert_int_ne(run_move(move_dealer), OUTCOME_DONE);
		ours = moves_find(&case_ledger.derived.moves, "demo");
		ck_assert(ours && ours->state != MOVE_REMOVING);
	}
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
	const struct live_move *ours = NULL;
	unsigned int bets;

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	bets = count_stored(case_db, RECORD_BET);
	is_done = true;
	for (int at = 20; !ours || ours->state != MOVE_REMOVING; at++) {
		calls_left = at;
		ck_assert_int_ne(run_move(move_dealer), OUTCOME_DONE);
		ours = moves_find(&case_ledger.derived.moves, "demo");
	}
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

static struct result_batch batch_of(struct buffer *out, enum refusal refusal)
{
	struct settle_answer answer = {.verdict = {.refusal = refusal}};

	buffer_init(out, 1024);
	ck_assert(pack_record(out, settle_answer_fields, &answer));
	return (struct result_batch){.count = 1, .answers = {out->data, (uint32_t)out->len}};
}

/* Each of two cells got the whole batch, and one of them did not know the player (doc/internals/cells.md). */
START_TEST(a_result_wins_over_a_refusal)
{
	static const enum refusal cases[][3] = {{REFUSAL_USER_NOT_FOUND, REFUSAL_NONE,
							REFUSAL_NONE},
		{REFUSAL_NONE, REFUSAL_USER_NOT_FOUND, REFUSAL_NONE},
		{REFUSAL_SERVICE_UNAVAILABLE, REFUSAL_USER_NOT_FOUND, REFUSAL_USER_NOT_FOUND},
		{REFUSAL_USER_NOT_FOUND, REFUSAL_SERVICE_UNAVAILABLE, REFUSAL_USER_NOT_FOUND}};
	const enum refusal *refusals = cases[_i];
	struct buffer ours, theirs, merged;
	const struct result_batch our = batch_of(&ours, refusals[0]),
				  their = batch_of(&theirs, refusals[1]);
	struct settle_answer answer = {.transaction_id = 0};
	struct bytes rest;

	buffer_init(&merged, 1024);
	ck_assert(move_batch_merge(&our, &their, &merged));
	rest = (struct bytes){merged.data, (uint32_t)merged.len};
	ck_assert(unpack_record(&rest, settle_answer_fields, &answer));
	ck_assert_int_eq(answer.verdict.refusal, refusals[2]);
	buffer_free(&ours);
	buffer_free(&theirs);
	buffer_free(&merged);
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
	tcase_add_test(tests, retention_begins_again);
	tcase_add_test(tests, retention_waits_for_a_move);
	tcase_add_test(tests, the_feed_goes_on);
	tcase_add_loop_test(tests, a_result_wins_over_a_refusal, 0, 4);
	suite_add_tcase(suite, tests);
	return suite;
}
