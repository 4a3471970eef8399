/*
 * transfers - A1, A2 and the operator's adjustment: credit moves on the ledger.
 *
 * Both consume an idempotency key in the batch that moves the credit (contract, "Idempotency" and
 * "Consumption of keys"): the dealer's request_transaction_id, or the operator's operation_id.
 */
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

/* Writes the request key: the request and its outcome. @entry NULL: no credit moved. */
static void record_request(struct ws *ws, const struct rows *rows, enum entry_kind kind,
	money_t amount, enum refusal outcome, const struct player *player,
	const struct transaction *entry, int64_t now_ms)
{
	struct request request = rows->request_key;

	request.kind = kind;
	request.outcome = outcome;
	request.amount = amount;
	text_copy(request.player_id, sizeof(request.player_id), player->player_id);
	if (entry) {
		request.entry_seq = entry->entry_seq;
		request.transaction_id = entry->transaction_id;
	}
	request.current_balance = player->balance;
	request.time_ms = now_ms;
	ws_append(ws, RECORD_REQUEST, &request);
}

/* Moves @gain and writes all its rows; fills @player and @entry. */
static enum refusal move_credit(struct ws *ws, const struct rows *rows, enum entry_kind kind,
	money_t gain, money_t asked, int64_t now_ms, struct player *player,
	struct transaction *entry)
{
	struct movement movement = {
		.kind = kind,
		.amount = gain,
		.time_ms = now_ms,
		.scope = rows->request_key.scope,
		.request_transaction_id = rows->request_key.request_transaction_id,
	};
	enum refusal refusal = post_move(ws, &movement, player, entry);

	if (refusal == REFUSAL_NONE)
		record_request(ws, rows, kind, asked, REFUSAL_NONE, player, entry, now_ms);
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

/* Returns the answer stored under the key, or a conflict. */
static void transfer_replay(const struct transfer_cmd *cmd, const struct dealer *dealer,
	const struct player *player, const struct request *stored, struct transfer_result *result)
{
	const char *differs = request_difference(stored, cmd->kind, player, cmd->amount);
	money_t gain = cmd->kind == ENTRY_TRANSFER_OUT ? -stored->amount : stored->amount;

	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
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

/* The movement itself, for a key that is new. */
static void transfer_new(const struct transfer_cmd *cmd, const struct rows *rows,
	const struct dealer *dealer, const struct player *stored, int64_t now_ms, struct ws *ws,
	struct transfer_result *result)
{
	struct player player;
	struct transaction entry;
	enum refusal refusal = transfer_decide(dealer, stored, cmd->kind, cmd->amount);

	if (refusal == REFUSAL_INSUFFICIENT_BALANCE) {
		record_request(ws, rows, cmd->kind, cmd->amount, refusal, stored, NULL, now_ms);
		result->verdict.current_balance = stored->balance;
	}
	if (refusal == REFUSAL_NONE) {
		player = *stored;
		refusal = move_credit(ws, rows, cmd->kind,
			cmd->kind == ENTRY_TRANSFER_OUT ? -cmd->amount : cmd->amount, cmd->amount,
			now_ms, &player, &entry);
	}
	result->verdict.refusal = refusal;
	verdict_decimals(&result->verdict, "amount", cmd->amount, dealer);
	post_describe(ws, &result->verdict);
	if (refusal != REFUSAL_NONE)
		return;
	result->amount = cmd->amount;
	result->before_balance = entry.before_balance;
	result->current_balance = entry.current_balance;
	result->transaction_id = entry.transaction_id;
	text_copy(result->player_id, sizeof(result->player_id), player.player_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
}

/* Repeats the checks of the edge, because the ledger does not trust a worker with the data. */
static bool transfer_sane(const struct transfer_cmd *cmd)
{
	return (cmd->kind == ENTRY_TRANSFER_IN || cmd->kind == ENTRY_TRANSFER_OUT) &&
		cmd->amount > 0 && cmd->amount <= MONEY_MAX &&
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
}

static void adjust_replay(const struct adjust_cmd *cmd, const struct player *player,
	const struct request *stored, struct adjust_result *result)
{
	const char *differs = request_difference(stored, ENTRY_ADJUST, player, cmd->amount);

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
	struct player player;
	struct transaction entry;
	char object[OBJECT_SIZE], detail[DETAIL_SIZE], amount[MONEY_TEXT_MAX];

	snprintf(object, sizeof(object), "player %s/%s", cmd->casino_id, cmd->user_id);
	if (audit_state(ws, &cmd->operator, ADJUST_ACTION, object, &result->verdict) != AUDIT_NEW)
		return;
	result->verdict.refusal = adjust_decide(dealer, stored, cmd->amount);
	if (result->verdict.refusal == REFUSAL_INSUFFICIENT_BALANCE)
		result->verdict.current_balance = stored->balance;
	verdict_decimals(&result->verdict, "amount", cmd->amount, dealer);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	player = *stored;
	result->verdict.refusal = move_credit(ws, rows, ENTRY_ADJUST, cmd->amount, cmd->amount,
		context->now.wall_ms, &player, &entry);
	post_describe(ws, &result->verdict);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	result->amount = cmd->amount;
	result->before_balance = entry.before_balance;
	result->current_balance = entry.current_balance;
	result->transaction_id = entry.transaction_id;
	text_copy(result->player_id, sizeof(result->player_id), player.player_id);
	money_format(cmd->amount, dealer->decimals, amount);
	snprintf(detail, sizeof(detail), "amount=%s transaction_id=%llu", amount,
		(unsigned long long)entry.transaction_id);
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
		adjust_replay(cmd, player, stored, result);
	else
		adjust_new(cmd, &rows, dealer, player, context, ws, result);
}
