/*
 * explain_signature - explains invalid_signature: the headers, the caller and the encoding of the
 * signature.
 */
#include "explain/explain.h"

#include "base/text.h"
#include "domain/near_id.h"
#include "wire/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const id_headers[KEYRING_OF_COUNT] = {"x-casino-id", "x-client-id"};
static const char *const signature_headers[KEYRING_OF_COUNT] = {"x-casino-signature",
	"x-client-signature"};
static const char *const caller_words[KEYRING_OF_COUNT] = {"dealer", "game server"};

/* ---- the text of a signature */

static int digit_of(uint8_t c, enum explain_writing writing)
{
	static const char hex[] = "0123456789abcdef";
	static const char base64[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found;

	if (!c)
		return -1;
	if (writing == WRITTEN_HEX) {
		found = strchr(hex, tolower(c));
		return found ? (int)(found - hex) : -1;
	}
	/* The URL-safe alphabet has - and _ in place of + and /. */
	found = strchr(base64, c == '-' ? '+' : c == '_' ? '/' : c);
	return found ? (int)(found - base64) : -1;
}

/* Decodes @text to at most @size bytes. Returns their number; 0 if @text has another encoding. */
static size_t decode_signature(struct bytes text, enum explain_writing writing, uint8_t *to,
	size_t size)
{
	unsigned int width = writing == WRITTEN_HEX ? 4 : 6, bits = 0, value = 0;
	size_t len = 0;

	while (writing == WRITTEN_BASE64 && text.len && text.data[text.len - 1] == '=')
		text.len--;
	for (uint32_t i = 0; i < text.len; i++) {
		int digit = digit_of(text.data[i], writing);

		if (digit < 0)
			return 0;
		value = (value << width | (unsigned int)digit) & 0xffff;
		bits += width;
		if (bits < 8)
			continue;
		bits -= 8;
		if (len == size)
			return 0;
		to[len++] = (uint8_t)(value >> bits);
	}
	return writing == WRITTEN_HEX && bits ? 0 : len;
}

/* Fills @given if @text is the hexadecimal form of a digest. */
static bool read_hex(struct bytes text, enum explain_writing writing, struct explain_given *given)
{
	given->len = (unsigned int)decode_signature(text, WRITTEN_HEX, given->digest,
		sizeof(given->digest));
	given->writing = writing;
	return signature_algorithm_of(given->len, &given->algorithm);
}

/* Returns true if the check of signatures can read @text. */
static bool is_accepted(struct bytes text)
{
	char copy[SIGNATURE_TEXT_MAX + 1];
	struct signature signature;

	return text_copy_len(copy, sizeof(copy), (const char *)text.data, text.len) &&
		signature_read(copy, &signature);
}

static bool read_plain(struct bytes text, struct explain_given *given)
{
	uint8_t bytes[160];
	struct bytes inner = {bytes, 0};

	if (read_hex(text, WRITTEN_HEX, given))
		return true;
	inner.len = (uint32_t)decode_signature(text, WRITTEN_BASE64, bytes, sizeof(bytes));
	/* 64 hexadecimal characters have the length of a binary SHA-512, so test them first. */
	if (read_hex(inner, WRITTEN_BASE64_OF_HEX, given))
		return true;
	if (!signature_algorithm_of(inner.len, &given->algorithm))
		return false;
	given->writing = is_accepted(text) ? WRITTEN_BASE64 : WRITTEN_BASE64_OTHER;
	given->len = inner.len;
	memcpy(given->digest, bytes, inner.len);
	return true;
}

/* Removes characters that libraries and people put around a signature. */
static struct bytes strip_decoration(struct bytes text)
{
	static const char *const prefixes[] = {"hmac-sha256", "hmac-sha512", "hmac-sha1", "sha256",
		"sha512", "sha1", "v1", "0x", "signature", "bearer", "hmac", NULL};
	size_t len;

	while (text.len && strchr(" \t\"'<", text.data[0])) {
		text.data++;
		text.len--;
	}
	while (text.len && strchr(" \t\"'>", text.data[text.len - 1]))
		text.len--;
	for (unsigned int i = 0; prefixes[i]; i++) {
		len = strlen(prefixes[i]);
		if (text.len <= len + 1 ||
			strncasecmp((const char *)text.data, prefixes[i], len) != 0)
			continue;
		if (strcmp(prefixes[i], "0x") != 0 && !strchr("=, :", text.data[len]))
			continue;
		text.data += len;
		text.len -= (uint32_t)len;
		while (text.len && strchr("=, :", text.data[0])) {
			text.data++;
			text.len--;
		}
		break;
	}
	return text;
}

bool explain_read_signature(struct bytes text, struct explain_given *given)
{
	uint8_t bare[REFUSED_SIGNATURE_MAX];
	struct bytes stripped;

	memset(given, 0, sizeof(*given));
	if (read_plain(text, given))
		return true;
	given->decorated = true;
	text = strip_decoration(text);
	if (text.len > sizeof(bare))
		return false;
	if (read_plain(text, given))
		return true;
	/* Handles AB-CD-EF, the format of .NET's BitConverter. */
	stripped = (struct bytes){bare, 0};
	for (uint32_t i = 0; i < text.len; i++) {
		if (!strchr("-: ", text.data[i]))
			bare[stripped.len++] = text.data[i];
	}
	return read_plain(stripped, given) && given->writing == WRITTEN_HEX;
}

/* ---- the headers */

/*
 * Returns true if the header occurs exactly once and its value has no comma, space or control
 * character. Otherwise adds a finding.
 */
static bool look_at_header(struct explanation *explanation, const char *name, uint32_t count,
	struct bytes value, const enum explain_cause causes[2])
{
	char c;

	if (!count || !value.len) {
		explain_add(explanation, causes[0], "the header %s is %s", name,
			count ? "empty" : "missing");
		return false;
	}
	if (count > 1) {
		explain_add(explanation, causes[1], "the header %s was sent %u times", name,
			(unsigned int)count);
		return false;
	}
	for (uint32_t i = 0; i < value.len; i++) {
		c = (char)value.data[i];
		if (c != ',' && (uint8_t)c > ' ' && c != 0x7f)
			continue;
		explain_add(explanation, causes[1],
			"the value of %s has %s in it, as its character %u: it was sent twice, or "
			"something was added to it",
			name,
			c == ','           ? "a comma"
				: c == ' ' ? "a space"
					   : "a control character",
			(unsigned int)i + 1);
		return false;
	}
	return true;
}

/* ---- the caller */

static const struct keyring_entry *find_caller(const struct explain_case *explain,
	enum keyring_of of, struct bytes id, bool exact)
{
	for (uint32_t i = 0; i < explain->caller_count[of]; i++) {
		const struct keyring_entry *entry = &explain->callers[of][i];
		size_t len = strlen(entry->caller_id);

		if (len == id.len &&
			(exact ? memcmp(entry->caller_id, id.data, len)
			       : strncasecmp(entry->caller_id, (const char *)id.data, len)) == 0)
			return entry;
	}
	return NULL;
}

static const struct keyring_entry *find_similar(const struct explain_case *explain,
	enum keyring_of of, struct bytes id)
{
	const struct keyring_entry *entry = find_caller(explain, of, id, false);
	char text[CASINO_ID_SIZE + 1];

	if (entry || !text_copy_len(text, sizeof(text), (const char *)id.data, id.len))
		return entry;
	for (uint32_t i = 0; !entry && i < explain->caller_count[of]; i++) {
		if (near_id_edit(explain->callers[of][i].caller_id, text))
			entry = &explain->callers[of][i];
	}
	return entry;
}

/* Returns the id without surrounding quotes, spaces and commas. */
static struct bytes bare_id(struct bytes id)
{
	while (id.len && strchr(" \t\"',<", id.data[0])) {
		id.data++;
		id.len--;
	}
	while (id.len && strchr(" \t\"',>", id.data[id.len - 1]))
		id.len--;
	return id;
}

/* Describes how the id in the header differs from @name. @bare is the id without its surroundings. */
static const char *difference_of(struct bytes sent, struct bytes bare, const char *name)
{
	char text[CASINO_ID_SIZE + 1];
	const char *edit = NULL;

	if (bare.len != sent.len)
		return "what stands around it";
	if (text_copy_len(text, sizeof(text), (const char *)bare.data, bare.len))
		edit = near_id_edit(text, name);
	return edit && !near_id_is(text, name) ? edit : "upper and lower case";
}

const struct keyring_entry *explain_caller(const struct explain_case *explain,
	struct explanation *explanation)
{
	const struct refused_request *request = &explain->request;
	enum keyring_of of = request->of;
	enum keyring_of other = of == KEYRING_DEALERS ? KEYRING_CLIENTS : KEYRING_DEALERS;
	struct bytes bare = bare_id(request->caller);
	const struct keyring_entry *entry = find_caller(explain, of, request->caller, true);

	if (entry || !bare.len)
		return entry;
	entry = find_caller(explain, of, bare, true);
	if (!entry)
		entry = find_similar(explain, of, bare);
	if (entry)
		explain_add(explanation, CAUSE_CALLER_MISSPELT,
			"there is no %s with the id in %s, but there is '%s', which differs in "
			"%s",
			caller_words[of], id_headers[of], entry->caller_id,
			difference_of(request->caller, bare, entry->caller_id));
	else if (find_caller(explain, other, bare, true))
		explain_add(explanation, CAUSE_CALLER_OTHER_MOUNT,
			"the id is that of a %s, and this is where a %s calls", caller_words[other],
			caller_words[of]);
	else
		explain_add(explanation, CAUSE_CALLER_UNKNOWN,
			"there is no %s with the id in %s, nor one with a similar id",
			caller_words[of], id_headers[of]);
	return entry;
}

static bool has_live_key(const struct keyring_entry *entry)
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (entry->keys[i].key_id[0])
			return true;
	}
	return false;
}

