/*
 * issued_keys - the keys that were issued, so that no key is issued twice.
 *
 * If two dealers, two game servers, or a dealer and a game server have the same key, a body signed
 * for one is valid for the other. A retired key may have leaked. The ledger therefore refuses each
 * key that exists or existed. The book holds the SHA-256 of each, with the owner. It is in memory.
 * At the start it is filled from the rows of dealers and clients. Retired keys have
 * rows of their own (domain/retired_digest.h).
 */
#ifndef LEDGER_ROWS_ISSUED_KEYS_H
#define LEDGER_ROWS_ISSUED_KEYS_H

#include "domain/records.h"
#include "link/edge_commands.h"
#include "link/verdict.h"
#include "wire/digest.h"

struct key_entry {
	char digest[DIGEST_TEXT_SIZE];
	enum keyring_of of;
	char owner[CASINO_ID_SIZE]; /* casino_id or client_id */
	char key_id[KEY_ID_SIZE];   /* "": not known */
};

struct key_book {
	struct key_entry *entries;
	size_t count;
	size_t kept; /* entries of saved batches */
	size_t room;
};

void key_book_free(struct key_book *book);

/* Writes the SHA-256 of @secret. Returns false if the library failed. */
bool key_book_digest(const char *secret, char digest[DIGEST_TEXT_SIZE]);

/* Adds an entry permanently. Returns false if memory is exhausted. */
bool key_book_add(struct key_book *book, const struct key_entry *entry);

/* Returns the entry with that digest, or NULL. */
const struct key_entry *key_book_find(const struct key_book *book, const char *digest);

/*
 * Adds the live keys of an owner permanently. If the book already had one of these keys, copies
 * the earlier entry to *@shared; otherwise zeroes *@shared. The earlier entry may belong to any
 * owner. Returns false if memory is exhausted.
 */
bool key_book_add_keys(struct key_book *book, enum keyring_of of, const char *owner,
	const struct dealer_key keys[DEALER_KEYS_MAX], struct key_entry *shared);

/* Adds a retired key permanently. Returns false if memory is exhausted. */
bool key_book_add_retired(struct key_book *book, const struct retired_digest *key);

/*
 * Records that a command of the batch issues @secret. Returns REFUSAL_NONE, REFUSAL_KEY_KNOWN with
 * the owner in verdict->detail, or REFUSAL_SERVICE_UNAVAILABLE if memory is exhausted. @book NULL:
 * every key is new.
 */
enum refusal key_book_issue(struct key_book *book, enum keyring_of of, const char *owner,
	const char *secret, struct verdict *verdict);

/*
 * Records that a command of the batch takes over the live keys of a dealer from another cell. A key that the book
 * has with this dealer is no fault. Returns as key_book_issue().
 */
enum refusal key_book_take(struct key_book *book, const char *casino_id,
	const struct dealer_key keys[DEALER_KEYS_MAX], struct verdict *verdict);

/*
 * Likewise for a retired key. Sets *is_new to whether the book did not have it with this dealer. Returns false if memory is
 * exhausted.
 */
bool key_book_take_retired(struct key_book *book, const struct retired_digest *key, bool *is_new);

/* Ends the batch: keeps the keys that it issued if it was @saved. */
void key_book_settle(struct key_book *book, bool saved);

/* Appends " sha256=DIGEST" of each live key to the detail of an audit row; @key_id "": of all. */
void key_book_describe(const struct dealer_key keys[DEALER_KEYS_MAX], const char *key_id,
	char detail[DETAIL_SIZE]);

#endif
