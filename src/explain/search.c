/*
 * explain_search - finds the input of a signature: the key, the form of the key, and the bytes
 * signed.
 */
#include "explain/explain.h"

#include "base/text.h"
#include "wire/key_use.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum key_kind { KEY_LIVE, KEY_OLD, KEY_FROM_FILE };
/* The key that made the signature. */
struct key {
	enum key_kind kind;
	char key_id[KEY_ID_SIZE]; /* "": of a file */
	int64_t time_ms; /* when the key was created; for a retired key, when it was retired */
};

static const char *const use_words[KEY_USE_COUNT] = {
	[KEY_DECODED] = "its hex decoded to 32 bytes",
	[KEY_UPPER_CASE] = "its letters in upper case",
	[KEY_LOWER_CASE] = "its letters in lower case",
	[KEY_WITH_NEWLINE] = "a line end after it",
};
/* The uses before this one sign the body by HMAC. */
#define SIGNING_USES KEY_HASHED_FIRST

struct signature_search {
	const struct explain_case *explain;
	const struct keyring_entry *caller;
	const struct explain_given *given;
	struct explanation *explanation;
	enum signature_algorithm algorithm; /* derived from the length of the signature */
	unsigned int tries;
	bool blocked; /* the keys can no longer be tried */
};

static struct bytes given_digest(const struct signature_search *search)
{
	return (struct bytes){search->given->digest, search->given->len};
}

/* Asks which key made the signature of @body. Returns false if none did. */
static bool ask_keys(struct signature_search *search, enum key_use use, struct bytes body,
	struct key_try_cmd *cmd, struct key_try_result *result)
{
	const struct explain_case *explain = search->explain;

	cmd->algorithm = search->algorithm;
	cmd->use = use;
	cmd->digest = given_digest(search);
	cmd->body = body;
	memset(result, 0, sizeof(*result));
	search->blocked |=
		!explain->try_keys || !explain->try_keys(explain->try_context, cmd, result);
	return !search->blocked && result->found;
}

/* Finds the caller's key, or the given one, that produces the signature for @body when @use is made of it. */
static bool find_key(struct signature_search *search, enum key_use use, struct bytes body,
	struct key *key)
{
	const char *given = search->explain->given_secret;
	struct key_try_cmd cmd = {.others = false};
	struct key_try_result result;

