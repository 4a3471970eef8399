/*
 * replay - implements `callback replay`, `replay list`, `replay show` and `replay stop`.
 */
#include "admin/callbacks/replays.h"

#include "admin/list.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct output_column list_columns[] = {
	{"REPLAY", "id", OUTPUT_PLAIN},
	{"STARTED", "time_ms", OUTPUT_PLAIN},
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"PROGRESS", "progress", OUTPUT_PLAIN},
	{"BY", "by", OUTPUT_PLAIN},
	{"REASON", "reason", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column show_columns[] = {
	{"replay", "id", OUTPUT_PLAIN},
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"player id", "player_id", OUTPUT_IF_ANY},
	{"game id", "game_id", OUTPUT_IF_ANY},
	{"started", "time_ms", OUTPUT_PLAIN},
	{"by", "by", OUTPUT_PLAIN},
	{"reason", "reason", OUTPUT_PLAIN},
	{"state", "state", OUTPUT_PLAIN},
	{"ended", "ended_ms", OUTPUT_IF_ANY},
	{"stopped by", "stopped_by", OUTPUT_IF_ANY},
	{"progress", "progress", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

enum outcome ctl_replay_list(struct ctl *ctl)
{
	struct output_list out;
	struct list list;
	struct replay_row row;
	uint64_t limit;
	enum outcome code = ctl_list_limit(ctl, 50, &limit);

	if (code != OUTCOME_DONE)
		return code;
	list_open(&list, &ctl->session, RECORD_REPLAY, true, 0, NULL);
	output_list_open(&out, ctl, "replays", "replays", replay_row_fields, list_columns);
	while (limit-- && list_next(&list, &row.replay)) {
		replays_complete(&row);
		output_list_add(&out, &row);
	}
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

/* Reads the number of a replay and fetches it. */
static enum outcome fetch_replay(struct ctl *ctl, struct replay_row *row)
{
	enum outcome code;
	uint64_t id;
	bool found;

	memset(row, 0, sizeof(*row));
	if (!text_unsigned(ctl->args[0], INT64_MAX, &id) || !id)
		return ctl_usage(ctl, "'%s' is no number of a replay", ctl->args[0]);
	code = replays_fetch(&ctl->session, id, &row->replay, &found);
	if (code == OUTCOME_DONE && !found)
		return ctl_fail(ctl, OUTCOME_FAILED, "replay_not_found",
			"there is no replay %s; see `creditbridgectl replay list`", ctl->args[0]);
	if (code == OUTCOME_DONE)
		replays_complete(row);
	return code;
}

static enum outcome print_replay(struct ctl *ctl, const struct replay_row *row)
{
	struct output_pairs pairs;
	struct output_json json;
	enum outcome code;

	output_pairs_open(&pairs, ctl);
	output_pairs_fields(&pairs, replay_row_fields, show_columns, row);
	code = output_pairs_close(&pairs);
	output_json_open(&json, ctl);
	output_json_fields(&json, replay_row_fields, row);
	if (code == OUTCOME_DONE)
		return output_json_close(&json);
	buffer_free(&json.text);
	return code;
}

enum outcome ctl_replay_show(struct ctl *ctl)
{
	struct replay_row row;
	enum outcome code = fetch_replay(ctl, &row);

	return code == OUTCOME_DONE ? print_replay(ctl, &row) : code;
}

enum outcome ctl_replay_stop(struct ctl *ctl)
{
	struct replay_stop_cmd cmd = {.operator= ctl->session.operator};
	struct replay_stop_result result;
	struct replay_row row;
	enum outcome code = fetch_replay(ctl, &row);

	cmd.id = row.replay.id;
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_REPLAY_STOP, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = fetch_replay(ctl, &row);
	return code == OUTCOME_DONE ? print_replay(ctl, &row) : code;
}

/* ---- callback replay */

static enum outcome read_preview(struct ctl *ctl, struct replay_preview *preview)
{
	uint32_t kinds;
	struct filter filter;
	enum outcome code =
		ctl_choices(ctl, OPTION_KIND, callback_kind_names, CALLBACK_KIND_COUNT, &kinds);

	memset(preview, 0, sizeof(*preview));
	if (code == OUTCOME_DONE)
		code = ctl_filter(ctl, 0, &filter);
	if (code != OUTCOME_DONE)
		return code;
	if (!filter.casino_id[0])
		return ctl_usage(ctl, "--casino must be given: a replay is of one dealer");
	replays_filter(&filter, ctl->options[OPTION_KIND] ? kinds : 0, &preview->filter);
	return replays_preview(&ctl->session, preview, 0);
}

static enum outcome print_preview(struct ctl *ctl, const struct replay_preview *preview)
{
	struct output_pairs pairs;
	char amount[SUM_TEXT_MAX];

	output_pairs_open(&pairs, ctl);
	output_pairs_add(&pairs, "would be sent", "%" PRIu64 " callbacks of %s", preview->count,
		preview->filter.casino_id);
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		if (!preview->sums[i].count)
			continue;
		sum_format(preview->sums[i].amount, 4, amount);
		output_pairs_add(&pairs, callback_kind_names[i], "%" PRIu64 ", together %s",
			preview->sums[i].count, amount);
	}
	if (preview->held)
		output_pairs_add(&pairs, "not sent",
			"%" PRIu64 " are held: `callback release` first", preview->held);
	if (preview->adjusted)
		output_pairs_add(&pairs, "not sent",
			"%" PRIu64 " have an adjustment in their place", preview->adjusted);
	if (preview->parked_later)
		output_pairs_add(&pairs, "not sent",
			"%" PRIu64
			" were parked while the clock was ahead: `callback retry` sends one of them",
			preview->parked_later);
	if (preview->more)
		output_pairs_add(&pairs, "left for another replay",
			"those with events below %" PRIu64, preview->filter.first_event);
	if (preview->dealer_is_held)
		output_pairs_add(&pairs, "waits",
			"the dealer is held: nothing is sent until `release`");
	if (!preview->has_url)
		output_pairs_add(&pairs, "waits", "the dealer has no URL");
	output_pairs_add(&pairs, "breaker", "%s", breaker_names[preview->breaker]);
	return output_pairs_close(&pairs);
}

static void put_preview(struct ctl *ctl, const struct replay_preview *preview,
	struct output_json *json)
{
	char amount[SUM_TEXT_MAX];
	struct output_json item;

	output_json_open(json, ctl);
	output_json_string(json, "casino_id", preview->filter.casino_id);
	output_json_number(json, "callbacks", preview->count);
	output_json_list_open(json, "kinds");
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		if (!preview->sums[i].count)
			continue;
		sum_format(preview->sums[i].amount, 4, amount);
		output_json_open(&item, ctl);
		output_json_string(&item, "kind", callback_kind_names[i]);
		output_json_number(&item, "callbacks", preview->sums[i].count);
		output_json_string(&item, "amount", amount);
		output_json_item_object(json, &item);
	}
	output_json_list_close(json);
	output_json_number(json, "held", preview->held);
	output_json_number(json, "adjusted", preview->adjusted);
	output_json_number(json, "parked_later", preview->parked_later);
	output_json_number(json, "first_event", preview->filter.first_event);
	output_json_number(json, "last_event", preview->filter.last_event);
	output_json_bool(json, "more", preview->more);
	output_json_string(json, "breaker", breaker_names[preview->breaker]);
}

/* Asks, and starts the replay. @id stays 0 if nothing is to be sent. */
static enum outcome start_replay(struct ctl *ctl, const struct replay_preview *preview,
	uint64_t *id)
{
	const struct replay_start_cmd cmd = {
		.operator= ctl->session.operator,
		.filter = preview->filter,
		.expected = preview->count,
		.parked_later = preview->parked_later,
	};
	char question[160];
	enum outcome code;

	if (!preview->count || ctl->options[OPTION_DRY_RUN])
		return OUTCOME_DONE;
	snprintf(question, sizeof(question),
		"Send these %" PRIu64 " callbacks of %s once more each?", preview->count,
		preview->filter.casino_id);
	if (!ctl_confirm(ctl, question, &code))
		return code;
	return replays_start(&ctl->session, &cmd, id);
}

enum outcome ctl_callback_replay(struct ctl *ctl)
{
	struct replay_preview preview;
	struct output_json json;
	uint64_t id = 0;
	enum outcome code;

	if (!ctl->session.operator.reason[0] && !ctl->options[OPTION_DRY_RUN])
		return ctl_usage(ctl, "--reason must be given, or --dry-run");
	code = read_preview(ctl, &preview);
	if (code == OUTCOME_DONE)
		code = print_preview(ctl, &preview);
	if (code == OUTCOME_DONE)
		code = start_replay(ctl, &preview, &id);
	if (code != OUTCOME_DONE)
		return code;
	put_preview(ctl, &preview, &json);
	if (id)
		output_json_number(&json, "replay", id);
	else
		output_json_null(&json, "replay");
	if (id && !ctl->json)
		printf("replay %" PRIu64 " is started: `creditbridgectl replay show %" PRIu64 "`\n",
			id, id);
	else if (!ctl->json && !preview.count)
		printf("nothing to send\n");
	return output_json_close(&json);
}
