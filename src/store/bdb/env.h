/*
 * env - Berkeley DB's environment and tables, opened the way the ledger needs them.
 */
#ifndef STORE_BDB_ENV_H
#define STORE_BDB_ENV_H

#include "domain/records.h"
#include "store/bdb/bdb.h"

#include <db.h>

struct bdb_env {
	DB_ENV *env;
	DB *tables[RECORD_COUNT];
};

/* Opens the environment with recovery, and every table. As bdb_open(). */
enum status bdb_env_open(struct bdb_env *bdb, const struct bdb_options *options, char *why,
	size_t why_size);
/* Closes what is open. */
void bdb_env_close(struct bdb_env *bdb);

/* The status that an error number of libdb stands for. Ends the process (74) on EIO. */
enum status bdb_status(int error);

#endif
