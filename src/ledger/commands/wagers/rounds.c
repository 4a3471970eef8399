/*
 * rounds - group C: a round is settled.
 *
 * All accepted bets of the player in the game are settled together, once. In a transfer wallet the
 * payout is credited on the ledger. In a seamless wallet B3 reports it to the dealer. The ledger
 * computes the total stake itself and does not trust the caller.
 */
#include "domain/round_list.h"
#include "domain/wager.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/wagers/rounds.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/decimals.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/player_stats.h"
#include "ledger/rows/post.h"
#include "ledger/rows/resolve_player.h"
#include "wire/callback_body.h"

#include <stdio.h>

/* The key of an item of a batch is in a scope of its own (enum request_scope). */
static struct request settle_request(const struct round_settle_cmd *cmd)
{
	char id[REQUEST_KEY_SIZE];

	if (cmd->item) {
		snprintf(id, sizeof(id), "%s#%u", cmd->request_transaction_id,
			(cmd->item - 1) % BATCH_RESULTS_MAX);
		return request_named(SCOPE_BATCH, cmd->client_id, id);
	}
	return request_named(SCOPE_CLIENT, cmd->client_id, cmd->request_transaction_id);
}

/* Declares the totals of the day of the bet. */
static void want_tally(struct ws *ws, const struct bet *key)
{
	const struct bet *bet = ws_get(ws, RECORD_BET, key);

	if (bet)
		player_stats_want(ws, bet->player_id, bet->day);
}

/*
 * Returns the refusal of the result as far as the row of the round decides it; REFUSAL_NONE if its
 * bets decide.
 */
static enum refusal row_refusal(const struct round_settle_cmd *cmd, const struct dealer *dealer,
	const struct player *player, const struct round *round)
{
	struct settlement settlement = {.bets = 0};
	enum refusal refusal;

	if (!round || strcmp(round->client_id, cmd->client_id) != 0)
		return REFUSAL_GAME_NOT_FOUND;
	if (round->state == ROUND_SETTLED)
		return REFUSAL_ALREADY_SETTLED;
	if (!money_has_decimals(cmd->payout_amount, dealer->decimals))
		return REFUSAL_INVALID_AMOUNT;
	settlement.bets = round_list_count(round);
	settlement.bet_amount = round->staked;
	if (settlement.bets && round_list_waits(round) < settlement.bets)
		return REFUSAL_NONE;
	/* All bets are accepted, so their total stake is known. */
	refusal = settlement_close(&settlement, cmd->result, cmd->payout_amount);
	if (refusal != REFUSAL_NONE)
		return refusal;
	if (round->mode == WALLET_SEAMLESS)
		return cmd->user_bet.len + cmd->game_result.len + cmd->user_bet_result.len >
				OUTBOX_OBJECTS_MAX
			? REFUSAL_PAYLOAD_TOO_LARGE
			: REFUSAL_NONE;
	return settlement.payout_amount > MONEY_MAX - player->balance ? REFUSAL_BALANCE_LIMIT
								      : REFUSAL_NONE;
}

static const struct bet *listed_bet(struct ws *ws, const struct round *round, uint32_t at)
{
	struct bet key = bet_named(round->player_id, round->game_id, round_list_at(round, at));

	return ws_get(ws, RECORD_BET, &key);
}

/* Returns true if the first bet that is not known to be accepted is PENDING. */
static bool is_in_progress(struct ws *ws, const struct round *round)
{
	const uint32_t first = round_list_waits(round);
	const struct bet *bet =
		first < round_list_count(round) ? listed_bet(ws, round, first) : NULL;

	return bet && bet->state == BET_PENDING;
}

/*
 * Declares the bets of a round, first the one that may still be PENDING: if it is, the others are
 * not needed. A settlement reads no user_bet: it would load up to 1 MiB.
 */
