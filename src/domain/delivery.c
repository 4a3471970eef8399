#include "domain/delivery.h"

#include "base/check.h"
#include "base/text.h"
#include "domain/wager.h"

#include <stdio.h>
#include <string.h>

const char *const callback_action_names[CALLBACK_ACTION_COUNT] = {"retry", "hold", "release",
	"cancel"};

/* Error ids that a dealer should use for an unknown bet (contract, "Answers of a dealer"). */
#define UNKNOWN_BET_IDS "bet_not_found,transaction_not_found"

bool callback_has_ended(enum callback_state state)
{
	return state == CALLBACK_DELIVERED || state == CALLBACK_CANCELLED ||
		state == CALLBACK_FAILED;
}

static void schedule_delivery(struct delivery *delivery, const struct moment *now, int64_t delay_ms,
	bool sending)
{
	struct due *due = &delivery->due;

	memset(due, 0, sizeof(*due));
	due->event = delivery->callback.event;
	memcpy(due->casino_id, delivery->callback.casino_id, sizeof(due->casino_id));
	due->kind = delivery->callback.kind;
	due->sending = sending;
	due->due_ms = now->wall_ms + delay_ms;
	due->due_boot_ms = now->boot_ms + delay_ms;
	due->boot = now->boot;
	delivery->scheduled = true;
}

int64_t due_boot_ms(const struct due *due, const struct moment *now)
{
	if (due->boot == now->boot)
		return due->due_boot_ms;
	return now->boot_ms + (due->due_ms - now->wall_ms);
}

/*
 * Adjusts times to a change of the wall clock within one boot; the row shows how far the clock was
 * set since it was written. The 24 hours of a refund move with the clock, so a jump of a day
 * neither ends nor prolongs them.
 *
 * After a forward step, first_ms may still be in the future of the clock. The 24 hours then begin
 * now.
 */
static void follow_wall_clock(struct delivery *delivery, const struct moment *now)
{
	const struct due *due = &delivery->due;
	struct callback *callback = &delivery->callback;
	int64_t set_ms;

	if (!delivery->scheduled || due->boot != now->boot)
		return;
	set_ms = (now->wall_ms - now->boot_ms) - (due->due_ms - due->due_boot_ms);
	callback->first_ms += set_ms;
	if (set_ms > 0 && callback->first_ms > now->wall_ms)
		callback->first_ms = now->wall_ms;
}

void delivery_open(struct delivery *delivery, enum callback_kind kind, uint64_t event,
	const char *casino_id, const struct moment *now, int64_t delay_ms)
{
	struct callback *callback = &delivery->callback;

	CHECK(event && delay_ms >= 0);
	memset(delivery, 0, sizeof(*delivery));
	callback->event = event;
	callback->kind = kind;
	snprintf(callback->casino_id, sizeof(callback->casino_id), "%s", casino_id);
	callback->state = CALLBACK_DUE;
	callback->created_ms = now->wall_ms;
	callback->first_ms = now->wall_ms + delay_ms;
	schedule_delivery(delivery, now, delay_ms, false);
}

bool delivery_begin(struct delivery *delivery, const struct moment *now,
	const struct delivery_lease *lease)
{
	struct callback *callback = &delivery->callback;
	struct attempt *attempt = &delivery->attempt;

	if (callback->state != CALLBACK_DUE)
		return false;
	follow_wall_clock(delivery, now);
	CHECK(lease->lease_ms > 0);
	callback->state = CALLBACK_SENDING;
	callback->attempts++;
	memset(attempt, 0, sizeof(*attempt));
	attempt->event = callback->event;
	attempt->number = callback->attempts;
	attempt->time_ms = now->wall_ms;
	attempt->sender = lease->sender;
	schedule_delivery(delivery, now, lease->lease_ms, true);
	delivery->due.owner = lease->owner;
	return true;
}

/* Sets the final state: the callback is not scheduled again. */
static void finish_delivery(struct delivery *delivery, enum callback_state state,
	const struct moment *now)
{
	CHECK(state != CALLBACK_DUE && state != CALLBACK_SENDING);
	CHECK(!callback_has_ended(delivery->callback.state));
	delivery->callback.state = state;
	delivery->callback.once_more = false;
	if (state == CALLBACK_PARKED)
		delivery->callback.parked_ms = now->wall_ms;
	delivery->scheduled = false;
	if (callback_has_ended(state))
		delivery->callback.ended_ms = now->wall_ms;
}

static void record_outcome(struct delivery *delivery, const struct callback_outcome *outcome)
{
	struct attempt *attempt = &delivery->attempt;

	attempt->ended = true;
	attempt->class = outcome->class;
	attempt->http_status = outcome->http_status;
	attempt->ms = outcome->ms;
	snprintf(attempt->dealer_error_id, sizeof(attempt->dealer_error_id), "%s",
		outcome->dealer_error_id);
	snprintf(attempt->note, sizeof(attempt->note), "%s", outcome->note);
	delivery->callback.last_class = outcome->class;
	delivery->callback.last_http_status = outcome->http_status;
}

