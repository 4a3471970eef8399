/*
 * Tests the proof of bets, rounds and callbacks. A correct world must pass. Each single lie in it
 * must be found, in its row or between two sets.
 */
#include "proof_world.h"
#include "suites.h"

#include <string.h>

START_TEST(a_sound_world_is_proved)
{
	struct world world;
	struct world_verdict verdict;

	world_make(&world);
	world_prove(&world, &verdict);
	ck_assert_msg(world_is_sound(&verdict),
		"requests %d transactions %d callbacks %d ends %d: %s", verdict.requests,
		verdict.transactions, verdict.callbacks, verdict.ends, verdict.text);
	ck_assert_uint_eq(verdict.open_least, 4);
	ck_assert_uint_eq(verdict.open_most, 4);
}
END_TEST

/* ---- lies visible in a single row, round or event */

#define LIE(name)             static void name(struct world *w)
#define BET(game, number)     world_bet(w, game, number)
#define BETTING(game, number) world_callback(w, BET(game, number)->event)
#define REFUND(game, number)  world_callback(w, BET(game, number)->refund_event)
#define RESULT(game)          world_callback(w, world_round(w, game)->event)

/* clang-format off: a lie a line */
LIE(pending_here)
{
	BET("h2", 1)->state = BET_PENDING;
}
LIE(refunding_here)
{
	BET("h2", 1)->state = BET_REFUNDING;
}
LIE(event_here)
{
	BET("h2", 1)->event = 1;
}
LIE(no_betting)
{
	BET("g2", 2)->event = 0;
}
LIE(no_refund)
{
	BET("g1", 5)->refund_event = 0;
}
LIE(refund_of_accepted)
{
	BET("g2", 2)->refund_event = 1;
}
LIE(one_event_for_both)
{
	BET("g1", 5)->refund_event = BET("g1", 5)->event;
}
LIE(resolved_by_accident)
{
	strcpy(BET("g1", 5)->resolved_by, "carol");
}
LIE(accepted_with_outcome)
{
	BET("g2", 2)->outcome = REFUSAL_BET_REJECTED;
}
LIE(rejected_without_outcome)
{
	BET("g1", 3)->outcome = REFUSAL_NONE;
}
LIE(rejected_otherwise)
{
	BET("g1", 3)->outcome = REFUSAL_DEALER_TIMEOUT;
}
LIE(error_of_unreachable)
{
	strcpy(BET("g2", 3)->dealer_error_id, "x");
}
LIE(nothing_staked)
{
	BET("g2", 1)->bet_amount = 0;
}
LIE(too_much_staked)
{
	BET("g2", 1)->bet_amount = MONEY_MAX + 1;
}
LIE(no_transaction_id)
{
	BET("g2", 1)->transaction_id = 0;
}
LIE(future_transaction)
{
	BET("g2", 1)->transaction_id = w->transaction_id + 1;
}
LIE(settled_in_open_round)
{
	BET("g2", 2)->state = BET_SETTLED;
}
LIE(accepted_in_settled_round)
{
	BET("g1", 1)->state = BET_ACCEPTED;
}
LIE(pending_in_settled_round)
{
	BET("g3", 1)->state = BET_PENDING;
}
LIE(other_client)
{
	strcpy(BET("g1", 2)->client_id, "eve");
}
LIE(other_dealer)
{
	strcpy(BET("g1", 2)->casino_id, "beta");
}
LIE(other_mode)
{
	BET("g2", 2)->mode = WALLET_TRANSFER;
}
LIE(bet_gone)
{
	world_remove(w->bets, w->bet_count, BET("g1", 3));
}
LIE(last_bet_gone)
{
	world_remove(w->bets, w->bet_count, BET("g1", 5));
}
LIE(uncounted_bet)
{
	world_round(w, "g2")->bets = 3;
}
LIE(no_bets)
{
	world_round(w, "g2")->bets = 0;
}
LIE(too_many_bets)
{
	world_round(w, "g2")->bets = ROUND_NUMBERS_MAX + 1;
}
LIE(bet_not_listed)
{
	world_round(w, "g2")->listed.len -= 4;
}
LIE(bet_of_no_round)
{
	world_round(w, "h2")->listed = world_round(w, "g2")->listed;
}
LIE(half_a_number)
{
	world_round(w, "g2")->listed.len -= 1;
}
LIE(staked_differs)
{
	world_round(w, "g2")->staked += 10000;
}
LIE(round_gone)
{
	world_remove(w->rounds, w->round_count, world_round(w, "g2"));
}
LIE(open_with_result)
{
	world_round(w, "g2")->result = RESULT_WIN;
}
LIE(open_with_event)
{
	world_round(w, "g2")->event = 1;
}
LIE(open_with_time)
{
	world_round(w, "g2")->settled_ms = 1;
}
LIE(open_with_payout)
{
	world_round(w, "g2")->payout_amount = 1;
}
LIE(open_again)
{
	world_round(w, "g1")->state = ROUND_OPEN;
}
LIE(settled_without_result)
{
	world_round(w, "g1")->result = RESULT_NONE;
}
LIE(settled_without_bet)
{
	BET("g3", 1)->state = BET_REFUNDED;
	BET("g3", 1)->refund_event = 1;
}
LIE(loss_with_transaction)
{
	world_round(w, "g3")->transaction_id = 1;
}
LIE(win_without_transaction)
{
	world_round(w, "g1")->transaction_id = 0;
}
LIE(round_of_future)
{
	world_round(w, "g1")->transaction_id = w->transaction_id + 1;
}
LIE(result_here)
{
	world_round(w, "h1")->event = 1;
}
LIE(no_result)
{
	world_round(w, "g1")->event = 0;
}
LIE(wrong_stake)
{
	world_round(w, "g1")->bet_amount++;
}
LIE(rejected_counted)
{
	world_round(w, "g1")->bet_amount += BET("g1", 3)->bet_amount;
}
LIE(wrong_addition)
{
	world_round(w, "g1")->addition_amount--;
}
LIE(no_addition_any_more)
{
	BET("g1", 2)->addition = false;
}
LIE(wrong_win)
{
	world_round(w, "g1")->win_amount += 1;
}
LIE(here_wrong_win)
{
	world_round(w, "h1")->win_amount -= 1;
}
LIE(loss_that_pays)
{
	world_round(w, "g3")->payout_amount = 5;
	world_round(w, "g3")->win_amount += 5;
}
LIE(refund_of_more)
{
	world_round(w, "h1")->payout_amount += 5;
	world_round(w, "h1")->win_amount += 5;
}
LIE(negative_payout)
{
	world_round(w, "g1")->payout_amount = -1;
}
LIE(bet_event_of_future)
{
	BET("g1", 5)->refund_event = w->event + 1;
}
LIE(round_event_of_future)
{
	world_round(w, "g1")->event = w->event + 9;
}

