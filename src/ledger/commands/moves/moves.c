/*
 * moves - the steps of a move of a dealer (domain/dealer_move.h).
 */
#include "base/pack.h"
#include "domain/row_bounds.h"
#include "ledger/commands/moves/move_rows.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/hold.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/counters.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/life.h"
#include "ledger/rows/moves.h"
#include "ledger/rows/replays.h"

#include <stdio.h>

#define ACTION      "dealer move"
#define STEP_LETTER 'm'

/* A step on its way. */
struct move_step {
	const struct dealer_move_cmd *cmd;
	const struct apply_context *context;
	struct ws *ws;
	const struct dealer *dealer;      /* NULL: this cell has no row of it */
	const struct total *total;        /* likewise */
	const struct dealer_move *stored; /* the row of the move; NULL: none */
	struct dealer given;              /* the row in the command */
	struct verdict *verdict;
};

static struct operator step_operator(const struct dealer_move_cmd *cmd, enum move_action action)
{
	struct operator operator= cmd->operator;

	move_operator(cmd->id, STEP_LETTER, action, &operator);
	return operator;
}

/* Steps of which the answer says whether the audit has them. */
static const enum move_action proofs[] = {MOVE_OPEN, MOVE_STAY};

#define PROOF_COUNT (sizeof(proofs) / sizeof(proofs[0]))

void dealer_move_keys(const void *arg, struct ws *ws)
{
	const struct dealer_move_cmd *cmd = arg;
	const struct dealer_move move = move_named(cmd->casino_id);
	const struct total total = total_named(cmd->casino_id);
	const struct operator operator= step_operator(cmd, cmd->action);
	struct operator proof;

	ws_want(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	ws_want(ws, RECORD_TOTAL, &total);
	ws_want(ws, RECORD_DEALER_MOVE, &move);
	counter_want(ws, DEALERS_COUNTER);
	counter_want(ws, RETENTION_COUNTER);
	life_want_id(ws, LIFE_TRANSACTIONS);
	audit_keys(ws, &operator);
	for (size_t i = 0; i < PROOF_COUNT; i++) {
		proof = step_operator(cmd, proofs[i]);
		audit_keys(ws, &proof);
	}
}

static void name_object(const struct dealer_move_cmd *cmd, char object[OBJECT_SIZE])
{
	snprintf(object, OBJECT_SIZE, "dealer %s", cmd->casino_id);
}

/* Returns true if the audit has the step of this move. */
static bool was_done(struct ws *ws, const struct dealer_move_cmd *cmd, enum move_action action)
{
	const struct operator operator= step_operator(cmd, action);
	struct verdict ignored = {.refusal = REFUSAL_NONE};
	char object[OBJECT_SIZE];

	name_object(cmd, object);
	return cmd->id[0] && audit_state(ws, &operator, ACTION, object, &ignored) == AUDIT_REPEATED;
}

static bool refuse_step(struct move_step *step, enum refusal refusal, const char *detail)
{
	move_refuse(step->verdict, refusal, detail);
	return false;
}

/* Returns true if the move is this one and has the state. Otherwise refuses. */
static bool has_state(struct move_step *step, enum move_state state)
{
	const struct dealer_move *stored = step->stored;

	if (stored && strcmp(stored->id, step->cmd->id) == 0 && stored->state == state)
		return true;
	step->verdict->refusal = REFUSAL_NOT_ALLOWED_NOW;
	snprintf(step->verdict->detail, sizeof(step->verdict->detail),
		"the step %s needs a move that is %s; here %s%s",
		move_action_names[step->cmd->action], move_state_names[state],
		stored ? "it is " : "there is none", stored ? move_state_names[stored->state] : "");
	return false;
}

/* Writes the row of the move with another state. */
static void put_state(struct move_step *step, struct dealer_move *row, enum move_state state)
{
	row->state = state;
	row->changed_ms = step->context->now.wall_ms;
	ws_put(step->ws, RECORD_DEALER_MOVE, row);
}

/* As put_state(), for a walk that begins with the first row. */
static void begin_walk(struct move_step *step, enum move_state state)
{
	struct dealer_move row = *step->stored;

	row.page = row.rows = 0;
	row.page_kind = 0;
	row.after = (struct bytes){NULL, 0};
	put_state(step, &row, state);
}

static bool begin_move(struct move_step *step, enum move_state state)
{
	const struct dealer_move_cmd *cmd = step->cmd;
	struct dealer_move row = move_named(cmd->casino_id);

	if (!text_is_name(cmd->peer, MOVE_PEER_SIZE - 1) ||
		(cmd->other[0] && !text_is_name(cmd->other, CELL_NAME_SIZE - 1)))
		return refuse_step(step, REFUSAL_BAD_REQUEST, "the other cell has no usable name");
	if (step->stored && move_is_live(step->stored->state))
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW,
			"another move of the dealer is under way here: continue or abort it");
	if (step->context->moves && step->context->moves->count >= MOVES_MAX)
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW,
			"16 moves of dealers are under way here: wait until one is done");
	text_copy(row.id, sizeof(row.id), cmd->id);
	text_copy(row.peer, sizeof(row.peer), cmd->peer);
	text_copy(row.other, sizeof(row.other), cmd->other);
	row.begun_ms = step->context->now.wall_ms;
	put_state(step, &row, state);
	return true;
}

