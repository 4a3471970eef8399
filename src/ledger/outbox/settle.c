/*
 * The consequences of a callback's end: its bet is accepted, rejected or refunded.
 */
#include "ledger/outbox/outbox.h"

#include "domain/wager.h"
#include "ledger/outbox/hold.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/player_stats.h"
#include "ledger/rows/post.h"
#include "ledger/rows/round_bet.h"
#include "wire/callback_body.h"

#include <stdio.h>

static const struct dealer *dealer_of(struct ws *ws, const struct delivery *delivery)
{
	struct dealer key = dealer_named(delivery->callback.casino_id);

	return ws_get(ws, RECORD_DEALER, &key);
}

static struct delivery_terms terms_of(const struct apply_context *context,
	const struct dealer *dealer)
{
	return (struct delivery_terms){
		.retry = context->outbox->retry,
		.unknown_bet_ids = dealer->unknown_bet_ids,
		.duplicate_ids = dealer->duplicate_ids,
	};
}

/* Returns true if @delivery refunds a bet that the dealer accepted and a game server cancelled. */
static bool refunds_accepted(struct ws *ws, const struct delivery *delivery)
{
	const struct callback *callback = &delivery->callback;
	const struct bet key =
		bet_named(callback->player_id, callback->game_id, callback->bet_number);
	const struct bet *bet =
		callback->kind == CALLBACK_BETTING_REFUND ? ws_get(ws, RECORD_BET, &key) : NULL;

	return bet && bet->cancelled;
}

bool outbox_hold(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	uint64_t event, uint64_t transaction_id)
{
	const struct delivery_terms terms = terms_of(context, dealer);
	struct delivery delivery;

	if (!hold_result(dealer, transaction_id) || !outbox_find(ws, event, &delivery) ||
		delivery_operate(&delivery, CALLBACK_HOLD, "", &terms, &context->now))
		return false;
	outbox_write(ws, &delivery, false);
	return true;
}

/* The bet that shows that a round is older than a restore. */
static struct bet first_bet(const struct round *round)
{
	return bet_named(round->player_id, round->game_id, 1);
}

void outbox_want_age(struct ws *ws, const struct dealer *dealer, const struct round *round)
{
	const struct bet key = first_bet(round);

	if (dealer->restored_id)
		ws_want_without_object(ws, RECORD_BET, &key);
}

bool outbox_hold_old(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct round *round, uint64_t event)
{
	const struct bet key = first_bet(round);
	const struct bet *bet = dealer->restored_id ? ws_get(ws, RECORD_BET, &key) : NULL;

	return bet && outbox_hold(ws, context, dealer, event, bet->transaction_id);
}

bool outbox_open_refund(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct round *round, struct bet *bet, int64_t delay_ms)
{
	const struct outbox_subject subject = {
		.dealer = dealer,
		.player_id = bet->player_id,
		.game_id = bet->game_id,
		.bet_number = bet->number,
	};
	struct refund_body body;

	memset(&body, 0, sizeof(body));
	body.bet_amount = bet->bet_amount;
	text_copy(body.game_id, sizeof(body.game_id), bet->game_id);
	text_copy(body.player_id, sizeof(body.player_id), bet->player_id);
	text_copy(body.remark, sizeof(body.remark), bet->remark);
	body.timestamp = context->now.wall_ms;
	body.transaction_id = bet->transaction_id;
	text_copy(body.user_id, sizeof(body.user_id), round->user_id);
	bet->refund_event =
		outbox_open(ws, context, CALLBACK_BETTING_REFUND, &subject, delay_ms, &body);
	if (bet->refund_event)
		outbox_hold(ws, context, dealer, bet->refund_event, bet->transaction_id);
	return bet->refund_event != 0;
}

/* Adds the end of a betting to the sums of its dealer. */
static void count_betting(struct ws *ws, const struct bet *bet)
{
	const money_t refund = bet->state == BET_REFUNDING ? bet->bet_amount : 0;
	const bool accepted = bet->state == BET_ACCEPTED;
	const struct seamless_change change = {
		.staked = accepted ? bet->bet_amount : 0,
		.refunded = refund,
		.owed_refunds = refund,
		.with_balance = accepted && bet->has_balance,
		.without_balance = accepted && !bet->has_balance,
	};

	if (bet->state != BET_REJECTED)
		post_seamless(ws, bet->casino_id, &change);
}

