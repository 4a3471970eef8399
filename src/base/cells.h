/*
 * cells - the cells that one installation of workers serves, from their configuration files.
 *
 * A cell is one set of data with its ledgers. Each has a configuration file of its own. The file whose
 * setting `cells` names the others is that of the default cell. Without `cells` there is one cell, and
 * nothing else is read.
 */
#ifndef BASE_CELLS_H
#define BASE_CELLS_H

#include "base/settings.h"
#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

/* The own cell and the others. Also the count of ledger_numbers, so each cell has one of its own. */
#define CELLS_MAX (SETTINGS_CELLS_MAX + 1)

/* What programs need of a cell. For other settings, load its file. */
struct cell_file {
	char name[SETTINGS_CELL_NAME_SIZE]; /* "" only if there is one cell */
	uint32_t ledger_number;             /* the remainder of its ids by CELLS_MAX */
	char path[SETTINGS_PATH_MAX];       /* its configuration file */
	char socket_directory[SETTINGS_SOCKETS_SIZE];
};

/* About 70 KB: not for the stack of a fiber. */
struct cell_list {
	unsigned int count; /* 1 to CELLS_MAX */
	struct cell_file cells[CELLS_MAX];
};

/*
 * Fills @list: entry 0 is the cell of @own, which was read from @path, then those of own->cells, in
 * their order. @settings gets what was read of each cell and has room for CELLS_MAX; NULL: not wanted.
 * The `cells` of a listed file are ignored. Two cells may share neither a name, nor a ledger_number, nor
 * a socket_directory. On failure, returns the status of settings_load() or STATUS_CONFIG, and writes one
 * line with the file and the remedy to @errors; @list is then undefined.
 */
enum status cells_load(const struct settings *own, const char *path, struct cell_list *list,
	struct settings *settings, FILE *errors);

/* Returns the cell whose name is @name; NULL if there is none, or @name is NULL or empty. */
const struct cell_file *cells_named(const struct cell_list *list, const char *name);

/* Returns the cell that made the transaction or event @id; NULL if there is none. */
const struct cell_file *cells_of_id(const struct cell_list *list, uint64_t id);

#endif
