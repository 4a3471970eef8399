#include "domain/feed_item.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const enum feed_subject subjects[ENTRY_KIND_COUNT] = {
	[ENTRY_TRANSFER_IN] = FEED_MOVEMENT,
	[ENTRY_TRANSFER_OUT] = FEED_MOVEMENT,
	[ENTRY_ADJUST] = FEED_MOVEMENT,
	[ENTRY_BET] = FEED_BET,
	[ENTRY_PAYOUT] = FEED_ROUND,
	[ENTRY_CORRECTION] = FEED_CORRECTION,
	[ENTRY_BET_CANCEL] = FEED_BET,
	[ENTRY_SEAL] = FEED_MOVEMENT,         /* no transaction has it, */
	[ENTRY_RESULT_BATCH] = FEED_MOVEMENT, /* nor this */
};

enum feed_subject feed_subject_of(enum entry_kind kind)
{
	return kind < ENTRY_KIND_COUNT ? subjects[kind] : FEED_MOVEMENT;
}

const struct field feed_item_fields[] = {
	FIELD(FIELD_U64, feed_item, transaction_id),
	FIELD(FIELD_STR, feed_item, casino_id),
	FIELD_NAMED(feed_item, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD(FIELD_TIME_MS, feed_item, time_ms),
	FIELD(FIELD_STR, feed_item, user_id),
	FIELD(FIELD_STR, feed_item, player_id),
	FIELD(FIELD_STR, feed_item, state),
	FIELD(FIELD_BOOL, feed_item, moved),
	FIELD(FIELD_MONEY, feed_item, amount),
	FIELD(FIELD_MONEY, feed_item, before_balance),
	FIELD(FIELD_MONEY, feed_item, current_balance),
	FIELD(FIELD_STR, feed_item, request_transaction_id),
	FIELD(FIELD_STR, feed_item, game_id),
	FIELD(FIELD_MONEY, feed_item, bet_amount),
	FIELD(FIELD_BOOL, feed_item, addition),
	FIELD_NAMED(feed_item, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, feed_item, addition_amount),
	FIELD(FIELD_MONEY, feed_item, win_amount),
	FIELD(FIELD_MONEY, feed_item, payout_amount),
	FIELD(FIELD_U32, feed_item, revision),
	FIELD(FIELD_MONEY, feed_item, previous_payout_amount),
	FIELD(FIELD_MONEY, feed_item, shortfall),
	FIELD(FIELD_U64, feed_item, event),
	FIELD_NAMED(feed_item, callback_kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_U32, feed_item, attempts),
	FIELD_END,
};

void feed_item_begin(struct feed_item *item, const struct transaction *entry, const char *user_id)
{
	memset(item, 0, sizeof(*item));
	item->transaction_id = entry->transaction_id;
	memcpy(item->casino_id, entry->casino_id, sizeof(item->casino_id));
	item->kind = entry->kind;
	item->time_ms = entry->time_ms;
	snprintf(item->user_id, sizeof(item->user_id), "%s", user_id);
	memcpy(item->player_id, entry->player_id, sizeof(item->player_id));
	snprintf(item->state, sizeof(item->state), "done");
	memcpy(item->game_id, entry->game_id, sizeof(item->game_id));
	item->moved = entry->entry_seq != 0;
	item->amount = entry->amount;
	item->before_balance = entry->before_balance;
	item->current_balance = entry->current_balance;
	/* References of operators and game servers are not the dealer's. */
	if (item->moved && entry->scope == SCOPE_DEALER)
		text_copy(item->request_transaction_id, sizeof(item->request_transaction_id),
			entry->request_transaction_id);
}

void feed_item_bet(struct feed_item *item, const struct bet *bet)
{
	snprintf(item->state, sizeof(item->state), "%s", bet_state_names[bet->state]);
	item->bet_amount = bet->bet_amount;
	item->addition = bet->addition;
}

static void add_callback(struct feed_item *item, const struct callback *callback)
{
	if (!callback)
		return;
	snprintf(item->state, sizeof(item->state), "%s", callback_state_names[callback->state]);
	item->event = callback->event;
	item->callback_kind = callback->kind;
	item->attempts = callback->attempts;
}

void feed_item_round(struct feed_item *item, const struct round *round,
	const struct callback *callback)
{
	item->result = round->result;
	item->bet_amount = round->bet_amount;
	item->addition_amount = round->addition_amount;
	item->win_amount = round->win_amount;
	item->payout_amount = round->payout_amount;
	add_callback(item, callback);
}

void feed_item_correction(struct feed_item *item, const struct correction *correction,
	const struct callback *callback)
{
	item->revision = correction->revision;
	item->result = correction->result;
	item->previous_payout_amount = correction->previous_payout;
	item->payout_amount = correction->payout_amount;
	item->shortfall = correction->shortfall;
	add_callback(item, callback);
}
