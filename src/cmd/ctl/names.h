/*
 * names - the dealers and players that arguments and rows name.
 */
#ifndef CMD_CTL_NAMES_H
#define CMD_CTL_NAMES_H

#include "cmd/ctl/ctl.h"

/* Reports that a row which another one names is not there. Returns CTL_FAILED. */
enum ctl_exit names_missing(struct ctl *ctl, const char *what);

/* The dealer @casino_id; dealer_not_found is reported. */
enum ctl_exit names_dealer(struct ctl *ctl, const char *casino_id, struct dealer *dealer);

/* The player @user_id of @casino_id; user_not_found is reported. */
enum ctl_exit names_player(struct ctl *ctl, const char *casino_id, const char *user_id,
	struct player *player);

/* The same by "PLAYER_ID" or "CASINO/USER" (neither a casino id nor a player id has a slash). */
enum ctl_exit names_player_word(struct ctl *ctl, const char *word, struct player *player);

/* Whose @player_id is, as a row says; it is not asked for again while @name is that player's. */
enum ctl_exit names_of(struct ctl *ctl, const char *player_id, struct player_name *name);

#endif
