#include "store/recount.h"

#include "base/log.h"
#include "domain/aside.h"
#include "domain/bet_index.h"
#include "domain/delivery.h"
#include "domain/retired_digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lifetimes are saved when so many are known. */
#define LIFETIMES_MAX 1000

/* Retired keys are saved when so many are known. */
#define RETIRED_MAX 256

/* Callbacks that are set aside are saved when so many are known. */
#define ASIDE_MAX 1000

/* A line of the log says after so many rows how many were made. */
#define PROGRESS_ROWS 1000000

/* Rows by which bets are found are saved when so many are known. */
#define BET_INDEX_MAX 1000

struct stake {
	char player_id[PLAYER_ID_SIZE];
	money_t staked;
};

struct recount {
	struct store *store;
	struct ws *ws;
	struct total *totals; /* sorted by casino_id, as they are stored */
	size_t total_count;
	size_t total_size;
	struct stake stakes[LIFETIMES_MAX];
	size_t stake_count;
	struct retired_digest retired[RETIRED_MAX];
	size_t retired_count;
	struct aside aside[ASIDE_MAX];
	size_t aside_count;
	struct game_player game_players[BET_INDEX_MAX];
	size_t game_player_count;
	struct player_bet player_bets[BET_INDEX_MAX];
	size_t player_bet_count;
	uint64_t made;       /* rows, also those that were there */
	struct buffer after; /* key of the last row that was counted */
	bool more;           /* the scan stopped before the end */
	int64_t newest_ms;   /* the latest time of a row that the sums of days count; 0: none */
	struct callback callback; /* the one that it stopped at */
	enum status status;
	char *why;
	size_t why_size;
};

static enum status fail_recount(struct recount *recount, enum status status, const char *what)
{
	snprintf(recount->why, recount->why_size, "cannot %s: %s", what, status_text(status));
	recount->status = status;
	return status;
}

/* Notes that a row has this time. */
static void note_time(struct recount *recount, int64_t time_ms)
{
	if (time_ms > recount->newest_ms)
		recount->newest_ms = time_ms;
}

static bool add_total(void *context, struct bytes key, const void *row)
{
	struct recount *recount = context;
	struct total *grown;

	(void)key;
	if (recount->total_count == recount->total_size) {
		recount->total_size = recount->total_size ? 2 * recount->total_size : 16;
		grown = realloc(recount->totals, recount->total_size * sizeof(*grown));
		if (!grown) {
			fail_recount(recount, STATUS_NOMEM, "compute the rows of the new schema");
			return false;
		}
		recount->totals = grown;
	}
	grown = &recount->totals[recount->total_count++];
	*grown = *(const struct total *)row;
	grown->seamless_staked = grown->seamless_paid = grown->seamless_refunded = 0;
	grown->owed_payouts = grown->owed_refunds = 0;
	grown->bets_with_balance = grown->bets_without_balance = 0;
	return true;
}

static int compare_totals(const void *one, const void *other)
{
	return strcmp(((const struct total *)one)->casino_id,
		((const struct total *)other)->casino_id);
}

/* Returns the total of the dealer; NULL if there is no such row, which `check` reports. */
static struct total *total_of(struct recount *recount, const char *casino_id)
{
	struct total key;

	if (!recount->total_count)
		return NULL;
	memset(&key, 0, sizeof(key));
	memcpy(key.casino_id, casino_id, sizeof(key.casino_id));
	return bsearch(&key, recount->totals, recount->total_count, sizeof(key), compare_totals);
}

static void count_seamless(struct total *total, const struct bet *bet)
{
	if (bet->state == BET_ACCEPTED || bet->state == BET_SETTLED) {
		total->seamless_staked += bet->bet_amount;
		*(bet->has_balance ? &total->bets_with_balance : &total->bets_without_balance) += 1;
	}
	if (bet->state == BET_REFUNDING || bet->state == BET_REFUNDED)
		total->seamless_refunded += bet->bet_amount;
	if (bet->state == BET_REFUNDING)
		total->owed_refunds += bet->bet_amount;
}

/* Adds a bet. Stops before the bet whose player does not fit any more. */
static bool count_bet(void *context, struct bytes key, const void *row)
{
	struct recount *recount = context;
	const struct bet *bet = row;
	struct total *total = total_of(recount, bet->casino_id);
	struct stake *last =
		recount->stake_count ? &recount->stakes[recount->stake_count - 1] : NULL;

	note_time(recount, bet->accepted_ms);
	if (bet->mode == WALLET_SEAMLESS) {
		if (total)
			count_seamless(total, bet);
	} else if (bet->state == BET_ACCEPTED) {
		if (!last || strcmp(last->player_id, bet->player_id) != 0) {
			if (recount->stake_count == LIFETIMES_MAX) {
				recount->more = true;
				return false;
			}
			last = &recount->stakes[recount->stake_count++];
			memcpy(last->player_id, bet->player_id, sizeof(last->player_id));
			last->staked = 0;
		}
		last->staked += bet->bet_amount;
	}
	buffer_reset(&recount->after);
	buffer_append(&recount->after, key.data, key.len);
	return !recount->after.failed;
}

