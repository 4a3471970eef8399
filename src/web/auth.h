/*
 * auth - authenticates callers: their keys, and the check of x-casino-signature or, for game
 * servers, x-client-signature (contract, "Signature" and "Group C: what game servers call").
 *
 * A signature may be written in hex or in base64, whatever the dealer's encoding is: that decides
 * only how the platform signs.
 *
 * Each thread keeps the keys of all dealers or of all clients. They are at most one second old:
 * every answer of the ledger has the generation of the keyring, and after a second without an
 * answer the thread asks for it.
 *
 * If a header is missing or malformed, no signature is computed. This depends only on what the
 * caller sent. A wrong signature and an unknown caller cost the same work: AUTH_WORK signatures,
 * one for each key slot, with made-up keys in empty slots. The algorithm follows from the length of
 * the signature that was sent, so the work does not depend on the dealer's algorithm. Only a valid
 * signature is answered earlier. web/flood.h bounds the cost of invalid ones.
 */
#ifndef WEB_AUTH_H
#define WEB_AUTH_H

#include "fcgi/request.h"
#include "link/client.h"
#include "metrics/counters.h"
#include "web/flood.h"
#include "web/request/fresh_keyring.h"

#include <stdbool.h>
#include <stdint.h>

/* Signatures that are computed for a wrong one, within the budget. */
#define AUTH_WORK DEALER_KEYS_MAX

struct auth {
	enum keyring_of of;
	struct keyring keyring;       /* generation 0: no keys yet */
	enum auth_failure why;        /* of the last caller that failed; otherwise AUTH_UNKNOWN */
	struct flood *flood;          /* of the process; NULL: failures are not bounded */
	struct keyring_entry unknown; /* stands in for an unknown caller */
};

/* Returns false if randomness is exhausted. */
bool auth_init(struct auth *auth, enum keyring_of of);
/* Frees and wipes the keys. */
void auth_free(struct auth *auth);

/*
 * Authenticates @request. On STATUS_OK, *@caller is its caller, valid until the next call.
 * *@caller is NULL if the answer is 401 invalid_signature, or 429 rate_limited if @auth->why is
 * AUTH_FLOOD. Another status: the keys could not be updated before @deadline_ms (boot time), and
 * older keys are not used. @now_ms is boot time.
 */
enum status auth_check(struct auth *auth, struct link *link, const struct http_request *request,
	int64_t now_ms, int64_t deadline_ms, const struct keyring_entry **caller);

/* Returns the id that the headers of @request name; NULL if there is not exactly one. */
const char *auth_caller_id(const struct auth *auth, const struct http_request *request);

/*
 * Authenticates @request by @keyring, which is fresh, in place of the keyring of @auth. Returns the caller as
 * auth_check() does. For workers with several cells.
 */
const struct keyring_entry *auth_verify(struct auth *auth, const struct keyring *keyring,
	const struct http_request *request);

#endif
