/*
 * callback_operate - implements `callback retry`, `hold`, `release` and `cancel` for one or many
 * events.
 *
 * Each event is a separate command with its own operation id. The report at the end lists the
 * result of each event, with the reason if it failed. If only some succeeded, the outcome is
 * OUTCOME_PARTLY.
 */
#include "cmd/ctl/callback_batch.h"

#include "base/clock.h"
#include "cmd/ctl/output.h"
#include "wire/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const struct field text_fields[] = {
	FIELD(FIELD_U64, batch_row, event),
	FIELD_NAMED(batch_row, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, batch_row, casino_id),
	FIELD_NAMED(batch_row, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, batch_row, attempts),
	FIELD(FIELD_STR, batch_row, result),
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
static enum outcome print_found(struct batch *batch)
{
	struct output_list list;
	size_t shown = 0;
	enum outcome code;

	output_list_open(&list, batch->ctl, NULL, NULL, text_fields, found_columns);
	for (size_t i = 0; i < batch->count && shown < SHOWN_MAX; i++) {
		if (batch->rows[i].found) {
			output_list_add(&list, &batch->rows[i]);
			shown++;
		}
	}
	code = output_list_close(&list, OUTCOME_DONE);
	if (batch->found > shown && !batch->ctl->json)
		printf("and %zu more\n", batch->found - shown);
	return code;
}

static bool confirm(struct batch *batch)
{
	const char *verb = wordings[batch->action].verb;
	char question[160];

	if (!verb || !batch->found)
		return true;
	if (!batch->ctl->options[OPTION_YES] && ctl_can_ask()) {
		batch->code = print_found(batch);
		if (batch->code != OUTCOME_DONE)
			return false;
	}
	snprintf(question, sizeof(question), "%s %zu callback%s %s", verb, batch->found,
		batch->found == 1 ? "" : "s", wordings[batch->action].consequence);
	return ctl_confirm(batch->ctl, question, &batch->code);
}

/* Applies the action to one event. Returns false if the remaining events need not be tried. */
static bool operate(struct batch *batch, struct batch_row *row)
{
	struct callback_operate_cmd cmd = {
		.operator = batch->ctl->session.operator, .event = row->event, .action = batch->action};
	struct callback_operate_result result;
	struct failure failure;

	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id))) {
		batch->code = OUTCOME_FAILED;
		batch_fail_row(row, "failed", "the kernel gives no random numbers: allow the "
			"system call getrandom, and repeat this");
		return false;
	}
	batch->code = session_try(&batch->ctl->session, COMMAND_CALLBACK_OPERATE, &cmd, &result, &failure);
	row->done = batch->code == OUTCOME_DONE;
	if (row->done || batch->code == OUTCOME_FAILED) {
		row->state = result.state;
		row->attempts = result.attempts;
		row->used_up = row->state == CALLBACK_PARKED;
	}
	if (!row->done)
		batch_fail_row(row, failure.id, failure.detail);
	/*
	 * A refusal concerns only this event. If the ledger cannot be reached, the rest need not
	 * be tried.
	 */
	return row->done || batch->code == OUTCOME_FAILED;
}

static void operate_all(struct batch *batch)
{
	bool on = true;

	for (size_t i = 0; i < batch->count; i++) {
		struct batch_row *row = &batch->rows[i];

		if (row->found && on)
			on = operate(batch, row);
		else if (row->found)
			batch_fail_row(row, "not_tried", "the ledger failed before");
	}
}

static void describe(const struct batch *batch, bool dry_run, struct batch_row *row)
{
	const struct wording *wording = &wordings[batch->action];
	bool hurried = batch->action == CALLBACK_RETRY || batch->action == CALLBACK_RELEASE;
	int64_t left_ms = row->first_ms - clock_wall_ms();
	char left[OUTPUT_DURATION_MAX];

	if (!row->done) {
		snprintf(row->result, sizeof(row->result), "not done: %s", row->error_detail);
	} else if (row->used_up) {
		snprintf(row->result, sizeof(row->result), "%s parked again; retry sends it",
			dry_run ? "would be" : "is");
	} else if (hurried && left_ms > 0) {
		output_duration((uint64_t)left_ms, left);
		snprintf(row->result, sizeof(row->result), "%s due in %s, no refund goes sooner",
			dry_run ? "would be" : "is", left);
	} else {
		snprintf(row->result, sizeof(row->result), "%s",
			dry_run ? wording->would : wording->done);
	}
}

static enum outcome print(struct batch *batch, bool dry_run)
{
	struct output_list list;
	struct output_json json, item, error;
	enum outcome code;

	output_json_open(&json, batch->ctl);
	output_json_string(&json, "action", callback_action_names[batch->action]);
	output_json_bool(&json, "dry_run", dry_run);
	output_json_list_open(&json, "callbacks");
	output_list_open(&list, batch->ctl, NULL, NULL, text_fields, columns);
	for (size_t i = 0; i < batch->count; i++) {
		struct batch_row *row = &batch->rows[i];

		describe(batch, dry_run, row);
		output_list_add(&list, row);
		output_json_open(&item, batch->ctl);
		output_json_fields(&item, row->found ? json_fields : unknown_fields, row);
		if (row->done) {
			output_json_null(&item, "error");
		} else {
			output_json_open(&error, batch->ctl);
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

static enum outcome finish(struct batch *batch, bool dry_run)
{
	enum outcome code = print(batch, dry_run);

	if (code != OUTCOME_DONE || batch->done == batch->count)
		return code;
	ctl_tell("not_done", "%zu of %zu", batch->count - batch->done, batch->count);
	if (batch->done)
		return OUTCOME_PARTLY;
	return batch->code == OUTCOME_DONE ? OUTCOME_FAILED : batch->code;
}

static enum outcome run(struct ctl *ctl, enum callback_action action)
{
	const bool dry_run = ctl->options[OPTION_DRY_RUN];
	struct batch batch = {.ctl = ctl, .action = action};
	enum outcome code;

	if (!ctl->session.operator.reason[0])
		return ctl_usage(ctl, "--reason must be given");
	batch.rows = calloc(BATCH_EVENTS_MAX, sizeof(*batch.rows));
	if (!batch.rows)
		return ctl_no_memory(ctl);
	code = batch_read(&batch);
	if (code == OUTCOME_DONE)
		code = batch_find(&batch, dry_run);
	if (code == OUTCOME_DONE && !dry_run) {
		if (confirm(&batch))
			operate_all(&batch);
		else
			code = batch.code;
	}
	if (code == OUTCOME_DONE)
		code = finish(&batch, dry_run);
	free(batch.rows);
	return code;
}

enum outcome ctl_callback_retry(struct ctl *ctl)
{
	return run(ctl, CALLBACK_RETRY);
}

enum outcome ctl_callback_hold(struct ctl *ctl)
{
	return run(ctl, CALLBACK_HOLD);
}

enum outcome ctl_callback_release(struct ctl *ctl)
{
	return run(ctl, CALLBACK_RELEASE);
}

enum outcome ctl_callback_cancel(struct ctl *ctl)
{
	return run(ctl, CALLBACK_CANCEL);
}
