/*
 * store - the dealer's database: users, transactions, and a journal of received calls.
 *
 * A Berkeley DB environment used only by this process and locked with the lock file of
 * state/directory.h. Recovery runs at the start. Not thread-safe: make one call at a time.
 */
#ifndef DEALER_STORE_H
#define DEALER_STORE_H

#include "base/status.h"
#include "dealer/rules.h"

#include <stddef.h>

/* The number of times that a callback arrived; only signed and well-formed ones count. */
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
 * Opens the store in @directory, which is made (0700) if it does not exist. New users get
 * @opening_balance. Returns NULL with a sentence in @why on failure.
 */
struct dealer_store *dealer_store_open(const char *directory, money_t opening_balance, char *why,
	size_t why_size);
void store_close(struct dealer_store *store);

/* Loads the rows of @user_id and @transaction_id. */
enum status store_load(struct dealer_store *store, const char *user_id, uint64_t transaction_id,
	struct dealer_rows *rows);

/*
 * Commits the changed rows, all or none. If it fails, the outcome is unknown and the process must
 * exit. Recovery at the next start determines the outcome.
 */
enum status store_commit(struct dealer_store *store, const struct dealer_rows *rows);

/*
 * Counts a call in the journal. The journal survives the process, but not a crash of the machine.
 */
enum status store_note(struct dealer_store *store, const struct dealer_event *event);

/* Passes every row of @table to @visit in key order, until @visit returns false. */
enum status store_each(struct dealer_store *store, enum store_table table,
	bool (*visit)(void *context, const void *record), void *context);

#endif
