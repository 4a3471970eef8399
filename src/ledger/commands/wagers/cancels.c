/*
 * cancels - group C: one bet of an open round is cancelled (contract, "Cancelled bets").
 *
 * In a transfer wallet the stake is credited back. In a seamless wallet B4 returns it. A key that no
 * bet has used yet is recorded as refused, so that a late bet call cannot land.
 */
#include "base/check.h"
#include "domain/wager.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/player_stats.h"
#include "ledger/rows/post.h"
#include "ledger/rows/resolve_player.h"
#include "ledger/rows/round_bet.h"

static struct request cancel_request(const struct bet_cancel_cmd *cmd)
{
	return request_named(SCOPE_CLIENT, cmd->client_id, cmd->request_transaction_id);
}

/* The idempotency key under which the bet was placed. */
static struct request placed_request(const struct bet_cancel_cmd *cmd)
{
	return request_named(SCOPE_CLIENT, cmd->client_id, cmd->bet_request_transaction_id);
}

/* Declares the bet with the rows that its cancellation changes. */
static void want_bet(struct ws *ws, const struct request *placed)
{
	struct bet key = bet_named(placed->player_id, placed->game_id, placed->bet_number);
	struct cancellation cancellation;
	const struct bet *bet;

	memset(&cancellation, 0, sizeof(cancellation));
	memcpy(cancellation.player_id, key.player_id, sizeof(cancellation.player_id));
	memcpy(cancellation.game_id, key.game_id, sizeof(cancellation.game_id));
	cancellation.number = key.number;
	ws_want(ws, RECORD_BET, &key);
	ws_want(ws, RECORD_CANCELLATION, &cancellation);
	bet = ws_loaded(ws, RECORD_BET, &key) ? ws_get(ws, RECORD_BET, &key) : NULL;
	if (!bet)
		return;
	player_stats_want(ws, bet->player_id, bet->day);
	if (bet->refund_event)
		outbox_want_grant(ws, bet->refund_event);
}

void bet_cancel_keys(const void *arg, struct ws *ws)
{
	const struct bet_cancel_cmd *cmd = arg;
	struct request request = cancel_request(cmd), placed_key = placed_request(cmd);
	const struct request *placed;
	struct round round;
	struct player key;

	ws_want(ws, RECORD_REQUEST, &request);
	ws_want(ws, RECORD_REQUEST, &placed_key);
	placed = ws_loaded(ws, RECORD_REQUEST, &placed_key)
		? ws_get(ws, RECORD_REQUEST, &placed_key)
		: NULL;
	if (placed && placed->kind == ENTRY_BET && placed->bet_number) {
		round = round_named(placed->player_id, placed->game_id);
		ws_want(ws, RECORD_ROUND, &round);
		want_bet(ws, placed);
	}
	resolve_player_want(ws, &cmd->player, &key);
	outbox_want_new(ws);
}

/* Returns the member in which the command disagrees with the bet's own key, or NULL. */
static const char *bet_key_difference(const struct bet_cancel_cmd *cmd,
	const struct request *placed, const struct player *player)
{
	if (placed->kind != ENTRY_BET && placed->kind != ENTRY_BET_CANCEL)
		return "bet_request_transaction_id";
	/* The key of another cancellation is no key of a bet. */
	if (placed->kind == ENTRY_BET_CANCEL && placed->outcome != REFUSAL_BET_CANCELLED)
		return "bet_request_transaction_id";
	if (strcmp(placed->player_id, player->player_id) != 0)
		return "player";
	return strcmp(placed->game_id, cmd->game_id) == 0 ? NULL : "game_id";
}

static const struct bet *placed_bet(struct ws *ws, const struct request *placed)
{
	struct bet key = bet_named(placed->player_id, placed->game_id, placed->bet_number);

	return placed->bet_number ? ws_get(ws, RECORD_BET, &key) : NULL;
}

/* Writes the key of the cancellation. @movement: of the returned stake, or NULL. */
static void record_cancel(struct ws *ws, const struct bet_cancel_cmd *cmd,
	const struct player *player, const struct bet *bet, const struct transaction *movement,
	int64_t now_ms)
{
	struct request request = cancel_request(cmd);

	CHECK(player);
	request.kind = ENTRY_BET_CANCEL;
	text_copy(request.player_id, sizeof(request.player_id), player->player_id);
	request.current_balance = player->balance;
	request.time_ms = now_ms;
	text_copy(request.game_id, sizeof(request.game_id), cmd->game_id);
	request.bet_number = bet ? bet->number : 0;
	if (movement) {
		request.amount = movement->amount;
		request.entry_seq = movement->entry_seq;
		request.transaction_id = movement->transaction_id;
	}
	ws_append(ws, RECORD_REQUEST, &request);
}

