/*
 * explain_search - finds the input of a signature: the key, the form of the key, and the bytes
 * signed.
 */
#include "explain/explain.h"

#include "wire/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The caller's active and retired keys, and the given one. */
#define KEYS_MAX (DEALER_KEYS_MAX + 64 + 1)

enum key_kind { KEY_LIVE, KEY_OLD, KEY_FROM_FILE, KEY_FOREIGN };
struct key {
	enum key_kind kind;
	const char *key_id;
	const char *secret;
	int64_t time_ms; /* when the key was created; for a retired key, when it was retired */
};

/* How the HMAC's key was derived from the characters of a key. */
enum key_form { FORM_AS_ISSUED, FORM_DECODED, FORM_UPPER, FORM_LOWER, FORM_NEWLINE, FORM_COUNT };
static const char *const form_words[FORM_COUNT] = {
	[FORM_DECODED] = "its hex decoded to 32 bytes",
	[FORM_UPPER] = "its letters in upper case",
	[FORM_LOWER] = "its letters in lower case",
	[FORM_NEWLINE] = "a line end after it",
};

struct signature_search {
	const struct explain_case *explain;
	const struct keyring_entry *caller;
	const struct explain_given *given;
	struct explanation *explanation;
	enum signature_algorithm algorithm; /* derived from the length of the signature */
	struct key keys[KEYS_MAX];
	unsigned int key_count;
	unsigned int tries;
};

static bool is_given(const struct signature_search *search, const uint8_t *digest, unsigned int len)
{
	return len == search->given->len && memcmp(digest, search->given->digest, len) == 0;
}

static struct bytes text_bytes(const char *text)
{
	return (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)};
}

/* Returns whether @secret, in @form, produces the signature for @body. */
static bool key_signs(const struct signature_search *search, const char *secret, enum key_form form,
	struct bytes body)
{
	uint8_t digest[SIGNATURE_DIGEST_MAX];
	char text[KEY_SECRET_SIZE + 1] = "";
	struct bytes key = {(const uint8_t *)text, (uint32_t)strlen(secret)};
	unsigned int byte;

	for (uint32_t i = 0; i < key.len; i++)
		text[i] = (char)(form == FORM_UPPER  ? toupper((uint8_t)secret[i])
				: form == FORM_LOWER ? tolower((uint8_t)secret[i])
						     : secret[i]);
	if (form == FORM_NEWLINE)
		text[key.len++] = '\n';
	if (form == FORM_DECODED) {
		key.len /= 2;
		for (uint32_t i = 0; i < key.len; i++) {
			sscanf(secret + 2 * i, "%2x", &byte);
			text[i] = (char)byte;
		}
	}
	byte = signature_mac(search->algorithm, key, body, digest);
	explicit_bzero(text, sizeof(text));
	return is_given(search, digest, byte);
}

static void add_key(struct signature_search *search, enum key_kind kind, const char *key_id,
	const char *secret, int64_t time_ms)
{
	if (secret[0] && search->key_count < KEYS_MAX)
		search->keys[search->key_count++] = (struct key){kind, key_id, secret, time_ms};
}

static void gather_keys(struct signature_search *search)
{
	const struct explain_case *explain = search->explain;

	for (unsigned int i = 0; search->caller && i < DEALER_KEYS_MAX; i++) {
		const struct dealer_key *key = &search->caller->keys[i];

		if (key->key_id[0])
			add_key(search, KEY_LIVE, key->key_id, key->secret, key->created_ms);
	}
	for (uint32_t i = 0; i < explain->retired_count; i++)
		add_key(search, KEY_OLD, explain->retired[i].key_id, explain->retired[i].secret,
			explain->retired[i].retired_ms);
	if (explain->given_secret)
		add_key(search, KEY_FROM_FILE, "", explain->given_secret, 0);
}

/* ---- findings */

/* "2025-01-31 12:00:00 UTC" */
static void time_text(int64_t time_ms, char text[32])
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, 32, "%Y-%m-%d %H:%M:%S UTC", &tm))
		text[0] = '\0';
}

static void tell_key(struct signature_search *search, const struct key *key, enum key_form form)
{
	char time[32];

	time_text(key->time_ms, time);
	if (key->kind == KEY_OLD)
		explain_add(search->explanation, CAUSE_KEY_RETIRED,
			"it is a signature of key %s, which was retired at %s", key->key_id, time);
	if (key->kind == KEY_FROM_FILE)
		explain_add(search->explanation, CAUSE_KEY_GIVEN,
			"it is a signature of the key that was given by --key-file");
	if (form != FORM_AS_ISSUED)
		explain_add(search->explanation, CAUSE_KEY_FORM,
			"it is a signature of key %s, but with %s",
			key->key_id[0] ? key->key_id : "that was given", form_words[form]);
}

/* Reports where algorithm and encoding differ from the dealer's settings. */
static void tell_writing(struct signature_search *search, const struct keyring_entry *owner)
{
	static const char *const words[WRITTEN_COUNT] = {"hex", "base64",
		"base64 of the hex characters"};
	enum explain_writing writing = search->given->writing;
	bool right = owner->signature_encoding == ENCODING_HEX ? writing == WRITTEN_HEX
							       : writing == WRITTEN_BASE64;

	if (!right)
		explain_add(search->explanation, CAUSE_ENCODING_WRONG,
			"the HMAC is right but written as %s; here it is %s", words[writing],
			signature_encoding_names[owner->signature_encoding]);
	if (search->algorithm != owner->signature_algorithm)
		explain_add(search->explanation, CAUSE_ALGORITHM_WRONG,
			"it is made by %s; here it is %s",
			signature_algorithm_names[search->algorithm],
			signature_algorithm_names[owner->signature_algorithm]);
}