LIE(balance_inquiry)
{
	RESULT("g1")->kind = CALLBACK_BALANCE_INQUIRE;
}
LIE(betting_due)
{
	BETTING("g2", 2)->state = CALLBACK_DUE;
}
LIE(betting_parked)
{
	BETTING("g2", 2)->state = CALLBACK_PARKED;
}
LIE(result_failed)
{
	RESULT("g1")->state = CALLBACK_FAILED;
}
LIE(result_of_bet)
{
	RESULT("g1")->bet_number = 1;
}
LIE(betting_of_round)
{
	BETTING("g2", 2)->bet_number = 0;
}
LIE(no_end)
{
	RESULT("g1")->ended_ms = 0;
}
LIE(end_of_parked)
{
	RESULT("g3")->ended_ms = 5;
}
LIE(cancelled_by_nobody)
{
	REFUND("g2", 4)->resolved_by[0] = '\0';
}
LIE(delivered_by_operator)
{
	strcpy(RESULT("g1")->resolved_by, "carol");
}
LIE(parked_once_more)
{
	RESULT("g3")->once_more = true;
}
LIE(unknown_betting)
{
	BETTING("g2", 2)->unknown_to_dealer = true;
}
LIE(unknown_due)
{
	REFUND("g1", 5)->unknown_to_dealer = true;
}
LIE(known_betting)
{
	BETTING("g2", 2)->known_to_dealer = true;
}
LIE(known_at_once)
{
	RESULT("g1")->last_class = world_attempt(w, RESULT("g1")->event, 1)->class =
		CALLBACK_REFUSED;
	RESULT("g1")->known_to_dealer = true;
}
/* The dealer refused every attempt, so it performed none. */
LIE(known_unperformed)
{
	RESULT("g3")->state = CALLBACK_DELIVERED;
	RESULT("g3")->ended_ms = w->moment.from_ms;
	RESULT("g3")->last_class = world_attempt(w, RESULT("g3")->event, 3)->class =
		CALLBACK_REFUSED;
	RESULT("g3")->known_to_dealer = true;
	w->totals[0].parked--;
	w->totals[0].open_bets--;
}
LIE(known_parked)
{
	RESULT("g3")->known_to_dealer = true;
}
LIE(path_of_its_own)
{
	strcpy(RESULT("g1")->path, "/path");
}
LIE(adjusted_due)
{
	REFUND("g1", 5)->adjusted_by = 1;
}
LIE(adjusted_betting)
{
	RESULT("g1")->adjusted_by = 1;
}
LIE(delivered_unanswered)
{
	RESULT("g1")->last_class = world_attempt(w, RESULT("g1")->event, 1)->class =
		CALLBACK_UNKNOWN;
}
LIE(failed_by_success)
{
	BETTING("g1", 3)->last_class = world_attempt(w, BET("g1", 3)->event, 1)->class =
		CALLBACK_SUCCESS;
}
LIE(never_sent)
{
	RESULT("g1")->attempts = 0;
}
LIE(sent_twice)
{
	BETTING("g2", 2)->attempts = 2;
}
LIE(parked_early)
{
	RESULT("g3")->attempts = 2;
}
LIE(other_status)
{
	RESULT("g1")->last_http_status = 500;
}
LIE(other_class)
{
	RESULT("g3")->last_class = CALLBACK_NOT_SENT;
}
LIE(body_gone)
{
	world_remove(w->bodies, w->body_count, &w->bodies[2]);
}
LIE(due_gone)
{
	world_remove(w->dues, w->due_count, world_due(w, BET("g2", 1)->event));
}
LIE(refund_due_gone)
{
	world_remove(w->dues, w->due_count, world_due(w, BET("g1", 5)->refund_event));
}
LIE(due_of_delivered)
{
	RESULT("g1")->state = CALLBACK_DUE;
	RESULT("g1")->ended_ms = 0;
}
LIE(due_too_many)
{
	w->dues[w->due_count++] = (struct due){.event = RESULT("g3")->event,
		.kind = CALLBACK_BETTING_RESULT,
		.casino_id = "alpha"};
}
LIE(due_of_other_kind)
{
	world_due(w, BET("g2", 1)->event)->kind = CALLBACK_BETTING_REFUND;
}
LIE(due_of_other_dealer)
{
	strcpy(world_due(w, BET("g2", 1)->event)->casino_id, "beta");
}
LIE(due_not_sending)
{
	world_due(w, BET("g2", 1)->event)->sending = false;
}
LIE(due_sending)
{
	world_due(w, BET("g1", 5)->refund_event)->sending = true;
}
LIE(due_of_nothing)
{
	world_due(w, BET("g2", 1)->event)->event = WORLD_EVENTS + 1;
}
LIE(attempt_gap)
{
	world_attempt(w, RESULT("g3")->event, 2)->event = WORLD_EVENTS + 1;
}
LIE(attempt_gone)
{
	world_remove(w->attempts, w->attempt_count, world_attempt(w, RESULT("g3")->event, 3));
}
LIE(attempt_too_many)
{
	RESULT("g3")->attempts = 4;
}
LIE(attempt_uncounted)
{
	REFUND("g1", 4)->attempts = 1;
}
LIE(answer_of_nothing)
{
	w->answers[0].number = 4;
}
LIE(answer_of_none)
{
	w->answers[0].number = 0;
}
LIE(answer_of_success)
{
	w->answers[0].event = RESULT("g1")->event;
	w->answers[0].number = 1;
}
LIE(answer_empty)
{
	w->answers[0].length = 0;
}
LIE(attempt_under_way)
{
	world_attempt(w, RESULT("g3")->event, 3)->ended = false;
}
LIE(middle_under_way)
{
	world_attempt(w, RESULT("g3")->event, 2)->ended = false;
}
LIE(sending_ended)
{
	world_attempt(w, BET("g2", 1)->event, 1)->ended = true;
}
LIE(refund_of_other_time)
{
	REFUND("g1", 5)->created_ms++;
}
/* Replaces the closing brace of a body by @end. */
static void end_body(struct world *w, uint64_t event, const char *end)
{
	struct bytes *body = &w->bodies[event - 1].body;
	char *text = w->texts[event - 1] + body->len - 1;

	ck_assert_int_eq(*text, '}');
	ck_assert_uint_lt(body->len + strlen(end), WORLD_BODY);
	strcpy(text, end);
	body->len += (uint32_t)strlen(end) - 1;
}
LIE(body_of_other_currency)
{
	end_body(w, RESULT("g1")->event, ",\"currency\":\"usd\"}");
}
LIE(callback_gone)
{
	world_remove(w->callbacks, w->callback_count, RESULT("g3"));
}
LIE(request_of_no_bet)
{
	world_request(w, "g1", 1)->bet_number = 0;
}
LIE(request_of_no_game)
{
	world_request(w, "g1", 1)->game_id[0] = '\0';
}
LIE(result_with_number)
{
	world_request(w, "g1", 0)->bet_number = 1;
}
LIE(bet_without_id)
{
	world_request(w, "g1", 1)->transaction_id = 0;
}
LIE(win_without_id)
{
	world_request(w, "g1", 0)->transaction_id = 0;
}
LIE(refused_bet)
{
	world_request(w, "g1", 1)->outcome = REFUSAL_INSUFFICIENT_BALANCE;
}
LIE(operators_bet)
{
	world_request(w, "g1", 1)->scope = SCOPE_OPERATOR;
}
LIE(fewer_open)
{
	w->totals[0].open_bets = 3;
}
LIE(more_open)
{
	w->totals[0].open_bets = 5;
}
LIE(nothing_open_here)
{
	w->totals[1].open_bets = 0;
}
LIE(none_parked)
{
	w->totals[0].parked = 0;
}
LIE(more_held)
{
	w->totals[1].held = 1;
}
LIE(paid_here)
{
	w->totals[1].paid = 1;
}