static void want_bets(struct ws *ws, const struct round *round)
{
	const uint32_t first = round_list_waits(round), count = round_list_count(round);
	struct bet bet;

	if (first < count) {
		bet = bet_named(round->player_id, round->game_id, round_list_at(round, first));
		ws_want_without_object(ws, RECORD_BET, &bet);
		if (!ws_loaded(ws, RECORD_BET, &bet) || is_in_progress(ws, round))
			return;
	}
	for (uint32_t at = 0; at < count; at++) {
		bet = bet_named(round->player_id, round->game_id, round_list_at(round, at));
		ws_want_without_object(ws, RECORD_BET, &bet);
		if (ws_loaded(ws, RECORD_BET, &bet))
			want_tally(ws, &bet);
	}
}

/* Subtracts the bets of the round from @left. Returns false, without effect, if it has more. */
static bool take_bets(const struct round *round, uint32_t *left)
{
	const uint32_t count = round ? round_list_count(round) : 0;

	if (count > *left)
		return false;
	*left -= count;
	return true;
}

const struct round *settle_want(const struct round_settle_cmd *cmd, struct ws *ws,
	uint32_t *bets_left)
{
	const struct player *player;
	const struct round *round;
	const struct dealer *dealer;
	struct player key;
	struct round round_key;

	if (!resolve_player_want(ws, &cmd->player, &key))
		return NULL;
	player = ws_get(ws, RECORD_PLAYER, &key);
	if (!player)
		return NULL;
	round_key = round_named(player->player_id, cmd->game_id);
	ws_want(ws, RECORD_ROUND, &round_key);
	if (!ws_loaded(ws, RECORD_ROUND, &round_key))
		return NULL;
	outbox_want_new(ws);
	round = ws_get(ws, RECORD_ROUND, &round_key);
	dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(player->casino_id));
	if (take_bets(round, bets_left) && dealer &&
		row_refusal(cmd, dealer, player, round) == REFUSAL_NONE) {
		outbox_want_age(ws, dealer, round);
		want_bets(ws, round);
	}
	return round;
}

void round_settle_keys(const void *arg, struct ws *ws)
{
	const struct round_settle_cmd *cmd = arg;
	struct request request = settle_request(cmd);
	uint32_t bets_left = ROUND_BETS_MAX;
	const struct round *round;

	ws_want(ws, RECORD_REQUEST, &request);
	round = settle_want(cmd, ws, &bets_left);
	if (round && round->event)
		outbox_want_grant(ws, round->event);
}

static void answer_settlement(struct ws *ws, const struct round *round,
	struct round_settle_result *result)
{
	struct delivery delivery;

	result->transaction_id = round->transaction_id;
	result->bet_amount = round->bet_amount;
	result->addition_amount = round->addition_amount;
	result->win_amount = round->win_amount;
	result->payout_amount = round->payout_amount;
	result->event = round->event;
	result->callback_state = CALLBACK_DELIVERED;
	if (!round->event || !outbox_find(ws, round->event, &delivery))
		return;
	result->callback_state = delivery.callback.state;
	result->callback_attempts = delivery.callback.attempts;
}

/* Returns the member in which the repeated request differs from the settled round, or NULL. */
static const char *settlement_difference(const struct round_settle_cmd *cmd,
	const struct request *stored, const struct player *player, const struct round *round)
{
	if (stored->kind != ENTRY_PAYOUT)
		return "operation";
	if (!player || strcmp(stored->player_id, player->player_id) != 0)
		return "player";
	if (strcmp(stored->game_id, cmd->game_id) != 0)
		return "game_id";
	if (!round || round->result != cmd->result)
		return "result";
	/* A caller may leave the payout of a refund to the ledger: 0. */
	if (cmd->result == RESULT_REFUND && cmd->payout_amount == 0)
		return NULL;
	return stored->amount == cmd->payout_amount ? NULL : "payout_amount";
}