/* Records the unused key of the bet as refused for ever. */
static void record_unused_key(struct ws *ws, const struct bet_cancel_cmd *cmd,
	const struct player *player, int64_t now_ms)
{
	struct request request = placed_request(cmd);

	request.kind = ENTRY_BET_CANCEL;
	request.outcome = REFUSAL_BET_CANCELLED;
	text_copy(request.player_id, sizeof(request.player_id), player->player_id);
	request.current_balance = player->balance;
	request.time_ms = now_ms;
	text_copy(request.game_id, sizeof(request.game_id), cmd->game_id);
	ws_append(ws, RECORD_REQUEST, &request);
}

static void record_cancellation(struct ws *ws, const struct bet_cancel_cmd *cmd,
	const struct bet *bet, uint64_t transaction_id)
{
	struct cancellation row;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, bet->player_id, sizeof(row.player_id));
	memcpy(row.game_id, bet->game_id, sizeof(row.game_id));
	row.number = bet->number;
	memcpy(row.casino_id, bet->casino_id, sizeof(row.casino_id));
	text_copy(row.client_id, sizeof(row.client_id), cmd->client_id);
	text_copy(row.request_transaction_id, sizeof(row.request_transaction_id),
		cmd->request_transaction_id);
	row.transaction_id = transaction_id;
	row.time_ms = bet->changed_ms;
	text_copy(row.reason, sizeof(row.reason), cmd->reason);
	ws_append(ws, RECORD_CANCELLATION, &row);
}

/* A transfer wallet: the stake is credited back. */
static enum refusal return_stake(struct ws *ws, const struct bet_cancel_cmd *cmd,
	const struct player *stored, struct bet *bet)
{
	struct player player = *stored;
	struct transaction entry;
	struct movement movement = {
		.kind = ENTRY_BET_CANCEL,
		.amount = bet->bet_amount,
		.time_ms = bet->changed_ms,
		.scope = SCOPE_CLIENT,
		.request_transaction_id = cmd->request_transaction_id,
		.client_id = cmd->client_id,
		.game_id = bet->game_id,
		.bet_number = bet->number,
	};
	const enum refusal refusal = post_move(ws, &movement, &player, &entry);

	if (refusal != REFUSAL_NONE)
		return refusal;
	post_open_bets(ws, bet->casino_id, -1);
	record_cancellation(ws, cmd, bet, entry.transaction_id);
	record_cancel(ws, cmd, &player, bet, &entry, bet->changed_ms);
	return REFUSAL_NONE;
}

/* A seamless wallet: B4 returns the stake, without the delay of a refund after a timeout. */
static enum refusal refund_stake(struct ws *ws, const struct apply_context *context,
	const struct bet_cancel_cmd *cmd, const struct resolved_player *subject,
	const struct round *round, struct bet *bet, struct callback_grant *send)
{
	if (!outbox_open_refund(ws, context, subject->dealer, round, bet, 0)) {
		ws_fail(ws, "a betting-refund without a body");
		return REFUSAL_INTERNAL_ERROR;
	}
	outbox_begin(ws, context, subject->dealer, bet->refund_event, cmd->sender, send);
	post_seamless(ws, bet->casino_id,
		&(struct seamless_change){
			.staked = -bet->bet_amount,
			.refunded = bet->bet_amount,
			.owed_refunds = bet->bet_amount,
		});
	record_cancellation(ws, cmd, bet, 0);
	record_cancel(ws, cmd, subject->player, bet, NULL, bet->changed_ms);
	return REFUSAL_NONE;
}

/* Cancels an accepted bet of an open round. */
static enum refusal cancel_bet(struct ws *ws, const struct apply_context *context,
	const struct bet_cancel_cmd *cmd, const struct resolved_player *subject,
	const struct bet *stored, struct bet_cancel_result *result)
{
	struct round key = round_named(stored->player_id, stored->game_id);
	const struct round *round = ws_get(ws, RECORD_ROUND, &key);
	const bool seamless = stored->mode == WALLET_SEAMLESS;
	struct bet bet = *stored;
	enum refusal refusal;

	if (!round ||
		!bet_move(&bet, seamless ? BET_REFUNDING : BET_REFUNDED, context->now.wall_ms)) {
		ws_fail(ws, "an accepted bet that cannot be refunded");
		return REFUSAL_INTERNAL_ERROR;
	}
	bet.cancelled = true;
	refusal = seamless ? refund_stake(ws, context, cmd, subject, round, &bet, &result->send)
			   : return_stake(ws, cmd, subject->player, &bet);
	if (refusal != REFUSAL_NONE)
		return refusal;
	ws_put(ws, RECORD_BET, &bet);
	round_bet_update(ws, round, &bet);
	player_stats_cancellation(ws, &bet);
	result->transaction_id = bet.transaction_id;
	result->state = bet.state;
	return REFUSAL_NONE;
}

