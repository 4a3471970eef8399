/*
 * callback - implements `callback list` and `callback show`.
 */
#include "cmd/ctl/callbacks/callback.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VIEW_MAX 40

static const struct field json_fields[] = {
	FIELD(FIELD_STR, callback_row, user_id),
	FIELD(FIELD_MONEY, callback_row, amount),
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

	if (callback_attempts_ended(&row->callback))
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

static const struct output_column list_columns[] = {
	{"EVENT", "event", OUTPUT_PLAIN},
	{"CREATED", "created_ms", OUTPUT_PLAIN},
	{"KIND", "kind", OUTPUT_PLAIN},
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"USER", "user_id", OUTPUT_PLAIN},
	{"GAME", "game_id", OUTPUT_PLAIN},
	{"AMOUNT", "amount", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"TRIES", "attempts", OUTPUT_PLAIN},
	{"LAST", "last", OUTPUT_PLAIN},
	{"NEXT TRY", "next", OUTPUT_PLAIN},
	{"NOTE", "last_note", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column show_columns[] = {
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"user id", "user_id", OUTPUT_PLAIN},
	{"player id", "player_id", OUTPUT_PLAIN},
	{"game id", "game_id", OUTPUT_PLAIN},
	{"bet", "bet_number", OUTPUT_IF_ANY},
	{"amount", "amount", OUTPUT_PLAIN},
	{"state", "state", OUTPUT_PLAIN},
	{"attempts", "attempts", OUTPUT_PLAIN},
	{"next try", "next", OUTPUT_PLAIN},
	{"one more by the operator", "once_more", OUTPUT_IF_ANY},
	{"unknown to the dealer", "unknown_to_dealer", OUTPUT_IF_ANY},
	{"known to the dealer", "known_to_dealer", OUTPUT_IF_ANY},
	{"cancelled by", "resolved_by", OUTPUT_IF_ANY},
	{"created", "created_ms", OUTPUT_PLAIN},
	{"first due", "first_ms", OUTPUT_PLAIN},
	{"ended", "ended_ms", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* An attempt. One whose end is not known has no outcome yet. */
struct attempt_row {
	struct attempt attempt; /* must be first */
	char outcome[32];
};

static const struct field attempt_more[] = {
	FIELD(FIELD_STR, attempt_row, outcome),
	FIELD_END,
};

static const struct output_column attempt_columns[] = {
	{"TRY", "number", OUTPUT_PLAIN},
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"OUTCOME", "outcome", OUTPUT_PLAIN},
	{"HTTP", "http_status", OUTPUT_IF_ANY},
	{"MS", "ms", OUTPUT_PLAIN},
	{"NEXT TRY", "next_ms", OUTPUT_PLAIN},
	{"DEALER'S ERROR", "dealer_error_id", OUTPUT_PLAIN},
	{"NOTE", "note", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static void add_callback(void *context, const struct callback_row *row)
{
	struct output_list *out = context;

	out->json = callback_row_json(row);
	output_list_add(out, row);
}

/*
 * Fetches the number of all callbacks of the list, if the dealer's sums have it: the parked or the held
 * ones of a dealer. 0: they do not.
 */
static enum outcome count_callbacks(struct ctl *ctl, uint32_t states, uint64_t *count)
{
	static const enum ctl_option others[] = {OPTION_USER, OPTION_GAME, OPTION_SINCE,
		OPTION_UNTIL, OPTION_KIND};
	struct total total = {.casino_id = ""};
	bool found;
	enum outcome code;

	*count = 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (ctl->options[others[i]])
			return OUTCOME_DONE;
	}
	if (!ctl->options[OPTION_CASINO] ||
		(states != UINT32_C(1) << CALLBACK_PARKED &&
			states != UINT32_C(1) << CALLBACK_HELD))
		return OUTCOME_DONE;
	text_copy(total.casino_id, sizeof(total.casino_id), ctl->options[OPTION_CASINO]);
	code = list_fetch(&ctl->session, RECORD_TOTAL, &total, &found, NULL);
	*count = states == UINT32_C(1) << CALLBACK_PARKED ? total.parked : total.held;
	return code;
}

enum outcome ctl_callback_list(struct ctl *ctl)
{
	struct output_list out;
	struct filter filter;
	uint32_t states, kinds;
	uint64_t count;
	enum outcome code;

	if (ctl->options[OPTION_SHAPE])
		return ctl_callback_shape(ctl);
	code = ctl_choices(ctl, OPTION_STATE, callback_state_names, CALLBACK_STATE_COUNT, &states);
	if (code == OUTCOME_DONE)
		code = ctl_choices(ctl, OPTION_KIND, callback_kind_names, CALLBACK_KIND_COUNT,
			&kinds);
	if (code == OUTCOME_DONE)
		code = ctl_filter(ctl, 50, &filter);
	if (code == OUTCOME_DONE)
		code = count_callbacks(ctl, states, &count);
	if (code != OUTCOME_DONE)
		return code;
	output_list_open(&out, ctl, "callbacks", "callbacks", callback_row_view(), list_columns);
	out.total = count;
	return output_list_close(&out,
		callbacks_walk(&ctl->session, &filter, states, kinds, add_callback, &out));
}

static enum outcome show_attempts(struct ctl *ctl, const struct callback *callback,
	struct output_json *json)
{
	static struct field view[24];
	struct output_list out;
	struct list list;
	struct attempt_row row;

	memset(&row, 0, sizeof(row));
	row.attempt.event = callback->event;
	output_view(view, sizeof(view) / sizeof(view[0]), attempt_fields, attempt_more);
	output_json_list_open(json, "tries");
	output_title(ctl, callback->attempts ? "Attempts" : "Attempts: none yet");
	list_open(&list, &ctl->session, RECORD_ATTEMPT, false, 1, &row.attempt);
	output_list_open(&out, ctl, NULL, NULL, view, attempt_columns);
	while (list_next(&list, &row.attempt)) {
		snprintf(row.outcome, sizeof(row.outcome), "%s",
			row.attempt.ended ? callback_class_names[row.attempt.class] : "under way");
		output_list_add(&out, &row);
		output_json_item(json, attempt_fields, &row.attempt);
	}
	output_json_list_close(json);
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

/* Prints the beginnings of the dealer's answers to the attempts that were no success. */
static enum outcome show_answers(struct ctl *ctl, const struct callback *callback,
	struct output_json *json)
{
	struct answer row = {.event = callback->event};
	char title[sizeof(row.content_type) + 96];
	struct list list;

	output_json_list_open(json, "answers");
	list_open(&list, &ctl->session, RECORD_ANSWER, false, 1, &row);
	while (list_next(&list, &row)) {
		snprintf(title, sizeof(title),
			"Answer to attempt %" PRIu32 " (%" PRIu32 " bytes%s%s)", row.number,
			row.length, row.content_type[0] ? ", " : "", row.content_type);
		output_title(ctl, title);
		if (!ctl->json) {
			output_foreign((const uint8_t *)row.text, strlen(row.text));
			putchar('\n');
		}
		output_json_item(json, answer_fields, &row);
	}
	output_json_list_close(json);
	return list_end(&list, OUTCOME_DONE);
}

/*
 * Prints the exact bytes of each attempt's body. On a terminal, control characters are escaped.
 */
static enum outcome show_body(struct ctl *ctl, const struct callback *callback,
	struct output_json *json)
{
	struct callback_body row = {.event = callback->event};
	struct buffer bytes, text;
	enum outcome code;
	bool found;
	char title[64];

	code = list_fetch_bytes(&ctl->session, RECORD_CALLBACK_BODY, &row, &found, &bytes);
	if (code == OUTCOME_DONE && found) {
		snprintf(title, sizeof(title), "Body (%" PRIu32 " bytes)", row.body.len);
		output_title(ctl, title);
		if (!ctl->json) {
			output_foreign(row.body.data, row.body.len);
			putchar('\n');
		}
		buffer_init(&text, OUTPUT_JSON_MAX);
		buffer_append(&text, row.body.data, row.body.len);
		buffer_append(&text, "", 1);
		if (text.failed)
			code = ctl_no_memory(ctl);
		else
			output_json_string(json, "body", (const char *)text.data);
		buffer_free(&text);
	} else if (code == OUTCOME_DONE) {
		output_title(ctl, "Body: not kept any more");
		output_json_null(json, "body");
	}
	buffer_free(&bytes);
	return code;
}

static enum outcome show_callback(struct ctl *ctl, const struct callback_row *row,
	const char *event_id, struct output_json *json)
{
	struct callback_target target;
	struct output_pairs pairs;
	struct dealer dealer;
	enum outcome code = names_dealer(&ctl->session, row->callback.casino_id, &dealer);
	char url[CALLBACK_URL_SIZE];

	if (code != OUTCOME_DONE)
		return code;
	callback_target_for(&dealer, &row->callback, &target);
	callback_target_url(&target, url);
	output_title(ctl, "Callback");
	output_pairs_open(&pairs, ctl);
	output_pairs_add(&pairs, "webhook-id", "%s", event_id);
	output_pairs_fields(&pairs, callback_row_view(), show_columns, row);
	output_pairs_add(&pairs, "goes to", "%s", url);
	code = output_pairs_close(&pairs);
	output_json_string(json, "webhook_id", event_id);
	output_json_string(json, "url", url);
	output_json_fields(json, callback_row_json(row), row);
	if (code == OUTCOME_DONE)
		code = show_attempts(ctl, &row->callback, json);
	if (code == OUTCOME_DONE)
		code = show_answers(ctl, &row->callback, json);
	if (code == OUTCOME_DONE)
		code = show_body(ctl, &row->callback, json);
	return code;
}

enum outcome ctl_callback_show(struct ctl *ctl)
{
	char event_id[CALLBACK_EVENT_ID_SIZE];
	struct callback_row row;
	struct output_json json;
	enum callback_kind kind;
	enum outcome code;
	uint64_t event;
	bool found;

	if (!callback_event_read(ctl->args[0], &event, &kind))
		return ctl_usage(ctl,
			"'%s' is not an event: its number, or the webhook-id as in "
			"betting-17",
			ctl->args[0]);
	code = callback_row_fetch(&ctl->session, event, &row, &found);
	if (code != OUTCOME_DONE)
		return code;
	if (!found || (kind != CALLBACK_KIND_COUNT && kind != row.callback.kind))
		return ctl_fail(ctl, OUTCOME_FAILED, "callback_not_found",
			"there is no callback "
			"%s%s; see `creditbridgectl callback list`",
			ctl->args[0], found ? ": the event is of another kind" : "");
	callback_event_id(row.callback.kind, event, event_id);
	output_json_open(&json, ctl);
	code = show_callback(ctl, &row, event_id, &json);
	if (code == OUTCOME_DONE)
		return output_json_close(&json);
	buffer_free(&json.text);
	return code;
}
