/*
 * movements - transactions and movements by their ids, and a player's movements from the last to the
 * first.
 */
#ifndef CMD_CTL_MOVEMENTS_H
#define CMD_CTL_MOVEMENTS_H

#include "cmd/ctl/ctl.h"

/* The transaction with @transaction_id; *found: whether there is one. Not every one moved something. */
enum ctl_exit transaction_fetch(struct ctl *ctl, uint64_t transaction_id, struct transaction *row,
	bool *found);

/* The movement that a row names by its transaction id; that it is not there is reported. */
enum ctl_exit movement_fetch(struct ctl *ctl, uint64_t transaction_id, struct transaction *entry);

struct movements {
	struct ctl *ctl;
	struct player player;
	struct transaction last;  /* the one that was taken; none yet: transaction_id is 0 */
	enum ctl_exit code; /* why movements_next() ended; CTL_DONE: there are no more */
};

/* Walks the movements that @player had when the row was read. */
void movements_open(struct movements *movements, struct ctl *ctl, const struct player *player);
/*
 * Takes the next older one. False: none left, or a failure that was reported, also of one that is not
 * the movement that the player row or the one taken before tells of.
 */
bool movements_next(struct movements *movements, struct transaction *entry);

#endif
