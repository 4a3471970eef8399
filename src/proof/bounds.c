#include "proof/bounds.h"

#include "domain/delivery.h"
#include "proof/proof.h"

#include <inttypes.h>

static void add_bounds(struct proof_bounds *bounds, enum proof_kept_sum sum, sum_t least,
	sum_t most)
{
	bounds->least[sum] += least;
	bounds->most[sum] += most;
}

void proof_bounds_merge(struct proof_bounds *bounds, const struct proof_bounds *other)
{
	for (unsigned int sum = 0; sum < PROOF_SUM_COUNT; sum++)
		add_bounds(bounds, (enum proof_kept_sum)sum, other->least[sum], other->most[sum]);
}

/* ---- bets */

#define STATE(state) (1u << BET_##state)

/* The states in which a bet can have been before. A cancelled bet was accepted first. */
static const struct {
	unsigned int before;
	unsigned int before_cancelled;
} histories[BET_STATE_COUNT] = {
	[BET_ACCEPTED] = {STATE(PENDING), 0},
	[BET_REJECTED] = {STATE(PENDING), 0},
	[BET_REFUNDING] = {STATE(PENDING), STATE(PENDING) | STATE(ACCEPTED)},
	[BET_REFUNDED] = {STATE(PENDING) | STATE(REFUNDING),
		STATE(PENDING) | STATE(ACCEPTED) | STATE(REFUNDING)},
	[BET_SETTLED] = {STATE(PENDING) | STATE(ACCEPTED), 0},
};

/* The states in which a bet counts for a sum. @cancelled: only if it is cancelled. */
static const struct {
	enum proof_kept_sum sum;
	unsigned int states;
	unsigned int cancelled;
} counted[] = {
	{SUM_SEAMLESS_STAKED, STATE(ACCEPTED) | STATE(SETTLED), 0},
	{SUM_SEAMLESS_REFUNDED, STATE(REFUNDING) | STATE(REFUNDED), 0},
	{SUM_OWED_REFUNDS, STATE(REFUNDING), 0},
	{SUM_BETS_WITH_BALANCE, STATE(ACCEPTED) | STATE(SETTLED),
		STATE(REFUNDING) | STATE(REFUNDED)},
	{SUM_BETS_WITHOUT_BALANCE, STATE(ACCEPTED) | STATE(SETTLED),
		STATE(REFUNDING) | STATE(REFUNDED)},
};

/* Returns the states in which the bet can have been at the moment. */
static unsigned int possible_states(const struct proof *proof, const struct proof_moment *moment,
	const struct bet *bet)
{
	unsigned int states = 1u << bet->state;

	if (bet->changed_ms < moment->from_ms || bet->state == BET_PENDING)
		return states;
	if (proof_is_since(proof, bet->changed_ms, moment->until_ms + 1))
		states = 0;
	return states | histories[bet->state].before |
		(bet->cancelled ? histories[bet->state].before_cancelled : 0);
}

void proof_bounds_bet(const struct proof *proof, const struct bet *bet, struct proof_bounds *bounds)
{
	const struct proof_dealer *dealer = proof_find_dealer(proof, bet->casino_id);
	unsigned int possible, counts;
	sum_t amount;

	if (bet->mode != WALLET_SEAMLESS || !dealer || bet->transaction_id > dealer->moment.as_of)
		return;
	possible = possible_states(proof, &dealer->moment, bet);
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		counts = counted[i].states | (bet->cancelled ? counted[i].cancelled : 0);
		amount = bet->bet_amount;
		if (counted[i].sum == SUM_BETS_WITH_BALANCE)
			amount = bet->has_balance;
		if (counted[i].sum == SUM_BETS_WITHOUT_BALANCE)
			amount = !bet->has_balance;
		add_bounds(bounds, counted[i].sum, possible & ~counts ? 0 : amount,
			possible & counts ? amount : 0);
	}
}

/* ---- rounds and corrections. Their transaction ids show whether the sums count them. */

void proof_bounds_round(const struct proof *proof, const struct round *round,
	struct proof_bounds *bounds)
{
	const struct proof_dealer *dealer = proof_find_dealer(proof, round->casino_id);

	if (dealer && round->mode == WALLET_SEAMLESS && round->state == ROUND_SETTLED &&
		round->transaction_id <= dealer->moment.as_of)
		add_bounds(bounds, SUM_SEAMLESS_PAID, round->payout_amount, round->payout_amount);
}

void proof_bounds_correction(struct proof *proof, enum wallet_mode mode,
	const struct correction *row)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, row->casino_id);
	const money_t delta = row->payout_amount - row->previous_payout;

	if (!dealer || row->transaction_id > dealer->moment.as_of)
		return;
	if (mode == WALLET_SEAMLESS)
		add_bounds(&dealer->bounds, SUM_SEAMLESS_PAID, delta, delta);
	/* What a dealer could not take of a decrease, it reports later: proof_bounds_decrease(). */
	if (mode == WALLET_TRANSFER || delta >= 0)
		add_bounds(&dealer->bounds, SUM_SHORTFALL, row->shortfall, row->shortfall);
}

