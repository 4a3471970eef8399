/*
 * rows - the ledger: keeps a bet's rows, and composes the real transitions as its commands do.
 */
#include "model.h"

#include "domain/wager.h"

#include <string.h>

/* Now, always: times of a state are relative to it. */
static const struct moment now = {.wall_ms = INT64_C(1700000000000),
	.boot_ms = INT64_C(86400000),
	.boot = 2};
static const struct moment next_boot = {.wall_ms = INT64_C(1700000000000),
	.boot_ms = INT64_C(20000),
	.boot = 3};

/* B3 is sent again after 1 and 2 ticks; B4 after 1, 2, 2 ... ticks, for 3 ticks. */
#define GIVE_UP_TICKS 3
static const struct delivery_terms terms = {
	.retry =
		{
			.result_delay_ms = {MODEL_TICK_MS, 2 * MODEL_TICK_MS},
			.refund_backoff_ms = MODEL_TICK_MS,
			.refund_backoff_max_ms = 2 * MODEL_TICK_MS,
			.refund_give_up_ms = GIVE_UP_TICKS * MODEL_TICK_MS,
		},
	.unknown_bet_ids = "",
	.duplicate_ids = "",
};

static const enum callback_kind kinds[PLACE_COUNT] = {CALLBACK_BETTING, CALLBACK_BETTING_RESULT,
	CALLBACK_BETTING_REFUND, CALLBACK_BETTING_CORRECTION};

static void delivery_load(const struct state *state, enum place place, struct delivery *delivery)
{
	const struct place_row *row = &state->rows[place];
	struct callback *callback = &delivery->callback;
	int64_t due_ms = (int64_t)row->due * MODEL_TICK_MS;

	memset(delivery, 0, sizeof(*delivery));
	callback->event = 1 + place;
	callback->kind = kinds[place];
	callback->state = row->state;
	callback->attempts = row->attempts;
	callback->once_more = row->once_more;
	callback->first_ms = now.wall_ms - (int64_t)row->age * MODEL_TICK_MS;
	delivery->attempt.event = callback->event;
	delivery->attempt.number = row->attempts;
	delivery->scheduled =
		callback->state == CALLBACK_DUE || callback->state == CALLBACK_SENDING;
	if (!delivery->scheduled)
		return;
	delivery->due.event = callback->event;
	delivery->due.kind = callback->kind;
	delivery->due.sending = callback->state == CALLBACK_SENDING;
	delivery->due.owner = row->owner;
	delivery->due.due_ms = now.wall_ms + due_ms;
	delivery->due.due_boot_ms = now.boot_ms + due_ms;
	delivery->due.boot = now.boot;
}

/* Whole ticks until then; what is due within a tick is due when it has passed. */
static int8_t ticks_until(int64_t ms)
{
	return (int8_t)((ms + (ms > 0 ? MODEL_TICK_MS - 1 : 0)) / MODEL_TICK_MS);
}

static void delivery_save(struct state *state, enum place place, const struct delivery *delivery,
	const struct moment *at)
{
	const struct callback *callback = &delivery->callback;
	bool sending = callback->state == CALLBACK_SENDING;
	struct place_row *row = &state->rows[place];

	/* Only what is to be looked at again is in the schedule, and that with its own state. */
	if (delivery->scheduled != (sending || callback->state == CALLBACK_DUE) ||
		(delivery->scheduled && delivery->due.sending != sending))
		state->bad |= 1u << BAD_ROWS;
	memset(row, 0, sizeof(*row));
	row->there = true;
	row->state = (uint8_t)callback->state;
	row->attempts = (uint8_t)callback->attempts;
	row->once_more = callback->once_more;
	if (delivery->scheduled) {
		row->due = ticks_until(due_boot_ms(&delivery->due, at) - at->boot_ms);
		row->owner = sending ? (uint8_t)delivery->due.owner : 0;
	}
	if (place == PLACE_REFUND && !callback_has_ended(callback->state))
		row->age = (int8_t)((now.wall_ms - callback->first_ms) / MODEL_TICK_MS);
}

static void bet_load(const struct state *state, struct bet *bet)
{
	memset(bet, 0, sizeof(*bet));
	bet->state = (enum bet_state)(state->bet - 1);
	bet->bet_amount = MODEL_STAKE;
}

