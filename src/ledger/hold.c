#include "ledger/hold.h"

uint32_t hold_permits(const struct dealer *dealer)
{
	return dealer->callbacks_held_ms ? 0 : dealer->max_inflight;
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

/* Held already, by an operator or an earlier restore: since then. */
static void hold_dealer(struct ws *ws, const struct dealer *stored, int64_t now_ms)
{
	struct dealer dealer = *stored;

	if (!dealer.callbacks_held_ms)
		dealer.callbacks_held_ms = now_ms;
	dealer.keys_restored_ms = now_ms;
	ws_put(ws, RECORD_DEALER, &dealer);
}

static void unconfirm_client(struct ws *ws, const struct client *stored, int64_t now_ms)
{
	struct client client = *stored;

	client.keys_restored_ms = now_ms;
	ws_put(ws, RECORD_CLIENT, &client);
}

enum status hold_everything(struct store *store, struct ws *ws, int64_t now_ms)
{
	const struct store_range dealers = {.record = RECORD_DEALER};
	const struct store_range clients = {.record = RECORD_CLIENT};
	enum status status = store->scan(store, &dealers, want_dealer, ws);

	if (!status)
		status = store->scan(store, &clients, want_client, ws);
	if (!status)
		status = store->load(store, ws);
	if (status)
		return status;
	for (const struct ws_row *row = ws->first; row; row = row->next) {
		if (row->record == RECORD_DEALER && row->state == WS_LOADED)
			hold_dealer(ws, row->data, now_ms);
		else if (row->record == RECORD_CLIENT && row->state == WS_LOADED &&
			!((const struct client *)row->data)->removed)
			unconfirm_client(ws, row->data, now_ms);
	}
	return ws_faulty(ws) ? STATUS_NOMEM : STATUS_OK;
}
