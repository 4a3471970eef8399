/*
 * keyring - reads the keys of all dealers or of all game servers from the ledger.
 *
 * The ledger sends them page by page. A keyring has the entries of one generation: if the
 * generation changes between two pages, the reading begins again.
 */
#ifndef LINK_KEYRING_H
#define LINK_KEYRING_H

#include "base/status.h"
#include "link/edge_commands.h"

#include <stdbool.h>
#include <stdint.h>

/* A keyring with more callers is damaged. */
#define KEYRING_CALLERS_MAX 65536

struct keyring {
	struct keyring_entry *entries; /* in the order of caller_id */
	uint32_t count;
	uint32_t capacity;
	uint64_t generation; /* 0: no keys were read */
};

/* Sends @cmd to the ledger and fills @page. Returns STATUS_OK, or why there is no page. */
typedef enum status keyring_ask(void *context, const struct keyring_cmd *cmd,
	struct keyring_result *page);

/*
 * Replaces the content of @keyring by the current keys of @of. If they have the generation that
 * @keyring has, it stays as it is. On an error it also stays as it is: STATUS_CORRUPT if a page
 * cannot be read, STATUS_BUSY if the keys change too often, STATUS_NOMEM, or the status of @ask.
 */
enum status keyring_fetch(struct keyring *keyring, enum keyring_of of, keyring_ask *ask,
	void *context);

/* Adds a copy of @entry. Callers must come in the order of caller_id. */
enum status keyring_add(struct keyring *keyring, const struct keyring_entry *entry);

/* Fills an entry with what a row has of a caller. The keys of a row of LIST are blank. */
void keyring_entry_of_dealer(const struct dealer *dealer, struct keyring_entry *entry);
void keyring_entry_of_client(const struct client *client, struct keyring_entry *entry);

/* Returns the entry of @caller_id; NULL if there is none. */
const struct keyring_entry *keyring_find(const struct keyring *keyring, const char *caller_id);

/* Frees and wipes the keys. */
void keyring_free(struct keyring *keyring);

#endif
