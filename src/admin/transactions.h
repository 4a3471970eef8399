/*
 * transactions - fetches transactions by their ids, and walks a player's transactions from the
 * newest to the oldest.
 */
#ifndef ADMIN_TRANSACTIONS_H
#define ADMIN_TRANSACTIONS_H

#include "admin/session.h"

/*
 * Fetches the transaction @transaction_id; sets *found to whether it exists. Some transactions
 * move no money.
 */
enum outcome transaction_fetch(struct session *session, uint64_t transaction_id,
	struct transaction *row, bool *found);

/* Fetches the transaction that another row names by its id. Reports a missing one. */
enum outcome movement_fetch(struct session *session, uint64_t transaction_id,
	struct transaction *entry);

struct movements {
	struct session *session;
	struct player player;
	/* the last one returned; transaction_id is 0 before the first */
	struct transaction last;
	enum outcome code; /* why movements_next() returned false; OUTCOME_DONE: none is left */
};

/* Walks the transactions that @player had when its row was read. */
void movements_open(struct movements *movements, struct session *session,
	const struct player *player);
/*
 * Returns the next older transaction. Returns false if none is left, or after a failure that was
 * reported. It is also a failure if the transaction does not match the link in the player row or
 * in the previous transaction.
 */
bool movements_next(struct movements *movements, struct transaction *entry);

#endif
