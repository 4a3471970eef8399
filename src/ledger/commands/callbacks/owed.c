#include "ledger/commands/callbacks/owed.h"

#include "domain/wager.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/keys.h"

#include <stdio.h>

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
