/*
 * callback_operate - callback retry, hold, release, cancel: of one or many events.
 *
 * Each event is a command of its own, with an operation id of its own. What was done to which, and
 * what was not and why, is told in the end; only some done ends with CTL_PARTLY.
 */
#include "cmd/ctl/ctl.h"

#include "base/clock.h"
#include "cmd/ctl/callback_row.h"
#include "cmd/ctl/list.h"
#include "cmd/ctl/secret.h"
#include "domain/delivery.h"
#include "wire/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX      10000
#define SHOWN_MAX       20 /* before the question */
#define EVENTS_TEXT_MAX (EVENTS_MAX * 40)

/* One event, and what became of it. */
struct operation_row {
	uint64_t event;
	enum callback_kind kind; /* first what was asked for: CALLBACK_KIND_COUNT is any */
	char casino_id[CASINO_ID_SIZE];
	enum callback_state state;
	uint32_t attempts;
	int64_t first_ms; /* a refund is not sent before that, whoever hurries it */
	bool found;
	bool done; /* with --dry-run: it would be */
	bool used_up; /* released, and parked again: no attempt was left */
	const char *error_id;
	char error_detail[256];
	char result[320]; /* for people */
};

static const struct field json_fields[] = {
	FIELD(FIELD_U64, operation_row, event),
	FIELD_NAMED(operation_row, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, operation_row, casino_id),
	FIELD_NAMED(operation_row, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, operation_row, attempts),
	FIELD(FIELD_BOOL, operation_row, done),
	FIELD_END,
};

