/*
 * hold - sends no callback to a dealer until the operator releases it (contract,
 * "Lives of an installation").
 *
 * After a restore or an import the data may lack actions of dealers: a bet that is pending here
 * may be accepted, won and paid there. The transaction that begins the new life therefore holds
 * the callbacks of every dealer until `creditbridgectl release`.
 *
 * Permits enforce this: a held dealer has none. So neither a first attempt, nor the sweeper, nor
 * `callback retry` sends a callback. Bets and balance inquiries of its players are refused as
 * dealer_busy, and results wait. A bet that was being sent is taken over as usual; its refund also
 * waits.
 *
 * `release` is refused until `reconcile` found no difference to the dealer's file. A round that is
 * open here may be settled and paid there. Its result, if repeated, would be paid again under a
 * new id.
 *
 * An operator can release a dealer without its file. Therefore each result and refund opened for a
 * round from before the restore is held by itself. This hold lasts until the file was compared or
 * an operator decides about the callback.
 */
#ifndef LEDGER_OUTBOX_HOLD_H
#define LEDGER_OUTBOX_HOLD_H

#include "base/status.h"
#include "domain/records.h"
#include "store/store.h"
#include "store/ws.h"

/* Returns how many callbacks of the dealer may be under way at once; 0 while they are held. */
uint32_t hold_permits(const struct dealer *dealer);

/*
 * Returns true if the result of a round whose first bet has @transaction_id (0: none) is held by
 * itself. The round began before a restore, and the file of the dealer was not compared since. It
 * waits for an operator even if the dealer is released without its file.
 */
bool hold_result(const struct dealer *dealer, uint64_t transaction_id);

/* Ends the effects of the restore after the file of the dealer was compared. */
void hold_end_restore(struct dealer *dealer);

/* The restore or import that replaced the data. */
struct hold_restore {
	int64_t now_ms;
	int64_t complete_to_ms; /* the data is known to be complete up to this time */
	uint64_t first_id;      /* of the new life */
};

/*
 * Holds the callbacks of the dealer, until its file was compared, and marks its keys as to be confirmed. If an operator
 * or an earlier restore holds it already, its time is kept.
 */
void hold_dealer(struct dealer *dealer, const struct hold_restore *restore);

/*
 * Writes into @ws that the callbacks of every dealer are held, that its file must be compared, and
 * that the keys of every dealer and game server must be confirmed. Running replays are stopped. Returns STATUS_NOMEM, or the
 * status of a row that cannot be read.
 */
enum status hold_everything(struct store *store, struct ws *ws, const struct hold_restore *restore);

#endif