/* Records whether a refusal with the error id @id leaves the dealer nothing to do. */
static void judge_refusal(struct delivery *delivery, const char *id,
	const struct delivery_terms *terms)
{
	struct callback *callback = &delivery->callback;
	struct attempt *attempt = &delivery->attempt;
	const bool unknown = callback->kind == CALLBACK_BETTING_REFUND &&
		bet_is_unknown(id, terms->unknown_bet_ids);

	callback->unknown_to_dealer = unknown && !terms->bet_accepted;
	if (unknown && terms->bet_accepted && !attempt->note[0])
		snprintf(attempt->note, sizeof(attempt->note),
			"the dealer accepted this bet, so it may still have the stake");
	callback->known_to_dealer = !callback->unknown_to_dealer &&
		callback_is_known(callback->kind, callback->maybe_performed, id,
			terms->duplicate_ids);
	if (callback->known_to_dealer && !attempt->note[0])
		snprintf(attempt->note, sizeof(attempt->note),
			"known to the dealer from an earlier attempt: delivered");
}

bool delivery_end(struct delivery *delivery, uint32_t attempt,
	const struct callback_outcome *outcome, const struct delivery_terms *terms,
	const struct moment *now)
{
	struct callback *callback = &delivery->callback;
	struct retry retry;

	if (callback->state != CALLBACK_SENDING || callback->attempts != attempt)
		return false;
	follow_wall_clock(delivery, now);
	record_outcome(delivery, outcome);
	if (outcome->class == CALLBACK_REFUSED)
		judge_refusal(delivery, outcome->dealer_error_id, terms);
	if (outcome->class == CALLBACK_SUCCESS && callback->kind == CALLBACK_BETTING_CORRECTION)
		callback->shortfall = outcome->shortfall;
	if (outcome->class == CALLBACK_SUCCESS || callback->unknown_to_dealer ||
		callback->known_to_dealer) {
		finish_delivery(delivery, CALLBACK_DELIVERED, now);
		return true;
	}
	callback->maybe_performed |= outcome->class == CALLBACK_UNKNOWN;
	retry = retry_next(&terms->retry, callback, now->wall_ms);
	if (retry.state != CALLBACK_DUE) {
		finish_delivery(delivery, retry.state, now);
		return true;
	}
	callback->state = CALLBACK_DUE;
	schedule_delivery(delivery, now, retry.delay_ms, false);
	delivery->attempt.next_ms = delivery->due.due_ms;
	return true;
}

/* Returns true if no further attempt follows unless an operator intervenes. */
static bool used_up(const struct callback *callback, const struct delivery_terms *terms,
	const struct moment *now)
{
	if (callback->once_more)
		return false;
	if (callback->kind != CALLBACK_BETTING_REFUND)
		return callback->attempts >= RETRY_RESULT_ATTEMPTS;
	return now->wall_ms > callback->first_ms + terms->retry.refund_give_up_ms;
}

/*
 * Returns the earliest time of the next attempt. An operator may advance an attempt, but not the
 * first one before its time. A refund that overtakes its bet is not found by the dealer, and the
 * bet stays there (contract, "Refund delay").
 *
 * A due callback has that time on the boot clock, whatever the wall clock says. A held callback has
 * only the wall clock, and waits no longer than its original delay.
 */
static int64_t earliest_ms(const struct delivery *delivery, const struct moment *now)
{
	const struct callback *callback = &delivery->callback;
	int64_t whole_ms = callback->first_ms - callback->created_ms;
	int64_t left_ms = callback->first_ms - now->wall_ms;

	if (callback->attempts)
		return 0;
	if (delivery->scheduled)
		left_ms = due_boot_ms(&delivery->due, now) - now->boot_ms;
	if (left_ms > whole_ms)
		left_ms = whole_ms;
	return left_ms > 0 ? left_ms : 0;
}

/* Makes the callback due as early as permitted. */
static void schedule_at_once(struct delivery *delivery, const struct moment *now)
{
	delivery->callback.state = CALLBACK_DUE;
	schedule_delivery(delivery, now, earliest_ms(delivery, now), false);
}

/* The states in which each action is possible, by enum callback_state. */
static const bool operable[CALLBACK_ACTION_COUNT][CALLBACK_STATE_COUNT] = {
	[CALLBACK_RETRY] =
		{[CALLBACK_DUE] = true, [CALLBACK_PARKED] = true, [CALLBACK_HELD] = true},
	[CALLBACK_HOLD] = {[CALLBACK_DUE] = true, [CALLBACK_PARKED] = true},
	[CALLBACK_RELEASE] = {[CALLBACK_HELD] = true},
	[CALLBACK_CANCEL] =
		{[CALLBACK_DUE] = true, [CALLBACK_PARKED] = true, [CALLBACK_HELD] = true},
};