static bool replay_runs(const struct move_step *step)
{
	const struct replay_book *book = step->context->replays;

	for (uint32_t i = 0; book && i < book->count; i++) {
		if (strcmp(book->list[i].row.filter.casino_id, step->cmd->casino_id) == 0)
			return true;
	}
	return false;
}

static bool begin_leaving(struct move_step *step)
{
	if (!step->dealer)
		return refuse_step(step, REFUSAL_DEALER_NOT_FOUND, "");
	/* What the restore left open is compared with the ids of this cell. */
	if (step->dealer->restored_id || step->dealer->keys_restored_ms)
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW,
			"a restore of the dealer is not settled: reconcile, release and key-confirm come first");
	if (replay_runs(step))
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW,
			"a replay of the dealer's callbacks runs: wait until it is done, or stop it");
	return begin_move(step, MOVE_LEAVING);
}

static bool end_leaving(struct move_step *step)
{
	if (!has_state(step, MOVE_LEAVING))
		return false;
	ws_drop(step->ws, RECORD_DEALER_MOVE, step->stored);
	return true;
}

static bool cut_dealer_off(struct move_step *step)
{
	struct schedule_figures figures;
	struct dealer_move row;

	if (!has_state(step, MOVE_LEAVING))
		return false;
	schedule_figures(step->context->schedule, step->cmd->casino_id, &figures);
	if (figures.sending)
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW,
			"a callback of the dealer is being sent");
	/* It may have been started in the batch in which the dealer began to leave. */
	if (replay_runs(step))
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW,
			"a replay of the dealer's callbacks runs: stop it, and repeat the command");
	row = *step->stored;
	put_state(step, &row, MOVE_LEFT);
	return true;
}

static bool remove_dealer(struct move_step *step)
{
	if (!has_state(step, MOVE_LEFT))
		return false;
	begin_walk(step, MOVE_REMOVING);
	if (step->dealer) {
		counter_write(step->ws, DEALERS_COUNTER,
			counter_read(step->ws, DEALERS_COUNTER) - 1);
		ws_drop(step->ws, RECORD_DEALER, dealer_key_of(step->cmd->casino_id));
	}
	return true;
}

/* The row of the sums is the last that is deleted. */
static bool is_empty(struct move_step *step)
{
	return step->total
		? refuse_step(step, REFUSAL_NOT_ALLOWED_NOW, "there are rows of the dealer")
		: true;
}

static bool finish_move(struct move_step *step)
{
	struct dealer_move row;

	if (!has_state(step, MOVE_REMOVING) || !is_empty(step))
		return false;
	row = *step->stored;
	row.after = (struct bytes){NULL, 0};
	put_state(step, &row, MOVE_GONE);
	return true;
}

/* Reads the row of the dealer in the command. */
static bool read_given(struct move_step *step)
{
	struct bytes given = step->cmd->dealer;
	char why[ROW_BOUNDS_WHY_SIZE];

	memset(&step->given, 0, sizeof(step->given));
	return (unpack_record(&given, dealer_fields, &step->given) && !given.len &&
		       strcmp(step->given.casino_id, step->cmd->casino_id) == 0 &&
		       row_bounds_check(RECORD_DEALER, &step->given, true, why)) ||
		refuse_step(step, REFUSAL_BAD_REQUEST, "the row of the dealer cannot be used");
}

static bool begin_arriving(struct move_step *step)
{
	enum refusal refusal;

	if (!read_given(step))
		return false;
	if (step->dealer)
		return refuse_step(step, REFUSAL_ALREADY_EXISTS, "");
	if (step->total)
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW, "there are rows of the dealer");
	if (counter_read(step->ws, DEALERS_COUNTER) + moves_arriving(step->context->moves) >=
		DEALERS_MAX)
		return refuse_step(step, REFUSAL_TOO_MANY_DEALERS, "");
	refusal = key_book_take(step->context->key_book, step->cmd->casino_id, step->given.keys,
		step->verdict);
	if (refusal != REFUSAL_NONE) {
		step->verdict->refusal = refusal;
		return false;
	}
	return begin_move(step, MOVE_ARRIVING);
}

static bool begin_undoing(struct move_step *step)
{
	if (!has_state(step, MOVE_ARRIVING))
		return false;
	begin_walk(step, MOVE_UNDOING);
	return true;
}

static bool end_undoing(struct move_step *step)
{
	if (!has_state(step, MOVE_UNDOING) || !is_empty(step))
		return false;
	ws_drop(step->ws, RECORD_DEALER_MOVE, step->stored);
	return true;
}

/*
 * If the data of this cell went back, it may have served the dealer before: then the rows that were put lack what it did.
 * If the data of the other cell went back, its restore is not settled, and later ids are of this cell.
 */
