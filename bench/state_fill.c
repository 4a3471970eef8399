/*
 * state_fill - many players into a state that no ledger serves.
 *
 *   state_fill CONFIG CACHE_MIB CASINO FIRST COUNT ENTRIES    registers COUNT players, u<FIRST> and
 *                                                             on, of the dealer CASINO, and moves
 *                                                             credit in to each ENTRIES times
 *
 * The ledger's own commands in batches of the largest size, without sockets, with a cache that holds
 * what is made and checkpoints that are rare. The rows are those that the same calls over HTTP leave.
 * Exits with 1 when anything was refused or failed.
 */
#include "base/settings.h"
#include "ledger/ledger.h"
#include "ledger/offline/offline.h"
#include "state/directory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREDIT         (INT64_C(1000000) * 10000)
#define LATER          10000
#define CHECKPOINT_KIB (1024u * 1024)
#define CHECKPOINT_MS  3600000u

static struct slot slots[LEDGER_BATCH_MAX];
static unsigned int waiting;
static const char *casino_id;
static uint64_t first, state;

static uint32_t chance(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

/* Runs what waits. */
static bool flush(struct ledger *ledger)
{
	const struct moment now = clock_now();
	unsigned int count = waiting;

	waiting = 0;
	if (count && ledger_run(ledger, slots, count, &now) != STATUS_OK)
		return false;
	for (unsigned int i = 0; i < count; i++) {
		/* Every result begins with its verdict. */
		if (slots[i].outcome != FRAME_DONE ||
			slots[i].result.verdict.refusal != REFUSAL_NONE) {
			fprintf(stderr, "state_fill: command refused, outcome %d, refusal %d\n",
				(int)slots[i].outcome, (int)slots[i].result.verdict.refusal);
			return false;
		}
	}
	return true;
}

/* The next slot; NULL: what had to make room for it failed. */
static struct slot *slot_next(struct ledger *ledger, enum command command)
{
	struct slot *slot;

	if (waiting == LEDGER_BATCH_MAX && !flush(ledger))
		return NULL;
	slot = &slots[waiting++];
	memset(slot, 0, sizeof(*slot));
	slot->command = command;
	slot->link = 1;
	return slot;
}

static bool player_add(struct ledger *ledger, uint64_t number)
{
	struct slot *slot = slot_next(ledger, COMMAND_PLAYER_REGISTER);
	struct player_register_cmd *cmd;

	if (!slot)
		return false;
	cmd = &slot->cmd.player_register;
	snprintf(cmd->casino_id, sizeof(cmd->casino_id), "%s", casino_id);
	snprintf(cmd->user_id, sizeof(cmd->user_id), "u%" PRIu64, number);
	/* 20 characters, as random as the real ones, so that pages split as theirs do. */
	for (unsigned int at = 0; at < PLAYER_ID_SIZE - 1; at++)
		cmd->player_id[at] = "abcdefghijklmnopqrstuvwxyz234567"[chance(32)];
	return true;
}

static bool entry_add(struct ledger *ledger, uint64_t number, uint64_t round)
{
	struct slot *slot = slot_next(ledger, COMMAND_TRANSFER);
	struct transfer_cmd *cmd;

	if (!slot)
		return false;
	cmd = &slot->cmd.transfer;
	cmd->kind = ENTRY_TRANSFER_IN;
	cmd->amount = round ? LATER : CREDIT;
	snprintf(cmd->casino_id, sizeof(cmd->casino_id), "%s", casino_id);
	snprintf(cmd->user_id, sizeof(cmd->user_id), "u%" PRIu64, number);
	snprintf(cmd->request_transaction_id, sizeof(cmd->request_transaction_id),
		"fill-%" PRIu64 "-%" PRIu64, round, number);
	return true;
}

/* Each player's first transaction comes one batch after the player's row. */
static bool fill(struct ledger *ledger, uint64_t end, uint64_t entries)
{
	for (uint64_t from = first; from < end; from += LEDGER_BATCH_MAX) {
		uint64_t to = from + LEDGER_BATCH_MAX < end ? from + LEDGER_BATCH_MAX : end;

		for (uint64_t i = from; i < to; i++)
			if (!player_add(ledger, i))
				return false;
		for (uint64_t i = from; i < to && entries; i++)
			if (!entry_add(ledger, i, 0))
				return false;
	}
	for (uint64_t round = 1; round < entries; round++)
		for (uint64_t i = first; i < end; i++)
			if (!entry_add(ledger, i, round))
				return false;
	return flush(ledger);
}

static bool open_and_fill(const struct settings *settings, uint64_t count, uint64_t entries)
{
	static char directory[SETTINGS_PATH_MAX + 8];
	const struct offline_options options = {.directory = directory};
	const struct moment now = clock_now();
	static struct ledger ledger;
	struct store *store;
	char why[512] = "";
	bool filled;

	snprintf(directory, sizeof(directory), "%s/db", settings->state_directory);
	if (offline_open(&store, settings, &options, why, sizeof(why)) != STATUS_OK) {
		fprintf(stderr, "state_fill: %s\n", why);
		return false;
	}
	state = (uint64_t)now.wall_ms;
	filled = ledger_init(&ledger, store, state, NULL, &now) == STATUS_OK &&
		fill(&ledger, first + count, entries);
	store->close(store);
	ledger_free(&ledger);
	return filled;
}

int main(int argc, char **argv)
{
	static struct settings settings;
	char why[512] = "";

	if (argc != 7)
		return 64;
	if (settings_load(&settings, argv[1], stderr) != STATUS_OK)
		return 78;
	settings.ledger_cache_mib = (uint32_t)strtoul(argv[2], NULL, 10);
	settings.checkpoint_kib = CHECKPOINT_KIB;
	settings.checkpoint_interval_ms = CHECKPOINT_MS;
	casino_id = argv[3];
	first = strtoull(argv[4], NULL, 10);
	if (state_dir_lock(settings.state_directory, 0, why, sizeof(why)) < 0) {
		fprintf(stderr, "state_fill: %s\n", why);
		return 1;
	}
	return open_and_fill(&settings, strtoull(argv[5], NULL, 10), strtoull(argv[6], NULL, 10))
		? 0
		: 1;
}