static const char *why_not(const struct callback *callback, enum callback_action action)
{
	if (callback->kind == CALLBACK_BETTING || callback->kind == CALLBACK_BALANCE_INQUIRE)
		return "a betting is sent once; its bet is accepted, rejected or refunded";
	if (callback->state == CALLBACK_SENDING)
		return "it is being sent; try again in a few seconds";
	if (callback_has_ended(callback->state))
		return "it has ended";
	if (callback->adjusted_by && (action == CALLBACK_RETRY || action == CALLBACK_RELEASE))
		return "an adjustment was made in its place: cancel the callback";
	if (!operable[action][callback->state])
		return callback->state == CALLBACK_HELD ? "it is held" : "it is not held";
	return NULL;
}

const char *delivery_operate(struct delivery *delivery, enum callback_action action, const char *by,
	const struct delivery_terms *terms, const struct moment *now)
{
	struct callback *callback = &delivery->callback;
	const char *why = why_not(callback, action);

	if (why)
		return why;
	/* Before the first attempt, created_ms determines the remaining delay. */
	if (callback->attempts)
		follow_wall_clock(delivery, now);
	switch (action) {
	case CALLBACK_RETRY:
		/* A parked one gets exactly one attempt, whatever the clock says of its 24 hours. */
		callback->once_more |=
			callback->state == CALLBACK_PARKED || used_up(callback, terms, now);
		schedule_at_once(delivery, now);
		break;
	case CALLBACK_RELEASE:
		if (used_up(callback, terms, now))
			finish_delivery(delivery, CALLBACK_PARKED, now);
		else
			schedule_at_once(delivery, now);
		break;
	case CALLBACK_HOLD:
		callback->state = CALLBACK_HELD;
		delivery->scheduled = false;
		break;
	case CALLBACK_CANCEL:
		snprintf(callback->resolved_by, sizeof(callback->resolved_by), "%s", by);
		finish_delivery(delivery, CALLBACK_CANCELLED, now);
		break;
	case CALLBACK_ACTION_COUNT:
		break;
	}
	return NULL;
}

static void keep_balance(struct bet *bet, const struct callback_outcome *outcome,
	const char *user_id, const char *currency)
{
	if (!outcome->has_balance ||
		(outcome->user_id[0] && strcmp(outcome->user_id, user_id) != 0) ||
		(outcome->currency[0] && strcmp(outcome->currency, currency) != 0))
		return;
	bet->has_balance = true;
	bet->balance = outcome->balance;
}

bool bet_conclude(struct bet *bet, const struct callback_outcome *outcome, const char *user_id,
	const char *currency, int64_t now_ms)
{
	static const struct {
		enum bet_state state;
		enum refusal outcome;
	} ends[CALLBACK_CLASS_COUNT] = {
		[CALLBACK_UNKNOWN] = {BET_REFUNDING, REFUSAL_NONE},
		[CALLBACK_SUCCESS] = {BET_ACCEPTED, REFUSAL_NONE},
		[CALLBACK_REFUSED] = {BET_REJECTED, REFUSAL_BET_REJECTED},
		[CALLBACK_NOT_SENT] = {BET_REJECTED, REFUSAL_DEALER_UNREACHABLE},
	};

	if (!bet_move(bet, ends[outcome->class].state, now_ms))
		return false;
	bet->outcome = ends[outcome->class].outcome;
	if (outcome->class == CALLBACK_REFUSED) {
		snprintf(bet->dealer_error_id, sizeof(bet->dealer_error_id), "%s",
			outcome->dealer_error_id);
		snprintf(bet->dealer_error_detail, sizeof(bet->dealer_error_detail), "%s",
			outcome->dealer_error_detail);
	}
	if (outcome->class == CALLBACK_SUCCESS)
		keep_balance(bet, outcome, user_id, currency);
	return true;
}

/* Returns true if @id is in the comma-separated @list. */
static bool in_list(const char *id, const char *list)
{
	size_t len = strlen(id);

	while (*list) {
		size_t item = strcspn(list, ",");

		if (item == len && strncmp(list, id, len) == 0)
			return true;
		list += item + (list[item] == ',');
	}
	return false;
}

bool bet_is_unknown(const char *id, const char *unknown_bet_ids)
{
	return id[0] && (in_list(id, UNKNOWN_BET_IDS) || in_list(id, unknown_bet_ids));
}

bool callback_is_known(enum callback_kind kind, bool maybe_performed, const char *id,
	const char *duplicate_ids)
{
	return kind != CALLBACK_BALANCE_INQUIRE && kind != CALLBACK_BETTING && maybe_performed &&
		id[0] && in_list(id, duplicate_ids);
}

bool duplicate_ids_valid(const char *duplicate_ids, const char *unknown_bet_ids)
{
	char id[DEALER_ERROR_ID_SIZE];

	while (*duplicate_ids) {
		size_t len = strcspn(duplicate_ids, ",");

		if (text_copy_len(id, sizeof(id), duplicate_ids, len) &&
			bet_is_unknown(id, unknown_bet_ids))
			return false;
		duplicate_ids += len + (duplicate_ids[len] == ',');
	}
	return true;
}
