/*
 * demo - what the files of `creditbridgectl demo` share: one round of a seamless wallet, of a dealer
 * and a game server that the command makes.
 */
#ifndef CMD_CTL_DEMO_DEMO_H
#define CMD_CTL_DEMO_DEMO_H

#include "cmd/ctl/common/ctl.h"
#include "cmd/ctl/demo/demo_dealer.h"
#include "domain/records.h"

#define DEMO_CASINO   "demo-dealer"
#define DEMO_CLIENT   "demo-game"
#define DEMO_USER     "demo-player"
#define DEMO_CURRENCY "thb"
#define DEMO_OPENING  (1000 * MONEY_UNITS_PER_CREDIT)
#define DEMO_STAKE    (10 * MONEY_UNITS_PER_CREDIT)
#define DEMO_PAYOUT   (25 * MONEY_UNITS_PER_CREDIT)

struct demo {
	struct ctl *ctl;
	const char *platform_url; /* NULL: this command does what a worker does */
	struct demo_dealer *server;
	struct dealer dealer; /* as the ledger has it */
	struct player player; /* ids only */
	char dealer_secret[KEY_SECRET_SIZE];
	char client_secret[KEY_SECRET_SIZE];
	char game_id[32];
	struct bet bet;   /* as the ledger has it after the last step */
	bool dealer_used; /* was resumed, and must be suspended */
	bool client_used; /* exists, and must be removed */
};

/* Prints a line for people; nothing with --json. */
void demo_say(const struct demo *demo, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The steps of the round. A failure was reported. */
enum outcome demo_balance(struct demo *demo, money_t expected);
enum outcome demo_bet(struct demo *demo);
enum outcome demo_result(struct demo *demo);

#endif
