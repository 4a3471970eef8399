/*
 * hold - no callback is sent to a dealer until the operator releases it (api.md, What an operator may
 * change).
 *
 * After a restore or an import the data may lack what dealers did meanwhile: a bet that is
 * pending here may be accepted, won and paid there. So every dealer's callbacks are held, in the
 * transaction that begins the new life, until `creditbridgectl release`. Permits are the one gate: a
 * held dealer has none, so that neither a first attempt, nor the sweeper, nor `callback retry` sends
 * anything. Bets and balance inquiries of its players are refused as dealer_busy, and results wait.
 * A bet that was being sent is taken over as usual; its refund waits, too.
 */
#ifndef LEDGER_HOLD_H
#define LEDGER_HOLD_H

#include "base/status.h"
#include "domain/records.h"
#include "store/store.h"
#include "store/ws.h"

/* How many callbacks of the dealer may be under way at once: 0 while they are held. */
uint32_t hold_permits(const struct dealer *dealer);

/*
 * Puts into @ws that every dealer's callbacks are held, and that the keys of every dealer and game
 * server are to be confirmed, since @now_ms. STATUS_NOMEM, or the status of a row that cannot be read.
 */
enum status hold_everything(struct store *store, struct ws *ws, int64_t now_ms);

#endif
