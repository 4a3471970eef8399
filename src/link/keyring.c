#include "link/keyring.h"

#include "base/pack.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Attempts to read a keyring that keeps changing. */
#define FETCH_TRIES 8

static void wipe_entries(struct keyring_entry *entries, uint32_t capacity)
{
	if (entries)
		explicit_bzero(entries, capacity * sizeof(*entries));
	free(entries);
}

void keyring_free(struct keyring *keyring)
{
	wipe_entries(keyring->entries, keyring->capacity);
	memset(keyring, 0, sizeof(*keyring));
}

/* Makes room for @more entries. Not by realloc(), which would leave a copy of keys. */
static enum status keyring_grow(struct keyring *keyring, uint32_t more)
{
	struct keyring_entry *entries;
	uint32_t capacity = keyring->capacity ? keyring->capacity : 16;

	if (more > KEYRING_CALLERS_MAX - keyring->count)
		return STATUS_CORRUPT;
	while (capacity < keyring->count + more)
		capacity *= 2;
	if (capacity == keyring->capacity)
		return STATUS_OK;
	entries = calloc(capacity, sizeof(*entries));
	if (!entries)
		return STATUS_NOMEM;
	if (keyring->count)
		memcpy(entries, keyring->entries, keyring->count * sizeof(*entries));
	wipe_entries(keyring->entries, keyring->capacity);
	keyring->entries = entries;
	keyring->capacity = capacity;
	return STATUS_OK;
}

enum status keyring_add(struct keyring *keyring, const struct keyring_entry *entry)
{
	enum status status = keyring_grow(keyring, 1);

	if (status == STATUS_OK)
		keyring->entries[keyring->count++] = *entry;
	return status;
}

void keyring_entry_of_dealer(const struct dealer *dealer, struct keyring_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	text_copy(entry->caller_id, sizeof(entry->caller_id), dealer->casino_id);
	entry->signature_algorithm = dealer->signature_algorithm;
	entry->signature_encoding = dealer->signature_encoding;
	text_copy(entry->signing_key_id, sizeof(entry->signing_key_id), dealer->signing_key_id);
	entry->decimals = dealer->decimals;
	entry->yields = dealer->suspended;
	memcpy(entry->keys, dealer->keys, sizeof(entry->keys));
}

void keyring_entry_of_client(const struct client *client, struct keyring_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	text_copy(entry->caller_id, sizeof(entry->caller_id), client->client_id);
	/* Of amounts of all dealers. */
	entry->decimals = MONEY_DECIMALS_MAX;
	memcpy(entry->keys, client->keys, sizeof(entry->keys));
}

/* Adds the entries of one page. They must continue in the order of caller_id. */
static enum status keyring_add_page(struct keyring *keyring, const struct keyring_result *page)
{
	struct bytes rows = page->entries;
	struct keyring_entry *entry;
	enum status status = keyring_grow(keyring, page->count);

	if (status != STATUS_OK)
		return status;
	if (page->more && page->count == 0)
		return STATUS_CORRUPT;
	for (uint32_t i = 0; i < page->count; i++) {
		entry = &keyring->entries[keyring->count];
		if (!unpack_record(&rows, keyring_entry_fields, entry))
			return STATUS_CORRUPT;
		if (keyring->count && strcmp(entry[-1].caller_id, entry->caller_id) >= 0)
			return STATUS_CORRUPT;
		keyring->count++;
	}
	return rows.len == 0 ? STATUS_OK : STATUS_CORRUPT;
}

/*
 * Reads a complete keyring of one generation into @keyring. *@unchanged: it has the generation
 * @known, and @keyring is empty.
 */
static enum status keyring_read_pages(struct keyring *keyring, struct keyring_cmd *cmd,
	keyring_ask *ask, void *context, bool *unchanged)
{
	const uint64_t known = cmd->generation;
	struct keyring_result page;
	enum status status;
	unsigned int tries = 0;

	do {
		/* Only the first page may be answered by "unchanged". */
		cmd->generation = keyring->count ? 0 : known;
		memset(cmd->after, 0, sizeof(cmd->after));
		if (keyring->count)
			text_copy(cmd->after, sizeof(cmd->after),
				keyring->entries[keyring->count - 1].caller_id);
		memset(&page, 0, sizeof(page));
		status = ask(context, cmd, &page);
		if (status != STATUS_OK)
			return status;
		*unchanged = page.unchanged && known && page.generation == known;
		if (*unchanged)
			return STATUS_OK;
		if (keyring->count && page.generation != keyring->generation) {
			if (++tries == FETCH_TRIES)
				return STATUS_BUSY;
			keyring_free(keyring);
			page.more = true;
			continue;
		}
		keyring->generation = page.generation;
		status = keyring_add_page(keyring, &page);
		if (status != STATUS_OK)
			return status;
	} while (page.more);
	return STATUS_OK;
}

enum status keyring_fetch(struct keyring *keyring, enum keyring_of of, keyring_ask *ask,
	void *context)
{
	struct keyring_cmd cmd = {.of = of, .generation = keyring->generation};
	struct keyring fresh = {.entries = NULL};
	bool unchanged = false;
	enum status status = keyring_read_pages(&fresh, &cmd, ask, context, &unchanged);

	if (status == STATUS_OK && !unchanged) {
		keyring_free(keyring);
		*keyring = fresh;
		return STATUS_OK;
	}
	keyring_free(&fresh);
	return status;
}

static int compare_caller(const void *caller_id, const void *entry)
{
	return strcmp(caller_id, ((const struct keyring_entry *)entry)->caller_id);
}

const struct keyring_entry *keyring_find(const struct keyring *keyring, const char *caller_id)
{
	return keyring->count ? bsearch(caller_id, keyring->entries, keyring->count,
					sizeof(*keyring->entries), compare_caller)
			      : NULL;
}
