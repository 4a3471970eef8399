/*
 * steps - everything that can happen next: what worker and sweepers do, and here what the network,
 * the ledger, the game server, the operator and time do.
 */
#include "steps.h"

#include <stdio.h>
#include <string.h>

static const char *const place_names[] = {"betting", "betting-result", "betting-refund",
	"betting-correction"};

static const struct {
	const char *before, *after;
	const char *const *names;
	bool friendly;
} step_infos[STEP_COUNT] = {
#define STEP(name, friendly_, names_, before_, after_)                                             \
	[STEP_##name] = {.before = before_,                                                        \
		.after = after_,                                                                   \
		.names = names_,                                                                   \
		.friendly = friendly_},
#include "steps.def"
#undef STEP
};

bool step_is_friendly(enum step step)
{
	return step_infos[step].friendly;
}

void step_describe(struct label label, char *text, size_t size)
{
	const char *const *names = step_infos[label.step].names;

	snprintf(text, size, "%s%s%s", step_infos[label.step].before,
		names ? names[label.which] : "", step_infos[label.step].after);
}

void step_emit(const struct walk *walk, const struct state *next, enum step step,
	unsigned int which)
{
	const struct label label = {(uint8_t)step, (uint8_t)which};

	walk->emit(walk->context, next, label);
}

struct state model_start(const struct model *model)
{
	struct state state;

	memset(&state, 0, sizeof(state));
	state.worker = WORKER_NEW;
	state.operations = model->operations;
	return state;
}

/* True: between fence and close as long as can be. */
static bool must_go_on(const struct model *model, const struct state *state)
{
	if (model->stop == MODEL_FOREVER)
		return false;
	return (state->worker == WORKER_FENCED && state->since >= model->stop) ||
		(state->worker == WORKER_SENT && state->since >= model->timeout + model->stop);
}

static void time_steps(const struct walk *walk)
{
	struct state next = *walk->from;

	if (must_go_on(walk->model, &next))
		return;
	if (next.lease > 0)
		next.lease--;
	if (walk->model->stop != MODEL_FOREVER &&
		(next.worker == WORKER_FENCED || next.worker == WORKER_SENT))
		next.since++;
	if (next.live && next.live != MODEL_FOREVER)
		next.live--;
	ledger_tick(walk->model, &next);
	step_emit(walk, &next, STEP_TICK, 0);
}

static void network_steps(const struct walk *walk)
{
	if (walk->from->live)
		worker_process_bet(walk, false, STEP_BET_COPY);
	for (enum place place = PLACE_RESULT; place < PLACE_COUNT; place++) {
		struct state next = *walk->from;

		if (!(next.sent & 1u << place))
			continue;
		dealer_take(walk->model, &next, place);
		step_emit(walk, &next, STEP_COPY, place);
	}
}

static void ledger_steps(const struct walk *walk)
{
	struct state next = *walk->from;

	for (enum place place = 0; place < PLACE_COUNT; place++) {
		if (ledger_take_over(walk->model, &next, place))
			step_emit(walk, &next, STEP_TAKE_OVER, place);
		next = *walk->from;
		if (!next.rows[place].owner || walk->model->steady)
			continue;
		ledger_link_closed(&next, next.rows[place].owner);
		step_emit(walk, &next, STEP_LINK_LOST, place);
		next = *walk->from;
	}
	if (walk->model->steady)
		return;
	ledger_restart(walk->model, &next, false);
	step_emit(walk, &next, STEP_RESTART, 0);
	next = *walk->from;
	worker_die(walk->model, &next);
	for (unsigned int i = 0; i < MODEL_SWEEPERS; i++)
		sweeper_die(&next, i);
	ledger_restart(walk->model, &next, true);
	step_emit(walk, &next, STEP_REBOOT, 0);
}

static void outside_steps(const struct walk *walk)
{
	struct state next = *walk->from;

	if (next.bet) {
		worker_tell(&next, next.bet - 1u);
		step_emit(walk, &next, STEP_REPEAT, next.bet - 1u);
	}
	next = *walk->from;
	if (walk->model->cancels && !(next.answered & ANSWERED_CANCELLED) &&
		(next.bet || next.worker == WORKER_NEW) && ledger_cancel(walk->model, &next)) {
		next.answered |= ANSWERED_CANCELLED;
		step_emit(walk, &next, walk->from->bet ? STEP_CANCEL : STEP_CANCEL_UNUSED, 0);
	}
	next = *walk->from;
	if (walk->model->corrects && next.corrections < 2 && ledger_correct(walk->model, &next))
		step_emit(walk, &next, STEP_CORRECT, 0);
	for (unsigned int action = 0; walk->from->operations && action < CALLBACK_ACTION_COUNT;
		action++) {
		next = *walk->from;
		next.operations--;
		if (ledger_operate(walk->model, &next, PLACE_RESULT, action))
			step_emit(walk, &next, STEP_OPERATE_RESULT, action);
		next = *walk->from;
		next.operations--;
		if (ledger_operate(walk->model, &next, PLACE_REFUND, action))
			step_emit(walk, &next, STEP_OPERATE_REFUND, action);
	}
}

void model_step(const struct model *model, const struct state *state, model_emit *emit_,
	void *context)
{
	const struct walk walk = {model, state, emit_, context};

	worker_steps(&walk);
	for (unsigned int i = 0; i < model->sweepers; i++)
		sweeper_steps(&walk, i);
	ledger_steps(&walk);
	outside_steps(&walk);
	network_steps(&walk);
	time_steps(&walk);
}