/* Adds up the bets of the round. */
static enum refusal sum_bets(struct ws *ws, const struct round *round,
	const struct round_settle_cmd *cmd, struct settlement *settlement)
{
	enum refusal refusal = REFUSAL_NONE;

	for (uint32_t at = 0; at < round_list_count(round) && refusal == REFUSAL_NONE; at++) {
		const struct bet *bet = listed_bet(ws, round, at);

		if (bet)
			refusal = settlement_add(settlement, bet);
	}
	if (refusal != REFUSAL_NONE)
		return refusal;
	return settlement_close(settlement, cmd->result, cmd->payout_amount);
}

/* Adds the round to the statistics of the player. */
static void count_bet_statistics(struct ws *ws, const struct round *round)
{
	const struct bet *accepted[ROUND_BETS_MAX];
	uint32_t count = 0;

	for (uint32_t at = 0; at < round_list_count(round); at++) {
		const struct bet *bet = listed_bet(ws, round, at);

		if (bet && bet->state == BET_ACCEPTED)
			accepted[count++] = bet;
	}
	player_stats_settlement(ws, round, accepted, count);
}

/* Marks the accepted bets settled. Bets in another state are not part of the round. */
static void mark_bets(struct ws *ws, const struct round *round)
{
	int32_t settled = 0;
	struct bet bet;

	for (uint32_t at = 0; at < round_list_count(round); at++) {
		const struct bet *stored = listed_bet(ws, round, at);

		if (!stored)
			continue;
		bet = *stored;
		if (!bet_move(&bet, BET_SETTLED, round->settled_ms))
			continue;
		ws_put(ws, RECORD_BET, &bet);
		settled++;
	}
	/* The betting-result counts as open instead, until the dealer has received it. */
	post_open_bets(ws, round->casino_id, (round->event ? 1 : 0) - settled);
}

/* Returns the round in its settled state. */
static struct round settled_round(const struct round *stored, const struct round_settle_cmd *cmd,
	const struct settlement *settlement, int64_t now_ms)
{
	struct round round = *stored;

	round.state = ROUND_SETTLED;
	round.result = settlement->result;
	round.bet_amount = settlement->bet_amount;
	round.addition_amount = settlement->addition_amount;
	round.payout_amount = settlement->payout_amount;
	round.win_amount = settlement->win_amount;
	round.current_result = settlement->result;
	round.current_payout = settlement->payout_amount;
	round.settled_ms = now_ms;
	text_copy(round.remark, sizeof(round.remark), cmd->remark);
	round.user_bet = cmd->user_bet;
	round.game_result = cmd->game_result;
	round.user_bet_result = cmd->user_bet_result;
	return round;
}

static void record_settle(struct ws *ws, const struct round_settle_cmd *cmd,
	const struct round *round, const struct player *player, uint64_t entry_seq)
{
	struct request request = settle_request(cmd);

	request.kind = ENTRY_PAYOUT;
	request.amount = round->payout_amount;
	text_copy(request.player_id, sizeof(request.player_id), player->player_id);
	request.entry_seq = entry_seq;
	request.transaction_id = round->transaction_id;
	request.current_balance = player->balance;
	request.time_ms = round->settled_ms;
	text_copy(request.game_id, sizeof(request.game_id), cmd->game_id);
	ws_append(ws, RECORD_REQUEST, &request);
}

/* A transfer wallet: the payout is credited; a loss moves nothing and has no transaction id. */
static enum refusal settle_transfer_round(struct ws *ws, const struct round_settle_cmd *cmd,
	struct round *round, const struct player *stored)
{
	struct player player = *stored;
	struct transaction entry = {.entry_seq = 0};
	const struct request request = settle_request(cmd);
	struct movement movement = {
		.kind = ENTRY_PAYOUT,
		.amount = round->payout_amount,
		.time_ms = round->settled_ms,
		.scope = request.scope,
		.request_transaction_id = request.request_transaction_id,
		.client_id = cmd->client_id,
		.game_id = round->game_id,
	};
	enum refusal refusal = REFUSAL_NONE;

