/* round_bet - changes the row of a round when one of its bets changes its state. */
#ifndef LEDGER_ROWS_ROUND_BET_H
#define LEDGER_ROWS_ROUND_BET_H

#include "ledger/rows/context.h"

/*
 * Updates the declared row @stored of the round of @bet, which was PENDING or ACCEPTED before. An
 * accepted bet is listed as such. A bet in another state leaves the round: neither its number nor
 * its amount counts any more (contract, "Rounds"). Call it once for each transition.
 */
void round_bet_update(struct ws *ws, const struct round *stored, const struct bet *bet);

#endif
