/*
 * bets - how a bet is answered, wherever its news come from.
 */
#ifndef LEDGER_COMMANDS_BETS_H
#define LEDGER_COMMANDS_BETS_H

#include "link/commands.h"

/* The answer of a bet that was placed, by its present state (api.md C 1). */
void bet_answer(const struct bet *bet, struct verdict *verdict, struct bet_answer *answer);

#endif