static const struct lie {
	void (*tell)(struct world *world);
	const char *found; /* part of a problem's line */
} lies[] = {
	{pending_here, "bet p2/h2/1 is pending in a transfer wallet"},
	{refunding_here, "bet p2/h2/1 is refunding in a transfer wallet"},
	{event_here, "bet p2/h2/1 of a transfer wallet has a callback"},
	{no_betting, "bet p1/g2/2 of a seamless wallet has no betting"},
	{no_refund, "bet p1/g1/5 is refunding without a betting-refund"},
	{refund_of_accepted, "bet p1/g2/2 is accepted and has a betting-refund"},
	{one_event_for_both, "bet p1/g1/5 has one event for its betting and its refund"},
	{resolved_by_accident, "bet p1/g1/5 is refunding and resolved by an operator"},
	{accepted_with_outcome, "bet p1/g2/2 is accepted with the outcome bet_rejected"},
	{rejected_without_outcome, "bet p1/g1/3 is rejected with the outcome "},
	{rejected_otherwise, "bet p1/g1/3 is rejected with the outcome dealer_timeout"},
	{error_of_unreachable, "bet p1/g2/3 was not refused and holds the dealer's error"},
	{nothing_staked, "bet p1/g2/1 has an amount out of range"},
	{too_much_staked, "bet p1/g2/1 has an amount out of range"},
	{no_transaction_id, "bet p1/g2/1 has no transaction id"},
	{future_transaction, "which was never given out"},
	{settled_in_open_round, "bet p1/g2/2 is settled in a round that is open"},
	{accepted_in_settled_round, "bet p1/g1/1 is accepted in a round that is settled"},
	{pending_in_settled_round, "bet p1/g3/1 is pending in a round that is settled"},
	{other_client, "bet p1/g1/2 is of another client than its round"},
	{other_dealer, "bet p1/g1/2 is of another dealer than its round"},
	{other_mode, "bet p1/g2/2 is of another wallet mode than its round"},
	{bet_gone, "round p1/g1 has bet number 4 after number 2"},
	{last_bet_gone, "round p1/g1 counts 5 bets, the last one found is number 4"},
	{uncounted_bet, "round p1/g2 has bet number 4 and counts 3"},
	{no_bets, "round p1/g2 has 0 bets"},
	{too_many_bets, "round p1/g2 has 1073741825 bets"},
	{bet_not_listed, "bet p1/g2/2 is accepted and not listed by its round"},
	{bet_of_no_round, "round p2/h2 has a list of bets that no round can have"},
	{half_a_number, "round p1/g2 has a list of bets that no round can have"},
	{staked_differs, "round p1/g2 keeps staked as 3.00, the bets that it lists make 2.00"},
	{round_gone, "round p1/g2 is not there and has bets"},
	{open_with_result, "round p1/g2 is open and has a result"},
	{open_with_event, "round p1/g2 is open and has a result"},
	{open_with_time, "round p1/g2 is open and has a result"},
	{open_with_payout, "round p1/g2 is open and has sums"},
	{open_again, "bet p1/g1/1 is settled in a round that is open"},
	{settled_without_result, "round p1/g1 is settled without a result"},
	{settled_without_bet, "round p1/g3 is settled without a settled bet"},
	{loss_with_transaction, "round p1/g3 is a loss with a transaction id"},
	{win_without_transaction, "round p1/g1 has no transaction id"},
	{round_of_future, "which was never given out"},
	{result_here, "round p2/h1 of a transfer wallet has a betting-result"},
	{no_result, "round p1/g1 of a seamless wallet has no betting-result"},
	{wrong_stake, "round p1/g1 keeps bet_amount as 10.0001, its bets make 10.00"},
	{rejected_counted, "round p1/g1 keeps bet_amount as 13.00, its bets make 10.00"},
	{wrong_addition, "round p1/g1 keeps addition_amount as 1.9999, its bets make 2.00"},
	{no_addition_any_more, "round p1/g1 keeps bet_amount as 10.00, its bets make 12.00"},
	{wrong_win, "round p1/g1 keeps win_amount as 13.0001, its bets make 13.00"},
	{here_wrong_win, "round p2/h1 keeps win_amount as -0.0001, its bets make 0.00"},
	{loss_that_pays, "round p1/g3 is a loss that pays"},
	{refund_of_more, "round p2/h1 is a refund that does not pay what was staked"},
	{negative_payout, "round p1/g1 has a payout out of range"},
	{bet_event_of_future, "bet p1/g1/5 names event "},
	{round_event_of_future, "round p1/g1 names event "},
	{balance_inquiry, "cannot be delivered"},
	{betting_due, "cannot be due"},
	{betting_parked, "cannot be parked"},
	{result_failed, "cannot be failed"},
	{result_of_bet, "names bet number 1"},
	{betting_of_round, "names bet number 0"},
	{no_end, "is delivered without an end"},
	{end_of_parked, "is parked and has an end"},
	{cancelled_by_nobody, "is cancelled by no process"},
	{delivered_by_operator, "is delivered and resolved by an operator"},
	{parked_once_more, "is parked and to be sent once more"},
	{adjusted_due, "is due although an adjustment stands for it"},
	{adjusted_betting, "is delivered although an adjustment stands for it"},
	{unknown_betting, "cannot be unknown to the dealer"},
	{unknown_due, "cannot be unknown to the dealer"},
	{known_betting, "cannot be known to the dealer"},
	{known_at_once, "cannot be known to the dealer"},
	{known_unperformed, "cannot be known to the dealer"},
	{known_parked, "cannot be known to the dealer"},
	{path_of_its_own, "has a path of its own"},
	{delivered_unanswered, "is delivered and was answered by no success"},
	{failed_by_success, "has failed and was answered by a success"},
	{never_sent, "is delivered without an attempt"},
	{sent_twice, "was sent 2 times"},
	{parked_early, "is parked after 2 attempts"},
	{other_status, "has another outcome than its last attempt"},
	{other_class, "has another outcome than its last attempt"},
	{body_gone, "callback betting-3 has no body"},
	{due_gone, "is sending and has no due row"},
	{refund_due_gone, "is due and has no due row"},
	{due_of_delivered, "is due and has no due row"},
	{due_too_many, "is parked and has a due row"},
	{due_of_other_kind, "has the due row of a betting-refund to alpha"},
	{due_of_other_dealer, "has the due row of a betting to beta"},
	{due_not_sending, "is sending and its due row says due"},
	{due_sending, "is due and its due row says sending"},
	{due_of_nothing, "is not there and has a due row"},
	{attempt_gap, "has attempt 3 after attempt 1"},
	{attempt_gone, "counts 3 attempts, the last one found is number 2"},
	{attempt_too_many, "counts 4 attempts, the last one found is number 3"},
	{attempt_uncounted, "counts 1 attempts, the last one found is number 2"},
	{answer_of_nothing, "has the answer to attempt 4, which is not there"},
	{answer_of_none, "has the answer to attempt 0, which is not there"},
	{answer_of_success, "has the answer to attempt 1, which was a success"},
	{answer_empty, "has an empty answer to attempt 2"},
	{attempt_under_way, "is parked and its last attempt has not ended"},
	{middle_under_way, "has attempt 3 although attempt 2 has not ended"},
	{sending_ended, "is sending and its last attempt has ended"},
	{refund_of_other_time, "has a body of another time"},
	{body_of_other_currency, "has a body in another currency"},
	{callback_gone, "is not there and has a body"},
	{request_of_no_bet, "a bet does not name bet number 0 of game 'g1'"},
	{request_of_no_game, "a bet does not name bet number 1 of game ''"},
	{result_with_number, "a payout does not name bet number 1 of game 'g1'"},
	{bet_without_id, "outcome and movement do not agree"},
	{win_without_id, "outcome and movement do not agree"},
	{refused_bet, "outcome and movement do not agree"},
	{operators_bet, "is a bet with the key of another scope"},
	{fewer_open, "dealer alpha: open_bets is kept as 3, 4 bets and results are open"},
	{more_open, "dealer alpha: open_bets is kept as 5, 4 bets and results are open"},
	{nothing_open_here, "dealer beta: open_bets is kept as 0, 1 bets and results are open"},
	{none_parked, "dealer alpha: parked is kept as 0, 1 callbacks are"},
	{more_held, "dealer beta: held is kept as 1, 0 callbacks are"},
	{paid_here, "dealer beta: paid is kept as 1.5001"},
};

