/*
 * row_cache - decoded copies of the few rows that nearly every batch reads, as last saved.
 *
 * It holds counters, dealers, their totals and game servers. Each load and save of these kinds
 * passes through the cache, and no other writer exists. A cached row therefore equals the row on
 * the disk. Rows whose names have the same hash share a slot; the last one occupies it.
 */
#ifndef STORE_BDB_ROW_CACHE_H
#define STORE_BDB_ROW_CACHE_H

#include "store/ws.h"

#define ROW_CACHE_SLOTS   512
#define ROW_CACHE_KEY_MAX 96

struct row_cache {
	struct row_cache_slot {
		void *data; /* NULL: the slot is empty */
		enum record record;
		uint32_t key_len;
		uint8_t key[ROW_CACHE_KEY_MAX];
	} slots[ROW_CACHE_SLOTS];
};

void row_cache_free(struct row_cache *cache);
/* Returns the row that @row names, or NULL if it is not cached; the store may still have it. */
const void *row_cache_find(const struct row_cache *cache, const struct ws_row *row);
/* Follows a load, save or deletion of @row. */
void row_cache_update(struct row_cache *cache, const struct ws_row *row);

#endif
