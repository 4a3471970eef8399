#include "ledger/commands/callbacks/owed.h"

#include "base/check.h"
#include "domain/wager.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/keys.h"

#include "link/metrics_commands.h"

#include <stdio.h>
#include <stdlib.h>

void owed_want(struct ws *ws, uint64_t event)
{
	const struct callback *callback;
	struct correction correction;
	struct round round;

	ws_want(ws, RECORD_CALLBACK, &event);
	callback =
		ws_loaded(ws, RECORD_CALLBACK, &event) ? ws_get(ws, RECORD_CALLBACK, &event) : NULL;
	if (!callback)
		return;
	round = round_named(callback->player_id, callback->game_id);
	ws_want(ws, RECORD_ROUND, &round);
	correction = correction_named(callback->player_id, callback->game_id, callback->revision);
	if (callback->revision)
		ws_want(ws, RECORD_CORRECTION, &correction);
}

/* Returns the amount that the betting-result @callback owes the player. */
static money_t owed_by(struct ws *ws, const struct callback *callback)
{
	const struct round key = round_named(callback->player_id, callback->game_id);
	const struct round *round = ws_get(ws, RECORD_ROUND, &key);
	const struct correction *correction = outbox_correction(ws, callback);

	if (correction)
		return correction_paid(correction);
	return round ? round->payout_amount : 0;
}

bool owed_is(struct ws *ws, const struct callback *callback, const struct dealer *dealer,
	money_t amount, struct verdict *verdict)
{
	const money_t owed = owed_by(ws, callback);
	char id[CALLBACK_EVENT_ID_SIZE], text[MONEY_TEXT_MAX];

	callback_event_id(callback->kind, callback->event, id);
	money_format(owed, dealer->decimals, text);
	if (!owed)
		snprintf(verdict->detail, sizeof(verdict->detail), "%s owes nothing: cancel it",
			id);
	else if (owed != amount)
		snprintf(verdict->detail, sizeof(verdict->detail),
			"%s owes %s; the adjustment must be that amount", id, text);
	return owed && owed == amount;
}

/* Returns true if the dealer owes the player of the callback credit until it confirms it. */
static bool owes_player(struct ws *ws, const struct callback *callback)
{
	if (callback->kind == CALLBACK_BETTING_REFUND)
		return true;
	return callback->kind == CALLBACK_BETTING_RESULT && !callback->adjusted_by &&
		owed_by(ws, callback) > 0;
}

static int compare_players(const void *a, const void *b)
{
	return strcmp(a, b);
}

enum status owed_count_players(struct store *store, struct ws *ws, const uint64_t *events,
	uint32_t count, uint32_t *players)
{
	static char ids[CALLBACK_AGES_OWED_MAX][PLAYER_ID_SIZE];
	enum status status = STATUS_OK;
	uint32_t owed = 0;

	CHECK(count <= CALLBACK_AGES_OWED_MAX);
	ws_reset(ws);
	/* The callbacks, then the rows that they name. */
	for (unsigned int step = 0; step < 2 && !status; step++) {
		for (uint32_t i = 0; i < count; i++)
			owed_want(ws, events[i]);
		if (ws_pending(ws))
			status = store->load(store, ws);
	}
	for (uint32_t i = 0; i < count && !status; i++) {
		const struct callback *callback = ws_get(ws, RECORD_CALLBACK, &events[i]);

		if (callback && owes_player(ws, callback))
			memcpy(ids[owed++], callback->player_id, sizeof(ids[0]));
	}
	qsort(ids, owed, sizeof(ids[0]), compare_players);
	*players = 0;
	for (uint32_t i = 0; i < owed; i++)
		*players += !i || strcmp(ids[i], ids[i - 1]) != 0;
	return !status && ws_faulty(ws) ? STATUS_NOMEM : status;
}
