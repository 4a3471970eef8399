/*
 * unconfirmed - which dealers and game servers have keys that a restore brought back and that were not
 * confirmed since. Their number is what `status` and the metrics tell. A ledger that runs only takes
 * owners away: a restore is done while none runs.
 */
#ifndef LEDGER_UNCONFIRMED_H
#define LEDGER_UNCONFIRMED_H

#include "domain/records.h"

/* Zeroed: there is none. */
struct unconfirmed {
	char (*owners)[CASINO_ID_SIZE + 1]; /* 'd' or 'c', and the id; in order after _sort() */
	size_t count;
	size_t room;
};

void unconfirmed_free(struct unconfirmed *unconfirmed);

/* At the start: adds the owner of @row, a dealer or a client, if it is one. False: no memory. */
bool unconfirmed_add(struct unconfirmed *unconfirmed, enum record record, const void *row);
void unconfirmed_sort(struct unconfirmed *unconfirmed);

/* Takes the owner of @row away, if its keys are confirmed or it was removed. */
void unconfirmed_follow(struct unconfirmed *unconfirmed, enum record record, const void *row);

#endif
