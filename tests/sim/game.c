/*
 * game - the game servers: they place bets and settle rounds, and call again with the same key
 * while they do not know what came of it. At times they call twice at once, again although they
 * know, or with other content.
 */
#include "ledger/rows/keys.h"
#include "sim.h"

#define PATIENCE_MS (12 * SIM_SECOND) /* until an answer is not waited for any more */
#define TRIES_MAX   12                /* while things go wrong; later until it is known */

static void begin(struct world *w, uint32_t who, uint32_t what);

static uint32_t number_of(const struct world *w, const struct sim_call *call)
{
	return (uint32_t)(call - w->calls);
}

static struct sim_call *add(struct world *w, enum call_kind kind, uint32_t index, int64_t at_ms)
{
	struct sim_call *call = &w->calls[w->call_count++];

	call->kind = kind;
	call->index = index;
	world_at(w, at_ms, begin, number_of(w, call), 0);
	return call;
}

void game_open(struct world *w)
{
	const struct plan *plan = &w->plan;
	int64_t last_ms[SIM_BETS_MAX] = {0};

	for (uint32_t i = 0; i < plan->bets; i++) {
		int64_t at_ms = below(w, (uint64_t)plan->active_ms);
		int64_t *last = &last_ms[w->bets[i].round];

		add(w, CALL_BET, i, at_ms);
		*last = at_ms > *last ? at_ms : *last;
	}
	for (uint32_t i = 0; i < plan->rounds; i++)
		add(w, CALL_SETTLE, i,
			w->rounds[i].hasty ? (int64_t)below(w, (uint64_t)plan->active_ms)
					   : last_ms[i] + 100 + below(w, 8000));
	for (uint32_t i = 0; i < plan->inquiries; i++) {
		uint32_t user = below(w, plan->users);

		add(w, CALL_INQUIRE, user, below(w, (uint64_t)plan->active_ms));
	}
}

/* Bets are numbered before rounds, so a bet's call has its number. */
static bool bets_are_done(const struct world *w, uint32_t round)
{
	for (uint32_t i = 0; i < w->plan.bets; i++) {
		if (w->bets[i].round == round && !w->calls[i].done)
			return false;
	}
	return true;
}

static struct process *idle_worker(struct world *w)
{
	uint32_t first = below(w, w->plan.workers);

	for (uint32_t i = 0; i < w->plan.workers; i++) {
		struct process *p = &sim_processes[(first + i) % w->plan.workers];

		if (p->alive && !p->serving && p->stopped_until_ms <= w->now_ms)
			return p;
	}
	return NULL;
}

static void again(struct world *w, struct sim_call *call, int64_t in_ms)
{
	call->waiting = 0;
	world_at(w, in_ms, begin, number_of(w, call), 0);
}

/* It does not know what came of it. */
static void try_again(struct world *w, struct sim_call *call)
{
	if (!w->calm && call->tries >= TRIES_MAX) {
		trace(w, "call %u is given up", number_of(w, call));
		call->waiting = 0;
		call->done = true;
		return;
	}
	again(w, call, 50 + below(w, 500 * (uint64_t)call->tries));
}

static void lose_patience(struct world *w, uint32_t who, uint32_t what)
{
	struct sim_call *call = &w->calls[who];

	if (call->waiting == what)
		try_again(w, call);
}

/* True: its key is used. */
static bool key_is_used(const struct world *w, const struct sim_call *call)
{
	enum told told = w->bets[call->index].told;

	if (call->kind == CALL_BET)
		return told != TOLD_NOTHING && told != TOLD_NO;
	return call->kind == CALL_SETTLE && w->rounds[call->index].settled;
}

/* Calls @call on a worker; @what: an enum twist. */
static void begin(struct world *w, uint32_t who, uint32_t what)
{
	struct sim_call *call = &w->calls[who];
	enum twist twist = key_is_used(w, call) ? (enum twist)what : TWIST_NOTHING;
	struct process *p;

	if ((call->done && !what) || call->waiting)
		return;
	if (call->kind == CALL_SETTLE && !w->rounds[call->index].hasty &&
		!bets_are_done(w, call->index)) {
		world_at(w, 1000 + below(w, 2000), begin, who, what);
		return;
	}
	p = idle_worker(w);
	if (!p) {
		world_at(w, 20 + below(w, 400), begin, who, what);
		return;
	}
	call->waiting = ++call->tries;
	trace(w, "p%u serves call %u (%s%u)%s", p->index, who,
		call->kind == CALL_BET              ? "b"
			: call->kind == CALL_SETTLE ? "s"
						    : "balance ",
		call->index, twist ? " once more" : "");
	worker_serve(w, p, who, twist);
	world_at(w, PATIENCE_MS, lose_patience, who, call->waiting);
	p = fate(w, 40) ? idle_worker(w) : NULL;
	if (p)
		worker_serve(w, p, who, twist);
}