static void bet_save(struct state *state, const struct bet *bet)
{
	state->bet = (uint8_t)(bet->state + 1);
}

static void open_callback(struct state *state, enum place place, uint8_t delay)
{
	struct delivery delivery;

	delivery_open(&delivery, kinds[place], 1 + place, "dealer", &now,
		(int64_t)delay * MODEL_TICK_MS);
	delivery_save(state, place, &delivery, &now);
}

bool ledger_claim(const struct model *model, struct state *state, enum place place, uint8_t owner)
{
	const struct delivery_lease lease = {.lease_ms = (int64_t)model->lease * MODEL_TICK_MS,
		.sender = owner,
		.owner = owner};
	struct delivery delivery;
	uint32_t before;

	if (!state->rows[place].there)
		return false;
	delivery_load(state, place, &delivery);
	before = delivery.callback.attempts;
	if (!delivery.scheduled || due_boot_ms(&delivery.due, &now) > now.boot_ms ||
		!delivery_begin(&delivery, &now, &lease))
		return false;
	if (delivery.callback.attempts != before + 1)
		state->bad |= 1u << BAD_ROWS;
	delivery_save(state, place, &delivery, &now);
	return true;
}

void ledger_place(const struct model *model, struct state *state)
{
	struct bet bet = {.state = BET_PENDING};

	bet_save(state, &bet);
	open_callback(state, PLACE_BETTING, 0);
	if (!ledger_claim(model, state, PLACE_BETTING, 1))
		state->bad |= 1u << BAD_ROWS;
}

/* The betting ended. */
static void conclude_bet(const struct model *model, struct state *state,
	const struct callback_outcome *outcome)
{
	struct bet bet;

	bet_load(state, &bet);
	if (model->planted == PLANTED_NO_COMPARE)
		bet.state = BET_PENDING;
	if (!bet_conclude(&bet, outcome, "user", "thb", now.wall_ms))
		state->bad |= 1u << BAD_ROWS;
	bet_save(state, &bet);
	if (bet.state == BET_REFUNDING)
		open_callback(state, PLACE_REFUND, model->refund_delay);
}

/* The refund ended, by the dealer or by the operator. */
static void conclude_refund(struct state *state)
{
	struct bet bet;

	bet_load(state, &bet);
	if (!bet_move(&bet, BET_REFUNDED, now.wall_ms))
		state->bad |= 1u << BAD_ROWS;
	bet_save(state, &bet);
}

static void conclude(const struct model *model, struct state *state, enum place place,
	const struct callback_outcome *outcome)
{
	if (place == PLACE_BETTING)
		conclude_bet(model, state, outcome);
	else if (place == PLACE_REFUND && callback_has_ended(state->rows[place].state))
		conclude_refund(state);
}

void ledger_end(const struct model *model, struct state *state, enum place place, uint8_t attempt,
	const struct callback_outcome *outcome)
{
	const struct place_row *row = &state->rows[place];
	bool current = row->state == CALLBACK_SENDING && row->attempts == attempt, ended;
	struct callback_outcome taken = *outcome;
	struct delivery delivery;

	if (model->planted == PLANTED_UNKNOWN_IS_OK && place != PLACE_BETTING)
		taken.class = CALLBACK_SUCCESS;
	delivery_load(state, place, &delivery);
	if (model->planted == PLANTED_NO_COMPARE) {
		delivery.callback.state = CALLBACK_SENDING;
		delivery.callback.attempts = attempt;
	}
	ended = delivery_end(&delivery, attempt, &taken, &terms, &now);
	if (ended != current)
		state->bad |= 1u << BAD_ROWS;
	if (!ended)
		return;
	delivery_save(state, place, &delivery, &now);
	conclude(model, state, place, &taken);
}

bool ledger_take_over(const struct model *model, struct state *state, enum place place)
{
	const struct callback_outcome unknown = {.class = CALLBACK_UNKNOWN};
	struct place_row *row = &state->rows[place];

	if (!row->there || row->state != CALLBACK_SENDING || row->due > 0 ||
		(row->owner && row->due > -model->patience) ||
		model->planted == PLANTED_NO_TAKEOVER)
		return false;
	ledger_end(model, state, place, row->attempts, &unknown);
	if (model->planted == PLANTED_LATE_COUNT)
		row->attempts--;
	return true;
}

