/*
 * chain - the proof that a player's transactions follow each other.
 *
 * Each transaction of a player except the last is referenced by the next one; the player row
 * references the last. So the set of all transactions must equal the set of these references. The
 * number falls by one at each step, so each player's transactions form one chain from the first to
 * the last.
 */
#ifndef PROOF_CHAIN_H
#define PROOF_CHAIN_H

#include "proof/proof.h"

/*
 * A transaction as another row references it: the next transaction, or the player row for the last.
 */
struct proof_link {
	char player_id[PLAYER_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	uint64_t seq; /* 0: there is none */
	uint64_t transaction_id;
	money_t balance; /* balance after the transaction */
};

/* Returns the expected reference to @entry, and the reference of @entry to its predecessor. */
struct proof_link proof_link_of(const struct transaction *entry);
struct proof_link proof_link_before(const struct transaction *entry);
/* Returns a player row's reference to the last transaction. */
struct proof_link proof_link_last(const struct player *player);
/* Returns what is wrong with the transaction (NULL: not found) that @link references, or NULL. */
const char *proof_link_entry(const struct proof_link *link, const struct transaction *entry);

/*
 * A player's reference to the last transaction is late if that transaction was made after the
 * point. Then fetch the transaction and pass it to proof_link_back() (NULL: not found), which
 * returns false if it does not match. Repeat until the link is not late, then pass it to
 * proof_last().
 */
bool proof_link_is_late(const struct proof *proof, const struct proof_link *last);
bool proof_link_back(struct proof *proof, struct proof_link *last, const struct transaction *entry);
void proof_last(struct proof *proof, const struct proof_link *last);

/* Adds a transaction, in any order. */
void proof_chain_entry(struct proof *proof, const struct transaction *entry);

/* Returns true if all references match. Call it after all players and transactions. */
bool proof_chains_equal(const struct proof *proof);
/*
 * Returns true if no row references the transaction. It cannot be found if both of its parts
 * contain other faults.
 */
bool proof_is_untold(const struct proof *proof, const struct transaction *entry);

#endif
