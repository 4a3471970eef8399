#include "store/ws.h"

#include "base/check.h"
#include "base/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WS_KEY_MAX 1024

void ws_init(struct ws *ws)
{
	memset(ws, 0, sizeof(*ws));
	arena_init(&ws->arena);
	buffer_init(&ws->key, WS_KEY_MAX);
}

void ws_free(struct ws *ws)
{
	arena_free(&ws->arena);
	buffer_free(&ws->key);
	ws_init(ws);
}

struct ws *ws_new(void)
{
	struct ws *ws = malloc(sizeof(*ws));

	if (ws)
		ws_init(ws);
	return ws;
}

void ws_delete(struct ws *ws)
{
	if (ws)
		ws_free(ws);
	free(ws);
}

void ws_reset(struct ws *ws)
{
	for (struct ws_row *row = ws->first; row; row = row->next)
		ws->buckets[row->hash % WS_BUCKETS] = NULL;
	ws->first = ws->last = ws->first_wanted = NULL;
	arena_reset(&ws->arena);
	ws->loaded = 0;
	ws->supposed = false;
	ws->dirty = false;
	ws->fault = false;
	ws->fault_text[0] = '\0';
}

static void mark_fault(struct ws *ws, const char *what, enum record record)
{
	if (!ws->fault)
		snprintf(ws->fault_text, sizeof(ws->fault_text), "%s a %s row", what,
			record_infos[record].name);
	ws->fault = true;
}

void ws_fail(struct ws *ws, const char *why)
{
	if (!ws->fault)
		snprintf(ws->fault_text, sizeof(ws->fault_text), "%s", why);
	ws->fault = true;
}

static uint32_t hash_key(enum record record, const struct buffer *key)
{
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)record + 1), word;
	size_t at = 0;

	for (; key->len - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, key->data + at, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	for (; at < key->len; at++)
		hash = (hash ^ key->data[at]) * UINT64_C(0x100000001b3);
	/* Keys that are numbers differ in their last bytes, which are the highest of @word. */
	return (uint32_t)(hash * UINT64_C(0xc4ceb9fe1a85ec53) >> 32);
}

/* Packs the key of @key_row into ws->key. */
static bool pack_row_key(struct ws *ws, enum record record, const void *key_row, uint32_t *hash)
{
	const struct record_info *info = &record_infos[record];

	CHECK(record < RECORD_COUNT);
	buffer_reset(&ws->key);
	if (!pack_key(&ws->key, info->fields, info->key_count, key_row)) {
		mark_fault(ws, "cannot name", record);
		return false;
	}
	*hash = hash_key(record, &ws->key);
	return true;
}

static struct ws_row *find_row(const struct ws *ws, enum record record, uint32_t hash)
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
static struct ws_row *add_row(struct ws *ws, enum record record, uint32_t hash)
{
	struct ws_row *row = arena_take(&ws->arena, sizeof(*row));
	uint8_t *key = arena_take(&ws->arena, ws->key.len);

