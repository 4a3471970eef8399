/*
 * names - finds the dealers and players that arguments and rows name.
 */
#ifndef ADMIN_NAMES_H
#define ADMIN_NAMES_H

#include "admin/session.h"

/*
 * Copy an argument. Refuse, as a usage error, text that cannot be an id: a casino_id or client_id is
 * [A-Za-z0-9_.-]{1,64}; other ids are 1 to 128 bytes of UTF-8 without control characters (contract,
 * "Ids").
 */
enum outcome names_read_casino_id(struct session *session, const char *text,
	char casino_id[CASINO_ID_SIZE]);
enum outcome names_read_client_id(struct session *session, const char *text,
	char client_id[CLIENT_ID_SIZE]);
enum outcome names_read_external_id(struct session *session, const char *what, const char *text,
	char id[EXTERNAL_ID_SIZE]);

/* Reports that a row named by another row is missing. Returns OUTCOME_FAILED. */
enum outcome names_missing(struct session *session, const char *what);

/* Fetches the dealer @casino_id. Reports dealer_not_found. */
enum outcome names_dealer(struct session *session, const char *casino_id, struct dealer *dealer);

/* Fetches the player @user_id of @casino_id. Reports user_not_found. */
enum outcome names_player(struct session *session, const char *casino_id, const char *user_id,
	struct player *player);

/*
 * Fetches a player by "PLAYER_ID" or "CASINO/USER". Neither a casino id nor a player id contains
 * a slash.
 */
enum outcome names_player_word(struct session *session, const char *word, struct player *player);

/* Fetches the dealer and the user id of @player_id, unless @name already contains them. */
enum outcome names_of(struct session *session, const char *player_id, struct player_name *name);

#endif