/* Bodies for a dealer with send_currency, and an answer by one of its duplicate_ids. */
START_TEST(settings_of_a_dealer_are_sound)
{
	struct world world, *w = &world;
	struct world_verdict verdict;

	world_make(w);
	end_body(w, BETTING("g2", 2)->event, ",\"currency\":\"thb\"}");
	end_body(w, RESULT("g1")->event, ",\"currency\":\"thb\"}");
	end_body(w, REFUND("g1", 5)->event, ",\"currency\":\"thb\"}");
	RESULT("g3")->state = CALLBACK_DELIVERED;
	RESULT("g3")->ended_ms = w->moment.from_ms;
	RESULT("g3")->last_class = world_attempt(w, RESULT("g3")->event, 3)->class =
		CALLBACK_REFUSED;
	RESULT("g3")->known_to_dealer = RESULT("g3")->maybe_performed = true;
	w->totals[0].parked--;
	w->totals[0].open_bets--;
	world_prove(w, &verdict);
	ck_assert_msg(world_is_sound(&verdict), "%s", verdict.text);
}
END_TEST

START_TEST(a_lie_is_reported)
{
	const struct lie *lie = &lies[_i];
	struct world world;
	struct world_verdict verdict;

	world_make(&world);
	lie->tell(&world);
	world_prove(&world, &verdict);
	ck_assert_msg(strstr(verdict.text, lie->found) != NULL, "'%s' not in: %s", lie->found,
		verdict.text);
	ck_assert_uint_gt(verdict.problems, 0);
}
END_TEST

