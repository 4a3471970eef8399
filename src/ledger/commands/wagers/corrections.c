/*
 * corrections - changes the result of a settled round (contract, "Corrections").
 *
 * In a transfer wallet the difference moves here. In a seamless wallet a further B3 raises the
 * payout, and B5 lowers it. A round has one correction after the other: each names the revision that
 * it makes, and waits until the callback of the one before has ended.
 */
#include "domain/wager.h"
#include "base/check.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/wagers/correction_change.h"
#include "ledger/commands/wagers/corrections.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/decimals.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/post.h"
#include "ledger/rows/resolve_player.h"
#include "wire/callback_body.h"

static struct request correct_request(const struct round_correct_cmd *cmd)
{
	if (correction_by_operator(cmd))
		return request_named(SCOPE_OPERATOR, cmd->player.casino_id,
			cmd->request_transaction_id);
	return request_named(SCOPE_CLIENT, cmd->client_id, cmd->request_transaction_id);
}

void round_correct_keys(const void *arg, struct ws *ws)
{
	const struct round_correct_cmd *cmd = arg;
	struct request request = correct_request(cmd);
	struct correction correction;
	const struct correction *made;
	const struct dealer *dealer;
	const struct round *round;
	struct round round_key;
	struct player key;

	ws_want(ws, RECORD_REQUEST, &request);
	if (!resolve_player_want(ws, &cmd->player, &key) || !ws_get(ws, RECORD_PLAYER, &key))
		return;
	round_key = round_named(((const struct player *)ws_get(ws, RECORD_PLAYER, &key))->player_id,
		cmd->game_id);
	ws_want(ws, RECORD_ROUND, &round_key);
	if (!ws_loaded(ws, RECORD_ROUND, &round_key))
		return;
	round = ws_get(ws, RECORD_ROUND, &round_key);
	if (!round || round->state != ROUND_SETTLED)
		return;
	outbox_want_new(ws);
	correction = correction_named(round->player_id, round->game_id, cmd->revision);
	ws_want(ws, RECORD_CORRECTION, &correction);
	/* Of a repeated request: its callback may be older than the last one of the round. */
	made = ws_loaded(ws, RECORD_CORRECTION, &correction)
		? ws_get(ws, RECORD_CORRECTION, &correction)
		: NULL;
	if (made && made->event)
		outbox_want_grant(ws, made->event);
	if (round->last_event)
		outbox_want_grant(ws, round->last_event);
	correction_want_bets(ws, round, cmd->result);
	dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(round->casino_id));
	if (dealer)
		outbox_want_age(ws, dealer, round);
}

static void record_correct(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct correction *row, const struct player *player, const struct transaction *entry)
{
	struct request request = correct_request(cmd);

	request.kind = ENTRY_CORRECTION;
	request.amount = entry->entry_seq ? entry->amount : 0;
	memcpy(request.player_id, row->player_id, sizeof(request.player_id));
	request.entry_seq = entry->entry_seq;
	request.transaction_id = row->transaction_id;
	request.current_balance = player->balance;
	request.time_ms = row->time_ms;
	memcpy(request.game_id, row->game_id, sizeof(request.game_id));
	request.bet_number = row->revision;
	ws_append(ws, RECORD_REQUEST, &request);
}

static struct correction correction_row(const struct round_correct_cmd *cmd,
	const struct round *round, const struct correction_change *change, int64_t now_ms)
{
	struct correction row = correction_named(round->player_id, round->game_id, cmd->revision);

	memcpy(row.casino_id, round->casino_id, sizeof(row.casino_id));
	row.scope = correction_by_operator(cmd) ? SCOPE_OPERATOR : SCOPE_CLIENT;
	text_copy(row.client_id, sizeof(row.client_id), cmd->client_id);
	text_copy(row.request_transaction_id, sizeof(row.request_transaction_id),
		cmd->request_transaction_id);
	row.previous_result = round->current_result;
	row.previous_payout = round->current_payout;
	row.result = change->settlement.result;
	row.payout_amount = change->settlement.payout_amount;
	row.shortfall = change->shortfall;
	row.allow_shortfall = cmd->allow_shortfall;
	row.time_ms = now_ms;
	text_copy(row.reason, sizeof(row.reason), cmd->reason);
	row.game_result = cmd->game_result;
	row.user_bet_result = cmd->user_bet_result;
	return row;
}

