/*
 * ping - requests a player's balance from a dealer's server, under a permit of the ledger.
 */
#ifndef ADMIN_PING_H
#define ADMIN_PING_H

#include "admin/session.h"
#include "domain/callback.h"

/* The result of a ping. */
struct ping {
	struct callback_outcome outcome;
	uint64_t event; /* the number that the ledger assigned */
	/* contains secrets: the caller must clear it in any case */
	struct callback_target target;
	char url[CALLBACK_URL_SIZE];
	const char *error_id; /* "": the answer is correct */
	char error_detail[512];
	enum outcome code;
	/* why the permit could not be returned to the ledger; id "": it was returned */
	struct failure end_failure;
};

/*
 * Finds the seamless dealer @casino_id and the player: @user_id, or the dealer's first player if
 * @user_id is NULL. A failure is in the session.
 */
enum outcome ping_find(struct session *session, const char *casino_id, const char *user_id,
	struct dealer *dealer, struct player *player);

/*
 * Sends the request. OUTCOME_DONE: @ping contains the result, good or bad. Any other outcome:
 * nothing was sent, and the reason is in the session.
 */
enum outcome ping_ask(struct session *session, const struct player *player, struct ping *ping);

#endif
