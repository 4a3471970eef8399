/*
 * correction - the rules between a round, its corrections, and the rows that the corrections name.
 *
 * proof_corrections_*() prove the chain of one round's corrections. proof_correction_links() adds
 * the request key, the transaction and the callback of a correction to the sets of rows that bets
 * and rounds require (struct wager_sets). proof_correction_shortfall() compares a decrease with what
 * its dealer answered.
 */
#ifndef PROOF_CORRECTION_H
#define PROOF_CORRECTION_H

#include "proof/links.h"

/* Returns the change of the balance here, or the amount that the callback asks the dealer to move. */
money_t correction_moved(const struct correction *row, enum wallet_mode mode);

struct corrections_reading {
	const struct round *round;
	uint32_t revision; /* of the last correction */
	enum round_result result;
	money_t payout_amount;
	money_t shortfall; /* sum */
};

/* Begins with the round as it is now. */
void proof_corrections_begin(struct corrections_reading *reading, const struct round *round);
/* Adds the next correction. Returns what is wrong with it, or NULL. */
const char *proof_corrections_add(struct corrections_reading *reading,
	const struct correction *row);
/* Returns what is wrong between the round and its corrections, or NULL. */
const char *proof_corrections_end(const struct corrections_reading *reading);

/* The rows that a correction requires. */
struct request proof_correction_key(const struct round *round, const struct correction *row);
struct transaction proof_correction_transaction(const struct round *round,
	const struct correction *row);
struct callback proof_correction_callback(const struct correction *row);
/* Renders the body of its callback into proof->body. Returns false if memory is exhausted. */
bool proof_correction_body(struct proof *proof, const struct round *round,
	const struct correction *row);

/*
 * Returns what the dealer could not take of a decrease, as @callback reports it. 0: it took all, or
 * has not answered yet.
 */
money_t proof_reported_shortfall(const struct correction *row, const struct callback *callback);
/* Returns what is wrong between a decrease and its betting-correction, or NULL. */
const char *proof_correction_shortfall(const struct correction *row,
	const struct callback *callback);

/* Adds the correction to the sums of its dealer, and these rows to proof->wanted. */
void proof_correction_links(struct proof *proof, const struct round *round,
	const struct correction *row);

#endif
