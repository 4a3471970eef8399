/*
 * recon_rows - reads the transactions, bets and callbacks of a day for `recon`.
 *
 * Transactions and callbacks of all dealers are numbered in the order of their creation. Only the
 * rows of the day are walked, and the rows that they name are fetched. Each transaction costs one
 * read, a bet two, a callback three.
 */
#include "recon/recon.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/seek.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "domain/callback.h"

#include <inttypes.h>
#include <string.h>

static bool is_wanted(const struct recon *recon, enum recon_record record)
{
	return recon->records & UINT32_C(1) << record;
}

static void add_to_sum(struct recon_sum *sum, sum_t amount)
{
	sum->count++;
	sum->amount += amount;
}

/* Finds the user_id of a player. */
static enum outcome record_name(struct recon *recon, const char *player_id, const char **user_id)
{
	struct player_name *name = &recon->names[text_hash(player_id) % RECON_NAMES];

	*user_id = name->user_id;
	return names_of(recon->session, player_id, name);
}

static enum outcome write_movement(struct recon *recon, const struct transaction *transaction)
{
	char id[32];
	struct recon_row row = {
		.record = recon_record_names[RECON_MOVEMENT],
		.id = id,
		.player_id = transaction->player_id,
		.game_id = transaction->game_id,
		.state = "done",
		.has_amount = true,
		.has_transaction = true,
		.has_balances = true,
		.transaction_id = transaction->transaction_id,
	};
	enum outcome code = record_name(recon, transaction->player_id, &row.user_id);

	if (code != OUTCOME_DONE)
		return code;
	snprintf(id, sizeof(id), "%" PRIu64, transaction->transaction_id);
	row.time_ms = transaction->time_ms;
	row.kind = entry_kind_names[transaction->kind];
	row.amount = transaction->amount;
	row.before_balance = transaction->before_balance;
	row.current_balance = transaction->current_balance;
	row.reference = transaction->request_transaction_id;
	recon_put(recon, &row);
	add_to_sum(&recon->movements[transaction->kind], transaction->amount);
	return OUTCOME_DONE;
}

static enum outcome fetch_bet(struct recon *recon, const char *player_id, const char *game_id,
	uint32_t number, struct bet *bet)
{
	enum outcome code;
	bool found;

	memset(bet, 0, sizeof(*bet));
	memcpy(bet->player_id, player_id, sizeof(bet->player_id));
	memcpy(bet->game_id, game_id, sizeof(bet->game_id));
	bet->number = number;
	code = list_fetch(recon->session, RECORD_BET, bet, &found, NULL);
	return code == OUTCOME_DONE && !found ? names_missing(recon->session, "a bet") : code;
}

static enum outcome write_bet(struct recon *recon, const struct transaction *transaction)
{
	char id[32];
	struct recon_row row = {
		.record = recon_record_names[RECON_BET],
		.id = id,
		.has_amount = true,
		.has_transaction = true,
	};
	struct bet bet;
	enum outcome code = fetch_bet(recon, transaction->player_id, transaction->game_id,
		transaction->bet_number, &bet);

	if (code == OUTCOME_DONE)
		code = record_name(recon, bet.player_id, &row.user_id);
	if (code != OUTCOME_DONE)
		return code;
	snprintf(id, sizeof(id), "%" PRIu64, bet.transaction_id);
	row.time_ms = bet.accepted_ms;
	row.player_id = bet.player_id;
	row.game_id = bet.game_id;
	row.kind = bet.addition ? "addition" : "bet";
	row.state = bet_state_names[bet.state];
	row.amount = bet.bet_amount;
	row.transaction_id = bet.transaction_id;
	row.reference = bet.request_transaction_id;
	recon_put(recon, &row);
	add_to_sum(&recon->bets[bet.state], bet.bet_amount);
	return OUTCOME_DONE;
}

static enum outcome write_transaction(void *closure, const union seek_row *any)
{
	struct recon *recon = closure;
	const struct transaction *row = &any->transaction;
	enum outcome code = OUTCOME_DONE;