/* ---- lies between rows: comparing the sets finds them */

static void change_body(struct world *w, uint64_t event, const char *from, const char *to)
{
	char *text = memmem(w->texts[event - 1], WORLD_BODY, from, strlen(from));

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(strlen(from), strlen(to));
	memcpy(text, to, strlen(to));
}

LIE(body_end)
{
	end_body(w, BET("g2", 2)->event, "]");
}
LIE(body_amount)
{
	change_body(w, BET("g2", 2)->event, "\"bet_amount\":1", "\"bet_amount\":9");
}
LIE(body_user_bet)
{
	change_body(w, BET("g1", 1)->event, "{\"line\":1}", "{\"line\":2}");
}
LIE(body_user)
{
	change_body(w, BET("g1", 1)->event, "\"ann\"", "\"eve\"");
}
LIE(body_payout)
{
	change_body(w, RESULT("g1")->event, "\"payout_amount\":25", "\"payout_amount\":26");
}
LIE(body_result)
{
	change_body(w, RESULT("g1")->event, "\"win\"", "\"Win\"");
}
LIE(body_ball)
{
	change_body(w, RESULT("g1")->event, "\"ball\": 7", "\"ball\": 8");
}
LIE(body_refund)
{
	change_body(w, REFUND("g1", 5)->event, "\"bet_amount\":5", "\"bet_amount\":6");
}
LIE(body_refund_id)
{
	change_body(w, REFUND("g1", 4)->event, "\"transaction_id\":4", "\"transaction_id\":5");
}
LIE(bet_remark)
{
	strcpy(BET("g2", 2)->remark, "another");
}
LIE(bet_later)
{
	BET("g2", 2)->accepted_ms++;
}
LIE(round_remark)
{
	strcpy(world_round(w, "g1")->remark, "another");
}
LIE(events_swapped)
{
	uint64_t event = BET("g1", 1)->event;

	BET("g1", 1)->event = BET("g1", 2)->event;
	BET("g1", 2)->event = event;
}
LIE(callback_of_other_bet)
{
	BETTING("g1", 2)->bet_number = 1;
}
LIE(callback_of_other_game)
{
	strcpy(BETTING("g1", 2)->game_id, "g3");
}
LIE(callback_to_other_dealer)
{
	strcpy(BETTING("g1", 2)->casino_id, "beta");
}
LIE(callback_of_nobody)
{
	struct callback *callback = &w->callbacks[w->callback_count++];

	*callback = *RESULT("g1");
	callback->event = ++w->event;
	w->point.event = w->event;
	w->bodies[w->body_count] = w->bodies[RESULT("g1")->event - 1];
	w->bodies[w->body_count++].event = callback->event;
	w->attempts[w->attempt_count] = *world_attempt(w, RESULT("g1")->event, 1);
	w->attempts[w->attempt_count++].event = callback->event;
}
LIE(accepted_but_failed)
{
	BETTING("g2", 2)->state = CALLBACK_FAILED;
	BETTING("g2", 2)->last_class = world_attempt(w, BET("g2", 2)->event, 1)->class =
		CALLBACK_UNKNOWN;
}
LIE(rejected_but_unknown)
{
	BETTING("g1", 3)->last_class = world_attempt(w, BET("g1", 3)->event, 1)->class =
		CALLBACK_UNKNOWN;
}
LIE(rejected_but_delivered)
{
	BETTING("g1", 3)->state = CALLBACK_DELIVERED;
	BETTING("g1", 3)->last_class = world_attempt(w, BET("g1", 3)->event, 1)->class =
		CALLBACK_SUCCESS;
}
LIE(refunded_but_due)
{
	w->dues[w->due_count++] = *world_due(w, BET("g1", 5)->refund_event);
	w->dues[w->due_count - 1].event = BET("g1", 4)->refund_event;
	REFUND("g1", 4)->state = CALLBACK_DUE;
	REFUND("g1", 4)->ended_ms = 0;
}
LIE(refunded_by_other)
{
	strcpy(BET("g2", 4)->resolved_by, "mallory");
}
LIE(refunded_by_operator)
{
	strcpy(BET("g1", 4)->resolved_by, "mallory");
}
LIE(key_gone)
{
	world_remove(w->requests, w->request_count, world_request(w, "g1", 2));
}
LIE(key_renamed)
{
	strcpy(world_request(w, "g1", 2)->request_transaction_id, "x");
}
LIE(key_of_other_client)
{
	strcpy(world_request(w, "g1", 2)->owner, "eve");
}
LIE(key_amount)
{
	world_request(w, "g1", 2)->amount++;
}
LIE(key_moved)
{
	world_request(w, "g1", 2)->entry_seq = 1;
}
LIE(key_unmoved)
{
	world_request(w, "h2", 1)->entry_seq = 0;
}
LIE(key_elsewhere)
{
	world_request(w, "g1", 2)->bet_number = 3;
}
LIE(key_of_other_player)
{
	strcpy(world_request(w, "g1", 2)->player_id, "p2");
}
LIE(key_of_other_time)
{
	world_request(w, "g1", 2)->time_ms++;
}
LIE(result_key_gone)
{
	world_remove(w->requests, w->request_count, world_request(w, "g1", 0));
}
LIE(loss_key_gone)
{
	world_remove(w->requests, w->request_count, world_request(w, "g3", 0));
}
LIE(result_key_twice)
{
	w->requests[w->request_count++] = *world_request(w, "g1", 0);
}
LIE(result_key_amount)
{
	world_request(w, "g1", 0)->amount++;
}
LIE(bet_amount)
{
	BET("g2", 2)->bet_amount++;
}
LIE(transaction_gone)
{
	world_remove(w->transactions, w->transaction_count, world_transaction(w, 3));
}
LIE(transaction_elsewhere)
{
	world_transaction(w, 3)->bet_number = 1;
}
LIE(transaction_of_other_game)
{
	strcpy(world_transaction(w, 3)->game_id, "g2");
}
LIE(transaction_of_other_dealer)
{
	strcpy(world_transaction(w, 3)->casino_id, "beta");
}
LIE(transaction_moved)
{
	world_transaction(w, 3)->entry_seq = 1;
}
/* clang-format on */
LIE(transaction_of_round_gone)
{
	world_remove(w->transactions, w->transaction_count,
		world_transaction(w, world_round(w, "g1")->transaction_id));
}

