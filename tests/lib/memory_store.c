#include "memory_store.h"

#include "base/pack.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct row {
	enum record record;
	uint32_t key_len;
	uint8_t *key;
	uint32_t value_len;
	uint8_t *value; /* packed, key members included */
};

struct memory_store {
	struct store store;
	struct row *rows;
	size_t count;
	size_t room;
	enum save_result fail_with;
	unsigned int fail_times;
};

static struct memory_store *self(struct store *store)
{
	return (struct memory_store *)((char *)store - offsetof(struct memory_store, store));
}

static int compare(const struct row *row, enum record record, struct bytes key)
{
	uint32_t len = row->key_len < key.len ? row->key_len : key.len;
	int order;

	if (row->record != record)
		return row->record < record ? -1 : 1;
	order = len ? memcmp(row->key, key.data, len) : 0;
	if (order)
		return order;
	return row->key_len < key.len ? -1 : row->key_len > key.len;
}

/* Returns the index of the first row that is not before @key. */
static size_t lower(const struct memory_store *memory, enum record record, struct bytes key)
{
	size_t from = 0, to = memory->count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (compare(&memory->rows[middle], record, key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct row *find(const struct memory_store *memory, const struct ws_row *wanted, size_t *at)
{
	struct bytes key = {wanted->key, wanted->key_len};

	*at = lower(memory, wanted->record, key);
	if (*at == memory->count || compare(&memory->rows[*at], wanted->record, key) != 0)
		return NULL;
	return &memory->rows[*at];
}

static bool unpack(const struct row *row, void *data)
{
	struct bytes in = {row->value, row->value_len};

	return unpack_record(&in, record_infos[row->record].fields, data) && !in.len;
}

static enum status load_rows(struct store *store, struct ws *ws)
{
	size_t at;

	for (struct ws_row *row = ws->first_wanted; row; row = row->next) {
		struct row *stored;

		if (row->state != WS_WANTED)
			continue;
		stored = find(self(store), row, &at);
		if (!stored) {
			ws_row_absent(row);
			continue;
		}
		if (!unpack(stored, ws_row_fill(ws, row)))
			return STATUS_CORRUPT;
		ws_row_loaded(ws, row);
	}
	ws->first_wanted = NULL;
	return STATUS_OK;
}

static void *copy(const void *from, size_t len)
{
	void *to = malloc(len ? len : 1);

	if (!to)
		abort();
	memcpy(to, from, len);
	return to;
}

static void insert(struct memory_store *memory, size_t at, const struct ws_row *row)
{
	if (memory->count == memory->room) {
		memory->room = memory->room ? 2 * memory->room : 64;
		memory->rows = realloc(memory->rows, memory->room * sizeof(*memory->rows));
		if (!memory->rows)
			abort();
	}
	memmove(&memory->rows[at + 1], &memory->rows[at],
		(memory->count - at) * sizeof(*memory->rows));
	memory->rows[at] = (struct row){.record = row->record,
		.key_len = row->key_len,
		.key = copy(row->key, row->key_len)};
	memory->count++;
}

static void release(struct row *row)
{
	free(row->key);
	free(row->value);
}

static void put(struct memory_store *memory, const struct ws_row *row)
{
	size_t at;
	struct row *stored = find(memory, row, &at);
	struct buffer value;

	if (row->dropped) {
		if (!stored)
			return;
		release(stored);
		memory->count--;
		memmove(stored, stored + 1, (memory->count - at) * sizeof(*stored));
		return;
	}
	buffer_init(&value, 1024 * 1024);
	if (!pack_record(&value, record_infos[row->record].fields, row->data))
		abort();
	if (!stored)
		insert(memory, at, row);
	free(memory->rows[at].value);
	memory->rows[at].value = value.data;
	memory->rows[at].value_len = (uint32_t)value.len;
}

static enum save_result memory_save(struct store *store, struct ws *ws)
{
	struct memory_store *memory = self(store);
	size_t at;

	ws_check_save(ws);
	if (memory->fail_times) {
		memory->fail_times--;
		return memory->fail_with;
	}
	for (struct ws_row *row = ws->first; row; row = row->next) {
		if (row->dirty)
			ws_row_check_save(row);
		if (row->dirty && row->appended && find(memory, row, &at))
			return SAVE_FAULT;
	}
	for (struct ws_row *row = ws->first; row; row = row->next) {
		if (row->dirty)
			put(memory, row);
	}
	return SAVE_OK;
}

static bool in_range(const struct row *row, const struct store_range *range)
{
	return row->record == range->record && row->key_len >= range->prefix.len &&
		(!range->prefix.len ||
			memcmp(row->key, range->prefix.data, range->prefix.len) == 0);
}

static enum status memory_scan(struct store *store, const struct store_range *range,
	store_visit *visit, void *context)
{
	struct memory_store *memory = self(store);
	const int step = range->reverse ? -1 : 1;
	ptrdiff_t at = range->reverse ? (ptrdiff_t)memory->count - 1 : 0;
	void *data;
	bool go_on;

	for (; at >= 0 && (size_t)at < memory->count; at += step) {
		const struct row *row = &memory->rows[at];
		int order = range->after.len ? compare(row, range->record, range->after) : step;

		if (!in_range(row, range) || order * step <= 0)
			continue;
		data = calloc(1, record_infos[row->record].size);
		if (!data || !unpack(row, data))
			abort();
		go_on = visit(context, (struct bytes){row->key, row->key_len}, data);
		free(data);
		if (!go_on)
			break;
	}
	return STATUS_OK;
}

static void memory_figures(struct store *store, struct store_figures *figures)
{
	(void)store;
	memset(figures, 0, sizeof(*figures));
}

static void memory_close(struct store *store)
{
	struct memory_store *memory = self(store);

	for (size_t i = 0; i < memory->count; i++) {
		release(&memory->rows[i]);
	}
	free(memory->rows);
	free(memory);
}

struct store *memory_store_new(void)
{
	struct memory_store *memory = calloc(1, sizeof(*memory));

	if (!memory)
		abort();
	memory->store = (struct store){
		.load = load_rows,
		.save = memory_save,
		.scan = memory_scan,
		.figures = memory_figures,
		.close = memory_close,
	};
	return &memory->store;
}

void memory_store_fail(struct store *store, enum save_result result, unsigned int times)
{
	self(store)->fail_with = result;
	self(store)->fail_times = times;
}