/* Ends a betting: its bet is accepted, rejected, or refunded by B4. */
static bool conclude_betting(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct delivery *delivery,
	const struct callback_outcome *outcome)
{
	const struct callback *callback = &delivery->callback;
	struct bet key = bet_named(callback->player_id, callback->game_id, callback->bet_number);
	struct round round_key = round_named(callback->player_id, callback->game_id);
	const struct bet *stored = ws_get(ws, RECORD_BET, &key);
	const struct round *round = ws_get(ws, RECORD_ROUND, &round_key);
	struct bet bet;

	if (!stored || !round)
		return false;
	bet = *stored;
	if (!bet_conclude(&bet, outcome, round->user_id, dealer->currency, context->now.wall_ms))
		return false;
	if (bet.state == BET_REFUNDING &&
		!outbox_open_refund(ws, context, dealer, round, &bet,
			(int64_t)dealer->refund_delay_s * 1000))
		return false;
	ws_put(ws, RECORD_BET, &bet);
	round_bet_update(ws, round, &bet);
	count_betting(ws, &bet);
	if (bet.state == BET_ACCEPTED)
		player_stats_acceptance(ws, &bet);
	if (bet.state == BET_REJECTED)
		post_open_bets(ws, callback->casino_id, -1);
	return true;
}

/* Ends a refund that the dealer accepted or the operator settled outside: its bet is refunded. */
static bool conclude_refund(struct ws *ws, const struct apply_context *context,
	const struct delivery *delivery)
{
	const struct callback *callback = &delivery->callback;
	struct bet key = bet_named(callback->player_id, callback->game_id, callback->bet_number);
	const struct bet *stored = ws_get(ws, RECORD_BET, &key);
	struct bet bet;

	if (!stored)
		return false;
	bet = *stored;
	if (!bet_move(&bet, BET_REFUNDED, context->now.wall_ms))
		return false;
	text_copy(bet.resolved_by, sizeof(bet.resolved_by), callback->resolved_by);
	ws_put(ws, RECORD_BET, &bet);
	post_seamless(ws, bet.casino_id,
		&(struct seamless_change){.owed_refunds = -bet.bet_amount});
	return true;
}

/* Records what the dealer could not take of a decrease. */
static void keep_shortfall(struct ws *ws, const struct round *stored,
	const struct correction *correction, money_t shortfall)
{
	struct correction row = *correction;
	struct round round = *stored;

	if (!shortfall)
		return;
	row.shortfall += shortfall;
	round.shortfall += shortfall;
	ws_put(ws, RECORD_CORRECTION, &row);
	ws_put(ws, RECORD_ROUND, &round);
	post_shortfall(ws, round.casino_id, shortfall);
}

/*
 * Ends a betting-result or betting-correction that the dealer received, or that the operator
 * settled outside.
 */
static bool conclude_result(struct ws *ws, const struct delivery *delivery)
{
	const struct callback *callback = &delivery->callback;
	struct round key = round_named(callback->player_id, callback->game_id);
	const struct round *round = ws_get(ws, RECORD_ROUND, &key);
	const struct correction *correction = outbox_correction(ws, callback);

	if (!round || (callback->revision && !correction))
		return false;
	if (callback->kind == CALLBACK_BETTING_CORRECTION)
		keep_shortfall(ws, round, correction, callback->shortfall);
	else
		post_seamless(ws, callback->casino_id,
			&(struct seamless_change){
				.owed_payouts = correction ? -correction_paid(correction)
							   : -round->payout_amount,
			});
	return true;
}

/* Applies the end of a callback. Returns false if its bet is in an invalid state. */
static bool apply_callback_end(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct delivery *delivery,
	const struct callback_outcome *outcome)
{
	if (delivery->callback.kind == CALLBACK_BETTING)
		return conclude_betting(ws, context, dealer, delivery, outcome);
	if (!callback_has_ended(delivery->callback.state))
		return true;
	post_open_bets(ws, delivery->callback.casino_id, -1);
	return delivery->callback.kind == CALLBACK_BETTING_REFUND
		? conclude_refund(ws, context, delivery)
		: conclude_result(ws, delivery);
}

