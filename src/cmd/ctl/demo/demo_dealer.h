/*
 * demo_dealer - a small HTTP server on the loopback that runs the reference dealer (src/dealer),
 * for `creditbridgectl demo`.
 *
 * The server answers one request of each connection, one connection at a time, within
 * DEMO_DEALER_MS. It is bound to 127.0.0.1 and answers only requests that are signed with its key.
 * Its key and its data are in a temporary directory, which demo_dealer_stop() removes.
 */
#ifndef CMD_CTL_DEMO_DEMO_DEALER_H
#define CMD_CTL_DEMO_DEMO_DEALER_H

#include "domain/money.h"

#include <stdbool.h>
#include <stddef.h>

#define DEMO_DEALER_MS     5000
#define DEMO_EXCHANGES_MAX 8   /* exchanges that are kept until demo_dealer_take() */
#define DEMO_SHOWN_SIZE    512 /* a body, or its beginning */

/* A request that the dealer answered. */
struct demo_exchange {
	char path[64];
	char body[DEMO_SHOWN_SIZE];
	int code; /* HTTP status of the answer */
	char answer[DEMO_SHOWN_SIZE];
};

struct demo_dealer;

/*
 * Starts a dealer whose key is @secret. Each player has @opening_balance of @currency at first.
 * Returns NULL with a sentence in @why on failure.
 */
struct demo_dealer *demo_dealer_start(const char *secret, const char *currency,
	money_t opening_balance, char *why, size_t why_size);

/* Returns the dealer's base URL, valid until it is stopped. */
const char *demo_dealer_url(const struct demo_dealer *dealer);

/* Returns the oldest exchange that was not returned yet, each once. Returns false if there is none. */
bool demo_dealer_take(struct demo_dealer *dealer, struct demo_exchange *exchange);

/* Stops the dealer and removes its data. NULL: nothing. */
void demo_dealer_stop(struct demo_dealer *dealer);

#endif
