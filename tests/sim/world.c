/*
 * world - the queue of what happens when, the clocks, and one run from begin to end.
 */
#include "sim.h"

#include <stdarg.h>
#include <stdlib.h>

/* When the simulated time begins on the wall clock. */
#define WALL_BEGAN_MS INT64_C(1700000000000)
/* Looks at what is left to do, until nothing is. */
#define ROUNDS_OF_DRAINING_MAX 100

const char *const flaw_names[FLAW_COUNT] = {
	[FLAW_NONE] = "none",
	[FLAW_HARNESS] = "harness",
	[FLAW_ANSWER] = "answer",
	[FLAW_ROWS] = "rows",
	[FLAW_INTENT] = "intent",
	[FLAW_LEASE] = "lease",
	[FLAW_EARLY] = "early",
	[FLAW_BYTES] = "bytes",
	[FLAW_BET_SENT_TWICE] = "bet-sent-twice",
	[FLAW_RESULT_SENT_TOO_OFTEN] = "result-sent-too-often",
	[FLAW_ANSWERED] = "answered",
	[FLAW_STUCK] = "stuck",
	[FLAW_STAKE] = "stake",
	[FLAW_PAYOUT] = "payout",
	[FLAW_MONEY] = "money",
	[FLAW_PERMITS] = "permits",
	[FLAW_HELD] = "held",
	[FLAW_CANCELLED] = "cancelled",
	[FLAW_REVISION] = "revision",
	[FLAW_OVERTAKEN] = "overtaken",
};

/* A heap: the first is at 0. */
static struct timer timers[SIM_TIMERS_MAX];
static struct ws probe;

static bool before(const struct timer *a, const struct timer *b)
{
	return a->at_ms < b->at_ms || (a->at_ms == b->at_ms && a->order < b->order);
}

void world_push(struct world *w, const struct timer *timer)
{
	uint32_t at = w->timer_count;

	if (at == SIM_TIMERS_MAX) {
		violate(w, FLAW_HARNESS, "too many timers");
		return;
	}
	w->timer_count++;
	timers[at] = *timer;
	timers[at].order = ++w->timer_order;
	while (at && before(&timers[at], &timers[(at - 1) / 2])) {
		struct timer parent = timers[(at - 1) / 2];

		timers[(at - 1) / 2] = timers[at];
		timers[at] = parent;
		at = (at - 1) / 2;
	}
}

static struct timer pop(struct world *w)
{
	struct timer first = timers[0], last = timers[--w->timer_count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= w->timer_count)
			break;
		if (child + 1 < w->timer_count && before(&timers[child + 1], &timers[child]))
			child++;
		if (!before(&timers[child], &last))
			break;
		timers[at] = timers[child];
		at = child;
	}
	timers[at] = last;
	return first;
}

void world_at(struct world *w, int64_t in_ms, sim_run *run, uint32_t who, uint32_t what)
{
	const struct timer timer = {.at_ms = w->now_ms + in_ms,
		.run = run,
		.who = who,
		.what = what};

	world_push(w, &timer);
}

int64_t world_boot_ms(const struct world *w)
{
	return w->now_ms - w->boot_began_ms + SIM_SECOND;
}

struct moment world_moment(const struct world *w)
{
	return (struct moment){WALL_BEGAN_MS + w->now_ms + w->wall_step_ms, world_boot_ms(w),
		w->boot};
}

void world_step_wall(struct world *w, uint32_t who, uint32_t what)
{
	(void)who;
	(void)what;
	w->wall_step_ms = (int64_t)below(w, 2 * (uint64_t)w->plan.step_ms + 1) - w->plan.step_ms;
	trace(w, "the wall clock is set, %" PRId64 " ms off", w->wall_step_ms);
}

const void *world_load(struct world *w, enum record record, const void *key_row)
{
	ws_reset(&probe);
	ws_want(&probe, record, key_row);
	if (w->store->load(w->store, &probe) != STATUS_OK) {
		violate(w, FLAW_ROWS, "a row of %s cannot be loaded", record_infos[record].name);
		return NULL;
	}
	return ws_get(&probe, record, key_row);
}

void violate(struct world *w, enum flaw flaw, const char *format, ...)
{
	va_list arguments;
	int len;

	if (w->flaw != FLAW_NONE)
		return;
	w->flaw = flaw;
	len = snprintf(w->why, sizeof(w->why), "%s at %" PRId64 " ms: ", flaw_names[flaw],
		w->now_ms);
	va_start(arguments, format);
	vsnprintf(w->why + len, sizeof(w->why) - (size_t)len, format, arguments);
	va_end(arguments);
	trace(w, "VIOLATION %s", w->why);
}

