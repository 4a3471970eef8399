/*
 * transfers - A1, A2 and the operator's adjustment: credit moves on the ledger. transfer_inquiry.c
 * answers for the outcome of a transfer.
 *
 * Both consume an idempotency key in the batch that moves the credit (contract, "Idempotency" and
 * "Consumption of keys"): the dealer's request_transaction_id, or the operator's operation_id.
 */
#include "ledger/commands/transfers/transfers.h"

#include "base/check.h"
#include "ledger/commands/callbacks/owed.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/decimals.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/post.h"

#include <stdio.h>

#define ADJUST_ACTION "player adjust"

/* The rows that every credit movement changes. */
struct rows {
	struct player player_key;
	struct request request_key;
};

static void name_rows(struct rows *rows, enum request_scope scope, const char *casino_id,
	const char *user_id, const char *request_transaction_id)
{
	rows->player_key = player_named(casino_id, user_id);
	rows->request_key = request_named(scope, casino_id, request_transaction_id);
}

static void want_rows(struct ws *ws, const struct rows *rows)
{
	post_want(ws, rows->player_key.casino_id, rows->player_key.user_id);
	ws_want(ws, RECORD_REQUEST, &rows->request_key);
}

/* The members of a request, as its key records them. */
struct asked {
	enum entry_kind kind;
	money_t amount;
	bool all; /* the whole balance, which is the amount */
};

/* Writes the request key: the request and its outcome. @entry NULL: no credit moved. */
static void record_request(struct ws *ws, const struct rows *rows, const struct asked *asked,
	enum refusal outcome, const struct player *player, const struct transaction *entry,
	int64_t now_ms)
{
	struct request request = rows->request_key;

	CHECK(player);
	request.kind = asked->kind;
	request.outcome = outcome;
	request.amount = asked->amount;
	request.all = asked->all;
	text_copy(request.player_id, sizeof(request.player_id), player->player_id);
	if (entry) {
		request.entry_seq = entry->entry_seq;
		request.transaction_id = entry->transaction_id;
	}
	request.current_balance = player->balance;
	request.time_ms = now_ms;
	ws_append(ws, RECORD_REQUEST, &request);
}

/* Moves the amount and writes all its rows; fills @player and @entry. */
static enum refusal move_credit(struct ws *ws, const struct rows *rows, const struct asked *asked,
	int64_t now_ms, struct player *player, struct transaction *entry)
{
	struct movement movement = {
		.kind = asked->kind,
		.amount = asked->kind == ENTRY_TRANSFER_OUT ? -asked->amount : asked->amount,
		.time_ms = now_ms,
		.scope = rows->request_key.scope,
		.request_transaction_id = rows->request_key.request_transaction_id,
	};
	enum refusal refusal = post_move(ws, &movement, player, entry);

	if (refusal == REFUSAL_NONE)
		record_request(ws, rows, asked, REFUSAL_NONE, player, entry, now_ms);
	return refusal;
}

static void transfer_rows(const struct transfer_cmd *cmd, struct rows *rows)
{
	name_rows(rows, SCOPE_DEALER, cmd->casino_id, cmd->user_id, cmd->request_transaction_id);
}

void transfer_keys(const void *arg, struct ws *ws)
{
	struct rows rows;

	transfer_rows(arg, &rows);
	post_want(ws, rows.player_key.casino_id, rows.player_key.user_id);
	ws_want_new(ws, RECORD_REQUEST, &rows.request_key);
}

void transfer_answer(const struct request *stored, const struct dealer *dealer,
	struct transfer_result *result)
{
	money_t gain = stored->kind == ENTRY_TRANSFER_OUT ? -stored->amount : stored->amount;

	result->verdict.replay = true;
	result->verdict.refusal = stored->outcome;
	result->verdict.current_balance = stored->current_balance;
	if (stored->outcome != REFUSAL_NONE)
		return;
	result->amount = stored->amount;
	result->before_balance = stored->current_balance - gain;
	result->current_balance = stored->current_balance;
	result->transaction_id = stored->transaction_id;
	text_copy(result->player_id, sizeof(result->player_id), stored->player_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
}

/* Returns the member in which the repeated transfer differs from the stored one, or NULL. */
static const char *transfer_difference(const struct transfer_cmd *cmd, const struct player *player,
	const struct request *stored)
{
	/* A call for the whole balance names no amount. */
	const money_t amount = cmd->all ? stored->amount : cmd->amount;
	const char *differs = request_difference(stored, cmd->kind, player, amount);

	return !differs && stored->all != cmd->all ? "amount" : differs;
}

/* Returns the answer stored under the key, or a conflict. A sealed key refuses every transfer. */
static void transfer_replay(const struct transfer_cmd *cmd, const struct dealer *dealer,
	const struct player *player, const struct request *stored, struct transfer_result *result)
{
	const char *differs;

	if (request_is_sealed(stored)) {
		result->verdict.refusal = REFUSAL_TRANSACTION_SEALED;
		return;
	}
	differs = transfer_difference(cmd, player, stored);
	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
	transfer_answer(stored, dealer, result);
}

/* The movement itself, for a key that is new. */
static void transfer_new(const struct transfer_cmd *cmd, const struct rows *rows,
	const struct dealer *dealer, const struct player *stored, int64_t now_ms, struct ws *ws,
	struct transfer_result *result)
{
	const struct asked asked = {
		.kind = cmd->kind,
		.amount = cmd->all && stored ? stored->balance : cmd->amount,
		.all = cmd->all,
	};
	struct player player;
	struct transaction entry;
	enum refusal refusal = cmd->all ? transfer_decide_all(dealer, stored)
					: transfer_decide(dealer, stored, cmd->kind, cmd->amount);

