/*
 * sweeper - a sweeper, or the worker that settled the round: claims, sends, ends.
 */
#include "steps.h"

#include <stdio.h>
#include <string.h>

void sweeper_die(struct state *state, unsigned int i)
{
	memset(&state->sweepers[i], 0, sizeof(state->sweepers[i]));
	ledger_link_closed(state, (uint8_t)(2 + i));
}

/* The sender's CALLBACK_END. Unheard, it is sent again later. */
static void sweeper_ends(const struct walk *walk, unsigned int i, enum callback_class class)
{
	struct callback_outcome outcome = {.class = class};
	struct state next = *walk->from, heard;
	bool refund = next.sweepers[i].place == PLACE_REFUND;

	/* Only a refund's bet can be unknown; another refusal with such an id is a refusal. */
	snprintf(outcome.dealer_error_id, sizeof(outcome.dealer_error_id), "%s",
		!refund || next.sweepers[i].phase == SWEEPER_GOT ? "bet_not_found" : "not_now");
	ledger_end(walk->model, &next, next.sweepers[i].place, next.sweepers[i].attempt, &outcome);
	/* A sweeper that could not send will not send: it only has to report the end. */
	if (next.sweepers[i].phase == SWEEPER_GRANTED)
		next.sweepers[i].phase = SWEEPER_SENT;
	heard = next;
	memset(&heard.sweepers[i], 0, sizeof(heard.sweepers[i]));
	step_emit(walk, &heard, STEP_END, class);
	step_emit(walk, &next, STEP_END_UNHEARD, class);
}

/* The dealer answers the request of sweeper @i, which it processed. */
static void answer_sweeper(const struct walk *walk, unsigned int i)
{
	enum place place = walk->from->sweepers[i].place;
	bool knows = walk->from->stake == STAKE_TAKEN || walk->from->stake == STAKE_RETURNED;
	struct state next = *walk->from;

	dealer_take(walk->model, &next, place);
	next.sweepers[i].phase = SWEEPER_GOT;
	next.sweepers[i].got = CALLBACK_SUCCESS;
	step_emit(walk, &next, STEP_ANSWERED, place);
	if (place != PLACE_REFUND || knows)
		return;
	next.sweepers[i].got = CALLBACK_REFUSED;
	step_emit(walk, &next, STEP_ANSWERED_UNKNOWN, place);
}

static void claim_steps(const struct walk *walk, unsigned int i)
{
	for (enum place place = PLACE_RESULT; place < PLACE_COUNT; place++) {
		struct state next = *walk->from;

		if (!ledger_claim(walk->model, &next, place, (uint8_t)(2 + i)))
			continue;
		next.sweepers[i].phase = SWEEPER_GRANTED;
		next.sweepers[i].place = (uint8_t)place;
		next.sweepers[i].attempt = next.rows[place].attempts;
		step_emit(walk, &next, STEP_CLAIM, place);
	}
}

static void settle_steps(const struct walk *walk, unsigned int i)
{
	for (enum round_result result = RESULT_WIN; result < ROUND_RESULT_COUNT; result++) {
		struct state next = *walk->from;

		if (ledger_settle(walk->model, &next, result, 0))
			step_emit(walk, &next, STEP_SETTLE_LATER, result);
		next = *walk->from;
		if (!ledger_settle(walk->model, &next, result, (uint8_t)(2 + i)))
			continue;
		next.sweepers[i].phase = SWEEPER_GRANTED;
		next.sweepers[i].place = PLACE_RESULT;
		next.sweepers[i].attempt = next.rows[PLACE_RESULT].attempts;
		step_emit(walk, &next, STEP_SETTLE, result);
	}
}

void sweeper_steps(const struct walk *walk, unsigned int i)
{
	enum place place = walk->from->sweepers[i].place;
	struct state next = *walk->from;

	switch ((enum sweeper_phase)next.sweepers[i].phase) {
	case SWEEPER_IDLE:
		claim_steps(walk, i);
		settle_steps(walk, i);
		return;
	case SWEEPER_GRANTED:
		next.sweepers[i].phase = SWEEPER_SENT;
		next.sent |= (uint8_t)(1u << place);
		next.sends = (uint8_t)(next.sends + (place == PLACE_RESULT));
		step_emit(walk, &next, STEP_SEND, place);
		sweeper_ends(walk, i, CALLBACK_NOT_SENT);
		break;
	case SWEEPER_SENT:
		if (next.sent & 1u << place)
			answer_sweeper(walk, i);
		sweeper_ends(walk, i, CALLBACK_UNKNOWN);
		sweeper_ends(walk, i, CALLBACK_REFUSED);
		break;
	case SWEEPER_GOT:
		sweeper_ends(walk, i, next.sweepers[i].got);
		break;
	}
	next = *walk->from;
	sweeper_die(&next, i);
	step_emit(walk, &next, STEP_SWEEPER_CRASH, place);
}
