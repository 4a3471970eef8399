#include "ledger/atrest.h"

#include "ledger/audit.h"
#include "ledger/sequences.h"
#include "store/bdb/bdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum status atrest_open(struct store **store, const struct settings *settings,
	const struct atrest_options *options, char *why, size_t why_size)
{
	const struct bdb_options bdb = {
		.directory = options->directory,
		.cache_mib = settings->ledger_cache_mib,
		.checkpoint_kib = settings->checkpoint_kib,
		.checkpoint_interval_ms = settings->checkpoint_interval_ms,
		.log_keep_mib = options->keep_logs ? UINT32_MAX : 0,
		.create = options->create,
	};

	return bdb_open(&bdb, store, why, why_size);
}

static enum status write_trail(struct store *store, const struct atrest_deed *deed, struct ws *ws,
	char *why, size_t why_size)
{
	const struct apply_context context = {.now = deed->now, .peer_uid = geteuid()};
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];
	enum status status;

	if (deed->raise)
		sequences_want(ws);
	audit_keys(ws, deed->operator);
	status = store->load(store, ws);
	if (!status && ws_faulty(ws))
		status = STATUS_NOMEM;
	if (status) {
		snprintf(why, why_size, "cannot read the trail: %s", status_text(status));
		return status;
	}
	if (deed->raise && !sequences_raise(ws)) {
		snprintf(why, why_size, "there are no transaction ids left");
		return STATUS_CONFIG;
	}
	snprintf(object, sizeof(object), "%.*s", OBJECT_SIZE - 1, deed->object);
	snprintf(detail, sizeof(detail), "%.*s", DETAIL_SIZE - 1, deed->detail);
	audit_write(ws, &context, deed->operator, deed->action, object, detail);
	if (!ws_faulty(ws) && store->save(store, ws) == SAVE_OK)
		return STATUS_OK;
	snprintf(why, why_size, "cannot write to the trail");
	return STATUS_IO;
}

enum status atrest_trail(struct store *store, const struct atrest_deed *deed, char *why,
	size_t why_size)
{
	struct ws *ws = malloc(sizeof(*ws));
	enum status status;

	if (!ws) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	ws_init(ws);
	status = write_trail(store, deed, ws, why, why_size);
	ws_free(ws);
	free(ws);
	return status;
}
