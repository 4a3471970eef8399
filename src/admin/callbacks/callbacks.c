#include "admin/callbacks/callbacks.h"

#include "admin/callbacks/callback_subject.h"
#include "admin/names.h"
#include "base/clock.h"
#include "base/text.h"
#include "domain/aside.h"
#include "domain/delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void callbacks_narrow(struct list *list, const char *casino_id, uint32_t states)
{
	bool narrow = casino_id[0] && states;

	for (unsigned int state = 0; state < CALLBACK_STATE_COUNT; state++)
		narrow &= !(states & UINT32_C(1) << state) || callback_is_aside(state);
	if (!narrow)
		return;
	list->aside_of = casino_id;
	list->casino_id = NULL;
}

uint32_t callback_attempts_ended(const struct callback *callback)
{
	return callback->attempts - (callback->state == CALLBACK_SENDING);
}

/* Describes the last attempt. The callback row contains the result of the last one that ended. */
static void describe_last(struct callback_row *row)
{
	const struct callback *callback = &row->callback;
	const char *class = callback_class_names[callback->last_class];

	if (!callback_attempts_ended(callback))
		snprintf(row->last, sizeof(row->last), "-");
	else if (callback->last_http_status)
		snprintf(row->last, sizeof(row->last), "%s %" PRIu32, class,
			callback->last_http_status);
	else
		snprintf(row->last, sizeof(row->last), "%s", class);
}

static void describe_next(struct callback_row *row)
{
	int64_t late_ms = clock_wall_ms() - row->next_ms;
	char far[TEXT_DURATION_SIZE];

	text_duration((uint64_t)(late_ms < 0 ? -late_ms : late_ms), far);
	if (row->callback.state == CALLBACK_SENDING)
		snprintf(row->next, sizeof(row->next), "%s",
			late_ms > 0 ? "its sender is gone" : "being sent");
	else if (row->callback.state == CALLBACK_PARKED)
		snprintf(row->next, sizeof(row->next), "when retried");
	else if (row->callback.state == CALLBACK_HELD)
		snprintf(row->next, sizeof(row->next), "when released");
	else if (!row->next_ms)
		snprintf(row->next, sizeof(row->next), "-");
	else if (late_ms > 0)
		snprintf(row->next, sizeof(row->next), "now, %s late", far);
	else
		snprintf(row->next, sizeof(row->next), "in %s", far);
}

static enum outcome fetch_next(struct session *session, struct callback_row *row)
{
	const struct moment now = clock_now();
	struct due due = {.event = row->callback.event};
	bool found = false;
	enum outcome code = OUTCOME_DONE;

	if (row->callback.state == CALLBACK_DUE || row->callback.state == CALLBACK_SENDING)
		code = list_fetch(session, RECORD_DUE, &due, &found, NULL);
	if (found)
		row->next_ms = now.wall_ms + (due_boot_ms(&due, &now) - now.boot_ms);
	return code;
}

static enum outcome fetch_last(struct session *session, struct callback_row *row)
{
	struct attempt attempt;
	bool found = false;
	enum outcome code = OUTCOME_DONE;

	memset(&attempt, 0, sizeof(attempt));
	attempt.event = row->callback.event;
	attempt.number = row->callback.attempts;
	if (attempt.number)
		code = list_fetch(session, RECORD_ATTEMPT, &attempt, &found, NULL);
	if (!found)
		return code;
	row->last_time_ms = attempt.time_ms;
	row->last_ms = attempt.ms;
	memcpy(row->last_dealer_error_id, attempt.dealer_error_id,
		sizeof(row->last_dealer_error_id));
	memcpy(row->last_note, attempt.note, sizeof(row->last_note));
	return code;
}

enum outcome callback_row_fill(struct session *session, struct callback_row *row)
{
	struct player_name name = {.player_id = ""};
	struct callback_subject subject = {.amount = 0};
	enum outcome code = names_of(session, row->callback.player_id, &name);

