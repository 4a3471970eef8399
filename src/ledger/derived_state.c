#include "ledger/derived_state.h"

#include "base/check.h"
#include "ledger/outbox/hold.h"
#include "ledger/rows/life.h"

#include "base/log.h"
#include "ledger/rows/counters.h"

#include <string.h>

/* The state that a scan of the rows fills. */
struct scan {
	struct derived_state *state;
	const struct outbox_options *options;
	struct moment now;
	int64_t refund_delay_ms; /* the dealers' longest */
	bool failed;
};

/*
 * After a reboot only the wall clock shows how long a row waits, and it may be hours slow until it
 * is set. The wait is therefore limited to the longest that the settings allow.
 */
static int64_t due_at_start(const struct scan *scan, const struct due *due)
{
	const struct moment *now = &scan->now;
	int64_t longest_ms = retry_longest_ms(&scan->options->retry, due->kind);
	int64_t due_ms = due_boot_ms(due, now);

	if (due->kind == CALLBACK_BETTING_REFUND && scan->refund_delay_ms > longest_ms)
		longest_ms = scan->refund_delay_ms;
	if (due->boot != now->boot && due_ms > now->boot_ms + longest_ms)
		due_ms = now->boot_ms + longest_ms;
	return due_ms;
}

/* Adds a row of RECORD_DUE at the start. Its sender may still be at work. */
static bool remember_due(void *context, struct bytes key, const void *row)
{
	struct scan *scan = context;
	const struct due *due = row;
	struct schedule_entry entry = {
		.event = due->event,
		.due_ms = due->sending ? scan->now.boot_ms + scan->options->lease_ms
				       : due_at_start(scan, due),
		.sending = due->sending,
		.kind = due->kind,
	};

	(void)key;
	scan->failed = !schedule_set(&scan->state->schedule, due->casino_id, &entry);
	return !scan->failed;
}

/* If an older version issued a key twice, it stays valid. The log names the owners. */
static bool remember_keys(struct scan *scan, enum keyring_of of, const char *owner,
	const struct dealer_key keys[DEALER_KEYS_MAX])
{
	static const char *const kinds[KEYRING_OF_COUNT] = {"dealer", "client"};
	struct key_entry shared;

	if (!key_book_add_keys(&scan->state->key_book, of, owner, keys, &shared)) {
		scan->failed = true;
		return false;
	}
	if (shared.digest[0])
		log_line(LOG_LEVEL_WARNING, "key_shared",
			"owner=\"%s %s\" other=\"%s %s\" reason=\"both have the same key: add a new "
			"one and retire it\"",
			kinds[of], owner, kinds[shared.of], shared.owner);
	return true;
}

static bool remember_unconfirmed(struct scan *scan, enum record record, const void *row)
{
	scan->failed = !unconfirmed_add(&scan->state->unconfirmed, record, row);
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
	scan->failed = !key_book_add_retired(&scan->state->key_book, row);
	return !scan->failed;
}

static bool remember_dealer(void *context, struct bytes key, const void *row)
{
	struct scan *scan = context;
	const struct dealer *dealer = row;

	(void)key;
	permits_limit(&scan->state->permits, dealer->casino_id, hold_permits(dealer));
	if ((int64_t)dealer->refund_delay_s * 1000 > scan->refund_delay_ms)
		scan->refund_delay_ms = (int64_t)dealer->refund_delay_s * 1000;
	return remember_unconfirmed(scan, RECORD_DEALER, row) &&
		remember_keys(scan, KEYRING_DEALERS, dealer->casino_id, dealer->keys);
}

/* More operators than the book has room for cannot sign in. A batch with two `operator add` may make one more. */
static void follow_operator(struct derived_state *state, const struct desk_operator *row)
{
	if (!operators_put(&state->operators, row))
		log_line(LOG_LEVEL_WARNING, "operators_left_out", "most=%d", DESK_OPERATORS_MAX);
}

