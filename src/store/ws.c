#include "store/ws.h"

#include "base/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WS_BLOCK_SIZE (64 * 1024)
#define WS_KEY_MAX    1024

/* Rows are cut off blocks, so that a batch costs no malloc per row. */
struct ws_block {
	struct ws_block *next;
	size_t used;
	_Alignas(16) uint8_t bytes[WS_BLOCK_SIZE];
};

void ws_init(struct ws *ws)
{
	memset(ws, 0, sizeof(*ws));
	buffer_init(&ws->key, WS_KEY_MAX);
}

void ws_free(struct ws *ws)
{
	struct ws_block *block = ws->blocks, *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	buffer_free(&ws->key);
	ws_init(ws);
}

void ws_reset(struct ws *ws)
{
	for (struct ws_row *row = ws->first; row; row = row->next)
		ws->buckets[row->hash % WS_BUCKETS] = NULL;
	ws->first = ws->last = ws->first_wanted = NULL;
	ws->block = ws->blocks;
	if (ws->block)
		ws->block->used = 0;
	ws->dirty = false;
	ws->fault = false;
	ws->fault_text[0] = '\0';
}

static void fault(struct ws *ws, const char *what, enum record record)
{
	if (!ws->fault)
		snprintf(ws->fault_text, sizeof(ws->fault_text), "%s a %s row", what,
			record_infos[record].name);
	ws->fault = true;
}

static void *take(struct ws *ws, size_t size)
{
	struct ws_block *block = ws->block;
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (size > WS_BLOCK_SIZE)
		return NULL;
	if (!block || WS_BLOCK_SIZE - block->used < size) {
		struct ws_block *next = block ? block->next : ws->blocks;

		if (!next) {
			next = malloc(sizeof(*next));
			if (!next)
				return NULL;
			next->next = NULL;
			if (block)
				block->next = next;
			else
				ws->blocks = next;
		}
		next->used = 0;
		ws->block = block = next;
	}
	memory = block->bytes + block->used;
	block->used += size;
	return memory;
}

static uint32_t hash_key(enum record record, const struct buffer *key)
{
	uint32_t hash = 2166136261u ^ (uint32_t)record;

	for (size_t i = 0; i < key->len; i++)
		hash = (hash ^ key->data[i]) * 16777619u;
	return hash;
}

/* Packs the key of @key_row into ws->key. */
static bool make_key(struct ws *ws, enum record record, const void *key_row, uint32_t *hash)
{
	const struct record_info *info = &record_infos[record];

	buffer_reset(&ws->key);
	if (!pack_key(&ws->key, info->fields, info->key_count, key_row)) {
		fault(ws, "cannot name", record);
		return false;
	}
	*hash = hash_key(record, &ws->key);
	return true;
}

static struct ws_row *find(const struct ws *ws, enum record record, uint32_t hash)
{
	struct ws_row *row = ws->buckets[hash % WS_BUCKETS];

	for (; row; row = row->next_in_bucket) {
		if (row->hash == hash && row->record == record && row->key_len == ws->key.len &&
			memcmp(row->key, ws->key.data, row->key_len) == 0)
			return row;
	}
	return NULL;
}

/* Adds a row named by ws->key. */
static struct ws_row *add(struct ws *ws, enum record record, uint32_t hash)
{
	struct ws_row *row = take(ws, sizeof(*row));
	uint8_t *key = take(ws, ws->key.len);

	if (!row || !key) {
		fault(ws, "no memory for", record);
		return NULL;
	}
	memset(row, 0, sizeof(*row));
	memcpy(key, ws->key.data, ws->key.len);
	row->record = record;
	row->hash = hash;
	row->key = key;
	row->key_len = (uint32_t)ws->key.len;
	row->next_in_bucket = ws->buckets[hash % WS_BUCKETS];
	ws->buckets[hash % WS_BUCKETS] = row;
	if (ws->last)
		ws->last->next = row;
	else
		ws->first = row;
	ws->last = row;
	return row;
}

void ws_want(struct ws *ws, enum record record, const void *key_row)
{
	struct ws_row *row;
	uint32_t hash;

	if (!make_key(ws, record, key_row, &hash) || find(ws, record, hash))
		return;
	row = add(ws, record, hash);
	if (!row)
		return;
	row->state = WS_WANTED;
	if (!ws->first_wanted)
		ws->first_wanted = row;
}

const void *ws_get(struct ws *ws, enum record record, const void *key_row)
{
	struct ws_row *row;
	uint32_t hash;

	if (!make_key(ws, record, key_row, &hash))
		return NULL;
	row = find(ws, record, hash);
	if (!row || row->state == WS_WANTED) {
		fault(ws, "undeclared read of", record);
		return NULL;
	}
	return row->state == WS_LOADED ? row->data : NULL;
}

static void write_row(struct ws *ws, struct ws_row *row, const void *data)
{
	void *to = row->data ? row->data : take(ws, record_infos[row->record].size);

	if (!to) {
		fault(ws, "no memory for", row->record);
		return;
	}
	if (to != data)
		memcpy(to, data, record_infos[row->record].size);
	row->data = to;
	row->state = WS_LOADED;
	row->dirty = true;
	ws->dirty = true;
}

void ws_put(struct ws *ws, enum record record, const void *data)
{
	struct ws_row *row;
	uint32_t hash;

	if (!make_key(ws, record, data, &hash))
		return;
	row = find(ws, record, hash);
	if (row && row->state != WS_WANTED)
		write_row(ws, row, data);
	else
		fault(ws, "undeclared write of", record);
}

void ws_append(struct ws *ws, enum record record, const void *data)
{
	struct ws_row *row;
	uint32_t hash;

	if (!make_key(ws, record, data, &hash))
		return;
	row = find(ws, record, hash);
	if (row && row->state != WS_ABSENT) {
		fault(ws, "second append of", record);
		return;
	}
	if (!row)
		row = add(ws, record, hash);
	if (!row)
		return;
	row->appended = true;
	write_row(ws, row, data);
}

bool ws_pending(const struct ws *ws)
{
	return ws->first_wanted != NULL;
}

void ws_row_absent(struct ws_row *row)
{
	row->state = WS_ABSENT;
}

void *ws_row_fill(struct ws *ws, struct ws_row *row)
{
	const struct record_info *info = &record_infos[row->record];
	struct bytes key = {row->key, row->key_len};

	row->data = take(ws, info->size);
	if (!row->data) {
		fault(ws, "no memory for", row->record);
		return NULL;
	}
	memset(row->data, 0, info->size);
	unpack_key(&key, info->fields, info->key_count, row->data);
	row->state = WS_LOADED;
	return row->data;
}
