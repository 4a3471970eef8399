#include "ledger/rows/life.h"

#include "base/text.h"
#include "ledger/rows/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t align_up(uint64_t id)
{
	return (id + LIFE_STRIDE - 1) / LIFE_STRIDE * LIFE_STRIDE;
}

static uint64_t larger_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t life_floor(int64_t wall_ms)
{
	if (wall_ms <= LIFE_EPOCH_MS || wall_ms > LIFE_CLOCK_MAX_MS)
		return 0;
	return align_up((uint64_t)(wall_ms - LIFE_EPOCH_MS) * 1000);
}

uint64_t life_first_id(const struct life_past *past, int64_t wall_ms, uint32_t number)
{
	uint64_t last = larger_of(past->transaction_id, past->event), first;

	if (last >= TRANSACTION_ID_MAX)
		return 0;
	first = larger_of(align_up(last + 1),
			larger_of(life_floor(wall_ms), life_floor(past->newest_ms))) +
		number;
	return first <= TRANSACTION_ID_MAX ? first : 0;
}

enum status life_check_clock(int64_t wall_ms, int64_t newest_ms, char *why, size_t why_size)
{
	if (!life_floor(wall_ms))
		snprintf(why, why_size,
			"the clock of this host says %" PRId64 " ms since 1970, "
			"which cannot be right: set the clock, and repeat this",
			wall_ms);
	else if (wall_ms < newest_ms - LIFE_BEHIND_MAX_MS)
		snprintf(why, why_size,
			"the clock of this host is %" PRId64 " minutes before the "
			"newest row of the data, so ids could be given out again: set the clock and "
			"repeat this, or give --accept-clock if the row's clock was wrong",
			(newest_ms - wall_ms) / 60000);
	else
		return STATUS_OK;
	return STATUS_CONFIG;
}

static int64_t time_of(enum record record, const void *row)
{
	switch (record) {
	case RECORD_TRANSACTION:
		return ((const struct transaction *)row)->time_ms;
	case RECORD_CALLBACK:
		return ((const struct callback *)row)->created_ms;
	default:
		return ((const struct audit *)row)->time_ms;
	}
}

struct newest {
	enum record record;
	int64_t ms;
};

static bool note_last(void *context, struct bytes key, const void *row)
{
	struct newest *newest = context;
	const int64_t ms = time_of(newest->record, row);

	(void)key;
	if (ms > newest->ms)
		newest->ms = ms;
	return false;
}

enum status life_newest(struct store *store, int64_t *newest_ms)
{
	/* Each table is appended to in the order of its ids, so its last row is the newest. */
	static const enum record records[] = {RECORD_TRANSACTION, RECORD_CALLBACK, RECORD_AUDIT};
	struct newest newest = {.ms = 0};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]) && !status; i++) {
		const struct store_range range = {.record = records[i], .reverse = true};

		newest.record = records[i];
		status = store->scan(store, &range, note_last, &newest);
	}
	*newest_ms = newest.ms;
	return status;
}

void life_want(struct ws *ws)
{
	counter_want(ws, LIFE_TRANSACTIONS);
	counter_want(ws, LIFE_EVENTS);
	counter_want(ws, LIFE_STRIDE_COUNTER);
	counter_want(ws, LIFE_NUMBER_COUNTER);
}

bool life_is_new(struct ws *ws)
{
	return !counter_read(ws, LIFE_TRANSACTIONS) && !counter_read(ws, LIFE_EVENTS) &&
		!counter_read(ws, LIFE_STRIDE_COUNTER);
}

static void put_counter(struct ws *ws, const char *name, uint64_t value)
{
	struct counter counter = {.value = value};

	text_copy(counter.name, sizeof(counter.name), name);
	ws_put(ws, RECORD_COUNTER, &counter);
}

