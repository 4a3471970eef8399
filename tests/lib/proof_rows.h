/*
 * proof_rows - feeds the proof of `creditbridgectl check` with all rows of a ledger that lie in
 * memory, as its walk does.
 */
#ifndef TESTS_LIB_PROOF_ROWS_H
#define TESTS_LIB_PROOF_ROWS_H

#include "proof/chain.h"
#include "proof/event.h"
#include "proof/links.h"

/* The rows of each kind, an array of its struct, in the order of their keys. */
struct proof_rows {
	struct {
		const void *rows;
		unsigned int count;
	} kinds[RECORD_COUNT];
	uint64_t transaction_id; /* the last ones given out */
	uint64_t event;
};

/* Totals, dealers and players. */
void proof_rows_books(struct proof *proof, const struct proof_rows *rows,
	const struct proof_moment *moment);
/* Request keys, transactions, rounds with their bets, callbacks; the dealers were added. */
void proof_rows_wagers(struct proof *proof, const struct proof_rows *rows);

#endif
