/*
 * ping - asks a dealer's server for a player's balance, with the ledger's leave.
 */
#ifndef CMD_CTL_PING_H
#define CMD_CTL_PING_H

#include "cmd/ctl/ctl.h"
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
};

/*
 * The seamless dealer that the first argument names, and the player to ask for: --user, or the
 * dealer's first one.
 */
enum outcome ping_find(struct ctl *ctl, struct dealer *dealer, struct player *player);

/*
 * Asks. OUTCOME_DONE: what came of it is in @ping, good or bad; else nothing was sent, and why was
 * reported.
 */
enum outcome ping_ask(struct ctl *ctl, const struct player *player, struct ping *ping);

#endif
