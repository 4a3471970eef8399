/*
 * balance - asks a dealer with a seamless wallet for a player's balance, by a job (console/common/job.h), and shows
 * the answer. No credit moves.
 */
#ifndef CONSOLE_SECTIONS_BALANCE_H
#define CONSOLE_SECTIONS_BALANCE_H

#include "console/common/page.h"
#include "domain/records.h"

/* The dealer's answer. */
struct balance {
	int64_t asked_ms; /* wall clock; 0: the dealer was not asked */
	int64_t ms;       /* duration of the call */
	int64_t http_status;
	char outcome[16];
	char error[512]; /* "": the answer is the balance */
	money_t balance;
	char currency[CURRENCY_SIZE];
};

/* Asks @player's dealer. Returns false after an error page. */
bool balance_ask(struct page *page, const struct player *player, struct balance *balance);
/*
 * Writes the answer, if there is one, and the button that asks, for the roles that may. Other roles see the
 * command. @player belongs to a dealer with a seamless wallet.
 */
void balance_write(struct page *page, const struct player *player, const struct balance *balance);

#endif
