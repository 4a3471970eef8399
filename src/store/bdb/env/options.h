/*
 * options - what a store on Berkeley DB is opened with, and the exit codes that its failures end with.
 */
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
	const char *state_directory; /* that it lies in: no place for a backup; NULL: none */
	const char *installation;    /* its id, kept in backups; NULL: none. Both outlive the store */
	uint32_t cache_mib;
	uint32_t checkpoint_kib;
	uint32_t checkpoint_interval_ms;
	uint32_t checkpoint_pages; /* or earlier, where one would write more pages; 0: never earlier */
	uint32_t log_keep_mib;
	/*
	 * With less free space than twice this no old log is kept for roll-forward, with less than this
	 * none for a backup; no file of the log is made ahead where less would be left.
	 */
	uint64_t low_water_bytes;
	/*
	 * Called once before the process ends with 74 or 76, in the thread that met the failure; no save
	 * returns from then on, and no other thread ends the process. NULL: nothing.
	 */
	void (*before_halt)(void);
	bool ends;   /* the process ends when libdb gives up, once the store is open */
	bool spare;  /* the log goes on for long: its next file is made ahead */
	bool create; /* the data is new: make the tables. Else a missing table is STATUS_CONFIG */
};

/* The directory of @options as messages name it. */
static inline const char *bdb_name(const struct bdb_options *options)
{
	return options->name ? options->name : options->directory;
}

#endif