static const struct field text_fields[] = {
	FIELD(FIELD_U64, operation_row, event),
	FIELD_NAMED(operation_row, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, operation_row, casino_id),
	FIELD_NAMED(operation_row, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, operation_row, attempts),
	FIELD(FIELD_STR, operation_row, result),
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

/* An event that is not there has its number only. */
static const struct field unknown_fields[] = {
	FIELD(FIELD_U64, operation_row, event),
	FIELD(FIELD_BOOL, operation_row, done),
	FIELD_END,
};

/* How an action is told, and asked for before. */
static const struct wording {
	const char *done;
	const char *would;
	const char *verb; /* NULL: nothing is asked */
	const char *consequence;
} wordings[CALLBACK_ACTION_COUNT] = {
	[CALLBACK_RETRY] = {"is due now", "would be due now", "Send",
		"once more, at the sweeper's next turn?"},
	[CALLBACK_HOLD] = {"is held", "would be held", NULL, ""},
	[CALLBACK_RELEASE] = {"is released", "would be released", NULL, ""},
	[CALLBACK_CANCEL] = {"is cancelled", "would be cancelled", "Cancel",
		"as settled outside? No cancelled one is ever sent again."},
};

struct batch {
	struct ctl *ctl;
	enum callback_action action;
	struct operation_row *rows;
	size_t count;
	size_t found;
	size_t done;
	enum ctl_exit code; /* why the last one that was not done was not */
};

static enum ctl_exit add_word(struct batch *batch, const char *word)
{
	struct operation_row row;

	memset(&row, 0, sizeof(row));
	if (!callback_event_read(word, &row.event, &row.kind))
		return ctl_usage(batch->ctl, "'%s' is not an event: its number, or the webhook-id "
					     "as in betting-17", word);
	if (batch->count == EVENTS_MAX)
		return ctl_usage(batch->ctl, "more than %d events", EVENTS_MAX);
	batch->rows[batch->count++] = row;
	return CTL_DONE;
}

/* Events from standard input, with white space between them. */
static enum ctl_exit read_stdin(struct batch *batch)
{
	struct buffer text;
	char *word, *rest = NULL;
	enum ctl_exit code;

	buffer_init(&text, EVENTS_TEXT_MAX);
	code = secret_read_file(batch->ctl, "-", &text);
	if (code == CTL_DONE && !buffer_append(&text, "", 1))
		code = ctl_usage(batch->ctl, "more than %d events", EVENTS_MAX);
	word = code == CTL_DONE ? strtok_r((char *)text.data, " \t\r\n", &rest) : NULL;
	for (; word && code == CTL_DONE; word = strtok_r(NULL, " \t\r\n", &rest))
		code = add_word(batch, word);
	buffer_free(&text);
	return code;
}

static enum ctl_exit read_events(struct batch *batch)
{
	struct ctl *ctl = batch->ctl;
	enum ctl_exit code = CTL_DONE;
	bool taken = false;

	for (unsigned int i = 0; i < ctl->arg_count && code == CTL_DONE; i++) {
		if (strcmp(ctl->args[i], "-") != 0) {
			code = add_word(batch, ctl->args[i]);
		} else if (!taken) {
			code = read_stdin(batch);
			taken = true;
		}
	}
	if (code == CTL_DONE && !batch->count)
		code = ctl_usage(ctl, "standard input holds no event");
	return code;
}

static void fail_row(struct operation_row *row, const char *id, const char *detail)
{
	row->error_id = id;
	snprintf(row->error_detail, sizeof(row->error_detail), "%s", detail);
}

/* What the ledger would say, by the rule that it goes by. */
static void rehearse(const struct batch *batch, const struct callback *callback,
	struct operation_row *row)
{
	struct delivery delivery;
	struct delivery_terms terms = {.unknown_bet_ids = ""};
	const struct moment now = clock_now();
	const char *why;

	memset(&delivery, 0, sizeof(delivery));
	delivery.callback = *callback;
	retry_policy_defaults(&terms.retry);
	why = delivery_operate(&delivery, batch->action, "", &terms, &now);
	row->done = !why;
	row->used_up = delivery.callback.state == CALLBACK_PARKED;
	if (why)
		fail_row(row, refusal_info(REFUSAL_NOT_ALLOWED_NOW)->id, why);
}

/* Looks at one event. */
static enum ctl_exit find_event(struct batch *batch, struct operation_row *row, bool dry_run)
{
	const struct refusal_info *unknown = refusal_info(REFUSAL_CALLBACK_NOT_FOUND);
	struct callback callback;
	enum ctl_exit code;

	memset(&callback, 0, sizeof(callback));
	callback.event = row->event;
	code = list_fetch(batch->ctl, RECORD_CALLBACK, &callback, &row->found, NULL);
	if (!row->found || (row->kind != CALLBACK_KIND_COUNT && row->kind != callback.kind)) {
		row->found = false;
		row->kind = CALLBACK_KIND_COUNT;
		row->state = CALLBACK_STATE_COUNT;
		fail_row(row, unknown->id, unknown->detail);
		return code;
	}
	row->kind = callback.kind;
	memcpy(row->casino_id, callback.casino_id, sizeof(row->casino_id));
	row->state = callback.state;
	row->attempts = callback.attempts;
	row->first_ms = callback.first_ms;
	if (dry_run)
		rehearse(batch, &callback, row);
	return code;
}

/* True: the event of row @last is among the rows before it. */
static bool named_before(const struct batch *batch, size_t last)
{
	for (size_t i = 0; i < last; i++) {
		if (batch->rows[i].event == batch->rows[last].event &&
			batch->rows[i].found == batch->rows[last].found)
			return true;
	}
	return false;
}

/* Looks at every event before anything is done. One that is named twice counts once. */
static enum ctl_exit find_events(struct batch *batch, bool dry_run)
{
	size_t count = batch->count;
	enum ctl_exit code = CTL_DONE;

	batch->count = 0;
	for (size_t i = 0; i < count && code == CTL_DONE; i++) {
		struct operation_row *row = &batch->rows[batch->count];

		*row = batch->rows[i];
		code = find_event(batch, row, dry_run);
		if (named_before(batch, batch->count))
			continue;
		batch->count++;
		batch->found += row->found;
	}
	return code;
}

/* What is asked about, as it stands now. */
static enum ctl_exit print_found(struct batch *batch)
{
	struct output_list list;
	size_t shown = 0;
	enum ctl_exit code;

	output_list_open(&list, batch->ctl, NULL, NULL, text_fields, found_columns);
	for (size_t i = 0; i < batch->count && shown < SHOWN_MAX; i++) {
		if (batch->rows[i].found) {
			output_list_add(&list, &batch->rows[i]);
			shown++;
		}
	}
	code = output_list_close(&list, CTL_DONE);
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
		if (batch->code != CTL_DONE)
			return false;
	}
	snprintf(question, sizeof(question), "%s %zu callback%s %s", verb, batch->found,
		batch->found == 1 ? "" : "s", wordings[batch->action].consequence);
	return ctl_confirm(batch->ctl, question, &batch->code);
}

