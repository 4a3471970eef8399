/*
 * correction_change - the checks of a correction, and its changes (contract, "Corrections").
 */
#ifndef LEDGER_COMMANDS_WAGERS_CORRECTION_CHANGE_H
#define LEDGER_COMMANDS_WAGERS_CORRECTION_CHANGE_H

#include "domain/wager.h"
#include "ledger/rows/resolve_player.h"
#include "link/edge_commands.h"

/* The changes of a correction. */
struct correction_change {
	struct settlement settlement; /* the new result and payout */
	money_t delta;
	money_t moved;     /* delta less what the balance does not cover or a shortfall takes */
	money_t shortfall; /* above 0: not covered; below 0: an earlier shortfall that is taken now */
};

/*
 * Returns true if an operator requests the correction: it has no client_id. Its request key is the
 * operation id, which belongs to player.casino_id.
 */
bool correction_by_operator(const struct round_correct_cmd *cmd);

/* Declares the bets whose statistics change: the first one has the day of the payout. */
void correction_want_bets(struct ws *ws, const struct round *round, enum round_result result);

/*
 * Makes all checks of a correction that is new, and computes what it changes. Returns the refusal; its
 * details are in @result.
 */
enum refusal correction_prepare(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct resolved_player *subject, const struct round *stored,
	struct correction_change *change, struct round_correct_result *result);

/* Writes the statistics of the bets: those of the old result are taken back. */
void correction_count(struct ws *ws, const struct round *round,
	const struct correction_change *change);

#endif
