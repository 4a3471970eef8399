/*
 * signature - x-casino-signature: an HMAC over the raw bytes of a body (contract, "Signature").
 *
 * The key is the characters of the secret as issued, not their decoded value. A dealer's encoding
 * decides how signatures to it are written. Signatures from it are read in either encoding.
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

#define SIGNATURE_DIGEST_MAX 64
/* A signature that a caller sent: the bytes of the HMAC. Their number follows from the algorithm. */
struct signature {
	enum signature_algorithm algorithm;
	uint8_t digest[SIGNATURE_DIGEST_MAX];
};

/*
 * Reads a signature. It is hex, with letters of either case, or base64 of the standard alphabet with
 * its padding. The length of the text shows the algorithm and the encoding. Returns false for every
 * other spelling: the URL-safe alphabet, missing padding, another length or character, and base64
 * whose last digit has bits that no encoder sets. The work depends on @text only.
 */
bool signature_read(const char *text, struct signature *given);

/*
 * Returns true only if @given is the signature of @body. The comparison takes constant time: the
 * work depends only on the algorithm and @len. An empty @secret (an unused key slot) verifies
 * nothing, with the same work.
 */
bool signature_verify(const struct signature *given, const char *secret, const void *body,
	size_t len);

/*
 * Returns true if the @len bytes are equal. It takes the same time wherever they differ: secrets, codes and
 * digests of keys are compared with it.
 */
bool signature_equal(const void *one, const void *other, size_t len);

/* Finds the algorithm whose digest has @len bytes. Returns false if none has. */
bool signature_algorithm_of(size_t len, enum signature_algorithm *algorithm);

/*
 * Binary digests for `creditbridgectl explain`, which searches for the origin of a signature. They
 * are the HMAC of @body with any @key, and the plain hash of up to three parts. Both return the
 * number of bytes of @digest, or 0 if the library failed.
 */
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
