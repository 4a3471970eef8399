/*
 * Random histories of a player whose game servers bet, settle, cancel and correct at the same time,
 * on the ledger's commands. Calls are sent several times, arrive late or never, and answers are lost.
 * Each history must be linearizable (history.h), and the books must be right.
 *
 * CB_HISTORIES=N runs N histories in place of 1,000; CB_SEED=N gives other ones. CB_HISTORIES_RESULT is
 * a file that gets the figures.
 */
#include "case_wagers.h"
#include "chance.h"
#include "history.h"

#include "base/text.h"
#include "domain/delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK   40 /* histories on one ledger */
#define CLIENTS 4
#define BATCH   4
#define COPIES  3
#define SENT    (HISTORY_CALLS - 1) /* the last call reads the balance */

/* A fault of the ledger that the histories must find. */
enum plant {
	PLANT_NOTHING,
	PLANT_ANY_REVISION,  /* a correction is made whatever revision it names */
	PLANT_OPEN_CALLBACK, /* a correction does not wait for the callback before it */
	PLANT_NO_TOMBSTONE, /* the cancellation of an unused key does not keep it from being used */
	PLANT_FORGOTTEN_KEY, /* a repeated call acts again */
	PLANT_COUNT
};

static uint64_t state;
static unsigned int number; /* of the history */
static char player_id[PLAYER_ID_SIZE];
static char user[16];
static struct history history;
static uint32_t now;

/* A call on its way. */
static struct flight {
	bool arrived; /* it was made; its answer is under way */
	bool gone;    /* it or its answer was lost, or it was heard */
	struct callback_grant send;
} flights[HISTORY_CALLS];
static uint64_t senders[HISTORY_OPS];
/* The granted callback of an operation that a client heard of. */
static struct callback_grant grants[HISTORY_OPS];

static struct game_client {
	int op;   /* that it waits for; -1: none */
	int ends; /* the operation whose callback it sends next; -1: none */
} clients[CLIENTS];

static bool likely(unsigned int one_in)
{
	return chance_below(&state, one_in) == 0;
}

/* ---- what is asked */

/* Returns a random operation of @kind that was begun, or -1. */
static int begun(enum op_kind kind)
{
	int found[HISTORY_OPS];
	unsigned int count = 0;

	for (unsigned int i = 0; i < history.op_count; i++) {
		if (history.ops[i].kind == kind)
			found[count++] = (int)i;
	}
	return count ? found[chance_below(&state, count)] : -1;
}

static bool is_begun(enum op_kind kind, unsigned int game)
{
	for (unsigned int i = 0; i < history.op_count; i++) {
		if (history.ops[i].kind == kind && history.ops[i].game == game)
			return true;
	}
	return false;
}

static money_t random_amount(void)
{
	return (money_t)(1 + chance_below(&state, 9)) * CREDIT;
}

/* Returns the revision that the clients know a round to have. */
static uint32_t corrections_heard(unsigned int game)
{
	uint32_t revision = 0;

	for (unsigned int i = 0; i < history.call_count; i++) {
		const struct call *call = &history.calls[i];

		if (history.ops[call->op].kind == OP_CORRECT &&
			history.ops[call->op].game == game && call->answered != HISTORY_NEVER &&
			call->reply.refusal == REFUSAL_NONE &&
			history.ops[call->op].revision > revision)
			revision = history.ops[call->op].revision;
	}
	return revision;
}

static void choose_result(struct op *op)
{
	op->result = (enum round_result)(1 + chance_below(&state, 3));
	op->amount = op->result == RESULT_WIN ? random_amount() : 0;
}

static struct op random_op(void)
{
	static const enum op_kind transfer[] = {OP_IN, OP_IN, OP_OUT, OP_READ, OP_BET, OP_BET,
		OP_BET, OP_SETTLE, OP_SETTLE, OP_CANCEL, OP_CORRECT, OP_CORRECT, OP_CORRECT};
	static const enum op_kind seamless[] = {OP_BET, OP_BET, OP_SETTLE, OP_CANCEL, OP_CORRECT,
		OP_CORRECT};
	struct op op;
	int target;