	if (round->payout_amount) {
		refusal = post_move(ws, &movement, &player, &entry);
		round->transaction_id = entry.transaction_id;
	} else if (round->result != RESULT_LOSS) {
		round->transaction_id = post_transaction(ws, stored, ENTRY_PAYOUT, round->game_id,
			0, round->settled_ms);
		refusal = round->transaction_id ? REFUSAL_NONE : REFUSAL_SERVICE_UNAVAILABLE;
	}
	if (refusal == REFUSAL_NONE)
		record_settle(ws, cmd, round, &player, entry.entry_seq);
	return refusal;
}

/*
 * A seamless wallet: B3 reports the result to the dealer, at once if the dealer accepts a call
 * now, otherwise and for an item of a batch by the sweeper.
 */
static enum refusal settle_seamless_round(struct ws *ws, const struct apply_context *context,
	const struct round_settle_cmd *cmd, struct round *round,
	const struct resolved_player *subject, struct callback_grant *send)
{
	const struct outbox_subject of = {
		.dealer = subject->dealer,
		.player_id = round->player_id,
		.game_id = round->game_id,
	};
	struct result_body body;

	if (round->user_bet.len + round->game_result.len + round->user_bet_result.len >
		OUTBOX_OBJECTS_MAX)
		return REFUSAL_PAYLOAD_TOO_LARGE;
	if (round->result != RESULT_LOSS) {
		round->transaction_id = post_transaction(ws, subject->player, ENTRY_PAYOUT,
			round->game_id, 0, round->settled_ms);
		if (!round->transaction_id)
			return REFUSAL_SERVICE_UNAVAILABLE;
	}
	memset(&body, 0, sizeof(body));
	text_copy(body.user_id, sizeof(body.user_id), round->user_id);
	text_copy(body.player_id, sizeof(body.player_id), round->player_id);
	body.bet_amount = round->bet_amount;
	body.transaction_id = round->transaction_id;
	body.timestamp = round->settled_ms;
	text_copy(body.remark, sizeof(body.remark), round->remark);
	body.result = round->result;
	text_copy(body.game_id, sizeof(body.game_id), round->game_id);
	body.addition_amount = round->addition_amount;
	body.win_amount = round->win_amount;
	body.payout_amount = round->payout_amount;
	body.user_bet = round->user_bet;
	body.game_result = round->game_result;
	body.user_bet_result = round->user_bet_result;
	round->event = outbox_open(ws, context, CALLBACK_BETTING_RESULT, &of, 0, &body);
	if (!round->event) {
		ws_fail(ws, "a betting-result without a body");
		return REFUSAL_INTERNAL_ERROR;
	}
	post_seamless(ws, round->casino_id,
		&(struct seamless_change){
			.paid = round->payout_amount,
			.owed_payouts = round->payout_amount,
		});
	round->last_event = round->event;
	if (!outbox_hold_old(ws, context, subject->dealer, round, round->event) && !cmd->item)
		outbox_begin(ws, context, subject->dealer, round->event, cmd->sender, send);
	record_settle(ws, cmd, round, subject->player, 0);
	return REFUSAL_NONE;
}

