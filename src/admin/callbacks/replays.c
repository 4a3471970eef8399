#include "admin/callbacks/replays.h"

#include "admin/list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void replays_filter(const struct filter *filter, uint32_t kinds, struct replay_filter *replay)
{
	memset(replay, 0, sizeof(*replay));
	memcpy(replay->casino_id, filter->casino_id, sizeof(replay->casino_id));
	memcpy(replay->player_id, filter->player_id, sizeof(replay->player_id));
	memcpy(replay->game_id, filter->game_id, sizeof(replay->game_id));
	replay->kinds = kinds;
	replay->since_ms = filter->since_ms > 0 ? filter->since_ms : 0;
	replay->until_ms = filter->until_ms < INT64_MAX ? filter->until_ms : 0;
}

static void add_result(struct replay_preview *preview, const struct replay_preview_result *result)
{
	const uint32_t found = replay_event_count(&result->found);

	preview->filter.last_event = result->last_event;
	preview->filter.parked_to_ms = result->parked_to_ms;
	/* The replay walks from here on: from the lowest event that it sends, not from where the preview ended. */
	if (found || !preview->filter.first_event)
		preview->filter.first_event =
			found ? replay_event_at(&result->found, found - 1) : result->first_event;
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		preview->sums[i].count += result->sums[i].count;
		preview->sums[i].amount += result->sums[i].amount;
	}
	for (uint32_t i = 0; i < found && preview->first_count < REPLAY_FIRST_MAX; i++)
		preview->first[preview->first_count++] = replay_event_at(&result->found, i);
	preview->count += found;
	preview->held += result->held;
	preview->adjusted += result->adjusted;
	preview->parked_later += result->parked_later;
	if (result->oldest_ms && (!preview->oldest_ms || result->oldest_ms < preview->oldest_ms))
		preview->oldest_ms = result->oldest_ms;
	if (result->newest_ms > preview->newest_ms)
		preview->newest_ms = result->newest_ms;
	if (result->looked_to_ms)
		preview->looked_to_ms = result->looked_to_ms;
	preview->more = result->more;
	preview->has_url = result->has_url;
	preview->dealer_is_held = result->dealer_is_held;
	preview->breaker = result->breaker;
	preview->rate = result->rate;
}

enum outcome replays_preview(struct session *session, struct replay_preview *preview,
	unsigned int commands)
{
	struct replay_preview_cmd cmd = {.events = preview->events};
	struct replay_preview_result result;
	enum outcome code;
	unsigned int sent = 0;

	do {
		const uint64_t room = REPLAY_CALLBACKS_MAX - preview->count;

		cmd.filter = preview->filter;
		cmd.filter.first_event = 0;
		cmd.most = room < REPLAY_LOOK_MAX ? (uint32_t)room : REPLAY_LOOK_MAX;
		code = session_do(session, COMMAND_REPLAY_PREVIEW, &cmd, &result, NULL);
		if (code != OUTCOME_DONE)
			return code;
		add_result(preview, &result);
		cmd.below = result.first_event;
		sent++;
	} while (result.more && (!commands || sent < commands) &&
		preview->count < REPLAY_CALLBACKS_MAX);
	return OUTCOME_DONE;
}

enum outcome replays_start(struct session *session, const struct replay_start_cmd *cmd,
	uint64_t *id)
{
	struct replay_start_result result;
	enum outcome code = session_do(session, COMMAND_REPLAY_START, cmd, &result, NULL);

	*id = result.id;
	return code;
}

enum outcome replays_fetch(struct session *session, uint64_t id, struct replay *replay, bool *found)
{
	memset(replay, 0, sizeof(*replay));
	replay->id = id;
	return list_fetch(session, RECORD_REPLAY, replay, found, NULL);
}

static void add_text(char text[REPLAY_PROGRESS_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add_text(char text[REPLAY_PROGRESS_SIZE], const char *format, ...)
{
	const size_t len = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + len, REPLAY_PROGRESS_SIZE - len, format, arguments);
	va_end(arguments);
}

static void write_progress(const struct replay *replay, char text[REPLAY_PROGRESS_SIZE])
{
	snprintf(text, REPLAY_PROGRESS_SIZE,
		"%" PRIu64 " of %" PRIu64 " made due: %" PRIu64 " delivered, %" PRIu64
		" parked again, %" PRIu64 " on their way",
		replay->made_due, replay->expected, replay->delivered, replay->parked_again,
		replay_on_its_way(replay));
	if (replay->withdrawn)
		add_text(text, ", %" PRIu64 " held or cancelled", replay->withdrawn);
	if (replay->left_out)
		add_text(text, ", %" PRIu64 " left out because of an adjustment", replay->left_out);
	if (replay->parked_later)
		add_text(text,
			", %" PRIu64 " left out because the clock was ahead when they were parked",
			replay->parked_later);
	if (replay->state == REPLAY_FAILED)
		add_text(text,
			"; it failed: a row from event %" PRIu64
			" on cannot be read, run `creditbridgectl check`",
			replay->next_event);
}

const struct field replay_row_fields[] = {
	FIELD(FIELD_U64, replay, id),
	FIELD_AS("casino_id", FIELD_STR, replay, filter.casino_id),
	FIELD_AS("player_id", FIELD_STR, replay, filter.player_id),
	FIELD_AS("game_id", FIELD_STR, replay, filter.game_id),
	FIELD_AS("first_event", FIELD_U64, replay, filter.first_event),
	FIELD_AS("last_event", FIELD_U64, replay, filter.last_event),
	FIELD(FIELD_TIME_MS, replay, time_ms),
	FIELD(FIELD_STR, replay, by),
	FIELD(FIELD_STR, replay, reason),
	FIELD_NAMED(replay, state, replay_state_names, REPLAY_STATE_COUNT),
	FIELD(FIELD_TIME_MS, replay, ended_ms),
	FIELD(FIELD_STR, replay, stopped_by),
	FIELD(FIELD_U64, replay, expected),
	FIELD(FIELD_U64, replay, made_due),
	FIELD(FIELD_U64, replay, left_out),
	FIELD(FIELD_U64, replay, parked_later),
	FIELD(FIELD_U64, replay, delivered),
	FIELD(FIELD_U64, replay, parked_again),
	FIELD(FIELD_U64, replay, withdrawn),
	FIELD(FIELD_U64, replay_row, on_its_way),
	FIELD(FIELD_STR, replay_row, progress),
	FIELD_END,
};

void replays_complete(struct replay_row *row)
{
	row->on_its_way = replay_on_its_way(&row->replay);
	write_progress(&row->replay, row->progress);
}