static bool count_round(void *context, struct bytes key, const void *row)
{
	struct recount *recount = context;
	const struct round *round = row;
	struct total *total = total_of(recount, round->casino_id);

	(void)key;
	if (total && round->mode == WALLET_SEAMLESS && round->state == ROUND_SETTLED)
		total->seamless_paid += round->current_payout;
	return true;
}

/* Stops at a betting-result that has not ended: its round must be loaded. */
static bool find_callback(void *context, struct bytes key, const void *row)
{
	struct recount *recount = context;
	const struct callback *callback = row;

	note_time(recount, callback->created_ms);
	buffer_reset(&recount->after);
	buffer_append(&recount->after, key.data, key.len);
	if (callback->kind == CALLBACK_BETTING_RESULT && !callback_has_ended(callback->state)) {
		recount->callback = *callback;
		recount->more = true;
		return false;
	}
	return !recount->after.failed;
}

static enum status scan_all(struct recount *recount, enum record record, store_visit *visit)
{
	const struct store_range range = {
		.record = record,
		.after = {recount->after.data, (uint32_t)recount->after.len},
	};
	enum status status = recount->store->scan(recount->store, &range, visit, recount);

	if (recount->status)
		return recount->status;
	if (recount->after.failed)
		return fail_recount(recount, STATUS_NOMEM, "compute the rows of the new schema");
	return status ? fail_recount(recount, status, "read the rows") : STATUS_OK;
}

static enum status save_rows(struct recount *recount)
{
	enum save_result saved;

	if (ws_faulty(recount->ws))
		return fail_recount(recount, STATUS_NOMEM, "compute the rows of the new schema");
	saved = recount->store->save(recount->store, recount->ws);
	ws_reset(recount->ws);
	if (saved == SAVE_OK)
		return STATUS_OK;
	return fail_recount(recount, saved == SAVE_FULL ? STATUS_FULL : STATUS_IO,
		"write the rows of the new schema");
}

/* Writes the stakes of the players that were counted. */
static enum status save_stakes(struct recount *recount)
{
	const struct lifetime *stored;
	struct lifetime lifetime;
	enum status status;

	memset(&lifetime, 0, sizeof(lifetime));
	for (size_t i = 0; i < recount->stake_count; i++) {
		memcpy(lifetime.player_id, recount->stakes[i].player_id,
			sizeof(lifetime.player_id));
		ws_want(recount->ws, RECORD_LIFETIME, &lifetime);
	}
	status = recount->store->load(recount->store, recount->ws);
	if (status)
		return fail_recount(recount, status, "read the sums of players");
	for (size_t i = 0; i < recount->stake_count; i++) {
		memset(&lifetime, 0, sizeof(lifetime));
		memcpy(lifetime.player_id, recount->stakes[i].player_id,
			sizeof(lifetime.player_id));
		stored = ws_get(recount->ws, RECORD_LIFETIME, &lifetime);
		if (!stored)
			continue;
		lifetime = *stored;
		lifetime.staked = recount->stakes[i].staked;
		ws_put(recount->ws, RECORD_LIFETIME, &lifetime);
	}
	recount->stake_count = 0;
	return save_rows(recount);
}

/* Counts the bets, as many players at a time as fit. */
static enum status count_bets(struct recount *recount)
{
	enum status status;

	do {
		recount->more = false;
		status = scan_all(recount, RECORD_BET, count_bet);
		if (!status && recount->stake_count)
			status = save_stakes(recount);
	} while (!status && recount->more);
	buffer_reset(&recount->after);
	return status;
}

/* Adds the payout of the round that the found callback reports. */
static enum status count_callback(struct recount *recount)
{
	struct total *total = total_of(recount, recount->callback.casino_id);
	const struct round *round;
	struct round key;
	enum status status;

	memset(&key, 0, sizeof(key));
	memcpy(key.player_id, recount->callback.player_id, sizeof(key.player_id));
	memcpy(key.game_id, recount->callback.game_id, sizeof(key.game_id));
	ws_want(recount->ws, RECORD_ROUND, &key);
	status = recount->store->load(recount->store, recount->ws);
	if (status)
		return fail_recount(recount, status, "read a round");
	round = ws_get(recount->ws, RECORD_ROUND, &key);
	if (round && total)
		total->owed_payouts += round->payout_amount;
	ws_reset(recount->ws);
	return STATUS_OK;
}

