/*
 * revived - what a restore or an import brought back, as far as it concerns security: keys, game
 * servers and suspensions, and what operators changed since the backup.
 */
#ifndef CMD_CTL_REVIVED_H
#define CMD_CTL_REVIVED_H

#include "cmd/ctl/ctl.h"
#include "cmd/ctl/output.h"
#include "domain/records.h"

#define REVIVED_KEYS_SIZE (DEALER_KEYS_MAX * (KEY_ID_SIZE + 32))
#define REVIVED_ID_SIZE   (CASINO_ID_SIZE + EXTERNAL_ID_SIZE)

/* A dealer, a game server, or a player that is suspended, as the data have it. */
struct revived {
	char kind[8]; /* "dealer", "client", "player" */
	char id[REVIVED_ID_SIZE];
	bool suspended;
	bool removed;
	char keys[REVIVED_KEYS_SIZE]; /* ids and since when */
};

/* True: @row, a dealer, a client or a player, is one that is listed; *one is filled. */
bool revived_fill(struct revived *one, enum record record, const void *row);

/* What an operator changed after the backup. */
struct changed {
	bool in_force; /* the data that were restored have it, by --logs */
	struct audit deed;
};

/* True: @deed changed who may call, or kept a callback from being sent. */
bool changed_concerns(const struct audit *deed);

/* Rows of the two structs; more than fit in memory are left out. */
struct revived_lists {
	struct buffer revived;
	struct buffer changed;
	bool looked; /* for changes */
};

void revived_begin(struct revived_lists *lists);
void revived_end(struct revived_lists *lists);

/* Prints both lists, and appends the members "revived" and, where it was looked for, "changed". */
enum outcome revived_show(struct ctl *ctl, struct output_json *json, struct revived_lists *lists);

#endif
