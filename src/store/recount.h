/*
 * recount - computes the sums that rows of an older schema do not have.
 *
 * Schema 3 added the sums of seamless wallets to each dealer's total, and the stakes under way to
 * each player's lifetime. The commands of the ledger keep them from then on. recount() computes
 * them once from the bets, rounds and callbacks: when a state is raised to the schema, and when a
 * file of an older program is imported. It does not compute the sums of days (domain/dealer_day.h):
 * it notes in each dealer that they begin after the latest time of any row. It also makes
 * the rows of retired keys from the audit (domain/retired_digest.h).
 */
#ifndef STORE_RECOUNT_H
#define STORE_RECOUNT_H

#include "store/store.h"

/* The schema that added the sums. */
#define RECOUNT_SCHEMA 3

/*
 * Reads all bets, rounds, callbacks and transactions, and writes the sums as absolute values: an interrupted call is simply repeated.
 * Its memory does not depend on the number of rows. Returns STATUS_NOMEM, STATUS_CORRUPT, or
 * STATUS_FULL and STATUS_IO if the sums could not be written; @why then says so.
 */
enum status recount(struct store *store, char *why, size_t why_size);

#endif