bool ledger_settle(const struct model *model, struct state *state, enum round_result result,
	uint8_t owner)
{
	static const money_t payouts[ROUND_RESULT_COUNT] = {[RESULT_WIN] = MODEL_PRIZE};
	struct settlement settlement = {.bets = 0};
	struct bet bet;

	if (!state->bet || state->result != RESULT_NONE)
		return false;
	bet_load(state, &bet);
	if (settlement_add(&settlement, &bet) != REFUSAL_NONE ||
		settlement_close(&settlement, result, payouts[result]) != REFUSAL_NONE)
		return false;
	if (!bet_move(&bet, BET_SETTLED, now.wall_ms))
		state->bad |= 1u << BAD_ROWS;
	bet_save(state, &bet);
	state->result = (uint8_t)settlement.result;
	open_callback(state, PLACE_RESULT, 0);
	return !owner || ledger_claim(model, state, PLACE_RESULT, owner);
}

bool ledger_cancel(const struct model *model, struct state *state)
{
	struct bet bet;

	if (!state->bet) {
		state->barred = model->planted != PLANTED_NO_TOMBSTONE;
		return true;
	}
	bet_load(state, &bet);
	if (bet.state == BET_PENDING || bet.state == BET_SETTLED)
		return false;
	if (bet.state != BET_ACCEPTED)
		return true;
	if (!bet_move(&bet, BET_REFUNDING, now.wall_ms))
		state->bad |= 1u << BAD_ROWS;
	bet_save(state, &bet);
	state->revoked = true;
	open_callback(state, PLACE_REFUND, 0);
	return true;
}

bool ledger_correct(const struct model *model, struct state *state)
{
	const enum place last = state->corrections ? PLACE_CORRECTION : PLACE_RESULT;

	if (state->result != RESULT_WIN ||
		(state->corrections && model->planted != PLANTED_NO_REVISION) ||
		(!callback_has_ended(state->rows[last].state) &&
			model->planted != PLANTED_NO_OPEN_CHECK))
		return false;
	state->corrections++;
	open_callback(state, PLACE_CORRECTION, 0);
	return true;
}

bool ledger_operate(const struct model *model, struct state *state, enum place place,
	enum callback_action action)
{
	const struct callback_outcome none = {.class = CALLBACK_UNKNOWN};
	struct delivery delivery;
	bool before;

	if (!state->rows[place].there)
		return false;
	delivery_load(state, place, &delivery);
	before = delivery.callback.once_more;
	if (delivery_operate(&delivery, action, "operator", &terms, &now))
		return false;
	delivery_save(state, place, &delivery, &now);
	conclude(model, state, place, &none);
	if (action == CALLBACK_CANCEL)
		state->cancelled |= (uint8_t)(1u << place);
	if (place == PLACE_RESULT && delivery.callback.once_more && !before)
		state->extra++;
	return true;
}

/* What is being sent counts as leased from now, and its sender is not known. */
void ledger_restart(const struct model *model, struct state *state, bool reboot)
{
	for (enum place place = 0; place < PLACE_COUNT; place++) {
		struct place_row *row = &state->rows[place];
		struct delivery delivery;

		if (!row->there)
			continue;
		delivery_load(state, place, &delivery);
		delivery_save(state, place, &delivery, reboot ? &next_boot : &now);
		if (row->state != CALLBACK_SENDING)
			continue;
		row->due = (int8_t)model->lease;
		row->owner = 0;
	}
}

void ledger_link_closed(struct state *state, uint8_t owner)
{
	for (enum place place = 0; place < PLACE_COUNT; place++) {
		if (state->rows[place].owner == owner)
			state->rows[place].owner = 0;
	}
}

void ledger_tick(const struct model *model, struct state *state)
{
	for (enum place place = 0; place < PLACE_COUNT; place++) {
		struct place_row *row = &state->rows[place];
		int least = row->state == CALLBACK_SENDING ? -model->patience : 0;

		if (!row->there || callback_has_ended(row->state))
			continue;
		if (row->due > least)
			row->due--;
		/* Longer than until it is given up makes no difference. */
		if (place == PLACE_REFUND && row->age <= GIVE_UP_TICKS)
			row->age++;
	}
}
