/*
 * bdb - the store on Berkeley DB.
 *
 * One environment, owned by this process alone (DB_PRIVATE), recovered when it is opened. One
 * btree a row kind, in the file NAME.db. See SCHEMA beside this file for the encoding.
 *
 * The disk's errors: a failing fsync or an EIO ends the process at once with exit code 74
 * (BDB_EXIT_IO): libdb would repeat the call, and a repeated fsync can on Linux report success for
 * data that is lost. A log that finds the disk full ends the process with 72 (BDB_EXIT_FULL), one that
 * cannot be written for another reason, or whose next file cannot be made, with 70 (BDB_EXIT_LOST):
 * libdb would go on with commits that are not on the disk. Nothing is answered for the batch that
 * met it. (Without options->ends a file that cannot be made fails the save.)
 *
 * When libdb gives up (DB_RUNRECOVERY), as after a page whose checksum is wrong, every later call
 * fails as well. With options->ends the process then ends, with 76 after such a page
 * (BDB_EXIT_DAMAGED), 72 after a full disk, else 70 (BDB_EXIT_LOST). close() ends it with 70 when a
 * backup's target hangs: recovery does what the close would. (A target that hangs in the kernel, as a
 * hard NFS mount does, keeps the process for as long as it hangs.)
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

/*
 * Returns, unless the process is about to end with 74 or 76: what was found out in another thread may
 * concern what this one takes for done.
 */
void bdb_wait_if_halting(void);
/*
 * Ends the process with @code as the store does: with 74 or 76 once options->before_halt was called,
 * with another only if no thread is about to end it with one of these.
 */
void bdb_end(int code) __attribute__((noreturn));

/* The directory of @options as messages name it. */
const char *bdb_name(const struct bdb_options *options);

/* Whether a write of this process, since its start, found the disk full. */
bool bdb_met_full(void);
/* Whether this process met a page whose checksum is wrong. */
bool bdb_met_damage(void);

#endif
