/*
 * gate - who calls: the callers' keys, and the check of x-casino-signature or, of game servers,
 * x-client-signature (api.md, Signature; C).
 *
 * Each thread keeps the keys of all dealers or of all clients. They are as old as a second at most:
 * an answer of the ledger tells the keyring's generation, and without an answer for a second the
 * gate asks for it.
 *
 * A missing, malformed or wrong signature and an unknown caller cost the same work: the keyring
 * is looked up once and GATE_WORK signatures are computed, one of every algorithm for every key
 * slot, with made-up keys where there are none; so it does not tell either which algorithm a dealer
 * has. Only a caller who is let in is told so earlier.
 */
#ifndef WEB_GATE_H
#define WEB_GATE_H

#include "link/client.h"
#include "metrics/counters.h"
#include "web/http.h"

#include <stdbool.h>
#include <stdint.h>

/* The ledger's last answer vouches for the keys this long. */
#define GATE_FRESH_MS 1000
/* Signatures computed for who is not let in. */
#define GATE_WORK (DEALER_KEYS_MAX * SIGNATURE_ALGORITHM_COUNT)

/* More callers than this are not taken in: a keyring that long is damaged. */
#define GATE_CALLERS_MAX 65536

struct gate {
	enum keyring_of of;
	struct keyring_entry *entries; /* in the order of casino_id */
	uint32_t count;
	uint64_t generation; /* 0: no keys yet */
	enum auth_failure why; /* the last caller was not let in; AUTH_UNKNOWN when he was */
	struct keyring_entry nobody; /* stands in for a caller who is not known */
};

/* False: no randomness for the made-up keys. */
bool gate_init(struct gate *gate, enum keyring_of of);
/* Frees and wipes the keys. */
void gate_free(struct gate *gate);

/*
 * Finds out who signed @request. On STATUS_OK *@caller is he, valid until the next call,
 * or NULL: 401 invalid_signature. Another status: the keys could not be brought up to date before
 * @deadline_ms (boot time); nobody is let in by older ones. @now_ms is boot time.
 */
enum status gate_check(struct gate *gate, struct link *link, const struct http_request *request,
	int64_t now_ms, int64_t deadline_ms, const struct keyring_entry **caller);

#endif
