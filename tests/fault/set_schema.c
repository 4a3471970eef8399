/*
 * set_schema DIRECTORY VERSION - makes the data in DIRECTORY (a state's db/) look as if a
 * creditbridge of schema VERSION had written it. The ledger must not be running.
 */
#include "store/bdb/bdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct bdb_options options = {
		.cache_mib = 8,
		.checkpoint_kib = 8192,
		.checkpoint_interval_ms = 1000,
		.log_keep_mib = 64,
	};
	struct counter counter = {.name = "schema"};
	enum save_result saved;
	struct store *store;
	char why[256] = "";
	static struct ws ws;

	if (argc != 3) {
		fprintf(stderr, "usage: set_schema DIRECTORY VERSION\n");
		return 2;
	}
	options.directory = argv[1];
	counter.value = strtoull(argv[2], NULL, 10);
	if (bdb_open(&options, &store, why, sizeof(why)) != STATUS_OK) {
		fprintf(stderr, "set_schema: %s\n", why);
		return 1;
	}
	ws_init(&ws);
	ws_want(&ws, RECORD_COUNTER, &counter);
	if (store->load(store, &ws) != STATUS_OK || !ws_get(&ws, RECORD_COUNTER, &counter)) {
		fprintf(stderr, "set_schema: %s holds no schema\n", argv[1]);
		return 1;
	}
	ws_put(&ws, RECORD_COUNTER, &counter);
	saved = store->save(store, &ws);
	ws_free(&ws);
	store->close(store);
	return saved == SAVE_OK ? 0 : 1;
}