	if (strcmp(row->casino_id, recon->dealer.casino_id) != 0)
		return OUTCOME_DONE;
	if (row->entry_seq && is_wanted(recon, RECON_MOVEMENT))
		code = write_movement(recon, row);
	if (code == OUTCOME_DONE && row->kind == ENTRY_BET && is_wanted(recon, RECON_BET))
		code = write_bet(recon, row);
	return code;
}

/* Reads the amount and the transaction_id from the callback's body. */
static enum outcome fill_amount(struct recon *recon, const struct callback *callback,
	struct recon_row *row)
{
	struct round round;
	struct bet bet;
	enum outcome code;
	bool found;

	row->has_amount = row->has_transaction = true;
	if (callback->bet_number) {
		code = fetch_bet(recon, callback->player_id, callback->game_id,
			callback->bet_number, &bet);
		row->amount = bet.bet_amount;
		row->transaction_id = bet.transaction_id;
		return code;
	}
	if (callback->revision) {
		struct correction correction;
		money_t amount;

		code = correction_fetch(recon->session, callback, &correction, &amount);
		row->amount = amount;
		row->transaction_id = correction.transaction_id;
		return code;
	}
	memset(&round, 0, sizeof(round));
	memcpy(round.player_id, callback->player_id, sizeof(round.player_id));
	memcpy(round.game_id, callback->game_id, sizeof(round.game_id));
	code = list_fetch(recon->session, RECORD_ROUND, &round, &found, NULL);
	row->amount = round.payout_amount;
	row->transaction_id = round.transaction_id;
	return code == OUTCOME_DONE && !found ? names_missing(recon->session, "a round") : code;
}

static enum outcome write_callback(void *closure, const union seek_row *any)
{
	struct recon *recon = closure;
	const struct callback *callback = &any->callback;
	char id[CALLBACK_EVENT_ID_SIZE];
	struct recon_row row = {
		.record = recon_record_names[RECON_CALLBACK],
		.id = id,
		.time_ms = callback->created_ms,
		.player_id = callback->player_id,
		.game_id = callback->game_id,
		.kind = callback_kind_names[callback->kind],
		.state = callback_state_names[callback->state],
		.revision = callback->revision,
	};
	enum outcome code;

	if (strcmp(callback->casino_id, recon->dealer.casino_id) != 0)
		return OUTCOME_DONE;
	callback_event_id(callback->kind, callback->event, id);
	code = fill_amount(recon, callback, &row);
	if (code == OUTCOME_DONE)
		code = record_name(recon, callback->player_id, &row.user_id);
	if (code != OUTCOME_DONE)
		return code;
	recon_put(recon, &row);
	add_to_sum(&recon->callbacks[callback->kind][callback->state], row.amount);
	return OUTCOME_DONE;
}

enum outcome recon_write_transactions(struct recon *recon)
{
	if (!is_wanted(recon, RECON_MOVEMENT) && !is_wanted(recon, RECON_BET))
		return OUTCOME_DONE;
	return seek_walk(recon->session, RECORD_TRANSACTION, recon->from_ms, recon->until_ms,
		write_transaction, recon);
}

enum outcome recon_write_callbacks(struct recon *recon)
{
	return seek_walk(recon->session, RECORD_CALLBACK, recon->from_ms, recon->until_ms,
		write_callback, recon);
}

enum outcome recon_write_transaction(struct recon *recon, uint64_t id)
{
	union seek_row row;
	bool found;
	enum outcome code;

	memset(&row, 0, sizeof(row));
	seek_key(RECORD_TRANSACTION, id, &row);
	code = list_fetch(recon->session, RECORD_TRANSACTION, &row.transaction, &found, NULL);
	return code == OUTCOME_DONE && found ? write_transaction(recon, &row) : code;
}

enum outcome recon_write_callback(struct recon *recon, uint64_t event)
{
	union seek_row row;
	bool found;
	enum outcome code;

	memset(&row, 0, sizeof(row));
	seek_key(RECORD_CALLBACK, event, &row);
	code = list_fetch(recon->session, RECORD_CALLBACK, &row.callback, &found, NULL);
	return code == OUTCOME_DONE && found ? write_callback(recon, &row) : code;
}
