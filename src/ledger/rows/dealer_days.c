#include "ledger/rows/dealer_days.h"

#include "base/text.h"
#include "domain/dealer_day.h"
#include "ledger/rows/keys.h"

#include <string.h>

/* The day under way, so that it is written once for a run of rows of the same day. */
struct counted {
	struct ws *ws;
	struct dealer_day day;
	bool open;
};

void dealer_days_keep(struct ws *ws)
{
	ws->keeps = UINT32_C(1) << RECORD_BET | UINT32_C(1) << RECORD_CALLBACK;
}

/* Returns the dealer and the time of a row that counts. Returns NULL for other rows. */
static const char *subject_of(const struct ws_row *row, int64_t *time_ms)
{
	if (!row->dirty || row->dropped)
		return NULL;
	switch (row->record) {
	case RECORD_TRANSACTION:
		*time_ms = ((const struct transaction *)row->data)->time_ms;
		return ((const struct transaction *)row->data)->casino_id;
	case RECORD_BET:
		*time_ms = ((const struct bet *)row->data)->accepted_ms;
		return ((const struct bet *)row->data)->casino_id;
	case RECORD_CALLBACK:
		*time_ms = ((const struct callback *)row->data)->created_ms;
		return ((const struct callback *)row->data)->casino_id;
	default:
		return NULL;
	}
}

static struct dealer_day day_key(const char *casino_id, uint32_t number)
{
	struct dealer_day key;

	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), casino_id);
	key.number = number;
	return key;
}

void dealer_days_want(struct ws *ws)
{
	const struct dealer *dealer;
	struct dealer_day day;
	const char *casino_id;
	int64_t time_ms = 0;

	for (struct ws_row *row = ws->first; row; row = row->next) {
		casino_id = subject_of(row, &time_ms);
		if (!casino_id)
			continue;
		ws_want(ws, RECORD_DEALER, dealer_key_of(casino_id));
		if (!ws_loaded(ws, RECORD_DEALER, dealer_key_of(casino_id)))
			continue;
		dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(casino_id));
		day = day_key(casino_id, 0);
		if (dealer && dealer_day_number(dealer, time_ms, &day.number))
			ws_want(ws, RECORD_DEALER_DAY, &day);
	}
}

static void close_day(struct counted *counted)
{
	if (counted->open)
		ws_put(counted->ws, RECORD_DEALER_DAY, &counted->day);
	counted->open = false;
}

static void open_day(struct counted *counted, const char *casino_id, uint32_t number)
{
	struct dealer_day key = day_key(casino_id, number);
	const struct dealer_day *stored;

	if (counted->open && counted->day.number == number &&
		strcmp(counted->day.casino_id, casino_id) == 0)
		return;
	close_day(counted);
	stored = ws_get(counted->ws, RECORD_DEALER_DAY, &key);
	counted->day = stored ? *stored : key;
	counted->open = true;
}

/* A result or correction that moved nothing here, of a seamless wallet: its rows are in the batch. */
static void count_reported(struct counted *counted, const struct transaction *row)
{
	struct round round_key = round_named(row->player_id, row->game_id);
	struct correction correction_key =
		correction_named(row->player_id, row->game_id, row->bet_number);
	const struct correction *correction;
	const struct round *round;

	if (row->kind != ENTRY_PAYOUT && row->kind != ENTRY_CORRECTION)
		return;
	round = ws_get(counted->ws, RECORD_ROUND, &round_key);
	if (!round || round->mode != WALLET_SEAMLESS)
		return;
	if (row->kind == ENTRY_PAYOUT) {
		dealer_day_payout(&counted->day, round->payout_amount);
		return;
	}
	correction = ws_get(counted->ws, RECORD_CORRECTION, &correction_key);
	if (correction)
		dealer_day_correction(&counted->day, correction);
}

static void count_row(struct counted *counted, const struct ws_row *row)
{
	switch (row->record) {
	case RECORD_TRANSACTION:
		if (((const struct transaction *)row->data)->entry_seq)
			dealer_day_movement(&counted->day, row->data);
		else
			count_reported(counted, row->data);
		break;
	case RECORD_BET:
		if (row->before)
			dealer_day_bet(&counted->day, row->before, -1);
		dealer_day_bet(&counted->day, row->data, 1);
		break;
	default:
		if (row->before)
			dealer_day_callback(&counted->day, row->before, -1);
		dealer_day_callback(&counted->day, row->data, 1);
		break;
	}
}

void dealer_days_count(struct ws *ws)
{
	struct counted counted = {.ws = ws};
	const struct ws_row *last = ws->last;
	const struct dealer *dealer;
	const char *casino_id;
	int64_t time_ms = 0;
	uint32_t number;

	for (struct ws_row *row = ws->first; row; row = row == last ? NULL : row->next) {
		casino_id = subject_of(row, &time_ms);
		dealer = casino_id ? ws_get(ws, RECORD_DEALER, dealer_key_of(casino_id)) : NULL;
		if (!dealer || !dealer_day_number(dealer, time_ms, &number))
			continue;
		open_day(&counted, casino_id, number);
		count_row(&counted, row);
	}
	close_day(&counted);
}
