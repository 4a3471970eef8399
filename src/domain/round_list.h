/*
 * round_list - which bets are part of a round: the numbers of those that are PENDING, ACCEPTED or
 * SETTLED.
 *
 * A rejected bet, and one that is refunded, is no part of its round (api.md C 3), but keeps its
 * number. So a round has a list, at most ROUND_BETS_MAX long, and its result loads no other bets,
 * however many were rejected. It is kept in the row (struct round, listed): four bytes a bet, in the
 * order of the numbers: twice the number, and 1 more when the bet is known to be accepted.
 *
 * The list of a row of version 1 is made when it is read: it names all bets, none as accepted.
 */
#ifndef DOMAIN_ROUND_LIST_H
#define DOMAIN_ROUND_LIST_H

#include "domain/records.h"

#define ROUND_LIST_SIZE (4 * ROUND_BETS_MAX)

/* How many bets are part of the round. */
uint32_t round_list_count(const struct round *round);
/* The number of the one at @at, which is below the count. */
uint32_t round_list_at(const struct round *round, uint32_t at);
/* The place of bet @number; the count: it is not listed. */
uint32_t round_list_find(const struct round *round, uint32_t number);
/* The place of the first one that is not known to be accepted; the count: all are. */
uint32_t round_list_waits(const struct round *round);
/* True: the list is one that these functions make. */
bool round_list_sane(const struct round *round);

/*
 * The number behind @after of the next bet that A5 tells of: all that are part of the round, and of
 * the others the newest, ROUND_BETS_MAX together at most. 0: there is none.
 */
uint32_t round_list_shown(const struct round *round, uint32_t after);

/*
 * Lists bet @number, the round's newest; notes that it was accepted; takes it off the list. The list
 * is then in @room, which has to live as long as @round is used.
 */
void round_list_add(struct round *round, uint32_t number, bool accepted,
	uint8_t room[ROUND_LIST_SIZE]);
void round_list_accept(struct round *round, uint32_t number, uint8_t room[ROUND_LIST_SIZE]);
void round_list_remove(struct round *round, uint32_t number, uint8_t room[ROUND_LIST_SIZE]);

/* Completes a row of version 1. */
void round_list_make(struct round *round);

#endif