/* Answers with the state of the bet. A key that no bet has used counts as a rejected bet. */
static void answer_state(const struct bet *bet, struct bet_cancel_result *result)
{
	result->transaction_id = bet ? bet->transaction_id : 0;
	result->state = bet ? bet->state : BET_REJECTED;
}

/* Decides about a cancellation whose key is new. */
static enum refusal apply_cancel(struct ws *ws, const struct apply_context *context,
	const struct bet_cancel_cmd *cmd, const struct resolved_player *subject,
	const struct request *placed, struct bet_cancel_result *result)
{
	const struct bet *bet = placed ? placed_bet(ws, placed) : NULL;

	CHECK(subject->player);
	if (bet && bet->state == BET_PENDING)
		return REFUSAL_BET_IN_PROGRESS;
	if (bet && bet->state == BET_SETTLED)
		return REFUSAL_ALREADY_SETTLED;
	if (bet && bet->state == BET_ACCEPTED)
		return cancel_bet(ws, context, cmd, subject, bet, result);
	if (!placed)
		record_unused_key(ws, cmd, subject->player, context->now.wall_ms);
	record_cancel(ws, cmd, subject->player, bet, NULL, context->now.wall_ms);
	answer_state(bet, result);
	return REFUSAL_NONE;
}

/* Returns the member in which the repeated request differs, or NULL. */
static const char *cancel_difference(const struct bet_cancel_cmd *cmd, const struct request *stored,
	const struct request *placed, const struct player *player)
{
	if (stored->kind != ENTRY_BET_CANCEL || stored->outcome != REFUSAL_NONE)
		return "operation";
	if (!player || strcmp(stored->player_id, player->player_id) != 0)
		return "player";
	if (strcmp(stored->game_id, cmd->game_id) != 0)
		return "game_id";
	if (!placed || placed->bet_number != stored->bet_number ||
		strcmp(placed->game_id, stored->game_id) != 0)
		return "bet_request_transaction_id";
	return bet_key_difference(cmd, placed, player);
}

static void answer_replay(struct ws *ws, const struct apply_context *context,
	const struct bet_cancel_cmd *cmd, const struct resolved_player *subject,
	const struct request *placed, struct bet_cancel_result *result)
{
	const struct bet *bet = placed_bet(ws, placed);

	/* The same call, whose answer was lost: the caller must still send the callback. */
	result->verdict.replay = !bet || !bet->refund_event || !subject->dealer ||
		!outbox_grant_again(ws, context, subject->dealer, bet->refund_event, cmd->sender,
			&result->send);
	answer_state(bet, result);
}

/* Repeats the checks of the edge. */
static bool cancel_is_sane(const struct bet_cancel_cmd *cmd)
{
	return external_id_valid(cmd->request_transaction_id) &&
		external_id_valid(cmd->bet_request_transaction_id) &&
		strcmp(cmd->request_transaction_id, cmd->bet_request_transaction_id) != 0 &&
		external_id_valid(cmd->game_id) && text_is_name(cmd->client_id, CLIENT_ID_SIZE - 1);
}

void bet_cancel_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct bet_cancel_cmd *cmd = arg;
	struct bet_cancel_result *result = out;
	struct request key = cancel_request(cmd), placed_key = placed_request(cmd);
	const struct request *stored, *placed;
	struct resolved_player subject;
	const char *differs = NULL;
	enum refusal refusal;

	if (!cancel_is_sane(cmd)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	stored = ws_get(ws, RECORD_REQUEST, &key);
	placed = ws_get(ws, RECORD_REQUEST, &placed_key);
	refusal = resolve_player(ws, &cmd->player, &subject);
	if (stored)
		differs = cancel_difference(cmd, stored, placed, subject.player);
	else if (placed && subject.player)
		differs = bet_key_difference(cmd, placed, subject.player);
	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
	if (stored) {
		answer_replay(ws, context, cmd, &subject, placed, result);
		return;
	}
	if (refusal == REFUSAL_NONE)
		refusal = apply_cancel(ws, context, cmd, &subject, placed, result);
	result->verdict.refusal = refusal;
	post_describe(ws, &result->verdict);
}