/* Reports that the signature is valid under the current settings and keys. */
static void tell_right(struct signature_search *search, const struct key *key)
{
	if (key->time_ms > search->explain->request.time_ms)
		explain_add(search->explanation, CAUSE_SIGNATURE_RIGHT,
			"it is a signature of the live key %s, which was issued after the request",
			key->key_id);
	else
		explain_add(search->explanation, CAUSE_SIGNATURE_RIGHT,
			"it is a signature of the live key %s: what the dealer is set to was "
			"changed since",
			key->key_id);
}

/* ---- search */

/* Tries the caller's keys on @body, and reports the key that matches. */
static bool try_signed_body(struct signature_search *search, struct bytes body, enum key_form forms)
{
	for (unsigned int form = FORM_AS_ISSUED; form < forms; form++) {
		for (unsigned int i = 0; i < search->key_count; i++) {
			if (!key_signs(search, search->keys[i].secret, (enum key_form)form, body))
				continue;
			tell_key(search, &search->keys[i], (enum key_form)form);
			if (search->caller)
				tell_writing(search, search->caller);
			return true;
		}
	}
	return false;
}

static bool try_sent(struct signature_search *search)
{
	const struct bytes body = search->explain->request.body;

	if (!try_signed_body(search, body, FORM_COUNT))
		return false;
	for (unsigned int i = 0; i < search->key_count && !search->explanation->count; i++) {
		if (search->keys[i].kind == KEY_LIVE &&
			key_signs(search, search->keys[i].secret, FORM_AS_ISSUED, body))
			tell_right(search, &search->keys[i]);
	}
	return true;
}

/* Tries plain hashes, and an HMAC with its arguments swapped. */
static bool try_hashes(struct signature_search *search)
{
	const struct bytes body = search->explain->request.body, none = {NULL, 0};
	uint8_t digest[SIGNATURE_DIGEST_MAX];
	unsigned int len;

	for (unsigned int i = 0; i <= search->key_count; i++) {
		const struct bytes key =
			i < search->key_count ? text_bytes(search->keys[i].secret) : none;
		const struct bytes orders[][3] = {{key, body, none}, {body, key, none}};

		for (unsigned int order = 0; order < 2; order++) {
			len = signature_hash(search->algorithm, orders[order], digest);
			if (!is_given(search, digest, len))
				continue;
			explain_add(search->explanation, CAUSE_NOT_HMAC,
				"it is a plain hash of the body%s, which is no HMAC",
				!key.len        ? ""
					: order ? " with the key after it"
						: " with the key before it");
			return true;
		}
		len = signature_mac(search->algorithm, body, key, digest);
		if (!key.len || !is_given(search, digest, len))
			continue;
		explain_add(search->explanation, CAUSE_ARGUMENTS_SWAPPED,
			"it is an HMAC of the key, with the body as its key");
		return true;
	}
	return false;
}

/* Tries the keys of all other owners on the received body. */
static bool try_others(struct signature_search *search)
{
	static const char *const words[KEYRING_OF_COUNT] = {"dealer", "game server"};
	const struct explain_case *explain = search->explain;

	for (unsigned int of = 0; of < KEYRING_OF_COUNT; of++) {
		for (uint32_t i = 0; i < explain->caller_count[of]; i++) {
			const struct keyring_entry *entry = &explain->callers[of][i];

			for (unsigned int n = 0; entry != search->caller && n < DEALER_KEYS_MAX;
				n++) {
				if (!entry->keys[n].key_id[0] || !entry->keys[n].secret[0] ||
					!key_signs(search, entry->keys[n].secret, FORM_AS_ISSUED,
						explain->request.body))
					continue;
				explain_add(search->explanation, CAUSE_KEY_OF_OTHER,
					"it is a signature of key %s of the %s '%s'",
					entry->keys[n].key_id, words[of], entry->caller_id);
				return true;
			}
		}
	}
	return false;
}

/* ---- other bodies */

/* An explain_try: tries @body and reports a match. */
static bool try_other_body(void *context, struct bytes body, enum explain_cause cause,
	const char *what)
{
	struct signature_search *search = context;
	const struct bytes sent = search->explain->request.body;

	if (search->tries++ >= EXPLAIN_TRIES_MAX ||
		(body.len == sent.len &&
			(!body.len || memcmp(body.data, sent.data, body.len) == 0)))
		return false;
	if (!try_signed_body(search, body, FORM_DECODED))
		return false;
	explain_add(search->explanation, cause, "what was signed is not what was sent, but %s",
		what);
	return true;
}

bool explain_search(const struct explain_case *explain, const struct keyring_entry *caller,
	const struct explain_given *given, struct explanation *explanation)
{
	struct signature_search search = {.explain = explain,
		.caller = caller,
		.given = given,
		.explanation = explanation,
		.algorithm = given->len == 20 ? HMAC_SHA1
			: given->len == 64    ? HMAC_SHA512
					      : HMAC_SHA256};
	bool found;

	gather_keys(&search);
	found = try_sent(&search) || try_hashes(&search) || try_others(&search) ||
		explain_other_bodies(&explain->request, try_other_body, &search);
	explicit_bzero(&search, sizeof(search));
	return found;
}