/* Does it to one event. False: no other needs to be tried. */
static bool operate(struct batch *batch, struct operation_row *row)
{
	struct callback_operate_cmd cmd = {
		.operator = batch->ctl->operator, .event = row->event, .action = batch->action};
	struct callback_operate_result result;
	struct ctl_failure failure;

	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id))) {
		batch->code = CTL_FAILED;
		fail_row(row, "failed", "no random numbers");
		return false;
	}
	batch->code = ctl_try(batch->ctl, COMMAND_CALLBACK_OPERATE, &cmd, &result, &failure);
	row->done = batch->code == CTL_DONE;
	if (row->done || batch->code == CTL_FAILED) {
		row->state = result.state;
		row->attempts = result.attempts;
		row->used_up = row->state == CALLBACK_PARKED;
	}
	if (!row->done)
		fail_row(row, failure.id, failure.detail);
	/* A refusal is this event's; with no ledger the others need not be tried. */
	return row->done || batch->code == CTL_FAILED;
}

static void operate_all(struct batch *batch)
{
	bool on = true;

	for (size_t i = 0; i < batch->count; i++) {
		struct operation_row *row = &batch->rows[i];

		if (row->found && on)
			on = operate(batch, row);
		else if (row->found)
			fail_row(row, "not_tried", "the ledger failed before");
	}
}

static void describe(const struct batch *batch, bool dry_run, struct operation_row *row)
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

static enum ctl_exit print(struct batch *batch, bool dry_run)
{
	struct output_list list;
	struct output_json json, item, error;
	enum ctl_exit code;

	output_json_open(&json, batch->ctl);
	output_json_string(&json, "action", callback_action_names[batch->action]);
	output_json_bool(&json, "dry_run", dry_run);
	output_json_list_open(&json, "callbacks");
	output_list_open(&list, batch->ctl, NULL, NULL, text_fields, columns);
	for (size_t i = 0; i < batch->count; i++) {
		struct operation_row *row = &batch->rows[i];

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
	code = output_list_close(&list, CTL_DONE);
	if (code == CTL_DONE)
		return output_json_close(&json);
	buffer_free(&json.text);
	return code;
}

static enum ctl_exit finish(struct batch *batch, bool dry_run)
{
	enum ctl_exit code = print(batch, dry_run);

	if (code != CTL_DONE || batch->done == batch->count)
		return code;
	ctl_tell("not_done", "%zu of %zu", batch->count - batch->done, batch->count);
	if (batch->done)
		return CTL_PARTLY;
	return batch->code == CTL_DONE ? CTL_FAILED : batch->code;
}

static enum ctl_exit run(struct ctl *ctl, enum callback_action action)
{
	const bool dry_run = ctl->options[OPTION_DRY_RUN];
	struct batch batch = {.ctl = ctl, .action = action};
	enum ctl_exit code;

	if (!ctl->operator.reason[0])
		return ctl_usage(ctl, "--reason must be given");
	batch.rows = calloc(EVENTS_MAX, sizeof(*batch.rows));
	if (!batch.rows)
		return ctl_no_memory(ctl);
	code = read_events(&batch);
	if (code == CTL_DONE)
		code = find_events(&batch, dry_run);
	if (code == CTL_DONE && !dry_run) {
		if (confirm(&batch))
			operate_all(&batch);
		else
			code = batch.code;
	}
	if (code == CTL_DONE)
		code = finish(&batch, dry_run);
	free(batch.rows);
	return code;
}

enum ctl_exit ctl_callback_retry(struct ctl *ctl)
{
	return run(ctl, CALLBACK_RETRY);
}

enum ctl_exit ctl_callback_hold(struct ctl *ctl)
{
	return run(ctl, CALLBACK_HOLD);
}

enum ctl_exit ctl_callback_release(struct ctl *ctl)
{
	return run(ctl, CALLBACK_RELEASE);
}

enum ctl_exit ctl_callback_cancel(struct ctl *ctl)
{
	return run(ctl, CALLBACK_CANCEL);
}
