#include "proof/cancellation.h"

#include "base/text.h"
#include "proof/links.h"

#include <string.h>

const char *proof_cancellation(const struct bet *bet, const struct cancellation *row)
{
	if (!row)
		return bet->cancelled ? "is cancelled without a row of its cancellation" : NULL;
	if (!bet)
		return "is cancelled and does not exist";
	if (!bet->cancelled)
		return "has a cancellation and is not cancelled";
	if (strcmp(bet->casino_id, row->casino_id) != 0 ||
		strcmp(bet->client_id, row->client_id) != 0)
		return "was cancelled by another client or for another dealer";
	if ((row->transaction_id != 0) != (bet->mode == WALLET_TRANSFER))
		return row->transaction_id ? "of a seamless wallet was credited back here"
					   : "of a transfer wallet was not credited back";
	return NULL;
}

const char *proof_cancellation_moved(const struct cancellation *row, const struct bet *bet,
	const struct transaction *moved)
{
	if (!row->transaction_id)
		return NULL;
	if (!moved)
		return "was cancelled, and the movement that returned its stake is missing";
	if (moved->kind != ENTRY_BET_CANCEL || moved->amount != bet->bet_amount ||
		moved->bet_number != row->number || strcmp(moved->player_id, row->player_id) != 0 ||
		strcmp(moved->game_id, row->game_id) != 0 ||
		strcmp(moved->request_transaction_id, row->request_transaction_id) != 0)
		return "was cancelled, and the movement that returned its stake is another one";
	return moved->time_ms == row->time_ms ? NULL : "was cancelled at another time";
}

struct request proof_cancellation_key(const struct cancellation *row, const struct bet *bet)
{
	struct request key;

	memset(&key, 0, sizeof(key));
	key.scope = SCOPE_CLIENT;
	text_copy(key.owner, sizeof(key.owner), row->client_id);
	text_copy(key.request_transaction_id, sizeof(key.request_transaction_id),
		row->request_transaction_id);
	key.kind = ENTRY_BET_CANCEL;
	key.amount = row->transaction_id ? bet->bet_amount : 0;
	memcpy(key.player_id, row->player_id, sizeof(key.player_id));
	key.entry_seq = row->transaction_id != 0;
	key.transaction_id = row->transaction_id;
	key.time_ms = row->time_ms;
	memcpy(key.game_id, row->game_id, sizeof(key.game_id));
	key.bet_number = row->number;
	return key;
}

void proof_cancellation_links(struct proof *proof, const struct cancellation *row,
	const struct bet *bet)
{
	const struct request key = proof_cancellation_key(row, bet);
	const struct transaction movement = proof_key_transaction(&key, row->casino_id);

	if (row->transaction_id)
		proof_want_movement(proof, &key, &movement);
}

const char *proof_cancel_key(const struct request *key, const struct bet *bet)
{
	if (key->outcome != REFUSAL_NONE || !key->bet_number || key->transaction_id)
		return NULL;
	if (!bet)
		return "which does not exist";
	if (strcmp(bet->client_id, key->owner) != 0)
		return "which is another client's";
	return bet->state == BET_REJECTED || bet->state == BET_REFUNDING ||
			bet->state == BET_REFUNDED
		? NULL
		: "which was not cancelled";
}