	memset(&op, 0, sizeof(op));
	op.kind = history.mode == WALLET_TRANSFER
		? transfer[chance_below(&state, sizeof(transfer) / sizeof(transfer[0]))]
		: seamless[chance_below(&state, sizeof(seamless) / sizeof(seamless[0]))];
	op.game = (unsigned int)likely(6);
	/* A call that can only be refused is rare. */
	if (op.kind == OP_CORRECT && !is_begun(OP_SETTLE, op.game) && !likely(8))
		op.kind = OP_SETTLE;
	if (op.kind == OP_SETTLE && !is_begun(OP_BET, op.game) && !likely(8))
		op.kind = OP_BET;
	if (op.kind == OP_IN || op.kind == OP_OUT || op.kind == OP_BET)
		op.amount = random_amount();
	if (op.kind == OP_SETTLE || op.kind == OP_CORRECT)
		choose_result(&op);
	if (op.kind == OP_CORRECT) {
		op.revision = likely(6) ? 1 + (uint32_t)chance_below(&state, 4)
					: 1 + corrections_heard(op.game);
		op.allow_shortfall = likely(2);
	}
	if (op.kind == OP_CANCEL) {
		target = begun(OP_BET);
		if (target < 0) {
			op.kind = OP_BET;
			op.amount = random_amount();
			return op;
		}
		op.target = (unsigned int)target;
		op.game = history.ops[target].game;
	}
	return op;
}

/* ---- the commands */

static void name_id(char id[EXTERNAL_ID_SIZE], unsigned int op)
{
	snprintf(id, EXTERNAL_ID_SIZE, "h%u-%u", number, op);
}

static void name_game(char game[EXTERNAL_ID_SIZE], unsigned int at)
{
	snprintf(game, EXTERNAL_ID_SIZE, "g%u-%u", number, at);
}

static struct player_ref subject(void)
{
	struct player_ref ref;

	memset(&ref, 0, sizeof(ref));
	strcpy(ref.casino_id, "demo");
	strcpy(ref.user_id, user);
	return ref;
}

static void fill_slot(struct slot *slot, unsigned int at)
{
	const struct op *op = &history.ops[at];
	char id[EXTERNAL_ID_SIZE], game[EXTERNAL_ID_SIZE], bet[EXTERNAL_ID_SIZE];

	memset(slot, 0, sizeof(*slot));
	slot->link = 1;
	name_id(id, at);
	name_id(bet, op->target);
	name_game(game, op->game);
	switch (op->kind) {
	case OP_IN:
	case OP_OUT:
		slot->command = COMMAND_TRANSFER;
		slot->cmd.transfer = case_transfer_cmd(op->kind == OP_IN ? ENTRY_TRANSFER_IN
									 : ENTRY_TRANSFER_OUT,
			user, id, op->amount);
		return;
	case OP_READ:
		slot->command = COMMAND_BALANCE;
		strcpy(slot->cmd.balance.casino_id, "demo");
		strcpy(slot->cmd.balance.user_id, user);
		return;
	case OP_BET:
		slot->command = COMMAND_BET_PLACE;
		slot->cmd.bet_place = case_bet_cmd(id, game, op->amount);
		slot->cmd.bet_place.player = subject();
		slot->cmd.bet_place.sender = senders[at];
		return;
	case OP_SETTLE:
		slot->command = COMMAND_ROUND_SETTLE;
		slot->cmd.round_settle = case_settle_cmd(id, game, op->result, op->amount);
		slot->cmd.round_settle.player = subject();
		slot->cmd.round_settle.sender = senders[at];
		return;
	case OP_CANCEL:
		slot->command = COMMAND_BET_CANCEL;
		slot->cmd.bet_cancel = case_cancel_cmd(id, bet, game);
		slot->cmd.bet_cancel.player = subject();
		slot->cmd.bet_cancel.sender = senders[at];
		return;
	case OP_CORRECT:
		slot->command = COMMAND_ROUND_CORRECT;
		slot->cmd.round_correct =
			case_correct_cmd(id, game, op->revision, op->result, op->amount);
		slot->cmd.round_correct.allow_shortfall = op->allow_shortfall;
		slot->cmd.round_correct.player = subject();
		slot->cmd.round_correct.sender = senders[at];
		return;
	default:
		slot->command = COMMAND_CALLBACK_END;
		slot->cmd.callback_end = case_end_cmd(&grants[op->target], op->class);
		slot->cmd.callback_end.outcome.shortfall = op->amount;
	}
}

