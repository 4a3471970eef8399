/*
 * links - the related rows of transactions, bets and rounds: their idempotency keys and transaction
 * rows.
 *
 * The expected content of such a row is derived from the transaction, bet or round. Sets of
 * expected and found rows are compared (struct wager_sets). If they differ, the rows are compared
 * one by one.
 */
#ifndef PROOF_LINKS_H
#define PROOF_LINKS_H

#include "proof/proof.h"

/* Adds the request key that a transaction requires. */
void proof_entry_links(struct proof *proof, const struct transaction *entry);

void proof_request(struct proof *proof, const struct request *request);

/* Returns what is wrong between a transaction and its request key (NULL: not found), or NULL. */
const char *proof_entry_request(const struct transaction *entry, const struct request *request);

/*
 * The request key of a bet, and of a settled round's result. The round does not hold its
 * request_transaction_id, which is left empty.
 */
struct request proof_bet_key(const struct bet *bet);
struct request proof_round_key(const struct round *round);
/* Their transaction rows; a loss has none (id 0). entry_seq is 1 if credit moved. */
struct transaction proof_bet_transaction(const struct bet *bet);
struct transaction proof_round_transaction(const struct round *round);

/* The transaction row of a request key that moved, or recorded, something of a game. */
struct transaction proof_key_transaction(const struct request *key, const char *casino_id);

/* Returns true if the row existed when the proof began, and so belongs to the sets. */
bool proof_key_counts(const struct proof *proof, const struct request *key);
bool proof_transaction_counts(const struct proof *proof, const struct transaction *transaction);

/*
 * Add a row by which bets are found to the rows that were found, if its bet existed when the proof began.
 * @page_as_of: the last transaction id that was given out when the row was read.
 */
void proof_game_player(struct proof *proof, const struct game_player *row, uint64_t page_as_of);
void proof_player_bet(struct proof *proof, const struct player_bet *row, uint64_t page_as_of);
/* Adds the rows by which @bet is found to @sets. */
void proof_want_bet_index(const struct proof *proof, const struct bet *bet,
	struct wager_sets *sets);
/* Returns true if the bet with this id existed when the proof began. */
bool proof_bet_counts(const struct proof *proof, uint64_t transaction_id);

/* Adds the key and the transaction of a correction or cancellation to proof->wanted. */
void proof_want_movement(struct proof *proof, const struct request *key,
	const struct transaction *transaction);

/* Hashes the row as a member of its set. */
void proof_hash_key(const struct proof *proof, const struct request *key, struct row_hash *hash);
void proof_hash_transaction(const struct proof *proof, const struct transaction *transaction,
	struct row_hash *hash);

/* Returns what is wrong between the expected row and the one found (NULL: none), or NULL. */
const char *proof_wager_key(const struct request *wanted, const struct request *found);
const char *proof_wager_transaction(const struct transaction *wanted,
	const struct transaction *found);

#endif
