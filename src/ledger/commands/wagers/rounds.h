/* rounds - the settlement of one round, for a request and for an item of a batch. */
#ifndef LEDGER_COMMANDS_WAGERS_ROUNDS_H
#define LEDGER_COMMANDS_WAGERS_ROUNDS_H

#include "ledger/rows/context.h"

/*
 * Declares the rows of a settlement, but for its request key. *@bets_left is how many bets the batch
 * may still name. If the round has more, its bets are not declared; otherwise they are subtracted.
 * Returns the round; NULL: it does not exist, or is not loaded yet.
 */
const struct round *settle_want(const struct round_settle_cmd *cmd, struct ws *ws,
	uint32_t *bets_left);

/*
 * Settles the round by a request whose key is new. *@bets_left as in settle_want(), with the value that
 * it had there: payload_too_large if the round has more.
 */
void settle_first(const struct round_settle_cmd *cmd, const struct apply_context *context,
	struct ws *ws, uint32_t *bets_left, struct round_settle_result *result);

#endif
