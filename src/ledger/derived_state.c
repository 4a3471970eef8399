#include "ledger/derived_state.h"

#include "ledger/outbox/hold.h"
#include "ledger/rows/life.h"

#include "base/log.h"
#include "ledger/rows/counters.h"

#include <string.h>

/* The state that a scan of the rows fills. */
struct scan {
	struct ledger *ledger;
	int64_t refund_delay_ms; /* the dealers' longest */
	bool failed;
};

/*
 * After a reboot only the wall clock shows how long a row waits, and it may be hours slow until it
 * is set. The wait is therefore limited to the longest that the settings allow.
 */
static int64_t due_at_start(const struct scan *scan, const struct due *due)
{
	const struct ledger *ledger = scan->ledger;
	int64_t longest_ms = retry_longest_ms(&ledger->outbox.retry, due->kind);
	int64_t due_ms = due_boot_ms(due, &ledger->now);

	if (due->kind == CALLBACK_BETTING_REFUND && scan->refund_delay_ms > longest_ms)
		longest_ms = scan->refund_delay_ms;
	if (due->boot != ledger->now.boot && due_ms > ledger->now.boot_ms + longest_ms)
		due_ms = ledger->now.boot_ms + longest_ms;
	return due_ms;
}

/* Adds a row of RECORD_DUE at the start. Its sender may still be at work. */
static bool remember_due(void *context, struct bytes key, const void *row)
{
	struct scan *scan = context;
	struct ledger *ledger = scan->ledger;
	const struct due *due = row;
	struct schedule_entry entry = {
		.event = due->event,
		.due_ms = due->sending ? ledger->now.boot_ms + ledger->outbox.lease_ms
				       : due_at_start(scan, due),
		.sending = due->sending,
		.kind = due->kind,
	};

	(void)key;
	scan->failed = !schedule_set(&ledger->schedule, due->casino_id, &entry);
	return !scan->failed;
}

/* If an older version issued a key twice, it stays valid. The log names the owners. */
static bool remember_keys(struct scan *scan, enum keyring_of of, const char *owner,
	const struct dealer_key keys[DEALER_KEYS_MAX])
{
	static const char *const kinds[KEYRING_OF_COUNT] = {"dealer", "client"};
	struct key_entry shared;

	if (!key_book_add_keys(&scan->ledger->key_book, of, owner, keys, &shared)) {
		scan->failed = true;
		return false;
	}
	if (shared.digest[0])
		log_line(LOG_LEVEL_WARNING, "key_shared",
			"owner=\"%s %s\" other=\"%s %s\" reason=\"both have the same key: add a new "
			"one and retire it\"", kinds[of], owner, kinds[shared.of], shared.owner);
	return true;
}

static bool remember_unconfirmed(struct scan *scan, enum record record, const void *row)
{
	scan->failed = !unconfirmed_add(&scan->ledger->unconfirmed, record, row);
	return !scan->failed;
}

static bool remember_client(void *context, struct bytes key, const void *row)
{
	const struct client *client = row;

	(void)key;
	return remember_unconfirmed(context, RECORD_CLIENT, row) &&
		remember_keys(context, KEYRING_CLIENTS, client->client_id, client->keys);
}

static bool remember_retired(void *context, struct bytes key, const void *row)
{
	struct scan *scan = context;

	(void)key;
	scan->failed = !key_book_add_audit(&scan->ledger->key_book, row);
	return !scan->failed;
}

static bool remember_dealer(void *context, struct bytes key, const void *row)
{
	struct scan *scan = context;
	const struct dealer *dealer = row;

	(void)key;
	permits_limit(&scan->ledger->permits, dealer->casino_id, hold_permits(dealer));
	if ((int64_t)dealer->refund_delay_s * 1000 > scan->refund_delay_ms)
		scan->refund_delay_ms = (int64_t)dealer->refund_delay_s * 1000;
	return remember_unconfirmed(scan, RECORD_DEALER, row) &&
		remember_keys(scan, KEYRING_DEALERS, dealer->casino_id, dealer->keys);
}

enum status derived_state_load(struct ledger *ledger)
{
	const struct store_range dealers = {.record = RECORD_DEALER};
	const struct store_range clients = {.record = RECORD_CLIENT};
	const struct store_range audit = {.record = RECORD_AUDIT};
	const struct store_range dues = {.record = RECORD_DUE};
	struct store *store = ledger->store;
	struct scan scan = {.ledger = ledger};
	enum status status;

	life_want(&ledger->ws);
	counter_want(&ledger->ws, "dealers");
	status = store->load(store, &ledger->ws);
	if (status)
		return status;
	ledger->transaction_id = counter_read(&ledger->ws, LIFE_TRANSACTIONS);
	ledger->ws.id_stride = counter_read(&ledger->ws, LIFE_STRIDE_COUNTER);
	if (ledger->ws.id_stride)
		ledger->ws.id_floor = life_floor(ledger->now.wall_ms);
	ledger->figures.dealers = counter_read(&ledger->ws, "dealers");
	if (ws_faulty(&ledger->ws))
		return STATUS_NOMEM;
	status = store->scan(store, &dealers, remember_dealer, &scan);
	if (!status)
		status = store->scan(store, &clients, remember_client, &scan);
	if (!status)
		status = store->scan(store, &audit, remember_retired, &scan);
	if (!status)
		status = store->scan(store, &dues, remember_due, &scan);
	unconfirmed_sort(&ledger->unconfirmed);
	return scan.failed ? STATUS_NOMEM : status;
}

static bool note_due(struct ledger *ledger, const struct ws_row *row)
{
	const struct due *due = row->data;
	struct schedule_entry entry = {.event = due->event};

	if (row->dropped) {
		schedule_remove(&ledger->schedule, due->event);
		return true;
	}
	entry.due_ms = due_boot_ms(due, &ledger->now);
	entry.owner = due->sending ? due->owner : 0;
	entry.sending = due->sending;
	entry.kind = due->kind;
	return schedule_set(&ledger->schedule, due->casino_id, &entry);
}

static void note_counter(struct ledger *ledger, const struct counter *counter)
{
	if (strcmp(counter->name, LIFE_TRANSACTIONS) == 0)
		ledger->transaction_id = counter->value;
	else if (strcmp(counter->name, "dealers") == 0)
		ledger->figures.dealers = counter->value;
}

static void note_dealer(struct ledger *ledger, const struct dealer *dealer)
{
	ledger->generation++;
	permits_limit(&ledger->permits, dealer->casino_id, hold_permits(dealer));
	unconfirmed_follow(&ledger->unconfirmed, RECORD_DEALER, dealer);
}

static void note_client(struct ledger *ledger, const struct client *client)
{
	ledger->generation++;
	unconfirmed_follow(&ledger->unconfirmed, RECORD_CLIENT, client);
}

bool derived_state_follow(struct ledger *ledger)
{
	bool noted = true;

	for (const struct ws_row *row = ledger->ws.first; row; row = row->next) {
		if (!row->dirty)
			continue;
		if (row->record == RECORD_DEALER)
			note_dealer(ledger, row->data);
		else if (row->record == RECORD_CLIENT)
			note_client(ledger, row->data);
		else if (row->record == RECORD_COUNTER)
			note_counter(ledger, row->data);
		else if (row->record == RECORD_DUE)
			noted = note_due(ledger, row) && noted;
	}
	return noted;
}