	if (refusal == REFUSAL_INSUFFICIENT_BALANCE) {
		record_request(ws, rows, &asked, refusal, stored, NULL, now_ms);
		result->verdict.current_balance = stored->balance;
	}
	if (refusal == REFUSAL_NONE) {
		CHECK(stored);
		player = *stored;
		refusal = move_credit(ws, rows, &asked, now_ms, &player, &entry);
	}
	result->verdict.refusal = refusal;
	verdict_decimals(&result->verdict, "amount", cmd->amount, dealer);
	post_describe(ws, &result->verdict);
	if (refusal != REFUSAL_NONE)
		return;
	result->amount = asked.amount;
	result->before_balance = entry.before_balance;
	result->current_balance = entry.current_balance;
	result->transaction_id = entry.transaction_id;
	text_copy(result->player_id, sizeof(result->player_id), player.player_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
}

/* Repeats the checks of the edge, because the ledger does not trust a worker with the data. */
static bool transfer_sane(const struct transfer_cmd *cmd)
{
	const bool amount_sane = cmd->all ? cmd->kind == ENTRY_TRANSFER_OUT && cmd->amount == 0
					  : cmd->amount > 0 && cmd->amount <= MONEY_MAX;

	return (cmd->kind == ENTRY_TRANSFER_IN || cmd->kind == ENTRY_TRANSFER_OUT) && amount_sane &&
		external_id_valid(cmd->request_transaction_id) && external_id_valid(cmd->user_id);
}

void transfer_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct transfer_cmd *cmd = arg;
	struct transfer_result *result = out;
	const struct dealer *dealer;
	const struct player *player;
	const struct request *stored;
	struct rows rows;

