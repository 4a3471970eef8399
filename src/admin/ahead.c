#include "admin/ahead.h"

#include "base/pack.h"
#include "link/frame.h"

#include <stdlib.h>
#include <string.h>

/* The rows of one command. */
#define KEYS_MAX 64
/* The AHEAD_MAX rows, without JSON and bytes, need far less. */
#define ROWS_BYTES_MAX (4u << 20)

void ahead_open(struct ahead *ahead, struct session *session)
{
	memset(ahead, 0, sizeof(*ahead));
	ahead->session = session;
	buffer_init(&ahead->keys, AHEAD_MAX * LIST_KEY_MAX);
	buffer_init(&ahead->rows, ROWS_BYTES_MAX);
	session->ahead = ahead;
}

void ahead_close(struct ahead *ahead)
{
	ahead->session->ahead = NULL;
	buffer_free(&ahead->keys);
	buffer_free(&ahead->rows);
}

struct ahead *ahead_new(struct session *session)
{
	struct ahead *ahead = malloc(sizeof(*ahead));

	if (ahead)
		ahead_open(ahead, session);
	return ahead;
}

void ahead_free(struct ahead *ahead)
{
	ahead_close(ahead);
	free(ahead);
}

static bool has_key(const struct ahead *ahead, const struct ahead_row *row, enum record record,
	const uint8_t *key, size_t len)
{
	return row->record == record && row->key_len == len &&
		memcmp(ahead->keys.data + row->key_at, key, len) == 0;
}

static const struct ahead_row *find_key(const struct ahead *ahead, enum record record,
	const uint8_t *key, size_t len)
{
	for (unsigned int i = 0; i < ahead->count; i++) {
		if (has_key(ahead, &ahead->wanted[i], record, key, len))
			return &ahead->wanted[i];
	}
	return NULL;
}

void ahead_want(struct ahead *ahead, enum record record, const void *row)
{
	const struct record_info *info = &record_infos[record];
	struct ahead_row *wanted = &ahead->wanted[ahead->count];
	size_t at = ahead->keys.len;

	if (ahead->count == AHEAD_MAX ||
		!pack_key(&ahead->keys, info->fields, info->key_count, row))
		return;
	if (find_key(ahead, record, ahead->keys.data + at, ahead->keys.len - at)) {
		ahead->keys.len = at;
		return;
	}
	*wanted = (struct ahead_row){.record = record,
		.key_at = (uint32_t)at,
		.key_len = (uint32_t)(ahead->keys.len - at)};
	ahead->count++;
}

/*
 * Takes one row from @rows and keeps it with its key, which is wanted[@from] or a later one. Returns the index of that
 * key plus 1; 0 if no such key was wanted.
 */
static unsigned int keep_row(struct ahead *ahead, enum record record, struct bytes *rows,
	unsigned int from)
{
	const struct record_info *info = &record_infos[record];
	const uint8_t *data = rows->data;
	struct buffer key;
	unsigned int found = 0;
	union {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
	} row;

	if (!link_list_row(rows, record, &row))
		return 0;
	buffer_init(&key, LIST_KEY_MAX);
	link_list_key(&key, record, info->key_count, &row);
	for (unsigned int i = from; i < ahead->count && !found && !key.failed; i++) {
		struct ahead_row *wanted = &ahead->wanted[i];

		if (!has_key(ahead, wanted, record, key.data, key.len))
			continue;
		wanted->row_at = (uint32_t)ahead->rows.len;
		wanted->row_len = (uint32_t)(rows->data - data);
		buffer_append(&ahead->rows, data, wanted->row_len);
		found = i + 1;
	}
	/* A key without memory is reported by ahead_read(). */
	ahead->rows.failed |= key.failed;
	found = key.failed ? from + 1 : found;
	buffer_free(&key);
	return found;
}

/* Packs up to KEYS_MAX keys of @record from @from on. Returns the number after the last one. */
static unsigned int pack_keys(const struct ahead *ahead, enum record record, unsigned int from,
	struct buffer *keys)
{
	unsigned int packed = 0, i = from;

	buffer_reset(keys);
	for (; i < ahead->count && packed < KEYS_MAX; i++) {
		if (ahead->wanted[i].record != record)
			continue;
		buffer_append(keys, ahead->keys.data + ahead->wanted[i].key_at,
			ahead->wanted[i].key_len);
		packed++;
	}
	return i;
}

/* Reads the rows of one command. Sets *from to the index of the first key that was not answered. */
static enum outcome read_some(struct ahead *ahead, enum record record, struct buffer *keys,
	unsigned int *from)
{
	unsigned int end = pack_keys(ahead, record, *from, keys), after = *from;
	struct list_cmd cmd = {.record = record,
		.keys = {.data = keys->data, .len = (uint32_t)keys->len}};
	struct list_result result;
	enum outcome code;

	*from = end;
	if (keys->failed)
		return session_no_memory(ahead->session);
	if (!keys->len)
		return OUTCOME_DONE;
	code = session_do(ahead->session, COMMAND_LIST, &cmd, &result, NULL);
	if (code != OUTCOME_DONE)
		return code;
	for (uint32_t i = 0; i < result.count && (after || !i); i++)
		after = keep_row(ahead, record, &result.rows, after);
	if (result.more)
		*from = after;
	if (result.count ? after : !result.more)
		return OUTCOME_DONE;
	return session_fail(ahead->session, OUTCOME_FAILED, "failed",
		"the ledger sent a row that was not asked for, or cannot be read: run "
		"`creditbridgectl doctor`, which compares the versions");
}

enum outcome ahead_read(struct ahead *ahead)
{
	enum outcome code = OUTCOME_DONE;
	struct buffer keys;

	buffer_init(&keys, KEYS_MAX * LIST_KEY_MAX);
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		for (unsigned int from = 0; code == OUTCOME_DONE && from < ahead->count;)
			code = read_some(ahead, (enum record)record, &keys, &from);
	}
	buffer_free(&keys);
	if (code == OUTCOME_DONE && (ahead->keys.failed || ahead->rows.failed))
		return session_no_memory(ahead->session);
	return code;
}

bool ahead_find(const struct ahead *ahead, enum record record, void *row, bool *found)
{
	const struct record_info *info = &record_infos[record];
	const struct ahead_row *kept = NULL;
	struct bytes bytes = {.len = 0};
	struct buffer key;

	buffer_init(&key, LIST_KEY_MAX);
	if (pack_key(&key, info->fields, info->key_count, row))
		kept = find_key(ahead, record, key.data, key.len);
	buffer_free(&key);
	if (!kept)
		return false;
	*found = false;
	if (kept->row_len) {
		bytes = (struct bytes){ahead->rows.data + kept->row_at, kept->row_len};
		*found = link_list_row(&bytes, record, row);
	}
	return true;
}
