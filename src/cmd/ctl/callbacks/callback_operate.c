/*
 * callback_operate - implements `callback retry`, `hold`, `release` and `cancel` for one or many
 * events.
 *
 * The report at the end lists the result of each event, with the reason if it failed. If only some
 * succeeded, the outcome is OUTCOME_PARTLY.
 */
#include "admin/callbacks/callback_batch.h"

#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX  (BATCH_EVENTS_MAX * 40)
#define SHOWN_MAX 20 /* rows listed before the question */

static const struct field json_fields[] = {
	FIELD(FIELD_U64, batch_row, event),
	FIELD_NAMED(batch_row, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, batch_row, casino_id),
	FIELD_NAMED(batch_row, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, batch_row, attempts),
	FIELD(FIELD_BOOL, batch_row, done),
	FIELD_END,
};

/* An event as it is shown. */
struct shown_event {
	struct batch_row row; /* must be first */
	char result[320];
};

static const struct field text_fields[] = {
	FIELD(FIELD_U64, batch_row, event),
	FIELD_NAMED(batch_row, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, batch_row, casino_id),
	FIELD_NAMED(batch_row, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, batch_row, attempts),
	FIELD(FIELD_STR, shown_event, result),
	FIELD_END,
};

static const struct output_column found_columns[] = {
	{"EVENT", "event", OUTPUT_PLAIN},
	{"KIND", "kind", OUTPUT_PLAIN},
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"TRIES", "attempts", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column columns[] = {
	{"EVENT", "event", OUTPUT_PLAIN},
	{"KIND", "kind", OUTPUT_PLAIN},
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"TRIES", "attempts", OUTPUT_PLAIN},
	{"RESULT", "result", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* The fields of an unknown event: only its number. */
static const struct field unknown_fields[] = {
	FIELD(FIELD_U64, batch_row, event),
	FIELD(FIELD_BOOL, batch_row, done),
	FIELD_END,
};

/* The words for an action in the report and in the question before it. */
static const struct wording {
	const char *done;
	const char *would;
	const char *verb; /* NULL: there is no question */
	const char *consequence;
} wordings[CALLBACK_ACTION_COUNT] = {
	[CALLBACK_RETRY] = {"is due now", "would be due now", "Send",
		"once more, at the sweeper's next turn?"},
	[CALLBACK_HOLD] = {"is held", "would be held", NULL, ""},
	[CALLBACK_RELEASE] = {"is released", "would be released", NULL, ""},
	[CALLBACK_CANCEL] = {"is cancelled", "would be cancelled", "Cancel",
		"as settled outside? No cancelled one is ever sent again."},
};

/* Prints the current state of the events before the question. */
static enum outcome print_found(struct ctl *ctl, struct callback_batch *batch)
{
	struct output_list list;
	size_t shown = 0;
	enum outcome code;

	output_list_open(&list, ctl, NULL, NULL, json_fields, found_columns);
	for (size_t i = 0; i < batch->count && shown < SHOWN_MAX; i++) {
		if (batch->rows[i].found) {
			output_list_add(&list, &batch->rows[i]);
			shown++;
		}
	}
	code = output_list_close(&list, OUTCOME_DONE);
	if (batch->found > shown && !ctl->json)
		printf("and %zu more\n", batch->found - shown);
	return code;
}

/* Reads events, separated by white space, from standard input. */
static enum outcome read_stdin(struct ctl *ctl, struct callback_batch *batch)
{
	struct buffer text;
	char *word, *rest = NULL;
	enum outcome code;

	buffer_init(&text, TEXT_MAX);
	code = secret_read_file(ctl, "-", &text);
	if (code == OUTCOME_DONE && !buffer_append(&text, "", 1))
		code = ctl_usage(ctl, "at most %d events at once", BATCH_EVENTS_MAX);
	word = code == OUTCOME_DONE ? strtok_r((char *)text.data, " \t\r\n", &rest) : NULL;
	for (; word && code == OUTCOME_DONE; word = strtok_r(NULL, " \t\r\n", &rest))
		code = batch_add(batch, word);
	buffer_free(&text);
	return code;
}

static enum outcome read_events(struct ctl *ctl, struct callback_batch *batch)
{
	enum outcome code = OUTCOME_DONE;
	bool taken = false;

	for (unsigned int i = 0; i < ctl->arg_count && code == OUTCOME_DONE; i++) {
		if (strcmp(ctl->args[i], "-") != 0) {
			code = batch_add(batch, ctl->args[i]);
		} else if (!taken) {
			code = read_stdin(ctl, batch);
			taken = true;
		}
	}
	if (code == OUTCOME_DONE && !batch->count)
		code = ctl_usage(ctl,
			"standard input holds no event: give event numbers or "
			"webhook-ids, one a line");
	return code;
}

static bool confirm_action(struct ctl *ctl, struct callback_batch *batch)
{
	const char *verb = wordings[batch->action].verb;
	char question[160];

	if (!verb || !batch->found)
		return true;
	if (!ctl->options[OPTION_YES] && ctl_can_ask()) {
		batch->code = print_found(ctl, batch);
		if (batch->code != OUTCOME_DONE)
			return false;
	}
	snprintf(question, sizeof(question), "%s %zu callback%s %s", verb, batch->found,
		batch->found == 1 ? "" : "s", wordings[batch->action].consequence);
	return ctl_confirm(ctl, question, &batch->code);
}

static void describe_result(const struct callback_batch *batch, bool dry_run,
	struct shown_event *shown)
{
	const struct batch_row *row = &shown->row;
	const struct wording *wording = &wordings[batch->action];
	bool hurried = batch->action == CALLBACK_RETRY || batch->action == CALLBACK_RELEASE;
	int64_t left_ms = row->first_ms - clock_wall_ms();
	char left[TEXT_DURATION_SIZE];

	if (!row->done) {
		snprintf(shown->result, sizeof(shown->result), "not done: %s", row->error_detail);
	} else if (row->used_up) {
		snprintf(shown->result, sizeof(shown->result), "%s parked again; retry sends it",
			dry_run ? "would be" : "is");
	} else if (hurried && left_ms > 0) {
		text_duration((uint64_t)left_ms, left);
		snprintf(shown->result, sizeof(shown->result),
			"%s due in %s, no refund goes sooner", dry_run ? "would be" : "is", left);
	} else {
		snprintf(shown->result, sizeof(shown->result), "%s",
			dry_run ? wording->would : wording->done);
	}
}

static enum outcome print_results(struct ctl *ctl, struct callback_batch *batch, bool dry_run)
{
	struct output_list list;
	struct output_json json, item, error;
	enum outcome code;

	output_json_open(&json, ctl);
	output_json_string(&json, "action", callback_action_names[batch->action]);
	output_json_bool(&json, "dry_run", dry_run);
	output_json_list_open(&json, "callbacks");
	output_list_open(&list, ctl, NULL, NULL, text_fields, columns);
	for (size_t i = 0; i < batch->count; i++) {
		struct batch_row *row = &batch->rows[i];
		struct shown_event shown = {.row = *row};

		describe_result(batch, dry_run, &shown);
		output_list_add(&list, &shown);
		output_json_open(&item, ctl);
		output_json_fields(&item, row->found ? json_fields : unknown_fields, row);
		if (row->done) {
			output_json_null(&item, "error");
		} else {
			output_json_open(&error, ctl);
			output_json_string(&error, "id", row->error_id);
			output_json_string(&error, "detail", row->error_detail);
			output_json_object(&item, "error", &error);
		}
		output_json_item_object(&json, &item);
		batch->done += row->done;
	}
	output_json_list_close(&json);
	output_json_number(&json, "done", batch->done);
	output_json_number(&json, "not_done", batch->count - batch->done);
	code = output_list_close(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE)
		return output_json_close(&json);
	buffer_free(&json.text);
	return code;
}

static enum outcome report_results(struct ctl *ctl, struct callback_batch *batch, bool dry_run)
{
	enum outcome code = print_results(ctl, batch, dry_run);

	if (code != OUTCOME_DONE || batch->done == batch->count)
		return code;
	ctl_tell("not_done", "%zu of %zu", batch->count - batch->done, batch->count);
	if (batch->done)
		return OUTCOME_PARTLY;
	return batch->code == OUTCOME_DONE ? OUTCOME_FAILED : batch->code;
}

static enum outcome operate_callbacks(struct ctl *ctl, enum callback_action action)
{
	const bool dry_run = ctl->options[OPTION_DRY_RUN];
	struct callback_batch batch = {.session = &ctl->session, .action = action};
	enum outcome code;

	if (!ctl->session.operator.reason[0])
		return ctl_usage(ctl, "--reason must be given");
	batch.rows = calloc(BATCH_EVENTS_MAX, sizeof(*batch.rows));
	if (!batch.rows)
		return ctl_no_memory(ctl);
	code = read_events(ctl, &batch);
	if (code == OUTCOME_DONE)
		code = batch_find(&batch, dry_run);
	if (code == OUTCOME_DONE && !dry_run) {
		if (confirm_action(ctl, &batch))
			batch_operate(&batch);
		else
			code = batch.code;
	}
	if (code == OUTCOME_DONE)
		code = report_results(ctl, &batch, dry_run);
	free(batch.rows);
	return code;
}

enum outcome ctl_callback_retry(struct ctl *ctl)
{
	return operate_callbacks(ctl, CALLBACK_RETRY);
}

enum outcome ctl_callback_hold(struct ctl *ctl)
{
	return operate_callbacks(ctl, CALLBACK_HOLD);
}

enum outcome ctl_callback_release(struct ctl *ctl)
{
	return operate_callbacks(ctl, CALLBACK_RELEASE);
}

enum outcome ctl_callback_cancel(struct ctl *ctl)
{
	return operate_callbacks(ctl, CALLBACK_CANCEL);
}
