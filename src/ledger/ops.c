#include "ledger/ops.h"

#include "base/text.h"

const struct command_ops command_ops[COMMAND_COUNT] = {
	[COMMAND_KEYRING] = {.read = keyring_read},
	[COMMAND_TRANSFER] = {transfer_keys, transfer_apply, NULL},
	[COMMAND_BALANCE] = {balance_keys, balance_apply, NULL},
	[COMMAND_USER_STAT] = {user_stat_keys, user_stat_apply, NULL},
	[COMMAND_RESULT_INQUIRE] = {result_inquire_keys, result_inquire_apply, NULL},
	[COMMAND_DEALER_PUT] = {dealer_put_keys, dealer_put_apply, NULL},
	[COMMAND_DEALER_KEY] = {dealer_key_keys, dealer_key_apply, NULL},
	[COMMAND_PLAYER_PUT] = {player_put_keys, player_put_apply, NULL},
	[COMMAND_ADJUST] = {adjust_keys, adjust_apply, NULL},
	[COMMAND_CLIENT_PUT] = {client_put_keys, client_put_apply, NULL},
	[COMMAND_CLIENT_KEY] = {client_key_keys, client_key_apply, NULL},
	[COMMAND_PLAYER_REGISTER] = {player_register_keys, player_register_apply, NULL},
	[COMMAND_PLAYER_BALANCE] = {player_balance_keys, player_balance_apply, NULL},
	[COMMAND_BET_PLACE] = {bet_place_keys, bet_place_apply, NULL},
	[COMMAND_ROUND_SETTLE] = {round_settle_keys, round_settle_apply, NULL},
	[COMMAND_CALLBACK_END] = {callback_end_keys, callback_end_apply, NULL},
	[COMMAND_CALLBACK_CLAIM] = {callback_claim_keys, callback_claim_apply, NULL},
	[COMMAND_CALLBACK_OPERATE] = {callback_operate_keys, callback_operate_apply, NULL},
	[COMMAND_BACKUP] = {backup_keys, backup_apply, backup_read},
	[COMMAND_NOTE] = {note_keys, note_apply, NULL},
	[COMMAND_CALLBACK_FIND] = {.read = callback_find_read},
	[COMMAND_LIST] = {.read = list_read},
	[COMMAND_METRICS] = {.read = metrics_read},
	[COMMAND_REFUSED_NOTE] = {.read = refused_note_read},
	[COMMAND_REFUSED_FIND] = {.read = refused_find_read},
};

static struct counter counter_key(const char *name)
{
	struct counter key = {.value = 0};

	text_copy(key.name, sizeof(key.name), name);
	return key;
}

void counter_want(struct ws *ws, const char *name)
{
	struct counter key = counter_key(name);

	ws_want(ws, RECORD_COUNTER, &key);
}

uint64_t counter_read(struct ws *ws, const char *name)
{
	struct counter key = counter_key(name);
	const struct counter *counter = ws_get(ws, RECORD_COUNTER, &key);

	return counter ? counter->value : 0;
}

uint64_t counter_next(struct ws *ws, const char *name)
{
	struct counter counter = counter_key(name);

	counter.value = counter_read(ws, name) + 1;
	ws_put(ws, RECORD_COUNTER, &counter);
	return counter.value;
}
