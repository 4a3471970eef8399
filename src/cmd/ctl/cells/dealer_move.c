/*
 * dealer_move - implements `dealer move`: moves a dealer to the ledger of another cell.
 */
#include "admin/move/move.h"

#include "admin/names.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/cells/cells.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RATE_AFTER_MS 1000

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

/* The line of progress. */
struct shown {
	struct progress progress;
	const char *what; /* that is under way ... */
	int64_t began_ms; /* ... since then, of the boot clock */
	uint64_t bytes;   /* that were read then, by an earlier run */
};

static void show_progress(void *closure, const struct move_progress *now)
{
	struct shown *shown = closure;
	const int64_t now_ms = clock_boot_ms();
	uint64_t ms, done, left_s;

	if (shown->what != now->what) {
		shown->what = now->what;
		shown->began_ms = now_ms;
		shown->bytes = now->bytes;
	}
	ms = (uint64_t)(now_ms - shown->began_ms);
	done = now->bytes - shown->bytes;
	/* Before, the rate says nothing. */
	if (ms < RATE_AFTER_MS || !done || now->bytes_all < now->bytes) {
		progress_show(&shown->progress, "%s: %" PRIu64, now->what, now->count);
		return;
	}
	left_s = (uint64_t)((double)ms * (double)(now->bytes_all - now->bytes) / (double)done /
		1000);
	progress_show(&shown->progress,
		"%s: %" PRIu64 " (%" PRIu64 " of about %" PRIu64 " MiB read, %" PRIu64
		" rows a second, about %" PRIu64 " s left)",
		now->what, now->count, now->bytes >> 20, now->bytes_all >> 20,
		now->looked * 1000 / ms, left_s);
}

/* Prints what the move will look at, and sets the sizes that the progress needs. */
static enum outcome print_estimate(struct ctl *ctl, struct move *move)
{
	struct move_estimate estimate;
	const enum outcome code = move_estimate(move, &estimate);

	if (code != OUTCOME_DONE || ctl->json)
		return code;
	if (estimate.has_dealer)
		fprintf(stderr,
			"dealer %s: players: %" PRIu64 ", movements: %" PRIu64 ", bets: %" PRIu64
			", callbacks: %" PRIu64 "%s\n",
			move->casino_id, estimate.players, estimate.movements, estimate.bets,
			estimate.callbacks,
			estimate.at_least ? ", and older ones that were not counted" : "");
	fprintf(stderr,
		"the rows of all dealers are read to find its rows: %.1f MiB of tables until cell %s "
		"serves the dealer\n",
		(double)estimate.read_bytes / (1 << 20), move->to_name);
	return OUTCOME_DONE;
}

/* Fills @row with the kind at place @at of move_records. Returns false if the dealer has no row of it. */
static bool fill_kind(const struct move *move, unsigned int at, struct compared_kind *row)
{
	const struct move_tally *tally = &move->tallies[move_records[at]];

	memset(row, 0, sizeof(*row));
	text_copy(row->kind, sizeof(row->kind), record_infos[move_records[at]].name);
	text_copy(row->sha256, sizeof(row->sha256), tally->digest);
	row->count = tally->count;
	row->amount = tally->amount;
	return tally->count != 0;
}

static enum outcome print_kinds(struct ctl *ctl, const struct move *move)
{
	struct output_list list;
	struct compared_kind row;

	output_list_open(&list, ctl, NULL, NULL, compared_fields, compared_columns);
	for (unsigned int at = 0; at < move_record_count; at++) {
		if (fill_kind(move, at, &row))
			output_list_add(&list, &row);
	}
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome print_text(struct ctl *ctl, const struct move *move, bool aborted)
{
	enum outcome code;

	if (aborted) {
		printf("dealer %s stays in cell %s; %" PRIu64 " rows were deleted in cell %s\n",
			move->casino_id, move->from_name, move->rows, move->to_name);
		return OUTCOME_DONE;
	}
	code = print_kinds(ctl, move);
	if (code != OUTCOME_DONE)
		return code;
	printf("dealer %s is served by cell %s\n", move->casino_id, move->to_name);
	if (move->complete_to_ms)
		printf("its callbacks are held there: the data of the cell went back during the move; "
		       "continue with reconcile, release and key-confirm\n");
	return OUTCOME_DONE;
}

static enum outcome print_json(struct ctl *ctl, const struct move *move, bool aborted)
{
	struct output_json json;
	struct compared_kind row;

	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", move->casino_id);
	output_json_string(&json, "from", move->from_name);
	output_json_string(&json, "to", move->to_name);
	output_json_string(&json, "state", aborted ? "aborted" : "moved");
	output_json_number(&json, "rows", move->rows);
	output_json_bool(&json, "held", move->complete_to_ms != 0);
	output_json_list_open(&json, "kinds");
	for (unsigned int at = 0; at < move_record_count; at++) {
		if (fill_kind(move, at, &row))
			output_json_item(&json, compared_fields, &row);
	}
	output_json_list_close(&json);
	return output_json_close(&json);
}

/* Fills the session of cell @at. The configurations of all cells were read before root is dropped. */
static void open_other(const struct ctl *ctl, unsigned int at, struct session *other)
{
	*other = (struct session){
		.config = ctl->cells->list.cells[at].path,
		.settings_loaded = true,
		.settings = ctl->cells->settings[at],
		.operator= ctl->session.operator,
		.prepare = ctl->session.prepare,
		.report = ctl->session.report,
		.report_closure = ctl->session.report_closure,
	};
	memcpy(other->noun, ctl->session.noun, sizeof(other->noun));
	memcpy(other->object, ctl->session.object, sizeof(other->object));
}

enum outcome ctl_dealer_move(struct ctl *ctl)
{
	static struct session other;
	static struct move move;
	const bool aborted = ctl->options[OPTION_ABORT] != NULL;
	char casino_id[CASINO_ID_SIZE];
	struct shown shown = {.what = NULL};
	unsigned int at;
	enum outcome code = names_read_casino_id(&ctl->session, ctl->args[0], casino_id);

	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->cells)
		return ctl_usage(ctl,
			"the configuration names no other cell: see cells in creditbridge.conf(5)");
	code = cells_target(ctl, ctl->cells, &at);
	if (code != OUTCOME_DONE)
		return code;
	if (at == ctl->cells->at)
		return ctl_usage(ctl, "--cell and --to name the same cell");
	open_other(ctl, at, &other);
	move_open(&move, &ctl->session, &other, casino_id);
	text_copy(move.from_name, sizeof(move.from_name), ctl->cell);
	text_copy(move.to_name, sizeof(move.to_name), ctl->cells->list.cells[at].name);
	shown.progress = progress_begin(ctl);
	move.progress = show_progress;
	move.progress_closure = &shown;
	if (!aborted)
		code = print_estimate(ctl, &move);
	if (code == OUTCOME_DONE)
		code = aborted ? move_abort(&move) : move_dealer(&move);
	progress_end(&shown.progress);
	if (code == OUTCOME_DONE)
		code = (ctl->json ? print_json : print_text)(ctl, &move, aborted);
	move_close(&move);
	session_close(&other);
	return code;
}
