/*
 * correct - game servers and operators correct settled rounds, at times two of them the same revision at
 * once.
 *
 * The corrections of a round are numbered 1, 2, 3 ... and each begins where the one before ended.
 * One callback of the round is open at a time. A dealer takes each of them once, in their order.
 */
#include "ledger/rows/keys.h"
#include "sim.h"

#define OPEN_TRIES_MAX 6 /* after these a game server gives up a round whose callback is open */

/* What the rows of a round come to. */
static struct chain {
	uint32_t revision;
	enum round_result result;
	money_t payout, shortfall;
	bool begun;
	money_t first; /* the payout that revision 1 began with */
	uint32_t open;
	uint64_t last_event;
} chains[SIM_BETS_MAX];
static uint32_t opened[SIM_DEALERS_MAX];
static uint32_t audited; /* corrections of operators */

void correct_plan(struct world *w)
{
	static const enum round_result results[] = {RESULT_WIN, RESULT_WIN, RESULT_WIN, RESULT_LOSS,
		RESULT_REFUND};
	static const money_t units[] = {10000, 1000, 100, 10, 1};

	w->plan.corrections = below(w, SIM_CORRECTIONS_MAX + 1);
	for (uint32_t i = 0; i < w->plan.corrections; i++) {
		struct sim_correction *correction = &w->corrections[i];
		const struct sim_dealer *dealer;

		correction->round =
			i && below(w, 3) ? w->corrections[i - 1].round : below(w, w->plan.rounds);
		dealer = &w->dealers[w->users[w->rounds[correction->round].user].dealer];
		correction->result = results[below(w, 5)];
		if (correction->result == RESULT_WIN)
			correction->payout = units[dealer->decimals] * (money_t)below(w, 50000);
		correction->allow_shortfall = below(w, 2);
		correction->by_operator = below(w, 3) == 0;
	}
	for (uint32_t i = 0; i < w->plan.dealers; i++)
		w->dealers[i].corrects = w->dealers[i].seamless && below(w, 4);
}

/* The operation id is the correction's name, so that a repetition is the same operation. */
static void operator_ask(struct world *w, struct process *p, uint32_t index, process_then *then)
{
	const struct sim_correction *correction = &w->corrections[index];
	const struct sim_user *user = &w->users[w->rounds[correction->round].user];
	struct operator_correct_cmd *cmd = &p->cmd.operator_correct;

	memset(cmd, 0, sizeof(*cmd));
	cmd->operator.uid = 1000;
	snprintf(cmd->operator.operation_id, sizeof(cmd->operator.operation_id), "k%u", index);
	snprintf(cmd->operator.reason, sizeof(cmd->operator.reason), "a card was scanned twice");
	snprintf(cmd->casino_id, sizeof(cmd->casino_id), "d%u", user->dealer);
	snprintf(cmd->user_id, sizeof(cmd->user_id), "%s", user->user_id);
	snprintf(cmd->game_id, sizeof(cmd->game_id), "g%u", correction->round);
	cmd->revision = correction->revision;
	cmd->result = correction->result;
	cmd->payout_amount = correction->payout;
	cmd->allow_shortfall = correction->allow_shortfall;
	process_ask(w, p, COMMAND_OPERATOR_CORRECT, then);
}

void correct_ask(struct world *w, struct process *p, uint32_t index, process_then *then)
{
	struct sim_correction *correction = &w->corrections[index];
	const struct sim_round *round = &w->rounds[correction->round];
	struct round_correct_cmd *cmd = &p->cmd.round_correct;

	if (!correction->revision)
		correction->revision = round->revision + 1;
	if (correction->by_operator) {
		operator_ask(w, p, index, then);
		return;
	}
	memset(cmd, 0, sizeof(*cmd));
	snprintf(cmd->client_id, sizeof(cmd->client_id), "%s", worker_client(w, correction->round));
	snprintf(cmd->request_transaction_id, sizeof(cmd->request_transaction_id), "k%u", index);
	snprintf(cmd->game_id, sizeof(cmd->game_id), "g%u", correction->round);
	snprintf(cmd->reason, sizeof(cmd->reason), "a card was \"scanned\" twice");
	worker_name_player(w, round->user, &cmd->player);
	cmd->revision = correction->revision;
	cmd->result = correction->result;
	cmd->payout_amount = correction->payout;
	cmd->allow_shortfall = correction->allow_shortfall;
	cmd->sender = ++w->senders;
	process_ask(w, p, COMMAND_ROUND_CORRECT, then);
}

/* The correction is made, as it was asked for. */
static void hear_made(struct world *w, const struct process *p, uint32_t index)
{
	const struct round_correct_result *result = &p->corrected;
	struct sim_correction *correction = &w->corrections[index];
	struct sim_round *round = &w->rounds[correction->round];

	if (result->revision != correction->revision ||
		(correction->made && correction->transaction_id != result->transaction_id))
		violate(w, FLAW_REVISION, "k%u makes revision %u and is answered %u", index,
			correction->revision, result->revision);
	if (correction->late)
		violate(w, FLAW_ANSWERED, "k%u was refused and is made", index);
	if (correction->result == RESULT_WIN && result->payout_amount != correction->payout)
		violate(w, FLAW_ANSWER, "k%u pays what it did not ask for", index);
	correction->made = true;
	correction->transaction_id = result->transaction_id;
	if (round->revision < result->revision)
		round->revision = result->revision;
}

