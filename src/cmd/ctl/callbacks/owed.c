/*
 * owed - implements `owed`: lists the debts, with their beginnings, causes and next steps.
 */
#include "cmd/ctl/callbacks/owed.h"

#include "admin/callbacks/owed.h"
#include "cmd/ctl/common/output_fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum rows held in memory for sorting. */
#define SORTED_MAX 10000

static const struct field owed_fields[] = {
	FIELD(FIELD_STR, owed_row, webhook_id),
	FIELD_NAMED(owed_row, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD_NAMED(owed_row, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_TIME_MS, owed_row, since_ms),
	FIELD(FIELD_STR, owed_row, casino_id),
	FIELD(FIELD_STR, owed_row, player_id),
	FIELD(FIELD_STR, owed_row, user_id),
	FIELD(FIELD_STR, owed_row, game_id),
	FIELD_NAMED_AS("debt", owed_row, story.debt, story_debt_names, DEBT_COUNT),
	FIELD_AS("owed", FIELD_MONEY, owed_row, story.owed),
	FIELD_AS("happened", FIELD_STR, owed_row, story.happened),
	FIELD_AS("owes", FIELD_STR, owed_row, story.owes),
	FIELD_AS("next", FIELD_STR, owed_row, story.next),
	FIELD_END,
};

void owed_print_story(struct ctl *ctl, const struct story *story, struct output_json *json)
{
	output_json_record(json, "story", story_fields, story);
	if (ctl->json)
		return;
	output_title(ctl, "What happened");
	fit_print("", story->happened);
	fit_print("", story->owes);
	fit_print("Next step: ", story->next);
}

/* ---- the sums of the dealers */

/* The most dealers of which the sums are printed for people. JSON has all. */
#define DEALERS_SHOWN 20

struct sums_output {
	const char *prefix;
	struct output_json *json;
	bool text;
	uint32_t dealers;
};

static void print_sums(const struct sums_output *out, const struct owed_sums *sums)
{
	char payouts[SUM_TEXT_MAX], refunds[SUM_TEXT_MAX], shortfall[SUM_TEXT_MAX];
	char line[STORY_TEXT_MAX];

	sum_format(sums->payouts, 2, payouts);
	sum_format(sums->refunds, 2, refunds);
	sum_format(sums->shortfall, 2, shortfall);
	if (sums->payouts) {
		snprintf(line, sizeof(line), "dealer %s owes its players %s %s in payouts",
			sums->casino_id, payouts, sums->currency);
		fit_print(out->prefix, line);
	}
	if (sums->refunds) {
		snprintf(line, sizeof(line),
			"dealer %s owes its players at most %s %s in refunds of bets",
			sums->casino_id, refunds, sums->currency);
		fit_print(out->prefix, line);
	}
	if (sums->shortfall) {
		snprintf(line, sizeof(line),
			"players of dealer %s owe %s %s that corrections could not take back",
			sums->casino_id, shortfall, sums->currency);
		fit_print(out->prefix, line);
	}
}

static void add_sums(void *context, const struct owed_sums *sums)
{
	struct sums_output *out = context;

	output_json_item(out->json, owed_sums_fields, sums);
	if (out->text && out->dealers < DEALERS_SHOWN)
		print_sums(out, sums);
	out->dealers++;
}

static enum outcome print_dealers(struct ctl *ctl, const char *casino_id, const char *prefix,
	const char *member, struct output_json *json)
{
	struct sums_output out = {prefix, json, !ctl->json, 0};
	enum outcome code;

	output_json_list_open(json, member);
	code = owed_sums_walk(&ctl->session, casino_id, add_sums, &out);
	output_json_list_close(json);
	if (code == OUTCOME_DONE && out.text && out.dealers > DEALERS_SHOWN)
		printf("%s%" PRIu32 " more dealers: see `creditbridgectl owed`\n", prefix,
			out.dealers - DEALERS_SHOWN);
	return code;
}

enum outcome owed_print_sums(struct ctl *ctl, const char *prefix, struct output_json *json)
{
	return print_dealers(ctl, "", prefix, "owed", json);
}

/* ---- the list */

/* The rows that are printed: the oldest that are found. */
struct owed_list {
	struct owed_row *rows; /* once there are max of them: a heap, with the newest at the top */
	size_t count;
	size_t max;
	uint64_t found;
	bool no_memory;
};

static int older_row_first(const void *a, const void *b)
{
	const struct owed_row *one = a, *other = b;

	return (one->since_ms > other->since_ms) - (one->since_ms < other->since_ms);
}

static int newer_row_first(const void *a, const void *b)
{
	return older_row_first(b, a);
}

/* Moves the row at the top down to its place. */
static void sift_top(struct owed_list *list)
{
	struct owed_row *rows = list->rows, row;
	size_t at = 0, child;

	for (child = 1; child < list->count; child = 2 * at + 1) {
		if (child + 1 < list->count && rows[child + 1].since_ms > rows[child].since_ms)
			child++;
		if (rows[child].since_ms <= rows[at].since_ms)
			return;
		row = rows[at];
		rows[at] = rows[child];
		rows[child] = row;
		at = child;
	}
}

static void keep_row(void *context, const struct owed_row *row)
{
	struct owed_list *list = context;
	struct owed_row *grown;

	list->found++;
	if (list->no_memory || !list->max)
		return;
	if (list->count == list->max) {
		if (row->since_ms < list->rows[0].since_ms) {
			list->rows[0] = *row;
			sift_top(list);
		}
		return;
	}
	/* By 64 rows, or as many as there may be. */
	if (list->count % 64 == 0) {
		grown = reallocarray(list->rows, list->count + 64, sizeof(*grown));
		list->no_memory = !grown;
		if (!grown)
			return;
		list->rows = grown;
	}
	list->rows[list->count++] = *row;
	if (list->count == list->max)
		qsort(list->rows, list->count, sizeof(*list->rows), newer_row_first);
}

static void print_row(const struct owed_row *row)
{
	char since[OUTPUT_TEXT_MAX], line[OUTPUT_TEXT_MAX + STORY_TEXT_MAX + 2];

	output_value(field_find(owed_fields, "since_ms"), OUTPUT_PLAIN, row, since);
	snprintf(line, sizeof(line), "%s  %s", since, row->story.owes);
	fit_print("", line);
	fit_print("  ", row->story.happened);
	fit_print("  Next step: ", row->story.next);
}

static enum outcome print_rows(struct ctl *ctl, const struct owed_list *list, const char *casino_id)
{
	struct output_json json;
	enum outcome code;

	output_json_open(&json, ctl);
	output_json_list_open(&json, "owed");
	for (size_t i = 0; i < list->count; i++) {
		output_json_item(&json, owed_fields, &list->rows[i]);
		if (!ctl->json)
			print_row(&list->rows[i]);
	}
	output_json_list_close(&json);
	if (!list->found)
		ctl_tell(NULL, "nothing is owed");
	else if (list->found > list->count)
		ctl_tell("cut", "%zu of %" PRIu64 " debts are listed; see --limit and --casino",
			list->count, list->found);
	if (!ctl->json && list->count)
		printf("\n");
	code = print_dealers(ctl, casino_id, "In all, ", "dealers", &json);
	if (code == OUTCOME_DONE)
		return output_json_close(&json);
	buffer_free(&json.text);
	return code;
}

enum outcome ctl_owed(struct ctl *ctl)
{
	struct owed_list list = {.max = SORTED_MAX};
	struct filter filter;
	uint64_t limit;
	enum outcome code = ctl_limit(ctl, 100, &limit);

	if (code == OUTCOME_DONE)
		code = ctl_filter(ctl, 100, &filter);
	if (code != OUTCOME_DONE)
		return code;
	if (limit < list.max)
		list.max = (size_t)limit;
	code = owed_walk(&ctl->session, &filter, keep_row, &list);
	if (code == OUTCOME_DONE && list.no_memory)
		code = ctl_no_memory(ctl);
	if (code == OUTCOME_DONE) {
		if (list.count) /* otherwise there is no array */
			qsort(list.rows, list.count, sizeof(*list.rows), older_row_first);
		code = print_rows(ctl, &list, filter.casino_id);
	}
	free(list.rows);
	return code;
}
