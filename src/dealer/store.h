/*
 * store - what the dealer remembers: users, transactions, and a journal of what came.
 *
 * A Berkeley DB environment that this process alone uses, held with the lock file of
 * state/directory.h; recovery at start. Not thread-safe: calls are made one at a time.
 */
#ifndef DEALER_STORE_H
#define DEALER_STORE_H

#include "base/status.h"
#include "dealer/rules.h"

#include <stddef.h>

/* How often a callback came; only those that were signed and well-formed. */
struct dealer_event {
	char webhook_id[EXTERNAL_ID_SIZE]; /* without one: KIND/TRANSACTION_ID */
	enum callback_kind kind;
	uint64_t transaction_id;
	enum dealer_outcome result;
	uint64_t calls;
};

extern const struct field dealer_user_fields[];
extern const struct field dealer_transaction_fields[];
extern const struct field dealer_event_fields[];

enum store_table { STORE_USER, STORE_TRANSACTION, STORE_EVENT, STORE_TABLE_COUNT };

struct dealer_store;

/*
 * Opens the store in @directory, which is made (0700) if it is not there. Users get
 * @opening_balance when they are seen first. NULL: a sentence is in @why.
 */
struct dealer_store *store_open(const char *directory, money_t opening_balance, char *why,
	size_t why_size);
void store_close(struct dealer_store *store);

/* Loads the rows of @user_id and @transaction_id. */
enum status store_load(struct dealer_store *store, const char *user_id, uint64_t transaction_id,
	struct dealer_rows *rows);

/*
 * Makes the changed rows durable, all or none. After a failure the outcome is unknown and the
 * process has to end: recovery at its next start tells the truth.
 */
enum status store_commit(struct dealer_store *store, const struct dealer_rows *rows);

/* Counts a call in the journal: outlives the process, but not the machine. */
enum status store_note(struct dealer_store *store, const struct dealer_event *event);

/* Shows every row of @table, in the order of keys, until @visit returns false. */
enum status store_each(struct dealer_store *store, enum store_table table,
	bool (*visit)(void *context, const void *record), void *context);

#endif
