/*
 * transactions - fetches transactions by their ids, and walks a player's transactions from the
 * newest to the oldest.
 */
#ifndef ADMIN_TRANSACTIONS_H
#define ADMIN_TRANSACTIONS_H

#include "admin/session.h"
#include "base/buffer.h"

/*
 * Fetches the transaction @transaction_id; sets *found to whether it exists. Some transactions
 * move no money.
 */
enum outcome transaction_fetch(struct session *session, uint64_t transaction_id,
	struct transaction *row, bool *found);

/* Fetches the transaction that another row names by its id. Reports a missing one. */
enum outcome movement_fetch(struct session *session, uint64_t transaction_id,
	struct transaction *entry);

/*
 * Fetches the correction that @callback reports. @amount: what the callback asks the dealer to
 * move, below 0 for a decrease. Reports a missing one.
 */
enum outcome correction_fetch(struct session *session, const struct callback *callback,
	struct correction *row, money_t *amount);

struct movements {
	struct session *session;
	struct player player;
	/* the last one returned; transaction_id is 0 before the first */
	struct transaction last;
	struct buffer rows; /* the rows that the last command read */
	struct bytes rest;  /* the part of @rows that was not returned yet */
	enum outcome code;  /* why movements_next() returned false; OUTCOME_DONE: none is left */
};

/*
 * Walks the transactions that @player had when its row was read. A command of the ledger reads up to 64 of them. Call
 * movements_end() in any case.
 */
void movements_open(struct movements *movements, struct session *session,
	const struct player *player);
/*
 * Begins after the transaction @transaction_id of the player instead of the newest. Reports
 * transaction_not_found if the player has no such movement. Call it before the first
 * movements_next().
 */
enum outcome movements_behind(struct movements *movements, uint64_t transaction_id);
/*
 * Returns the next older transaction. Returns false if none is left, or after a failure that was
 * reported. It is also a failure if the transaction does not match the link in the player row or
 * in the previous transaction.
 */
bool movements_next(struct movements *movements, struct transaction *entry);
/* Frees the memory. Returns @code, or if that is OUTCOME_DONE, why movements_next() returned false. */
enum outcome movements_end(struct movements *movements, enum outcome code);

#endif
