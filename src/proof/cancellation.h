/*
 * cancellation - the rules between a cancelled bet, the row of its cancellation, and the rows that
 * the cancellation names. Pure.
 *
 * All of them are written in one commit and name each other for ever, so a running ledger does not
 * affect these rules. proof_cancellation_links() adds the request key and the movement of a
 * cancellation to the sets of rows that bets and rounds require (struct wager_sets), so that a
 * movement without a cancellation is found as well.
 */
#ifndef PROOF_CANCELLATION_H
#define PROOF_CANCELLATION_H

#include "proof/proof.h"

/*
 * Returns what is wrong with @row, the cancellation of @bet, or NULL. Either may be NULL: it was
 * not found.
 */
const char *proof_cancellation(const struct bet *bet, const struct cancellation *row);

/*
 * Returns what is wrong with @moved, the transaction that @row names, or NULL. @moved is NULL if it
 * was not found.
 */
const char *proof_cancellation_moved(const struct cancellation *row, const struct bet *bet,
	const struct transaction *moved);

/* The request key and the movement that the cancellation of @bet requires. */
struct request proof_cancellation_key(const struct cancellation *row, const struct bet *bet);
/* Adds both to proof->wanted if a stake was returned here. Otherwise there is no movement. */
void proof_cancellation_links(struct proof *proof, const struct cancellation *row,
	const struct bet *bet);

/*
 * Returns what is wrong with the key of a cancellation that moved nothing here, or NULL. @bet is the
 * bet that it names; NULL if that does not exist.
 */
const char *proof_cancel_key(const struct request *key, const struct bet *bet);

#endif
