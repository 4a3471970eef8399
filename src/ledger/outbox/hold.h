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
 *
 * `release` is refused until `reconcile` found no difference to the dealer's file: a round that is
 * open here may be settled and paid there, and its result, repeated, would be paid again under a new
 * id. An operator can release a dealer without its file. So each result and refund that is opened for
 * a round of before the restore is held by itself from the restore on, until the file was compared or
 * an operator decides about it.
 */
#ifndef LEDGER_OUTBOX_HOLD_H
#define LEDGER_OUTBOX_HOLD_H

#include "base/status.h"
#include "domain/records.h"
#include "store/store.h"
#include "store/ws.h"

/* How many callbacks of the dealer may be under way at once: 0 while they are held. */
uint32_t hold_permits(const struct dealer *dealer);

/*
 * True: the result of a round whose first bet has @transaction_id (0: none) is held by itself. The
 * round began before a restore, and the dealer's file was not compared since. So it waits for an
 * operator also when the dealer is released without its file.
 */
bool hold_result(const struct dealer *dealer, uint64_t transaction_id);

/* The dealer's file was compared: the restore asks for nothing more. */
void hold_end_restore(struct dealer *dealer);

/* What brought the data back. */
struct hold_restore {
	int64_t now_ms;
	int64_t complete_to_ms; /* up to when the data are known to be whole */
	uint64_t first_id;      /* of the new life */
};

/*
 * Puts into @ws that every dealer's callbacks are held, that its file is to be compared, and that the
 * keys of every dealer and game server are to be confirmed. STATUS_NOMEM, or the status of a row that
 * cannot be read.
 */
enum status hold_everything(struct store *store, struct ws *ws, const struct hold_restore *restore);

#endif
