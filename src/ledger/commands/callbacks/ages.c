/*
 * ages - CALLBACK_AGES: counts the callbacks that wait, by state and age.
 *
 * It reads the index of those that are set aside (domain/aside.h), and the due ones from the schedule. Events
 * are numbered in the order of time, so of many callbacks only some are read, in at most three loads: those
 * near which an age begins.
 */
#include "base/pack.h"
#include "base/text.h"
#include "ledger/commands/callbacks/owed.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/keys.h"

#include <stdlib.h>
#include <string.h>

#define KEY_MAX   (CASINO_ID_SIZE + 16)
#define MINUTE_MS INT64_C(60000)

static const int64_t age_ends_ms[CALLBACK_AGES - 1] = {MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS,
	1440 * MINUTE_MS};

/*
 * Callbacks that one load reads to find where an age begins. Between two of them in 10,000 there are 434, then 18: so three
 * loads find it.
 */
#define SAMPLES 24

/*
 * The events of one state, in rising order. Those before low[i] have reached age_ends_ms[i], and those from high[i] on have
 * not; between them it is not known yet.
 */
struct age_list {
	enum callback_state state;
	uint64_t *events;
	uint32_t count;
	uint32_t low[CALLBACK_AGES - 1];
	uint32_t high[CALLBACK_AGES - 1];
};

enum { LIST_PARKED, LIST_HELD, LIST_DUE, LIST_SENDING, LISTS };

struct age_look {
	const struct read_context *context;
	struct callback_ages_result *result;
	uint32_t limit;
	struct age_list lists[LISTS];
};

static int compare_events(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Returns how many events are read between low and high. */
static uint32_t sample_count(const struct age_list *list, unsigned int age)
{
	const uint32_t left = list->high[age] - list->low[age];

	return left < SAMPLES ? left : SAMPLES;
}

/* Returns the place of the event that is read as number @i: they are spread evenly, and have both ends. */
static uint32_t sample_at(const struct age_list *list, unsigned int age, uint32_t i)
{
	const uint32_t left = list->high[age] - list->low[age];

	return list->low[age] + (left <= SAMPLES ? i : i * (left - 1) / (SAMPLES - 1));
}

/* Loads the next samples of all lists together. *more: there were some. */
static enum status load_samples(const struct age_look *look, bool *more)
{
	struct ws *ws = look->context->ws;
	enum status status;

	ws_reset(ws);
	for (unsigned int at = 0; at < LISTS * (CALLBACK_AGES - 1); at++) {
		const struct age_list *list = &look->lists[at / (CALLBACK_AGES - 1)];
		const unsigned int age = at % (CALLBACK_AGES - 1);

		for (uint32_t i = 0; i < sample_count(list, age); i++) {
			const struct callback key =
				callback_named(list->events[sample_at(list, age, i)]);

			ws_want(ws, RECORD_CALLBACK, &key);
		}
	}
	*more = ws_pending(ws);
	if (!*more)
		return STATUS_OK;
	status = look->context->store->load(look->context->store, ws);
	return !status && ws_faulty(ws) ? STATUS_NOMEM : status;
}

/* Returns true if the callback, which was loaded, has reached the age. */
static bool has_reached(const struct age_look *look, uint64_t event, unsigned int age)
{
	const struct callback key = callback_named(event);
	const struct callback *row = ws_get(look->context->ws, RECORD_CALLBACK, &key);

	return row && look->context->now.wall_ms - row->created_ms >= age_ends_ms[age];
}

/* Narrows low and high by the samples. If the clock was set, the first younger event ends the age. */
static void narrow_age(const struct age_look *look, struct age_list *list, unsigned int age)
{
	const uint32_t count = sample_count(list, age);
	uint32_t low = list->low[age], high = list->high[age];

	for (uint32_t i = 0; i < count && high == list->high[age]; i++) {
		const uint32_t at = sample_at(list, age, i);

		if (has_reached(look, list->events[at], age))
			low = at + 1;
		else
			high = at;
	}
	list->low[age] = low;
	list->high[age] = high;
}

/* Finds in each list where each age begins. */
static enum status find_ages(struct age_look *look)
{
	enum status status;
	bool more;

	for (unsigned int at = 0; at < LISTS; at++) {
		struct age_list *list = &look->lists[at];

		qsort(list->events, list->count, sizeof(*list->events), compare_events);
		for (unsigned int age = 0; age < CALLBACK_AGES - 1; age++) {
			list->low[age] = 0;
			list->high[age] = list->count;
		}
	}
	do {
		status = load_samples(look, &more);
		for (unsigned int at = 0; at < LISTS * (CALLBACK_AGES - 1) && more && !status; at++)
			narrow_age(look, &look->lists[at / (CALLBACK_AGES - 1)],
				at % (CALLBACK_AGES - 1));
	} while (more && !status);
	return status;
}

static void count_ages(struct age_look *look)
{
	for (unsigned int at = 0; at < LISTS; at++) {
		const struct age_list *list = &look->lists[at];
		uint32_t left = list->count; /* have reached the age before */

		for (unsigned int age = 0; age < CALLBACK_AGES; age++) {
			uint32_t older = age < CALLBACK_AGES - 1 ? list->low[age] : 0;

			/* If the clock was set, an age may seem to begin before a younger one. */
			if (older > left)
				older = left;
			*callback_ages_count(look->result, list->state, age) += left - older;
			left = older;
		}
	}
}

static bool note_aside(void *context, struct bytes key, const void *row)
{
	struct age_look *look = context;
	struct callback_ages_result *result = look->result;
	const struct aside *aside = row;
	struct age_list *list = &look->lists[aside->held ? LIST_HELD : LIST_PARKED];

	(void)key;
	result->more = result->looked == look->limit;
	if (result->more)
		return false;
	result->looked++;
	text_copy(result->last_casino_id, sizeof(result->last_casino_id), aside->casino_id);
	result->last_event = aside->event;
	list->events[list->count++] = aside->event;
	return true;
}

static enum status read_aside(const struct callback_ages_cmd *cmd, struct age_look *look)
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
		status = look->context->store->scan(look->context->store, &range, note_aside, look);
	}
	buffer_free(&prefix);
	buffer_free(&after);
	return status;
}

