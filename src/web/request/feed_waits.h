/*
 * feed_waits - the calls of the feed that wait for a transaction, in one worker (contract, "Feed").
 *
 * They are fibers of one thread, so there is no lock. Each looks for new transactions every
 * FEED_LOOK_MS and otherwise sleeps: it holds neither a permit nor anything of the ledger. It
 * occupies a slot of its worker, so at most half of the slots may wait. A further call is refused.
 * With an answer without items, its caller would call again at once.
 *
 * The calls of one dealer cannot keep all places: if every place is taken, a dealer that has none
 * gets the place of the oldest call of a dealer that has several. That call is then answered
 * without items.
 */
#ifndef WEB_REQUEST_FEED_WAITS_H
#define WEB_REQUEST_FEED_WAITS_H

#include "domain/records.h"

/* Waiting calls of a worker, and of one dealer in it. */
#define FEED_WAITS_MAX        64
#define FEED_WAITS_DEALER_MAX 4
/* The longest wait. Web servers end a request after 20 s. */
#define FEED_WAIT_MS           15000
#define FEED_WAIT_ASKED_MAX_MS 20000
#define FEED_LOOK_MS           100

struct feed_waits {
	unsigned int room;                               /* places, at most FEED_WAITS_MAX */
	uint64_t taken;                                  /* places that were taken so far */
	char casino_ids[FEED_WAITS_MAX][CASINO_ID_SIZE]; /* "": free */
	uint64_t numbers[FEED_WAITS_MAX];                /* the number of each taken place */
};

/* The place of one call. */
struct feed_place {
	unsigned int at;
	uint64_t number; /* of all that were taken, this was the n-th: 1, 2 and so on */
};

/* Makes places for the calls of a worker with @slots. */
void feed_waits_init(struct feed_waits *waits, unsigned int slots);
/*
 * Takes a place for a waiting call of the dealer. Returns false if the dealer has
 * FEED_WAITS_DEALER_MAX, or if all are taken and the dealer has one or no dealer has several.
 */
bool feed_waits_take(struct feed_waits *waits, const char *casino_id, struct feed_place *place);
/* Returns true until the place is given back, or another dealer gets it. */
bool feed_waits_holds(const struct feed_waits *waits, const struct feed_place *place);
/* Gives the place back. Has no effect if another dealer has it. */
void feed_waits_give(struct feed_waits *waits, const struct feed_place *place);

#endif