static bool remember_operator(void *context, struct bytes key, const void *row)
{
	struct scan *scan = context;

	(void)key;
	follow_operator(scan->state, row);
	return true;
}

static void follow_replay(struct derived_state *state, const struct replay *row)
{
	if (!replay_book_follow(&state->replays, row))
		log_line(LOG_LEVEL_ERROR, "replays_left_out", "most=%d", REPLAYS_RUNNING_MAX);
}

static bool remember_replay(void *context, struct bytes key, const void *row)
{
	struct scan *scan = context;

	(void)key;
	follow_replay(scan->state, row);
	return true;
}

static void follow_move(struct derived_state *state, const struct dealer_move *row, bool dropped)
{
	if (!moves_follow(&state->moves, row, dropped))
		log_line(LOG_LEVEL_ERROR, "moves_left_out", "most=%d", MOVES_ROOM);
	permits_pause(&state->permits, row->casino_id, !dropped && move_is_live(row->state));
}

static bool remember_move(void *context, struct bytes key, const void *row)
{
	const struct dealer_move *move = row;
	struct scan *scan = context;

	(void)key;
	if (move_is_live(move->state))
		follow_move(scan->state, move, false);
	return true;
}

bool derived_state_init(struct derived_state *state, uint64_t seed,
	const struct outbox_options *options)
{
	memset(state, 0, sizeof(*state));
	state->generation = seed ? seed : 1;
	if (!permits_init(&state->permits) || !schedule_init(&state->schedule))
		return false;
	state->permits.open_ms = options->breaker_open_ms;
	state->schedule.patience_ms = options->owner_patience_ms;
	return true;
}

void derived_state_free(struct derived_state *state)
{
	permits_free(&state->permits);
	schedule_free(&state->schedule);
	key_book_free(&state->key_book);
	unconfirmed_free(&state->unconfirmed);
}

/* Reads the counters. Returns STATUS_NOMEM, or the status of a row that cannot be read. */
static enum status load_counters(struct derived_state *state, struct store *store, struct ws *ws,
	const struct moment *now)
{
	enum status status;

	life_want(ws);
	counter_want(ws, DEALERS_COUNTER);
	status = store->load(store, ws);
	if (status)
		return status;
	state->transaction_id = counter_read(ws, LIFE_TRANSACTIONS);
	recent_begin(&state->recent, state->transaction_id);
	ws->id_stride = counter_read(ws, LIFE_STRIDE_COUNTER);
	if (ws->id_stride) {
		ws->id_floor = life_floor(now->wall_ms);
		ws->id_number = counter_read(ws, LIFE_NUMBER_COUNTER) % ws->id_stride;
	}
	state->dealers = counter_read(ws, DEALERS_COUNTER);
	return ws_faulty(ws) ? STATUS_NOMEM : STATUS_OK;
}

enum status derived_state_load(struct derived_state *state, struct store *store, struct ws *ws,
	const struct outbox_options *options, const struct moment *now)
{
	const struct store_range dealers = {.record = RECORD_DEALER};
	const struct store_range clients = {.record = RECORD_CLIENT};
	const struct store_range retired = {.record = RECORD_RETIRED_DIGEST};
	const struct store_range operators = {.record = RECORD_DESK_OPERATOR};
	const struct store_range replays = {.record = RECORD_REPLAY};
	const struct store_range moves = {.record = RECORD_DEALER_MOVE};
	const struct store_range dues = {.record = RECORD_DUE};
	struct scan scan = {.state = state, .options = options, .now = *now};
	enum status status = load_counters(state, store, ws, now);

	if (!status)
		status = store->scan(store, &dealers, remember_dealer, &scan);
	if (!status)
		status = store->scan(store, &clients, remember_client, &scan);
	if (!status)
		status = store->scan(store, &retired, remember_retired, &scan);
	if (!status)
		status = store->scan(store, &operators, remember_operator, &scan);
	if (!status)
		status = store->scan(store, &replays, remember_replay, &scan);
	if (!status)
		status = store->scan(store, &moves, remember_move, &scan);
	if (!status)
		status = store->scan(store, &dues, remember_due, &scan);
	unconfirmed_sort(&state->unconfirmed);
	return scan.failed ? STATUS_NOMEM : status;
}

