/*
 * cells - the cells of the configuration, for creditbridgectl.
 *
 * A session asks one ledger at a time. With several cells it moves from one cell to another: it closes its
 * connection and takes the settings of the other cell. All files are read before root changes to
 * another user, which may not be able to read them.
 */
#ifndef CMD_CTL_CELLS_CELLS_H
#define CMD_CTL_CELLS_CELLS_H

#include "base/cells.h"
#include "cmd/ctl/common/ctl.h"

struct ctl_cells {
	struct cell_list list;
	struct settings *settings; /* of each cell */
	unsigned int at;           /* the cell of the session */
};

/* How a command finds its cell if there are several and --cell is not given. */
enum cells_way {
	CELLS_DEFAULT, /* the default cell; a line on standard error says so */
	CELLS_NONE,    /* it asks no ledger, or asks the cells itself */
	CELLS_LIST,    /* all cells; their rows are one list */
	CELLS_OBJECTS, /* all cells, each with a title and an object */
	CELLS_METRICS, /* as CELLS_OBJECTS; the text form needs --cell */
	CELLS_DEALER, /* the one that has the dealer of the first argument; without one: CELLS_DEFAULT */
	CELLS_CASINO,     /* likewise, the dealer of --casino */
	CELLS_PLAYER,     /* likewise, the player CASINO USER, CASINO/USER or PLAYER_ID */
	CELLS_BET,        /* TRANSACTION_ID, or a player and a game */
	CELLS_TRANSFER,   /* CASINO REFERENCE, or --transaction */
	CELLS_EVENTS,     /* the arguments are events */
	CELLS_REPLAY,     /* the argument is the number of a replay */
	CELLS_NEW_DEALER, /* the default cell, if no other has a dealer of that name */
	CELLS_CLIENT,     /* it changes a game server in all cells */
	CELLS_MOVE,       /* the one that the dealer of the first argument leaves for --to */
};

/* Returns the row of the table for @command. */
enum cells_way cells_way_of(const char *command);

/*
 * Runs ctl->command: in the cell of --cell, in the one that its arguments name, or in all. Returns its
 * exit code; with several cells of which some could not be asked, OUTCOME_PARTLY.
 */
enum outcome cells_run(struct ctl *ctl);

/*
 * Reads the configuration files of all cells. *several is set to whether there is more than one. Reports a
 * failure. Free @cells with cells_close() in any case.
 */
enum outcome cells_open(struct ctl *ctl, struct ctl_cells *cells, bool *several);
void cells_close(struct ctl_cells *cells);

/* Moves the session to cell @at of @cells, which must outlive the session. */
void cells_enter(struct ctl *ctl, struct ctl_cells *cells, unsigned int at);

/* Finds the cell of --cell. Reports a usage error that lists the names. */
enum outcome cells_choose(struct ctl *ctl, const struct ctl_cells *cells, unsigned int *at);

/* Writes the names of the cells except @but, separated by ", ". @but CELLS_MAX: of all. */
#define CELLS_NAMES_MAX (CELLS_MAX * (SETTINGS_CELL_NAME_SIZE + 2))
void cells_names(const struct ctl_cells *cells, unsigned int but, char text[CELLS_NAMES_MAX]);

/*
 * Moves the session to the cell that @way and the arguments mean. If none has the row, it is the cell
 * in which the command then refuses it. Fails if a cell that may have it cannot be asked, or if two have it.
 * *named is set to whether the arguments named a row.
 */
enum outcome cells_find(struct ctl *ctl, struct ctl_cells *cells, enum cells_way way, bool *named);

/* Finds the cell of --to, for `dealer move`. Reports a usage error that lists the names. */
enum outcome cells_target(struct ctl *ctl, const struct ctl_cells *cells, unsigned int *at);

/*
 * For `dealer move`: moves the session to the cell that the dealer leaves or left for that of --to, otherwise to
 * the one that has the dealer. If none has it, it is one in which the command refuses it. Fails if a cell that
 * may be the one cannot be asked.
 */
enum outcome cells_find_source(struct ctl *ctl, struct ctl_cells *cells);

/*
 * Returns true if the dealer leaves a cell. Moves the session there, and writes the name of the other cell to @to,
 * of CELL_NAME_SIZE. Reports nothing.
 */
bool cells_on_the_way(struct ctl *ctl, struct ctl_cells *cells, const char *casino_id, char *to);

/* Runs the command in each cell, one after the other. */
enum outcome cells_walk(struct ctl *ctl, struct ctl_cells *cells, enum cells_way way);

/*
 * Changes a game server in all cells, or in none if one of them cannot be asked. A failure after the first
 * change leaves the cells different; the same command again then does what is missing.
 */
enum outcome cells_client(struct ctl *ctl, struct ctl_cells *cells);

/*
 * The outcomes of a command in several cells. cells_sum_outcome() returns OUTCOME_FAILED if a cell was asked and
 * answered with a failure, otherwise OUTCOME_PARTLY if some calls succeeded, otherwise the first failure.
 */
struct cells_sum {
	unsigned int done, failed;
	enum outcome first; /* of those that failed */
	bool refused;       /* one of them was asked, and answered with a failure */
};
void cells_sum_add(struct cells_sum *sum, enum outcome code);
enum outcome cells_sum_outcome(const struct cells_sum *sum);

#endif
