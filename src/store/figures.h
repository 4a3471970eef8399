/* figures - measurements of a store. */
#ifndef STORE_FIGURES_H
#define STORE_FIGURES_H

#include "domain/records.h"
#include "link/admin_commands.h"

#include <stdint.h>

struct store_figures {
	uint64_t log_bytes;   /* of Berkeley DB */
	uint64_t checkpoints; /* likewise */
	struct store_figure named[STORE_FIGURES_MAX];
	uint64_t table_bytes[RECORD_COUNT]; /* on the disk */
	int64_t backup_ms; /* complete_to_ms of the last backup, but for an export; 0: none */
};

/*
 * Returns the size of the log in the data directory, in bytes; 0 if it cannot be read. The store
 * need not be open, and another process may have it open.
 */
uint64_t store_log_bytes(const char *directory);

#endif