/* A transfer wallet: moves the difference, and adds the shortfall to the dealer's sums. */
static enum refusal move_difference(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct correction_change *change, const struct player *stored, struct correction *row)
{
	struct player player = *stored;
	struct transaction entry = {.entry_seq = 0};
	struct movement movement = {
		.kind = ENTRY_CORRECTION,
		.amount = change->moved,
		.time_ms = row->time_ms,
		.scope = row->scope,
		.request_transaction_id = cmd->request_transaction_id,
		.client_id = correction_by_operator(cmd) ? NULL : cmd->client_id,
		.game_id = row->game_id,
		.bet_number = row->revision,
	};
	enum refusal refusal = REFUSAL_NONE;

	if (change->moved) {
		refusal = post_move(ws, &movement, &player, &entry);
		row->transaction_id = entry.transaction_id;
	} else {
		row->transaction_id = post_transaction(ws, stored, ENTRY_CORRECTION, row->game_id,
			row->revision, row->time_ms);
		refusal = row->transaction_id ? REFUSAL_NONE : REFUSAL_SERVICE_UNAVAILABLE;
	}
	if (refusal != REFUSAL_NONE)
		return refusal;
	post_shortfall(ws, row->casino_id, change->shortfall);
	record_correct(ws, cmd, row, &player, &entry);
	return REFUSAL_NONE;
}

/* A seamless wallet: opens B3 or B5. Returns false if memory is exhausted. */
static bool open_callback(struct ws *ws, const struct apply_context *context,
	const struct resolved_player *subject, const struct round *round, money_t moved,
	struct correction *row)
{
	const struct outbox_subject of = {
		.dealer = subject->dealer,
		.player_id = round->player_id,
		.game_id = round->game_id,
		.revision = row->revision,
	};
	struct correction_win_body win;
	struct correction_body decrease;

	if (moved > 0) {
		correction_win_fill(&win, round, row);
		row->event = outbox_open(ws, context, CALLBACK_BETTING_RESULT, &of, 0, &win);
	} else if (moved < 0) {
		correction_body_fill(&decrease, round, row);
		row->event =
			outbox_open(ws, context, CALLBACK_BETTING_CORRECTION, &of, 0, &decrease);
	}
	return row->event || !moved;
}

/* A seamless wallet: the dealer is asked to move the difference. */
static enum refusal send_difference(struct ws *ws, const struct apply_context *context,
	const struct round_correct_cmd *cmd, const struct resolved_player *subject,
	const struct round *round, const struct correction_change *change, struct correction *row,
	struct callback_grant *send)
{
	const struct transaction none = {.entry_seq = 0};

	if (cmd->game_result.len + cmd->user_bet_result.len > OUTBOX_OBJECTS_MAX)
		return REFUSAL_PAYLOAD_TOO_LARGE;
	row->transaction_id = post_transaction(ws, subject->player, ENTRY_CORRECTION, row->game_id,
		row->revision, row->time_ms);
	if (!row->transaction_id)
		return REFUSAL_SERVICE_UNAVAILABLE;
	if (!open_callback(ws, context, subject, round, change->moved, row)) {
		ws_fail(ws, "a correction without a body");
		return REFUSAL_INTERNAL_ERROR;
	}
	post_seamless(ws, row->casino_id,
		&(struct seamless_change){
			.paid = change->delta,
			.owed_payouts = change->moved > 0 ? change->moved : 0,
		});
	post_shortfall(ws, row->casino_id, change->shortfall);
	if (row->event) {
		post_open_bets(ws, row->casino_id, 1);
		/* The sweeper sends what no worker waits for. */
		if (!outbox_hold_old(ws, context, subject->dealer, round, row->event) &&
			cmd->sender)
			outbox_begin(ws, context, subject->dealer, row->event, cmd->sender, send);
	}
	record_correct(ws, cmd, row, subject->player, &none);
	return REFUSAL_NONE;
}

static void answer_correction(struct ws *ws, const struct correction *row,
	struct round_correct_result *result)
{
	struct delivery delivery;

	result->transaction_id = row->transaction_id;
	result->revision = row->revision;
	result->previous_result = row->previous_result;
	result->delta = row->payout_amount - row->previous_payout;
	result->shortfall = row->shortfall;
	result->payout_amount = row->payout_amount;
	result->event = row->event;
	if (!row->event || !outbox_find(ws, row->event, &delivery))
		return;
	result->callback_state = delivery.callback.state;
	result->callback_attempts = delivery.callback.attempts;
}

