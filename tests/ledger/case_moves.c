/*
 * case_moves - two ledgers, of which the one has a dealer that did a bit of everything, and its move.
 */
#include "case_moves.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"
#include "ledger/rows/life.h"
#include "ledger/rows/moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ledger other;
struct store *other_db;
struct slot slots[2];
struct session sessions[2];
static struct move move;
int calls_left; /* until one fails; below 0: none does */
bool is_done;   /* the call that fails was done, and its answer is lost */
static unsigned int moves_made;
const char *mover = "demo";
bool is_doubled; /* each command is sent twice, as after a broken connection */
bool back;       /* the dealer moves from the other ledger to case_ledger */
int64_t settle_ms, step_ms[MOVE_ACTION_COUNT], drop_ms;
void (*watch_progress)(void *closure, const struct move_progress *progress);

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

enum status ask(void *closure, enum command command, const void *cmd, void *result)
{
	struct ledger *ledger = closure;
	struct slot *slot = &slots[ledger == &other];
	const bool fails = calls_left == 0;

	if (command == COMMAND_DEALER_MOVE)
		step_ms[((const struct dealer_move_cmd *)cmd)->action] = clock_boot_ms();
	else if (command == COMMAND_MOVE_DROP)
		drop_ms = clock_boot_ms();
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
struct slot *run_there(enum command command, const void *cmd)
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
void restart(void)
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

void begin_life(struct store *store, uint32_t number)
{
	char why[256];

	ck_assert_int_eq(life_begin_first(store, case_now_ms, number, why, sizeof(why)), STATUS_OK);
}

void open_there(void)
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

void swap_ledgers(void)
{
	struct store *store = case_db;

	case_db = other_db;
	other_db = store;
	restart();
}

void go_there(void)
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
struct settle_batch_result send_batch(const char *key, const char *request_id, const char *game)
{
	static struct buffer items;
	struct settle_batch_cmd batch = {.client_id = "slots", .digest = "digest", .count = 2};
	struct settle_item item = {.result = RESULT_WIN, .payout_amount = 3 * CREDIT};

	buffer_free(&items);
	buffer_init(&items, 64 * 1024);
	strcpy(item.player.casino_id, "demo");
	strcpy(item.player.user_id, "alice");
	strcpy(item.game_id, game);
	strcpy(batch.request_transaction_id, key);
	strcpy(batch.request_id, request_id);
	ck_assert(pack_record(&items, settle_item_fields, &item));
	strcpy(item.player.casino_id, "else");
	ck_assert(pack_record(&items, settle_item_fields, &item));
	batch.items = (struct bytes){items.data, (uint32_t)items.len};
	return case_run(COMMAND_SETTLE_BATCH, &batch)->result.settle_batch;
}

struct settle_batch_result run_batch(void)
{
	return send_batch("batch", "call", "in-batch");
}

/* Ends the attempt, if there is one: a dealer does not leave before. */
static void end_sent(const struct callback_grant *send)
{
	const struct callback_grant grant = *send;

	if (grant.event)
		case_end(&grant, CALLBACK_SUCCESS);
}

void place_bet(const char *casino_id, const char *id, const char *game)
{
	struct bet_place_cmd cmd = case_bet_cmd(id, game, CREDIT);
	struct bet_place_result placed;

	strcpy(cmd.player.casino_id, casino_id);
	placed = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	end_sent(&placed.send);
}

struct adjust_result adjust(const char *casino_id, const char *operation_id)
{
	struct adjust_cmd cmd = {.operator= case_operator(), .amount = 100 * CREDIT};

	strcpy(cmd.operator.operation_id, operation_id);
	strcpy(cmd.casino_id, casino_id);
	strcpy(cmd.user_id, "alice");
	return case_run(COMMAND_ADJUST, &cmd)->result.adjust;
}

/* What demo did before it moved. */
struct transfer_result transferred;
uint64_t due_event, last_id;

void make_world(int kind, enum wallet_mode mode)
{
	struct transfer_inquire_cmd seal = {.casino_id = "demo",
		.request_transaction_id = "sealed",
		.seal = true};
	struct round_correct_cmd correct = case_correct_cmd("correct", "won", 1, RESULT_LOSS, 0);
	struct bet_cancel_cmd cancel = case_cancel_cmd("cancel", "b2", "cancelled");

	const struct client_put_cmd client = slots_client();
	struct round_settle_result settled;

	/* Cases may run in one process (CK_FORK=no). */
	mover = "demo";
	is_doubled = back = false;
	calls_left = -1;
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

void close_world(void)
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
	move.settle_ms = settle_ms;
	move.progress = watch_progress;
}

/* Runs the command once. Returns its outcome. */
enum outcome run_move(enum outcome (*what)(struct move *move))
{
	enum outcome code;

	begin_move();
	code = what(&move);
	move_close(&move);
	return code;
}

void move_all(void)
{
	calls_left = -1;
	ck_assert_msg(run_move(move_dealer) == OUTCOME_DONE, "%s", sessions[0].failure.detail);
}

/* Returns the state in the ledger; MOVE_STATE_COUNT: no move is under way. */
static enum move_state state_in(const struct ledger *ledger)
{
	const struct live_move *live = moves_find(&ledger->derived.moves, mover);

	return live ? live->state : MOVE_STATE_COUNT;
}

void move_until(const struct ledger *one, enum move_state state, const struct ledger *another,
	enum move_state at_another)
{
	const enum move_state expected = move_is_live(at_another) ? at_another : MOVE_STATE_COUNT;
	enum move_state before = MOVE_STATE_COUNT, there = MOVE_STATE_COUNT;

	is_done = true;
	for (int calls = 3; state_in(one) != state || state_in(another) != expected; calls++) {
		if (before != state_in(one) || there != state_in(another))
			calls = 3;
		before = state_in(one);
		there = state_in(another);
		calls_left = calls;
		ck_assert_int_ne(run_move(move_dealer), OUTCOME_DONE);
	}
	calls_left = -1;
}

static bool count_row(void *context, struct bytes key, const void *row)
{
	(void)key;
	(void)row;
	++*(unsigned int *)context;
	return true;
}

/* All rows of a kind, hidden ones too. */
unsigned int count_stored(struct store *store, enum record record)
{
	const struct store_range range = {.record = record};
	unsigned int count = 0;

	ck_assert_int_eq(store->scan(store, &range, count_row, &count), STATUS_OK);
	return count;
}

void count_all(unsigned int counts[RECORD_COUNT])
{
	for (unsigned int record = 0; record < RECORD_COUNT; record++)
		counts[record] = count_stored(case_db, record) + count_stored(other_db, record);
}

/* No row is lost or there twice, except those that stay in both ledgers. */
void counts_are(const unsigned int before[RECORD_COUNT])
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
void goes_on_there(enum wallet_mode mode)
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