static void take_bet(struct reply *reply, const struct bet_answer *bet)
{
	reply->transaction_id = bet->transaction_id;
	reply->values[0] = bet->transaction_id ? (int64_t)bet->state : 0;
}

/* Copies what the model answers as well. */
static struct reply take_reply(const struct op *op, const struct slot *slot,
	struct callback_grant *send)
{
	const struct verdict *verdict = &slot->result.verdict;
	struct reply reply;

	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	memset(&reply, 0, sizeof(reply));
	memset(send, 0, sizeof(*send));
	reply.refusal = verdict->refusal;
	reply.replay = verdict->replay;
	if (verdict->refusal == REFUSAL_INSUFFICIENT_BALANCE) {
		reply.values[0] = verdict->current_balance;
		return reply;
	}
	switch (op->kind) {
	case OP_IN:
	case OP_OUT:
		reply.transaction_id = slot->result.transfer.transaction_id;
		reply.values[0] = slot->result.transfer.before_balance;
		reply.values[1] = slot->result.transfer.current_balance;
		break;
	case OP_READ:
		reply.values[0] = slot->result.balance.balance;
		reply.values[1] = slot->result.balance.staked;
		break;
	case OP_BET:
		take_bet(&reply, &slot->result.bet_place.bet);
		*send = slot->result.bet_place.send;
		break;
	case OP_SETTLE:
		reply.transaction_id = slot->result.round_settle.transaction_id;
		reply.values[0] = slot->result.round_settle.bet_amount;
		reply.values[1] = slot->result.round_settle.win_amount;
		reply.values[2] = slot->result.round_settle.payout_amount;
		*send = slot->result.round_settle.send;
		break;
	case OP_CANCEL:
		if (verdict->refusal != REFUSAL_NONE)
			break;
		reply.transaction_id = slot->result.bet_cancel.transaction_id;
		reply.values[0] = slot->result.bet_cancel.state;
		*send = slot->result.bet_cancel.send;
		break;
	case OP_CORRECT:
		reply.transaction_id = slot->result.round_correct.transaction_id;
		reply.values[0] = slot->result.round_correct.revision;
		reply.values[1] = slot->result.round_correct.delta;
		reply.values[2] = slot->result.round_correct.shortfall;
		reply.values[3] = slot->result.round_correct.payout_amount;
		*send = slot->result.round_correct.send;
		break;
	default:
		if (history.ops[op->target].kind == OP_BET)
			take_bet(&reply, &slot->result.callback_end.bet);
		reply.values[0] = history.ops[op->target].kind == OP_BET
			? reply.values[0]
			: slot->result.callback_end.late;
		reply.values[0] |= 2 * callback_has_ended(slot->result.callback_end.state);
	}
	return reply;
}

/* ---- planted faults: rows are changed past the ledger */

static void change_row(enum record record, const void *key,
	void (*change)(struct ws *, const void *))
{
	static struct ws ws;

	ws_init(&ws);
	ws_want(&ws, record, key);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	if (ws_get(&ws, record, key)) {
		change(&ws, key);
		ck_assert_int_eq(case_db->save(case_db, &ws), SAVE_OK);
	}
	ws_free(&ws);
}

static void forget_key(struct ws *ws, const void *key)
{
	ws_drop(ws, RECORD_REQUEST, key);
}

static void forget_tombstone(struct ws *ws, const void *key)
{
	const struct request *request = ws_get(ws, RECORD_REQUEST, key);

	if (request->outcome == REFUSAL_BET_CANCELLED)
		ws_drop(ws, RECORD_REQUEST, key);
}

static void forget_callback(struct ws *ws, const void *key)
{
	struct round round = *(const struct round *)ws_get(ws, RECORD_ROUND, key);

	round.last_event = 0;
	ws_put(ws, RECORD_ROUND, &round);
}

