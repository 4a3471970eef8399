/*
 * statistics - running sums of a player's bets and winnings, over a lifetime and for each day
 * (contract, "Statistics"; specification, "A4 user stat").
 *
 *   bet_count    accepted bets minus refunded ones, without additions
 *   turnover     stakes of settled bets (win or loss), with additions
 *   profit_loss  the player's profit, negative for a loss
 *
 * A bet belongs to the day of its acceptance, in the dealer's utc_offset at that time. Its
 * settlement also counts on that day. A round's payout counts on the day of its first accepted bet.
 */
#ifndef DOMAIN_STATISTICS_H
#define DOMAIN_STATISTICS_H

#include "domain/records.h"

#define STATISTICS_DAYS   30 /* days in bet_summary; the last is today */
#define STATISTICS_DAY_MS INT64_C(86400000)
#define DATE_SIZE         11 /* "2026-11-21" */

/* Returns the day of @time_ms, counted from 1970-01-01. */
uint32_t statistics_day(int64_t time_ms, int32_t utc_offset_min);
/* Returns when @day begins in that offset. */
int64_t statistics_day_begin(uint32_t day, int32_t utc_offset_min);

/* Writes a day as YYYY-MM-DD. */
void statistics_date(uint32_t day, char date[DATE_SIZE]);

/* The change of the sums by a bet or a payout. */
struct statistics_change {
	int32_t bet_count;
	money_t turnover;
	money_t profit_loss;
	money_t staked; /* of struct lifetime: only bets of a transfer wallet count */
};

/* The change when a bet is accepted. */
struct statistics_change statistics_of_acceptance(const struct bet *bet);
/* The change when an accepted bet is cancelled: that of its acceptance, taken back. */
struct statistics_change statistics_of_cancellation(const struct bet *bet);

/*
 * The change when an accepted bet is settled with @result: the bet's own part, without the payout.
 */
struct statistics_change statistics_of_settlement(const struct bet *bet, enum round_result result);

/* The change when a round pays @payout_amount. A refund is no profit. */
struct statistics_change statistics_of_payout(money_t payout_amount, enum round_result result);

/* Adds @change to the sums of a day or a lifetime. */
void statistics_add(struct statistics *sums, const struct statistics_change *change);

#endif
