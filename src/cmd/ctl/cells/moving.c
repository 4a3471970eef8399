/*
 * moving - finds the cells of a dealer that moves or is to move (domain/dealer_move.h).
 */
#include "cmd/ctl/cells/cells.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "domain/dealer_move.h"

#include <string.h>

/* Which cell the dealer leaves: the one with the highest rank. */
enum source_rank {
	NOT_SOURCE,
	WAS_SOURCE, /* an earlier move from it is done */
	HAS_DEALER, /* it serves the dealer, and no move began */
	IS_SOURCE,  /* the dealer leaves it now */
};

static const enum source_rank rank_of_state[MOVE_STATE_COUNT] = {
	[MOVE_LEAVING] = IS_SOURCE,
	[MOVE_LEFT] = IS_SOURCE,
	[MOVE_REMOVING] = IS_SOURCE,
	[MOVE_GONE] = WAS_SOURCE,
};

/* What the cells other than the target answered. */
struct sources {
	enum source_rank rank;  /* the highest */
	unsigned int at, other; /* the first cell of that rank, and the last */
	bool in_target;         /* the target has the dealer */
	bool silent;            /* a cell could not be asked */
	unsigned int silent_at;
	enum outcome silent_code;
	struct failure silent_why;
};

/* Asks the ledger of the session. A failure is in session->failure and not reported. */
static enum outcome look_at_move(struct ctl *ctl, const char *casino_id,
	struct dealer_move_result *result)
{
	session_report *const report = session_quiet(&ctl->session);
	struct dealer_move_cmd cmd = {.operator= ctl->session.operator, .action = MOVE_LOOK };
	enum outcome code;

	text_copy(cmd.casino_id, sizeof(cmd.casino_id), casino_id);
	code = session_do(&ctl->session, COMMAND_DEALER_MOVE, &cmd, result, NULL);
	ctl->session.report = report;
	return code;
}

static enum source_rank rank_of(const struct dealer_move_result *seen, const char *target)
{
	const enum source_rank rank = seen->has_move ? rank_of_state[seen->move.state] : NOT_SOURCE;

	if (seen->has_dealer && rank != IS_SOURCE)
		return HAS_DEALER;
	return rank == WAS_SOURCE && strcmp(seen->move.other, target) != 0 ? NOT_SOURCE : rank;
}

static void note_source(struct sources *sources, unsigned int at, enum source_rank rank)
{
	if (rank > sources->rank)
		sources->at = at;
	if (rank >= sources->rank)
		sources->other = at;
	if (rank > sources->rank)
		sources->rank = rank;
}

static void ask_sources(struct ctl *ctl, struct ctl_cells *cells, const char *casino_id,
	unsigned int target, struct sources *sources)
{
	struct dealer_move_result seen;
	enum outcome code;

	*sources = (struct sources){.rank = NOT_SOURCE};
	sources->at = sources->other = target ? 0 : 1;
	for (unsigned int i = 0; i < cells->list.count; i++) {
		cells_enter(ctl, cells, i);
		code = look_at_move(ctl, casino_id, &seen);
		if (code != OUTCOME_DONE && !sources->silent) {
			sources->silent = true;
			sources->silent_at = i;
			sources->silent_code = code;
			sources->silent_why = ctl->session.failure;
		}
		if (code == OUTCOME_DONE && i == target)
			sources->in_target = seen.has_dealer;
		else if (code == OUTCOME_DONE)
			note_source(sources, i, rank_of(&seen, cells->list.cells[target].name));
	}
}

enum outcome cells_target(struct ctl *ctl, const struct ctl_cells *cells, unsigned int *at)
{
	const struct cell_file *cell = cells_named(&cells->list, ctl->options[OPTION_TO]);
	char names[CELLS_NAMES_MAX];

	if (cell) {
		*at = (unsigned int)(cell - cells->list.cells);
		return OUTCOME_DONE;
	}
	cells_names(cells, CELLS_MAX, names);
	return ctl_usage(ctl, "--to takes the name of a cell that the configuration lists: %s",
		names[0] ? names : "it lists none (see cells in creditbridge.conf(5))");
}

enum outcome cells_find_source(struct ctl *ctl, struct ctl_cells *cells)
{
	char casino_id[CASINO_ID_SIZE];
	struct sources sources;
	unsigned int target = 0;
	enum outcome code = cells_target(ctl, cells, &target);

	if (code == OUTCOME_DONE)
		code = names_read_casino_id(&ctl->session, ctl->args[0], casino_id);
	if (code != OUTCOME_DONE)
		return code;
	ask_sources(ctl, cells, casino_id, target, &sources);
	/* A cell that is silent may be the one that the dealer leaves. */
	if (sources.silent && sources.rank < HAS_DEALER) {
		cells_enter(ctl, cells, sources.silent_at);
		return ctl_fail(ctl, sources.silent_code, sources.silent_why.id,
			"cell %s cannot be asked for dealer %s, so nothing was done: %.600s",
			ctl->cell, casino_id, sources.silent_why.detail);
	}
	cells_enter(ctl, cells, sources.at);
	if (sources.rank >= HAS_DEALER && sources.other != sources.at)
		return ctl_fail(ctl, OUTCOME_FAILED, "ambiguous",
			"dealer %s is in cell %s and in cell %s: name one with --cell, and see "
			"`creditbridgectl doctor`",
			casino_id, cells->list.cells[sources.at].name,
			cells->list.cells[sources.other].name);
	if (sources.rank == NOT_SOURCE && sources.in_target)
		return ctl_fail(ctl, OUTCOME_FAILED, "already_exists",
			"dealer %s is in cell %s already, and no other cell has it", casino_id,
			cells->list.cells[target].name);
	return OUTCOME_DONE;
}

bool cells_on_the_way(struct ctl *ctl, struct ctl_cells *cells, const char *casino_id, char *to)
{
	session_report *const report = session_quiet(&ctl->session);
	struct dealer_move row;
	bool found = false, moving = false;

	for (unsigned int i = 0; i < cells->list.count && !moving; i++) {
		memset(&row, 0, sizeof(row));
		text_copy(row.casino_id, sizeof(row.casino_id), casino_id);
		cells_enter(ctl, cells, i);
		moving = list_fetch(&ctl->session, RECORD_DEALER_MOVE, &row, &found, NULL) ==
				OUTCOME_DONE &&
			found && rank_of_state[row.state] == IS_SOURCE;
		if (moving)
			text_copy(to, CELL_NAME_SIZE, row.other);
	}
	ctl->session.report = report;
	return moving;
}
