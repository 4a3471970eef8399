#include "ledger/outbox/hold.h"

uint32_t hold_permits(const struct dealer *dealer)
{
	return dealer->callbacks_held_ms ? 0 : dealer->max_inflight;
}

bool hold_result(const struct dealer *dealer, uint64_t transaction_id)
{
	return transaction_id && transaction_id < dealer->restored_id;
}

void hold_end_restore(struct dealer *dealer)
{
	dealer->restored_ms = 0;
	dealer->restored_to_ms = 0;
	dealer->restored_id = 0;
}

static bool want_row(struct ws *ws, enum record record, const void *row)
{
	ws_want(ws, record, row);
	return !ws_faulty(ws);
}

static bool want_dealer(void *context, struct bytes key, const void *row)
{
	(void)key;
	return want_row(context, RECORD_DEALER, row);
}

static bool want_client(void *context, struct bytes key, const void *row)
{
	(void)key;
	return want_row(context, RECORD_CLIENT, row);
}

static bool want_replay(void *context, struct bytes key, const void *row)
{
	(void)key;
	return ((const struct replay *)row)->state != REPLAY_RUNNING ||
		want_row(context, RECORD_REPLAY, row);
}

/* Its callbacks may have been sent after the time to which the data went back. */
static void stop_replay(struct ws *ws, const struct replay *stored, int64_t now_ms)
{
	struct replay row = *stored;

	row.state = REPLAY_STOPPED;
	row.ended_ms = now_ms;
	memcpy(row.stopped_by, "restore", sizeof("restore"));
	ws_put(ws, RECORD_REPLAY, &row);
}

void hold_dealer(struct dealer *dealer, const struct hold_restore *restore)
{
	if (!dealer->callbacks_held_ms)
		dealer->callbacks_held_ms = restore->now_ms;
	dealer->keys_restored_ms = restore->now_ms;
	/* After an earlier restore whose gap is still open, the gap begins at that restore. */
	if (!dealer->restored_id || restore->complete_to_ms < dealer->restored_to_ms)
		dealer->restored_to_ms = restore->complete_to_ms;
	dealer->restored_ms = restore->now_ms;
	dealer->restored_id = restore->first_id;
}

static void hold_stored(struct ws *ws, const struct dealer *stored,
	const struct hold_restore *restore)
{
	struct dealer dealer = *stored;

	hold_dealer(&dealer, restore);
	ws_put(ws, RECORD_DEALER, &dealer);
}

static void unconfirm_client(struct ws *ws, const struct client *stored, int64_t now_ms)
{
	struct client client = *stored;

	client.keys_restored_ms = now_ms;
	ws_put(ws, RECORD_CLIENT, &client);
}

enum status hold_everything(struct store *store, struct ws *ws, const struct hold_restore *restore)
{
	const struct store_range dealers = {.record = RECORD_DEALER};
	const struct store_range clients = {.record = RECORD_CLIENT};
	const struct store_range replays = {.record = RECORD_REPLAY};
	enum status status = store->scan(store, &dealers, want_dealer, ws);

	if (!status)
		status = store->scan(store, &clients, want_client, ws);
	if (!status)
		status = store->scan(store, &replays, want_replay, ws);
	if (!status)
		status = store->load(store, ws);
	if (status)
		return status;
	for (const struct ws_row *row = ws->first; row; row = row->next) {
		if (row->record == RECORD_DEALER && row->state == WS_LOADED)
			hold_stored(ws, row->data, restore);
		else if (row->record == RECORD_CLIENT && row->state == WS_LOADED &&
			!((const struct client *)row->data)->removed)
			unconfirm_client(ws, row->data, restore->now_ms);
		else if (row->record == RECORD_REPLAY && row->state == WS_LOADED)
			stop_replay(ws, row->data, restore->now_ms);
	}
	return ws_faulty(ws) ? STATUS_NOMEM : STATUS_OK;
}