	memcpy(row->user_id, name.user_id, sizeof(row->user_id));
	if (code == OUTCOME_DONE)
		code = callback_subject_fetch(session, &row->callback, &subject);
	row->amount = subject.amount;
	if (code == OUTCOME_DONE)
		code = fetch_next(session, row);
	if (code == OUTCOME_DONE)
		code = fetch_last(session, row);
	describe_last(row);
	describe_next(row);
	return code;
}

/* Names the rows that callback_row_fill() fetches. */
static void want_rows(struct ahead *ahead, const struct callback *callback)
{
	struct player_name name;
	struct due due;
	struct attempt attempt;

	memset(&name, 0, sizeof(name));
	memset(&attempt, 0, sizeof(attempt));
	memcpy(name.player_id, callback->player_id, sizeof(name.player_id));
	ahead_want(ahead, RECORD_PLAYER_NAME, &name);
	callback_subject_want(ahead, callback);
	if (callback->state == CALLBACK_DUE || callback->state == CALLBACK_SENDING) {
		memset(&due, 0, sizeof(due));
		due.event = callback->event;
		ahead_want(ahead, RECORD_DUE, &due);
	}
	attempt.event = callback->event;
	attempt.number = callback->attempts;
	if (attempt.number)
		ahead_want(ahead, RECORD_ATTEMPT, &attempt);
}

enum outcome callback_rows_fill(struct session *session, struct callback_row *rows,
	unsigned int count)
{
	struct ahead *ahead = ahead_new(session);
	enum outcome code;

	if (!ahead)
		return session_no_memory(session);
	for (unsigned int i = 0; i < count; i++)
		want_rows(ahead, &rows[i].callback);
	code = ahead_read(ahead);
	for (unsigned int i = 0; i < count && code == OUTCOME_DONE; i++)
		code = callback_row_fill(session, &rows[i]);
	ahead_free(ahead);
	return code;
}

enum outcome callback_row_fetch(struct session *session, uint64_t event, struct callback_row *row,
	bool *found)
{
	enum outcome code;

	memset(row, 0, sizeof(*row));
	row->callback.event = event;
	code = list_fetch(session, RECORD_CALLBACK, &row->callback, found, NULL);
	return code == OUTCOME_DONE && *found ? callback_row_fill(session, row) : code;
}

/* Fills the rows and visits them. They are empty afterwards. */
static enum outcome visit_part(struct session *session, struct callback_row *rows,
	unsigned int *count, callback_visit *visit, void *context)
{
	enum outcome code = callback_rows_fill(session, rows, *count);

	for (unsigned int i = 0; i < *count && code == OUTCOME_DONE; i++)
		visit(context, &rows[i]);
	memset(rows, 0, *count * sizeof(*rows));
	*count = 0;
	return code;
}

enum outcome callbacks_walk(struct session *session, struct filter *filter, uint32_t states,
	uint32_t kinds, callback_visit *visit, void *context)
{
	struct callback_row *rows = calloc(AHEAD_PART, sizeof(*rows));
	const struct callback *callback;
	struct callback after = {.event = filter->after};
	struct list list;
	unsigned int count = 0;
	enum filter_match match;
	enum outcome code = OUTCOME_DONE;

	if (!rows)
		return session_no_memory(session);
	list_open(&list, session, RECORD_CALLBACK, true, 0, NULL);
	callbacks_narrow(&list, filter->casino_id, states);
	if (filter->after)
		list_behind(&list, &after);
	while (code == OUTCOME_DONE && filter->limit && list_next(&list, &rows[count].callback)) {
		callback = &rows[count].callback;
		match = filter_time(filter, callback->created_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP || !(states & UINT32_C(1) << callback->state) ||
			!(kinds & UINT32_C(1) << callback->kind) ||
			!filter_names(filter, callback->casino_id, callback->player_id,
				callback->game_id))
			continue;
		filter->limit--;
		if (++count == AHEAD_PART)
			code = visit_part(session, rows, &count, visit, context);
	}
	if (code == OUTCOME_DONE && list.code == OUTCOME_DONE)
		code = visit_part(session, rows, &count, visit, context);
	free(rows);
	return list_end(&list, code);
}
