/*
 * flight - one attempt: connecting, the fence, the first byte, and the end of its connection.
 *
 * A process can be stopped for any time before the fence is asked. From there to the connection's
 * end it is stopped for so long only that plan.fence_to_close_ms is not exceeded.
 */
#include "sim.h"

#define FLIGHT_OF(p, what) (&(p)->flights[(what) % SIM_FLIGHTS_MAX])

static uint32_t handle(const struct process *p, const struct flight *f)
{
	return f->serial * SIM_FLIGHTS_MAX + (uint32_t)(f - p->flights);
}

/* The flight that a timer was set for, while its connection is open. */
static struct flight *still_open(struct process *p, uint32_t what)
{
	struct flight *f = FLIGHT_OF(p, what);

	return f->open && handle(p, f) == what ? f : NULL;
}

struct flight *flight_free_place(struct process *p)
{
	uint32_t places = p->kind == PROCESS_WORKER ? 1 : SIM_FLIGHTS_MAX;

	for (uint32_t i = 0; i < places; i++) {
		if (!p->flights[i].used)
			return &p->flights[i];
	}
	return NULL;
}

static void tell(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	struct flight *f = FLIGHT_OF(p, what);

	if (!f->used || handle(p, f) != what)
		return;
	f->ended = true;
	if (p->kind == PROCESS_WORKER)
		worker_flight_ended(w, p, f);
	else
		sweeper_flight_ended(w, p);
}

void flight_close(struct world *w, struct process *p, struct flight *f, enum callback_class class)
{
	trace(w, "p%u: %s-%" PRIu64 " attempt %u comes to %s", p->index,
		callback_kind_names[f->kind], f->event, f->attempt, callback_class_names[class]);
	network_check_lease(w, p, f);
	f->open = false;
	f->class = class;
	if (f->connection)
		w->closed_ms[f->connection] = w->now_ms;
	process_at(w, p, 0, TIMER_STEP, tell, handle(p, f));
}

void flights_drop(struct world *w, struct process *p)
{
	for (uint32_t i = 0; i < SIM_FLIGHTS_MAX; i++) {
		struct flight *f = &p->flights[i];

		if (f->used && f->open && f->connection)
			w->closed_ms[f->connection] = w->now_ms;
		f->used = f->open = f->ended = false;
	}
}

static void timeout(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	struct flight *f = still_open(p, what);

	if (f)
		flight_close(w, p, f, CALLBACK_UNKNOWN);
}

/* The process is stopped while it waits for the answer. */
static void freeze(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	const struct flight *f = still_open(p, what);
	int64_t left_ms;

	if (!f)
		return;
	left_ms = f->fenced_ms + w->plan.fence_to_close_ms - w->now_ms;
	if (left_ms > 0)
		p->stopped_until_ms = w->now_ms + below(w, (uint64_t)left_ms);
	trace(w, "p%u is stopped while it waits, until %" PRId64 " ms", p->index,
		p->stopped_until_ms);
}

/* The first byte leaves. */
static void leave(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	struct flight *f = still_open(p, what);
	int64_t left_ms;

	if (!f)
		return;
	left_ms = f->begun_ms + SIM_TIMEOUT_MS - w->now_ms;
	process_at(w, p, left_ms > 0 ? left_ms : 0, TIMER_STEADY, timeout, what);
	if (left_ms > 0 && fate(w, w->plan.stop_sending))
		process_at(w, p, below(w, (uint64_t)left_ms), TIMER_STEADY, freeze, what);
	network_send(w, p, f);
}

static bool fence(const struct world *w, const struct flight *f)
{
	return w->plant == PLANT_NO_FENCE ||
		world_boot_ms(w) + SIM_TIMEOUT_MS + CALLBACK_FENCE_SPARE_MS <= f->lease_until_ms;
}

