/*
 * prove - checks the rows of a store that no ledger serves, as `check` does, before a ledger may start
 * with them.
 */
#ifndef ARCHIVE_PROVE_H
#define ARCHIVE_PROVE_H

#include "check/prove.h"

struct store;

/*
 * Checks all rows of @store, whose commands are complete. The session asks the ledger again afterwards.
 * OUTCOME_DONE: *found is set. Any other outcome: the rows could not be read, and the reason is in the
 * session. Takes 1 s for each 60,000 transactions, or longer (doc/internals/backup.md).
 */
enum outcome archive_prove(struct session *session, struct store *store, struct check_found *found,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure);

#endif
