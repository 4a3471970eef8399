/*
 * keyslots - the live keys of a dealer or of a client.
 */
#ifndef LEDGER_ROWS_KEYSLOTS_H
#define LEDGER_ROWS_KEYSLOTS_H

#include "domain/records.h"

/* Returns true for 64 hex characters. */
bool keyslots_secret_valid(const char *secret);

/* Writes the id of the key with the sequence number @issued. */
void keyslots_name(char key_id[KEY_ID_SIZE], uint32_t issued);

/*
 * Adds a new key to a free slot, writes its id and increments *@issued. Returns
 * REFUSAL_BAD_REQUEST if @secret is not a key, or REFUSAL_TOO_MANY_KEYS.
 */
enum refusal keyslots_add(struct dealer_key keys[DEALER_KEYS_MAX], uint32_t *issued,
	const char *secret, int64_t now_ms, char key_id[KEY_ID_SIZE]);

/* Writes the id of the live key @secret. Returns REFUSAL_KEY_NOT_FOUND if it was retired since. */
enum refusal keyslots_find(const struct dealer_key keys[DEALER_KEYS_MAX], const char *secret,
	char key_id[KEY_ID_SIZE]);

#endif
