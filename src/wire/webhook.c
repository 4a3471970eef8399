#include "wire/webhook.h"

#include "base/buffer.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Limit of the signed text before the body: id, two points, a number. */
#define HEAD_MAX 128

/* Appends the signature of one key to @text. */
static bool add_signature(const char *secret, const struct buffer *content,
	char text[WEBHOOK_SIGNATURE_MAX])
{
	char signature[SIGNATURE_TEXT_MAX];
	size_t used = strlen(text), size = WEBHOOK_SIGNATURE_MAX - used;
	int written;

	if (!signature_make(HMAC_SHA256, ENCODING_BASE64, secret, content->data, content->len,
		    signature))
		return false;
	written = snprintf(text + used, size, "%sv1,%s", used ? " " : "", signature);
	return written > 0 && (size_t)written < size;
}

static bool key_is_live(const struct dealer_key *key)
{
	return key->key_id[0] && key->secret[0];
}

/* The live keys, the signing one first. */
static bool add_all(const struct dealer_key *keys, const char *signing_key_id,
	const struct buffer *content, char text[WEBHOOK_SIGNATURE_MAX])
{
	const struct dealer_key *signing = NULL;
	bool made;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (key_is_live(&keys[i]) && strcmp(keys[i].key_id, signing_key_id) == 0)
			signing = &keys[i];
	}
	made = signing && add_signature(signing->secret, content, text);
	for (unsigned int i = 0; made && i < DEALER_KEYS_MAX; i++) {
		if (key_is_live(&keys[i]) && &keys[i] != signing)
			made = add_signature(keys[i].secret, content, text);
	}
	return made;
}

bool webhook_sign(const struct dealer_key *keys, const char *signing_key_id, const char *id,
	int64_t timestamp_s, const void *body, size_t len, char text[WEBHOOK_SIGNATURE_MAX])
{
	struct buffer content;
	bool made;

	text[0] = '\0';
	buffer_init(&content, HEAD_MAX + len);
	made = buffer_printf(&content, "%s.%" PRId64 ".", id, timestamp_s) &&
		(!len || buffer_append(&content, body, len)) &&
		add_all(keys, signing_key_id, &content, text);
	buffer_free(&content);
	if (!made)
		text[0] = '\0';
	return made;
}