	*key = (struct key){.kind = KEY_FROM_FILE};
	if (search->caller && !search->blocked) {
		cmd.of = search->explain->request.of;
		text_copy(cmd.caller_id, sizeof(cmd.caller_id), search->caller->caller_id);
		if (ask_keys(search, use, body, &cmd, &result)) {
			key->kind = result.retired ? KEY_OLD : KEY_LIVE;
			text_copy(key->key_id, sizeof(key->key_id), result.key_id);
			key->time_ms = result.time_ms;
			return true;
		}
	}
	return given && key_use_signs(use, search->algorithm, given, body, given_digest(search));
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

static void tell_key(struct signature_search *search, const struct key *key, enum key_use use)
{
	char time[32];

	time_text(key->time_ms, time);
	if (key->kind == KEY_OLD)
		explain_add(search->explanation, CAUSE_KEY_RETIRED,
			"it is a signature of key %s, which was retired at %s", key->key_id, time);
	if (key->kind == KEY_FROM_FILE)
		explain_add(search->explanation, CAUSE_KEY_GIVEN,
			"it is a signature of the key that was given by --key-file");
	if (use != KEY_AS_ISSUED)
		explain_add(search->explanation, CAUSE_KEY_FORM,
			"it is a signature of key %s, but with %s",
			key->key_id[0] ? key->key_id : "that was given", use_words[use]);
}

/* Reports an encoding that is not accepted, and an algorithm that is not the dealer's. */
static void tell_writing(struct signature_search *search, const struct keyring_entry *owner)
{
	static const char *const wrong[WRITTEN_COUNT] = {
		[WRITTEN_BASE64_OTHER] = "base64 of the URL-safe alphabet or without its padding",
		[WRITTEN_BASE64_OF_HEX] = "base64 of the hex characters",
	};
	const char *words = wrong[search->given->writing];

	if (words)
		explain_add(search->explanation, CAUSE_ENCODING_WRONG,
			"the HMAC is right but written as %s; hex and standard base64 are accepted",
			words);
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

/* Tries the caller's keys on @body, in the uses before @uses. Reports the key that matches. */
static bool try_signed_body(struct signature_search *search, struct bytes body, enum key_use uses,
	struct key *key)
{
	for (unsigned int use = KEY_AS_ISSUED; use < uses; use++) {
		if (!find_key(search, (enum key_use)use, body, key))
			continue;
		tell_key(search, key, (enum key_use)use);
		if (search->caller)
			tell_writing(search, search->caller);
		return true;
	}
	return false;
}

static bool try_sent(struct signature_search *search)
{
	struct key key;

	if (!try_signed_body(search, search->explain->request.body, SIGNING_USES, &key))
		return false;
	if (!search->explanation->count)
		tell_right(search, &key);
	return true;
}

/* Tries a plain hash of the body without a key. */
static bool is_bare_hash(const struct signature_search *search)
{
	const struct bytes none = {NULL, 0};
	const struct bytes parts[] = {search->explain->request.body, none, none};
	uint8_t digest[SIGNATURE_DIGEST_MAX];
	unsigned int len = signature_hash(search->algorithm, parts, digest);

	return len && len == search->given->len && memcmp(digest, search->given->digest, len) == 0;
}

/* Tries plain hashes, and an HMAC with its arguments swapped. */
static bool try_hashes(struct signature_search *search)
{
	const struct bytes body = search->explain->request.body;
	struct key key;
	const bool first = find_key(search, KEY_HASHED_FIRST, body, &key);
	const bool last = !first && find_key(search, KEY_HASHED_LAST, body, &key);

	if (first || last || is_bare_hash(search)) {
		explain_add(search->explanation, CAUSE_NOT_HMAC,
			"it is a plain hash of the body%s, which is no HMAC",
			first          ? " with the key before it"
				: last ? " with the key after it"
				       : "");
		return true;
	}
	if (!find_key(search, KEY_AS_BODY, body, &key))
		return false;
	explain_add(search->explanation, CAUSE_ARGUMENTS_SWAPPED,
		"it is an HMAC of the key, with the body as its key");
	return true;
}

/* Tries the keys of all other owners on the received body. */
static bool try_others(struct signature_search *search)
{
	static const char *const words[KEYRING_OF_COUNT] = {"dealer", "game server"};
	struct key_try_cmd cmd = {.of = search->explain->request.of, .others = true};
	struct key_try_result result = {.more = true};
	bool found = false;

	if (search->caller)
		text_copy(cmd.caller_id, sizeof(cmd.caller_id), search->caller->caller_id);
	while (result.more && !found && !search->blocked) {
		found = ask_keys(search, KEY_AS_ISSUED, search->explain->request.body, &cmd,
			&result);
		cmd.after_of = result.after_of;
		text_copy(cmd.after, sizeof(cmd.after), result.after);
	}
	if (found)
		explain_add(search->explanation, CAUSE_KEY_OF_OTHER,
			"it is a signature of key %s of the %s '%s'", result.key_id,
			words[result.of], result.caller_id);
	return found;
}

/* ---- other bodies */

/* An explain_try: tries @body and reports a match. */
static bool try_other_body(void *context, struct bytes body, enum explain_cause cause,
	const char *what)
{
	struct signature_search *search = context;
	const struct bytes sent = search->explain->request.body;
	struct key key;

	if (search->tries++ >= EXPLAIN_TRIES_MAX ||
		(body.len == sent.len &&
			(!body.len || memcmp(body.data, sent.data, body.len) == 0)))
		return false;
	if (!try_signed_body(search, body, KEY_DECODED, &key))
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
		.algorithm = given->algorithm};
	bool found;

	found = try_sent(&search) || try_hashes(&search) || try_others(&search) ||
		explain_other_bodies(&explain->request, try_other_body, &search);
	return found;
}
