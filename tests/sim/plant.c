/*
 * plant - what is wrong on purpose and needs the rows: an end without compare-and-set.
 */
#include "ledger/rows/keys.h"
#include "sim.h"

/* Sets the betting of @end back to where it is being sent, whatever became of it. */
void plant_rewind(struct world *w, const struct callback_end_cmd *end)
{
	static struct ws ws;
	struct callback callback;
	const struct callback *stored;
	struct due due;
	struct bet bet;

	memset(&callback, 0, sizeof(callback));
	callback.event = end->event;
	stored = end->kind == CALLBACK_BETTING ? world_load(w, RECORD_CALLBACK, &callback) : NULL;
	if (!stored || stored->state == CALLBACK_SENDING)
		return;
	callback = *stored;
	memset(&due, 0, sizeof(due));
	due.event = end->event;
	snprintf(due.casino_id, sizeof(due.casino_id), "%s", callback.casino_id);
	due.kind = CALLBACK_BETTING;
	due.sending = true;
	bet = bet_named(callback.player_id, callback.game_id, callback.bet_number);
	ws_init(&ws);
	ws_want(&ws, RECORD_CALLBACK, &callback);
	ws_want(&ws, RECORD_BET, &bet);
	ws_want(&ws, RECORD_DUE, &due);
	w->store->load(w->store, &ws);
	bet = *(const struct bet *)ws_get(&ws, RECORD_BET, &bet);
	bet.state = BET_PENDING;
	callback.state = CALLBACK_SENDING;
	ws_put(&ws, RECORD_BET, &bet);
	ws_put(&ws, RECORD_CALLBACK, &callback);
	ws_put(&ws, RECORD_DUE, &due);
	w->store->save(w->store, &ws);
	ws_free(&ws);
}
