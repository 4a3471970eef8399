/* digest - SHA-256 of data that is added in pieces. */
#ifndef WIRE_DIGEST_H
#define WIRE_DIGEST_H

#include "domain/sizes.h"

#include <stdbool.h>
#include <stddef.h>

struct digest {
	void *handle; /* NULL: the library failed (memory), or the digest was ended */
};

/* Begins a digest. Release it with digest_end(). */
void digest_begin(struct digest *digest);
void digest_add(struct digest *digest, const void *data, size_t len);
/*
 * Writes the digest of the data added so far. More may be added later. Returns false if the library
 * failed.
 */
bool digest_text(const struct digest *digest, char text[DIGEST_TEXT_SIZE]);
void digest_end(struct digest *digest);

#endif
