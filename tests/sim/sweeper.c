/*
 * sweeper - one run of creditbridge-sweep after the other, as src/sweep/sweep.c works.
 *
 * It asks the ledger one thing at a time: first it ends what came back, then it claims what was
 * found, then it looks again. It stops after 55 s, or when the ledger fails it, and starts again
 * with the next minute. Two at once are two processes.
 */
#include "sim.h"

#define FIND_EVERY_MS SIM_SECOND
#define RUN_MS        (55 * SIM_SECOND)

static void next(struct world *w, struct process *p);

/* The run is over: another one begins with the next minute. */
static void leave(struct world *w, struct process *p)
{
	trace(w, "sweeper p%u ends its run", p->index);
	flights_drop(w, p);
	host_link_close(w, p);
	p->alive = false;
	p->life++;
	p->try++;
	world_at(w, w->calm ? 5000 : 5000 + below(w, 55000), sweeper_start, p->index, 0);
}

static void wake(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];

	(void)what;
	p->waking = false;
	if (!p->asking)
		next(w, p);
}

void sweeper_start(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];

	(void)what;
	if (p->alive && !p->resting)
		return;
	p->alive = true;
	p->resting = p->waking = p->stopping = p->cut_off = p->asking = false;
	p->found_count = p->found_next = 0;
	p->find_ms = w->now_ms;
	p->poll_ms = FIND_EVERY_MS;
	p->until_ms = w->now_ms + RUN_MS;
	process_at(w, p, 0, TIMER_STEP, wake, 0);
}

/* A command failed: nothing is claimed any more. */
static bool failed(struct process *p)
{
	if (p->status != STATUS_OK) {
		p->cut_off |= p->status != STATUS_FAULT;
		p->stopping |= p->status != STATUS_FAULT;
		return true;
	}
	if (p->result.verdict.refusal == REFUSAL_STORAGE_FULL) {
		p->stopping = true;
		return true;
	}
	return false;
}

static void ended(struct world *w, struct process *p)
{
	failed(p);
	p->find_ms = w->now_ms;
	next(w, p);
}

static void claimed(struct world *w, struct process *p)
{
	const struct callback_claim_result *result = &p->result.callback_claim;

	if (!failed(p)) {
		if (result->verdict.refusal == REFUSAL_NONE && result->taken_over) {
			trace(w, "p%u takes %s-%" PRIu64 " over", p->index,
				callback_kind_names[result->kind], p->cmd.callback_claim.event);
			w->tally.takeovers++;
		}
		if (p->maybe_done && !result->send.event)
			worker_check_granted(w, p->cmd.callback_claim.event,
				p->cmd.callback_claim.sender);
		if (result->verdict.refusal == REFUSAL_NONE && result->send.event)
			flight_begin(w, p, &result->send, result->casino_id);
		if (result->verdict.refusal == REFUSAL_NONE)
			p->find_ms = w->now_ms;
	}
	next(w, p);
}

static void found(struct world *w, struct process *p)
{
	if (p->status != STATUS_OK)
		p->found_count = p->found_next = 0;
	if (!failed(p) && p->found_count) {
		p->poll_ms = FIND_EVERY_MS;
	} else if (p->poll_ms < w->plan.poll_max_ms) {
		p->poll_ms += below(w, (uint64_t)p->poll_ms + 1);
	}
	if (p->poll_ms > w->plan.poll_max_ms)
		p->poll_ms = w->plan.poll_max_ms;
	p->find_ms = w->now_ms + p->poll_ms;
	/* What was asked before may be out of date. */
	p->resting = w->calm && p->asked_ms >= w->calm_ms && p->status == STATUS_OK &&
		!p->found_count && !p->result.callback_find.waiting && game_is_done(w);
	next(w, p);
}

static struct flight *ended_flight(struct process *p)
{
	for (uint32_t i = 0; i < SIM_FLIGHTS_MAX; i++) {
		if (p->flights[i].ended)
			return &p->flights[i];
	}
	return NULL;
}

static bool flies(const struct process *p)
{
	for (uint32_t i = 0; i < SIM_FLIGHTS_MAX; i++) {
		if (p->flights[i].used)
			return true;
	}
	return false;
}

static void end_flight(struct world *w, struct process *p, struct flight *f)
{
	if (w->plant == PLANT_UNKNOWN_IS_OK && f->class == CALLBACK_UNKNOWN)
		f->class = CALLBACK_SUCCESS;
	flight_end_cmd(w, f, &p->cmd.callback_end);
	f->used = f->ended = false;
	process_ask(w, p, COMMAND_CALLBACK_END, ended);
}

static void claim(struct world *w, struct process *p)
{
	memset(&p->cmd.callback_claim, 0, sizeof(p->cmd.callback_claim));
	p->cmd.callback_claim.event = p->found[p->found_next++];
	/* What was found may be long out of date. */
	if (fate(w, 50))
		p->cmd.callback_claim.event = 1 + below(w, p->cmd.callback_claim.event + 3);
	p->cmd.callback_claim.sender = ++w->senders;
	process_ask(w, p, COMMAND_CALLBACK_CLAIM, claimed);
}

/* An end that was reported before is reported once more, whatever has become of its callback. */
static void end_again(struct world *w, struct process *p)
{
	p->cmd.callback_end =
		w->ends[below(w, w->end_count < SIM_ENDS_MAX ? w->end_count : SIM_ENDS_MAX)];
	process_ask(w, p, COMMAND_CALLBACK_END, ended);
}

static void find(struct world *w, struct process *p)
{
	memset(&p->cmd.callback_find, 0, sizeof(p->cmd.callback_find));
	p->asked_ms = w->now_ms;
	p->cmd.callback_find.most = 1 + below(w, SIM_FLIGHTS_MAX);
	process_ask(w, p, COMMAND_CALLBACK_FIND, found);
}

static void next(struct world *w, struct process *p)
{
	struct flight *f = ended_flight(p);

	if (w->now_ms >= p->until_ms && !p->resting)
		p->stopping = true;
	while (f && p->cut_off) {
		f->used = f->ended = false;
		f = ended_flight(p);
	}
	if (f) {
		end_flight(w, p, f);
	} else if (p->stopping) {
		if (!flies(p))
			leave(w, p);
	} else if (w->end_count && fate(w, 30)) {
		end_again(w, p);
	} else if (p->found_next < p->found_count && flight_free_place(p)) {
		claim(w, p);
	} else if (p->resting) {
		return;
	} else if (w->now_ms >= p->find_ms && flight_free_place(p)) {
		find(w, p);
	} else if (!p->waking && p->find_ms > w->now_ms) {
		p->waking = true;
		process_at(w, p, p->find_ms - w->now_ms, TIMER_STEP, wake, 0);
	}
}

void sweeper_flight_ended(struct world *w, struct process *p)
{
	if (!p->asking)
		next(w, p);
}
