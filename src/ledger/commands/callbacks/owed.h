/*
 * owed - the amount that a betting-result owes a player, which an adjustment may pay instead if it is parked
 * (contract, "What an operator may change"), and the players that a dealer owes.
 */
#ifndef LEDGER_COMMANDS_CALLBACKS_OWED_H
#define LEDGER_COMMANDS_CALLBACKS_OWED_H

#include "link/verdict.h"
#include "store/store.h"
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

/*
 * Counts the different players that the open callbacks @events (at most CALLBACK_AGES_OWED_MAX) owe credit: by a payout, or by
 * a stake that is to be refunded. Empties @ws, and needs two loads.
 */
enum status owed_count_players(struct store *store, struct ws *ws, const uint64_t *events,
	uint32_t count, uint32_t *players);

#endif
