/*
 * cancel - game servers cancel bets: accepted ones, those that are refunded already, and keys whose
 * bet has not come yet. Once such a call succeeded, the bet never counts, however late it comes.
 */
#include "ledger/rows/keys.h"
#include "sim.h"

void cancel_plan(struct world *w)
{
	w->plan.cancels = below(w, SIM_CANCELS_MAX + 1);
	for (uint32_t i = 0; i < w->plan.cancels; i++)
		w->cancels[i].bet = below(w, w->plan.bets);
}

static struct request bet_key(const struct world *w, uint32_t bet)
{
	char id[16];

	snprintf(id, sizeof(id), "b%u", bet);
	return request_named(SCOPE_CLIENT, worker_client(w, w->bets[bet].round), id);
}

const struct bet *cancel_bet_row(struct world *w, uint32_t bet)
{
	const struct request key = bet_key(w, bet);
	const struct request *request = world_load(w, RECORD_REQUEST, &key);
	struct bet row;

	if (!request || !request->bet_number)
		return NULL;
	row = bet_named(request->player_id, request->game_id, request->bet_number);
	return world_load(w, RECORD_BET, &row);
}

void cancel_ask(struct world *w, struct process *p, uint32_t index, process_then *then)
{
	const uint32_t bet = w->cancels[index].bet;
	const struct request key = bet_key(w, bet);
	struct bet_cancel_cmd *cmd = &p->cmd.bet_cancel;

	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd->client_id, key.owner, sizeof(cmd->client_id));
	snprintf(cmd->request_transaction_id, sizeof(cmd->request_transaction_id), "c%u", index);
	snprintf(cmd->bet_request_transaction_id, sizeof(cmd->bet_request_transaction_id), "b%u",
		bet);
	snprintf(cmd->game_id, sizeof(cmd->game_id), "g%u", w->bets[bet].round);
	snprintf(cmd->reason, sizeof(cmd->reason), "the table was closed");
	worker_name_player(w, w->rounds[w->bets[bet].round].user, &cmd->player);
	cmd->sender = ++w->senders;
	process_ask(w, p, COMMAND_BET_CANCEL, then);
}

uint64_t cancel_event(struct world *w, uint32_t index)
{
	const struct bet *bet = cancel_bet_row(w, w->cancels[index].bet);

	return bet ? bet->refund_event : 0;
}

/* Returns false if the bet counts, or may still come to count. */
static bool is_over(struct world *w, uint32_t bet)
{
	const struct request key = bet_key(w, bet);
	const struct bet *row = cancel_bet_row(w, bet);

	if (row)
		return row->state == BET_REFUNDING || row->state == BET_REFUNDED ||
			row->state == BET_REJECTED;
	return world_load(w, RECORD_REQUEST, &key) != NULL;
}

bool cancel_hear(struct world *w, const struct process *p, uint32_t index, enum refusal refusal)
{
	const struct bet_cancel_result *result = &p->cancelled;
	struct sim_cancel *cancel = &w->cancels[index];

	trace(w, "c%u of b%u is answered %s", index, cancel->bet, refusal_info(refusal)->id);
	switch (refusal) {
	case REFUSAL_NONE:
		if (result->state != BET_REFUNDING && result->state != BET_REFUNDED &&
			result->state != BET_REJECTED)
			violate(w, FLAW_ANSWER, "c%u is answered %s", index,
				bet_state_names[result->state]);
		if (!is_over(w, cancel->bet))
			violate(w, FLAW_CANCELLED, "b%u was cancelled and counts", cancel->bet);
		cancel->answered = w->bets[cancel->bet].cancelled = true;
		return true;
	case REFUSAL_ALREADY_SETTLED:
		if (cancel->answered)
			violate(w, FLAW_CANCELLED, "b%u was cancelled and is settled", cancel->bet);
		return true;
	case REFUSAL_BET_IN_PROGRESS:
	case REFUSAL_STORAGE_FULL:
		return false;
	default:
		violate(w, FLAW_ANSWER, "c%u is answered %s", index, refusal_info(refusal)->id);
		return false;
	}
}

void cancel_check(struct world *w)
{
	for (uint32_t i = 0; i < w->plan.cancels; i++) {
		const struct sim_cancel *cancel = &w->cancels[i];
		const struct bet *row;

		if (!cancel->answered)
			continue;
		if (!is_over(w, cancel->bet))
			violate(w, FLAW_CANCELLED, "b%u was cancelled and counts", cancel->bet);
		row = cancel_bet_row(w, cancel->bet);
		w->tally.cancelled += row && row->cancelled;
		w->tally.barred += !row;
	}
}
