/*
 * names - the dealers and players that arguments and rows name.
 */
#ifndef ADMIN_NAMES_H
#define ADMIN_NAMES_H

#include "admin/session.h"

/*
 * Copy an argument, refusing (as usage) what cannot be an id: casino_id is [A-Za-z0-9_.-]{1,64},
 * others 1 to 128 bytes of UTF-8 without control characters (api.md, Common rules, Ids).
 */
enum outcome names_read_casino_id(struct session *session, const char *text, char casino_id[CASINO_ID_SIZE]);
enum outcome names_read_external_id(struct session *session, const char *what, const char *text,
	char id[EXTERNAL_ID_SIZE]);

/* Reports that a row which another one names is not there. Returns OUTCOME_FAILED. */
enum outcome names_missing(struct session *session, const char *what);

/* The dealer @casino_id; dealer_not_found is reported. */
enum outcome names_dealer(struct session *session, const char *casino_id, struct dealer *dealer);

/* The player @user_id of @casino_id; user_not_found is reported. */
enum outcome names_player(struct session *session, const char *casino_id, const char *user_id,
	struct player *player);

/* The same by "PLAYER_ID" or "CASINO/USER" (neither a casino id nor a player id has a slash). */
enum outcome names_player_word(struct session *session, const char *word, struct player *player);

/* Whose @player_id is, as a row says; it is not asked for again while @name is that player's. */
enum outcome names_of(struct session *session, const char *player_id, struct player_name *name);

#endif
