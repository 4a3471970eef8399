/*
 * plant - what is wrong on purpose and needs the rows: an end or a seal without compare-and-set, a
 * cancellation without tombstone, corrections without their checks, answers that are not kept.
 */
#include "ledger/commands/wagers/correction_change.h"
#include "ledger/rows/keys.h"
#include "sim.h"

/* Corrections do not see the callback before them. */
bool plant_blind;

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

static void drop_row(struct world *w, enum record record, const void *key)
{
	static struct ws ws;

	ws_init(&ws);
	ws_want(&ws, record, key);
	w->store->load(w->store, &ws);
	if (ws_get(&ws, record, key)) {
		ws_drop(&ws, record, key);
		w->store->save(w->store, &ws);
	}
	ws_free(&ws);
}

/* Deletes the key of the transfer, so that the seal does not see it. */
void plant_forget(struct world *w, const struct transfer_inquire_cmd *inquiry)
{
	const struct request key =
		request_named(SCOPE_DEALER, inquiry->casino_id, inquiry->request_transaction_id);

	drop_row(w, RECORD_REQUEST, &key);
}

/* Deletes the key of the bet if a cancellation left it. */
void plant_no_tombstone(struct world *w, const struct bet_place_cmd *bet)
{
	const struct request key =
		request_named(SCOPE_CLIENT, bet->client_id, bet->request_transaction_id);
	const struct request *stored = world_load(w, RECORD_REQUEST, &key);

	if (stored && stored->outcome == REFUSAL_BET_CANCELLED)
		drop_row(w, RECORD_REQUEST, &key);
}

void plant_no_batch(struct world *w, const struct settle_batch_cmd *batch)
{
	const struct request request =
		request_named(SCOPE_CLIENT, batch->client_id, batch->request_transaction_id);
	struct result_batch key;

	memset(&key, 0, sizeof(key));
	memcpy(key.client_id, batch->client_id, sizeof(key.client_id));
	memcpy(key.request_transaction_id, batch->request_transaction_id,
		sizeof(key.request_transaction_id));
	drop_row(w, RECORD_REQUEST, &request);
	drop_row(w, RECORD_RESULT_BATCH, &key);
}

void plant_no_operation(struct world *w, const struct operator_correct_cmd *cmd)
{
	const struct request request =
		request_named(SCOPE_OPERATOR, cmd->casino_id, cmd->operator.operation_id);

	drop_row(w, RECORD_REQUEST, &request);
}

/* A repeated request keeps the revision that it made. */
void plant_renumber(struct world *w, struct round_correct_cmd *cmd)
{
	const struct request request_key =
		request_named(SCOPE_CLIENT, cmd->client_id, cmd->request_transaction_id);
	const struct request *request = world_load(w, RECORD_REQUEST, &request_key);
	const uint32_t number = rows_number(cmd->game_id);
	const struct round round_key =
		round_named(w->users[w->rounds[number].user].player_id, cmd->game_id);
	const struct round *round;

	if (request) {
		cmd->revision = request->bet_number;
		return;
	}
	round = world_load(w, RECORD_ROUND, &round_key);
	if (round && round->state == ROUND_SETTLED)
		cmd->revision = round->revision + 1;
}

enum refusal __real_correction_prepare(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct resolved_player *subject, const struct round *stored,
	struct correction_change *change, struct round_correct_result *result);
enum refusal __wrap_correction_prepare(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct resolved_player *subject, const struct round *stored,
	struct correction_change *change, struct round_correct_result *result);

/* With PLANT_NO_OPEN_CHECK the checks of a correction do not see the callback before it. */
enum refusal __wrap_correction_prepare(struct ws *ws, const struct round_correct_cmd *cmd,
	const struct resolved_player *subject, const struct round *stored,
	struct correction_change *change, struct round_correct_result *result)
{
	struct round blind;

	if (!plant_blind || !stored)
		return __real_correction_prepare(ws, cmd, subject, stored, change, result);
	blind = *stored;
	blind.last_event = 0;
	return __real_correction_prepare(ws, cmd, subject, &blind, change, result);
}