/* It knows. At times it calls again nevertheless. */
static void done(struct world *w, struct sim_call *call)
{
	uint32_t twist = below(w, TWIST_COUNT);

	call->waiting = 0;
	call->done = true;
	if (call->repeats++ < 2 && fate(w, 150))
		world_at(w, 100 + below(w, 30000), begin, number_of(w, call), twist);
}

/* The answer counts only while it is waited for. */
static struct sim_call *waiting_call(struct world *w, const struct process *p)
{
	struct sim_call *call = &w->calls[p->call];

	return call->waiting && call->waiting == p->call_try ? call : NULL;
}

/*
 * An answer to other content under a key that is used, or to another key of a round that is
 * settled. False: it is neither.
 */
static bool hear_twisted(struct world *w, const struct process *p, struct sim_call *call,
	enum refusal refusal)
{
	enum refusal expected =
		p->twist == TWIST_CONTENT ? REFUSAL_TRANSACTION_CONFLICT : REFUSAL_ALREADY_SETTLED;

	if (p->twist != TWIST_CONTENT && (p->twist != TWIST_KEY || call->kind != CALL_SETTLE))
		return false;
	if (refusal != expected)
		violate(w, FLAW_ANSWER, "call %u with other content or key: %s", number_of(w, call),
			refusal_info(refusal)->id);
	w->tally.conflicts++;
	done(w, call);
	return true;
}

/* A game server hears "accepted" only when that is on disk. */
static void check_accepted(struct world *w, uint32_t index, uint64_t transaction_id)
{
	const struct sim_round *round = &w->rounds[w->bets[index].round];
	const struct request *request;
	const struct bet *bet;
	struct request request_key;
	struct bet bet_key;
	char id[16], game_id[16];

	snprintf(id, sizeof(id), "b%u", index);
	snprintf(game_id, sizeof(game_id), "g%u", w->bets[index].round);
	request_key = request_named(SCOPE_CLIENT, round->client ? "cards" : "slots", id);
	request = world_load(w, RECORD_REQUEST, &request_key);
	bet_key = bet_named(w->users[round->user].player_id, game_id,
		request ? request->bet_number : 0);
	bet = world_load(w, RECORD_BET, &bet_key);
	if (!bet || (bet->state != BET_ACCEPTED && bet->state != BET_SETTLED) ||
		bet->transaction_id != transaction_id)
		violate(w, FLAW_TOLD, "b%u is accepted, it is told, and is %s", index,
			bet ? bet_state_names[bet->state] : "nothing");
}

/* What a refusal means for a bet. TOLD_NOTHING: to be tried again. */
static enum told told_by(enum refusal refusal, bool *known)
{
	static const struct {
		enum refusal refusal;
		enum told told;
	} meanings[] = {
		{REFUSAL_NONE, TOLD_ACCEPTED},
		{REFUSAL_BET_REJECTED, TOLD_REJECTED},
		{REFUSAL_DEALER_UNREACHABLE, TOLD_REJECTED},
		{REFUSAL_DEALER_TIMEOUT, TOLD_TIMEOUT},
		{REFUSAL_ALREADY_SETTLED, TOLD_NO},
		{REFUSAL_INSUFFICIENT_BALANCE, TOLD_NO},
		{REFUSAL_BET_IN_PROGRESS, TOLD_NOTHING},
		{REFUSAL_DEALER_BUSY, TOLD_NOTHING},
		{REFUSAL_STORAGE_FULL, TOLD_NOTHING},
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].refusal == refusal) {
			*known = true;
			return meanings[i].told;
		}
	}
	*known = false;
	return TOLD_NOTHING;
}

