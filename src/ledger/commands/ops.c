#include "ledger/commands/ops.h"

#define APPLIES(lower) .keys = lower##_keys, .apply = lower##_apply
/* One of the objects of 64 KiB that callers may give, or many. */
#define LOADS_OBJECTS .loads_objects = true

const struct command_ops command_ops[COMMAND_COUNT] = {
	[COMMAND_KEYRING] = {.read = keyring_read},
	[COMMAND_TRANSFER] = {APPLIES(transfer)},
	[COMMAND_BALANCE] = {APPLIES(balance)},
	[COMMAND_USER_STAT] = {APPLIES(user_stat)},
	[COMMAND_RESULT_INQUIRE] = {APPLIES(result_inquire), LOADS_OBJECTS},
	[COMMAND_DEALER_PUT] = {APPLIES(dealer_put)},
	[COMMAND_DEALER_KEY] = {APPLIES(dealer_key)},
	[COMMAND_PLAYER_PUT] = {APPLIES(player_put)},
	[COMMAND_ADJUST] = {APPLIES(adjust)},
	[COMMAND_CLIENT_PUT] = {APPLIES(client_put)},
	[COMMAND_CLIENT_KEY] = {APPLIES(client_key)},
	[COMMAND_PLAYER_REGISTER] = {APPLIES(player_register)},
	[COMMAND_PLAYER_BALANCE] = {APPLIES(player_balance), .concludes = player_balance_concludes},
	[COMMAND_BET_PLACE] = {APPLIES(bet_place), LOADS_OBJECTS},
	[COMMAND_ROUND_SETTLE] = {APPLIES(round_settle), LOADS_OBJECTS},
	[COMMAND_CALLBACK_END] = {APPLIES(callback_end), LOADS_OBJECTS,
		.concludes = callback_end_concludes},
	[COMMAND_CALLBACK_CLAIM] = {APPLIES(callback_claim), LOADS_OBJECTS,
		.concludes = callback_claim_concludes},
	[COMMAND_CALLBACK_OPERATE] = {APPLIES(callback_operate), LOADS_OBJECTS},
	[COMMAND_BACKUP] = {APPLIES(backup), .read = backup_read},
	[COMMAND_NOTE] = {APPLIES(note)},
	[COMMAND_CALLBACK_FIND] = {.read = callback_find_read},
	[COMMAND_LIST] = {.read = list_read},
	[COMMAND_METRICS] = {.read = metrics_read},
	[COMMAND_REFUSED_NOTE] = {.read = refused_note_read},
	[COMMAND_REFUSED_FIND] = {.read = refused_find_read},
};
