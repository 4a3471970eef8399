/* bets - the answer to a bet, for every source of its outcome. */
#ifndef LEDGER_COMMANDS_WAGERS_BETS_H
#define LEDGER_COMMANDS_WAGERS_BETS_H

#include "link/commands.h"

/* Fills the answer of a placed bet by its present state (contract, "Repeated bets"). */
void bet_answer(const struct bet *bet, struct verdict *verdict, struct bet_answer *answer);

#endif