	transfer_rows(cmd, &rows);
	dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	player = ws_get(ws, RECORD_PLAYER, &rows.player_key);
	stored = ws_get(ws, RECORD_REQUEST, &rows.request_key);
	text_copy(result->request_transaction_id, sizeof(result->request_transaction_id),
		cmd->request_transaction_id);
	text_copy(result->user_id, sizeof(result->user_id), cmd->user_id);
	if (!transfer_sane(cmd))
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
	else if (!dealer)
		result->verdict.refusal = REFUSAL_INVALID_SIGNATURE;
	else if (stored)
		transfer_replay(cmd, dealer, player, stored, result);
	else
		transfer_new(cmd, &rows, dealer, player, context->now.wall_ms, ws, result);
}

static void adjust_rows(const struct adjust_cmd *cmd, struct rows *rows)
{
	name_rows(rows, SCOPE_OPERATOR, cmd->casino_id, cmd->user_id, cmd->operator.operation_id);
}

void adjust_keys(const void *arg, struct ws *ws)
{
	const struct adjust_cmd *cmd = arg;
	struct rows rows;

	adjust_rows(cmd, &rows);
	want_rows(ws, &rows);
	audit_keys(ws, &cmd->operator);
	if (cmd->event)
		owed_want(ws, cmd->event);
}

/* Returns the callback for which the adjustment stands; NULL if there is none. */
static const struct callback *adjusted_callback(const struct adjust_cmd *cmd, struct ws *ws)
{
	_Static_assert(offsetof(struct callback, event) == 0, "the key comes first");
	return cmd->event ? ws_get(ws, RECORD_CALLBACK, &cmd->event) : NULL;
}

/* Returns the refusal of an adjustment that is to stand for @callback, of @player. */
static enum refusal refuse_callback(const struct adjust_cmd *cmd, const struct callback *callback,
	const struct player *player, struct verdict *verdict)
{
	char id[CALLBACK_EVENT_ID_SIZE];

	if (!callback || strcmp(callback->casino_id, cmd->casino_id) != 0)
		return REFUSAL_CALLBACK_NOT_FOUND;
	callback_event_id(callback->kind, callback->event, id);
	if (callback->adjusted_by)
		snprintf(verdict->detail, sizeof(verdict->detail),
			"the adjustment of transaction %llu stands for %s already",
			(unsigned long long)callback->adjusted_by, id);
	else if (callback->kind != CALLBACK_BETTING_RESULT)
		snprintf(verdict->detail, sizeof(verdict->detail), "%s is no betting-result", id);
	else if (callback->state != CALLBACK_PARKED)
		snprintf(verdict->detail, sizeof(verdict->detail),
			"%s is %s; an adjustment can stand only for one that is parked", id,
			callback_state_names[callback->state]);
	else if (!player || strcmp(callback->player_id, player->player_id) != 0)
		snprintf(verdict->detail, sizeof(verdict->detail), "%s is of another player", id);
	else
		return REFUSAL_NONE;
	return REFUSAL_NOT_ALLOWED_NOW;
}

/* From now on the callback is never sent again. */
static void mark_adjusted(struct ws *ws, const struct callback *stored, uint64_t transaction_id)
{
	struct callback callback = *stored;

	callback.adjusted_by = transaction_id;
	ws_put(ws, RECORD_CALLBACK, &callback);
}

static void adjust_replay(const struct adjust_cmd *cmd, const struct player *player,
	const struct request *stored, const struct callback *callback, struct adjust_result *result)
{
	const char *differs = request_difference(stored, ENTRY_ADJUST, player, cmd->amount);

	if (!differs && cmd->event &&
		(!callback || callback->adjusted_by != stored->transaction_id))
		differs = "for";

	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
	result->verdict.replay = true;
	result->amount = stored->amount;
	result->before_balance = stored->current_balance - stored->amount;
	result->current_balance = stored->current_balance;
	result->transaction_id = stored->transaction_id;
	text_copy(result->player_id, sizeof(result->player_id), stored->player_id);
}

static void adjust_new(const struct adjust_cmd *cmd, const struct rows *rows,
	const struct dealer *dealer, const struct player *stored,
	const struct apply_context *context, struct ws *ws, struct adjust_result *result)
{
	const struct asked asked = {.kind = ENTRY_ADJUST, .amount = cmd->amount};
	const struct callback *callback = adjusted_callback(cmd, ws);
	struct player player;
	struct transaction entry;
	char object[OBJECT_SIZE], detail[DETAIL_SIZE], amount[MONEY_TEXT_MAX];
	char event_id[CALLBACK_EVENT_ID_SIZE] = "";

	snprintf(object, sizeof(object), "player %s/%s", cmd->casino_id, cmd->user_id);
	if (audit_state(ws, &cmd->operator, ADJUST_ACTION, object, &result->verdict) != AUDIT_NEW)
		return;
	if (cmd->event)
		result->verdict.refusal = refuse_callback(cmd, callback, stored, &result->verdict);
	if (cmd->event && result->verdict.refusal == REFUSAL_NONE &&
		!owed_is(ws, callback, dealer, cmd->amount, &result->verdict))
		result->verdict.refusal = REFUSAL_NOT_ALLOWED_NOW;
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	result->verdict.refusal = adjust_decide(dealer, stored, cmd->amount, callback);
	if (result->verdict.refusal == REFUSAL_INSUFFICIENT_BALANCE)
		result->verdict.current_balance = stored->balance;
	verdict_decimals(&result->verdict, "amount", cmd->amount, dealer);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	player = *stored;
	result->verdict.refusal =
		move_credit(ws, rows, &asked, context->now.wall_ms, &player, &entry);
	post_describe(ws, &result->verdict);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	result->amount = cmd->amount;
	result->before_balance = entry.before_balance;
	result->current_balance = entry.current_balance;
	result->transaction_id = entry.transaction_id;
	text_copy(result->player_id, sizeof(result->player_id), player.player_id);
	if (callback) {
		mark_adjusted(ws, callback, entry.transaction_id);
		callback_event_id(callback->kind, callback->event, event_id);
	}
	money_format(cmd->amount, dealer->decimals, amount);
	snprintf(detail, sizeof(detail), "amount=%s transaction_id=%llu%s%s", amount,
		(unsigned long long)entry.transaction_id, callback ? " for=" : "", event_id);
	audit_write(ws, context, &cmd->operator, ADJUST_ACTION, object, detail);
}

void adjust_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct adjust_cmd *cmd = arg;
	struct adjust_result *result = out;
	const struct dealer *dealer;
	const struct player *player;
	const struct request *stored;
	struct rows rows;

	adjust_rows(cmd, &rows);
	dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	player = ws_get(ws, RECORD_PLAYER, &rows.player_key);
	stored = ws_get(ws, RECORD_REQUEST, &rows.request_key);
	if (!dealer)
		result->verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
	else if (stored)
		adjust_replay(cmd, player, stored, adjusted_callback(cmd, ws), result);
	else
		adjust_new(cmd, &rows, dealer, player, context, ws, result);
}
