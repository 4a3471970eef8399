#include "wire/signature.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#define DIGEST_MAX   SIGNATURE_DIGEST_MAX
#define SECRET_BYTES 32

static const struct {
	gnutls_mac_algorithm_t mac;
	gnutls_digest_algorithm_t hash;
	unsigned int size;
} algorithms[SIGNATURE_ALGORITHM_COUNT] = {
	[HMAC_SHA256] = {GNUTLS_MAC_SHA256, GNUTLS_DIG_SHA256, 32},
	[HMAC_SHA512] = {GNUTLS_MAC_SHA512, GNUTLS_DIG_SHA512, 64},
	[HMAC_SHA1] = {GNUTLS_MAC_SHA1, GNUTLS_DIG_SHA1, 20},
};

/* Sets all of @text, so that two texts can be compared at full length. */
static bool encode_digest(enum signature_encoding encoding, uint8_t *digest, unsigned int size,
	char text[SIGNATURE_TEXT_MAX])
{
	gnutls_datum_t raw = {digest, size};
	gnutls_datum_t base64;
	size_t text_size = SIGNATURE_TEXT_MAX;

	memset(text, 0, SIGNATURE_TEXT_MAX);
	if (encoding == ENCODING_HEX)
		return gnutls_hex_encode(&raw, text, &text_size) == GNUTLS_E_SUCCESS;
	if (gnutls_base64_encode2(&raw, &base64) < 0)
		return false;
	if (base64.size < SIGNATURE_TEXT_MAX)
		memcpy(text, base64.data, base64.size);
	gnutls_free(base64.data);
	return text[0] != '\0';
}

bool signature_make(enum signature_algorithm algorithm, enum signature_encoding encoding,
	const char *secret, const void *body, size_t len, char text[SIGNATURE_TEXT_MAX])
{
	uint8_t digest[DIGEST_MAX];
	bool made;

	text[0] = '\0';
	if ((unsigned int)algorithm >= SIGNATURE_ALGORITHM_COUNT ||
		(unsigned int)encoding >= SIGNATURE_ENCODING_COUNT)
		return false;
	made = gnutls_hmac_fast(algorithms[algorithm].mac, secret, strlen(secret), len ? body : "",
		       len, digest) == GNUTLS_E_SUCCESS &&
		encode_digest(encoding, digest, algorithms[algorithm].size, text);
	gnutls_memset(digest, 0, sizeof(digest));
	if (!made)
		text[0] = '\0';
	return made;
}

/* The digits of hex in lower case and of base64, in the order of their values. */
static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
#define HEX_BITS    4
#define BASE64_BITS 6

