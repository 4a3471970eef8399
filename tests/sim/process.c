/*
 * process - what workers, sweepers and the operator have in common: they ask the ledger as
 * link_call() does, they die, and they are stopped.
 */
#include "sim.h"

/* As in link/client.c. */
#define RECONNECT_MS 10

struct process sim_processes[SIM_PROCESSES_MAX];

void process_open(struct world *w)
{
	memset(sim_processes, 0, sizeof(sim_processes));
	for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
		struct process *p = &sim_processes[i];

		p->index = i;
		p->kind = i < SIM_WORKERS_MAX                    ? PROCESS_WORKER
			: i < SIM_WORKERS_MAX + SIM_SWEEPERS_MAX ? PROCESS_SWEEPER
								 : PROCESS_OPERATOR;
	}
	for (uint32_t i = 0; i < w->plan.workers; i++)
		sim_processes[i].alive = true;
	for (uint32_t i = 0; i < w->plan.sweepers; i++)
		world_at(w, below(w, 3000), sweeper_start, SIM_WORKERS_MAX + i, 0);
	sim_processes[SIM_PROCESSES_MAX - 1].alive = true;
}

void process_at(struct world *w, const struct process *p, int64_t in_ms, enum timer_kind kind,
	sim_run *run, uint32_t what)
{
	const struct timer timer = {.at_ms = w->now_ms + in_ms,
		.run = run,
		.kind = kind,
		.who = p->index,
		.life = p->life,
		.what = what};

	world_push(w, &timer);
}

static void live_again(struct world *w, uint32_t who, uint32_t what)
{
	(void)w;
	(void)what;
	sim_processes[who].alive = true;
}

/* Its links and connections are closed; what it knew is gone. */
void process_die(struct world *w, struct process *p)
{
	int64_t in_ms = 20 + below(w, 400);

	if (!p->alive)
		return;
	trace(w, "p%u dies", p->index);
	flights_drop(w, p);
	host_link_close(w, p);
	p->alive = p->asking = p->answer_coming = p->serving = false;
	p->stopped_until_ms = 0;
	p->life++;
	p->try++;
	if (!w->up)
		in_ms += w->up_ms - w->now_ms;
	if (p->kind == PROCESS_SWEEPER)
		world_at(w, in_ms + below(w, 60000), sweeper_start, p->index, 0);
	else
		world_at(w, in_ms, live_again, p->index, 0);
}

bool process_goes_on(struct world *w, struct process *p, struct timer *timer)
{
	if (p->life != timer->life || !p->alive)
		return false;
	if (p->stopped_until_ms > w->now_ms) {
		timer->at_ms = p->stopped_until_ms;
		world_push(w, timer);
		return false;
	}
	if (p->kind == PROCESS_OPERATOR)
		return true;
	if (fate(w, w->plan.die)) {
		w->tally.deaths++;
		process_die(w, p);
		return false;
	}
	if (timer->kind == TIMER_STEADY || !fate(w, w->plan.stop))
		return true;
	w->tally.stops++;
	p->stopped_until_ms = w->now_ms + 1 + below(w, (uint64_t)w->plan.stop_ms);
	trace(w, "p%u is stopped until %" PRId64 " ms", p->index, p->stopped_until_ms);
	timer->at_ms = p->stopped_until_ms;
	world_push(w, timer);
	return false;
}

void process_ask(struct world *w, struct process *p, enum command command, process_then *then)
{
	p->command = command;
	p->then = then;
	p->deadline_ms = w->now_ms + SIM_ASK_MS;
	p->maybe_done = false;
	p->asking = true;
	p->answer_coming = false;
	p->asked_boot_ms = world_boot_ms(w);
	process_at(w, p, below(w, 2), TIMER_STEADY, host_arrive, ++p->try);
}

/* It gives up. */
static void give_up(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];

	if (p->try != what)
		return;
	trace(w, "p%u gets no answer to %s", p->index, command_infos[p->command].name);
	p->asking = false;
	p->status = p->maybe_done ? STATUS_UNKNOWN : STATUS_NOT_SENT;
	p->then(w, p);
}

void process_unanswered(struct world *w, struct process *p, bool maybe_done)
{
	int64_t at_ms = w->now_ms + RECONNECT_MS;

	p->maybe_done |= maybe_done;
	if (!w->up && w->up_ms + RECONNECT_MS > at_ms)
		at_ms = w->up_ms + below(w, RECONNECT_MS);
	p->try++;
	p->asked_boot_ms = world_boot_ms(w) + at_ms - w->now_ms;
	if (at_ms < p->deadline_ms)
		process_at(w, p, at_ms - w->now_ms, TIMER_STEP, host_arrive, p->try);
	else
		process_at(w, p, p->deadline_ms > w->now_ms ? p->deadline_ms - w->now_ms : 0,
			TIMER_STEP, give_up, p->try);
}