/* Makes the correction, or with @preview answers what it would do. */
static enum refusal correct_round(struct ws *ws, const struct apply_context *context,
	const struct round_correct_cmd *cmd, bool preview, const struct resolved_player *subject,
	const struct round *stored, struct round_correct_result *result)
{
	struct round round;
	struct correction_change change;
	struct correction row;
	enum refusal refusal = correction_prepare(ws, cmd, subject, stored, &change, result);

	if (refusal != REFUSAL_NONE)
		return refusal;
	CHECK(stored); /* a round that does not exist is refused */
	row = correction_row(cmd, stored, &change, context->now.wall_ms);
	if (preview) {
		answer_correction(ws, &row, result);
		return REFUSAL_NONE;
	}
	refusal = stored->mode == WALLET_TRANSFER
		? move_difference(ws, cmd, &change, subject->player, &row)
		: send_difference(ws, context, cmd, subject, stored, &change, &row, &result->send);
	if (refusal == REFUSAL_PAYLOAD_TOO_LARGE)
		outbox_too_large(&result->verdict);
	if (refusal != REFUSAL_NONE)
		return refusal;
	correction_count(ws, stored, &change);
	round = *stored;
	round.revision = row.revision;
	round.current_result = row.result;
	round.current_payout = row.payout_amount;
	round.shortfall += row.shortfall;
	if (row.event)
		round.last_event = row.event;
	ws_put(ws, RECORD_ROUND, &round);
	ws_append(ws, RECORD_CORRECTION, &row);
	answer_correction(ws, &row, result);
	return REFUSAL_NONE;
}

/* Returns the member in which the repeated request differs, or NULL. */
static const char *correction_difference(const struct round_correct_cmd *cmd,
	const struct request *stored, const struct player *player, const struct correction *row)
{
	if (stored->kind != ENTRY_CORRECTION)
		return "operation";
	if (!player || strcmp(stored->player_id, player->player_id) != 0)
		return "player";
	if (strcmp(stored->game_id, cmd->game_id) != 0)
		return "game_id";
	if (!row || stored->bet_number != cmd->revision)
		return "revision";
	if (row->result != cmd->result)
		return "result";
	/* A caller may leave the payout of a refund to the ledger: 0. */
	if (row->payout_amount != cmd->payout_amount &&
		!(cmd->result == RESULT_REFUND && cmd->payout_amount == 0))
		return "payout_amount";
	return row->allow_shortfall == cmd->allow_shortfall ? NULL : "allow_shortfall";
}

static bool correction_is_sane(const struct round_correct_cmd *cmd)
{
	return cmd->result != RESULT_NONE && cmd->payout_amount >= 0 &&
		cmd->payout_amount <= MONEY_MAX && cmd->revision > 0 &&
		external_id_valid(cmd->game_id) && external_id_valid(cmd->request_transaction_id);
}

/* Answers a repeated request. */
static void correct_replay(struct ws *ws, const struct apply_context *context,
	const struct round_correct_cmd *cmd, const struct request *stored,
	const struct resolved_player *subject, const struct round *round,
	struct round_correct_result *result)
{
	struct correction key;
	const struct correction *row = NULL;
	const char *differs;

	if (round && cmd->revision <= round->revision) {
		key = correction_named(round->player_id, round->game_id, cmd->revision);
		row = ws_get(ws, RECORD_CORRECTION, &key);
	}
	differs = correction_difference(cmd, stored, subject->player, row);
	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
	/* The same call, whose answer was lost: the caller must still send the callback. */
	result->verdict.replay = !row->event || row->event != round->last_event ||
		!subject->dealer ||
		!outbox_grant_again(ws, context, subject->dealer, row->event, cmd->sender,
			&result->send);
	answer_correction(ws, row, result);
}

void round_correct_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct round_correct_cmd *cmd = arg;
	struct round_correct_result *result = out;

	if (text_is_name(cmd->client_id, CLIENT_ID_SIZE - 1))
		correction_apply(cmd, false, context, ws, result);
	else
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
}

void correction_apply(const struct round_correct_cmd *cmd, bool preview,
	const struct apply_context *context, struct ws *ws, struct round_correct_result *result)
{
	struct request request_key = correct_request(cmd);
	const struct request *stored = ws_get(ws, RECORD_REQUEST, &request_key);
	const struct round *round = NULL;
	struct resolved_player subject;
	struct round round_key;
	enum refusal refusal;

	if (!correction_is_sane(cmd)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	refusal = resolve_player(ws, &cmd->player, &subject);
	if (subject.player) {
		round_key = round_named(subject.player->player_id, cmd->game_id);
		round = ws_get(ws, RECORD_ROUND, &round_key);
	}
	if (stored) {
		correct_replay(ws, context, cmd, stored, &subject, round, result);
		return;
	}
	if (refusal == REFUSAL_NONE)
		refusal = correct_round(ws, context, cmd, preview, &subject, round, result);
	result->verdict.refusal = refusal;
	if (!subject.dealer)
		return;
	verdict_decimals(&result->verdict, "payout_amount", cmd->payout_amount, subject.dealer);
	post_describe(ws, &result->verdict);
}
