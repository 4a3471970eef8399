#include "wire/digest.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdint.h>

#define SHA256_SIZE 32

void digest_begin(struct digest *digest)
{
	gnutls_hash_hd_t handle;

	digest->handle = NULL;
	if (gnutls_hash_init(&handle, GNUTLS_DIG_SHA256) == GNUTLS_E_SUCCESS)
		digest->handle = handle;
}

void digest_end(struct digest *digest)
{
	if (digest->handle)
		gnutls_hash_deinit(digest->handle, NULL);
	digest->handle = NULL;
}

void digest_add(struct digest *digest, const void *data, size_t len)
{
	if (digest->handle && len && gnutls_hash(digest->handle, data, len) != GNUTLS_E_SUCCESS)
		digest_end(digest);
}

bool digest_text(const struct digest *digest, char text[DIGEST_TEXT_SIZE])
{
	gnutls_hash_hd_t copy = digest->handle ? gnutls_hash_copy(digest->handle) : NULL;
	uint8_t raw[SHA256_SIZE];
	gnutls_datum_t data = {raw, sizeof(raw)};
	size_t size = DIGEST_TEXT_SIZE;

	text[0] = '\0';
	if (!copy)
		return false;
	gnutls_hash_deinit(copy, raw);
	return gnutls_hex_encode(&data, text, &size) == GNUTLS_E_SUCCESS;
}
