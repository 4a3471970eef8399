/*
 * judge - what must never be, whatever happened before.
 *
 * The dealer's books are held against the ledger's in every state, not only once everything is
 * drained: what the ledger calls ended must be true at the dealer by then, and stay true.
 */
#include "model.h"

/* specification, "Limits": a call and 2 further attempts. */
#define RESULT_SENDS 3

const char *const bad_names[BAD_COUNT] = {
	[BAD_ROWS] = "rows contradict each other, or a step was not legal",
	[BAD_ANSWERED_EARLY] = "the game server got \"accepted\" before ACCEPTED was stored",
	[BAD_OVERTAKEN] = "a decrease reached the dealer before the payout",
	[BAD_ANSWERED_OTHERWISE] = "the game server got an answer that does not fit the bet",
	[BAD_ACCEPTED_REFUNDED] = "a bet was accepted and refunded",
	[BAD_REFUNDED_SETTLED] = "a bet was refunded and settled",
	[BAD_STAKE_KEPT] = "the dealer keeps the stake of a bet that the ledger does not count",
	[BAD_BOOKS] = "the dealer's balance is not what the ledger's state says",
	[BAD_DEBITED_TWICE] = "the dealer debited twice",
	[BAD_PAID_TWICE] = "the dealer paid twice",
	[BAD_SENT_TOO_OFTEN] = "B3 was sent more than three times without the operator",
	[BAD_CANCELLED_COUNTS] = "a bet counts although the game server got \"cancelled\"",
	[BAD_CORRECTED_TWICE] = "a revision was made twice",
	[BAD_STUCK] = "nothing leads to an end any more",
};

static bool bet_is(const struct state *state, enum bet_state bet)
{
	return state->bet == bet + 1;
}

static bool row_is(const struct state *state, enum place place, enum callback_state is)
{
	return state->rows[place].there && state->rows[place].state == is;
}

static bool row_has_ended(const struct state *state, enum place place)
{
	return state->rows[place].there && callback_has_ended(state->rows[place].state);
}

/* The player's balance at the dealer, against the time before the bet, without decreases. */
static int gained(const struct state *state)
{
	int payout = state->result == RESULT_WIN ? MODEL_PRIZE : MODEL_STAKE;

	return (state->refunds - state->debits) * MODEL_STAKE + state->payments * payout;
}

/* A callback is parked, failed or cancelled only as it may be. */
static bool row_is_legal(const struct state *state, enum place place)
{
	if (row_is(state, place, CALLBACK_FAILED))
		return place == PLACE_BETTING;
	if (row_is(state, place, CALLBACK_PARKED) &&
		(place == PLACE_RESULT || place == PLACE_CORRECTION))
		return state->rows[place].attempts >= RESULT_SENDS;
	return !row_is(state, place, CALLBACK_CANCELLED) || (state->cancelled & 1u << place);
}

/* Each state of the bet has its callbacks, and no others. */
static bool rows_agree(const struct state *state)
{
	const struct place_row *rows = state->rows;
	bool settled = bet_is(state, BET_SETTLED);
	bool refund = bet_is(state, BET_REFUNDING) || bet_is(state, BET_REFUNDED);

	if (!state->bet)
		return !rows[PLACE_BETTING].there && !rows[PLACE_RESULT].there &&
			!rows[PLACE_REFUND].there;
	for (enum place place = 0; place < PLACE_COUNT; place++) {
		if (!row_is_legal(state, place))
			return false;
	}
	if (rows[PLACE_RESULT].there != settled || (state->result != RESULT_NONE) != settled ||
		rows[PLACE_REFUND].there != refund)
		return false;
	if (rows[PLACE_CORRECTION].there != (state->corrections != 0) ||
		(state->corrections && state->result != RESULT_WIN) ||
		(row_is(state, PLACE_CORRECTION, CALLBACK_DELIVERED) && !state->taken))
		return false;
	if (refund && row_has_ended(state, PLACE_REFUND) != bet_is(state, BET_REFUNDED))
		return false;
	if (bet_is(state, BET_PENDING))
		return row_is(state, PLACE_BETTING, CALLBACK_SENDING);
	return row_is(state, PLACE_BETTING,
		bet_is(state, BET_ACCEPTED) || settled || state->revoked ? CALLBACK_DELIVERED
									 : CALLBACK_FAILED);
}

/* What the ledger's state says of the dealer's books. */
static unsigned int books(const struct state *state)
{
	int gain = gained(state);
	int payout = state->result == RESULT_WIN ? MODEL_PRIZE
		: state->result == RESULT_REFUND ? MODEL_STAKE
						 : 0;
	bool right = true;

	/* Nothing is stored: nothing may ever have happened, unless a request is still under way. */
	if (!state->bet)
		right = gain == 0 || state->worker != WORKER_GONE;
	else if (bet_is(state, BET_REJECTED) || row_is(state, PLACE_REFUND, CALLBACK_DELIVERED))
		right = gain == 0;
	else if (bet_is(state, BET_ACCEPTED))
		right = gain == -MODEL_STAKE;
	else if (row_is(state, PLACE_RESULT, CALLBACK_DELIVERED))
		right = gain == payout - MODEL_STAKE;
	else if (bet_is(state, BET_SETTLED))
		right = gain == -MODEL_STAKE || gain == payout - MODEL_STAKE;
	else /* pending, being refunded, or settled outside by the operator */
		right = gain == 0 || gain == -MODEL_STAKE;
	if (right)
		return 0;
	if (gain == -MODEL_STAKE && !bet_is(state, BET_SETTLED))
		return 1u << BAD_STAKE_KEPT;
	return 1u << BAD_BOOKS;
}

unsigned int state_judge(const struct state *state)
{
	bool counts = bet_is(state, BET_ACCEPTED) || bet_is(state, BET_SETTLED);
	unsigned int bad = state->bad;

	if (!rows_agree(state))
		bad |= 1u << BAD_ROWS;
	if (counts && (state->answered & ANSWERED_NOT_ACCEPTED))
		bad |= 1u << BAD_ANSWERED_OTHERWISE;
	if (state->corrections > 1 || state->taken > 1)
		bad |= 1u << BAD_CORRECTED_TWICE;
	if (counts && (state->answered & ANSWERED_CANCELLED))
		bad |= 1u << BAD_CANCELLED_COUNTS;
	if (state->refunds &&
		(counts || (!state->revoked && (state->answered & ANSWERED_ACCEPTED))))
		bad |= 1u << BAD_ACCEPTED_REFUNDED;
	if (state->refunds && (state->payments || bet_is(state, BET_SETTLED)))
		bad |= 1u << BAD_REFUNDED_SETTLED;
	if (state->debits > 1)
		bad |= 1u << BAD_DEBITED_TWICE;
	if (state->payments > 1 || state->refunds > 1)
		bad |= 1u << BAD_PAID_TWICE;
	if (state->sends > RESULT_SENDS + state->extra)
		bad |= 1u << BAD_SENT_TOO_OFTEN;
	return bad | books(state);
}

static bool rests(const struct state *state, enum place place)
{
	return row_has_ended(state, place) || row_is(state, place, CALLBACK_PARKED) ||
		row_is(state, place, CALLBACK_HELD);
}

bool state_is_end(const struct state *state)
{
	if (!state->bet)
		return state->worker == WORKER_GONE;
	if (state->corrections && !rests(state, PLACE_CORRECTION))
		return false;
	return bet_is(state, BET_REJECTED) || rests(state, PLACE_RESULT) ||
		rests(state, PLACE_REFUND);
}
