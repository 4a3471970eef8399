#include "store/bdb/row_cache.h"

#include <stdlib.h>
#include <string.h>

/* Kinds with few, small rows and no bytes members (FIELD_BYTES), which point elsewhere. */
static const bool is_kept[RECORD_COUNT] = {
	[RECORD_COUNTER] = true,
	[RECORD_DEALER] = true,
	[RECORD_TOTAL] = true,
	[RECORD_CLIENT] = true,
};

static bool names(const struct kept_row *place, const struct ws_row *row)
{
	return place->data && place->record == row->record && place->key_len == row->key_len &&
		memcmp(place->key, row->key, row->key_len) == 0;
}

void kept_free(struct kept *kept)
{
	for (unsigned int i = 0; i < KEPT_PLACES; i++)
		free(kept->places[i].data);
	memset(kept, 0, sizeof(*kept));
}

const void *kept_find(const struct kept *kept, const struct ws_row *row)
{
	const struct kept_row *place = &kept->places[row->hash % KEPT_PLACES];

	return is_kept[row->record] && names(place, row) ? place->data : NULL;
}

void kept_follow(struct kept *kept, const struct ws_row *row)
{
	struct kept_row *place = &kept->places[row->hash % KEPT_PLACES];

	if (!is_kept[row->record] || row->key_len > KEPT_KEY_MAX)
		return;
	if (!names(place, row)) {
		free(place->data);
		place->data = malloc(record_infos[row->record].size);
		place->record = row->record;
		place->key_len = row->key_len;
		memcpy(place->key, row->key, row->key_len);
	}
	if (place->data && row->state == WS_LOADED) {
		memcpy(place->data, row->data, record_infos[row->record].size);
	} else {
		free(place->data);
		place->data = NULL;
	}
}
