/*
 * env - Berkeley DB's environment and tables, opened the way the ledger needs them.
 */
#ifndef STORE_BDB_ENV_ENV_H
#define STORE_BDB_ENV_ENV_H

#include "domain/records.h"
#include "store/bdb/env/fatal.h"
#include "store/options.h"

#include <db.h>

struct bdb_env {
	DB_ENV *env;
	DB *tables[RECORD_COUNT];
};

#define BDB_ENV_FLAGS                                                                              \
	(DB_PRIVATE | DB_THREAD | DB_INIT_TXN | DB_INIT_LOG | DB_INIT_MPOOL | DB_CREATE)

/*
 * Creates an environment with the ledger's settings, hooks and messages, and opens it with @flags,
 * which may request recovery. Unless *made is NULL, the caller closes it, also after a failure. If
 * memory for it is exhausted, the process ends (70). No other thread may use libdb meanwhile.
 */
int bdb_env_make(DB_ENV **made, const char *directory, uint32_t flags, uint32_t cache_mib);

/* Opens the environment with recovery, and the table of counters, which holds the schema. */
enum status bdb_env_open(struct bdb_env *bdb, const struct store_options *options, char *why,
	size_t why_size);
/*
 * Opens the other tables. Both functions create tables only if options->create is set, or if the
 * @schema of the data did not have the table yet. If the data lacks another table, they return
 * STATUS_CONFIG and never create an empty one.
 */
enum status bdb_env_open_tables(struct bdb_env *bdb, const struct store_options *options,
	uint64_t schema, char *why, size_t why_size);
/* Closes what is open. */
void bdb_env_close(struct bdb_env *bdb);

#endif