/* A connection stands. */
static void connected(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	struct flight *f = still_open(p, what);
	bool overdue;

	if (!f)
		return;
	/* After a long stop either may be looked at first, the time or the connection. */
	overdue = w->now_ms >= f->begun_ms + SIM_TIMEOUT_MS && below(w, 2) &&
		w->plant != PLANT_NO_FENCE;
	if (overdue || !fence(w, f)) {
		trace(w, "p%u: %s", p->index, overdue ? "timeout" : "fence");
		flight_close(w, p, f, CALLBACK_NOT_SENT);
		return;
	}
	f->fenced_ms = w->now_ms;
	if (fate(w, w->plan.stop_sending)) {
		p->stopped_until_ms = w->now_ms + below(w, (uint64_t)w->plan.fence_to_close_ms);
		trace(w, "p%u is stopped behind its fence, until %" PRId64 " ms", p->index,
			p->stopped_until_ms);
	}
	process_at(w, p, 0, TIMER_STEADY, leave, what);
}

/* No more than max_inflight at once, as far as permits reach. */
static void check_inflight(struct world *w, uint32_t dealer)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < SIM_PROCESSES_MAX * SIM_FLIGHTS_MAX; i++) {
		const struct flight *f =
			&sim_processes[i / SIM_FLIGHTS_MAX].flights[i % SIM_FLIGHTS_MAX];

		count += f->open && f->dealer == dealer && f->run == w->run && !f->again &&
			f->lease_until_ms > world_boot_ms(w);
	}
	if (count > w->dealers[dealer].max_inflight)
		violate(w, FLAW_PERMITS, "%u calls of d%u at once", count, dealer);
}

static void refused(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	struct flight *f = still_open(p, what);

	if (f)
		flight_close(w, p, f, CALLBACK_NOT_SENT);
}

void flight_begin(struct world *w, struct process *p, const struct callback_grant *grant,
	const char *casino_id)
{
	struct flight *f = flight_free_place(p);
	int64_t in_ms;
	bool no;

	if (!f) {
		violate(w, FLAW_HARNESS, "no place for a flight");
		return;
	}
	f->used = f->open = true;
	f->ended = f->has_balance = false;
	f->shortfall = 0;
	f->serial = ++p->serial;
	f->event = grant->event;
	f->kind = grant->kind;
	f->dealer = (uint32_t)(casino_id[1] - '0');
	f->attempt = grant->attempt;
	f->lease_until_ms = p->asked_boot_ms + grant->lease_left_ms;
	f->begun_ms = w->now_ms;
	f->fenced_ms = 0;
	f->run = p->run;
	f->link = p->link;
	f->again = p->maybe_done;
	f->connection = 0;
	f->error_id = "";
	f->len = grant->body.len;
	memcpy(f->body, grant->body.data, grant->body.len);
	trace(w, "p%u begins %s-%" PRIu64 " attempt %u, lease until %" PRId64 " boot", p->index,
		callback_kind_names[f->kind], f->event, f->attempt, f->lease_until_ms);
	check_inflight(w, f->dealer);
	no = network_refuses(w, f->dealer, &in_ms);
	process_at(w, p, in_ms, TIMER_STEP, no ? refused : connected, handle(p, f));
}

void flight_end_cmd(struct world *w, const struct flight *f, struct callback_end_cmd *cmd)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->event = f->event;
	cmd->kind = f->kind;
	snprintf(cmd->casino_id, sizeof(cmd->casino_id), "d%u", f->dealer);
	cmd->attempt = f->attempt;
	cmd->outcome.class = f->class;
	cmd->outcome.ms = (uint32_t)(w->now_ms - f->begun_ms);
	if (f->class == CALLBACK_SUCCESS && f->has_balance) {
		cmd->outcome.has_balance = true;
		cmd->outcome.balance = f->balance;
	}
	if (f->class == CALLBACK_SUCCESS)
		cmd->outcome.shortfall = f->shortfall;
	if (f->class == CALLBACK_REFUSED)
		snprintf(cmd->outcome.dealer_error_id, sizeof(cmd->outcome.dealer_error_id), "%s",
			f->error_id);
	w->ends[w->end_count++ % SIM_ENDS_MAX] = *cmd;
}