/* Reports that the signature is not an HMAC at all. */
static void tell_malformed(const struct explain_case *explain, struct explanation *explanation)
{
	struct bytes text = explain->request.signature;
	uint8_t bytes[REFUSED_SIGNATURE_MAX];
	size_t hex = decode_signature(text, WRITTEN_HEX, bytes, sizeof(bytes));

	if (hex == 16)
		explain_add(explanation, CAUSE_SIGNATURE_MALFORMED,
			"the signature is 32 hex characters: an MD5, which is not accepted");
	else if (hex)
		explain_add(explanation, CAUSE_SIGNATURE_MALFORMED,
			"the signature is %u hex characters: it was cut, or is of another algorithm",
			(unsigned int)text.len);
	else
		explain_add(explanation, CAUSE_SIGNATURE_MALFORMED,
			"the signature, of %u characters, is neither hex nor base64 of an HMAC",
			(unsigned int)text.len);
}

void explain_signature(const struct explain_case *explain, struct explanation *explanation)
{
	static const enum explain_cause id_causes[] = {CAUSE_ID_MISSING, CAUSE_ID_NOT_SINGLE};
	static const enum explain_cause signature_causes[] = {CAUSE_SIGNATURE_MISSING,
		CAUSE_SIGNATURE_NOT_SINGLE};
	const struct refused_request *request = &explain->request;
	bool named = look_at_header(explanation, id_headers[request->of], request->caller_count,
		request->caller, id_causes);
	bool is_signed = look_at_header(explanation, signature_headers[request->of],
		request->signature_count, request->signature, signature_causes);
	const struct keyring_entry *caller = explain_caller(explain, explanation);
	struct explain_given given;

	if (named && caller && !has_live_key(caller))
		explain_add(explanation, CAUSE_KEY_NONE,
			"'%s' has no live key: every signature is "
			"refused",
			caller->caller_id);
	if (!request->signature.len)
		return;
	if (!explain_read_signature(request->signature, &given)) {
		if (is_signed)
			tell_malformed(explain, explanation);
		return;
	}
	if (given.decorated && is_signed)
		explain_add(explanation, CAUSE_SIGNATURE_DECORATED,
			"something stands around the hex or base64 of the signature, or between");
	if (!explain_search(explain, caller, &given, explanation) && named && is_signed && caller) {
		if (!request->body_len)
			explain_add(explanation, CAUSE_BODY_NOT_RECEIVED,
				"the request came without a body, and the signature is of none of "
				"what is tried: the body was lost on its way");
		else
			explain_add(explanation, CAUSE_SIGNATURE_UNEXPLAINED,
				"no live key of '%s' makes it, of the body as it came or as it may "
				"have been: the key is another one, or something changed the body",
				caller->caller_id);
	}
}
