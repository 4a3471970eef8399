/*
 * keys - the authentication keys issued by the platform, and the check of x-casino-signature.
 *
 * The file has one key on each line, the 64 hex characters as issued. Empty lines and lines that
 * begin with # are ignored at any length. All keys of the file are valid: while a key is replaced,
 * the file holds the old and the new one. The file is read for every request, so replace it
 * atomically (rename). If the file is unusable, every request is refused.
 */
#ifndef DEALER_KEYS_H
#define DEALER_KEYS_H

#include "domain/records.h"
#include "fcgi/request.h"

#include <stdbool.h>
#include <stddef.h>

#define DEALER_KEY_SLOTS 4

/* The header variables that the dealer reads, as indexes of http_request.headers. */
enum dealer_header { DEALER_SIGNATURE, DEALER_WEBHOOK_ID, DEALER_HEADER_COUNT };

/*
 * Reads the keys of the file at @path; unused slots are "". Returns false with a sentence in @why
 * on failure.
 */
bool keys_read(const char *path, char secrets[DEALER_KEY_SLOTS][KEY_SECRET_SIZE], char *why,
	size_t why_size);

/*
 * Returns true if @request has the header once and it is the HMAC-SHA256 of the raw body under one
 * of the keys, in hex or base64 (contract, "Signature").
 */
bool keys_signed(const char *path, const struct http_request *request);

#endif
