#include "set_row.h"

#include "store/store.h"

#include <stdio.h>

int set_row(const char *directory, enum record record, const void *row, bool known)
{
	const struct store_options options = {
		.directory = directory,
		.cache_mib = 8,
		.checkpoint_kib = 8192,
		.checkpoint_interval_ms = 1000,
		.log_keep_mib = 64,
	};
	struct store *store;
	char why[256] = "";
	static struct ws ws;
	int code = 1;

	if (store_open(&options, &store, why, sizeof(why)) != STATUS_OK) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	ws_init(&ws);
	ws_want(&ws, record, row);
	if (store->load(store, &ws) != STATUS_OK || (known && !ws_get(&ws, record, row))) {
		fprintf(stderr, "%s holds no such row\n", directory);
		goto out;
	}
	ws_put(&ws, record, row);
	if (store->save(store, &ws) == SAVE_OK)
		code = 0;
	else
		fprintf(stderr, "%s: the row is not saved\n", directory);
out:
	ws_free(&ws);
	store->close(store);
	return code;
}
