/*
 * chain - the part of the proof that a player's movements follow each other.
 *
 * Each movement but the last of a player is followed by one other, and the last is told by the player:
 * the set of all movements equals the set of what followers and players tell of them. Since the number
 * falls by one at each step, that makes every player's movements one chain from the first to the last.
 */
#ifndef PROOF_CHAIN_H
#define PROOF_CHAIN_H

#include "proof/proof.h"

/* A movement as others tell of it: the one that follows, or the player row of the last. */
struct proof_link {
	char player_id[PLAYER_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	uint64_t seq; /* 0: there is none */
	uint64_t transaction_id;
	money_t balance; /* that it left */
};

/* The movement as others are to tell of it, and what it tells of the one before. */
struct proof_link proof_link_of(const struct transaction *entry);
struct proof_link proof_link_before(const struct transaction *entry);
/* What a player row tells of the last movement. */
struct proof_link proof_link_last(const struct player *player);
/* What is wrong with the movement (NULL: there is none) that @link tells of; NULL: nothing. */
const char *proof_link_entry(const struct proof_link *link, const struct transaction *entry);

/*
 * What a player tells of the last movement is late as long as that was made after the point: it is to
 * be fetched and given to proof_link_back() (NULL: it is not there), which returns false when it does
 * not fit. In the end proof_last() gets what is left.
 */
bool proof_link_is_late(const struct proof *proof, const struct proof_link *last);
bool proof_link_back(struct proof *proof, struct proof_link *last, const struct transaction *entry);
void proof_last(struct proof *proof, const struct proof_link *last);

/* A movement, in any order. */
void proof_chain_entry(struct proof *proof, const struct transaction *entry);

/* After all players and movements. */
bool proof_chains_equal(const struct proof *proof);
/* True: nobody tells of the movement. Not found where others are in both of its parts. */
bool proof_is_untold(const struct proof *proof, const struct transaction *entry);

#endif
