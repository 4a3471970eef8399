#include "admin/callbacks/callback_shape.h"

#include "admin/list.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   (60 * MINUTE_MS)

/* The upper bounds of the ages; the last age has none. */
static const int64_t ages_ms[SHAPE_AGES - 1] = {MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS,
	4 * HOUR_MS, 24 * HOUR_MS};

const char *const shape_wait_names[WAIT_COUNT] = {"due", "parked", "held"};

static int order_dealers(const void *a, const void *b)
{
	const struct shape_dealer *one = a, *other = b;

	return strcmp(one->casino_id, other->casino_id);
}

static void count_callback(struct callback_shape *shape, enum shape_wait wait,
	const struct callback *callback)
{
	const int64_t age_ms = shape->now_ms - callback->created_ms;
	struct shape_dealer key, *dealer;
	unsigned int age = 0;

	memset(&key, 0, sizeof(key));
	memcpy(key.casino_id, callback->casino_id, sizeof(key.casino_id));
	dealer = shape->count
		? bsearch(&key, shape->dealers, shape->count, sizeof(key), order_dealers)
		: NULL;
	/* A dealer that was added after the table was made has no old callbacks. */
	if (!dealer || !shape->asked[wait] || !(shape->kinds & UINT32_C(1) << callback->kind) ||
		!filter_names(shape->filter, callback->casino_id, callback->player_id,
			callback->game_id))
		return;
	while (age < SHAPE_AGES - 1 && age_ms >= ages_ms[age])
		age++;
	dealer->waits[wait].ages[age]++;
}

/* Creates the table of dealers. */
static enum outcome list_dealers(struct callback_shape *shape)
{
	struct list list;
	struct total row;

	shape->dealers = calloc(DEALERS_MAX, sizeof(*shape->dealers));
	if (!shape->dealers)
		return session_no_memory(shape->session);
	list_open(&list, shape->session, RECORD_TOTAL, false, 0, NULL);
	while (shape->count < DEALERS_MAX && list_next(&list, &row)) {
		memcpy(shape->dealers[shape->count].casino_id, row.casino_id,
			sizeof(row.casino_id));
		shape->dealers[shape->count++].aside = row.parked + row.held;
	}
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome walk_due(struct callback_shape *shape)
{
	struct callback callback;
	struct list list;
	struct due row;
	enum outcome code = OUTCOME_DONE;
	bool found;

	list_open(&list, shape->session, RECORD_DUE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if (shape->filter->casino_id[0] &&
			strcmp(shape->filter->casino_id, row.casino_id) != 0)
			continue;
		memset(&callback, 0, sizeof(callback));
		callback.event = row.event;
		code = list_fetch(shape->session, RECORD_CALLBACK, &callback, &found, NULL);
		/* The callback may have ended since. */
		if (code == OUTCOME_DONE && found &&
			(callback.state == CALLBACK_DUE || callback.state == CALLBACK_SENDING))
			count_callback(shape, WAIT_DUE, &callback);
	}
	return list_end(&list, code);
}

static enum outcome walk_dealer(struct callback_shape *shape, const char *casino_id)
{
	struct list list;
	struct callback row;

	list_open(&list, shape->session, RECORD_CALLBACK, true, 0, NULL);
	list.aside_of = casino_id;
	while (list_next(&list, &row))
		count_callback(shape, row.state == CALLBACK_HELD ? WAIT_HELD : WAIT_PARKED, &row);
	return list_end(&list, OUTCOME_DONE);
}

/* Walks the parked and held callbacks of each dealer that has some. */
static enum outcome walk_aside(struct callback_shape *shape)
{
	const char *asked = shape->filter->casino_id;
	enum outcome code = OUTCOME_DONE;

	for (size_t i = 0; i < shape->count && code == OUTCOME_DONE; i++) {
		if (shape->dealers[i].aside &&
			(!asked[0] || strcmp(asked, shape->dealers[i].casino_id) == 0))
			code = walk_dealer(shape, shape->dealers[i].casino_id);
	}
	return code;
}

enum outcome callback_shape_count(struct callback_shape *shape)
{
	enum outcome code = list_dealers(shape);

	if (code == OUTCOME_DONE && shape->asked[WAIT_DUE])
		code = walk_due(shape);
	if (code == OUTCOME_DONE && (shape->asked[WAIT_PARKED] || shape->asked[WAIT_HELD]))
		code = walk_aside(shape);
	return code;
}
