#include "domain/wager.h"

#include "base/check.h"
#include "domain/round_list.h"

#include <string.h>

const char *const game_status_names[GAME_STATUS_COUNT] = {"none", "pending", "refunded", "settled"};

/* Row: from; column: to. */
static const bool legal[BET_STATE_COUNT][BET_STATE_COUNT] = {
	[BET_PENDING] = {[BET_ACCEPTED] = true, [BET_REJECTED] = true, [BET_REFUNDING] = true},
	/* A cancelled bet is refunded: REFUNDED in a transfer wallet, by B4 in a seamless one. */
	[BET_ACCEPTED] = {[BET_SETTLED] = true, [BET_REFUNDING] = true, [BET_REFUNDED] = true},
	[BET_REFUNDING] = {[BET_REFUNDED] = true},
};

bool bet_may_move(enum bet_state from, enum bet_state to)
{
	return from < BET_STATE_COUNT && to < BET_STATE_COUNT && legal[from][to];
}

bool bet_move(struct bet *bet, enum bet_state to, int64_t now_ms)
{
	if (!bet_may_move(bet->state, to))
		return false;
	CHECK(!bet_has_ended(bet->state));
	bet->state = to;
	bet->changed_ms = now_ms;
	return true;
}

bool bet_has_ended(enum bet_state state)
{
	return state == BET_REJECTED || state == BET_REFUNDED || state == BET_SETTLED;
}

bool bet_is_part(enum bet_state state)
{
	return state == BET_PENDING || state == BET_ACCEPTED || state == BET_SETTLED;
}

enum refusal bet_refusal(const struct bet *bet)
{
	static const enum refusal refusals[BET_STATE_COUNT] = {
		[BET_PENDING] = REFUSAL_BET_IN_PROGRESS,
		[BET_REFUNDING] = REFUSAL_DEALER_TIMEOUT,
		[BET_REFUNDED] = REFUSAL_DEALER_TIMEOUT,
	};

	if (bet->cancelled)
		return REFUSAL_BET_CANCELLED;
	return bet->state == BET_REJECTED ? bet->outcome : refusals[bet->state];
}

enum refusal round_decide_bet(const struct round *round, const char *client_id, money_t bet_amount,
	uint32_t objects_len)
{
	if (!round)
		return REFUSAL_NONE;
	if (strcmp(round->client_id, client_id) != 0)
		return REFUSAL_GAME_NOT_FOUND;
	if (round->state == ROUND_SETTLED)
		return REFUSAL_ALREADY_SETTLED;
	if (round_list_count(round) >= ROUND_BETS_MAX || round->bets >= ROUND_NUMBERS_MAX ||
		(objects_len && round->objects_len > ROUND_OBJECTS_MAX - objects_len))
		return REFUSAL_ROUND_FULL;
	return bet_amount <= MONEY_MAX - round->staked ? REFUSAL_NONE : REFUSAL_BALANCE_LIMIT;
}

enum refusal settlement_add(struct settlement *settlement, const struct bet *bet)
{
	money_t *sum = bet->addition ? &settlement->addition_amount : &settlement->bet_amount;

	if (bet->state == BET_PENDING)
		return REFUSAL_BET_IN_PROGRESS;
	if (bet->state != BET_ACCEPTED)
		return REFUSAL_NONE;
	CHECK(bet->bet_amount > 0);
	settlement->bets++;
	return money_add(*sum, bet->bet_amount, sum) ? REFUSAL_NONE : REFUSAL_BALANCE_LIMIT;
}

enum refusal settlement_close(struct settlement *settlement, enum round_result result,
	money_t asked)
{
	money_t staked;

	if (!settlement->bets)
		return REFUSAL_BET_NOT_FOUND;
	if (!money_add(settlement->bet_amount, settlement->addition_amount, &staked))
		return REFUSAL_BALANCE_LIMIT;
	/* The amount of a refund is known. A request with another amount is a mistake. */
	if (result == RESULT_REFUND && asked == 0)
		asked = staked;
	if (asked < 0 || asked > MONEY_MAX || (result == RESULT_LOSS && asked != 0) ||
		(result == RESULT_REFUND && asked != staked))
		return REFUSAL_INVALID_AMOUNT;
	CHECK(result != RESULT_LOSS || !asked);
	settlement->result = result;
	settlement->payout_amount = asked;
	settlement->win_amount = asked - staked;
	return REFUSAL_NONE;
}

money_t correction_paid(const struct correction *correction)
{
	const money_t delta = correction->payout_amount - correction->previous_payout;

	if (delta <= 0)
		return 0;
	return correction->shortfall < 0 ? delta + correction->shortfall : delta;
}

enum game_status round_status(const struct round *round, const uint32_t bets[BET_STATE_COUNT])
{
	uint32_t refunded = bets[BET_REFUNDING] + bets[BET_REFUNDED];

	if (bets[BET_PENDING] || bets[BET_ACCEPTED])
		return GAME_PENDING;
	if (!refunded && !bets[BET_SETTLED])
		return GAME_NOT_FOUND;
	if (round->current_result == RESULT_REFUND || !bets[BET_SETTLED])
		return GAME_REFUNDED;
	return GAME_SETTLED;
}
