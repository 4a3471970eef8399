/*
 * env - Berkeley DB's environment and tables, opened the way the ledger needs them.
 */
#ifndef STORE_BDB_ENV_ENV_H
#define STORE_BDB_ENV_ENV_H

#include "domain/records.h"
#include "store/bdb/bdb.h"

#include <db.h>

struct bdb_env {
	DB_ENV *env;
	DB *tables[RECORD_COUNT];
};

/* How long a file of the log is. */
#define BDB_LOG_FILE_SIZE (4u * 1024 * 1024)

#define BDB_ENV_FLAGS                                                                              \
	(DB_PRIVATE | DB_THREAD | DB_INIT_TXN | DB_INIT_LOG | DB_INIT_MPOOL | DB_CREATE)

/*
 * Makes an environment with our settings, functions and messages, and opens it with @flags, which may ask
 * for recovery. *made, unless it is NULL, is to be closed in any case. No memory for it ends the process
 * (70). No other thread may use libdb meanwhile.
 */
int bdb_env_make(DB_ENV **made, const char *directory, uint32_t flags, uint32_t cache_mib);

/* Opens the environment with recovery, and the table of counters, which holds the schema. */
enum status bdb_env_open(struct bdb_env *bdb, const struct bdb_options *options, char *why,
	size_t why_size);
/*
 * Opens the other tables. Both make tables only when options->create is set: a table that is
 * missing from data that exists is STATUS_CONFIG, never an empty table.
 */
enum status bdb_env_open_tables(struct bdb_env *bdb, const struct bdb_options *options, char *why,
	size_t why_size);
/* Closes what is open. */
void bdb_env_close(struct bdb_env *bdb);

/* Ends the process (74): what the disk has is not known, by an @error of the call @where. */
void bdb_die_of_disk(const char *where, int error) __attribute__((noreturn));
/* Whether the process is to end when libdb gives up (bdb.h). */
void bdb_end_with_libdb(bool ends);
bool bdb_ends_with_libdb(void);
/* Of the error of a call: a full disk is remembered for bdb_met_full(). */
void bdb_note_full(int error);
/* The status that an error number of libdb stands for. Ends the process (74) on EIO. */
enum status bdb_status(int error);

#endif
