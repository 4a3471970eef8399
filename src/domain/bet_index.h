/*
 * bet_index - rows by which bets are found in another order than that of their table, which has them by player and
 * game.
 *
 * The first bet of a round has a row struct game_player, by which the round is found with only its
 * game id. Each bet has a row struct player_bet, by which the newest bets of a player are found
 * first. The ledger writes these rows with the bet and never changes them. All their values are
 * also in the bet and its transaction, with which `creditbridgectl check` compares them.
 */
#ifndef DOMAIN_BET_INDEX_H
#define DOMAIN_BET_INDEX_H

#include "domain/records.h"

/* The rows of one bet. */
struct bet_index {
	struct player_bet by_time;
	struct game_player by_game; /* if the bet is the first one of its round */
	bool is_first;
};

struct bet_index bet_index_of(const struct bet *bet);

/* Returns false if @row is not the transaction of a bet. */
bool bet_index_of_transaction(const struct transaction *row, struct bet_index *index);

#endif