void outbox_check_answer(struct ws *ws, const struct delivery *delivery,
	struct callback_outcome *outcome)
{
	const struct dealer *dealer = dealer_of(ws, delivery);
	const struct correction *correction = outbox_correction(ws, &delivery->callback);
	const char *fault = NULL;

	if (delivery->callback.kind != CALLBACK_BETTING_CORRECTION ||
		outcome->class != CALLBACK_SUCCESS || !dealer || !correction)
		return;
	if (outcome->shortfall < 0)
		fault = "is not an amount of 0 or more";
	else if (!money_has_decimals(outcome->shortfall, dealer->decimals))
		fault = "has more decimals than the dealer";
	else if (outcome->shortfall > correction->previous_payout - correction->payout_amount)
		fault = "is above the decrease";
	if (!fault)
		return;
	outcome->class = CALLBACK_UNKNOWN;
	outcome->shortfall = 0;
	snprintf(outcome->note, sizeof(outcome->note), "shortfall in the answer %s", fault);
}

/* Keeps the dealer's answer if the attempt was no success. */
static void note_answer(struct ws *ws, const struct apply_context *context, uint64_t event,
	uint32_t attempt, const struct callback_outcome *outcome)
{
	struct answer row;

	if (!context->outbox->keep_answers || outcome->class == CALLBACK_SUCCESS ||
		!outcome->answer_length)
		return;
	memset(&row, 0, sizeof(row));
	row.event = event;
	row.number = attempt;
	row.length = outcome->answer_length;
	text_copy(row.content_type, sizeof(row.content_type), outcome->answer_type);
	text_copy(row.text, sizeof(row.text), outcome->answer);
	ws_append(ws, RECORD_ANSWER, &row);
}

bool outbox_end(struct ws *ws, const struct apply_context *context, struct delivery *delivery,
	uint32_t attempt, const struct callback_outcome *outcome)
{
	const struct dealer *dealer = dealer_of(ws, delivery);
	struct delivery_terms terms;

	if (!dealer)
		return false;
	terms = terms_of(context, dealer);
	terms.bet_accepted = refunds_accepted(ws, delivery);
	if (!delivery_end(delivery, attempt, outcome, &terms, &context->now))
		return false;
	/*
	 * A late outcome returns no permit, because that permit would belong to the next attempt.
	 */
	permits_give(context->permits, delivery->callback.casino_id, delivery->callback.event,
		outcome->class, context->now.boot_ms);
	outbox_write(ws, delivery, false);
	note_answer(ws, context, delivery->callback.event, attempt, outcome);
	if (!apply_callback_end(ws, context, dealer, delivery, outcome))
		ws_fail(ws, "a callback without its bet");
	return true;
}

bool outbox_is_due(const struct apply_context *context, const struct delivery *delivery)
{
	const struct due *due = &delivery->due;
	const struct schedule_entry *entry = schedule_find(context->schedule, due->event);

	if (due->boot == context->now.boot)
		return due->due_boot_ms <= context->now.boot_ms;
	return entry && entry->due_ms <= context->now.boot_ms;
}

bool outbox_is_left(const struct apply_context *context, const struct delivery *delivery)
{
	const struct schedule_entry *entry =
		schedule_find(context->schedule, delivery->callback.event);

	return entry && schedule_is_free(context->schedule, entry, context->now.boot_ms) &&
		outbox_is_due(context, delivery);
}

const char *outbox_operate(struct ws *ws, const struct apply_context *context,
	struct delivery *delivery, enum callback_action action, const char *by)
{
	const struct dealer *dealer = dealer_of(ws, delivery);
	const struct callback_outcome none = {.class = CALLBACK_UNKNOWN};
	struct delivery_terms terms;
	const char *why;

	if (!dealer)
		return "its dealer is not known";
	terms = terms_of(context, dealer);
	why = delivery_operate(delivery, action, by, &terms, &context->now);
	if (why)
		return why;
	outbox_write(ws, delivery, false);
	if (!apply_callback_end(ws, context, dealer, delivery, &none))
		ws_fail(ws, "a callback without its bet");
	return NULL;
}
