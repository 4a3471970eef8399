#include "ledger/rows/post.h"

#include "base/check.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/life.h"

void post_want(struct ws *ws, const char *casino_id, const char *user_id)
{
	struct total total = total_named(casino_id);
	struct player player = player_named(casino_id, user_id);

	ws_want(ws, RECORD_DEALER, dealer_key_of(casino_id));
	ws_want(ws, RECORD_TOTAL, &total);
	ws_want(ws, RECORD_PLAYER, &player);
	life_want_id(ws, LIFE_TRANSACTIONS);
}

uint64_t post_transaction(struct ws *ws, const struct player *player, enum entry_kind kind,
	const char *game_id, uint32_t number, int64_t now_ms)
{
	struct transaction row;

	memset(&row, 0, sizeof(row));
	row.transaction_id = life_take_id(ws, LIFE_TRANSACTIONS);
	if (!row.transaction_id)
		return 0;
	CHECK(game_id[0]);
	text_copy(row.casino_id, sizeof(row.casino_id), player->casino_id);
	text_copy(row.player_id, sizeof(row.player_id), player->player_id);
	row.kind = kind;
	row.time_ms = now_ms;
	text_copy(row.game_id, sizeof(row.game_id), game_id);
	row.bet_number = number;
	ws_append(ws, RECORD_TRANSACTION, &row);
	return row.transaction_id;
}

enum refusal post_move(struct ws *ws, struct movement *movement, struct player *player,
	struct transaction *entry)
{
	struct total key = total_named(player->casino_id);
	const struct total *stored = ws_get(ws, RECORD_TOTAL, &key);
	struct total total = stored ? *stored : key;
	enum refusal refusal;
	uint64_t taken;

	movement->transaction_id = life_peek_id(ws, LIFE_TRANSACTIONS);
	if (!movement->transaction_id)
		return REFUSAL_SERVICE_UNAVAILABLE;
	refusal = movement_apply(movement, player, &total, entry);
	if (refusal != REFUSAL_NONE)
		return refusal;
	taken = life_take_id(ws, LIFE_TRANSACTIONS);
	CHECK(taken == entry->transaction_id);
	CHECK(entry->current_balance == player->balance);
	CHECK(entry->current_balance - entry->before_balance == movement->amount);
	ws_put(ws, RECORD_PLAYER, player);
	ws_put(ws, RECORD_TOTAL, &total);
	ws_append(ws, RECORD_TRANSACTION, entry);
	return REFUSAL_NONE;
}

void post_describe(struct ws *ws, struct verdict *verdict)
{
	if (verdict->refusal == REFUSAL_SERVICE_UNAVAILABLE && !life_peek_id(ws, LIFE_TRANSACTIONS))
		text_copy(verdict->detail, sizeof(verdict->detail),
			"every transaction_id up to 2^53-1 "
			"was given out; nothing was changed; begin a new installation");
}

void post_open_bets(struct ws *ws, const char *casino_id, int32_t change)
{
	struct total key = total_named(casino_id);
	const struct total *stored = ws_get(ws, RECORD_TOTAL, &key);
	struct total total = stored ? *stored : key;

	total.open_bets += (uint64_t)(int64_t)change;
	ws_put(ws, RECORD_TOTAL, &total);
}

void post_shortfall(struct ws *ws, const char *casino_id, money_t change)
{
	struct total key = total_named(casino_id);
	const struct total *stored = ws_get(ws, RECORD_TOTAL, &key);
	struct total total = stored ? *stored : key;

	if (!change)
		return;
	total.shortfall += change;
	ws_put(ws, RECORD_TOTAL, &total);
}

void post_seamless(struct ws *ws, const char *casino_id, const struct seamless_change *change)
{
	struct total key = total_named(casino_id);
	const struct total *stored = ws_get(ws, RECORD_TOTAL, &key);
	struct total total = stored ? *stored : key;

	total.seamless_staked += change->staked;
	total.seamless_paid += change->paid;
	total.seamless_refunded += change->refunded;
	total.owed_payouts += change->owed_payouts;
	total.owed_refunds += change->owed_refunds;
	total.bets_with_balance += (uint64_t)change->with_balance;
	total.bets_without_balance += (uint64_t)change->without_balance;
	ws_put(ws, RECORD_TOTAL, &total);
}

void post_callback_state(struct ws *ws, const char *casino_id, enum callback_state was,
	enum callback_state is)
{
	struct total key = total_named(casino_id);
	const struct total *stored;
	struct total total;

	if (was == is ||
		(was != CALLBACK_PARKED && was != CALLBACK_HELD && is != CALLBACK_PARKED &&
			is != CALLBACK_HELD))
		return;
	stored = ws_get(ws, RECORD_TOTAL, &key);
	total = stored ? *stored : key;
	total.parked += (uint64_t)(is == CALLBACK_PARKED) - (uint64_t)(was == CALLBACK_PARKED);
	total.held += (uint64_t)(is == CALLBACK_HELD) - (uint64_t)(was == CALLBACK_HELD);
	ws_put(ws, RECORD_TOTAL, &total);
}
