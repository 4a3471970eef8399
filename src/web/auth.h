/*
 * auth - who calls: the callers' keys, and the check of x-casino-signature or, of game servers,
 * x-client-signature (api.md, Signature; C).
 *
 * Each thread keeps the keys of all dealers or of all clients. They are as old as a second at most:
 * an answer of the ledger tells the keyring's generation, and without an answer for a second the
 * gate asks for it.
 *
 * A missing or malformed header costs no signature: that depends on nothing but what was sent. A wrong
 * signature and an unknown caller cost the same work: AUTH_WORK signatures, one for every key slot, with
 * made-up keys where there are none. All are of the algorithm to which the length of the caller's
 * signature belongs, so the work does not depend on the dealer's algorithm. Only a caller that is let in
 * is answered earlier. What callers cost that are not let in is bounded (web/flood.h).
 */
#ifndef WEB_AUTH_H
#define WEB_AUTH_H

#include "fcgi/request.h"
#include "link/client.h"
#include "metrics/counters.h"
#include "web/flood.h"

#include <stdbool.h>
#include <stdint.h>

/* The ledger's last answer vouches for the keys this long. */
#define AUTH_FRESH_MS 1000
/* Signatures computed for a caller that is not let in, while no budget is used up. */
#define AUTH_WORK DEALER_KEYS_MAX

/* More callers than this are not taken in: a keyring that long is damaged. */
#define AUTH_CALLERS_MAX 65536

struct auth {
	enum keyring_of of;
	struct keyring_entry *entries; /* in the order of casino_id */
	uint32_t count;
	uint64_t generation; /* 0: no keys yet */
	enum auth_failure why; /* the last caller was not let in; AUTH_UNKNOWN when it was */
	struct flood *flood;   /* of the process; NULL: what fails is not bounded */
	struct keyring_entry unknown; /* stands in for a caller who is not known */
};

/* False: no randomness for the made-up keys. */
bool auth_init(struct auth *auth, enum keyring_of of);
/* Frees and wipes the keys. */
void auth_free(struct auth *auth);

/*
 * Finds out who signed @request. On STATUS_OK *@caller is he, valid until the next call,
 * or NULL: 401 invalid_signature; with @auth->why AUTH_FLOOD 429 rate_limited. Another status: the keys
 * could not be brought up to date before @deadline_ms (boot time); older ones let no caller in.
 * @now_ms is boot time.
 */
enum status auth_check(struct auth *auth, struct link *link, const struct http_request *request,
	int64_t now_ms, int64_t deadline_ms, const struct keyring_entry **caller);

#endif
