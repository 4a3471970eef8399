/*
 * near - dealers, players and references that are similar to one that was not found.
 *
 * The searches have bounds: NEAR_PLAYERS_MAX players, all dealers and game servers, NEAR_CALLS_MAX refused calls.
 */
#ifndef ADMIN_REQUESTS_NEAR_H
#define ADMIN_REQUESTS_NEAR_H

#include "admin/keys.h"
#include "admin/session.h"
#include "explain/explain.h"

#define NEAR_PLAYERS_MAX 10000
#define NEAR_CALLS_MAX   2048

/*
 * Fills the other members of @player for player->sent of the dealer @casino_id. An id that differs
 * in case or blanks goes before one that differs by an edit.
 */
enum outcome near_player(struct session *session, const char *casino_id,
	struct explain_player *player);

/* The ids that are similar to the filter of a search without a result; "": there are none. */
struct near_refused {
	bool no_dealer; /* there is no dealer of that id */
	char casino_id[CASINO_ID_SIZE];
	bool no_client; /* there is no game server of that id */
	char client_id[CLIENT_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	/* Of refused calls of the dealer. */
	char call_user_id[EXTERNAL_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
};
enum outcome near_refused(struct session *session, const struct keyring callers[KEYRING_OF_COUNT],
	const struct refused_list_cmd *wanted, struct near_refused *near);

/* Writes "there is a player 'bob'" and the like, or "" if nothing is similar. */
#define NEAR_TEXT_MAX 640
void near_text(const struct near_refused *near, char text[NEAR_TEXT_MAX]);

#endif