/* Notes the callbacks that are due and those that are being sent. */
static void note_due(const char *casino_id, struct age_look *look)
{
	for (unsigned int sending = 0; sending < 2; sending++) {
		struct age_list *list = &look->lists[sending ? LIST_SENDING : LIST_DUE];
		const uint64_t all = schedule_events(look->context->schedule, casino_id, sending,
			list->events, CALLBACK_AGES_DUE_MAX);

		list->count = all < CALLBACK_AGES_DUE_MAX ? (uint32_t)all : CALLBACK_AGES_DUE_MAX;
		look->result->due_left += all - list->count;
	}
}

/* Counts the players that are owed: by the parked and held ones first, and of each state by the oldest. */
static enum status count_owed(struct age_look *look)
{
	struct callback_ages_result *result = look->result;
	uint64_t events[CALLBACK_AGES_OWED_MAX];
	uint32_t count = 0;

	result->owed_more = result->more || result->due_left;
	for (unsigned int at = 0; at < LISTS; at++) {
		const struct age_list *list = &look->lists[at];

		for (uint32_t i = 0; i < list->count; i++) {
			result->owed_more |= count == CALLBACK_AGES_OWED_MAX;
			if (count < CALLBACK_AGES_OWED_MAX)
				events[count++] = list->events[i];
		}
	}
	return owed_count_players(look->context->store, look->context->ws, events, count,
		&result->owed_players);
}

enum status callback_ages_read(const void *arg, const struct read_context *context, void *out)
{
	static uint64_t aside[2][CALLBACK_AGES_LOOK_MAX], due[2][CALLBACK_AGES_DUE_MAX];
	const struct callback_ages_cmd *cmd = arg;
	struct age_look look = {.context = context,
		.result = out,
		.limit = cmd->limit && cmd->limit < CALLBACK_AGES_LOOK_MAX ? cmd->limit
									   : CALLBACK_AGES_LOOK_MAX,
		.lists = {[LIST_PARKED] = {.state = CALLBACK_PARKED, .events = aside[0]},
			[LIST_HELD] = {.state = CALLBACK_HELD, .events = aside[1]},
			[LIST_DUE] = {.state = CALLBACK_DUE, .events = due[0]},
			[LIST_SENDING] = {.state = CALLBACK_SENDING, .events = due[1]}}};
	enum status status = read_aside(cmd, &look);

	if (status)
		return status;
	if (!cmd->after_event)
		note_due(cmd->casino_id, &look);
	status = find_ages(&look);
	if (!status)
		count_ages(&look);
	if (!status && cmd->players && cmd->casino_id[0] && !cmd->after_event)
		status = count_owed(&look);
	return status;
}
