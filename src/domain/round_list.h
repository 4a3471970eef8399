/*
 * round_list - the list of the bets that are part of a round: those that are PENDING, ACCEPTED or
 * SETTLED.
 *
 * A rejected or refunded bet is not part of its round (contract, "Rounds"), but keeps its number.
 * The list has at most ROUND_BETS_MAX bets. The round's result loads only these bets, however many
 * were rejected.
 *
 * The row stores the list (struct round, listed) with four bytes for each bet, in the order of the
 * numbers. Each entry is twice the number, plus 1 if the bet is known to be accepted.
 *
 * The list of a row of version 1 is made when the row is read: it names all bets, none as accepted.
 */
#ifndef DOMAIN_ROUND_LIST_H
#define DOMAIN_ROUND_LIST_H

#include "domain/records.h"

#define ROUND_LIST_SIZE (4 * ROUND_BETS_MAX)

/* Returns the number of bets that are part of the round. */
uint32_t round_list_count(const struct round *round);
/* Returns the bet number at index @at, which must be below the count. */
uint32_t round_list_at(const struct round *round, uint32_t at);
/* Returns the index of bet @number, or the count if it is not listed. */
uint32_t round_list_find(const struct round *round, uint32_t number);
/* Returns the index of the first bet not known to be accepted, or the count if all are. */
uint32_t round_list_waits(const struct round *round);
/* Returns true if the list is well-formed. */
bool round_list_sane(const struct round *round);

/*
 * Returns the number after @after of the next bet that A5 shows, or 0. A5 shows all bets of the
 * round and the newest of the others, at most ROUND_BETS_MAX together.
 */
uint32_t round_list_shown(const struct round *round, uint32_t after);

/*
 * Add bet @number, the newest of the round; mark it as accepted; remove it. The list is then stored
 * in @room, which must remain valid while @round is used.
 */
void round_list_add(struct round *round, uint32_t number, bool accepted,
	uint8_t room[ROUND_LIST_SIZE]);
void round_list_accept(struct round *round, uint32_t number, uint8_t room[ROUND_LIST_SIZE]);
void round_list_remove(struct round *round, uint32_t number, uint8_t room[ROUND_LIST_SIZE]);

/* Completes a row of version 1. */
void round_list_make(struct round *round);

#endif
