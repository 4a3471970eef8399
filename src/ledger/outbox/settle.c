/*
 * What follows from a callback's end: its bet is accepted, rejected or refunded.
 */
#include "ledger/outbox/outbox.h"

#include "domain/round_list.h"
#include "domain/wager.h"
#include "ledger/outbox/hold.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/player_stats.h"
#include "ledger/rows/post.h"
#include "wire/callback_body.h"

static const struct dealer *dealer_of(struct ws *ws, const struct delivery *delivery)
{
	struct dealer key = dealer_named(delivery->callback.casino_id);

	return ws_get(ws, RECORD_DEALER, &key);
}

static struct delivery_terms terms_of(const struct apply_context *context,
	const struct dealer *dealer)
{
	return (struct delivery_terms){context->outbox->retry, dealer->unknown_bet_ids};
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

/* Opens the B4 of a bet whose betting has an unknown outcome. */
static bool open_refund(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct round *round, struct bet *bet)
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
	bet->refund_event = outbox_open(ws, context, CALLBACK_BETTING_REFUND, &subject,
		(int64_t)dealer->refund_delay_s * 1000, &body);
	if (bet->refund_event)
		outbox_hold(ws, context, dealer, bet->refund_event, bet->transaction_id);
	return bet->refund_event != 0;
}

/*
 * Updates the round of a bet that is no longer PENDING. A bet that was not accepted is not part of
 * the round, neither in number nor in amount (contract, "Rounds").
 */
static void update_round(struct ws *ws, const struct round *stored, const struct bet *bet)
{
	uint8_t list[ROUND_LIST_SIZE];
	struct round round = *stored;

	if (bet->state == BET_ACCEPTED) {
		round_list_accept(&round, bet->number, list);
	} else {
		round_list_remove(&round, bet->number, list);
		round.staked -= bet->bet_amount;
		/* An older version did not count the bytes of rounds that it began. */
		round.objects_len -= bet->user_bet.len < round.objects_len ? bet->user_bet.len
									   : round.objects_len;
		round.refunded += bet->state == BET_REFUNDING;
	}
	ws_put(ws, RECORD_ROUND, &round);
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
	if (bet.state == BET_REFUNDING && !open_refund(ws, context, dealer, round, &bet))
		return false;
	ws_put(ws, RECORD_BET, &bet);
	update_round(ws, round, &bet);
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
	return delivery->callback.kind != CALLBACK_BETTING_REFUND ||
		conclude_refund(ws, context, delivery);
}

bool outbox_end(struct ws *ws, const struct apply_context *context, struct delivery *delivery,
	uint32_t attempt, const struct callback_outcome *outcome)
{
	const struct dealer *dealer = dealer_of(ws, delivery);
	struct delivery_terms terms;

	if (!dealer)
		return false;
	terms = terms_of(context, dealer);
	if (!delivery_end(delivery, attempt, outcome, &terms, &context->now))
		return false;
	/*
	 * A late outcome returns no permit, because that permit would belong to the next attempt.
	 */
	permits_give(context->permits, delivery->callback.casino_id, delivery->callback.event,
		outcome->class, context->now.boot_ms);
	outbox_write(ws, delivery, false);
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
