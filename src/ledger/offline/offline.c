#include "ledger/offline/offline.h"

#include "ledger/daemon/standby.h"
#include "ledger/outbox/hold.h"
#include "ledger/rows/audit.h"
#include "store/servers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* " last_transaction_id=N first_id=N raised_by=N" and its end. */
#define LIFE_TEXT_MAX 128

enum status offline_open(struct store **store, const struct settings *settings,
	const struct offline_options *options, char *why, size_t why_size)
{
	static struct store_servers servers;
	const struct store_options store_options = {
		.servers = store_servers_of(settings, &servers),
		.directory = options->directory,
		.cache_mib = settings->ledger_cache_mib,
		.checkpoint_kib = settings->checkpoint_kib,
		.checkpoint_interval_ms = settings->checkpoint_interval_ms,
		.log_keep_mib = options->keep_logs ? UINT32_MAX : 0,
		.installation = options->installation,
		.create = options->create,
		.fill = options->create,
	};

	servers.accept_older = options->accept_older;
	/* Tables that are to be made are refused if they exist. */
	if (store_options.servers && !options->create) {
		enum status status = standby_check_unserved(&store_options,
			settings->cell_takeover_ms, why, why_size);

		if (status)
			return status;
	}
	return store_open(&store_options, store, why, why_size);
}

struct last {
	uint64_t transaction_id;
	int64_t ms;
};

static bool note_last(void *context, struct bytes key, const void *row)
{
	const struct transaction *transaction = row;
	struct last *last = context;

	(void)key;
	last->transaction_id = transaction->transaction_id;
	last->ms = transaction->time_ms;
	return false;
}

enum status offline_find_last(struct store *store, uint64_t *transaction_id, int64_t *ms)
{
	const struct store_range range = {.record = RECORD_TRANSACTION, .reverse = true};
	struct last last = {0};
	enum status status = store->scan(store, &range, note_last, &last);

	*transaction_id = last.transaction_id;
	*ms = last.ms;
	return status;
}

/* Checks that the clock permits a new life. Sets *newest_ms to the newest time of a row. */
static enum status check_clock(struct store *store, const struct offline_deed *deed,
	int64_t *newest_ms, char *why, size_t why_size)
{
	enum status status = life_newest(store, newest_ms);

	if (status) {
		snprintf(why, why_size, "cannot read the newest rows of the data: %s",
			status_text(status));
		return status;
	}
	return life_check_clock(deed->now.wall_ms, deed->accept_clock ? 0 : *newest_ms, why,
		why_size);
}

static enum status load_counters(struct store *store, const struct offline_deed *deed, bool life,
	struct ws *ws, char *why, size_t why_size)
{
	enum status status;

	if (life)
		life_want(ws);
	audit_keys(ws, deed->operator);
	status = store->load(store, ws);
	if (!status && ws_faulty(ws))
		status = STATUS_NOMEM;
	if (status)
		snprintf(why, why_size, "cannot read the audit of the data: %s",
			status_text(status));
	return status;
}

static bool report_player(void *context, struct bytes key, const void *row)
{
	const struct offline_deed *deed = context;

	(void)key;
	if (((const struct player *)row)->suspended)
		deed->revived(deed->context, RECORD_PLAYER, row);
	return true;
}

static enum status report_revived(struct store *store, const struct offline_deed *deed,
	const struct ws *ws, char *why, size_t why_size)
{
	const struct store_range players = {.record = RECORD_PLAYER};
	struct offline_deed context = *deed;
	enum status status;

	for (const struct ws_row *row = ws->first; row; row = row->next) {
		if (row->record == RECORD_DEALER || row->record == RECORD_CLIENT)
			deed->revived(deed->context, row->record, row->data);
	}
	status = store->scan(store, &players, report_player, &context);
	if (status)
		snprintf(why, why_size, "cannot read the players: %s", status_text(status));
	return status;
}

