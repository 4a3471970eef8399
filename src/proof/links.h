/*
 * links - the rows that movements, bets and rounds have elsewhere: their idempotency keys and
 * their transaction rows.
 *
 * What such a row must hold is made from the movement, bet or round; sets of both are compared
 * (struct wager_sets), and where they differ row with row.
 */
#ifndef PROOF_LINKS_H
#define PROOF_LINKS_H

#include "proof/proof.h"

/* Adds the request key that a movement wants. */
void proof_entry_links(struct proof *proof, const struct transaction *entry);

void proof_request(struct proof *proof, const struct request *request);

/* What is wrong between a movement and its request key (NULL: there is none); NULL: nothing. */
const char *proof_entry_request(const struct transaction *entry, const struct request *request);

/*
 * The key of a bet, and of a settled round's result. The round does not hold its
 * request_transaction_id, which is left empty.
 */
struct request proof_bet_key(const struct bet *bet);
struct request proof_round_key(const struct round *round);
/* Their transaction rows; a loss has none (id 0). entry_seq is 1 if there is a movement. */
struct transaction proof_bet_transaction(const struct bet *bet);
struct transaction proof_round_transaction(const struct round *round);

/* True: the row belongs to the sets, because it was there when the proof began. */
bool proof_key_counts(const struct proof *proof, const struct request *key);
bool proof_transaction_counts(const struct proof *proof, const struct transaction *transaction);

/* The row as a member of its set. */
void proof_hash_key(const struct proof *proof, const struct request *key, struct row_hash *hash);
void proof_hash_transaction(const struct proof *proof, const struct transaction *transaction,
	struct row_hash *hash);

/* What is wrong between the row that is wanted and the one found (NULL: none); NULL: nothing. */
const char *proof_wager_key(const struct request *wanted, const struct request *found);
const char *proof_wager_transaction(const struct transaction *wanted,
	const struct transaction *found);

#endif