static uint32_t revision_found;

static void find_revision(struct ws *ws, const void *key)
{
	revision_found = ((const struct round *)ws_get(ws, RECORD_ROUND, key))->revision;
}

static void plant_fault(enum plant plant, struct slot *slot, const struct op *op, unsigned int at)
{
	struct request request;
	struct round round;

	memset(&request, 0, sizeof(request));
	memset(&round, 0, sizeof(round));
	request.scope = SCOPE_CLIENT;
	strcpy(request.owner, "slots");
	name_id(request.request_transaction_id, plant == PLANT_NO_TOMBSTONE ? op->target : at);
	memcpy(round.player_id, player_id, sizeof(round.player_id));
	name_game(round.game_id, op->game);
	if (plant == PLANT_FORGOTTEN_KEY && op->kind == OP_BET)
		change_row(RECORD_REQUEST, &request, forget_key);
	if (op->kind != OP_CORRECT)
		return;
	if (plant == PLANT_OPEN_CALLBACK)
		change_row(RECORD_ROUND, &round, forget_callback);
	if (plant == PLANT_ANY_REVISION) {
		revision_found = UINT32_MAX;
		change_row(RECORD_ROUND, &round, find_revision);
		if (revision_found != UINT32_MAX)
			slot->cmd.round_correct.revision = revision_found + 1;
	}
}

/* After a cancellation. */
static void plant_late_bet(const struct op *op)
{
	struct request request;

	memset(&request, 0, sizeof(request));
	request.scope = SCOPE_CLIENT;
	strcpy(request.owner, "slots");
	name_id(request.request_transaction_id, op->target);
	change_row(RECORD_REQUEST, &request, forget_tombstone);
}

/* ---- clients and the network */

static void send_op(unsigned int op)
{
	const unsigned int copies =
		1 + (unsigned int)(likely(3) ? chance_below(&state, COPIES) : 0);

	for (unsigned int i = 0; i < copies && history.call_count < SENT; i++) {
		flights[history.call_count] = (struct flight){.arrived = false};
		history.calls[history.call_count++] =
			(struct call){.op = op, .sent = now, .answered = HISTORY_NEVER};
	}
}

static unsigned int under_way(unsigned int op)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < history.call_count; i++)
		count += history.calls[i].op == op && !flights[i].gone;
	return count;
}

static void begin_op(struct game_client *client, unsigned int most)
{
	const unsigned int at = history.op_count;

	if (at == most || history.call_count + COPIES > SENT - CLIENTS)
		return;
	if (client->ends >= 0) {
		struct op *op = &history.ops[at];
		const bool bet = history.ops[client->ends].kind == OP_BET;

		memset(op, 0, sizeof(*op));
		op->kind = OP_END;
		op->target = (unsigned int)client->ends;
		op->class = !likely(5)     ? CALLBACK_SUCCESS
			: bet && likely(2) ? CALLBACK_REFUSED
					   : CALLBACK_UNKNOWN;
		op->amount = history.ops[client->ends].kind == OP_CORRECT && likely(2)
			? random_amount()
			: 0;
		client->ends = -1;
	} else {
		history.ops[at] = random_op();
	}
	senders[at] = chance(&state);
	history.op_count++;
	client->op = (int)at;
	send_op(at);
}

/* A client sends its next operation, or the present one again if all of it was lost. */
static void act(struct game_client *client, unsigned int most)
{
	if (client->op < 0)
		begin_op(client, most);
	else if (!under_way((unsigned int)client->op) && history.call_count < SENT)
		send_op((unsigned int)client->op);
	else if (!under_way((unsigned int)client->op))
		client->op = -1; /* It gives up. */
}

static void hear(unsigned int at)
{
	struct call *call = &history.calls[at];

	flights[at].gone = true;
	call->answered = now;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (clients[i].op != (int)call->op)
			continue;
		clients[i].op = -1;
		if (flights[at].send.event && !grants[call->op].event) {
			grants[call->op] = flights[at].send;
			clients[i].ends = (int)call->op;
		}
	}
}