/* Checks of the first settlement, and the settlement. */
static enum refusal settle_round(struct ws *ws, const struct apply_context *context,
	const struct round_settle_cmd *cmd, const struct resolved_player *subject,
	const struct round *stored, struct round_settle_result *result)
{
	struct settlement settlement = {.bets = 0};
	struct round round;
	enum refusal refusal;

	refusal = row_refusal(cmd, subject->dealer, subject->player, stored);
	if (refusal == REFUSAL_PAYLOAD_TOO_LARGE)
		outbox_too_large(&result->verdict);
	if (refusal == REFUSAL_NONE && is_in_progress(ws, stored))
		refusal = REFUSAL_BET_IN_PROGRESS;
	if (refusal == REFUSAL_NONE)
		refusal = sum_bets(ws, stored, cmd, &settlement);
	if (refusal != REFUSAL_NONE)
		return refusal;
	round = settled_round(stored, cmd, &settlement, context->now.wall_ms);
	refusal = round.mode == WALLET_SEAMLESS
		? settle_seamless_round(ws, context, cmd, &round, subject, &result->send)
		: settle_transfer_round(ws, cmd, &round, subject->player);
	if (refusal == REFUSAL_PAYLOAD_TOO_LARGE)
		outbox_too_large(&result->verdict);
	if (refusal != REFUSAL_NONE)
		return refusal;
	count_bet_statistics(ws, &round);
	mark_bets(ws, &round);
	ws_put(ws, RECORD_ROUND, &round);
	answer_settlement(ws, &round, result);
	return REFUSAL_NONE;
}

static bool settlement_is_sane(const struct round_settle_cmd *cmd)
{
	return cmd->result != RESULT_NONE && cmd->payout_amount >= 0 &&
		cmd->payout_amount <= MONEY_MAX && external_id_valid(cmd->game_id) &&
		external_id_valid(cmd->request_transaction_id) &&
		text_is_name(cmd->client_id, CLIENT_ID_SIZE - 1);
}

/* Checks and settles, with a verdict for callers. */
static enum refusal settle_named(const struct round_settle_cmd *cmd,
	const struct apply_context *context, struct ws *ws, uint32_t *bets_left,
	struct round_settle_result *result)
{
	struct resolved_player subject;
	const struct round *round;
	struct round key;
	enum refusal refusal = resolve_player(ws, &cmd->player, &subject);

	if (refusal == REFUSAL_NONE) {
		key = round_named(subject.player->player_id, cmd->game_id);
		round = ws_get(ws, RECORD_ROUND, &key);
		if (take_bets(round, bets_left))
			refusal = settle_round(ws, context, cmd, &subject, round, result);
		else
			refusal = REFUSAL_PAYLOAD_TOO_LARGE;
	}
	result->verdict.refusal = refusal;
	if (subject.dealer)
		verdict_decimals(&result->verdict, "payout_amount", cmd->payout_amount,
			subject.dealer);
	return refusal;
}

void settle_first(const struct round_settle_cmd *cmd, const struct apply_context *context,
	struct ws *ws, uint32_t *bets_left, struct round_settle_result *result)
{
	if (!settlement_is_sane(cmd)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	if (settle_named(cmd, context, ws, bets_left, result) == REFUSAL_PAYLOAD_TOO_LARGE &&
		!result->verdict.detail[0])
		snprintf(result->verdict.detail, sizeof(result->verdict.detail),
			"the rounds of the batch have more than %d bets: send it by itself",
			BATCH_BETS_MAX);
	post_describe(ws, &result->verdict);
}

void round_settle_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct round_settle_cmd *cmd = arg;
	struct round_settle_result *result = out;
	struct request request_key = settle_request(cmd);
	const struct request *stored = ws_get(ws, RECORD_REQUEST, &request_key);
	uint32_t bets_left = ROUND_BETS_MAX;
	const struct round *round = NULL;
	struct resolved_player subject;
	const char *differs;
	struct round key;

	if (!settlement_is_sane(cmd) || cmd->item) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	if (!stored) {
		settle_first(cmd, context, ws, &bets_left, result);
		return;
	}
	resolve_player(ws, &cmd->player, &subject);
	if (subject.player) {
		key = round_named(subject.player->player_id, cmd->game_id);
		round = ws_get(ws, RECORD_ROUND, &key);
	}
	differs = settlement_difference(cmd, stored, subject.player, round);
	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
	/* The same call, whose answer was lost: the caller must still send the callback. */
	result->verdict.replay = !round->event || !subject.dealer ||
		!outbox_grant_again(ws, context, subject.dealer, round->event, cmd->sender,
			&result->send);
	answer_settlement(ws, round, result);
}
