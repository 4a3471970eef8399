#include "ledger/commands/ops.h"

#include "base/text.h"

#include <stdio.h>

#define APPLIES(lower) .keys = lower##_keys, .apply = lower##_apply
/* One of the objects of 64 KiB that callers may give, or many. */
#define LOADS_OBJECTS  .loads_objects = true

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
	[COMMAND_PLAYER_BALANCE] = {APPLIES(player_balance),
		.concludes = player_balance_concludes},
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

void verdict_decimals(struct verdict *verdict, const char *field, money_t amount,
	const struct dealer *dealer)
{
	char sent[MONEY_TEXT_MAX], text[MONEY_TEXT_MAX];
	money_t nearest;

	if (verdict->refusal != REFUSAL_INVALID_AMOUNT || amount > MONEY_MAX || amount < -MONEY_MAX ||
		money_has_decimals(amount, dealer->decimals))
		return;
	money_nearest(money_to_double(amount), dealer->decimals, &nearest);
	money_format(amount, 0, sent);
	money_format(nearest, dealer->decimals, text);
	if (nearest)
		snprintf(verdict->detail, sizeof(verdict->detail),
			"%s: must have at most %u decimals; %s is nearest to %s", field,
			(unsigned int)dealer->decimals, sent, text);
	else
		snprintf(verdict->detail, sizeof(verdict->detail), "%s: must have at most %u decimals",
			field, (unsigned int)dealer->decimals);
}