/* Runs some of the calls that have not arrived, as one batch. */
static void run_batch(enum plant plant)
{
	static struct slot slots[BATCH];
	unsigned int taken[BATCH], count = 0;

	for (unsigned int tries = 0; tries < 4 * BATCH && count < BATCH; tries++) {
		const unsigned int at = (unsigned int)chance_below(&state, history.call_count);

		if (flights[at].arrived || flights[at].gone)
			continue;
		flights[at].arrived = true;
		if (likely(12)) {
			flights[at].gone = true;
			continue;
		}
		fill_slot(&slots[count], history.calls[at].op);
		taken[count++] = at;
		if (plant != PLANT_NOTHING) {
			plant_fault(plant, &slots[0], &history.ops[history.calls[at].op],
				history.calls[at].op);
			break;
		}
	}
	if (!count)
		return;
	case_run_batch(slots, count);
	for (unsigned int i = 0; i < count; i++) {
		struct call *call = &history.calls[taken[i]];
		const struct op *op = &history.ops[call->op];

		call->reply = take_reply(op, &slots[i], &flights[taken[i]].send);
		if (plant == PLANT_ANY_REVISION && op->kind == OP_CORRECT &&
			call->reply.refusal == REFUSAL_NONE)
			call->reply.values[0] = op->revision;
		if (plant == PLANT_NO_TOMBSTONE && op->kind == OP_CANCEL)
			plant_late_bet(op);
	}
}

/* One answer arrives, or is lost. */
static void deliver(void)
{
	for (unsigned int tries = 0; tries < 8; tries++) {
		const unsigned int at = (unsigned int)chance_below(&state, history.call_count);

		if (!flights[at].arrived || flights[at].gone)
			continue;
		if (likely(8))
			flights[at].gone = true;
		else
			hear(at);
		return;
	}
}

static bool is_over(unsigned int most)
{
	for (unsigned int i = 0; i < history.call_count; i++) {
		if (!flights[i].gone)
			return false;
	}
	return history.op_count >= most || history.call_count + COPIES > SENT - CLIENTS;
}

/* Makes one history. */
static void make_history(enum wallet_mode mode, enum plant plant)
{
	const unsigned int most = 8 + (unsigned int)chance_below(&state, HISTORY_OPS - 9);
	struct player_put_result player;

	snprintf(user, sizeof(user), "u%u", number);
	player = case_player_add("demo", user);
	ck_assert_int_eq(player.verdict.refusal, REFUSAL_NONE);
	memcpy(player_id, player.player_id, sizeof(player_id));
	memset(&history, 0, sizeof(history));
	memset(grants, 0, sizeof(grants));
	history.mode = mode;
	for (unsigned int i = 0; i < CLIENTS; i++)
		clients[i] = (struct game_client){-1, -1};
	for (now = 1; !is_over(most) && now < 2000; now++) {
		const uint64_t what = chance_below(&state, 4);

		case_now_ms++;
		if (what < 2)
			act(&clients[chance_below(&state, CLIENTS)], most);
		else if (history.call_count && what == 2)
			run_batch(plant);
		else if (history.call_count)
			deliver();
	}
	/* The end: the balance as everyone sees it. */
	if (mode == WALLET_TRANSFER) {
		history.ops[history.op_count] = (struct op){.kind = OP_READ};
		history.calls[history.call_count] =
			(struct call){.op = history.op_count++, .sent = now, .answered = now + 1};
		history.calls[history.call_count++].reply.values[0] = case_balance(user).balance;
		history.calls[history.call_count - 1].reply.values[1] = case_balance(user).staked;
	}
}

/* ---- the runs */

struct figures {
	uint64_t histories, operations, calls, lost, corrected, cancelled, not_linearizable;
};

static void count_history(struct figures *figures)
{
	figures->histories++;
	figures->operations += history.op_count;
	figures->calls += history.call_count;
	for (unsigned int i = 0; i < history.call_count; i++) {
		const struct call *call = &history.calls[i];
		const bool done = call->answered != HISTORY_NEVER &&
			call->reply.refusal == REFUSAL_NONE && !call->reply.replay;

		figures->lost += call->answered == HISTORY_NEVER;
		figures->corrected += done && history.ops[call->op].kind == OP_CORRECT;
		figures->cancelled += done && history.ops[call->op].kind == OP_CANCEL;
	}
}

