/*
 * operator - adds dealers and players; retries, holds, releases and cancels callbacks, at times the
 * same command twice; in the end what is parked is sent once more.
 */
#include "sim.h"

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabb%08x"

static struct operator operator_now(struct world *w)
{
	struct operator operator;

	memset(&operator, 0, sizeof(operator));
	operator.uid = 1000;
	snprintf(operator.sudo_user, sizeof(operator.sudo_user), "carol");
	snprintf(operator.operation_id, sizeof(operator.operation_id), "op%u", ++w->operation);
	snprintf(operator.reason, sizeof(operator.reason), "because");
	return operator;
}

static void operate_cmd(struct world *w, struct callback_operate_cmd *cmd, uint64_t event,
	enum callback_action action)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->operator= operator_now(w);
	cmd->event = event;
	cmd->action = action;
	w->notes[event % SIM_EVENTS_MAX].retries += action == CALLBACK_RETRY;
	w->notes[event % SIM_EVENTS_MAX].hurried |=
		action == CALLBACK_RETRY || action == CALLBACK_RELEASE;
	trace(w, "the operator: %s %" PRIu64, callback_action_names[action], event);
}

static void heard(struct world *w, struct process *p)
{
	const struct callback_operate_cmd *cmd = &p->cmd.callback_operate;
	const struct verdict *verdict = &p->result.verdict;
	bool refused_retry = cmd->action == CALLBACK_RETRY && verdict->refusal != REFUSAL_NONE;
	uint32_t *retries = &w->notes[cmd->event % SIM_EVENTS_MAX].retries;

	if (p->status != STATUS_OK)
		return;
	*retries -= refused_retry;
	trace(w, "the operator hears %s", refusal_info(verdict->refusal)->id);
	w->tally.operations += verdict->refusal == REFUSAL_NONE;
	if (verdict->refusal != REFUSAL_NONE && verdict->refusal != REFUSAL_NOT_ALLOWED_NOW &&
		verdict->refusal != REFUSAL_CALLBACK_NOT_FOUND &&
		verdict->refusal != REFUSAL_STORAGE_FULL)
		violate(w, FLAW_ANSWER, "the operator is answered %s",
			refusal_info(verdict->refusal)->id);
	/* The same command again acts once. */
	if (!fate(w, 200))
		return;
	*retries += refused_retry;
	process_ask(w, p, COMMAND_CALLBACK_OPERATE, heard);
}

/* The last event that was given out. */
static uint64_t last_event(struct world *w)
{
	const struct counter *counter;
	struct counter key;

	memset(&key, 0, sizeof(key));
	strcpy(key.name, "event");
	counter = world_load(w, RECORD_COUNTER, &key);
	return counter ? counter->value : 0;
}

static enum callback_state state_of(struct world *w, uint64_t event)
{
	const struct callback *callback;
	struct callback key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	callback = world_load(w, RECORD_CALLBACK, &key);
	return callback ? callback->state : CALLBACK_FAILED;
}

static bool worth_it(enum callback_state state, bool choosy)
{
	if (choosy)
		return state == CALLBACK_PARKED || state == CALLBACK_HELD;
	return !callback_has_ended(state);
}

/* Between two operations. */
static int64_t pause_ms(struct world *w)
{
	return below(w, 2 * (uint64_t)w->plan.faults_ms / w->plan.operations + 1);
}

static void hold_cmd(struct world *w, struct dealer_put_cmd *cmd, uint32_t dealer, bool hold)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->operator= operator_now(w);
	cmd->mask = 1u << DEALER_CALLBACKS_HELD;
	cmd->dealer.callbacks_held_ms = hold;
	snprintf(cmd->dealer.casino_id, sizeof(cmd->dealer.casino_id), "d%u", dealer);
	trace(w, "the operator: %s d%u", hold ? "hold" : "release", dealer);
}

static void heard_hold(struct world *w, struct process *p)
{
	if (p->status != STATUS_OK)
		return;
	w->tally.holds += p->cmd.dealer_put.dealer.callbacks_held_ms != 0;
	if (p->result.verdict.refusal != REFUSAL_NONE &&
		p->result.verdict.refusal != REFUSAL_STORAGE_FULL)
		violate(w, FLAW_ANSWER, "the operator is answered %s",
			refusal_info(p->result.verdict.refusal)->id);
}

static void operate(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[SIM_PROCESSES_MAX - 1];
	uint64_t last = last_event(w), event;
	bool choosy = below(w, 2);
	enum callback_action action;

	(void)what;
	if (w->calm)
		return;
	world_at(w, pause_ms(w), operate, who, 0);
	if (p->asking || !p->alive || !last)
		return;
	/* Held for one pause of three on average. */
	if (below(w, 4) == 0) {
		hold_cmd(w, &p->cmd.dealer_put, below(w, w->plan.dealers), below(w, 3) == 0);
		process_ask(w, p, COMMAND_DEALER_PUT, heard_hold);
		return;
	}
	event = 1 + below(w, last);
	/* Rather one where there is something to do. */
	for (uint32_t i = 0; i < last && !worth_it(state_of(w, event), choosy); i++)
		event = 1 + event % last;
	action = (enum callback_action)below(w, CALLBACK_ACTION_COUNT);
	if (action == CALLBACK_HOLD && !w->plan.holds)
		action = CALLBACK_RETRY;
	operate_cmd(w, &p->cmd.callback_operate, event, action);
	process_ask(w, p, COMMAND_CALLBACK_OPERATE, heard);
}

static void do_now(struct world *w, enum command command, const void *cmd)
{
	if (host_direct(w, command, cmd)->result.verdict.refusal != REFUSAL_NONE)
		violate(w, FLAW_ANSWER, "%s is refused", command_infos[command].name);
}

