#include "wire/key_use.h"

#include "wire/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Writes the bytes that are the key of the HMAC. @text is zeroed and has room for one more byte. */
static uint32_t form_key(enum key_use use, const char *secret, char text[KEY_SECRET_SIZE + 1])
{
	uint32_t len = (uint32_t)strlen(secret);
	unsigned int byte;

	if (use == KEY_DECODED) {
		for (uint32_t i = 0; i < len / 2; i++) {
			if (sscanf(secret + 2 * i, "%2x", &byte) == 1)
				text[i] = (char)byte;
		}
		return len / 2;
	}
	for (uint32_t i = 0; i < len; i++)
		text[i] = (char)(use == KEY_UPPER_CASE  ? toupper((uint8_t)secret[i])
				: use == KEY_LOWER_CASE ? tolower((uint8_t)secret[i])
							: secret[i]);
	if (use == KEY_WITH_NEWLINE)
		text[len++] = '\n';
	return len;
}

static unsigned int make_digest(enum key_use use, enum signature_algorithm algorithm,
	struct bytes key, struct bytes body, uint8_t digest[SIGNATURE_DIGEST_MAX])
{
	const struct bytes none = {NULL, 0};

	switch (use) {
	case KEY_HASHED_FIRST:
		return signature_hash(algorithm, (const struct bytes[]){key, body, none}, digest);
	case KEY_HASHED_LAST:
		return signature_hash(algorithm, (const struct bytes[]){body, key, none}, digest);
	case KEY_AS_BODY:
		return signature_mac(algorithm, body, key, digest);
	default:
		return signature_mac(algorithm, key, body, digest);
	}
}

bool key_use_signs(enum key_use use, enum signature_algorithm algorithm, const char *secret,
	struct bytes body, struct bytes digest)
{
	char text[KEY_SECRET_SIZE + 1] = "";
	uint8_t made[SIGNATURE_DIGEST_MAX];
	struct bytes key = {(const uint8_t *)text, 0};
	unsigned int len;

	if (!secret[0])
		return false;
	key.len = form_key(use, secret, text);
	len = make_digest(use, algorithm, key, body, made);
	explicit_bzero(text, sizeof(text));
	return len && len == digest.len && signature_equal(made, digest.data, len);
}
