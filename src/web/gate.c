#include "web/gate.h"

#include "base/pack.h"
#include "base/text.h"
#include "wire/signature.h"

#include <stdlib.h>
#include <string.h>

/* A keyring that keeps changing while it is read is given up after so many beginnings. */
#define FETCH_TRIES 8

/* A keyring on its way in. */
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

bool gate_init(struct gate *gate, enum keyring_of of)
{
	memset(gate, 0, sizeof(*gate));
	gate->of = of;
	for (size_t i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!signature_new_secret(gate->nobody.keys[i].secret))
			return false;
	}
	return true;
}

void gate_free(struct gate *gate)
{
	entries_free(gate->entries, gate->count);
	explicit_bzero(gate, sizeof(*gate));
}

static void fetch_restart(struct fetch *fetch)
{
	entries_free(fetch->entries, fetch->cap);
	memset(fetch, 0, sizeof(*fetch));
}

/* Makes room for @more entries. Not by realloc(), which would leave keys behind. */
static enum status fetch_grow(struct fetch *fetch, uint32_t more)
{
	struct keyring_entry *entries;
	uint32_t cap = fetch->cap ? fetch->cap : 16;

	if (more > GATE_CALLERS_MAX - fetch->count)
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
 * Reads the whole keyring of one generation into @fetch. *@unchanged: it is still the gate's own
 * generation, and @fetch is empty.
 */
static enum status fetch_all(const struct gate *gate, struct fetch *fetch, struct link *link,
	int64_t deadline_ms, bool *unchanged)
{
	uint64_t known = gate->generation;
	struct keyring_cmd cmd;
	struct keyring_result page;
	enum status status;
	unsigned int tries = 0;

	do {
		/* Only the first page may be answered by "unchanged". */
		memset(&cmd, 0, sizeof(cmd));
		cmd.of = gate->of;
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

/* Brings the keys up to date, unless the ledger vouched for them within GATE_FRESH_MS. */
static enum status gate_refresh(struct gate *gate, struct link *link, int64_t now_ms,
	int64_t deadline_ms)
{
	struct fetch fetch = {.entries = NULL};
	bool unchanged = false;
	enum status status;

	if (gate->generation && gate->generation == link->generation &&
		now_ms - link->asked_ms <= GATE_FRESH_MS)
		return STATUS_OK;
	status = fetch_all(gate, &fetch, link, deadline_ms, &unchanged);
	if (status == STATUS_OK && !unchanged) {
		entries_free(gate->entries, gate->count);
		gate->entries = fetch.entries;
		gate->count = fetch.count;
		gate->generation = fetch.generation;
		return STATUS_OK;
	}
	fetch_restart(&fetch);
	return status;
}

static int entry_compare(const void *casino_id, const void *entry)
{
	return strcmp(casino_id, ((const struct keyring_entry *)entry)->casino_id);
}

/*
 * True: one of @found's keys signed @request; with @found NULL as much work for nothing. A caller
 * who signed well is let in soon: the dealer's own algorithm is tried with all keys at first.
 */
static bool signed_by(const struct gate *gate, const struct keyring_entry *found,
	const struct http_request *request, const char *signature)
{
	const struct keyring_entry *entry = found ? found : &gate->nobody;

	for (unsigned int n = 0; n < GATE_WORK; n++) {
		unsigned int slot = n % DEALER_KEYS_MAX, turn = n / DEALER_KEYS_MAX;
		bool live = found && found->keys[slot].key_id[0] != '\0';
		const char *secret = live ? found->keys[slot].secret
					  : gate->nobody.keys[slot].secret;
		bool matches = signature_verify(
			(entry->signature_algorithm + turn) % SIGNATURE_ALGORITHM_COUNT,
			entry->signature_encoding, secret, request->body, request->body_len,
			signature);

		if (matches && live && turn == 0)
			return true;
	}
	return false;
}

enum status gate_check(struct gate *gate, struct link *link, const struct http_request *request,
	int64_t now_ms, int64_t deadline_ms, const struct keyring_entry **caller)
{
	bool is_dealer = gate->of == KEYRING_DEALERS;
	const struct http_variable *id = is_dealer ? &request->casino_id : &request->client_id;
	const struct http_variable *signature =
		is_dealer ? &request->signature : &request->client_signature;
	const struct keyring_entry *found = NULL;
	bool headers_ok;
	enum status status;

	*caller = NULL;
	gate->why = AUTH_UNKNOWN;
	status = gate_refresh(gate, link, now_ms, deadline_ms);
	if (status != STATUS_OK)
		return status;
	headers_ok = http_header_is_single(id) && http_header_is_single(signature);
	if (gate->count)
		found = bsearch(id->value ? id->value : "", gate->entries, gate->count,
			sizeof(*gate->entries), entry_compare);
	/* Headers that are not as they must be are as good as no caller: the same work. */
	if (signed_by(gate, headers_ok ? found : NULL, request,
		    signature->value ? signature->value : ""))
		*caller = found;
	else if (!headers_ok)
		gate->why = AUTH_HEADERS;
	else if (found)
		gate->why = AUTH_SIGNATURE;
	return STATUS_OK;
}
