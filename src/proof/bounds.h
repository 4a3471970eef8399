/*
 * bounds - a dealer's sums that do not follow from the movements of credit here (struct total).
 *
 * The rows are read later than the sums, and may have changed meanwhile. So a row adds the least and
 * the most that it can have counted for at the moment when its dealer's sums were read. The two are
 * equal unless the row changed since.
 */
#ifndef PROOF_BOUNDS_H
#define PROOF_BOUNDS_H

#include "domain/records.h"

struct proof;
struct proof_dealer;

enum proof_kept_sum {
	SUM_SHORTFALL,
	SUM_SEAMLESS_STAKED,
	SUM_SEAMLESS_PAID,
	SUM_SEAMLESS_REFUNDED,
	SUM_OWED_PAYOUTS,
	SUM_OWED_REFUNDS,
	SUM_BETS_WITH_BALANCE,
	SUM_BETS_WITHOUT_BALANCE,
	PROOF_SUM_COUNT
};

struct proof_bounds {
	sum_t least[PROOF_SUM_COUNT];
	sum_t most[PROOF_SUM_COUNT];
};

/* Adds a bet, or a round without its corrections, to @bounds, which belong to its dealer. */
void proof_bounds_bet(const struct proof *proof, const struct bet *bet,
	struct proof_bounds *bounds);
void proof_bounds_round(const struct proof *proof, const struct round *round,
	struct proof_bounds *bounds);
/* Adds all of @other. */
void proof_bounds_merge(struct proof_bounds *bounds, const struct proof_bounds *other);

/* Adds a correction of a round of @mode to the sums of its dealer. */
void proof_bounds_correction(struct proof *proof, enum wallet_mode mode,
	const struct correction *row);
/*
 * Adds a betting-result that reports @payout. One that ended before the sums were read adds nothing,
 * and proof_bounds_may_owe() returns false for it.
 */
bool proof_bounds_may_owe(const struct proof *proof, const struct callback *callback);
void proof_bounds_owed(struct proof *proof, const struct callback *callback, money_t payout);
/* Adds a betting-correction of which the dealer could not take @shortfall. */
void proof_bounds_decrease(struct proof *proof, const struct callback *callback, money_t shortfall);

/* Reports the sums of @dealer that are outside the bounds. Call it after all rows. */
void proof_bounds_check(struct proof *proof, const struct proof_dealer *dealer);

#endif