static void open_block(int kind, enum wallet_mode mode)
{
	struct dealer values = {.max_inflight = 1000};

	case_open_mode(kind, mode);
	strcpy(values.path_betting_correction, "/c");
	ck_assert_int_eq(case_dealer_set(DEALER_MAX_INFLIGHT, &values).verdict.refusal,
		REFUSAL_NONE);
	ck_assert_int_eq(case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values).verdict.refusal,
		REFUSAL_NONE);
}

static uint64_t histories(void)
{
	const char *given = getenv("CB_HISTORIES");

	return given ? strtoull(given, NULL, 10) : 1000;
}

static uint64_t seed_given(void)
{
	const char *given = getenv("CB_SEED");

	return given ? strtoull(given, NULL, 10) : 1;
}

static void write_result(const struct figures *figures)
{
	const char *path = getenv("CB_HISTORIES_RESULT");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!path)
		return;
	ck_assert_ptr_nonnull(file);
	fprintf(file,
		"{\"seed\": %" PRIu64 ", \"histories\": %" PRIu64 ", \"operations\": %" PRIu64
		", \"calls\": %" PRIu64 ", \"answers_lost\": %" PRIu64 ", \"corrections\": %" PRIu64
		", \"cancellations\": %" PRIu64 ", \"not_linearizable\": %" PRIu64 "}\n",
		seed_given(), figures->histories, figures->operations, figures->calls,
		figures->lost, figures->corrected, figures->cancelled, figures->not_linearizable);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(histories_are_linearizable)
{
	const uint64_t all = histories();
	struct figures figures = {.histories = 0};

	for (unsigned int block = 0; figures.histories < all; block++) {
		const enum wallet_mode mode = block % 2 ? WALLET_SEAMLESS : WALLET_TRANSFER;

		state = seed_given() * UINT64_C(1000003) + block;
		/* Every 16th block is on Berkeley DB. */
		open_block(block % 16 != 15 ? CASE_MEMORY : CASE_DISK, mode);
		for (unsigned int i = 0; i < BLOCK && figures.histories < all; i++) {
			number = block * BLOCK + i;
			make_history(mode, PLANT_NOTHING);
			count_history(&figures);
			if (history_is_linearizable(&history))
				continue;
			if (!figures.not_linearizable++)
				history_print(&history);
		}
		case_prove();
		case_close();
	}
	write_result(&figures);
	ck_assert_msg(!figures.not_linearizable,
		"CB_SEED=%" PRIu64 ": %" PRIu64 " of %" PRIu64 " histories are not linearizable",
		seed_given(), figures.not_linearizable, figures.histories);
	/* They do what they are for. */
	ck_assert_uint_gt(figures.corrected, figures.histories / 20);
	ck_assert_uint_gt(figures.cancelled, figures.histories / 20);
}
END_TEST

START_TEST(a_planted_fault_is_found)
{
	const enum plant plant = (enum plant)_i;
	const enum wallet_mode mode =
		plant == PLANT_OPEN_CALLBACK ? WALLET_SEAMLESS : WALLET_TRANSFER;
	unsigned int found = 0;

	state = 7;
	open_block(CASE_MEMORY, mode);
	for (number = 0; number < 400 && !found; number++) {
		make_history(mode, plant);
		found += !history_is_linearizable(&history);
	}
	ck_assert_uint_gt(found, 0);
	case_close();
}
END_TEST

Suite *histories_suite(void)
{
	Suite *suite = suite_create("histories");
	TCase *tc = tcase_create("histories");

	tcase_add_test(tc, histories_are_linearizable);
	tcase_add_loop_test(tc, a_planted_fault_is_found, PLANT_ANY_REVISION, PLANT_COUNT);
	tcase_set_timeout(tc, histories() > 10000 ? 7200 : 120);
	suite_add_tcase(suite, tc);
	return suite;
}