	if (!row || !key) {
		mark_fault(ws, "no memory for", record);
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

/*
 * Declares the row and returns it if it is new. Returns NULL if memory is exhausted, or if the row
 * was declared before; *@before is then that row.
 */
static struct ws_row *declare_row(struct ws *ws, enum record record, const void *key_row,
	struct ws_row **before)
{
	uint32_t hash;

	*before = NULL;
	if (!pack_row_key(ws, record, key_row, &hash))
		return NULL;
	*before = find_row(ws, record, hash);
	return *before ? NULL : add_row(ws, record, hash);
}

static void mark_wanted(struct ws *ws, struct ws_row *row)
{
	/* Loading it would lose what a command wrote. */
	CHECK(!row->dirty);
	row->state = WS_WANTED;
	if (!ws->first_wanted)
		ws->first_wanted = row;
}

void ws_want(struct ws *ws, enum record record, const void *key_row)
{
	struct ws_row *before, *row = declare_row(ws, record, key_row, &before);

	if (row)
		mark_wanted(ws, row);
	if (!before)
		return;
	before->without_object = false;
	if (!before->left_out)
		return;
	if (before->dirty) {
		mark_fault(ws, "late declaration of", record);
		return;
	}
	mark_wanted(ws, before);
	ws->first_wanted = ws->first;
}

void ws_want_without_object(struct ws *ws, enum record record, const void *key_row)
{
	struct ws_row *before, *row = declare_row(ws, record, key_row, &before);

	if (!row)
		return;
	row->without_object = true;
	mark_wanted(ws, row);
}

void ws_want_new(struct ws *ws, enum record record, const void *key_row)
{
	struct ws_row *before, *row = declare_row(ws, record, key_row, &before);

	if (!row)
		return;
	if (!ws->supposing) {
		mark_wanted(ws, row);
		return;
	}
	row->state = WS_ABSENT;
	row->supposed = ws->supposed = true;
}

bool ws_check(struct ws *ws)
{
	if (!ws->supposed)
		return false;
	for (struct ws_row *row = ws->first; row; row = row->next) {
		if (row->supposed && !row->dirty)
			mark_wanted(ws, row);
	}
	return ws_pending(ws);
}

bool ws_supposed_right(const struct ws *ws)
{
	const struct ws_row *row = ws->supposed ? ws->first : NULL;

	while (row && !(row->supposed && !row->dirty && row->state != WS_ABSENT))
		row = row->next;
	return !row;
}

const void *ws_get(struct ws *ws, enum record record, const void *key_row)
{
	struct ws_row *row;
	uint32_t hash;

	ws->reads++;
	if (!pack_row_key(ws, record, key_row, &hash))
		return NULL;
	row = find_row(ws, record, hash);
	if (!row || row->state == WS_WANTED) {
		mark_fault(ws, "undeclared read of", record);
		return NULL;
	}
	CHECK(row->state != WS_LOADED || row->data);
	return row->state == WS_LOADED ? row->data : NULL;
}

bool ws_loaded(struct ws *ws, enum record record, const void *key_row)
{
	const struct ws_row *row;
	uint32_t hash;

	ws->reads++;
	if (!pack_row_key(ws, record, key_row, &hash))
		return false;
	row = find_row(ws, record, hash);
	return row && row->state != WS_WANTED;
}

/* Keeps the struct that was loaded, before a command changes it for the first time. */
static void keep_before(struct ws *ws, struct ws_row *row)
{
	const uint32_t size = record_infos[row->record].size;
	void *copy;

	if (!(ws->keeps & UINT32_C(1) << row->record) || !row->stored || row->dirty)
		return;
	/* A row that was not loaded is not stored, and one that was dropped is dirty. */
	CHECK(row->data);
	copy = arena_take(&ws->arena, size);
	if (!copy) {
		mark_fault(ws, "no memory for", row->record);
		return;
	}
	memcpy(copy, row->data, size);
	row->before = copy;
}

static void write_row(struct ws *ws, struct ws_row *row, const void *data)
{
	const struct record_info *info = &record_infos[row->record];
	void *to = row->data ? row->data : arena_take(&ws->arena, info->size);

	if (!to) {
		mark_fault(ws, "no memory for", row->record);
		return;
	}
	keep_before(ws, row);
	if (to != data)
		memcpy(to, data, info->size);
	if (row->left_out && record_weigh(row->record, to) != info->size)
		mark_fault(ws, "write of an object that was not loaded of", row->record);
	if (!arena_keep_bytes(&ws->arena, info->fields, to))
		mark_fault(ws, "no memory for", row->record);
	if (row->supposed)
		row->appended = true;
	/* An append of a stored row would fail in the store. */
	CHECK(!row->appended || !row->stored);
	row->data = to;
	row->state = WS_LOADED;
	row->dirty = true;
	row->dropped = false;
	ws->dirty = true;
}

void ws_put(struct ws *ws, enum record record, const void *data)
{
	struct ws_row *row;
	uint32_t hash;

	if (!pack_row_key(ws, record, data, &hash))
		return;
	row = find_row(ws, record, hash);
	if (row && row->state != WS_WANTED)
		write_row(ws, row, data);
	else
		mark_fault(ws, "undeclared write of", record);
}

void ws_append(struct ws *ws, enum record record, const void *data)
{
	struct ws_row *row;
	uint32_t hash;

	if (!pack_row_key(ws, record, data, &hash))
		return;
	row = find_row(ws, record, hash);
	if (row && row->state != WS_ABSENT) {
		mark_fault(ws, "second append of", record);
		return;
	}
	if (!row)
		row = add_row(ws, record, hash);
	if (!row)
		return;
	row->appended = !row->stored;
	write_row(ws, row, data);
}

void ws_drop(struct ws *ws, enum record record, const void *key_row)
{
	struct ws_row *row;
	uint32_t hash;

	if (!pack_row_key(ws, record, key_row, &hash))
		return;
	row = find_row(ws, record, hash);
	if (!row || row->state == WS_WANTED) {
		mark_fault(ws, "undeclared drop of", record);
		return;
	}
	if (row->left_out) {
		mark_fault(ws, "drop without its object of", record);
		return;
	}
	if (row->state == WS_ABSENT)
		return;
	row->state = WS_ABSENT;
	row->dirty = row->dropped = row->stored;
	ws->dirty |= row->stored;
}

bool ws_pending(const struct ws *ws)
{
	return ws->first_wanted != NULL;
}

void ws_row_absent(struct ws_row *row)
{
	CHECK(row->state == WS_WANTED && !row->dirty);
	row->state = WS_ABSENT;
}

void *ws_row_fill(struct ws *ws, struct ws_row *row)
{
	const struct record_info *info = &record_infos[row->record];
	struct bytes key = {row->key, row->key_len};

	CHECK(row->state == WS_WANTED && !row->dirty);
	row->data = arena_take(&ws->arena, info->size);
	if (!row->data) {
		mark_fault(ws, "no memory for", row->record);
		return NULL;
	}
	memset(row->data, 0, info->size);
	CHECK(unpack_key(&key, info->fields, info->key_count, row->data) && !key.len);
	return row->data;
}

void ws_row_loaded(struct ws *ws, struct ws_row *row)
{
	CHECK(row->state == WS_WANTED && row->data);
	if (!arena_keep_bytes(&ws->arena, record_infos[row->record].fields, row->data))
		mark_fault(ws, "no memory for", row->record);
	else if (!record_sane(row->record, row->data))
		mark_fault(ws, "damaged: numbers out of range in", row->record);
	ws->loaded += record_weigh(row->record, row->data);
	row->state = WS_LOADED;
	row->stored = true;
}

void ws_check_save(const struct ws *ws)
{
	/* A faulty working set lacks some of what a command wrote. */
	CHECK(!ws_faulty(ws));
}

void ws_row_check_save(const struct ws_row *row)
{
	CHECK(row->dirty);
	CHECK(row->state == (row->dropped ? WS_ABSENT : WS_LOADED));
	CHECK(row->data);
	CHECK(!row->dropped || row->stored);
	CHECK(!row->appended || !row->stored);
	/* The object that was not loaded stays as it is. */
	CHECK(!row->left_out || (row->stored && !row->dropped));
}
