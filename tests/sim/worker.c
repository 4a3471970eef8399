/*
 * worker - serves one call of a game server at a time, as the handlers of src/web/handlers do.
 */
#include "ledger/rows/keys.h"
#include "sim.h"

static const char *const clients[] = {"slots", "cards"};

const char *worker_client(const struct world *w, uint32_t round)
{
	return clients[w->rounds[round].client];
}

static const struct sim_call *call_of(const struct world *w, const struct process *p)
{
	return &w->calls[p->call];
}

static void free_worker(struct process *p)
{
	p->serving = false;
	p->flights[0].used = p->flights[0].ended = false;
}

static void hear(struct world *w, struct process *p, enum refusal refusal,
	const struct bet_answer *bet)
{
	switch (call_of(w, p)->kind) {
	case CALL_BET:
		game_hear_bet(w, p, refusal, bet);
		break;
	case CALL_SETTLE:
		game_hear_round(w, p, refusal, &p->result.round_settle);
		break;
	case CALL_INQUIRE:
		game_hear_balance(w, p, refusal);
		break;
	case CALL_TRANSFER:
	case CALL_CANCEL:
	case CALL_CORRECT:
	case CALL_BATCH:
		game_hear_other(w, p, refusal);
		break;
	}
	free_worker(p);
}

static void hear_nothing(struct world *w, struct process *p)
{
	game_hear_nothing(w, p);
	free_worker(p);
}

/* CALLBACK_END was answered, or not. */
static void ended(struct world *w, struct process *p)
{
	const struct callback_end_result *end = &p->result.callback_end;

	/* Whatever came of it the round is settled, the bet cancelled, the result corrected. */
	if (call_of(w, p)->kind == CALL_SETTLE) {
		game_hear_round(w, p, REFUSAL_NONE, &p->settled);
		free_worker(p);
	} else if (call_of(w, p)->kind == CALL_CANCEL || call_of(w, p)->kind == CALL_CORRECT)
		hear(w, p, REFUSAL_NONE, NULL);
	else if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else
		hear(w, p, end->verdict.refusal, &end->bet);
}

void worker_flight_ended(struct world *w, struct process *p, struct flight *f)
{
	struct bet_answer early;

	if (w->plant == PLANT_UNKNOWN_IS_NO && f->class == CALLBACK_UNKNOWN)
		f->class = CALLBACK_NOT_SENT;
	if (w->plant == PLANT_ANSWERED_EARLY && f->kind == CALLBACK_BETTING &&
		f->class == CALLBACK_SUCCESS) {
		memset(&early, 0, sizeof(early));
		early.state = BET_ACCEPTED;
		game_hear_bet(w, p, REFUSAL_NONE, &early);
	}
	flight_end_cmd(w, f, &p->cmd.callback_end);
	process_ask(w, p, COMMAND_CALLBACK_END, ended);
}

static uint32_t user_of(const struct world *w, const struct sim_call *call)
{
	switch (call->kind) {
	case CALL_BET:
		return w->rounds[w->bets[call->index].round].user;
	case CALL_SETTLE:
		return w->rounds[call->index].user;
	case CALL_CANCEL:
		return w->rounds[w->bets[w->cancels[call->index].bet].round].user;
	case CALL_CORRECT:
		return w->rounds[w->corrections[call->index].round].user;
	case CALL_TRANSFER:
	case CALL_INQUIRE:
	case CALL_BATCH: /* nothing is granted */
		break;
	}
	return call->index;
}

static void granted(struct world *w, struct process *p, const struct callback_grant *grant)
{
	const uint32_t user = user_of(w, call_of(w, p));
	char casino_id[CASINO_ID_SIZE];

	snprintf(casino_id, sizeof(casino_id), "d%u", w->users[user].dealer);
	flight_begin(w, p, grant, casino_id);
}

/* A process that repeats a command whose answer was lost still has to send the attempt that it
 * began. */