/* ---- callbacks */

/* Returns true if the callback existed at the moment and had not ended, for certain. */
static bool was_open(const struct proof *proof, const struct proof_moment *moment,
	const struct callback *callback)
{
	return callback->event <= moment->event_from &&
		(!callback_has_ended(callback->state) ||
			proof_is_since(proof, callback->ended_ms, moment->until_ms + 1));
}

/* Returns true if that is possible. */
static bool may_have_been_open(const struct proof_moment *moment, const struct callback *callback)
{
	return callback->event <= moment->event_until &&
		(!callback_has_ended(callback->state) || callback->ended_ms >= moment->from_ms);
}

bool proof_bounds_may_owe(const struct proof *proof, const struct callback *callback)
{
	const struct proof_dealer *dealer = proof_find_dealer(proof, callback->casino_id);

	return callback->kind == CALLBACK_BETTING_RESULT && dealer &&
		may_have_been_open(&dealer->moment, callback);
}

void proof_bounds_owed(struct proof *proof, const struct callback *callback, money_t payout)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, callback->casino_id);

	if (proof_bounds_may_owe(proof, callback))
		add_bounds(&dealer->bounds, SUM_OWED_PAYOUTS,
			was_open(proof, &dealer->moment, callback) ? payout : 0, payout);
}

void proof_bounds_decrease(struct proof *proof, const struct callback *callback, money_t shortfall)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, callback->casino_id);
	const struct proof_moment *moment;

	if (!dealer || !callback_has_ended(callback->state))
		return;
	moment = &dealer->moment;
	add_bounds(&dealer->bounds, SUM_SHORTFALL,
		may_have_been_open(moment, callback) || callback->event > moment->event_until
			? 0
			: shortfall,
		was_open(proof, moment, callback) || callback->event > moment->event_until
			? 0
			: shortfall);
}

/* ---- the comparison */

static const struct {
	const char *name;
	size_t place; /* in struct total */
	bool is_count;
} kept_sums[PROOF_SUM_COUNT] = {
	[SUM_SHORTFALL] = {"shortfall", offsetof(struct total, shortfall), false},
	[SUM_SEAMLESS_STAKED] = {"seamless_staked", offsetof(struct total, seamless_staked), false},
	[SUM_SEAMLESS_PAID] = {"seamless_paid", offsetof(struct total, seamless_paid), false},
	[SUM_SEAMLESS_REFUNDED] = {"seamless_refunded", offsetof(struct total, seamless_refunded),
		false},
	[SUM_OWED_PAYOUTS] = {"owed_payouts", offsetof(struct total, owed_payouts), false},
	[SUM_OWED_REFUNDS] = {"owed_refunds", offsetof(struct total, owed_refunds), false},
	[SUM_BETS_WITH_BALANCE] = {"bets_with_balance", offsetof(struct total, bets_with_balance),
		true},
	[SUM_BETS_WITHOUT_BALANCE] = {"bets_without_balance",
		offsetof(struct total, bets_without_balance), true},
};

static sum_t kept_sum(const struct total *total, enum proof_kept_sum sum)
{
	const char *place = (const char *)total + kept_sums[sum].place;

	return kept_sums[sum].is_count ? (sum_t) * (const uint64_t *)(const void *)place
				       : *(const sum_t *)(const void *)place;
}

void proof_bounds_check(struct proof *proof, const struct proof_dealer *dealer)
{
	char kept_text[SUM_TEXT_MAX], found_text[SUM_TEXT_MAX];
	sum_t kept, found;

	for (unsigned int sum = 0; sum < PROOF_SUM_COUNT; sum++) {
		kept = kept_sum(&dealer->total, (enum proof_kept_sum)sum);
		if (kept >= dealer->bounds.least[sum] && kept <= dealer->bounds.most[sum])
			continue;
		found = kept < dealer->bounds.least[sum] ? dealer->bounds.least[sum]
							 : dealer->bounds.most[sum];
		if (kept_sums[sum].is_count) {
			proof_loose(proof,
				"dealer %s: %s is kept as %" PRIu64 ", there are %" PRIu64,
				dealer->total.casino_id, kept_sums[sum].name, (uint64_t)kept,
				(uint64_t)found);
			continue;
		}
		sum_format(kept, 2, kept_text);
		sum_format(found, 2, found_text);
		proof_loose(proof, "dealer %s: %s is kept as %s, the rows sum up to %s",
			dealer->total.casino_id, kept_sums[sum].name, kept_text, found_text);
	}
}
