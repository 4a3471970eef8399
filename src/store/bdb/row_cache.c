#include "store/bdb/row_cache.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

/* Kinds with few, small rows and no bytes members (FIELD_BYTES), which point elsewhere. */
static const bool is_cached[RECORD_COUNT] = {
	[RECORD_COUNTER] = true,
	[RECORD_DEALER] = true,
	[RECORD_TOTAL] = true,
	[RECORD_DEALER_DAY] = true,
	[RECORD_CLIENT] = true,
};

static bool slot_holds(const struct row_cache_slot *slot, const struct ws_row *row)
{
	return slot->data && slot->record == row->record && slot->key_len == row->key_len &&
		memcmp(slot->key, row->key, row->key_len) == 0;
}

void row_cache_free(struct row_cache *cache)
{
	for (unsigned int i = 0; i < ROW_CACHE_SLOTS; i++)
		free(cache->slots[i].data);
	memset(cache, 0, sizeof(*cache));
}

const void *row_cache_find(const struct row_cache *cache, const struct ws_row *row)
{
	const struct row_cache_slot *slot = &cache->slots[row->hash % ROW_CACHE_SLOTS];

	return is_cached[row->record] && slot_holds(slot, row) ? slot->data : NULL;
}

void row_cache_update(struct row_cache *cache, const struct ws_row *row)
{
	struct row_cache_slot *slot = &cache->slots[row->hash % ROW_CACHE_SLOTS];

	CHECK(row->state != WS_WANTED);
	if (!is_cached[row->record] || row->key_len > ROW_CACHE_KEY_MAX)
		return;
	if (!slot_holds(slot, row)) {
		free(slot->data);
		slot->data = malloc(record_infos[row->record].size);
		slot->record = row->record;
		slot->key_len = row->key_len;
		memcpy(slot->key, row->key, row->key_len);
	}
	if (slot->data && row->state == WS_LOADED) {
		memcpy(slot->data, row->data, record_infos[row->record].size);
	} else {
		free(slot->data);
		slot->data = NULL;
	}
}
