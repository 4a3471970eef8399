/*
 * player_stats - books bets and rounds in their player's statistics (domain/statistics.h).
 *
 * The sums change in the batch that changes the bet, so that reading them costs the same however
 * many bets there are.
 */
#ifndef LEDGER_ROWS_PLAYER_STATS_H
#define LEDGER_ROWS_PLAYER_STATS_H

#include "domain/statistics.h"
#include "ledger/rows/context.h"

/* Declares the sums of @player_id, of its lifetime and of @day. */
void tally_want(struct ws *ws, const char *player_id, uint32_t day);

/* Books a bet that was accepted. */
void tally_acceptance(struct ws *ws, const struct bet *bet);

/*
 * Books a round that was settled: @bets are @count accepted ones, the first of which has the
 * payout's day.
 */
void tally_settlement(struct ws *ws, const struct round *round, const struct bet *const *bets,
	uint32_t count);

/*
 * Declares what tally_read() needs: the player's lifetime, and with @days the STATISTICS_DAYS up to
 * @today.
 */
void tally_want_report(struct ws *ws, const char *player_id, uint32_t today, bool days);
/* A day's sums; zeros when there were no bets. @day 0: the lifetime's. */
struct statistics tally_read(struct ws *ws, const char *player_id, uint32_t day);

#endif
