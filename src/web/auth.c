#include "web/auth.h"

#include "base/pack.h"
#include "base/text.h"
#include "web/request/headers.h"
#include "wire/signature.h"

#include <stdlib.h>
#include <string.h>

/* Attempts to read a keyring that keeps changing. */
#define FETCH_TRIES 8

/* A keyring that is being read. */
struct fetch {
	struct keyring_entry *entries;
	uint32_t count;
	uint32_t cap;
	uint64_t generation;
};

static void entries_free(struct keyring_entry *entries, uint32_t count)
{
	if (entries)
		explicit_bzero(entries, count * sizeof(*entries));
	free(entries);
}

bool auth_init(struct auth *auth, enum keyring_of of)
{
	memset(auth, 0, sizeof(*auth));
	auth->of = of;
	for (size_t i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!signature_new_secret(auth->unknown.keys[i].secret))
			return false;
	}
	return true;
}

void auth_free(struct auth *auth)
{
	entries_free(auth->entries, auth->count);
	explicit_bzero(auth, sizeof(*auth));
}

static void fetch_restart(struct fetch *fetch)
{
	entries_free(fetch->entries, fetch->cap);
	memset(fetch, 0, sizeof(*fetch));
}

/* Makes room for @more entries. Not by realloc(), which would leave a copy of keys. */
static enum status fetch_grow(struct fetch *fetch, uint32_t more)
{
	struct keyring_entry *entries;
	uint32_t cap = fetch->cap ? fetch->cap : 16;

	if (more > AUTH_CALLERS_MAX - fetch->count)
		return STATUS_CORRUPT;
	while (cap < fetch->count + more)
		cap *= 2;
	if (cap == fetch->cap)
		return STATUS_OK;
	entries = calloc(cap, sizeof(*entries));
	if (!entries)
		return STATUS_NOMEM;
	if (fetch->count)
		memcpy(entries, fetch->entries, fetch->count * sizeof(*entries));
	entries_free(fetch->entries, fetch->cap);
	fetch->entries = entries;
	fetch->cap = cap;
	return STATUS_OK;
}

/* Takes the entries of one page. They must continue in the order of casino_id. */
static enum status fetch_page(struct fetch *fetch, const struct keyring_result *page)
{
	struct bytes rows = page->entries;
	struct keyring_entry *entry;
	enum status status = fetch_grow(fetch, page->count);

	if (status != STATUS_OK)
		return status;
	if (page->more && page->count == 0)
		return STATUS_CORRUPT;
	for (uint32_t i = 0; i < page->count; i++) {
		entry = &fetch->entries[fetch->count];
		if (!unpack_record(&rows, keyring_entry_fields, entry))
			return STATUS_CORRUPT;
		if (fetch->count && strcmp(entry[-1].casino_id, entry->casino_id) >= 0)
			return STATUS_CORRUPT;
		fetch->count++;
	}
	return rows.len == 0 ? STATUS_OK : STATUS_CORRUPT;
}

/*
 * Reads a complete keyring of one generation into @fetch. *@unchanged: it has the generation of
 * @auth, and @fetch is empty.
 */
static enum status fetch_all(const struct auth *auth, struct fetch *fetch, struct link *link,
	int64_t deadline_ms, bool *unchanged)
{
	uint64_t known = auth->generation;
	struct keyring_cmd cmd;
	struct keyring_result page;
	enum status status;
	unsigned int tries = 0;

	do {
		/* Only the first page may be answered by "unchanged". */
		memset(&cmd, 0, sizeof(cmd));
		cmd.of = auth->of;
		if (fetch->count)
			text_copy(cmd.after, sizeof(cmd.after),
				fetch->entries[fetch->count - 1].casino_id);
		else
			cmd.generation = known;
		memset(&page, 0, sizeof(page));
		status = link_call(link, COMMAND_KEYRING, &cmd, &page, deadline_ms);
		if (status != STATUS_OK)
			return status;
		if (page.verdict.refusal != REFUSAL_NONE)
			return STATUS_BUSY;
		*unchanged = page.unchanged && known && page.generation == known;
		if (*unchanged)
			return STATUS_OK;
		if (fetch->count && page.generation != fetch->generation) {
			if (++tries == FETCH_TRIES)
				return STATUS_BUSY;
			fetch_restart(fetch);
			page.more = true;
			continue;
		}
		fetch->generation = page.generation;
		status = fetch_page(fetch, &page);
		if (status != STATUS_OK)
			return status;
	} while (page.more);
	return STATUS_OK;
}

