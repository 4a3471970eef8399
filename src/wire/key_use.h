/*
 * key_use - recognises a signature that was made with a key in a right or a wrong way. For
 * `creditbridgectl explain`.
 */
#ifndef WIRE_KEY_USE_H
#define WIRE_KEY_USE_H

#include "domain/records.h"

#include <stdbool.h>

/*
 * Returns true if @digest, the bytes of a signature, is what @algorithm gives for @secret and @body
 * used so. An empty @secret signs nothing. The comparison takes constant time.
 */
bool key_use_signs(enum key_use use, enum signature_algorithm algorithm, const char *secret,
	struct bytes body, struct bytes digest);

#endif
