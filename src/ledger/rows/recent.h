/*
 * recent - the ids of the newest transactions with their dealers, in memory.
 *
 * A reader of the feed that has read all items asks again ten times a second. With these ids the
 * ledger finds new items without a look at the rows of other dealers. After a start there are none;
 * older transactions are found in the store.
 */
#ifndef LEDGER_ROWS_RECENT_H
#define LEDGER_ROWS_RECENT_H

#include "domain/records.h"

#define RECENT_MAX 16384

struct recent {
	uint64_t from; /* every transaction with a larger id is here */
	uint32_t first, count;
	struct {
		uint64_t transaction_id;
		uint32_t dealer; /* text_hash() of its casino_id */
	} entries[RECENT_MAX];   /* a ring, in the order of the ids */
};

/* Forgets all. @from: the last id that was given out. */
void recent_begin(struct recent *recent, uint64_t from);
/* Adds a transaction that was saved. Its id is larger than those before. */
void recent_add(struct recent *recent, const struct transaction *entry);

/* The result of recent_find(). */
struct recent_found {
	uint32_t count;
	uint64_t last; /* the last id that was looked at, or the one to begin after */
	bool more;     /* the array is full, and further transactions follow */
};
/*
 * Finds the transactions after @after of the dealer, @most at most, and writes their ids. Some may be
 * of another dealer with the same hash. Returns false if transactions after @after are not all here.
 */
bool recent_find(const struct recent *recent, const char *casino_id, uint64_t after, uint64_t *ids,
	uint32_t most, struct recent_found *found);

#endif
