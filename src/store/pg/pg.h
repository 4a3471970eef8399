/*
 * pg - the store on PostgreSQL.
 *
 * One store writes at a time. The row `cell` says which one: opening a store raises its epoch, and each
 * batch raises its turn by one, under the epoch of its writer and in the transaction of its rows. So a
 * writer that was replaced can save nothing more, and after a lost connection the turn says whether the
 * batch was saved.
 */
#ifndef STORE_PG_PG_H
#define STORE_PG_PG_H

#include "store/pg/options.h"
#include "store/store.h"

/*
 * Claims the cell and opens the store. From then on every other store of the cell is fenced. @options
 * outlives the store. Returns STATUS_OK, STATUS_BUSY if another one claimed or saved since options->claim
 * looked, STATUS_IO if no server takes writes or the claim failed,
 * STATUS_CONFIG if there are no tables, the schema or the installation is another one, or the server's
 * settings would lose commits, or STATUS_NOMEM. Each failure has a reason in @why.
 */
enum status pg_store_open(const struct pg_options *options, struct store **store, char *why,
	size_t why_size);

/*
 * Opens the rows of one moment, for reading only: scan() and close() are the only functions. A standby is
 * preferred (snapshot.h). Returns the results of pg_store_open(), and fences no other store.
 */
enum status pg_snapshot_open(const struct pg_options *options, struct store **store, char *why,
	size_t why_size);

/* For tests: the number of batches that were in doubt. */
uint64_t pg_store_doubts(struct store *store);

#endif
