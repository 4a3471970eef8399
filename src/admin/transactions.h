/*
 * transactions - transactions and movements by their ids, and a player's movements from the last to the
 * first.
 */
#ifndef ADMIN_TRANSACTIONS_H
#define ADMIN_TRANSACTIONS_H

#include "admin/session.h"

/* The transaction with @transaction_id; *found: whether there is one. Not every one moved something. */
enum outcome transaction_fetch(struct session *session, uint64_t transaction_id, struct transaction *row,
	bool *found);

/* The movement that a row names by its transaction id; that it is not there is reported. */
enum outcome movement_fetch(struct session *session, uint64_t transaction_id, struct transaction *entry);

struct movements {
	struct session *session;
	struct player player;
	struct transaction last;  /* the one that was taken; none yet: transaction_id is 0 */
	enum outcome code; /* why movements_next() ended; OUTCOME_DONE: there are no more */
};

/* Walks the movements that @player had when the row was read. */
void movements_open(struct movements *movements, struct session *session, const struct player *player);
/*
 * Takes the next older one. False: none left, or a failure that was reported, also of one that is not
 * the movement that the player row or the one taken before tells of.
 */
bool movements_next(struct movements *movements, struct transaction *entry);

#endif
