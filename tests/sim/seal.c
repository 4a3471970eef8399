/*
 * seal - dealers move credit, and ask with a seal what became of a transfer that had no answer. The
 * transfer may still be on its way then: one of the two wins, and all answers agree with the rows.
 */
#include "ledger/rows/keys.h"
#include "sim.h"

#include <stdlib.h>

void seal_plan(struct world *w)
{
	const struct plan *plan = &w->plan;
	uint32_t count = below(w, SIM_SEALS_MAX + 1);

	w->plan.transfers = 0;
	memset(w->transfers, 0, sizeof(w->transfers));
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t user = below(w, plan->users);
		struct sim_transfer *transfer = &w->transfers[w->plan.transfers];

		if (w->dealers[w->users[user].dealer].seamless)
			continue;
		transfer->user = user;
		transfer->kind = below(w, 3) ? ENTRY_TRANSFER_IN : ENTRY_TRANSFER_OUT;
		transfer->amount = MONEY_UNITS_PER_CREDIT * (money_t)(1 + below(w, 5000));
		/* What a winner keeps then does not cover a lower payout. */
		if (transfer->kind == ENTRY_TRANSFER_OUT && below(w, 2) && w->users[user].opening)
			transfer->amount = w->users[user].opening;
		w->plan.transfers++;
	}
}

static struct request seal_key(const struct world *w, uint32_t index)
{
	char casino_id[CASINO_ID_SIZE], id[16];

	snprintf(casino_id, sizeof(casino_id), "d%u", w->users[w->transfers[index].user].dealer);
	snprintf(id, sizeof(id), "t%u", index);
	return request_named(SCOPE_DEALER, casino_id, id);
}

void seal_ask(struct world *w, struct process *p, uint32_t index, process_then *then)
{
	const struct sim_transfer *transfer = &w->transfers[index];
	const struct request key = seal_key(w, index);
	struct transfer_inquire_cmd *inquiry = &p->cmd.transfer_inquire;
	struct transfer_cmd *cmd = &p->cmd.transfer;

	if (p->seals) {
		memset(inquiry, 0, sizeof(*inquiry));
		memcpy(inquiry->casino_id, key.owner, sizeof(inquiry->casino_id));
		memcpy(inquiry->request_transaction_id, key.request_transaction_id,
			sizeof(inquiry->request_transaction_id));
		inquiry->seal = true;
		process_ask(w, p, COMMAND_TRANSFER_INQUIRE, then);
		return;
	}
	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd->casino_id, key.owner, sizeof(cmd->casino_id));
	memcpy(cmd->request_transaction_id, key.request_transaction_id,
		sizeof(cmd->request_transaction_id));
	snprintf(cmd->user_id, sizeof(cmd->user_id), "%s", w->users[transfer->user].user_id);
	cmd->kind = transfer->kind;
	cmd->amount = transfer->amount;
	process_ask(w, p, COMMAND_TRANSFER, then);
}

/* Returns what an answer means; TRANSFER_UNKNOWN: nothing final. */
static enum transfer_state heard_state(struct world *w, const struct process *p, uint32_t index)
{
	const enum refusal refusal = p->result.verdict.refusal;
	const enum transfer_state state = p->result.transfer_inquire.state;

	if (refusal == REFUSAL_STORAGE_FULL)
		return TRANSFER_UNKNOWN;
	if (p->command == COMMAND_TRANSFER_INQUIRE) {
		if (refusal != REFUSAL_NONE || state == TRANSFER_UNKNOWN)
			violate(w, FLAW_ANSWER, "t%u is asked for, and the answer is %s %s", index,
				refusal_info(refusal)->id, transfer_state_names[state]);
		return state;
	}
	switch (refusal) {
	case REFUSAL_NONE:
		return TRANSFER_DONE;
	case REFUSAL_INSUFFICIENT_BALANCE:
		return TRANSFER_REFUSED;
	case REFUSAL_TRANSACTION_SEALED:
		return TRANSFER_SEALED;
	default:
		violate(w, FLAW_ANSWER, "t%u is answered %s", index, refusal_info(refusal)->id);
		return TRANSFER_UNKNOWN;
	}
}

/* Returns the state of the transfer by its key. */
static enum transfer_state stored_state(struct world *w, uint32_t index)
{
	const struct request key = seal_key(w, index);
	const struct request *request = world_load(w, RECORD_REQUEST, &key);

	if (!request)
		return TRANSFER_UNKNOWN;
	if (request_is_sealed(request))
		return TRANSFER_SEALED;
	return request->outcome == REFUSAL_NONE ? TRANSFER_DONE : TRANSFER_REFUSED;
}

bool seal_hear(struct world *w, const struct process *p, uint32_t index)
{
	const enum transfer_state state = heard_state(w, p, index);
	struct sim_transfer *transfer = &w->transfers[index];

	trace(w, "t%u is %s", index, transfer_state_names[state]);
	if (state == TRANSFER_UNKNOWN)
		return false;
	if (stored_state(w, index) != state)
		violate(w, FLAW_ANSWERED, "t%u is %s and answered %s", index,
			transfer_state_names[stored_state(w, index)], transfer_state_names[state]);
	if (transfer->answered != TRANSFER_UNKNOWN && transfer->answered != state)
		violate(w, FLAW_ANSWERED, "t%u is answered %s, and before %s", index,
			transfer_state_names[state], transfer_state_names[transfer->answered]);
	transfer->answered = state;
	return true;
}

uint32_t seal_number(const struct transaction *entry)
{
	const char *id = entry->request_transaction_id;
	const unsigned long number = strtoul(id + 1, NULL, 10);

	if (entry->scope != SCOPE_DEALER || id[0] != 't' || number >= SIM_SEALS_MAX)
		return SIM_SEALS_MAX;
	return (uint32_t)number;
}

void seal_check(struct world *w, const uint32_t moved[SIM_SEALS_MAX])
{
	for (uint32_t i = 0; i < w->plan.transfers; i++) {
		const enum transfer_state state = stored_state(w, i),
					  answered = w->transfers[i].answered;

		w->tally.transfers[state]++;
		if (answered != TRANSFER_UNKNOWN && answered != state)
			violate(w, FLAW_ANSWERED, "t%u is %s and was answered %s", i,
				transfer_state_names[state], transfer_state_names[answered]);
		if (moved[i] != (state == TRANSFER_DONE))
			violate(w, FLAW_MONEY, "t%u is %s and moved %u times", i,
				transfer_state_names[state], moved[i]);
	}
}
