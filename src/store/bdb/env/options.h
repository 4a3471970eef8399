/* options - the options of a store on Berkeley DB, and the exit codes of its failures. */
#ifndef STORE_BDB_ENV_OPTIONS_H
#define STORE_BDB_ENV_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define BDB_EXIT_LOST    70
#define BDB_EXIT_FULL    72
#define BDB_EXIT_IO      74
#define BDB_EXIT_DAMAGED 76

struct bdb_options {
	const char *directory; /* the environment: tables and log */
	const char *name; /* of that directory in messages; NULL: @directory. It outlives the store */
	const char *state_directory; /* contains @directory; not allowed for a backup; NULL: none */
	const char *installation;    /* its id, kept in backups; NULL: none. Both outlive the store */
	uint32_t cache_mib;
	uint32_t checkpoint_kib;
	uint32_t checkpoint_interval_ms;
	uint32_t checkpoint_pages; /* earlier if a checkpoint would write more pages; 0: never */
	uint32_t log_keep_mib;
	/*
	 * If less than twice this is free, no old log is kept for roll-forward; if less than this,
	 * none is kept for a backup. No log file is prepared if less than this would stay free.
	 */
	uint64_t low_water_bytes;
	/*
	 * Called once before the process ends with 74 or 76, in the thread that met the failure.
	 * From then on no save returns and no other thread ends the process. NULL: none.
	 */
	void (*before_halt)(void);
	bool ends;   /* the process ends when libdb gives up, once the store is open */
	bool spare;  /* prepare the next log file ahead */
	bool create; /* create the tables. Otherwise a missing one is STATUS_CONFIG */
};

/* Returns the directory of @options as messages name it. */
static inline const char *bdb_name(const struct bdb_options *options)
{
	return options->name ? options->name : options->directory;
}

#endif
