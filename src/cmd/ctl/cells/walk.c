/*
 * walk - runs a command in each cell, one after the other.
 */
#include "cmd/ctl/cells/cells.h"

#include "cmd/ctl/common/output.h"

#include <stdio.h>

static enum outcome refuse_text(struct ctl *ctl, const struct ctl_cells *cells)
{
	char names[CELLS_NAMES_MAX];

	cells_names(cells, CELLS_MAX, names);
	return ctl_usage(ctl,
		"the text form has the figures of one cell: give --cell NAME (%s), or --json for all",
		names);
}

/* Prints the title of a cell, before its part of the output. */
static void print_title(struct ctl *ctl, enum cells_way way)
{
	char title[SETTINGS_CELL_NAME_SIZE + 8];

	if (way != CELLS_OBJECTS)
		return;
	snprintf(title, sizeof(title), "Cell %s", ctl->cell);
	output_title(ctl, title);
}

enum outcome cells_walk(struct ctl *ctl, struct ctl_cells *cells, enum cells_way way)
{
	struct cells_sum sum = {.done = 0};
	struct output_walk walk;
	enum outcome code, printed;

	if (ctl->options[OPTION_AFTER])
		return ctl_usage(ctl,
			"--after is an id of one cell: give --cell NAME, too, because there are several "
			"cells");
	/* A file of metrics may have each series once. */
	if (way == CELLS_METRICS && !ctl->json)
		return refuse_text(ctl, cells);
	output_walk_open(&walk, ctl);
	for (unsigned int i = 0; i < cells->list.count; i++) {
		cells_enter(ctl, cells, i);
		ctl_name_cell(ctl->cell);
		print_title(ctl, way);
		code = ctl->command->run(ctl);
		if (code == OUTCOME_USAGE) {
			/* It says the same in each cell. */
			output_walk_drop(ctl);
			return code;
		}
		cells_sum_add(&sum, code);
	}
	ctl_name_cell(NULL);
	printed = output_walk_close(ctl, !sum.done && !sum.refused);
	return printed == OUTCOME_DONE ? cells_sum_outcome(&sum) : printed;
}