bool correct_hear(struct world *w, const struct process *p, uint32_t index, enum refusal refusal)
{
	struct sim_correction *correction = &w->corrections[index];
	struct sim_round *round = &w->rounds[correction->round];

	trace(w, "k%u makes revision %u of g%u and is answered %s", index, correction->revision,
		correction->round, refusal_info(refusal)->id);
	switch (refusal) {
	case REFUSAL_NONE:
		hear_made(w, p, index);
		return true;
	case REFUSAL_REVISION_CONFLICT:
		w->tally.conflicts_of_revision++;
		if (correction->made)
			violate(w, FLAW_ANSWERED,
				"k%u was made, and the answer says that it was not", index);
		if (p->corrected.revision < correction->revision)
			violate(w, FLAW_REVISION, "k%u cannot make revision %u behind %u", index,
				correction->revision, p->corrected.revision);
		correction->late = true;
		if (round->revision < p->corrected.revision)
			round->revision = p->corrected.revision;
		return true;
	case REFUSAL_CALLBACK_OPEN:
		w->tally.open++;
		return ++correction->opens >= OPEN_TRIES_MAX;
	case REFUSAL_INSUFFICIENT_BALANCE:
	case REFUSAL_CORRECTION_NOT_SUPPORTED:
		return true;
	case REFUSAL_STORAGE_FULL:
		return false;
	default:
		violate(w, FLAW_ANSWER, "k%u is answered %s", index, refusal_info(refusal)->id);
		return false;
	}
}

void correct_rows_begin(void)
{
	memset(chains, 0, sizeof(chains));
	memset(opened, 0, sizeof(opened));
}

/* Counts an open callback of a round. */
static void see_event(struct world *w, struct chain *chain, uint64_t event, const char *game_id)
{
	const struct seen *callback = &sim_seen[event % SIM_EVENTS_MAX];

	if (!event)
		return;
	chain->last_event = event;
	if (callback->there && callback_has_ended(callback->state))
		return;
	if (chain->open++)
		violate(w, FLAW_OVERTAKEN, "%s has more than one callback that is open", game_id);
}

bool correct_see(void *context, struct bytes key, const void *row)
{
	const struct correction *correction = row;
	struct world *w = context;
	const uint32_t index = rows_number(correction->request_transaction_id);
	struct chain *chain = &chains[rows_number(correction->game_id) % SIM_BETS_MAX];

	(void)key;
	if (index >= w->plan.corrections || correction->revision != w->corrections[index].revision)
		violate(w, FLAW_REVISION, "k%u made revision %u", index, correction->revision);
	if (correction->revision != chain->revision + 1 ||
		(chain->begun &&
			(correction->previous_payout != chain->payout ||
				correction->previous_result != chain->result)))
		violate(w, FLAW_REVISION, "revision %u of %s is not behind revision %u",
			correction->revision, correction->game_id, chain->revision);
	if (!chain->begun)
		chain->first = correction->previous_payout;
	chain->begun = true;
	chain->revision = correction->revision;
	chain->result = correction->result;
	chain->payout = correction->payout_amount;
	chain->shortfall += correction->shortfall;
	if (correction->event &&
		!callback_has_ended(sim_seen[correction->event % SIM_EVENTS_MAX].state))
		opened[rows_number(correction->casino_id)]++;
	see_event(w, chain, correction->event, correction->game_id);
	return true;
}

bool correct_see_round(void *context, struct bytes key, const void *row)
{
	const struct round *round = row;
	struct world *w = context;
	struct chain *chain = &chains[rows_number(round->game_id) % SIM_BETS_MAX];
	const uint64_t last = chain->last_event ? chain->last_event : round->event;

	(void)key;
	see_event(w, chain, round->event, round->game_id);
	if (round->revision != chain->revision || round->shortfall != chain->shortfall ||
		round->shortfall < 0 || round->last_event != last ||
		(chain->begun &&
			(chain->first != round->payout_amount ||
				chain->payout != round->current_payout ||
				chain->result != round->current_result)))
		violate(w, FLAW_ROWS, "%s has other sums than its %u corrections", round->game_id,
			chain->revision);
	return true;
}

uint32_t correct_open(uint32_t dealer)
{
	return opened[dealer];
}

static bool see_audit(void *context, struct bytes key, const void *row)
{
	const struct audit *audit = row;

	(void)context;
	(void)key;
	audited += strcmp(audit->action, "round correct") == 0;
	return true;
}

void correct_check(struct world *w)
{
	uint32_t operations = 0;

	for (uint32_t i = 0; i < w->plan.corrections; i++) {
		const struct sim_correction *correction = &w->corrections[i];
		const struct sim_round *round = &w->rounds[correction->round];
		const struct correction *row;
		struct correction key;
		char game_id[16], id[16];
		bool made;

		snprintf(game_id, sizeof(game_id), "g%u", correction->round);
		snprintf(id, sizeof(id), "k%u", i);
		key = correction_named(w->users[round->user].player_id, game_id,
			correction->revision);
		row = correction->revision ? world_load(w, RECORD_CORRECTION, &key) : NULL;
		made = row && strcmp(row->request_transaction_id, id) == 0;
		w->tally.corrections += made;
		w->tally.by_operator += made && correction->by_operator;
		if (made && (row->scope == SCOPE_OPERATOR) != correction->by_operator)
			violate(w, FLAW_REVISION, "k%u is another's", i);
		operations += made && correction->by_operator;
		if ((correction->made &&
			    (!made || row->transaction_id != correction->transaction_id)) ||
			(correction->late && made))
			violate(w, FLAW_ANSWERED, "k%u had another answer than that it is %s", i,
				made ? "made" : "not made");
	}
	audited = 0;
	rows_visit(w, RECORD_AUDIT, see_audit);
	if (audited != operations)
		violate(w, FLAW_ROWS, "operators made %u corrections, the audit has %u", operations,
			audited);
}