void trace_line(const struct world *w, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%8" PRId64 ".%03d ", w->now_ms / 1000, (int)(w->now_ms % 1000));
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/* Everything that happens until nothing more is to come. */
static void run_timers(struct world *w)
{
	while (w->timer_count && w->flaw == FLAW_NONE) {
		struct timer timer = pop(w);
		struct process *p;

		w->now_ms = timer.at_ms;
		if (++w->steps > SIM_STEPS_MAX) {
			violate(w, FLAW_STUCK, "it goes on and on");
			return;
		}
		if (timer.kind != TIMER_WORLD) {
			p = &sim_processes[timer.who];
			if (!process_goes_on(w, p, &timer))
				continue;
		}
		timer.run(w, timer.who, timer.what);
	}
}

static void nothing_waits(struct world *w, uint32_t who, uint32_t what)
{
	(void)who;
	(void)what;
	if (sim_ledger.derived.schedule.count || !game_is_done(w))
		violate(w, FLAW_STUCK, "%" PRIu64 " callbacks still wait",
			sim_ledger.derived.schedule.count);
}

/* The faults are over: processes that were stopped go on, and everything is healthy. */
static void become_calm(struct world *w, uint32_t who, uint32_t what)
{
	(void)who;
	(void)what;
	trace(w, "from now on nothing goes wrong");
	w->calm = true;
	w->low = false;
	w->calm_ms = w->now_ms;
	memory_store_fail(w->store, SAVE_OK, 0);
	for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
		sim_processes[i].stopped_until_ms = 0;
	world_at(w, 0, operator_release, 0, 0);
	world_at(w, SIM_CALM_MS, nothing_waits, 0, 0);
}

static void look_at_rows(struct world *w, uint32_t who, uint32_t what)
{
	char casino_id[CASINO_ID_SIZE];

	(void)what;
	rows_check(w);
	for (uint32_t i = 0; i < w->plan.dealers && w->up; i++) {
		snprintf(casino_id, sizeof(casino_id), "d%u", i);
		w->tally.breakers += permits_breaker(&sim_ledger.derived.permits, casino_id,
					     world_boot_ms(w)) != BREAKER_CLOSED;
	}
	if (who)
		world_at(w, w->plan.faults_ms / 4 + 1, look_at_rows, who - 1, 0);
}

static void disk_gets_full(struct world *w, uint32_t who, uint32_t what)
{
	(void)what;
	w->low = who && !w->calm;
	trace(w, "the disk is %s", w->low ? "almost full" : "not full any more");
	if (w->low)
		world_at(w, 100 + below(w, 20000), disk_gets_full, 0, 0);
}

/* What happens to the machine as a whole. */
static void plan_mishaps(struct world *w)
{
	world_at(w, w->plan.faults_ms, become_calm, 0, 0);
	world_at(w, w->plan.faults_ms / 5, look_at_rows, 3, 0);
	if (w->plan.storage_low)
		world_at(w, below(w, (uint64_t)w->plan.active_ms), disk_gets_full, 1, 0);
	for (uint32_t i = 0; i < w->plan.steps; i++)
		world_at(w, below(w, (uint64_t)w->plan.faults_ms), world_step_wall, 0, 0);
}

static void drain(struct world *w)
{
	for (uint32_t i = 0; i < ROUNDS_OF_DRAINING_MAX; i++) {
		run_timers(w);
		if (w->flaw != FLAW_NONE)
			return;
		rows_check(w);
		if (sim_ledger.derived.schedule.count)
			world_at(w, 0, sweeper_start, SIM_WORKERS_MAX, 0);
		else if (!operator_clear(w) && !game_settle_rest(w))
			return;
	}
	violate(w, FLAW_STUCK, "%" PRIu64 " callbacks wait", sim_ledger.derived.schedule.count);
}

enum flaw world_run(struct world *w, uint64_t seed, enum plant plant)
{
	struct tally tally = w->tally;
	bool traced = w->trace;

	memset(w, 0, sizeof(*w));
	w->tally = tally;
	w->trace = traced;
	w->chance = seed;
	w->plant = plant;
	plant_blind = plant == PLANT_NO_OPEN_CHECK;
	ws_init(&probe);
	plan_make(w);
	host_open(w);
	process_open(w);
	game_open(w);
	operator_open(w);
	plan_mishaps(w);
	drain(w);
	if (w->flaw == FLAW_NONE)
		final_check(w);
	host_close(w);
	ws_free(&probe);
	return w->flaw;
}