static void add_dealer(struct world *w, uint32_t index)
{
	const struct sim_dealer *dealer = &w->dealers[index];
	struct dealer_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= operator_now(w);
	cmd.create = true;
	snprintf(cmd.dealer.casino_id, sizeof(cmd.dealer.casino_id), "d%u", index);
	snprintf(cmd.dealer.currency, sizeof(cmd.dealer.currency), "thb");
	cmd.dealer.mode = dealer->seamless ? WALLET_SEAMLESS : WALLET_TRANSFER;
	cmd.dealer.decimals = dealer->decimals;
	cmd.dealer.max_inflight = dealer->max_inflight;
	cmd.dealer.refund_delay_s = dealer->refund_delay_s;
	snprintf(cmd.dealer.unknown_bet_ids, sizeof(cmd.dealer.unknown_bet_ids), "%s",
		dealer->unknown == UNKNOWN_OWN_ID ? "whatever,no_such_bet" : "");
	snprintf(cmd.dealer.duplicate_ids, sizeof(cmd.dealer.duplicate_ids), "%s",
		dealer->refuses_repeats ? "whatever_else,done_before" : "");
	snprintf(cmd.dealer.path_betting_correction, sizeof(cmd.dealer.path_betting_correction),
		"%s", dealer->corrects ? "/betting-correction" : "");
	cmd.dealer.send_currency = dealer->refuses_repeats;
	snprintf(cmd.dealer.keys[0].secret, sizeof(cmd.dealer.keys[0].secret), SECRET, index);
	do_now(w, COMMAND_DEALER_PUT, &cmd);
}

static void add_user(struct world *w, const struct sim_user *user)
{
	struct player_register_cmd cmd;
	struct transfer_cmd in;

	memset(&cmd, 0, sizeof(cmd));
	snprintf(cmd.casino_id, sizeof(cmd.casino_id), "d%u", user->dealer);
	snprintf(cmd.user_id, sizeof(cmd.user_id), "%s", user->user_id);
	snprintf(cmd.player_id, sizeof(cmd.player_id), "%s", user->player_id);
	do_now(w, COMMAND_PLAYER_REGISTER, &cmd);
	if (w->dealers[user->dealer].seamless || !user->opening)
		return;
	memset(&in, 0, sizeof(in));
	snprintf(in.casino_id, sizeof(in.casino_id), "d%u", user->dealer);
	snprintf(in.user_id, sizeof(in.user_id), "%s", user->user_id);
	snprintf(in.request_transaction_id, sizeof(in.request_transaction_id), "in-%s",
		user->user_id);
	in.kind = ENTRY_TRANSFER_IN;
	in.amount = user->opening;
	do_now(w, COMMAND_TRANSFER, &in);
}

void operator_open(struct world *w)
{
	for (uint32_t i = 0; i < w->plan.dealers; i++)
		add_dealer(w, i);
	for (uint32_t i = 0; i < w->plan.users; i++)
		add_user(w, &w->users[i]);
	if (w->plan.operations)
		world_at(w, pause_ms(w), operate, 0, 0);
}

static void release_dealers(struct world *w)
{
	struct dealer_put_cmd cmd;
	struct dealer key;

	for (uint32_t i = 0; i < w->plan.dealers; i++) {
		const struct dealer *dealer;

		memset(&key, 0, sizeof(key));
		snprintf(key.casino_id, sizeof(key.casino_id), "d%u", i);
		dealer = world_load(w, RECORD_DEALER, &key);
		if (!dealer || !dealer->callbacks_held_ms)
			continue;
		hold_cmd(w, &cmd, i, false);
		do_now(w, COMMAND_DEALER_PUT, &cmd);
	}
}

/* What the operator asked for last may still come. */
void operator_release(struct world *w, uint32_t who, uint32_t what)
{
	const struct process *p = &sim_processes[SIM_PROCESSES_MAX - 1];

	(void)who;
	(void)what;
	if (w->up) {
		/* As before each batch. */
		sim_ledger.storage_low = w->low;
		release_dealers(w);
	}
	if (!w->up || p->asking)
		world_at(w, SIM_SECOND, operator_release, 0, 0);
}

/*
 * Returns true if the dealer refuses a parked callback as a repeat although no attempt stayed unknown, after it
 * was sent again: a copy within the first attempt was answered. The dealer's books have it, so the operator
 * settles it.
 */
static bool dealer_has_it(struct world *w, uint64_t event)
{
	const struct callback *callback;
	struct callback key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	callback = world_load(w, RECORD_CALLBACK, &key);
	return callback && !callback->maybe_performed && callback->last_class == CALLBACK_REFUSED &&
		w->notes[event % SIM_EVENTS_MAX].retries > 3;
}

bool operator_clear(struct world *w)
{
	uint64_t last = last_event(w);
	struct callback_operate_cmd cmd;
	bool any = false;

	for (uint64_t event = 1; event <= last && event < SIM_EVENTS_MAX; event++) {
		enum callback_state state = state_of(w, event);

		if (state != CALLBACK_PARKED && (state != CALLBACK_HELD || !w->plan.release))
			continue;
		w->tally.parked += state == CALLBACK_PARKED;
		operate_cmd(w, &cmd, event,
			state == CALLBACK_HELD            ? CALLBACK_RELEASE
				: dealer_has_it(w, event) ? CALLBACK_CANCEL
							  : CALLBACK_RETRY);
		if (host_direct(w, COMMAND_CALLBACK_OPERATE, &cmd)->result.verdict.refusal !=
			REFUSAL_NONE)
			violate(w, FLAW_ANSWER, "what is parked or held cannot be sent again");
		any = true;
	}
	return any;
}
