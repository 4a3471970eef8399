/*
 * worker - places the bet: BET_PLACE, the fence, B2, CALLBACK_END, the answer.
 */
#include "steps.h"

#include "link/edge_commands.h"

static void worker_to(struct state *state, enum worker_phase phase, unsigned int got)
{
	state->worker = (uint8_t)phase;
	state->lease = 0;
	state->since = 0;
	state->got = (uint8_t)got;
}

/* The connection of B2 is closed: what was sent can still be processed for a while. */
static void worker_closes(const struct model *model, struct state *state, unsigned int got)
{
	if (state->worker == WORKER_SENT)
		state->live = model->bound;
	worker_to(state, WORKER_GOT, got);
}

void worker_die(const struct model *model, struct state *state)
{
	worker_closes(model, state, 0);
	worker_to(state, WORKER_GONE, 0);
	ledger_link_closed(state, 1);
}

/* Right before the first byte leaves, as a sender's fence is asked. */
static bool fence_passes(const struct model *model, const struct state *state)
{
	int64_t left_ms = (int64_t)state->lease * MODEL_TICK_MS;

	return (int64_t)model->timeout * MODEL_TICK_MS + CALLBACK_FENCE_SPARE_MS <= left_ms ||
		model->planted == PLANTED_NO_FENCE;
}

static void granted_steps(const struct walk *walk)
{
	const struct place_row *row = &walk->from->rows[PLACE_BETTING];
	struct state next = *walk->from;
	bool passes = fence_passes(walk->model, &next);

	worker_to(&next, passes ? WORKER_FENCED : WORKER_GOT, passes ? 0 : CALLBACK_NOT_SENT);
	step_emit(walk, &next, passes ? STEP_FENCE_PASSES : STEP_FENCE_HOLDS, 0);
	next = *walk->from;
	worker_to(&next, WORKER_GOT, CALLBACK_NOT_SENT);
	step_emit(walk, &next, STEP_NOT_CONNECTED, 0);
	if (row->state != CALLBACK_SENDING)
		return;
	/* The grant is what the ledger now believes of the lease; the link is the one that asks. */
	next = *walk->from;
	next.lease = row->due > 0 ? row->due : 0;
	next.rows[PLACE_BETTING].owner = 1;
	step_emit(walk, &next, STEP_GRANT_AGAIN, 0);
}

void worker_process_bet(const struct walk *walk, bool answered, enum step step)
{
	for (unsigned int refuse = 0; refuse < 2; refuse++) {
		struct state next = *walk->from;
		enum callback_class class = dealer_take_bet(walk->model, &next, refuse);

		if (answered)
			worker_closes(walk->model, &next, class);
		step_emit(walk, &next, step, class);
	}
}

void worker_tell(struct state *state, enum bet_state bet)
{
	bool counts = bet == BET_ACCEPTED || bet == BET_SETTLED;

	if (bet == BET_PENDING)
		return;
	state->answered |= counts ? ANSWERED_ACCEPTED : ANSWERED_NOT_ACCEPTED;
	if (counts && !state->revoked && state->bet != BET_ACCEPTED + 1 &&
		state->bet != BET_SETTLED + 1)
		state->bad |= 1u << BAD_ANSWERED_EARLY;
}

static void end_bet(const struct walk *walk, bool heard, enum step step)
{
	struct callback_outcome outcome = {.class = walk->from->got,
		.dealer_error_id = "bet_not_found"};
	struct state next = *walk->from;

	if (!next.bet)
		ledger_place(walk->model, &next);
	ledger_end(walk->model, &next, PLACE_BETTING, 1, &outcome);
	if (heard)
		worker_to(&next, WORKER_ANSWERS, next.bet - 1u);
	step_emit(walk, &next, step, walk->from->got);
}

static void got_steps(const struct walk *walk)
{
	struct state next = *walk->from;

	end_bet(walk, true, STEP_END_BET);
	end_bet(walk, false, STEP_END_BET_UNHEARD);
	if (walk->model->planted != PLANTED_ANSWERED_EARLY || next.got != CALLBACK_SUCCESS)
		return;
	worker_tell(&next, BET_ACCEPTED);
	step_emit(walk, &next, STEP_TELL, BET_ACCEPTED);
}

void worker_steps(const struct walk *walk)
{
	struct state next = *walk->from;

	switch ((enum worker_phase)next.worker) {
	case WORKER_NEW:
		if (walk->model->planted == PLANTED_NO_INTENT) {
			worker_to(&next, WORKER_SENT, 0);
			step_emit(walk, &next, STEP_SEND_BET, 0);
			break;
		}
		if (next.barred) {
			next.answered |= ANSWERED_NOT_ACCEPTED;
			worker_to(&next, WORKER_GONE, 0);
			step_emit(walk, &next, STEP_BARRED, 0);
			break;
		}
		ledger_place(walk->model, &next);
		worker_to(&next, WORKER_GRANTED, 0);
		next.lease = next.rows[PLACE_BETTING].due;
		step_emit(walk, &next, STEP_PLACE, 0);
		break;
	case WORKER_GRANTED:
		granted_steps(walk);
		break;
	case WORKER_FENCED:
		next.worker = WORKER_SENT;
		step_emit(walk, &next, STEP_SEND_BET, 0);
		break;
	case WORKER_SENT:
		worker_process_bet(walk, true, STEP_BET_ANSWERED);
		worker_process_bet(walk, false, STEP_BET_UNANSWERED);
		worker_closes(walk->model, &next, CALLBACK_UNKNOWN);
		step_emit(walk, &next, STEP_BET_UNKNOWN, 0);
		break;
	case WORKER_GOT:
		got_steps(walk);
		break;
	case WORKER_ANSWERS:
		worker_tell(&next, walk->from->got);
		worker_to(&next, WORKER_GONE, 0);
		step_emit(walk, &next, STEP_TELL, walk->from->got);
		break;
	case WORKER_GONE:
		return;
	}
	next = *walk->from;
	worker_die(walk->model, &next);
	step_emit(walk, &next, STEP_WORKER_CRASH, 0);
}