static const struct set_lie {
	void (*tell)(struct world *world);
	bool requests, transactions, callbacks, ends; /* the sets that differ */
} set_lies[] = {
	{body_end, 0, 0, 1, 0},
	{body_amount, 0, 0, 1, 0},
	{body_user_bet, 0, 0, 1, 0},
	{body_user, 0, 0, 1, 0},
	{body_payout, 0, 0, 1, 0},
	{body_result, 0, 0, 1, 0},
	{body_ball, 0, 0, 1, 0},
	{body_refund, 0, 0, 1, 0},
	{body_refund_id, 0, 0, 1, 0},
	{bet_remark, 0, 0, 1, 0},
	{bet_later, 1, 1, 1, 0},
	{round_remark, 0, 0, 1, 0},
	{events_swapped, 0, 0, 1, 0},
	{callback_of_other_bet, 0, 0, 1, 0},
	{callback_of_other_game, 0, 0, 1, 0},
	{callback_to_other_dealer, 0, 0, 1, 0},
	{callback_of_nobody, 0, 0, 1, 0},
	{accepted_but_failed, 0, 0, 0, 1},
	{rejected_but_unknown, 0, 0, 0, 1},
	{rejected_but_delivered, 0, 0, 0, 1},
	{refunded_but_due, 0, 0, 0, 1},
	{refunded_by_other, 0, 0, 0, 1},
	{refunded_by_operator, 0, 0, 0, 1},
	{key_gone, 1, 0, 0, 0},
	{key_renamed, 1, 0, 0, 0},
	{key_of_other_client, 1, 0, 0, 0},
	{key_amount, 1, 0, 0, 0},
	{key_moved, 1, 0, 0, 0},
	{key_unmoved, 1, 0, 0, 0},
	{key_elsewhere, 1, 0, 0, 0},
	{key_of_other_player, 1, 0, 0, 0},
	{key_of_other_time, 1, 0, 0, 0},
	{result_key_gone, 1, 0, 0, 0},
	{loss_key_gone, 1, 0, 0, 0},
	{result_key_twice, 1, 0, 0, 0},
	{result_key_amount, 1, 0, 0, 0},
	{bet_amount, 1, 0, 1, 0},
	{transaction_gone, 0, 1, 0, 0},
	{transaction_elsewhere, 0, 1, 0, 0},
	{transaction_of_other_game, 0, 1, 0, 0},
	{transaction_of_other_dealer, 0, 1, 0, 0},
	{transaction_moved, 0, 1, 0, 0},
	{transaction_of_round_gone, 0, 1, 0, 0},
};

