/*
 * bet_index_rows - the structs of the rows by which bets are found (domain/bet_index.h).
 */
#ifndef DOMAIN_BET_INDEX_ROWS_H
#define DOMAIN_BET_INDEX_ROWS_H

#include "domain/sizes.h"

#include <stdint.h>

/* A player of a game, for each round. */
struct game_player {
	char game_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	uint64_t transaction_id; /* of the round's first bet */
};

/* A bet of a player, in the order of time. */
struct player_bet {
	char player_id[PLAYER_ID_SIZE];
	uint64_t transaction_id;
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t bet_number;
};

#endif
