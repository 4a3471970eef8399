/*
 * dealer_day - the running sums of a dealer's day (struct dealer_day), which finance reads.
 *
 * They equal the totals of the recon file of the day (creditbridge-recon(5)):
 *
 *   movements, paid, corrected   count on the day on which they were recorded
 *   bets                         count on the day on which they were recorded, by the state that they
 *                                have now. A bet that is cancelled later then counts as refunded on the same day
 *   callbacks                    count on the day on which they were created, by the class of the
 *                                last attempt that ended
 *
 * Each function adds what one row contributes. A change of a row is the old row taken out and the new
 * one added. The ledger and `check` use the same functions.
 */
#ifndef DOMAIN_DEALER_DAY_H
#define DOMAIN_DEALER_DAY_H

#include "domain/records.h"

/*
 * Sets *number to the day of a row of @time_ms. Returns false if the row is older than the sums of
 * @dealer, so that it does not count.
 */
bool dealer_day_number(const struct dealer *dealer, int64_t time_ms, uint32_t *number);

/*
 * Returns the first day whose sums are complete; 0: all days are. Days before it may lack rows, or were
 * counted with another utc_offset_min.
 */
uint32_t dealer_day_first(const struct dealer *dealer);

/* Returns true if dealer_day_movement() counts @row: a movement that is no stake. A stake counts as a bet. */
bool dealer_day_moves(const struct transaction *row);
void dealer_day_movement(struct dealer_day *day, const struct transaction *row);
/* Add a result or correction of a seamless wallet, which moves nothing here. */
void dealer_day_payout(struct dealer_day *day, money_t payout_amount);
void dealer_day_correction(struct dealer_day *day, const struct correction *row);

/* @sign: 1 adds the row, -1 takes it out. */
void dealer_day_bet(struct dealer_day *day, const struct bet *row, int sign);
void dealer_day_callback(struct dealer_day *day, const struct callback *row, int sign);

/* Returns the bets in @state. */
const struct day_sum *dealer_day_bets(const struct dealer_day *day, enum bet_state state);

/* The sums of a day, as pages and reports show them. */
struct day_report {
	struct day_sum bets;     /* all bets of the day: their number and stakes */
	struct day_sum staked;   /* those that count: pending, accepted, settled */
	struct day_sum refunded; /* refunding and refunded, with cancelled ones */
	sum_t paid;              /* payouts with corrections */
	sum_t profit;            /* of the dealer: stakes of accepted and settled bets less paid */
	uint64_t callbacks;
	uint64_t answered; /* callbacks with a last attempt that ended */
};
void dealer_day_report(const struct dealer_day *day, struct day_report *report);

/* Returns a number that nearly always differs if the sums or the day differ; it is linear in the sums. */
uint64_t dealer_day_weigh(const struct dealer_day *day);

#endif
