/* snapshot - one transaction that reads all rows as of one moment, while a ledger writes. */
#ifndef STORE_PG_SNAPSHOT_H
#define STORE_PG_SNAPSHOT_H

#include "store/pg/cell.h"

/*
 * Connects and begins the transaction, on a standby that has all that was committed before the call; the
 * server that takes writes if no standby has it within 5 s. Returns the results of pg_store_open(), and
 * fences no ledger.
 */
enum status snapshot_open(struct pg_connection *connection, const struct pg_options *options,
	char *why, size_t why_size);

#endif