static enum status count_callbacks(struct recount *recount)
{
	enum status status;

	do {
		recount->more = false;
		status = scan_all(recount, RECORD_CALLBACK, find_callback);
		if (!status && recount->more)
			status = count_callback(recount);
	} while (!status && recount->more);
	return status;
}

static enum status save_totals(struct recount *recount)
{
	enum status status;

	for (size_t i = 0; i < recount->total_count; i++)
		ws_want(recount->ws, RECORD_TOTAL, &recount->totals[i]);
	status = recount->store->load(recount->store, recount->ws);
	if (status)
		return fail_recount(recount, status, "read the sums of dealers");
	for (size_t i = 0; i < recount->total_count; i++)
		ws_put(recount->ws, RECORD_TOTAL, &recount->totals[i]);
	return save_rows(recount);
}

static bool note_transaction(void *context, struct bytes key, const void *row)
{
	(void)key;
	note_time(context, ((const struct transaction *)row)->time_ms);
	return true;
}

/*
 * The sums of days begin after the latest time of all rows, because these rows were not counted. Each
 * row is looked at: the clock may have been ahead when any of them was made. If there is no row at all,
 * all rows count.
 */
static enum status begin_days(struct recount *recount)
{
	enum status status;
	struct dealer key, dealer;
	const struct dealer *stored;

	buffer_reset(&recount->after);
	status = scan_all(recount, RECORD_TRANSACTION, note_transaction);
	if (status || !recount->newest_ms)
		return status;
	memset(&key, 0, sizeof(key));
	for (size_t i = 0; i < recount->total_count; i++) {
		memcpy(key.casino_id, recount->totals[i].casino_id, sizeof(key.casino_id));
		ws_want(recount->ws, RECORD_DEALER, &key);
	}
	status = recount->store->load(recount->store, recount->ws);
	if (status)
		return fail_recount(recount, status, "read the dealers");
	for (size_t i = 0; i < recount->total_count; i++) {
		memcpy(key.casino_id, recount->totals[i].casino_id, sizeof(key.casino_id));
		stored = ws_get(recount->ws, RECORD_DEALER, &key);
		if (!stored)
			continue;
		dealer = *stored;
		dealer.days_from_ms = recount->newest_ms + 1;
		ws_put(recount->ws, RECORD_DEALER, &dealer);
	}
	return save_rows(recount);
}

/* Collects the keys that rows of the audit retire. Stops before a row whose keys do not fit any more. */
static bool find_retired(void *context, struct bytes key, const void *row)
{
	struct recount *recount = context;

	if (recount->retired_count + DEALER_KEYS_MAX > RETIRED_MAX) {
		recount->more = true;
		return false;
	}
	for (uint32_t number = 1; number <= DEALER_KEYS_MAX &&
		retired_digest_of(row, number, &recount->retired[recount->retired_count]);
		number++)
		recount->retired_count++;
	buffer_reset(&recount->after);
	buffer_append(&recount->after, key.data, key.len);
	return !recount->after.failed;
}

/* Collects the callbacks that are set aside. Stops before one that does not fit any more. */
static bool find_aside(void *context, struct bytes key, const void *row)
{
	struct recount *recount = context;
	const struct callback *callback = row;

	if (callback_is_aside(callback->state)) {
		if (recount->aside_count == ASIDE_MAX) {
			recount->more = true;
			return false;
		}
		recount->aside[recount->aside_count++] = aside_of(callback);
	}
	buffer_reset(&recount->after);
	buffer_append(&recount->after, key.data, key.len);
	return !recount->after.failed;
}

/*
 * Collects the rows by which bets are found, from the transactions of the bets. Stops before a bet that does not
 * fit any more. There are at least as many bets as first bets.
 */
static bool find_bet(void *context, struct bytes key, const void *row)
{
	struct recount *recount = context;
	struct bet_index index;

	if (bet_index_of_transaction(row, &index)) {
		if (recount->player_bet_count == BET_INDEX_MAX) {
			recount->more = true;
			return false;
		}
		recount->player_bets[recount->player_bet_count++] = index.by_time;
		if (index.is_first)
			recount->game_players[recount->game_player_count++] = index.by_game;
	}
	buffer_reset(&recount->after);
	buffer_append(&recount->after, key.data, key.len);
	return !recount->after.failed;
}

