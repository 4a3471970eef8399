/*
 * game - shows a round or a bet with everything that belongs to it: for bet show and round show.
 */
#ifndef CMD_CTL_GAME_H
#define CMD_CTL_GAME_H

#include "cmd/ctl/ctl.h"

/* A bet, or a whole round. */
struct game_key {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t number; /* of the bet; 0: the round */
};

/* The round, its bets, its callbacks or movements. */
enum outcome game_show_round(struct ctl *ctl, const struct game_key *key);

/* The bet, its round, and the callbacks or movements of both. */
enum outcome game_show_bet(struct ctl *ctl, const struct game_key *key);

#endif
