/*
 * dealer_move - implements `dealer move`: moves a dealer to the ledger of another cell.
 */
#include "admin/move/move.h"

#include "admin/names.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A kind of rows that was compared. */
struct compared_kind {
	char kind[16];
	uint64_t count;
	sum_t amount;
	char sha256[DIGEST_TEXT_SIZE];
};

static const struct field compared_fields[] = {
	FIELD(FIELD_STR, compared_kind, kind),
	FIELD(FIELD_U64, compared_kind, count),
	FIELD(FIELD_SUM, compared_kind, amount),
	FIELD(FIELD_STR, compared_kind, sha256),
	FIELD_END,
};

static const struct output_column compared_columns[] = {
	{"KIND", "kind", OUTPUT_PLAIN},
	{"ROWS", "count", OUTPUT_PLAIN},
	{"SUM", "amount", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static void show_progress(void *closure, const char *what, uint64_t rows)
{
	progress_show(closure, "%s: %" PRIu64, what, rows);
}

/* Prints the kinds that were compared. */
static enum outcome print_kinds(struct ctl *ctl, const struct move *move)
{
	struct output_list list;
	struct compared_kind row;

	output_list_open(&list, ctl, NULL, NULL, compared_fields, compared_columns);
	for (unsigned int at = 0; at < move_record_count; at++) {
		const struct move_tally *tally = &move->tallies[move_records[at]];

		if (!tally->count)
			continue;
		memset(&row, 0, sizeof(row));
		text_copy(row.kind, sizeof(row.kind), record_infos[move_records[at]].name);
		text_copy(row.sha256, sizeof(row.sha256), tally->digest);
		row.count = tally->count;
		row.amount = tally->amount;
		output_list_add(&list, &row);
	}
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome print_done(struct ctl *ctl, const struct move *move, bool aborted)
{
	struct output_json json;
	enum outcome code = OUTCOME_DONE;

	if (!ctl->json && !aborted)
		code = print_kinds(ctl, move);
	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->json && aborted)
		printf("dealer %s stays in this cell; %" PRIu64
		       " rows were deleted in the other one\n",
			move->casino_id, move->rows);
	else if (!ctl->json)
		printf("dealer %s is served by the cell %s\n", move->casino_id, move->to_name);
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", move->casino_id);
	output_json_string(&json, "cell", move->to_name);
	output_json_string(&json, "state", aborted ? "aborted" : "moved");
	output_json_number(&json, "rows", move->rows);
	output_json_list_open(&json, "kinds");
	for (unsigned int at = 0; at < move_record_count; at++) {
		const struct move_tally *tally = &move->tallies[move_records[at]];
		struct compared_kind row = {.count = tally->count, .amount = tally->amount};

		if (!tally->count)
			continue;
		text_copy(row.kind, sizeof(row.kind), record_infos[move_records[at]].name);
		text_copy(row.sha256, sizeof(row.sha256), tally->digest);
		output_json_item(&json, compared_fields, &row);
	}
	output_json_list_close(&json);
	return output_json_close(&json);
}

/* Fills the session of the ledger that the dealer moves to. Both configurations are read before root is dropped. */
static enum outcome open_other(struct ctl *ctl, struct session *other)
{
	enum outcome code = session_settings(&ctl->session);

	*other = (struct session){
		.config = ctl->options[OPTION_TO_CONFIG],
		.operator= ctl->session.operator,
		.prepare = ctl->session.prepare,
		.report = ctl->session.report,
		.report_closure = ctl->session.report_closure,
	};
	memcpy(other->noun, ctl->session.noun, sizeof(other->noun));
	memcpy(other->object, ctl->session.object, sizeof(other->object));
	return code == OUTCOME_DONE ? session_settings(other) : code;
}

enum outcome ctl_dealer_move(struct ctl *ctl)
{
	static struct session other;
	static struct move move;
	const char *cell = ctl->options[OPTION_TO];
	const bool aborted = ctl->options[OPTION_ABORT] != NULL;
	char casino_id[CASINO_ID_SIZE];
	struct progress progress;
	enum outcome code = names_read_casino_id(&ctl->session, ctl->args[0], casino_id);

	if (code != OUTCOME_DONE)
		return code;
	if (!cell || !text_is_name(cell, CELL_NAME_SIZE - 1))
		return ctl_usage(ctl, "--to takes the name of a cell: 1 to %d of [A-Za-z0-9_.-]",
			CELL_NAME_SIZE - 1);
	if (!ctl->options[OPTION_TO_CONFIG])
		return ctl_usage(ctl, "--to-config names the configuration file of the cell %s",
			cell);
	code = open_other(ctl, &other);
	if (code != OUTCOME_DONE)
		return code;
	move_open(&move, &ctl->session, &other, casino_id);
	text_copy(move.to_name, sizeof(move.to_name), cell);
	progress = progress_begin(ctl);
	move.progress = show_progress;
	move.progress_closure = &progress;
	code = aborted ? move_abort(&move) : move_dealer(&move);
	progress_end(&progress);
	if (code == OUTCOME_DONE)
		code = print_done(ctl, &move, aborted);
	move_close(&move);
	session_close(&other);
	return code;
}
