/*
 * player_stats - adds bets and rounds to the statistics of their player (domain/statistics.h).
 *
 * The totals change in the batch that changes the bet. The cost of reading them does not depend on
 * the number of bets.
 */
#ifndef LEDGER_ROWS_PLAYER_STATS_H
#define LEDGER_ROWS_PLAYER_STATS_H

#include "domain/statistics.h"
#include "ledger/rows/context.h"

/* Declares the totals of @player_id, for the lifetime and for @day. */
void player_stats_want(struct ws *ws, const char *player_id, uint32_t day);

/* Adds an accepted bet. */
void player_stats_acceptance(struct ws *ws, const struct bet *bet);

/* Takes out a bet that was accepted and is cancelled. */
void player_stats_cancellation(struct ws *ws, const struct bet *bet);

/*
 * Adds a settled round. @bets are its @count accepted bets; the payout belongs to the day of the
 * first.
 */
void player_stats_settlement(struct ws *ws, const struct round *round,
	const struct bet *const *bets, uint32_t count);

/* Counts a settled bet of a round whose result changes from @before to @after. */
void player_stats_correction(struct ws *ws, const struct bet *bet, enum round_result before,
	enum round_result after);
/* Adds @change to the totals of the lifetime and of the day, which must be declared. */
void player_stats_add(struct ws *ws, const char *player_id, uint32_t day,
	const struct statistics_change *change);

/*
 * Declares the rows for player_stats_read(): the lifetime, and with @days the STATISTICS_DAYS up to
 * @today.
 */
void player_stats_want_report(struct ws *ws, const char *player_id, uint32_t today, bool days);
/* Declares the row for player_stats_staked(). */
void player_stats_want_staked(struct ws *ws, const char *player_id);
/*
 * Returns the stakes of the player's accepted, unsettled bets of a transfer wallet; 0 if the row was
 * not declared, as of a player of a seamless dealer.
 */
money_t player_stats_staked(struct ws *ws, const char *player_id);

/* Returns the totals of a day, zeros without bets. @day 0 is the lifetime. */
struct statistics player_stats_read(struct ws *ws, const char *player_id, uint32_t day);

#endif
