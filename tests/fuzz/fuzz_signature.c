/*
 * fuzz_signature - the check of a signature (wire/signature.h): a text is read only if it is the
 * spelling that an encoder writes, and it verifies only the body and the key that made it.
 */
#include "fuzz.h"

#include "wire/signature.h"

#include <ctype.h>

#define KEY   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const unsigned int sizes[SIGNATURE_ALGORITHM_COUNT] =
	{[HMAC_SHA256] = 32, [HMAC_SHA512] = 64, [HMAC_SHA1] = 20};

/* Writes the @size bytes as base64, as RFC 4648 describes it. */
static void write_base64(const uint8_t *data, unsigned int size, char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned int at = 0; at < size; at += 3, text += 4) {
		unsigned int left = size - at;
		uint32_t group = (uint32_t)data[at] << 16 |
			(left > 1 ? (uint32_t)data[at + 1] << 8 : 0) |
			(left > 2 ? data[at + 2] : 0);

		for (unsigned int i = 0; i < 4; i++)
			text[i] = digits[group >> (18 - 6 * i) & 63];
		for (unsigned int i = left + 1; i < 4; i++)
			text[i] = '=';
	}
	*text = '\0';
}

/* Writes the digest in hex, with the letters in the case that @like has there. */
static void write_hex(const struct signature *given, const char *like, char *text)
{
	for (unsigned int i = 0; i < 2 * sizes[given->algorithm]; i++) {
		char digit = "0123456789abcdef"[given->digest[i / 2] >> (i % 2 ? 0 : 4) & 15];

		text[i] = isupper((unsigned char)like[i]) ? (char)toupper(digit) : digit;
	}
	text[2 * sizes[given->algorithm]] = '\0';
}

/* What is read of @text writes @text again. */
static void must_be_canonical(const char *text, const struct signature *given)
{
	char again[SIGNATURE_TEXT_MAX];

	if (strlen(text) == 2 * (size_t)sizes[given->algorithm])
		write_hex(given, text, again);
	else
		write_base64(given->digest, sizes[given->algorithm], again);
	must(strcmp(again, text) == 0);
}

/* The signature of @body is read and verifies it, in every spelling of it and for no other key. */
static void must_verify(enum signature_algorithm algorithm, struct bytes body)
{
	for (unsigned int i = 0; i <= SIGNATURE_ENCODING_COUNT; i++) {
		char text[SIGNATURE_TEXT_MAX];
		struct signature given;

		must(signature_make(algorithm, i == 1 ? ENCODING_BASE64 : ENCODING_HEX, KEY,
			body.data, body.len, text));
		for (char *c = text; i == 2 && *c; c++)
			*c = (char)toupper((unsigned char)*c);
		must(signature_read(text, &given) && given.algorithm == algorithm);
		must(signature_verify(&given, KEY, body.data, body.len));
		must(!signature_verify(&given, OTHER, body.data, body.len));
		must(!signature_verify(&given, "", body.data, body.len));
		must(!body.len || !signature_verify(&given, KEY, body.data, body.len - 1));
		given.digest[body.len % sizes[algorithm]] ^= 1;
		must(!signature_verify(&given, KEY, body.data, body.len));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size};
	enum signature_algorithm algorithm = fuzz_byte(&in) % SIGNATURE_ALGORITHM_COUNT;
	char *text = fuzz_text(in);
	struct signature given;

	if (signature_read(text, &given))
		must_be_canonical(text, &given);
	must_verify(algorithm, in);
	free(text);
	return 0;
}
