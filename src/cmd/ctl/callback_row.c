#include "cmd/ctl/callback_row.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/clock.h"
#include "domain/delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VIEW_MAX 40

static const struct field json_fields[] = {
	FIELD(FIELD_STR, callback_row, user_id),
	FIELD(FIELD_TIME_MS, callback_row, next_ms),
	FIELD(FIELD_TIME_MS, callback_row, last_time_ms),
	FIELD(FIELD_U32, callback_row, last_ms),
	FIELD(FIELD_STR, callback_row, last_dealer_error_id),
	FIELD(FIELD_STR, callback_row, last_note),
	FIELD_END,
};

static const struct field text_fields[] = {
	FIELD(FIELD_STR, callback_row, last),
	FIELD(FIELD_STR, callback_row, next),
	FIELD_END,
};

/* Returns how many attempts have ended. */
static uint32_t ended(const struct callback *callback)
{
	return callback->attempts - (callback->state == CALLBACK_SENDING);
}

static const struct field *all_json(void)
{
	static struct field view[VIEW_MAX];

	if (!view[0].name)
		output_view(view, VIEW_MAX, callback_fields, json_fields);
	return view;
}

const struct field *callback_row_json(const struct callback_row *row)
{
	static struct field untried[VIEW_MAX];
	size_t count = 0;

	if (ended(&row->callback))
		return all_json();
	for (const struct field *field = all_json(); field->name; field++) {
		if (strcmp(field->name, "last_class") != 0)
			untried[count++] = *field;
	}
	return untried;
}

const struct field *callback_row_view(void)
{
	static struct field view[VIEW_MAX];

	if (!view[0].name)
		output_view(view, VIEW_MAX, all_json(), text_fields);
	return view;
}

/* Describes the last attempt. The callback row contains the result of the last one that ended. */
static void describe_last(struct callback_row *row)
{
	const struct callback *callback = &row->callback;
	const char *class = callback_class_names[callback->last_class];

	if (!ended(callback))
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
	char far[OUTPUT_DURATION_MAX];

	output_duration((uint64_t)(late_ms < 0 ? -late_ms : late_ms), far);
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

static enum outcome fetch_next(struct ctl *ctl, struct callback_row *row)
{
	const struct moment now = clock_now();
	struct due due = {.event = row->callback.event};
	bool found = false;
	enum outcome code = OUTCOME_DONE;

	if (row->callback.state == CALLBACK_DUE || row->callback.state == CALLBACK_SENDING)
		code = list_fetch(&ctl->session, RECORD_DUE, &due, &found, NULL);
	if (found)
		row->next_ms = now.wall_ms + (due_boot_ms(&due, &now) - now.boot_ms);
	return code;
}

static enum outcome fetch_last(struct ctl *ctl, struct callback_row *row)
{
	struct attempt attempt;
	bool found = false;
	enum outcome code = OUTCOME_DONE;

	memset(&attempt, 0, sizeof(attempt));
	attempt.event = row->callback.event;
	attempt.number = row->callback.attempts;
	if (attempt.number)
		code = list_fetch(&ctl->session, RECORD_ATTEMPT, &attempt, &found, NULL);
	if (!found)
		return code;
	row->last_time_ms = attempt.time_ms;
	row->last_ms = attempt.ms;
	memcpy(row->last_dealer_error_id, attempt.dealer_error_id,
		sizeof(row->last_dealer_error_id));
	memcpy(row->last_note, attempt.note, sizeof(row->last_note));
	return code;
}

enum outcome callback_row_fill(struct ctl *ctl, struct callback_row *row)
{
	/* Caches the last name, because rows of one player often follow each other. */
	static struct player_name name;
	enum outcome code = names_of(&ctl->session, row->callback.player_id, &name);

	memcpy(row->user_id, name.user_id, sizeof(row->user_id));
	if (code == OUTCOME_DONE)
		code = fetch_next(ctl, row);
	if (code == OUTCOME_DONE)
		code = fetch_last(ctl, row);
	describe_last(row);
	describe_next(row);
	return code;
}

enum outcome callback_row_fetch(struct ctl *ctl, uint64_t event, struct callback_row *row,
	bool *found)
{
	enum outcome code;

	memset(row, 0, sizeof(*row));
	row->callback.event = event;
	code = list_fetch(&ctl->session, RECORD_CALLBACK, &row->callback, found, NULL);
	return code == OUTCOME_DONE && *found ? callback_row_fill(ctl, row) : code;
}
