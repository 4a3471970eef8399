/*
 * dealer - the other side, by the specification's rules (specification, "Group B: callbacks to the
 * dealer"): a transaction_id debits once and credits once, a refund of an unknown bet does nothing;
 * with or without the tombstone rule of the contract, "Refund delay". test_model.c holds this to
 * the reference dealer.
 */
#include "model.h"

enum callback_class dealer_take_bet(const struct model *model, struct state *state, bool refuse)
{
	switch ((enum stake)state->stake) {
	case STAKE_NONE:
		if (refuse) {
			state->stake = model->forgets_refusals ? STAKE_NONE : STAKE_REFUSED;
			return CALLBACK_REFUSED;
		}
		state->stake = STAKE_TAKEN;
		state->debits++;
		return CALLBACK_SUCCESS;
	case STAKE_TAKEN:
		if (model->planted == PLANTED_FORGETFUL)
			state->debits = 2;
		return CALLBACK_SUCCESS;
	case STAKE_REFUSED:
	case STAKE_RETURNED:
	case STAKE_BARRED:
	case STAKE_COUNT:
		break;
	}
	return CALLBACK_REFUSED;
}

static void take_result(const struct model *model, struct state *state)
{
	/* A loss moves nothing. */
	if (state->result == RESULT_LOSS)
		return;
	if (!state->payments || model->planted == PLANTED_FORGETFUL)
		state->payments = (uint8_t)(state->payments + (state->payments < 2));
}

static void take_refund(const struct model *model, struct state *state)
{
	if (state->stake == STAKE_TAKEN) {
		state->stake = STAKE_RETURNED;
		state->refunds++;
	} else if (state->stake == STAKE_NONE && model->tombstone) {
		state->stake = STAKE_BARRED;
	}
}

/* Each correction has a transaction_id of its own, and is taken once. */
static void take_correction(struct state *state)
{
	/* An operator may have settled the result outside. */
	if (!state->payments && !(state->cancelled & 1u << PLACE_RESULT))
		state->bad |= 1u << BAD_OVERTAKEN;
	state->taken = state->corrections;
}

void dealer_take(const struct model *model, struct state *state, enum place place)
{
	if (place == PLACE_RESULT)
		take_result(model, state);
	else if (place == PLACE_CORRECTION)
		take_correction(state);
	else
		take_refund(model, state);
}