START_TEST(sets_that_differ_are_told)
{
	const struct set_lie *lie = &set_lies[_i];
	struct world world;
	struct world_verdict verdict;

	world_make(&world);
	lie->tell(&world);
	world_prove(&world, &verdict);
	ck_assert_int_eq(!verdict.requests, lie->requests);
	ck_assert_int_eq(!verdict.transactions, lie->transactions);
	ck_assert_int_eq(!verdict.callbacks, lie->callbacks);
	ck_assert_int_eq(!verdict.ends, lie->ends);
}
END_TEST

/* ---- a bet compared with its callback, when it is in progress or the sets differ */

START_TEST(an_adjustment_is_of_the_player)
{
	struct callback callback = {.adjusted_by = 7, .casino_id = "demo", .player_id = "p1"};
	struct transaction entry = {.kind = ENTRY_ADJUST, .casino_id = "demo", .player_id = "p1"};

	ck_assert_ptr_null(proof_event_adjusted(&callback, &entry));
	ck_assert_str_eq(proof_event_adjusted(&callback, NULL),
		"names an adjustment that does not exist");
	entry.kind = ENTRY_TRANSFER_IN;
	ck_assert_ptr_nonnull(proof_event_adjusted(&callback, &entry));
	entry.kind = ENTRY_ADJUST;
	strcpy(entry.player_id, "p2");
	ck_assert_ptr_nonnull(proof_event_adjusted(&callback, &entry));
	strcpy(entry.player_id, "p1");
	strcpy(entry.casino_id, "other");
	ck_assert_str_eq(proof_event_adjusted(&callback, &entry),
		"names a transaction that is no adjustment of its player");
}
END_TEST

START_TEST(what_is_wrong_between_them_is_told)
{
	struct world world, *w = &world;

	world_make(w);
	ck_assert_ptr_null(proof_bet_callback(BET("g2", 1), CALLBACK_BETTING, BETTING("g2", 1)));
	ck_assert_ptr_null(
		proof_bet_callback(BET("g1", 5), CALLBACK_BETTING_REFUND, REFUND("g1", 5)));
	ck_assert_str_eq(proof_bet_callback(BET("g2", 1), CALLBACK_BETTING, NULL),
		"its betting is missing");
	ck_assert_str_eq(proof_bet_callback(BET("g2", 1), CALLBACK_BETTING, BETTING("g2", 2)),
		"the event of its betting is another one's");
	ck_assert_str_eq(proof_bet_callback(BET("g1", 5), CALLBACK_BETTING_REFUND, REFUND("g1", 4)),
		"the event of its betting-refund is another one's");
	BETTING("g2", 1)->state = CALLBACK_DELIVERED;
	ck_assert_str_eq(proof_bet_callback(BET("g2", 1), CALLBACK_BETTING, BETTING("g2", 1)),
		"its betting is not being sent");
	BETTING("g2", 2)->state = CALLBACK_SENDING;
	ck_assert_str_eq(proof_bet_callback(BET("g2", 2), CALLBACK_BETTING, BETTING("g2", 2)),
		"its betting was not delivered");
	BETTING("g2", 3)->state = CALLBACK_SENDING;
	ck_assert_str_eq(proof_bet_callback(BET("g2", 3), CALLBACK_BETTING, BETTING("g2", 3)),
		"its betting has not failed");
	BETTING("g1", 3)->last_class = CALLBACK_NOT_SENT;
	ck_assert_str_eq(proof_bet_callback(BET("g1", 3), CALLBACK_BETTING, BETTING("g1", 3)),
		"its betting came to something else");
	REFUND("g1", 5)->state = CALLBACK_DELIVERED;
	ck_assert_str_eq(proof_bet_callback(BET("g1", 5), CALLBACK_BETTING_REFUND, REFUND("g1", 5)),
		"its betting-refund has ended");
	REFUND("g1", 4)->state = CALLBACK_PARKED;
	ck_assert_str_eq(proof_bet_callback(BET("g1", 4), CALLBACK_BETTING_REFUND, REFUND("g1", 4)),
		"its betting-refund has not ended");
	strcpy(REFUND("g2", 4)->resolved_by, "mallory");
	ck_assert_str_eq(proof_bet_callback(BET("g2", 4), CALLBACK_BETTING_REFUND, REFUND("g2", 4)),
		"its betting-refund was resolved otherwise");
	strcpy(BETTING("g2", 4)->casino_id, "beta");
	ck_assert_str_eq(proof_bet_callback(BET("g2", 4), CALLBACK_BETTING, BETTING("g2", 4)),
		"its betting goes to another dealer");
	ck_assert_str_eq(proof_round_callback(world_round(w, "g1"), RESULT("g3")),
		"the event of its betting-result is another one's");
	ck_assert_str_eq(proof_round_callback(world_round(w, "g1"), NULL),
		"its betting-result is missing");
	ck_assert_ptr_null(proof_round_callback(world_round(w, "g1"), RESULT("g1")));
}
END_TEST

/* A lie about a bet in progress is found without the sets. */
LIE(pending_but_delivered)
{
	BETTING("g2", 1)->state = CALLBACK_DELIVERED;
	BETTING("g2", 1)->ended_ms = 50;
	BETTING("g2", 1)->last_class = CALLBACK_SUCCESS;
}
LIE(refunding_but_delivered)
{
	REFUND("g1", 5)->state = CALLBACK_DELIVERED;
	REFUND("g1", 5)->ended_ms = 50;
}

