/*
 * signature - x-casino-signature: an HMAC over the raw bytes of a body (api.md, Signature).
 *
 * The key bytes are the characters of the secret as issued, not what they stand for.
 */
#ifndef WIRE_SIGNATURE_H
#define WIRE_SIGNATURE_H

#include "domain/records.h"

#include <stdbool.h>
#include <stddef.h>

/* Holds any signature as text: SHA-512 in hex, and the NUL. */
#define SIGNATURE_TEXT_MAX 129

/*
 * Writes the signature of @body: lower-case hex or base64. An empty body is signed as the empty
 * string. False: the library failed (memory); @text is then "".
 */
bool signature_make(enum signature_algorithm algorithm, enum signature_encoding encoding,
	const char *secret, const void *body, size_t len, char text[SIGNATURE_TEXT_MAX]);

/*
 * The algorithm and the encoding that @text may be a signature of: each pair of them has a length of its
 * own. False: none, since its length or one of its characters fits no pair.
 */
bool signature_form(const char *text, enum signature_algorithm *algorithm,
	enum signature_encoding *encoding);

/*
 * True iff @text is the signature of @body. Hex is accepted in either case. Compared in constant
 * time; the work done depends on @algorithm and @len alone, also for a @text that is malformed.
 * An empty @secret (an unused key slot) verifies nothing, with the same work.
 */
bool signature_verify(enum signature_algorithm algorithm, enum signature_encoding encoding,
	const char *secret, const void *body, size_t len, const char *text);

/*
 * The bytes behind the text, for `creditbridgectl explain`, which looks for what a signature was
 * made of: the HMAC of @body with any @key; and the plain hash of up to three parts. Return how
 * many bytes of @digest are set; 0: the library failed.
 */
#define SIGNATURE_DIGEST_MAX 64
unsigned int signature_mac(enum signature_algorithm algorithm, struct bytes key, struct bytes body,
	uint8_t digest[SIGNATURE_DIGEST_MAX]);
unsigned int signature_hash(enum signature_algorithm algorithm, const struct bytes parts[3],
	uint8_t digest[SIGNATURE_DIGEST_MAX]);

/* Fills @secret with a new key: 32 random bytes as 64 hex characters. False: no randomness. */
bool signature_new_secret(char secret[KEY_SECRET_SIZE]);

/*
 * Fills @id with @size - 1 random lower-case base32 characters (player_id, request and operation ids).
 * Nobody can tell the next one, but it is no key. False: no randomness.
 */
bool signature_random_id(char *id, size_t size);

/* A random number, such as a sender's. False: no randomness. */
bool signature_random_number(uint64_t *number);

#endif
