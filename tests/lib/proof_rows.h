/*
 * proof_rows - feeds all rows of a ledger in memory to the proof of `creditbridgectl check`, as
 * its walk does.
 */
#ifndef TESTS_LIB_PROOF_ROWS_H
#define TESTS_LIB_PROOF_ROWS_H

#include "proof/cancellation.h"
#include "proof/chain.h"
#include "proof/correction.h"
#include "proof/event.h"
#include "proof/links.h"

/* Each kind of row: an array of its struct, sorted by key. */
struct proof_rows {
	struct {
		const void *rows;
		unsigned int count;
	} kinds[RECORD_COUNT];
	uint64_t transaction_id; /* the last ids assigned */
	uint64_t event;
};

/* Feeds totals, dealers and players. */
void proof_rows_books(struct proof *proof, const struct proof_rows *rows,
	const struct proof_moment *moment);
/*
 * Feeds idempotency keys, transactions, rounds with their bets, and callbacks. The dealers were
 * added before.
 */
void proof_rows_wagers(struct proof *proof, const struct proof_rows *rows);

#endif