START_TEST(bets_under_way_are_compared)
{
	struct world world;
	struct world_verdict verdict;

	world_make(&world);
	pending_but_delivered(&world);
	world_prove(&world, &verdict);
	ck_assert_ptr_nonnull(strstr(verdict.text, "bet p1/g2/1: its betting is not being sent"));
	world_make(&world);
	refunding_but_delivered(&world);
	world_prove(&world, &verdict);
	ck_assert_ptr_nonnull(strstr(verdict.text, "bet p1/g1/5: its betting-refund has ended"));
}
END_TEST

/* ---- changes during the check must not disturb it */

/* The event counter is read first: a row with a known event has a known transaction id. */
static bool is_possible(const struct world *w, uint64_t as_of, uint64_t event)
{
	for (unsigned int i = 0; i < w->bet_count; i++) {
		if (w->bets[i].event && w->bets[i].event <= event &&
			w->bets[i].transaction_id > as_of)
			return false;
	}
	return true;
}

START_TEST(later_rows_are_left_out)
{
	struct world world;
	struct world_verdict verdict;

	world_make(&world);
	for (uint64_t as_of = 0; as_of <= world.transaction_id; as_of++) {
		for (uint64_t event = 0; event <= world.event; event++) {
			if (!is_possible(&world, as_of, event))
				continue;
			world.point.as_of = as_of;
			world.point.event = event;
			world_prove(&world, &verdict);
			ck_assert_msg(world_is_sound(&verdict), "as of %u, %u: %s",
				(unsigned int)as_of, (unsigned int)event, verdict.text);
		}
	}
}
END_TEST

START_TEST(what_ended_meanwhile_is_left_out)
{
	struct world world;
	struct world_verdict verdict;

	world_make(&world);
	for (int64_t begin_ms = 0; begin_ms < WORLD_NOW_MS; begin_ms += 50) {
		world.point.begin_ms = begin_ms;
		world_prove(&world, &verdict);
		ck_assert_msg(world_is_sound(&verdict), "begun at %d: %s", (int)begin_ms,
			verdict.text);
	}
}
END_TEST

/* The sums belong to one moment; bets and results were opened and ended since. */
START_TEST(open_bets_are_those_of_the_moment)
{
	struct world world, *w = &world;
	struct world_verdict verdict;

	world_make(w);
	/* At that time the settled bet of g3 was still open. */
	BET("g3", 1)->changed_ms = world_round(w, "g3")->settled_ms = WORLD_NOW_MS + 1;
	w->moment.event_from = w->moment.event_until = RESULT("g3")->event - 1;
	world_prove(w, &verdict);
	ck_assert_uint_eq(verdict.open_least, 4);
	ck_assert_uint_eq(verdict.open_most, 4);
	/* Exactly then: before or after. */
	BET("g3", 1)->changed_ms = WORLD_NOW_MS;
	w->moment.event_until++;
	world_prove(w, &verdict);
	ck_assert_uint_eq(verdict.open_least, 3);
	ck_assert_uint_eq(verdict.open_most, 5);
	/* A bet was placed later, and a result was delivered later. */
	world_make(w);
	w->moment.as_of = BET("g2", 2)->transaction_id - 1;
	RESULT("g1")->ended_ms = WORLD_NOW_MS + 5;
	world_prove(w, &verdict);
	ck_assert_uint_eq(verdict.open_least, 4);
	ck_assert_uint_eq(verdict.open_most, 4);
	ck_assert_uint_eq(verdict.problems, verdict.loose);
	/*
	 * Times in the future: the clock was set back since, so the time of their end is not
	 * known.
	 */
	world_make(w);
	BET("g3", 1)->changed_ms = world_round(w, "g3")->settled_ms = WORLD_NOW_MS + 3;
	RESULT("g1")->ended_ms = WORLD_NOW_MS + 3;
	w->read_ms = WORLD_NOW_MS + 2;
	world_prove(w, &verdict);
	ck_assert_uint_eq(verdict.open_least, 4);
	ck_assert_uint_eq(verdict.open_most, 6);
	ck_assert_uint_eq(verdict.problems, verdict.loose);
}
END_TEST

/* A counter that changed meanwhile proves nothing. */
START_TEST(what_was_parked_meanwhile_is_passed_over)
{
	static const uint64_t seed[2] = {1, 2};
	const struct proof_point point = {.as_of = 0};
	const struct proof_moment moment = {.as_of = 0};
	struct total total = {.casino_id = "alpha", .parked = 3};
	struct proof proof;

	proof_init(&proof, seed, &point, NULL, NULL);
	ck_assert(proof_add_dealer(&proof, &total, &moment));
	total.parked = 4;
	proof_waiting(&proof, &total);
	ck_assert_uint_eq(proof.problems, 0);
	proof_free(&proof);
}
END_TEST

Suite *proof_wagers_suite(void)
{
	Suite *suite = suite_create("proof_wagers");
	TCase *tcase = tcase_create("proof_wagers");

	tcase_add_test(tcase, a_sound_world_is_proved);
	tcase_add_test(tcase, settings_of_a_dealer_are_sound);
	tcase_add_loop_test(tcase, a_lie_is_reported, 0, sizeof(lies) / sizeof(lies[0]));
	tcase_add_loop_test(tcase, sets_that_differ_are_told, 0,
		sizeof(set_lies) / sizeof(set_lies[0]));
	tcase_add_test(tcase, an_adjustment_is_of_the_player);
	tcase_add_test(tcase, what_is_wrong_between_them_is_told);
	tcase_add_test(tcase, bets_under_way_are_compared);
	tcase_add_test(tcase, later_rows_are_left_out);
	tcase_add_test(tcase, what_ended_meanwhile_is_left_out);
	tcase_add_test(tcase, open_bets_are_those_of_the_moment);
	tcase_add_test(tcase, what_was_parked_meanwhile_is_passed_over);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