/* Rows of the kind @record that are made from those of the kind @from. */
struct made_rows {
	enum record from;
	store_visit *find; /* collects them, and stops before one that does not fit any more */
	enum record record;
	const void *rows;
	size_t *count;
	const char *what; /* for the reason of a failure */
};

static enum status save_made(struct recount *recount, const struct made_rows *made)
{
	const uint32_t size = record_infos[made->record].size;
	enum status status;

	for (size_t i = 0; i < *made->count; i++)
		ws_want(recount->ws, made->record, (const uint8_t *)made->rows + i * size);
	status = recount->store->load(recount->store, recount->ws);
	if (status)
		return fail_recount(recount, status, made->what);
	for (size_t i = 0; i < *made->count; i++) {
		const uint8_t *row = (const uint8_t *)made->rows + i * size;
		const void *stored = ws_get(recount->ws, made->record, row);

		/* A raise that goes on after an interruption writes only the rows that are missing. */
		if (!stored || memcmp(stored, row, size) != 0)
			ws_put(recount->ws, made->record, row);
	}
	recount->made += *made->count;
	if (recount->made / PROGRESS_ROWS != (recount->made - *made->count) / PROGRESS_ROWS)
		log_line(LOG_LEVEL_INFO, "schema_rows", "made=%" PRIu64, recount->made);
	*made->count = 0;
	return save_rows(recount);
}

static enum status make_rows(struct recount *recount, const struct made_rows *made)
{
	enum status status;

	buffer_reset(&recount->after);
	do {
		recount->more = false;
		status = scan_all(recount, made->from, made->find);
		if (!status && *made->count)
			status = save_made(recount, made);
	} while (!status && recount->more);
	return status;
}

/* Makes a row of each key that the audit retires. */
static enum status make_retired(struct recount *recount)
{
	return make_rows(recount,
		&(struct made_rows){.from = RECORD_AUDIT,
			.find = find_retired,
			.record = RECORD_RETIRED_DIGEST,
			.rows = recount->retired,
			.count = &recount->retired_count,
			.what = "read the retired keys"});
}

/* Makes a row of each callback that is parked or held. */
static enum status make_aside(struct recount *recount)
{
	return make_rows(recount,
		&(struct made_rows){.from = RECORD_CALLBACK,
			.find = find_aside,
			.record = RECORD_ASIDE,
			.rows = recount->aside,
			.count = &recount->aside_count,
			.what = "read the callbacks that are parked or held"});
}

/* Makes the rows by which bets are found, of both kinds in one scan. */
static enum status make_bet_index(struct recount *recount)
{
	const struct made_rows by_time = {.record = RECORD_PLAYER_BET,
		.rows = recount->player_bets,
		.count = &recount->player_bet_count,
		.what = "read the bets of players"};
	const struct made_rows by_game = {.record = RECORD_GAME_PLAYER,
		.rows = recount->game_players,
		.count = &recount->game_player_count,
		.what = "read the players of games"};
	enum status status;

	buffer_reset(&recount->after);
	do {
		recount->more = false;
		status = scan_all(recount, RECORD_TRANSACTION, find_bet);
		if (!status && recount->player_bet_count)
			status = save_made(recount, &by_time);
		if (!status && recount->game_player_count)
			status = save_made(recount, &by_game);
	} while (!status && recount->more);
	return status;
}

static enum status count_sums(struct recount *recount)
{
	enum status status = scan_all(recount, RECORD_TOTAL, add_total);

	if (!status)
		status = count_bets(recount);
	if (!status)
		status = scan_all(recount, RECORD_ROUND, count_round);
	if (!status)
		status = count_callbacks(recount);
	if (!status && recount->total_count)
		status = save_totals(recount);
	if (!status && recount->total_count)
		status = begin_days(recount);
	return status ? status : make_retired(recount);
}

enum status recount(struct store *store, uint64_t from, char *why, size_t why_size)
{
	struct recount *recount = calloc(1, sizeof(*recount));
	enum status status = STATUS_NOMEM;

	if (recount) {
		recount->store = store;
		recount->why = why;
		recount->why_size = why_size;
		recount->ws = ws_new();
		buffer_init(&recount->after, SIZE_MAX / 4);
	}
	if (!recount || !recount->ws) {
		snprintf(why, why_size, "out of memory");
		free(recount);
		return status;
	}
	status = from < RECOUNT_SUMS_SCHEMA ? count_sums(recount) : STATUS_OK;
	if (!status && from < RECOUNT_ASIDE_SCHEMA)
		status = make_aside(recount);
	if (!status && from < RECOUNT_BET_INDEX_SCHEMA)
		status = make_bet_index(recount);
	ws_delete(recount->ws);
	buffer_free(&recount->after);
	free(recount->totals);
	free(recount);
	return status;
}
