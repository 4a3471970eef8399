/*
 * ages - CALLBACK_AGES: counts the callbacks that wait, by state and age.
 *
 * It reads the index of those that are set aside (domain/aside.h), and the due ones from the schedule. Events
 * are numbered in the order of time, so of many callbacks only some are read: those at which an age begins.
 */
#include "base/pack.h"
#include "base/text.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/keys.h"

#include <stdlib.h>
#include <string.h>

#define KEY_MAX   (CASINO_ID_SIZE + 16)
#define MINUTE_MS INT64_C(60000)

static const int64_t age_ends_ms[CALLBACK_AGES - 1] = {MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS,
	1440 * MINUTE_MS};

/* Parked and held events of a page, each in its own array. */
struct age_look {
	struct callback_ages_result *result;
	uint32_t limit;
	uint32_t count[2];
	uint64_t events[2][CALLBACK_AGES_LOOK_MAX];
};

static int compare_events(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Reads the age of a callback. */
static enum status read_age(const struct read_context *context, uint64_t event, unsigned int *age)
{
	const struct callback key = callback_named(event);
	const struct callback *row;
	enum status status;

	*age = 0;
	ws_reset(context->ws);
	ws_want(context->ws, RECORD_CALLBACK, &key);
	status = context->store->load(context->store, context->ws);
	if (status)
		return status;
	if (ws_faulty(context->ws))
		return STATUS_NOMEM;
	row = ws_get(context->ws, RECORD_CALLBACK, &key);
	while (row && *age < CALLBACK_AGES - 1 &&
		context->now.wall_ms - row->created_ms >= age_ends_ms[*age])
		++*age;
	return STATUS_OK;
}

/* Sets *end to the place after the last of the events from @begin on that has the age of the first, *age. */
static enum status find_end(const struct read_context *context, const uint64_t *events,
	uint32_t begin, uint32_t count, unsigned int *age, uint32_t *end)
{
	uint32_t same = begin, other = count;
	unsigned int found;
	enum status status = read_age(context, events[begin], age);

	/* Most often all have one age. */
	for (uint32_t at = count - 1; other - same > 1 && !status; at = same + (other - same) / 2) {
		status = read_age(context, events[at], &found);
		if (found == *age)
			same = at;
		else
			other = at;
	}
	*end = same + 1;
	return status;
}

/* Counts the events of one state. Sorts them. */
static enum status count_events(const struct read_context *context,
	struct callback_ages_result *result, enum callback_state state, uint64_t *events,
	uint32_t count)
{
	enum status status = STATUS_OK;
	unsigned int age;

	qsort(events, count, sizeof(*events), compare_events);
	for (uint32_t begin = 0, end; begin < count && !status; begin = end) {
		status = find_end(context, events, begin, count, &age, &end);
		*callback_ages_count(result, state, age) += end - begin;
	}
	return status;
}

static bool note_aside(void *context, struct bytes key, const void *row)
{
	struct age_look *look = context;
	struct callback_ages_result *result = look->result;
	const struct aside *aside = row;

	(void)key;
	result->more = result->looked == look->limit;
	if (result->more)
		return false;
	result->looked++;
	text_copy(result->last_casino_id, sizeof(result->last_casino_id), aside->casino_id);
	result->last_event = aside->event;
	look->events[aside->held][look->count[aside->held]++] = aside->event;
	return true;
}

static enum status read_aside(const struct read_context *context,
	const struct callback_ages_cmd *cmd, struct age_look *look)
{
	struct store_range range = {.record = RECORD_ASIDE};
	struct buffer prefix, after;
	struct aside key;
	enum status status = STATUS_NOMEM;

	memset(&key, 0, sizeof(key));
	buffer_init(&prefix, KEY_MAX);
	buffer_init(&after, KEY_MAX);
	text_copy(key.casino_id, sizeof(key.casino_id), cmd->casino_id);
	if (cmd->casino_id[0])
		pack_key(&prefix, aside_fields, 1, &key);
	text_copy(key.casino_id, sizeof(key.casino_id), cmd->after_casino_id);
	key.event = cmd->after_event;
	if (cmd->after_event)
		pack_key(&after, aside_fields, 2, &key);
	if (!prefix.failed && !after.failed) {
		range.prefix = (struct bytes){prefix.data, (uint32_t)prefix.len};
		range.after = (struct bytes){after.data, (uint32_t)after.len};
		status = context->store->scan(context->store, &range, note_aside, look);
	}
	buffer_free(&prefix);
	buffer_free(&after);
	return status;
}

/* Counts the callbacks that are due and those that are being sent. */
static enum status count_due(const struct read_context *context, const char *casino_id,
	struct callback_ages_result *result)
{
	static uint64_t events[CALLBACK_AGES_DUE_MAX];
	enum status status = STATUS_OK;

	for (unsigned int sending = 0; sending < 2 && !status; sending++) {
		const uint64_t all = schedule_events(context->schedule, casino_id, sending, events,
			CALLBACK_AGES_DUE_MAX);
		const uint32_t count =
			all < CALLBACK_AGES_DUE_MAX ? (uint32_t)all : CALLBACK_AGES_DUE_MAX;

		result->due_left += all - count;
		status = count_events(context, result, sending ? CALLBACK_SENDING : CALLBACK_DUE,
			events, count);
	}
	return status;
}

enum status callback_ages_read(const void *arg, const struct read_context *context, void *out)
{
	static struct age_look look;
	const struct callback_ages_cmd *cmd = arg;
	struct callback_ages_result *result = out;
	enum status status;

	look.result = result;
	look.count[0] = look.count[1] = 0;
	look.limit = cmd->limit && cmd->limit < CALLBACK_AGES_LOOK_MAX ? cmd->limit
								       : CALLBACK_AGES_LOOK_MAX;
	status = read_aside(context, cmd, &look);
	if (!status)
		status = count_events(context, result, CALLBACK_PARKED, look.events[0],
			look.count[0]);
	if (!status)
		status =
			count_events(context, result, CALLBACK_HELD, look.events[1], look.count[1]);
	if (!status && !cmd->after_event)
		status = count_due(context, cmd->casino_id, result);
	return status;
}