void worker_check_granted(struct world *w, uint64_t event, uint64_t sender)
{
	const struct callback *callback;
	const struct attempt *attempt;
	struct callback callback_key;
	const struct dealer *dealer;
	struct dealer dealer_key;
	struct attempt key;
	uint32_t attempts;

	memset(&callback_key, 0, sizeof(callback_key));
	callback_key.event = event;
	callback = event ? world_load(w, RECORD_CALLBACK, &callback_key) : NULL;
	if (!callback || callback->state != CALLBACK_SENDING)
		return;
	/* The dealer was held meanwhile: nothing is granted again, and the lease runs out. */
	memset(&dealer_key, 0, sizeof(dealer_key));
	strcpy(dealer_key.casino_id, callback->casino_id);
	attempts = callback->attempts;
	dealer = world_load(w, RECORD_DEALER, &dealer_key);
	if (dealer && dealer->callbacks_held_ms)
		return;
	memset(&key, 0, sizeof(key));
	key.event = event;
	key.number = attempts;
	attempt = world_load(w, RECORD_ATTEMPT, &key);
	if (!attempt || attempt->sender == sender)
		violate(w, FLAW_ANSWER, "%" PRIu64 " is its sender's, which does not get it",
			event);
}

/* The betting of the bet that was placed; 0: none is known. */
static uint64_t betting_of(struct world *w, const struct bet_place_cmd *cmd)
{
	struct request key =
		request_named(SCOPE_CLIENT, cmd->client_id, cmd->request_transaction_id);
	const struct request *request = world_load(w, RECORD_REQUEST, &key);
	const struct bet *bet;
	struct bet bet_key;

	if (!request || !request->bet_number)
		return 0;
	bet_key = bet_named(request->player_id, request->game_id, request->bet_number);
	bet = world_load(w, RECORD_BET, &bet_key);
	return bet ? bet->event : 0;
}

static void placed(struct world *w, struct process *p)
{
	const struct bet_place_result *result = &p->result.bet_place;

	if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else if (result->send.event)
		granted(w, p, &result->send);
	else {
		if (p->maybe_done)
			worker_check_granted(w, betting_of(w, &p->cmd.bet_place),
				p->cmd.bet_place.sender);
		hear(w, p, result->verdict.refusal, &result->bet);
	}
}

static void settled(struct world *w, struct process *p)
{
	const struct round_settle_result *result = &p->result.round_settle;

	if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else if (result->verdict.refusal != REFUSAL_NONE || !result->send.event) {
		if (p->maybe_done)
			worker_check_granted(w, result->event, p->cmd.round_settle.sender);
		hear(w, p, result->verdict.refusal, NULL);
	} else {
		p->settled = *result;
		granted(w, p, &result->send);
	}
}

static void inquired(struct world *w, struct process *p)
{
	const struct player_balance_result *result = &p->result.player_balance;

	if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else if (!result->send.event)
		hear(w, p, result->verdict.refusal, NULL);
	else
		granted(w, p, &result->send);
}

static void cancelled(struct world *w, struct process *p)
{
	const struct bet_cancel_result *result = &p->result.bet_cancel;

	p->cancelled = *result;
	if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else if (result->send.event)
		granted(w, p, &result->send);
	else {
		if (p->maybe_done)
			worker_check_granted(w, cancel_event(w, call_of(w, p)->index),
				p->cmd.bet_cancel.sender);
		hear(w, p, result->verdict.refusal, NULL);
	}
}

static void corrected(struct world *w, struct process *p)
{
	const struct round_correct_result *result = &p->result.round_correct;

	p->corrected = *result;
	if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else if (result->send.event)
		granted(w, p, &result->send);
	else {
		if (p->maybe_done)
			worker_check_granted(w, result->event, p->cmd.round_correct.sender);
		hear(w, p, result->verdict.refusal, NULL);
	}
}

/* As corrected(), for the operator, which sends no callback. */
static void operated(struct world *w, struct process *p)
{
	const struct operator_correct_result *result = &p->result.operator_correct;

	memset(&p->corrected, 0, sizeof(p->corrected));
	p->corrected.transaction_id = result->transaction_id;
	p->corrected.revision = result->revision;
	p->corrected.payout_amount = result->payout_amount;
	if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else
		hear(w, p, result->verdict.refusal, NULL);
}

static void moved(struct world *w, struct process *p)
{
	if (p->status != STATUS_OK)
		hear_nothing(w, p);
	else
		hear(w, p, p->result.verdict.refusal, NULL);
}

