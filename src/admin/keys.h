/*
 * keys - fetches the keys of the callers for an operator's program.
 */
#ifndef ADMIN_KEYS_H
#define ADMIN_KEYS_H

#include "admin/session.h"
#include "link/keyring.h"

/*
 * Fetches the keys of all dealers or of all game servers into @keyring, which the caller frees by
 * keyring_free(), also after a failure.
 */
enum outcome keys_fetch(struct session *session, enum keyring_of of, struct keyring *keyring);

/*
 * As keys_fetch(), but without the keys themselves: the entries have the ids of the keys, and "" as each
 * secret. The role read is enough.
 */
enum outcome keys_fetch_callers(struct session *session, enum keyring_of of,
	struct keyring *keyring);

/* As keys_fetch(), but reports no failure of the call. Returns false if there are no keys. */
bool keys_try(struct session *session, enum keyring_of of, struct keyring *keyring);

/* The key that signs a dealer's calls, and how. The caller wipes it. */
struct signing {
	enum signature_algorithm algorithm;
	enum signature_encoding encoding;
	char secret[KEY_SECRET_SIZE];
};

/*
 * Fetches the signing key of @casino_id. Fails with dealer_not_found, or with key_not_found if the
 * dealer has no signing key.
 */
enum outcome keys_find_signing(struct session *session, const char *casino_id,
	struct signing *signing);

#endif
