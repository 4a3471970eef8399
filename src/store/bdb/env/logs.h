/*
 * logs - the files of the ledger's log.
 */
#ifndef STORE_BDB_ENV_LOGS_H
#define STORE_BDB_ENV_LOGS_H

#include <db.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds up the log files in @directory; 0: it cannot be read. */
uint64_t logs_bytes(const char *directory);

/*
 * The numbers of the files that a recovery of @env would read, from *@first to *@last, which is the one that
 * is written. False: that cannot be told. A checkpoint that ends meanwhile may need less than is told.
 */
bool logs_needed(DB_ENV *env, uint32_t *first, uint32_t *last);

#endif
