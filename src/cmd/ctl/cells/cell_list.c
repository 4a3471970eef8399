/*
 * cell_list - implements `cell list`.
 */
#include "cmd/ctl/cells/cells.h"

#include "base/text.h"
#include "cmd/ctl/common/output.h"

#include <stdio.h>
#include <string.h>

enum cell_state { CELL_SERVING, CELL_HALTED, CELL_UNREACHABLE, CELL_STATE_COUNT };
static const char *const cell_state_names[CELL_STATE_COUNT] = {"serving", "halted", "unreachable"};

struct cell_row {
	char cell[SETTINGS_CELL_NAME_SIZE];
	char configuration[SETTINGS_PATH_MAX];
	uint32_t ledger_number;
	enum cell_state state;
	uint64_t dealers;
	char why[OUTPUT_TEXT_MAX];
};

static const struct field cell_fields[] = {
	FIELD(FIELD_STR, cell_row, cell),
	FIELD(FIELD_STR, cell_row, configuration),
	FIELD(FIELD_U32, cell_row, ledger_number),
	FIELD_NAMED(cell_row, state, cell_state_names, CELL_STATE_COUNT),
	FIELD(FIELD_U64, cell_row, dealers),
	FIELD(FIELD_STR, cell_row, why),
	FIELD_END,
};

static const struct output_column cell_columns[] = {
	{"CELL", "cell", OUTPUT_PLAIN},
	{"CONFIGURATION", "configuration", OUTPUT_PLAIN},
	{"NUMBER", "ledger_number", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"DEALERS", "dealers", OUTPUT_IF_ANY},
	{"WHY", "why", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Asks the ledger of the session for its state. */
static enum outcome look_at(struct ctl *ctl, struct cell_row *row)
{
	session_report *const report = session_quiet(&ctl->session);
	const struct status_cmd cmd = {.unused = false};
	struct status_result result;
	enum outcome code;

	code = session_do(&ctl->session, COMMAND_STATUS, &cmd, &result, NULL);
	ctl->session.report = report;
	if (code != OUTCOME_DONE) {
		row->state = CELL_UNREACHABLE;
		snprintf(row->why, sizeof(row->why), "%s", ctl->session.failure.detail);
		return code;
	}
	row->state = result.halted ? CELL_HALTED : CELL_SERVING;
	row->dealers = result.dealers;
	if (result.halted)
		snprintf(row->why, sizeof(row->why),
			"its disk failed: `creditbridgectl resume%s%s` after the repair",
			row->cell[0] ? " --cell " : "", row->cell);
	return OUTCOME_DONE;
}

enum outcome ctl_cell_list(struct ctl *ctl)
{
	static struct ctl_cells cells;
	struct cells_sum sum = {.done = 0};
	struct output_list out;
	struct cell_row row;
	bool several;
	enum outcome code = cells_open(ctl, &cells, &several);

	if (code == OUTCOME_DONE) {
		output_list_open(&out, ctl, "cells", "cells", cell_fields, cell_columns);
		for (unsigned int i = 0; i < cells.list.count; i++) {
			memset(&row, 0, sizeof(row));
			text_copy(row.cell, sizeof(row.cell), cells.list.cells[i].name);
			text_copy(row.configuration, sizeof(row.configuration),
				cells.list.cells[i].path);
			row.ledger_number = cells.list.cells[i].ledger_number;
			cells_enter(ctl, &cells, i);
			cells_sum_add(&sum, look_at(ctl, &row));
			output_list_add(&out, &row);
		}
		ctl->cell = NULL;
		code = output_list_close(&out, OUTCOME_DONE);
	}
	cells_close(&cells);
	return code == OUTCOME_DONE ? cells_sum_outcome(&sum) : code;
}
