/*
 * owed - the amount that a parked betting-result owes a player, which an adjustment may pay instead
 * (contract, "What an operator may change").
 */
#ifndef LEDGER_COMMANDS_CALLBACKS_OWED_H
#define LEDGER_COMMANDS_CALLBACKS_OWED_H

#include "link/verdict.h"
#include "store/ws.h"

/* Declares the callback @event and the rows that have its amount. */
void owed_want(struct ws *ws, uint64_t event);

/*
 * Returns true if the betting-result @callback owes @amount: the payout of its round, or the increase
 * of its correction. Otherwise the detail of @verdict names what is owed. Since the callback is never
 * sent again, any other amount would make the player's credit wrong.
 */
bool owed_is(struct ws *ws, const struct callback *callback, const struct dealer *dealer,
	money_t amount, struct verdict *verdict);

#endif
