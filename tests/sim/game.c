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

static struct sim_call *settle_call(struct world *w, uint32_t round)
{
	return &w->calls[w->plan.bets + round];
}

/* Most cancellations come around the time of their bet. */
static int64_t cancel_ms(struct world *w, uint32_t bet)
{
	const int64_t late_ms = (int64_t)below(w, below(w, 2) ? 5000 : 30000) - 1000;

	if (below(w, 4) == 0)
		return below(w, (uint64_t)w->plan.active_ms);
	return w->bets[bet].at_ms + late_ms > 0 ? w->bets[bet].at_ms + late_ms : 0;
}

void game_open(struct world *w)
{
	const struct plan *plan = &w->plan;
	int64_t last_ms[SIM_BETS_MAX] = {0};

	for (uint32_t i = 0; i < plan->bets; i++) {
		int64_t at_ms = below(w, (uint64_t)plan->active_ms);
		int64_t *last = &last_ms[w->bets[i].round];

		w->bets[i].at_ms = at_ms;
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
	for (uint32_t i = 0; i < plan->transfers; i++)
		add(w, CALL_TRANSFER, i, below(w, (uint64_t)plan->active_ms));
	for (uint32_t i = 0; i < plan->cancels; i++)
		add(w, CALL_CANCEL, i, cancel_ms(w, w->cancels[i].bet));
	/* A round of a batch gets a result of its own only if the batch left it open. */
	for (uint32_t i = 0; i < plan->rounds; i++)
		settle_call(w, i)->done = w->rounds[i].batch != 0;
	for (uint32_t i = 0; i < plan->batches; i++) {
		if (w->batches[i].count)
			add(w, CALL_BATCH, i, below(w, (uint64_t)plan->active_ms));
	}
	for (uint32_t i = 0; i < plan->corrections; i++)
		add(w, CALL_CORRECT, i, below(w, (uint64_t)plan->active_ms + 60000));
}

/* Bets are numbered before rounds, so a bet's call has its number. */
bool game_bets_are_done(const struct world *w, uint32_t round)
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
void game_try_again(struct world *w, struct sim_call *call)
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
		game_try_again(w, call);
}

/* True: its key is used. */
static bool key_is_used(const struct world *w, const struct sim_call *call)
{
	enum answered answered = w->bets[call->index].answered;

	if (call->kind == CALL_BET)
		return answered != ANSWERED_NOTHING && answered != ANSWERED_NO &&
			answered != ANSWERED_CANCELLED;
	if (call->kind == CALL_BATCH)
		return w->batches[call->index].stored;
	return call->kind == CALL_SETTLE && w->rounds[call->index].settled &&
		!w->rounds[call->index].batch;
}

/* The round has its result, or gets none before the end. */
static bool result_is_done(const struct world *w, uint32_t round)
{
	const uint32_t batch = w->rounds[round].batch;

	if (!batch)
		return w->calls[w->plan.bets + round].done;
	for (uint32_t i = 0; i < w->call_count; i++) {
		if (w->calls[i].kind == CALL_BATCH && w->calls[i].index == batch - 1)
			return w->calls[i].done;
	}
	return true;
}

/* A result waits for its bets, a correction for its result. */
static bool waits_for_another(const struct world *w, const struct sim_call *call)
{
	if (call->kind == CALL_SETTLE)
		return !w->rounds[call->index].hasty && !game_bets_are_done(w, call->index);
	if (call->kind == CALL_BATCH)
		return batch_waits(w, call->index);
	return call->kind == CALL_CORRECT && !result_is_done(w, w->corrections[call->index].round);
}

/* A round that was not settled is not corrected. */
static bool is_needless(const struct world *w, const struct sim_call *call)
{
	return call->kind == CALL_CORRECT && !w->rounds[w->corrections[call->index].round].settled;
}

/* Calls @call on a worker; @what: an enum twist. */
static void begin(struct world *w, uint32_t who, uint32_t what)
{
	struct sim_call *call = &w->calls[who];
	/* How often, of 1000 times, a second call arrives beside the first. */
	static const uint32_t doubled[] = {[CALL_BET] = 40,
		[CALL_SETTLE] = 40,
		[CALL_INQUIRE] = 40,
		[CALL_TRANSFER] = 600,
		[CALL_CANCEL] = 40,
		[CALL_CORRECT] = 300,
		[CALL_BATCH] = 300};
	static const char *const names[] = {[CALL_BET] = "b",
		[CALL_SETTLE] = "s",
		[CALL_INQUIRE] = "balance ",
		[CALL_TRANSFER] = "t",
		[CALL_CANCEL] = "c",
		[CALL_CORRECT] = "k",
		[CALL_BATCH] = "B"};
	enum twist twist = key_is_used(w, call) ? (enum twist)what : TWIST_NOTHING;
	struct process *p;

	if ((call->done && !what) || call->waiting)
		return;
	if (waits_for_another(w, call)) {
		world_at(w, 1000 + below(w, 2000), begin, who, what);
		return;
	}
	if (is_needless(w, call)) {
		call->done = true;
		return;
	}
	p = idle_worker(w);
	if (!p) {
		world_at(w, 20 + below(w, 400), begin, who, what);
		return;
	}
	/* Without an answer the dealer repeats its transfer, or asks with a seal. */
	if (call->kind == CALL_TRANSFER && call->tries)
		w->transfers[call->index].seals |= below(w, 2);
	call->waiting = ++call->tries;
	trace(w, "p%u serves call %u (%s%u)%s", p->index, who, names[call->kind], call->index,
		twist ? " once more" : "");
	worker_serve(w, p, who, twist);
	world_at(w, PATIENCE_MS, lose_patience, who, call->waiting);
	p = fate(w, doubled[call->kind]) ? idle_worker(w) : NULL;
	if (!p)
		return;
	worker_serve(w, p, who, twist);
	/* A seal, or a copy of the transfer, arrives beside the call. */
	if (call->kind == CALL_TRANSFER)
		p->seals = below(w, 2);
}

/* It knows. At times it calls again nevertheless. */
void game_done(struct world *w, struct sim_call *call)
{
	uint32_t twist = below(w, TWIST_COUNT);

	call->waiting = 0;
	call->done = true;
	if (call->repeats++ < 2 && fate(w, 150))
		world_at(w, 100 + below(w, 30000), begin, number_of(w, call), twist);
}

bool game_is_done(const struct world *w)
{
	for (uint32_t i = 0; i < w->call_count; i++) {
		if (!w->calls[i].done)
			return false;
	}
	/* A worker that was stopped may still do what was given up. */
	for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
		if (sim_processes[i].alive && sim_processes[i].serving)
			return false;
	}
	return true;
}

/* Whether the round has a bet that is not settled. */
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

bool game_was_settled_alone(const struct world *w, uint32_t round)
{
	return w->calls[w->plan.bets + round].tries != 0;
}

bool game_settle_rest(struct world *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->plan.rounds; i++) {
		struct sim_call *call = settle_call(w, i);

		if (!has_accepted(w, i))
			continue;
		trace(w, "s%u is settled after all", i);
		call->done = false;
		again(w, call, 1000);
		any = true;
	}
	return any;
}
