/*
 * unconfirmed - the dealers and game servers whose keys a restore brought back and no operator
 * confirmed since.
 *
 * `status` and the metrics report their number. A running ledger only removes owners, because a
 * restore runs while no ledger does.
 */
#ifndef LEDGER_UNCONFIRMED_H
#define LEDGER_UNCONFIRMED_H

#include "domain/records.h"

/* Zeroed: empty. */
struct unconfirmed {
	char (*owners)[CASINO_ID_SIZE + 1]; /* 'd' or 'c', and the id; in order after _sort() */
	size_t count;
	size_t room;
};

void unconfirmed_free(struct unconfirmed *unconfirmed);

/*
 * Adds the owner of @row, a dealer or a client, if its keys are unconfirmed. For the start.
 * Returns false if memory is exhausted.
 */
bool unconfirmed_add(struct unconfirmed *unconfirmed, enum record record, const void *row);
void unconfirmed_sort(struct unconfirmed *unconfirmed);

/* Removes the owner of @row. */
void unconfirmed_forget(struct unconfirmed *unconfirmed, enum record record, const void *row);
/* Removes the owner of @row if its keys are confirmed or it was removed. */
void unconfirmed_follow(struct unconfirmed *unconfirmed, enum record record, const void *row);

#endif
