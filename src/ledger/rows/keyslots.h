/*
 * keyslots - the live keys of a dealer or of a client.
 */
#ifndef LEDGER_ROWS_KEYSLOTS_H
#define LEDGER_ROWS_KEYSLOTS_H

#include "domain/records.h"

/* True: 64 hex characters. */
bool keyslots_secret_valid(const char *secret);

/* Writes the id of the key that was issued as number @issued. */
void keyslots_name(char key_id[KEY_ID_SIZE], uint32_t issued);

/*
 * Puts a new key into a free slot and names it. REFUSAL_BAD_REQUEST: @secret is no key;
 * REFUSAL_TOO_MANY_KEYS. *@issued counts it.
 */
enum refusal keyslots_add(struct dealer_key keys[DEALER_KEYS_MAX], uint32_t *issued,
	const char *secret, int64_t now_ms, char key_id[KEY_ID_SIZE]);

/* Names the live key that is @secret. REFUSAL_KEY_NOT_FOUND: it was retired since. */
enum refusal keyslots_find(const struct dealer_key keys[DEALER_KEYS_MAX], const char *secret,
	char key_id[KEY_ID_SIZE]);

#endif
