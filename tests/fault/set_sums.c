/*
 * set_sums DIRECTORY PLAYER_ID lifetime|DAY BET_COUNT TURNOVER PROFIT_LOSS - sets what A4 tells of a
 * player, in the data in DIRECTORY (a state's db/): DAY is the number of days since 1970-01-01,
 * money in ten-thousandths. The ledger must not be running.
 */
#include "base/text.h"
#include "store/bdb/bdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts the row that @words name. False: it cannot be loaded. */
static bool set(struct store *store, struct ws *ws, char **words)
{
	const struct statistics sums = {.bet_count = strtoull(words[4], NULL, 10),
		.turnover = strtoll(words[5], NULL, 10),
		.profit_loss = strtoll(words[6], NULL, 10)};
	struct lifetime lifetime = {.sums = sums};
	struct day day = {.number = (uint32_t)strtoul(words[3], NULL, 10), .sums = sums};
	bool of_lifetime = strcmp(words[3], "lifetime") == 0;
	const enum record record = of_lifetime ? RECORD_LIFETIME : RECORD_DAY;
	const void *row = of_lifetime ? (const void *)&lifetime : &day;

	text_copy(lifetime.player_id, sizeof(lifetime.player_id), words[2]);
	text_copy(day.player_id, sizeof(day.player_id), words[2]);
	ws_want(ws, record, row);
	if (store->load(store, ws) != STATUS_OK)
		return false;
	ws_put(ws, record, row);
	return true;
}

int main(int argc, char **argv)
{
	struct bdb_options options = {
		.cache_mib = 8,
		.checkpoint_kib = 8192,
		.checkpoint_interval_ms = 1000,
		.log_keep_mib = 64,
	};
	enum save_result saved;
	struct store *store;
	char why[256] = "";
	static struct ws ws;

	if (argc != 7) {
		fprintf(stderr, "usage: set_sums DIRECTORY PLAYER_ID lifetime|DAY BET_COUNT "
				"TURNOVER PROFIT_LOSS\n");
		return 2;
	}
	options.directory = argv[1];
	if (bdb_open(&options, &store, why, sizeof(why)) != STATUS_OK) {
		fprintf(stderr, "set_sums: %s\n", why);
		return 1;
	}
	ws_init(&ws);
	if (!set(store, &ws, argv))
		return 1;
	saved = store->save(store, &ws);
	ws_free(&ws);
	store->close(store);
	return saved == SAVE_OK ? 0 : 1;
}
