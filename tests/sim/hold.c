/*
 * hold - nothing is granted to a dealer whose callbacks are held, and what is planted against that.
 */
#include "ledger/outbox/hold.h"
#include "sim.h"

/* Before the batch: held, and not changed by the batch. */
static bool held[SIM_DEALERS_MAX];
/* hold_permits() does not look at the hold. */
static bool blind;

static const struct dealer *dealer_row(struct world *w, uint32_t index)
{
	struct dealer key;

	memset(&key, 0, sizeof(key));
	snprintf(key.casino_id, sizeof(key.casino_id), "d%u", index);
	return world_load(w, RECORD_DEALER, &key);
}

static const struct callback *callback_row(struct world *w, uint64_t event)
{
	struct callback key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	return world_load(w, RECORD_CALLBACK, &key);
}

static bool request_is_there(struct world *w, const char *client_id, const char *id)
{
	struct request key;

	memset(&key, 0, sizeof(key));
	key.scope = SCOPE_CLIENT;
	snprintf(key.owner, sizeof(key.owner), "%s", client_id);
	snprintf(key.request_transaction_id, sizeof(key.request_transaction_id), "%s", id);
	return world_load(w, RECORD_REQUEST, &key) != NULL;
}

/* The command was heard before: what it is granted was granted before. */
static bool is_again(struct world *w, const struct slot *slot)
{
	const struct callback *callback;

	switch (slot->command) {
	case COMMAND_CALLBACK_CLAIM:
		callback = callback_row(w, slot->cmd.callback_claim.event);
		return callback && callback->state == CALLBACK_SENDING;
	case COMMAND_BET_PLACE:
		return request_is_there(w, slot->cmd.bet_place.client_id,
			slot->cmd.bet_place.request_transaction_id);
	case COMMAND_ROUND_SETTLE:
		return request_is_there(w, slot->cmd.round_settle.client_id,
			slot->cmd.round_settle.request_transaction_id);
	case COMMAND_BET_CANCEL:
		return request_is_there(w, slot->cmd.bet_cancel.client_id,
			slot->cmd.bet_cancel.request_transaction_id);
	case COMMAND_ROUND_CORRECT:
		return request_is_there(w, slot->cmd.round_correct.client_id,
			slot->cmd.round_correct.request_transaction_id);
	default:
		return false;
	}
}

void hold_before(struct world *w, const struct slot *slots, uint32_t count)
{
	for (uint32_t i = 0; i < w->plan.dealers; i++) {
		const struct dealer *dealer = dealer_row(w, i);

		held[i] = dealer && dealer->callbacks_held_ms;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (slots[i].command == COMMAND_DEALER_PUT)
			held[rows_number(slots[i].cmd.dealer_put.dealer.casino_id)] = false;
	}
	blind = w->plant == PLANT_HELD_STARTS ||
		(w->plant == PLANT_HELD_AGAIN && count == 1 && is_again(w, slots));
}

/* The dealer that is to be called; w->plan.dealers: none. */
static uint32_t granted_to(struct world *w, const struct slot *slot)
{
	const struct callback *callback;
	uint64_t event = 0;

	if (slot->outcome == FRAME_DONE && slot->command == COMMAND_PLAYER_BALANCE &&
		slot->result.player_balance.send.event)
		return rows_number(slot->result.player_balance.casino_id);
	if (slot->outcome == FRAME_DONE && slot->command == COMMAND_BET_PLACE)
		event = slot->result.bet_place.send.event;
	else if (slot->outcome == FRAME_DONE && slot->command == COMMAND_ROUND_SETTLE)
		event = slot->result.round_settle.send.event;
	else if (slot->outcome == FRAME_DONE && slot->command == COMMAND_BET_CANCEL)
		event = slot->result.bet_cancel.send.event;
	else if (slot->outcome == FRAME_DONE && slot->command == COMMAND_ROUND_CORRECT)
		event = slot->result.round_correct.send.event;
	else if (slot->outcome == FRAME_DONE && slot->command == COMMAND_CALLBACK_CLAIM)
		event = slot->result.callback_claim.send.event;
	callback = event ? callback_row(w, event) : NULL;
	return callback ? rows_number(callback->casino_id) : w->plan.dealers;
}

void hold_after(struct world *w, const struct slot *slots, uint32_t count)
{
	blind = false;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t dealer = granted_to(w, &slots[i]);

		if (dealer < w->plan.dealers && held[dealer])
			violate(w, FLAW_HELD, "%s is granted a call of d%u, which is held",
				command_infos[slots[i].command].name, dealer);
	}
}

uint32_t __real_hold_permits(const struct dealer *dealer);
uint32_t __wrap_hold_permits(const struct dealer *dealer);
uint32_t __wrap_hold_permits(const struct dealer *dealer)
{
	return blind ? dealer->max_inflight : __real_hold_permits(dealer);
}
