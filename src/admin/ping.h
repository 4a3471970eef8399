/*
 * ping - asks a dealer's server for a player's balance, with the ledger's leave.
 */
#ifndef ADMIN_PING_H
#define ADMIN_PING_H

#include "admin/session.h"
#include "domain/callback.h"

/* What came of it. */
struct ping {
	struct callback_outcome outcome;
	uint64_t event; /* its number, the ledger's */
	struct callback_target target; /* holds secrets, for the caller to blank in any case */
	char url[CALLBACK_URL_SIZE];
	const char *error_id; /* "": the dealer answered as it must */
	char error_detail[512];
	enum outcome code;
	struct failure end_failure; /* the ledger was not given its permit back; id "": it was */
};

/*
 * The seamless dealer @casino_id, and the player to ask for: @user_id, or with NULL the dealer's first
 * one. A failure is in the session.
 */
enum outcome ping_find(struct session *session, const char *casino_id, const char *user_id,
	struct dealer *dealer, struct player *player);

/*
 * Asks. OUTCOME_DONE: what came of it is in @ping, good or bad; else nothing was sent, and why is in the
 * session.
 */
enum outcome ping_ask(struct session *session, const struct player *player, struct ping *ping);

#endif