bool life_begin(struct ws *ws, const struct life_begin *begin, struct life_begun *begun)
{
	const struct life_past past = {
		.transaction_id = counter_read(ws, LIFE_TRANSACTIONS),
		.event = counter_read(ws, LIFE_EVENTS),
		.newest_ms = begin->newest_ms,
	};
	const uint64_t first = life_first_id(&past, begin->wall_ms, begin->number);

	if (!first)
		return false;
	/* A counter holds the last id that was used. */
	put_counter(ws, LIFE_TRANSACTIONS, first - LIFE_STRIDE);
	put_counter(ws, LIFE_EVENTS, first - LIFE_STRIDE);
	put_counter(ws, LIFE_STRIDE_COUNTER, LIFE_STRIDE);
	put_counter(ws, LIFE_NUMBER_COUNTER, begin->number);
	begun->first_id = first;
	begun->raised_by = first - past.transaction_id;
	return true;
}

static enum status begin_first(struct store *store, struct ws *ws, int64_t wall_ms, uint32_t number,
	char *why, size_t why_size)
{
	enum status status;

	life_want(ws);
	status = store->load(store, ws);
	if (!status && ws_faulty(ws))
		status = STATUS_NOMEM;
	if (status) {
		snprintf(why, why_size, "cannot read the counters of ids: %s", status_text(status));
		return status;
	}
	if (!life_is_new(ws))
		return STATUS_OK;
	status = life_check_clock(wall_ms, 0, why, why_size);
	if (status)
		return status;
	/*
	 * The counters of ids stay 0, which means that no id was used: the floor of the engine is
	 * higher.
	 */
	put_counter(ws, LIFE_STRIDE_COUNTER, LIFE_STRIDE);
	put_counter(ws, LIFE_NUMBER_COUNTER, number);
	if (ws_faulty(ws)) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	switch (store->save(store, ws)) {
	case SAVE_OK:
		return STATUS_OK;
	case SAVE_FULL:
		snprintf(why, why_size, "the disk is full: free space there, then repeat this");
		return STATUS_FULL;
	default:
		snprintf(why, why_size,
			"cannot write the counter of ids: see that the disk of "
			"the data is writable");
		return STATUS_IO;
	}
}

enum status life_begin_first(struct store *store, int64_t wall_ms, uint32_t number, char *why,
	size_t why_size)
{
	struct ws *ws = ws_new();
	enum status status = STATUS_NOMEM;

	if (ws)
		status = begin_first(store, ws, wall_ms, number, why, why_size);
	else
		snprintf(why, why_size, "out of memory");
	ws_delete(ws);
	return status;
}

void life_raise(struct ws *ws, const char *name, uint64_t id)
{
	if (counter_read(ws, name) < id)
		put_counter(ws, name, id);
}

void life_want_id(struct ws *ws, const char *name)
{
	counter_want(ws, name);
}

static uint64_t stride_of(const struct ws *ws)
{
	return ws->id_stride ? ws->id_stride : 1;
}

uint64_t life_peek_id(struct ws *ws, const char *name)
{
	const uint64_t last = counter_read(ws, name);
	const uint64_t stride = stride_of(ws);
	uint64_t next;

	if (last >= TRANSACTION_ID_MAX)
		return 0;
	next = larger_of((last / stride + 1) * stride, ws->id_floor) + ws->id_number;
	return next <= TRANSACTION_ID_MAX ? next : 0;
}

uint64_t life_take_id(struct ws *ws, const char *name)
{
	const uint64_t id = life_peek_id(ws, name);

	if (id)
		put_counter(ws, name, id);
	return id;
}

uint64_t life_block_peek(struct ws *ws, const char *name, const struct life_block *block)
{
	return block->count ? block->next : life_peek_id(ws, name);
}

static void reserve_ids(struct ws *ws, const char *name, uint64_t ids, struct life_block *block)
{
	const uint64_t first = life_peek_id(ws, name);
	uint64_t left;

	if (!first)
		return;
	if (!ids)
		ids = LIFE_BLOCK_IDS;
	block->next = first;
	block->stride = stride_of(ws);
	left = (TRANSACTION_ID_MAX - first) / block->stride + 1;
	block->count = left < ids ? left : ids;
	put_counter(ws, name, first + (block->count - 1) * block->stride);
}

uint64_t life_block_take(struct ws *ws, const char *name, uint64_t ids, struct life_block *block)
{
	uint64_t id;

	if (!block->count)
		reserve_ids(ws, name, ids, block);
	if (!block->count)
		return 0;
	id = block->next;
	block->next += block->stride;
	block->count--;
	return id;
}
