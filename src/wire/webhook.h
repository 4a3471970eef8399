/*
 * webhook - the signature of Standard Webhooks v1 (contract, "Webhook headers").
 */
#ifndef WIRE_WEBHOOK_H
#define WIRE_WEBHOOK_H

#include "domain/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For each key "v1," and 44 characters of base64, a space between keys, and the NUL. */
#define WEBHOOK_SIGNATURE_MAX (DEALER_KEYS_MAX * 48)

/*
 * Writes the webhook-signature of a body sent at @timestamp_s with the webhook-id @id. Each live
 * key of @keys adds "v1," and the base64 of HMAC-SHA256(the secret's characters, id "." timestamp
 * "." body). The key named @signing_key_id is the first; spaces separate the parts. Returns false
 * if that key is not live or the library failed (memory); @text is then "".
 */
bool webhook_sign(const struct dealer_key *keys, const char *signing_key_id, const char *id,
	int64_t timestamp_s, const void *body, size_t len, char text[WEBHOOK_SIGNATURE_MAX]);

#endif
