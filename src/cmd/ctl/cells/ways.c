/*
 * ways - how each command finds its cell if there are several.
 */
#include "cmd/ctl/cells/cells.h"

#include <string.h>

/* A command without a row acts in the default cell (CELLS_DEFAULT). doc/cells.md lists those. */
static const struct way {
	const char *command;
	enum cells_way way;
} ways[] = {
	{"cell list", CELLS_NONE},
	{"completion", CELLS_NONE},
	{"doctor", CELLS_NONE},
	{"job", CELLS_NONE},
	{"status", CELLS_OBJECTS},
	{"check", CELLS_OBJECTS},
	{"owed", CELLS_OBJECTS},
	{"metrics", CELLS_METRICS},
	{"audit", CELLS_LIST},
	{"bet list", CELLS_LIST},
	{"callback list", CELLS_LIST},
	{"client list", CELLS_LIST},
	{"dealer list", CELLS_LIST},
	{"operator list", CELLS_LIST},
	{"refused list", CELLS_LIST},
	{"replay list", CELLS_LIST},
	{"transfer list", CELLS_LIST},
	{"dealer add", CELLS_NEW_DEALER},
	{"dealer show", CELLS_DEALER},
	{"dealer set", CELLS_DEALER},
	{"dealer suspend", CELLS_DEALER},
	{"dealer resume", CELLS_DEALER},
	{"dealer hold", CELLS_DEALER},
	{"dealer key-confirm", CELLS_DEALER},
	{"dealer key-add", CELLS_DEALER},
	{"dealer key-use", CELLS_DEALER},
	{"dealer key-retire", CELLS_DEALER},
	{"dealer move", CELLS_MOVE},
	{"dealer ping", CELLS_DEALER},
	{"dealer test", CELLS_DEALER},
	{"player add", CELLS_DEALER},
	{"player list", CELLS_DEALER},
	{"player suspend", CELLS_DEALER},
	{"player resume", CELLS_DEALER},
	{"player adjust", CELLS_DEALER},
	{"player show", CELLS_PLAYER},
	{"player ledger", CELLS_PLAYER},
	{"round correct", CELLS_PLAYER},
	{"report days", CELLS_DEALER},
	{"recon", CELLS_DEALER},
	{"reconcile", CELLS_DEALER},
	{"request", CELLS_DEALER},
	{"sign", CELLS_DEALER},
	{"release", CELLS_DEALER},
	{"callback replay", CELLS_CASINO},
	{"explain", CELLS_CASINO},
	{"follow", CELLS_CASINO},
	{"transfer show", CELLS_TRANSFER},
	{"bet show", CELLS_BET},
	{"round show", CELLS_BET},
	{"callback show", CELLS_EVENTS},
	{"callback retry", CELLS_EVENTS},
	{"callback hold", CELLS_EVENTS},
	{"callback release", CELLS_EVENTS},
	{"callback cancel", CELLS_EVENTS},
	{"replay show", CELLS_REPLAY},
	{"replay stop", CELLS_REPLAY},
	{"client add", CELLS_CLIENT},
	{"client key-add", CELLS_CLIENT},
	{"client key-use", CELLS_CLIENT},
	{"client key-retire", CELLS_CLIENT},
	{"client key-confirm", CELLS_CLIENT},
	{"client remove", CELLS_CLIENT},
};

enum cells_way cells_way_of(const char *command)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].command, command) == 0)
			return ways[i].way;
	}
	return CELLS_DEFAULT;
}
