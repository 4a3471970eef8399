/*
 * fresh_keyring - keeps a keyring (link/keyring.h) up to date with its ledger.
 *
 * Every answer of the ledger has the generation of its keys. After KEYRING_FRESH_MS without an answer the
 * keyring is asked for.
 */
#ifndef WEB_REQUEST_FRESH_KEYRING_H
#define WEB_REQUEST_FRESH_KEYRING_H

#include "link/client.h"
#include "link/keyring.h"

/* The keys are fresh for this time after an answer of the ledger. */
#define KEYRING_FRESH_MS 1000

/* Returns true if the ledger of @link confirmed the keys within KEYRING_FRESH_MS of @now_ms (boot time). */
bool keyring_is_fresh(const struct keyring *keyring, const struct link *link, int64_t now_ms);

/*
 * Updates the keys unless they are fresh. If that fails before @deadline_ms (boot time), @keyring stays as
 * it is, and must not be used to accept a caller.
 */
enum status keyring_refresh(struct keyring *keyring, enum keyring_of of, struct link *link,
	int64_t now_ms, int64_t deadline_ms);

#endif
