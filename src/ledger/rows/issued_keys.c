#include "ledger/rows/issued_keys.h"

#include "base/check.h"
#include "base/text.h"
#include "domain/retired_digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64

void key_book_free(struct key_book *book)
{
	free(book->entries);
	memset(book, 0, sizeof(*book));
}

bool key_book_digest(const char *secret, char text[DIGEST_TEXT_SIZE])
{
	struct digest digest;
	bool done;

	digest_begin(&digest);
	digest_add(&digest, secret, strlen(secret));
	done = digest_text(&digest, text);
	digest_end(&digest);
	return done;
}

const struct key_entry *key_book_find(const struct key_book *book, const char *digest)
{
	for (size_t i = 0; i < book->count; i++) {
		if (strcmp(book->entries[i].digest, digest) == 0)
			return &book->entries[i];
	}
	return NULL;
}

static bool append_key(struct key_book *book, const struct key_entry *entry)
{
	const size_t room = book->room ? 2 * book->room : ROOM_FIRST;
	struct key_entry *entries;

	if (book->count == book->room) {
		entries = reallocarray(book->entries, room, sizeof(*entries));
		if (!entries)
			return false;
		book->entries = entries;
		book->room = room;
	}
	book->entries[book->count++] = *entry;
	return true;
}

bool key_book_add(struct key_book *book, const struct key_entry *entry)
{
	if (!append_key(book, entry))
		return false;
	book->kept = book->count;
	return true;
}

static bool make_entry(struct key_entry *entry, enum keyring_of of, const char *owner,
	const char *key_id, const char *secret)
{
	memset(entry, 0, sizeof(*entry));
	entry->of = of;
	text_copy(entry->owner, sizeof(entry->owner), owner);
	text_copy(entry->key_id, sizeof(entry->key_id), key_id);
	return key_book_digest(secret, entry->digest);
}

bool key_book_add_keys(struct key_book *book, enum keyring_of of, const char *owner,
	const struct dealer_key keys[DEALER_KEYS_MAX], struct key_entry *shared)
{
	const struct key_entry *found;
	struct key_entry entry;

	memset(shared, 0, sizeof(*shared));
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!keys[i].key_id[0] || !keys[i].secret[0])
			continue;
		if (!make_entry(&entry, of, owner, keys[i].key_id, keys[i].secret))
			return false;
		found = key_book_find(book, entry.digest);
		if (found)
			*shared = *found;
		if (!key_book_add(book, &entry))
			return false;
	}
	return true;
}

bool key_book_add_retired(struct key_book *book, const struct retired_digest *key)
{
	struct key_entry entry;

	memset(&entry, 0, sizeof(entry));
	entry.of = key->of_client ? KEYRING_CLIENTS : KEYRING_DEALERS;
	text_copy(entry.owner, sizeof(entry.owner), key->owner);
	text_copy(entry.digest, sizeof(entry.digest), key->digest);
	return key_book_add(book, &entry);
}

enum refusal key_book_issue(struct key_book *book, enum keyring_of of, const char *owner,
	const char *secret, struct verdict *verdict)
{
	const struct key_entry *found;
	struct key_entry entry;

	if (!book)
		return REFUSAL_NONE;
	if (!make_entry(&entry, of, owner, "", secret))
		return REFUSAL_SERVICE_UNAVAILABLE;
	found = key_book_find(book, entry.digest);
	if (!found)
		return append_key(book, &entry) ? REFUSAL_NONE : REFUSAL_SERVICE_UNAVAILABLE;
	snprintf(verdict->detail, sizeof(verdict->detail),
		"it is or was a key of %s %s; make a new one",
		found->of == KEYRING_CLIENTS ? "client" : "dealer", found->owner);
	return REFUSAL_KEY_KNOWN;
}

/* Returns true if the book has the key as one of the dealer. */
static bool has_of_dealer(const struct key_book *book, const char *casino_id, const char *digest)
{
	const struct key_entry *found = key_book_find(book, digest);

	return found && found->of == KEYRING_DEALERS && strcmp(found->owner, casino_id) == 0;
}

enum refusal key_book_take(struct key_book *book, const char *casino_id,
	const struct dealer_key keys[DEALER_KEYS_MAX], struct verdict *verdict)
{
	enum refusal refusal = REFUSAL_NONE;
	char digest[DIGEST_TEXT_SIZE];

	for (unsigned int i = 0; book && i < DEALER_KEYS_MAX && refusal == REFUSAL_NONE; i++) {
		if (!keys[i].key_id[0] || !keys[i].secret[0])
			continue;
		if (!key_book_digest(keys[i].secret, digest))
			return REFUSAL_SERVICE_UNAVAILABLE;
		if (!has_of_dealer(book, casino_id, digest))
			refusal = key_book_issue(book, KEYRING_DEALERS, casino_id, keys[i].secret,
				verdict);
	}
	return refusal;
}

bool key_book_take_retired(struct key_book *book, const struct retired_digest *key, bool *is_new)
{
	struct key_entry entry;

	*is_new = !book || !has_of_dealer(book, key->owner, key->digest);
	if (!book || !*is_new)
		return true;
	memset(&entry, 0, sizeof(entry));
	entry.of = KEYRING_DEALERS;
	text_copy(entry.owner, sizeof(entry.owner), key->owner);
	text_copy(entry.digest, sizeof(entry.digest), key->digest);
	return append_key(book, &entry);
}

void key_book_settle(struct key_book *book, bool saved)
{
	CHECK(book->kept <= book->count && book->count <= book->room);
	if (saved)
		book->kept = book->count;
	else
		book->count = book->kept;
}

void key_book_describe(const struct dealer_key keys[DEALER_KEYS_MAX], const char *key_id,
	char detail[DETAIL_SIZE])
{
	char digest[DIGEST_TEXT_SIZE];
	size_t len;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!keys[i].key_id[0] || (key_id[0] && strcmp(keys[i].key_id, key_id) != 0) ||
			!key_book_digest(keys[i].secret, digest))
			continue;
		len = strlen(detail);
		snprintf(detail + len, DETAIL_SIZE - len, "%s" RETIRED_DIGEST_MARK "%s",
			len ? " " : "", digest);
	}
}
