#include "console/html/token.h"

#include "wire/digest.h"
#include "wire/signature.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HALF 64 /* hex characters */

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Writes @left xor @right, both of HALF hex characters. Returns false if one is something else. */
static bool mask_half(const char *left, const char *right, char out[HALF + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned int i = 0; i < HALF; i++) {
		int a = hex_value(left[i]), b = hex_value(right[i]);

		if (a < 0 || b < 0)
			return false;
		out[i] = digits[a ^ b];
	}
	out[HALF] = '\0';
	return true;
}

static bool form_secret(const char *session, char text[DIGEST_TEXT_SIZE])
{
	static const char purpose[] = "creditbridge console form";
	struct digest digest;
	bool done;

	digest_begin(&digest);
	digest_add(&digest, purpose, sizeof(purpose));
	digest_add(&digest, session, strlen(session));
	done = digest_text(&digest, text);
	digest_end(&digest);
	return done;
}

bool token_make(const char *session, char token[TOKEN_SIZE])
{
	char secret[DIGEST_TEXT_SIZE], mask[HALF + 1];

	token[0] = '\0';
	if (!session[0] || !form_secret(session, secret) || !signature_new_secret(mask))
		return false;
	memcpy(token, mask, HALF);
	return mask_half(mask, secret, token + HALF);
}

bool token_check(const char *session, const char *token)
{
	char secret[DIGEST_TEXT_SIZE], given[HALF + 1];

	if (!session[0] || strlen(token) != TOKEN_SIZE - 1 || !form_secret(session, secret) ||
		!mask_half(token, token + HALF, given))
		return false;
	return signature_equal(secret, given, HALF);
}
