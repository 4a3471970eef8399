/*
 * game - shows a round or a bet with all rows that belong to it, for `bet show` and `round show`.
 */
#ifndef CMD_CTL_BETS_GAME_H
#define CMD_CTL_BETS_GAME_H

#include "cmd/ctl/common/ctl.h"

/* Identifies a bet or a whole round. */
struct game_key {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t number; /* of the bet; 0: the whole round */
};

/* Shows the round, its bets, and its callbacks or transactions. */
enum outcome game_show_round(struct ctl *ctl, const struct game_key *key);

/* Shows the bet, its round, and the callbacks or transactions of both. */
enum outcome game_show_bet(struct ctl *ctl, const struct game_key *key);

#endif