/* Returns the value of the digit @c, which is not NUL, or -1. */
static int digit_value(const char *digits, char c)
{
	const char *digit;

	if (digits == hex_digits && c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	digit = strchr(digits, c);
	return digit ? (int)(digit - digits) : -1;
}

/*
 * Decodes the @len digits of @text, whose bytes fit into @to. Bits that remain at the end must be
 * 0, as every encoder writes them: a signature has one spelling in base64.
 */
static bool decode_digits(const char *text, size_t len, const char *digits, unsigned int width,
	uint8_t *to)
{
	unsigned int value = 0, bits = 0;

	for (size_t i = 0; i < len; i++) {
		int digit = digit_value(digits, text[i]);

		if (digit < 0)
			return false;
		value = (value << width | (unsigned int)digit) & 0xffff;
		bits += width;
		if (bits < 8)
			continue;
		bits -= 8;
		*to++ = (uint8_t)(value >> bits);
	}
	return !(value & ((1u << bits) - 1));
}

bool signature_read(const char *text, struct signature *given)
{
	size_t len = strnlen(text, SIGNATURE_TEXT_MAX);

	memset(given, 0, sizeof(*given));
	for (unsigned int i = 0; i < SIGNATURE_ALGORITHM_COUNT; i++) {
		size_t size = algorithms[i].size, padding = (3 - size % 3) % 3;

		given->algorithm = (enum signature_algorithm)i;
		if (len == 2 * size)
			return decode_digits(text, len, hex_digits, HEX_BITS, given->digest);
		if (len == (size + 2) / 3 * 4)
			return strspn(text + len - padding, "=") == padding &&
				decode_digits(text, len - padding, base64_digits, BASE64_BITS,
					given->digest);
	}
	return false;
}

bool signature_verify(const struct signature *given, const char *secret, const void *body,
	size_t len)
{
	const struct bytes key = {(const uint8_t *)secret, (uint32_t)strlen(secret)};
	uint8_t expected[DIGEST_MAX];
	unsigned int size =
		signature_mac(given->algorithm, key, (struct bytes){body, (uint32_t)len}, expected);
	bool same = size && signature_equal(given->digest, expected, size);

	gnutls_memset(expected, 0, sizeof(expected));
	/* An unused key slot has an empty secret, with which anyone could make signatures. */
	return secret[0] && same;
}

bool signature_equal(const void *one, const void *other, size_t len)
{
	return gnutls_memcmp(one, other, len) == 0;
}

bool signature_algorithm_of(size_t len, enum signature_algorithm *algorithm)
{
	for (unsigned int i = 0; i < SIGNATURE_ALGORITHM_COUNT; i++) {
		if (algorithms[i].size == len) {
			*algorithm = (enum signature_algorithm)i;
			return true;
		}
	}
	return false;
}

unsigned int signature_mac(enum signature_algorithm algorithm, struct bytes key, struct bytes body,
	uint8_t digest[SIGNATURE_DIGEST_MAX])
{
	return gnutls_hmac_fast(algorithms[algorithm].mac, key.len ? key.data : (const uint8_t *)"",
		       key.len, body.len ? body.data : (const uint8_t *)"", body.len,
		       digest) == GNUTLS_E_SUCCESS
		? algorithms[algorithm].size
		: 0;
}

unsigned int signature_hash(enum signature_algorithm algorithm, const struct bytes parts[3],
	uint8_t digest[SIGNATURE_DIGEST_MAX])
{
	gnutls_hash_hd_t hash;
	int rc = gnutls_hash_init(&hash, algorithms[algorithm].hash);

	if (rc < 0)
		return 0;
	for (unsigned int i = 0; i < 3 && rc >= 0; i++) {
		if (parts[i].len)
			rc = gnutls_hash(hash, parts[i].data, parts[i].len);
	}
	gnutls_hash_deinit(hash, digest);
	return rc < 0 ? 0 : algorithms[algorithm].size;
}

bool signature_new_secret(char secret[KEY_SECRET_SIZE])
{
	uint8_t random[SECRET_BYTES];
	gnutls_datum_t raw = {random, sizeof(random)};
	size_t size = KEY_SECRET_SIZE;
	bool made;

	made = gnutls_rnd(GNUTLS_RND_KEY, random, sizeof(random)) == GNUTLS_E_SUCCESS &&
		gnutls_hex_encode(&raw, secret, &size) == GNUTLS_E_SUCCESS;
	gnutls_memset(random, 0, sizeof(random));
	if (!made)
		memset(secret, 0, KEY_SECRET_SIZE);
	return made;
}

bool signature_random_id(char *id, size_t size)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

	if (!size)
		return false;
	if (gnutls_rnd(GNUTLS_RND_NONCE, id, size - 1) != GNUTLS_E_SUCCESS) {
		memset(id, 0, size);
		return false;
	}
	for (size_t i = 0; i < size - 1; i++)
		id[i] = alphabet[(unsigned char)id[i] & 31];
	id[size - 1] = '\0';
	return true;
}

bool signature_random_number(uint64_t *number)
{
	return gnutls_rnd(GNUTLS_RND_NONCE, number, sizeof(*number)) == GNUTLS_E_SUCCESS;
}