static void hold_given(struct move_step *step)
{
	const struct hold_restore restore = {
		.now_ms = step->context->now.wall_ms,
		.complete_to_ms = step->cmd->complete_to_ms,
		.first_id = life_peek_id(step->ws, LIFE_TRANSACTIONS),
	};

	if (step->cmd->complete_to_ms)
		hold_dealer(&step->given, &restore);
	else if (step->given.restored_id)
		step->given.restored_id = restore.first_id;
}

/*
 * A ledger that started again since the dealer began to arrive does not know its keys. It is too late to refuse one that
 * was issued again meanwhile.
 */
static void take_keys(struct move_step *step)
{
	struct verdict ignored = {.refusal = REFUSAL_NONE};

	key_book_take(step->context->key_book, step->cmd->casino_id, step->given.keys, &ignored);
}

/*
 * From here on this cell serves the dealer. The other one does not any more, so nothing but the state is a reason
 * to refuse. Retention begins again with the oldest transaction that was put.
 */
static bool open_dealer(struct move_step *step)
{
	const uint64_t kept = counter_read(step->ws, RETENTION_COUNTER);
	struct dealer_move row;

	if (!read_given(step) || !has_state(step, MOVE_ARRIVING))
		return false;
	if (!step->total || step->stored->page != step->cmd->page ||
		step->stored->rows != step->cmd->rows)
		return refuse_step(step, REFUSAL_NOT_ALLOWED_NOW,
			"the rows of the dealer are not those that were compared: repeat the command");
	row = *step->stored;
	if (row.first_transaction && kept >= row.first_transaction)
		counter_write(step->ws, RETENTION_COUNTER, row.first_transaction - 1);
	if (!step->dealer)
		counter_next(step->ws, DEALERS_COUNTER);
	take_keys(step);
	hold_given(step);
	ws_put(step->ws, RECORD_DEALER, &step->given);
	row.after = (struct bytes){NULL, 0};
	put_state(step, &row, MOVE_ARRIVED);
	return true;
}

static bool (*const steps[MOVE_ACTION_COUNT])(struct move_step *step) = {
	[MOVE_LEAVE] = begin_leaving,
	[MOVE_STAY] = end_leaving,
	[MOVE_CUT] = cut_dealer_off,
	[MOVE_REMOVE] = remove_dealer,
	[MOVE_FINISH] = finish_move,
	[MOVE_ARRIVE] = begin_arriving,
	[MOVE_UNDO] = begin_undoing,
	[MOVE_UNDONE] = end_undoing,
	[MOVE_OPEN] = open_dealer,
};

static void do_step(struct move_step *step)
{
	const struct dealer_move_cmd *cmd = step->cmd;
	const struct operator operator= step_operator(cmd, cmd->action);
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];

	if (!text_is_name(cmd->id, MOVE_ID_SIZE - 1)) {
		move_refuse(step->verdict, REFUSAL_BAD_REQUEST, "there is no id of the move");
		return;
	}
	name_object(cmd, object);
	if (audit_state(step->ws, &operator, ACTION, object, step->verdict) != AUDIT_NEW ||
		!steps[cmd->action](step))
		return;
	snprintf(detail, sizeof(detail), "step=%s move=%s%s%s", move_action_names[cmd->action],
		cmd->id, cmd->other[0] ? " cell=" : "", cmd->other);
	audit_write(step->ws, step->context, &operator, ACTION, object, detail);
}

/* Fills the result with a copy of the row that lives until it is sent. */
static bool answer_move(const struct apply_context *context, const struct dealer_move *move,
	struct dealer_move_result *result)
{
	uint8_t *copy = move->after.len ? arena_take(context->arena, move->after.len) : NULL;

	if (move->after.len && !copy)
		return false;
	result->has_move = true;
	result->move = *move;
	if (copy)
		memcpy(copy, move->after.data, move->after.len);
	result->move.after.data = copy;
	return true;
}

void dealer_move_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct dealer_move_cmd *cmd = arg;
	struct dealer_move_result *result = out;
	const struct dealer_move move_key = move_named(cmd->casino_id), *move;
	const struct total total = total_named(cmd->casino_id);
	struct schedule_figures figures;
	struct move_step step = {
		.cmd = cmd,
		.context = context,
		.ws = ws,
		.dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id)),
		.total = ws_get(ws, RECORD_TOTAL, &total),
		.stored = ws_get(ws, RECORD_DEALER_MOVE, &move_key),
		.verdict = &result->verdict,
	};

	if (cmd->action != MOVE_LOOK)
		do_step(&step);
	explicit_bzero(&step.given, sizeof(step.given));
	result->has_dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id)) != NULL;
	move = ws_get(ws, RECORD_DEALER_MOVE, &move_key);
	if (move && !answer_move(context, move, result))
		ws_fail(ws, "no memory for a move");
	schedule_figures(context->schedule, cmd->casino_id, &figures);
	result->sending = figures.sending;
	result->has_opened = was_done(ws, cmd, MOVE_OPEN);
	result->has_stayed = was_done(ws, cmd, MOVE_STAY);
}
