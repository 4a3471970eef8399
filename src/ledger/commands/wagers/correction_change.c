#include "ledger/commands/wagers/correction_change.h"

#include "base/text.h"
#include "domain/round_list.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/player_stats.h"

#include <stdio.h>

bool correction_by_operator(const struct round_correct_cmd *cmd)
{
	return !cmd->client_id[0];
}

/* Returns true if the statistics of every bet change, not only the payout. */
static bool changes_bets(const struct round *round, enum round_result result)
{
	return (round->current_result == RESULT_REFUND) != (result == RESULT_REFUND);
}

void correction_want_bets(struct ws *ws, const struct round *round, enum round_result result)
{
	const uint32_t count =
		changes_bets(round, result) ? round_list_count(round) : round_list_count(round) > 0;
	const struct bet *bet;
	struct bet key;

	for (uint32_t at = 0; at < count; at++) {
		key = bet_named(round->player_id, round->game_id, round_list_at(round, at));
		ws_want_without_object(ws, RECORD_BET, &key);
		bet = ws_loaded(ws, RECORD_BET, &key) ? ws_get(ws, RECORD_BET, &key) : NULL;
		if (bet)
			player_stats_want(ws, bet->player_id, bet->day);
	}
}

/* Returns true if the last callback of the round may still be sent. */
static bool callback_is_open(struct ws *ws, const struct round *round)
{
	struct delivery delivery;

	return round->last_event && outbox_find(ws, round->last_event, &delivery) &&
		!callback_has_ended(delivery.callback.state);
}

/* Makes the checks that precede the amounts (contract, "Corrections"). */
static enum refusal correct_decide(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct dealer *dealer, const struct round *round, struct round_correct_result *result)
{
	struct verdict *verdict = &result->verdict;

	if (!round ||
		(!correction_by_operator(cmd) && strcmp(round->client_id, cmd->client_id) != 0))
		return REFUSAL_GAME_NOT_FOUND;
	/* The credit of such a round was where the dealer's other wallet is. */
	if (round->mode != dealer->mode) {
		text_copy(verdict->detail, sizeof(verdict->detail),
			"the round began before the wallet mode of the dealer was changed; settle "
			"the difference with the dealer");
		return REFUSAL_WRONG_WALLET_MODE;
	}
	result->revision = round->revision;
	if (round->state != ROUND_SETTLED) {
		text_copy(verdict->detail, sizeof(verdict->detail),
			"the round is not settled; a correction changes a settled round");
		return REFUSAL_REVISION_CONFLICT;
	}
	if (cmd->revision != round->revision + 1)
		return REFUSAL_REVISION_CONFLICT;
	if (cmd->revision > ROUND_CORRECTIONS_MAX) {
		snprintf(verdict->detail, sizeof(verdict->detail),
			"a round has at most %d corrections", ROUND_CORRECTIONS_MAX);
		return REFUSAL_ROUND_FULL;
	}
	return callback_is_open(ws, round) ? REFUSAL_CALLBACK_OPEN : REFUSAL_NONE;
}

/* Fills @change except for what depends on the wallet. */
static enum refusal find_change(const struct round_correct_cmd *cmd, const struct dealer *dealer,
	const struct round *round, struct correction_change *change)
{
	enum refusal refusal;

	memset(change, 0, sizeof(*change));
	if (!money_has_decimals(cmd->payout_amount, dealer->decimals))
		return REFUSAL_INVALID_AMOUNT;
	change->settlement.bets = round_list_count(round);
	change->settlement.bet_amount = round->bet_amount;
	change->settlement.addition_amount = round->addition_amount;
	refusal = settlement_close(&change->settlement, cmd->result, cmd->payout_amount);
	if (refusal != REFUSAL_NONE)
		return refusal;
	change->delta = change->settlement.payout_amount - round->current_payout;
	change->moved = change->delta;
	/* If an earlier correction could not take a part, that part is taken from a later increase. */
	if (change->delta > 0 && round->shortfall > 0) {
		change->shortfall =
			round->shortfall < change->delta ? -round->shortfall : -change->delta;
		change->moved += change->shortfall;
	}
	return REFUSAL_NONE;
}

/* A transfer wallet: limits a decrease to the balance, if the caller allows it. */
static enum refusal limit_decrease(const struct round_correct_cmd *cmd, const struct player *player,
	struct correction_change *change, struct verdict *verdict)
{
	if (change->moved >= 0 || player->balance >= -change->moved)
		return REFUSAL_NONE;
	if (!cmd->allow_shortfall) {
		verdict->current_balance = player->balance;
		return REFUSAL_INSUFFICIENT_BALANCE;
	}
	change->shortfall = -change->moved - player->balance;
	change->moved = -player->balance;
	return REFUSAL_NONE;
}

enum refusal correction_prepare(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct resolved_player *subject, const struct round *stored,
	struct correction_change *change, struct round_correct_result *result)
{
	enum refusal refusal = correct_decide(ws, cmd, subject->dealer, stored, result);

	if (refusal == REFUSAL_NONE)
		refusal = find_change(cmd, subject->dealer, stored, change);
	if (refusal != REFUSAL_NONE)
		return refusal;
	if (stored->mode == WALLET_TRANSFER)
		return limit_decrease(cmd, subject->player, change, &result->verdict);
	if (change->moved < 0 && !subject->dealer->path_betting_correction[0])
		return REFUSAL_CORRECTION_NOT_SUPPORTED;
	return REFUSAL_NONE;
}

void correction_count(struct ws *ws, const struct round *round,
	const struct correction_change *change)
{
	const struct settlement *now = &change->settlement;
	const bool all = changes_bets(round, now->result);
	const struct statistics_change before =
		statistics_of_payout(round->current_payout, round->current_result);
	const struct statistics_change after =
		statistics_of_payout(now->payout_amount, now->result);
	const struct statistics_change payout = {
		.profit_loss = after.profit_loss - before.profit_loss,
	};

	for (uint32_t at = 0; at < round_list_count(round) && (all || !at); at++) {
		struct bet key =
			bet_named(round->player_id, round->game_id, round_list_at(round, at));
		const struct bet *bet = ws_get(ws, RECORD_BET, &key);

		if (!bet)
			continue;
		if (all)
			player_stats_correction(ws, bet, round->current_result, now->result);
		if (!at)
			player_stats_add(ws, bet->player_id, bet->day, &payout);
	}
}