void game_hear_bet(struct world *w, const struct process *p, enum refusal refusal,
	const struct bet_answer *answer)
{
	struct sim_call *call = waiting_call(w, p);
	struct sim_bet *bet;
	enum told told;
	bool known;

	if (!call)
		return;
	trace(w, "b%u is told %s", call->index, refusal_info(refusal)->id);
	if (hear_twisted(w, p, call, refusal))
		return;
	bet = &w->bets[call->index];
	told = told_by(refusal, &known);
	if (!known)
		violate(w, FLAW_ANSWER, "b%u is told %s", call->index, refusal_info(refusal)->id);
	if (told == TOLD_ACCEPTED && answer->state != BET_ACCEPTED)
		violate(w, FLAW_TOLD, "b%u is accepted and told %s", call->index,
			bet_state_names[answer->state]);
	if (told == TOLD_ACCEPTED)
		check_accepted(w, call->index, answer->transaction_id);
	if (bet->told != TOLD_NOTHING && bet->told != TOLD_NO &&
		(bet->told != told || bet->refusal != refusal ||
			bet->transaction_id != answer->transaction_id))
		violate(w, FLAW_TOLD, "b%u is told %s, and before %s", call->index,
			refusal_info(refusal)->id, refusal_info(bet->refusal)->id);
	if (told == TOLD_NOTHING) {
		try_again(w, call);
		return;
	}
	bet->told = told;
	bet->refusal = refusal;
	bet->transaction_id = answer->transaction_id;
	done(w, call);
}

static void hear_settled(struct world *w, struct sim_call *call,
	const struct round_settle_result *result)
{
	struct sim_round *round = &w->rounds[call->index];

	if (result->win_amount !=
			result->payout_amount - result->bet_amount - result->addition_amount ||
		(round->result == RESULT_WIN && result->payout_amount != round->payout))
		violate(w, FLAW_ANSWER, "s%u: its sums", call->index);
	if (round->settled && round->transaction_id != result->transaction_id)
		violate(w, FLAW_TOLD, "s%u is told another transaction_id", call->index);
	round->settled = true;
	round->transaction_id = result->transaction_id;
	done(w, call);
}

void game_hear_round(struct world *w, const struct process *p, enum refusal refusal,
	const struct round_settle_result *result)
{
	struct sim_call *call = waiting_call(w, p);
	struct sim_round *round;

	if (!call)
		return;
	trace(w, "s%u is told %s", call->index, refusal_info(refusal)->id);
	round = &w->rounds[call->index];
	if (hear_twisted(w, p, call, refusal))
		return;
	switch (refusal) {
	case REFUSAL_NONE:
		hear_settled(w, call, result);
		return;
	case REFUSAL_BET_NOT_FOUND:
	case REFUSAL_GAME_NOT_FOUND:
		if (bets_are_done(w, call->index)) {
			done(w, call);
			return;
		}
		break;
	case REFUSAL_BET_IN_PROGRESS:
	case REFUSAL_STORAGE_FULL:
		break;
	default:
		violate(w, FLAW_ANSWER, "s%u is told %s", call->index, refusal_info(refusal)->id);
		break;
	}
	if (round->settled)
		violate(w, FLAW_TOLD, "s%u was settled and is told %s", call->index,
			refusal_info(refusal)->id);
	try_again(w, call);
}

void game_hear_balance(struct world *w, const struct process *p, enum refusal refusal)
{
	struct sim_call *call = waiting_call(w, p);

	if (!call)
		return;
	if (refusal != REFUSAL_NONE && refusal != REFUSAL_DEALER_BUSY &&
		refusal != REFUSAL_STORAGE_FULL)
		violate(w, FLAW_ANSWER, "a balance is told %s", refusal_info(refusal)->id);
	done(w, call);
}

void game_hear_nothing(struct world *w, const struct process *p)
{
	struct sim_call *call = waiting_call(w, p);

	if (call)
		try_again(w, call);
}

bool game_is_done(const struct world *w)
{
	for (uint32_t i = 0; i < w->call_count; i++) {
		if (!w->calls[i].done)
			return false;
	}
	return true;
}

/* Whether the round has a bet that nobody settled. */
static bool has_accepted(struct world *w, uint32_t round)
{
	const char *player_id = w->users[w->rounds[round].user].player_id;
	struct bet key;
	char game_id[16];

	snprintf(game_id, sizeof(game_id), "g%u", round);
	for (uint32_t number = 1; number <= w->plan.bets; number++) {
		const struct bet *bet;

		key = bet_named(player_id, game_id, number);
		bet = world_load(w, RECORD_BET, &key);
		if (!bet)
			return false;
		if (bet->state == BET_ACCEPTED)
			return true;
	}
	return false;
}

bool game_settle_rest(struct world *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->plan.rounds; i++) {
		struct sim_call *call = &w->calls[w->plan.bets + i];

		if (!has_accepted(w, i))
			continue;
		trace(w, "s%u is settled after all", i);
		call->done = false;
		again(w, call, 1000);
		any = true;
	}
	return any;
}
