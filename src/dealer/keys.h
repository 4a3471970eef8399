/*
 * keys - the authentication keys that the platform issued, and the check of x-casino-signature.
 *
 * The file holds one key a line, the 64 hex characters as issued; empty lines and lines that begin
 * with #, of any length, count nothing. All of its keys are live: while a key is replaced the file
 * holds the old and the new one. It is read for every request, so replace it at once (rename); a
 * file that cannot be used lets nobody in.
 */
#ifndef DEALER_KEYS_H
#define DEALER_KEYS_H

#include "domain/records.h"
#include "fcgi/request.h"

#include <stdbool.h>
#include <stddef.h>

#define DEALER_KEY_SLOTS 4

/* The header variables that the dealer reads: indexes of http_request.headers. */
enum dealer_header { DEALER_SIGNATURE, DEALER_WEBHOOK_ID, DEALER_HEADER_COUNT };

/* Reads the keys of the file at @path; unused slots are "". False: a sentence is in @why. */
bool keys_read(const char *path, char secrets[DEALER_KEY_SLOTS][KEY_SECRET_SIZE], char *why,
	size_t why_size);

/*
 * True: @request has the header once, and it is the HMAC-SHA256 in hex of the raw body under one
 * of the keys (api.md, Signature).
 */
bool keys_signed(const char *path, const struct http_request *request);

#endif
