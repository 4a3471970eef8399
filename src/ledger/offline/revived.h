/*
 * revived - the keys, game servers and suspended players that a restore or an import brought back,
 * and the changes by operators since the backup.
 */
#ifndef LEDGER_OFFLINE_REVIVED_H
#define LEDGER_OFFLINE_REVIVED_H

#include "base/buffer.h"
#include "domain/records.h"

#define REVIVED_KEYS_SIZE (DEALER_KEYS_MAX * (KEY_ID_SIZE + 32))
#define REVIVED_ID_SIZE   (CASINO_ID_SIZE + EXTERNAL_ID_SIZE)

/* A dealer, a game server or a suspended player in the restored data. */
struct revived {
	char kind[8]; /* "dealer", "client", "player" */
	char id[REVIVED_ID_SIZE];
	bool suspended;
	bool removed;
	char keys[REVIVED_KEYS_SIZE]; /* key ids and the times since which they are in use */
};

/* Fills *one and returns true if @row, a dealer, client or player, belongs in the list. */
bool revived_fill(struct revived *one, enum record record, const void *row);

/* A change that an operator made after the backup. */
struct changed {
	bool in_force; /* the restored data contains the change, because --logs was given */
	struct audit deed;
};

/* Returns true if @deed changed which callers are accepted or kept a callback from being sent. */
bool changed_is_listed(const struct audit *deed);

/* Rows of both structs. Rows that do not fit in memory are left out. */
struct revived_lists {
	struct buffer revived;
	struct buffer changed;
	bool looked; /* the audit was searched for changes */
};

void revived_init(struct revived_lists *lists);
void revived_free(struct revived_lists *lists);

#endif
