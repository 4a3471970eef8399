#include "domain/replay.h"

#include <string.h>

const char *const replay_state_names[REPLAY_STATE_COUNT] = {"running", "done", "stopped", "failed"};

const struct field replay_filter_fields[] = {
	FIELD(FIELD_STR, replay_filter, casino_id),
	FIELD(FIELD_STR, replay_filter, player_id),
	FIELD(FIELD_STR, replay_filter, game_id),
	FIELD(FIELD_U32, replay_filter, kinds),
	FIELD(FIELD_TIME_MS, replay_filter, since_ms),
	FIELD(FIELD_TIME_MS, replay_filter, until_ms),
	FIELD(FIELD_U64, replay_filter, first_event),
	FIELD(FIELD_U64, replay_filter, last_event),
	FIELD(FIELD_TIME_MS, replay_filter, parked_to_ms),
	FIELD_END,
};

const struct field replay_fields[] = {
	FIELD(FIELD_U64, replay, id),
	FIELD_SUB(replay, filter, replay_filter, replay_filter_fields),
	FIELD(FIELD_BYTES, replay, events),
	FIELD(FIELD_TIME_MS, replay, time_ms),
	FIELD(FIELD_U32, replay, uid),
	FIELD(FIELD_STR, replay, by),
	FIELD(FIELD_STR, replay, reason),
	FIELD_NAMED(replay, state, replay_state_names, REPLAY_STATE_COUNT),
	FIELD(FIELD_TIME_MS, replay, ended_ms),
	FIELD(FIELD_STR, replay, stopped_by),
	FIELD(FIELD_U64, replay, expected),
	FIELD(FIELD_U64, replay, next_event),
	FIELD(FIELD_U64, replay, made_due),
	FIELD(FIELD_U64, replay, left_out),
	FIELD(FIELD_U64, replay, parked_later),
	FIELD(FIELD_U64, replay, delivered),
	FIELD(FIELD_U64, replay, parked_again),
	FIELD(FIELD_U64, replay, withdrawn),
	FIELD_END,
};

uint32_t replay_event_count(const struct bytes *events)
{
	return events->len / REPLAY_EVENT_BYTES;
}

uint64_t replay_event_at(const struct bytes *events, uint32_t at)
{
	const uint8_t *byte = events->data + (size_t)at * REPLAY_EVENT_BYTES;
	uint64_t event = 0;

	for (unsigned int i = 0; i < REPLAY_EVENT_BYTES; i++)
		event = event << 8 | byte[i];
	return event;
}

bool replay_event_add(struct buffer *out, uint64_t event)
{
	uint8_t bytes[REPLAY_EVENT_BYTES];

	for (unsigned int i = 0; i < REPLAY_EVENT_BYTES; i++)
		bytes[i] = (uint8_t)(event >> (8 * (REPLAY_EVENT_BYTES - 1 - i)));
	return buffer_append(out, bytes, sizeof(bytes));
}

bool replay_events_ok(const struct bytes *events)
{
	uint64_t last = 0;

	if (events->len % REPLAY_EVENT_BYTES || replay_event_count(events) > REPLAY_MARKED_MAX)
		return false;
	for (uint32_t i = 0; i < replay_event_count(events); i++) {
		const uint64_t event = replay_event_at(events, i);

		if (event <= last || event > TRANSACTION_ID_MAX)
			return false;
		last = event;
	}
	return true;
}

static bool is_marked(const struct bytes *events, uint64_t event)
{
	for (uint32_t i = 0; i < replay_event_count(events); i++) {
		if (replay_event_at(events, i) == event)
			return true;
	}
	return false;
}

/* Returns true if the filter selects the callback, whatever its state. */
static bool filter_selects(const struct replay_filter *filter, const struct bytes *events,
	const struct callback *callback)
{
	return callback->event >= filter->first_event && callback->event <= filter->last_event &&
		strcmp(callback->casino_id, filter->casino_id) == 0 &&
		(!filter->player_id[0] || strcmp(callback->player_id, filter->player_id) == 0) &&
		(!filter->game_id[0] || strcmp(callback->game_id, filter->game_id) == 0) &&
		(!filter->kinds || filter->kinds & UINT32_C(1) << callback->kind) &&
		(!filter->since_ms || callback->created_ms >= filter->since_ms) &&
		(!filter->until_ms || callback->created_ms < filter->until_ms) &&
		(!events->len || is_marked(events, callback->event));
}

enum replay_fit replay_fits(const struct replay_filter *filter, const struct bytes *events,
	const struct callback *callback)
{
	if (!filter_selects(filter, events, callback))
		return REPLAY_FITS_NOT;
	if (callback->state == CALLBACK_HELD)
		return REPLAY_IS_HELD;
	if (callback->state != CALLBACK_PARKED)
		return REPLAY_FITS_NOT;
	if (callback->parked_ms > filter->parked_to_ms)
		return REPLAY_IS_LATER;
	return callback->adjusted_by ? REPLAY_IS_ADJUSTED : REPLAY_FITS;
}

uint64_t replay_on_its_way(const struct replay *replay)
{
	return replay->made_due - replay->delivered - replay->parked_again - replay->withdrawn;
}

void replay_count_end(struct replay *replay, enum callback_state state)
{
	if (state == CALLBACK_DELIVERED)
		replay->delivered++;
	else if (state == CALLBACK_PARKED)
		replay->parked_again++;
	else
		replay->withdrawn++;
}