/* Updates the keys, unless the ledger confirmed them within AUTH_FRESH_MS. */
static enum status auth_refresh(struct auth *auth, struct link *link, int64_t now_ms,
	int64_t deadline_ms)
{
	struct fetch fetch = {.entries = NULL};
	bool unchanged = false;
	enum status status;

	if (auth->generation && auth->generation == link->generation &&
		now_ms - link->asked_ms <= AUTH_FRESH_MS)
		return STATUS_OK;
	status = fetch_all(auth, &fetch, link, deadline_ms, &unchanged);
	if (status == STATUS_OK && !unchanged) {
		entries_free(auth->entries, auth->count);
		auth->entries = fetch.entries;
		auth->count = fetch.count;
		auth->generation = fetch.generation;
		return STATUS_OK;
	}
	fetch_restart(&fetch);
	return status;
}

static int entry_compare(const void *casino_id, const void *entry)
{
	return strcmp(casino_id, ((const struct keyring_entry *)entry)->casino_id);
}

/* A signature, as it was sent. */
struct given {
	const char *text;
	enum signature_algorithm algorithm;
	enum signature_encoding encoding;
};

/*
 * Returns true if one of @found's keys signed @request. With @found NULL it does the same work
 * and returns false. The work is one HMAC for each key slot. Its algorithm follows from the
 * length of @given, so the work depends on nothing that only the key's owner knows. With @lean,
 * only existing keys cost work.
 */
static bool is_signed_by(const struct auth *auth, const struct keyring_entry *found, bool lean,
	const struct http_request *request, const struct given *given)
{
	bool usable = found && found->signature_algorithm == given->algorithm &&
		found->signature_encoding == given->encoding;

	for (unsigned int slot = 0; slot < DEALER_KEYS_MAX; slot++) {
		bool live = usable && found->keys[slot].key_id[0] != '\0';

		if (lean && !live && slot)
			continue;
		if (signature_verify(given->algorithm, given->encoding,
			    live ? found->keys[slot].secret : auth->unknown.keys[slot].secret,
			    request->body, request->body_len, given->text) && live)
			return true;
	}
	return false;
}

/* Like is_signed_by(), within the budget of wrong signatures. */
static bool verify_within_budget(struct auth *auth, const struct keyring_entry *found,
	const struct http_request *request, const char *caller_id, const struct given *given)
{
	const struct flood_request what = {
		.address = request->remote_address.value ? request->remote_address.value : "",
		.caller_id = caller_id,
		.exists = found != NULL,
		.body_len = request->body_len,
		.now_ms = request->boot_ms,
	};
	enum flood_room room = auth->flood ? flood_enter(auth->flood, &what) : FLOOD_ROOM;
	bool good;

	if (room == FLOOD_REFUSED) {
		auth->why = AUTH_FLOOD;
		return false;
	}
	good = is_signed_by(auth, found, room == FLOOD_LEAN, request, given);
	if (auth->flood)
		flood_leave(auth->flood, &what, good);
	return good;
}

enum status auth_check(struct auth *auth, struct link *link, const struct http_request *request,
	int64_t now_ms, int64_t deadline_ms, const struct keyring_entry **caller)
{
	bool is_dealer = auth->of == KEYRING_DEALERS;
	const struct http_variable *id =
		&request->headers[is_dealer ? HEADER_CASINO_ID : HEADER_CLIENT_ID];
	const struct http_variable *signature =
		&request->headers[is_dealer ? HEADER_SIGNATURE : HEADER_CLIENT_SIGNATURE];
	const struct keyring_entry *found = NULL;
	struct given given = {.text = signature->value};
	enum status status;

	*caller = NULL;
	auth->why = AUTH_HEADERS;
	status = auth_refresh(auth, link, now_ms, deadline_ms);
	if (status != STATUS_OK)
		return status;
	if (!http_header_is_single(id) || !http_header_is_single(signature))
		return STATUS_OK;
	if (auth->count)
		found = bsearch(id->value, auth->entries, auth->count, sizeof(*auth->entries),
			entry_compare);
	auth->why = found ? AUTH_SIGNATURE : AUTH_UNKNOWN;
	/* A header that cannot be a signature is rejected without an HMAC. */
	if (signature_form(given.text, &given.algorithm, &given.encoding) &&
		verify_within_budget(auth, found, request, id->value, &given)) {
		*caller = found;
		auth->why = AUTH_UNKNOWN;
	}
	return STATUS_OK;
}
