#include "ledger/rows/keyslots.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

bool keyslots_secret_valid(const char *secret)
{
	return strlen(secret) == KEY_SECRET_SIZE - 1 &&
		strspn(secret, "0123456789abcdefABCDEF") == KEY_SECRET_SIZE - 1;
}

void keyslots_name(char key_id[KEY_ID_SIZE], uint32_t issued)
{
	snprintf(key_id, KEY_ID_SIZE, "k%u", issued % 1000000);
}

enum refusal keyslots_add(struct dealer_key keys[DEALER_KEYS_MAX], uint32_t *issued,
	const char *secret, int64_t now_ms, char key_id[KEY_ID_SIZE])
{
	if (!keyslots_secret_valid(secret))
		return REFUSAL_BAD_REQUEST;
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (keys[i].key_id[0])
			continue;
		memset(&keys[i], 0, sizeof(keys[i]));
		keyslots_name(keys[i].key_id, ++*issued);
		text_copy(keys[i].secret, sizeof(keys[i].secret), secret);
		keys[i].created_ms = now_ms;
		text_copy(key_id, KEY_ID_SIZE, keys[i].key_id);
		return REFUSAL_NONE;
	}
	return REFUSAL_TOO_MANY_KEYS;
}

enum refusal keyslots_find(const struct dealer_key keys[DEALER_KEYS_MAX], const char *secret,
	char key_id[KEY_ID_SIZE])
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (keys[i].key_id[0] && strcmp(keys[i].secret, secret) == 0) {
			text_copy(key_id, KEY_ID_SIZE, keys[i].key_id);
			return REFUSAL_NONE;
		}
	}
	return REFUSAL_KEY_NOT_FOUND;
}
