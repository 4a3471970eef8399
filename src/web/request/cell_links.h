/*
 * cell_links - the links of one worker to several cells, and which cell a call is for.
 *
 * A worker has them only if its configuration lists other cells (base/cells.h). A dealer is in the cell
 * whose keyring has it. A player without a dealer's name is searched by its player_id. Cell 0 is the
 * default cell, where everything unknown goes.
 *
 * A cell that does not answer must not disturb the dealers of others. A search waits only CELL_LOOK_MS for
 * it, and a call that is for it only CELL_SILENT_MS once it has been silent for as long as a call may take.
 * Only web_cells.calls_max calls of a process wait longer than CELL_SILENT_MS for one cell, and further ones
 * do not wait at all while it is silent. A call without a valid signature does not wait for a silent cell.
 */
#ifndef WEB_REQUEST_CELL_LINKS_H
#define WEB_REQUEST_CELL_LINKS_H

#include "base/cells.h"
#include "web/request/fresh_keyring.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

struct refusal_queue;

/* How long a search waits for a cell that answers otherwise, and any call for one that does not. */
#define CELL_LOOK_MS   1000
#define CELL_SILENT_MS 250
/*
 * Once in this time, a silent cell is asked for a call that would otherwise not wait for it: one without a valid
 * signature, or one above calls_max.
 */
#define CELL_PAUSE_MS 1000
/* A worker looks in this interval whether another cell has the dealer, too. */
#define CELL_RECHECK_MS 2000
/* The log has one line about dealers in two cells, and one about the version of each cell, in this time. */
#define CELL_WARN_MS 60000
/* Players whose cell a worker remembers. */
#define CELL_PLAYERS 4096
/* No cell has it. */
#define CELL_NONE UINT_MAX

/* What the threads or fibers of a process share of a cell. */
struct web_cell {
	char name[SETTINGS_CELL_NAME_SIZE];
	uint32_t number;       /* of its ledger */
	char ledger_path[108]; /* edge.sock */
	struct muxes *muxes;   /* as in struct web_service; NULL in the first, which has those */
	struct refusal_queue *refusals;
	_Atomic int64_t
		silent_ms;        /* boot time of the first call without an answer; 0: it answers */
	_Atomic int64_t pause_ms; /* boot time of the next probe of a silent cell */
	_Atomic int64_t warn_ms;  /* boot time of the next warning of its version */
	_Atomic unsigned int calls; /* the calls of the process that are at it */
};

struct web_cells {
	unsigned int count;          /* 2 to CELLS_MAX */
	uint32_t ledger_deadline_ms; /* the longest call */
	unsigned int calls_max;      /* calls that may wait for one cell: half of the slots */
	_Atomic int64_t warn_ms;     /* boot time of the next warning of a dealer in two cells */
	struct web_cell list[CELLS_MAX];
};

struct cell_link {
	struct web_cell *cell;
	struct link *link; /* of cell 0 the worker's, of others &own */
	struct link own;
	struct keyring keyrings[KEYRING_OF_COUNT];
};

/* The cell of a player. */
struct cell_player {
	char player_id[PLAYER_ID_SIZE];
	uint8_t at;
};

/* Of one thread or fiber. */
struct cell_links {
	struct web_cells *cells;
	unsigned int at;    /* the cell of the current request */
	unsigned int held;  /* the cell at whose web_cell.calls it is counted; CELL_NONE: at none */
	bool crowded;       /* at least calls_max calls were at that cell before it */
	int64_t began_ms;   /* when the request began, boot time */
	int64_t recheck_ms; /* boot time from which on all keyrings are looked at again */
	bool chosen;        /* @at was chosen, and the request may have called its ledger */
	struct cell_player *remembered; /* where @at was remembered; NULL: it was not */
	struct cell_player *players;    /* CELL_PLAYERS; NULL: none are remembered */
	struct cell_link list[CELLS_MAX];
};

/*
 * Returns links to @cells, whose first one uses @first, or NULL if memory is exhausted.
 * @remembers_players: on the platform mount.
 */
struct cell_links *cell_links_new(struct web_cells *cells, struct link *first,
	bool remembers_players);
void cell_links_free(struct cell_links *links);

/* Begins a request: its cell is the default cell for now. */
void cell_links_begin(struct cell_links *links, const char *request_id);
/*
 * Ends it: notes whether its cell answered. @status is the failure of the request. Returns it, or
 * STATUS_NOT_SENT in place of STATUS_PROTOCOL: only that of the default cell ends a worker.
 */
enum status cell_links_end(struct cell_links *links, enum status status);

/*
 * Makes @at the cell of the request. STATUS_NOT_SENT: the cell is silent and too many calls are at it, so it
 * must not be asked.
 */
enum status cell_links_choose(struct cell_links *links, unsigned int at);

/* Ends the request's count at the cell that it is at: it waits for something else. The next call counts it again. */
void cell_links_rest(struct cell_links *links);

/* Returns until when a call to cell @at may wait: @deadline_ms, or less if the cell is silent or crowded. */
int64_t cell_links_deadline_ms(const struct cell_links *links, unsigned int at,
	int64_t deadline_ms);

/* Returns true if cell @at does not answer. A search asks such cells last. */
bool cell_links_is_silent(const struct cell_links *links, unsigned int at);

/*
 * Calls the ledger of cell @at on the way to the cell of the request, and notes whether it answers. The call
 * may wait as long as one that is for that cell.
 */
enum status cell_links_ask(struct cell_links *links, unsigned int at, enum command command,
	const void *cmd, void *result, int64_t deadline_ms);
/* Likewise for a figure or a search, for at most CELL_LOOK_MS. */
enum status cell_links_look(struct cell_links *links, unsigned int at, enum command command,
	const void *cmd, void *result, int64_t deadline_ms);

/*
 * Finds the cell of the dealer, whose keyring is then fresh. *@at is CELL_NONE if no cell has it.
 * STATUS_BUSY: two have it, and nothing may be done for it. Another status: a cell that may have it
 * cannot be asked. @proved: the caller has a key, so the call may wait for a cell that is silent.
 */
enum status cell_links_dealer(struct cell_links *links, const char *casino_id, bool proved,
	int64_t now_ms, int64_t deadline_ms, unsigned int *at);

/*
 * Finds the cell whose keyring of game servers counts, and is then fresh: the default cell, or the first of
 * the others while that is silent. @proved: as above.
 */
enum status cell_links_clients(struct cell_links *links, bool proved, int64_t now_ms,
	int64_t deadline_ms, unsigned int *at);

/*
 * Finds the cells of @count players by their player_ids, of PLAYER_ID_SIZE - 1 characters each. at[i] is
 * CELL_NONE if no cell has the player. On another status than STATUS_OK a cell that may have one cannot be
 * asked.
 */
enum status cell_links_players(struct cell_links *links, const char (*player_ids)[PLAYER_ID_SIZE],
	unsigned int count, int64_t deadline_ms, unsigned int *at);

/*
 * Chooses the cell of a command that names @player: that of the dealer if it is given, else that of the
 * player, else the default cell. Remembers it.
 */
enum status cell_links_route(struct cell_links *links, const struct player_ref *player,
	int64_t deadline_ms);

/*
 * If the cell of the request was remembered, forgets it and returns true: the player may have moved, so
 * the request is to be handled once more.
 */
bool cell_links_forget(struct cell_links *links);

#endif
