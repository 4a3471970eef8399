/* logs - lists the log files of the ledger. */
#ifndef STORE_BDB_ENV_LOGS_H
#define STORE_BDB_ENV_LOGS_H

#include <db.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Sets the numbers of the log files that a recovery of @env would read, from *@first to *@last,
 * the current one. Returns false if unknown. If a checkpoint ends meanwhile, recovery may need
 * fewer.
 */
bool logs_needed(DB_ENV *env, uint32_t *first, uint32_t *last);

#endif
