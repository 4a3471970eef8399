/*
 * bdb - the store on Berkeley DB.
 *
 * One environment, owned by this process alone (DB_PRIVATE), recovered when it is opened. One
 * btree a row kind, in the file NAME.db. See SCHEMA beside this file for the encoding.
 *
 * The disk's errors: a failing fsync or an EIO ends the process at once with exit code 74
 * (BDB_EXIT_IO): libdb would repeat the call, and a repeated fsync can on Linux report success for
 * data that is lost. A log that finds the disk full ends the process with 72 (BDB_EXIT_FULL).
 * Nothing is answered for the batch that met it.
 *
 * When libdb gives up (DB_RUNRECOVERY), as after a page whose checksum is wrong, every later call
 * fails as well. With options->ends the process then ends, with 76 after such a page
 * (BDB_EXIT_DAMAGED), 72 after a full disk, else 70 (BDB_EXIT_LOST).
 */
#ifndef STORE_BDB_BDB_H
#define STORE_BDB_BDB_H

#include "store/store.h"

#define BDB_EXIT_LOST    70
#define BDB_EXIT_FULL    72
#define BDB_EXIT_IO      74
#define BDB_EXIT_DAMAGED 76

struct bdb_options {
	const char *directory; /* the environment: tables and log */
	const char *state_directory; /* that it lies in: no place for a backup; NULL: none */
	const char *installation;    /* its id, kept in backups; NULL: none. Both outlive the store */
	uint32_t cache_mib;
	uint32_t checkpoint_kib;
	uint32_t checkpoint_interval_ms;
	uint32_t checkpoint_pages; /* or earlier, where one would write more pages; 0: never earlier */
	uint32_t log_keep_mib;
	/* With less free space no old log is kept for roll-forward, and no file of it made ahead. */
	uint64_t low_water_bytes;
	bool ends;   /* the process ends when libdb gives up, once the store is open */
	bool spare;  /* the log goes on for long: its next file is made ahead */
	bool create; /* the data is new: make the tables. Else a missing table is STATUS_CONFIG */
};

/*
 * Opens the store, running recovery. STATUS_OK; STATUS_FULL: recovery found no space;
 * STATUS_CONFIG: the data was written by a newer schema (a sentence in @why); STATUS_IO,
 * STATUS_NOMEM, STATUS_CORRUPT: with a sentence in @why. @store is to be ended by its close().
 */
enum status bdb_open(const struct bdb_options *options, struct store **store, char *why,
	size_t why_size);

/*
 * Reads which schema the data of @options is, older, ours or newer, with recovery and no other change;
 * bdb_open() makes an older one ours. Results as of bdb_open().
 */
enum status bdb_schema(const struct bdb_options *options, uint64_t *schema, char *why,
	size_t why_size);

/* Whether a write of this process, since its start, found the disk full. */
bool bdb_met_full(void);
/* Whether this process met a page whose checksum is wrong. */
bool bdb_met_damage(void);

#endif