static enum status hold_dealers(struct store *store, const struct offline_deed *deed,
	int64_t newest_ms, const struct life_begun *life, struct ws *ws, char *why, size_t why_size)
{
	const struct hold_restore restore = {
		.now_ms = deed->now.wall_ms,
		.complete_to_ms =
			deed->complete_to_ms > newest_ms ? deed->complete_to_ms : newest_ms,
		.first_id = life->first_id,
	};
	enum status status = hold_everything(store, ws, &restore);

	if (status)
		snprintf(why, why_size, "cannot hold the callbacks of the dealers: %s",
			status_text(status));
	return status;
}

/* Begins a life in @ws and holds callbacks if requested. */
static enum status begin_life(struct store *store, const struct offline_deed *deed,
	struct offline_life *life, struct ws *ws, char *why, size_t why_size)
{
	struct life_begin begin = {.wall_ms = deed->now.wall_ms, .number = deed->ledger_number};
	int64_t newest_ms = 0;
	enum status status = check_clock(store, deed, &newest_ms, why, why_size);

	begin.newest_ms = newest_ms;
	if (!status && !life_begin(ws, &begin, &life->begun)) {
		snprintf(why, why_size,
			"the data has no transaction ids left below 2^53: it "
			"cannot serve any more");
		status = STATUS_CONFIG;
	}
	if (!status && deed->hold)
		status = hold_dealers(store, deed, newest_ms, &life->begun, ws, why, why_size);
	if (!status && deed->hold && deed->revived)
		status = report_revived(store, deed, ws, why, why_size);
	return status;
}

/* Records the action in the audit. @life is the life that begins with it; NULL: none. */
static enum status write_trail(struct store *store, const struct offline_deed *deed,
	struct offline_life *life, struct ws *ws, char *why, size_t why_size)
{
	const struct apply_context context = {.now = deed->now, .peer_uid = geteuid()};
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];
	enum status status = load_counters(store, deed, life != NULL, ws, why, why_size);
	int len;

	if (!status && !audit_left(ws)) {
		snprintf(why, why_size, "the audit has no numbers left below 2^53");
		status = STATUS_CONFIG;
	}
	if (!status && life)
		status = begin_life(store, deed, life, ws, why, why_size);
	if (status)
		return status;
	snprintf(object, sizeof(object), "%.*s", OBJECT_SIZE - 1, deed->object);
	len = snprintf(detail, sizeof(detail), "%.*s", DETAIL_SIZE - LIFE_TEXT_MAX, deed->detail);
	if (life)
		snprintf(detail + len, sizeof(detail) - (size_t)len,
			"%slast_transaction_id=%" PRIu64 " first_id=%" PRIu64 " raised_by=%" PRIu64,
			len ? " " : "", life->last_transaction_id, life->begun.first_id,
			life->begun.raised_by);
	audit_write(ws, &context, deed->operator, deed->action, object, detail);
	if (!ws_faulty(ws) && store->save(store, ws) == SAVE_OK)
		return STATUS_OK;
	snprintf(why, why_size,
		"cannot write the audit of the data: see that its disk has "
		"room and is writable");
	return STATUS_IO;
}

static enum status note_deed(struct store *store, const struct offline_deed *deed,
	struct offline_life *life, char *why, size_t why_size)
{
	struct ws *ws = ws_new();
	enum status status = STATUS_NOMEM;

	if (ws)
		status = write_trail(store, deed, life, ws, why, why_size);
	else
		snprintf(why, why_size, "out of memory");
	ws_delete(ws);
	return status;
}

enum status offline_trail(struct store *store, const struct offline_deed *deed, char *why,
	size_t why_size)
{
	return note_deed(store, deed, NULL, why, why_size);
}

enum status offline_begin_life(struct store *store, const struct offline_deed *deed,
	struct offline_life *life, char *why, size_t why_size)
{
	enum status status;

	memset(life, 0, sizeof(*life));
	status = offline_find_last(store, &life->last_transaction_id, &life->last_ms);
	if (status) {
		snprintf(why, why_size, "cannot read the last transaction of the data: %s",
			status_text(status));
		return status;
	}
	return note_deed(store, deed, life, why, why_size);
}
