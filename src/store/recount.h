/*
 * recount - computes the rows and sums that data of an older schema do not have.
 *
 * Schema 3 added the sums of seamless wallets to each dealer's total, the stakes under way to
 * each player's lifetime, and the rows of retired keys (domain/retired_digest.h), which follow from the audit.
 * Schema 4 added the rows of callbacks that are parked or held (domain/aside.h), schema 5 the rows by which bets are
 * found by game and by time (domain/bet_index.h). The commands of the ledger keep all
 * of them from then on. recount() computes them once: when a state is raised to the schema, and when a
 * file of an older program is imported. It does not compute the sums of days (domain/dealer_day.h):
 * it notes in each dealer that they begin after the latest time of any row.
 */
#ifndef STORE_RECOUNT_H
#define STORE_RECOUNT_H

#include "store/store.h"

/* The schemas that added something. */
#define RECOUNT_SUMS_SCHEMA      3
#define RECOUNT_ASIDE_SCHEMA     4
#define RECOUNT_BET_INDEX_SCHEMA 5

/*
 * Computes what data of schema @from lack. Writes absolute values: an interrupted call is simply repeated.
 * Its memory does not depend on the number of rows. Returns STATUS_NOMEM, STATUS_CORRUPT, or
 * STATUS_FULL and STATUS_IO if the rows could not be written; @why then says so.
 */
enum status recount(struct store *store, uint64_t from, char *why, size_t why_size);

#endif