static bool follow_due(struct derived_state *state, const struct ws_row *row,
	const struct moment *now)
{
	const struct due *due = row->data;
	struct schedule_entry entry = {.event = due->event};

	if (row->dropped) {
		schedule_remove(&state->schedule, due->event);
		return true;
	}
	entry.due_ms = due_boot_ms(due, now);
	entry.owner = due->sending ? due->owner : 0;
	entry.sending = due->sending;
	entry.kind = due->kind;
	return schedule_set(&state->schedule, due->casino_id, &entry);
}

static void follow_counter(struct derived_state *state, const struct counter *counter)
{
	if (strcmp(counter->name, LIFE_TRANSACTIONS) == 0) {
		CHECK(counter->value >= state->transaction_id);
		state->transaction_id = counter->value;
	} else if (strcmp(counter->name, DEALERS_COUNTER) == 0) {
		state->dealers = counter->value;
	}
}

static void follow_dealer(struct derived_state *state, const struct dealer *dealer, bool dropped)
{
	state->generation++;
	/* One that was deleted is not held any more. */
	permits_limit(&state->permits, dealer->casino_id, dropped ? 1 : hold_permits(dealer));
	if (dropped)
		unconfirmed_forget(&state->unconfirmed, RECORD_DEALER, dealer);
	else
		unconfirmed_follow(&state->unconfirmed, RECORD_DEALER, dealer);
}

static void follow_client(struct derived_state *state, const struct client *client)
{
	state->generation++;
	unconfirmed_follow(&state->unconfirmed, RECORD_CLIENT, client);
}

/* The ids of a dealer that moves are older than those before, and its feed is not read until it has arrived. */
static void follow_transaction(struct derived_state *state, const struct transaction *row)
{
	if (!moves_find(&state->moves, row->casino_id))
		recent_add(&state->recent, row);
}

/* Follows the moves of the batch, when its counters were followed. */
static void follow_moves(struct derived_state *state, const struct ws *ws)
{
	for (const struct ws_row *row = ws->first; row; row = row->next) {
		const struct dealer_move *move = row->data;

		if (row->record != RECORD_DEALER_MOVE || !row->dirty)
			continue;
		follow_move(state, move, row->dropped);
		/* Its keys yield from now on. */
		if (!row->dropped && move->state == MOVE_LEFT)
			state->generation++;
		/* Readers of its feed look in the store from now on. */
		if (!row->dropped && move->state == MOVE_ARRIVED) {
			recent_begin(&state->recent, state->transaction_id);
			state->arrivals++;
		}
	}
}

bool derived_state_follow(struct derived_state *state, const struct ws *ws,
	const struct moment *now)
{
	bool noted = true;

	for (const struct ws_row *row = ws->first; row; row = row->next) {
		if (!row->dirty)
			continue;
		if (row->record == RECORD_DEALER)
			follow_dealer(state, row->data, row->dropped);
		else if (row->record == RECORD_CLIENT)
			follow_client(state, row->data);
		else if (row->record == RECORD_COUNTER)
			follow_counter(state, row->data);
		else if (row->record == RECORD_TRANSACTION)
			follow_transaction(state, row->data);
		else if (row->record == RECORD_DESK_OPERATOR)
			follow_operator(state, row->data);
		else if (row->record == RECORD_REPLAY)
			follow_replay(state, row->data);
		else if (row->record == RECORD_DUE)
			noted = follow_due(state, row, now) && noted;
	}
	follow_moves(state, ws);
	return noted;
}