/* Group C names a player by player_id or by casino_id and user_id. */
void worker_name_player(struct world *w, uint32_t user, struct player_ref *ref)
{
	const struct sim_user *u = &w->users[user];

	if (below(w, 2)) {
		snprintf(ref->player_id, sizeof(ref->player_id), "%s", u->player_id);
		return;
	}
	snprintf(ref->casino_id, sizeof(ref->casino_id), "d%u", u->dealer);
	snprintf(ref->user_id, sizeof(ref->user_id), "%s", u->user_id);
}

static void ask_bet(struct world *w, struct process *p, uint32_t index)
{
	const struct sim_bet *bet = &w->bets[index];
	const struct sim_round *round = &w->rounds[bet->round];
	struct bet_place_cmd *cmd = &p->cmd.bet_place;

	memset(cmd, 0, sizeof(*cmd));
	snprintf(cmd->client_id, sizeof(cmd->client_id), "%s", clients[round->client]);
	snprintf(cmd->request_transaction_id, sizeof(cmd->request_transaction_id), "b%u", index);
	snprintf(cmd->game_id, sizeof(cmd->game_id), "g%u", bet->round);
	snprintf(cmd->remark, sizeof(cmd->remark), "a \"remark\" on %u", index);
	worker_name_player(w, round->user, &cmd->player);
	cmd->bet_amount = bet->amount + (p->twist == TWIST_CONTENT ? MONEY_UNITS_PER_CREDIT : 0);
	cmd->addition = bet->addition;
	cmd->user_bet = (struct bytes){(const uint8_t *)"{\"line\":1}", 10};
	cmd->sender = ++w->senders;
	process_ask(w, p, COMMAND_BET_PLACE, placed);
}

static void ask_settle(struct world *w, struct process *p, uint32_t index)
{
	const struct sim_round *round = &w->rounds[index];
	struct round_settle_cmd *cmd = &p->cmd.round_settle;

	memset(cmd, 0, sizeof(*cmd));
	snprintf(cmd->client_id, sizeof(cmd->client_id), "%s", clients[round->client]);
	snprintf(cmd->request_transaction_id, sizeof(cmd->request_transaction_id), "%s%u",
		p->twist == TWIST_KEY ? "other" : "s", index);
	snprintf(cmd->game_id, sizeof(cmd->game_id), "g%u", index);
	worker_name_player(w, round->user, &cmd->player);
	cmd->result = round->result;
	cmd->payout_amount = round->payout;
	if (p->twist == TWIST_CONTENT) {
		cmd->result = RESULT_WIN;
		cmd->payout_amount += MONEY_UNITS_PER_CREDIT;
	}
	cmd->game_result = (struct bytes){(const uint8_t *)"{\"n\":7}", 7};
	cmd->sender = ++w->senders;
	process_ask(w, p, COMMAND_ROUND_SETTLE, settled);
}

static void ask(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	const struct sim_call *call = call_of(w, p);

	(void)what;
	switch (call->kind) {
	case CALL_BET:
		ask_bet(w, p, call->index);
		break;
	case CALL_SETTLE:
		ask_settle(w, p, call->index);
		break;
	case CALL_INQUIRE:
		memset(&p->cmd.player_balance, 0, sizeof(p->cmd.player_balance));
		worker_name_player(w, call->index, &p->cmd.player_balance.player);
		process_ask(w, p, COMMAND_PLAYER_BALANCE, inquired);
		break;
	case CALL_TRANSFER:
		seal_ask(w, p, call->index, moved);
		break;
	case CALL_CANCEL:
		cancel_ask(w, p, call->index, cancelled);
		break;
	case CALL_CORRECT:
		correct_ask(w, p, call->index,
			w->corrections[call->index].by_operator ? operated : corrected);
		break;
	case CALL_BATCH:
		batch_ask(w, p, call->index, moved);
		break;
	}
}

void worker_serve(struct world *w, struct process *p, uint32_t call, enum twist twist)
{
	p->serving = true;
	p->call = call;
	p->call_try = w->calls[call].waiting;
	p->twist = twist;
	p->seals = w->calls[call].kind == CALL_TRANSFER && w->transfers[w->calls[call].index].seals;
	process_at(w, p, 1 + below(w, 5), TIMER_STEP, ask, 0);
}
