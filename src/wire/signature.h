/*
 * signature - x-casino-signature: an HMAC over the raw bytes of a body (contract, "Signature").
 *
 * The key is the characters of the secret as issued, not their decoded value.
 */
#ifndef WIRE_SIGNATURE_H
#define WIRE_SIGNATURE_H

#include "domain/records.h"

#include <stdbool.h>
#include <stddef.h>

/* Size for any signature as text: SHA-512 in hex, and the NUL. */
#define SIGNATURE_TEXT_MAX 129

/*
 * Writes the signature of @body in lower-case hex or base64. An empty body is signed as the empty
 * string. Returns false if the library failed (memory); @text is then "".
 */
bool signature_make(enum signature_algorithm algorithm, enum signature_encoding encoding,
	const char *secret, const void *body, size_t len, char text[SIGNATURE_TEXT_MAX]);

/*
 * Finds the algorithm and the encoding of a signature by its length, which is unique for each pair.
 * Returns false if its length or a character fits no pair.
 */
bool signature_form(const char *text, enum signature_algorithm *algorithm,
	enum signature_encoding *encoding);

/*
 * Returns true only if @text is the signature of @body. Hex may be in either case. The comparison
 * takes constant time: the work depends only on @algorithm and @len, even for a malformed @text. An
 * empty @secret (an unused key slot) verifies nothing, with the same work.
 */
bool signature_verify(enum signature_algorithm algorithm, enum signature_encoding encoding,
	const char *secret, const void *body, size_t len, const char *text);

/*
 * Binary digests for `creditbridgectl explain`, which searches for the origin of a signature. They
 * are the HMAC of @body with any @key, and the plain hash of up to three parts. Both return the
 * number of bytes of @digest, or 0 if the library failed.
 */
#define SIGNATURE_DIGEST_MAX 64
unsigned int signature_mac(enum signature_algorithm algorithm, struct bytes key, struct bytes body,
	uint8_t digest[SIGNATURE_DIGEST_MAX]);
unsigned int signature_hash(enum signature_algorithm algorithm, const struct bytes parts[3],
	uint8_t digest[SIGNATURE_DIGEST_MAX]);

/*
 * Fills @secret with a new key: 32 random bytes as 64 hex characters. Returns false if randomness
 * is unavailable.
 */
bool signature_new_secret(char secret[KEY_SECRET_SIZE]);

/*
 * Fills @id with @size - 1 random lower-case base32 characters (player_id, request and operation
 * ids). The next id cannot be guessed, but an id is not a key. Returns false if randomness is
 * unavailable.
 */
bool signature_random_id(char *id, size_t size);

/*
 * Sets *number to a random number, such as a sender's. Returns false if randomness is unavailable.
 */
bool signature_random_number(uint64_t *number);

#endif
