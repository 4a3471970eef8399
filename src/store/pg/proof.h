/*
 * proof - shows that another server has what this store wrote.
 *
 * A commit is acknowledged as soon as the standbys say that they have the log up to its position. A standby
 * that parted from the history of the server which now takes writes says so, too, and has none of it. It
 * cannot replay the change of the row `cell`, however. So a barrier is proved only once some standby
 * shows it in its own row.
 */
#ifndef STORE_PG_PROOF_H
#define STORE_PG_PROOF_H

#include "store/pg/cell.h"

/*
 * Asks all servers until a standby shows the epoch of @cell with its barrier, or a later one. Returns false
 * at @deadline_ms, or if the process is to end; @why then has the reason.
 */
bool proof_await(const struct pg_options *options, const struct cell *cell, int64_t deadline_ms,
	char *why, size_t why_size);

#endif
