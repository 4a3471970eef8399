/*
 * run - chooses the cell, or the cells, in which a command acts.
 */
#include "cmd/ctl/cells/cells.h"

#include <stdio.h>
#include <string.h>

/* Returns true if the command, as it was called, asks no ledger. */
static bool asks_none(const struct ctl *ctl, enum cells_way way)
{
	return way == CELLS_NONE ||
		(way == CELLS_DEALER &&
			(ctl->options[OPTION_COMPARE] || ctl->options[OPTION_KEY_FILE]) &&
			strcmp(ctl->command->name, "dealer key-add") != 0);
}

/* For commands that act in one cell without being asked to: says which one, and how to name another. */
static void note_default(struct ctl *ctl, const struct ctl_cells *cells)
{
	char names[CELLS_NAMES_MAX];

	cells_names(cells, cells->at, names);
	ctl_tell(NULL, "this is of cell %s only; --cell NAME names another one: %s", ctl->cell,
		names);
}

static enum outcome run_in_several(struct ctl *ctl, struct ctl_cells *cells, enum cells_way way)
{
	const bool walks = way == CELLS_LIST || way == CELLS_OBJECTS || way == CELLS_METRICS;
	bool named;
	enum outcome code;

	if (way == CELLS_CLIENT)
		return cells_client(ctl, cells);
	named = way == CELLS_MOVE;
	code = named ? cells_find_source(ctl, cells)
		     : cells_find(ctl, cells, walks ? CELLS_CASINO : way, &named);
	if (code != OUTCOME_DONE)
		return code;
	if (walks && !named)
		return cells_walk(ctl, cells, way);
	if (!named)
		note_default(ctl, cells);
	else if (!ctl->json)
		ctl_tell(NULL, "cell %s", ctl->cell);
	return ctl->command->run(ctl);
}

/* Runs the command in the cell of --cell. */
static enum outcome run_in_chosen(struct ctl *ctl, struct ctl_cells *cells, enum cells_way way)
{
	unsigned int at;
	bool named;
	enum outcome code = cells_choose(ctl, cells, &at);

	if (code != OUTCOME_DONE)
		return code;
	cells_enter(ctl, cells, at);
	if (way == CELLS_NEW_DEALER && cells->list.count > 1)
		code = cells_find(ctl, cells, way, &named);
	/* `doctor` reads the file itself: what is wrong with it is a finding. */
	if (way == CELLS_NONE)
		ctl->session.settings_loaded = false;
	return code == OUTCOME_DONE ? ctl->command->run(ctl) : code;
}

/*
 * Sets *names to whether the configuration can be read and names other cells. A fault in it is reported by the
 * command, if that needs a configuration. If memory is short, no command may run: it could act in the wrong cell.
 */
static enum outcome names_cells(struct ctl *ctl, bool *names)
{
	struct session *session = &ctl->session;
	session_report *const report = session_quiet(session);
	enum outcome code;

	code = session_settings(session);
	session->report = report;
	*names = code == OUTCOME_DONE && session->settings.cell_count;
	if (code != OUTCOME_FAILED)
		return OUTCOME_DONE;
	return ctl_fail(ctl, code, "failed", "%s", session->failure.detail);
}

enum outcome cells_run(struct ctl *ctl)
{
	const enum cells_way way = cells_way_of(ctl->command->name);
	static struct ctl_cells cells;
	bool several = true;
	enum outcome code = OUTCOME_DONE;

	if (!ctl->options[OPTION_CELL]) {
		several = false;
		if (!asks_none(ctl, way))
			code = names_cells(ctl, &several);
		if (code != OUTCOME_DONE || !several)
			return code == OUTCOME_DONE ? ctl->command->run(ctl) : code;
	}
	code = cells_open(ctl, &cells, &several);
	ctl->cells = &cells;
	if (code == OUTCOME_DONE && ctl->options[OPTION_CELL])
		code = run_in_chosen(ctl, &cells, way);
	else if (code == OUTCOME_DONE) {
		cells_enter(ctl, &cells, 0);
		code = run_in_several(ctl, &cells, way);
	}
	ctl->cells = NULL;
	cells_close(&cells);
	return code;
}
