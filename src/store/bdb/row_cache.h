/*
 * row_cache - the few rows that nearly every batch reads, decoded, as they were last saved.
 *
 * Counters, dealers, their sums and game servers. Whatever the store loads or saves of these kinds
 * passes here, and nobody else writes them, so that a row kept here is the row on the disk. A place
 * is shared by rows whose names have the same hash: the last one has it.
 */
#ifndef STORE_BDB_ROW_CACHE_H
#define STORE_BDB_ROW_CACHE_H

#include "store/ws.h"

#define KEPT_PLACES 512
#define KEPT_KEY_MAX 96

struct kept {
	struct kept_row {
		void *data; /* NULL: the place is empty */
		enum record record;
		uint32_t key_len;
		uint8_t key[KEPT_KEY_MAX];
	} places[KEPT_PLACES];
};

void kept_free(struct kept *kept);
/* The row that @row names, or NULL: it is not kept, which tells nothing of the store. */
const void *kept_find(const struct kept *kept, const struct ws_row *row);
/* @row was loaded or saved as it is, or dropped. */
void kept_follow(struct kept *kept, const struct ws_row *row);

#endif
