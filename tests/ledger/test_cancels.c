/*
 * Tests the cancellation of one bet: each bet ends once, its stake is returned once, and a key that
 * was cancelled before its bet came is never used.
 */
#include "case_wagers.h"

#include "base/text.h"

#include <string.h>

static struct bet_cancel_result cancel(const char *id, const char *bet, const char *game)
{
	struct bet_cancel_cmd cmd = case_cancel_cmd(id, bet, game);

	return case_run(COMMAND_BET_CANCEL, &cmd)->result.bet_cancel;
}

static money_t balance(void)
{
	return case_balance("alice").balance;
}

START_TEST(a_stake_is_credited_back)
{
	struct bet_cancel_result first, again;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_bet("b2", "g1", 20 * CREDIT);
	first = cancel("c1", "b1", "g1");
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(first.state, BET_REFUNDED);
	ck_assert_uint_gt(first.transaction_id, 0);
	ck_assert_uint_eq(first.send.event, 0);
	ck_assert_int_eq(balance(), 80 * CREDIT);
	again = cancel("c1", "b1", "g1");
	ck_assert(again.verdict.replay);
	again.verdict = first.verdict;
	ck_assert_mem_eq(&first, &again, sizeof(first));
	/* Another cancellation of it moves nothing. */
	ck_assert_int_eq(cancel("c2", "b1", "g1").state, BET_REFUNDED);
	ck_assert_int_eq(balance(), 80 * CREDIT);
	ck_assert_int_eq(case_bet("b1", "g1", 30 * CREDIT).verdict.refusal, REFUSAL_BET_CANCELLED);
	case_prove();
	/* The other bet of the round stays, and only its stake can be refunded. */
	ck_assert_int_eq(case_settle("s0", "g1", RESULT_REFUND, 50 * CREDIT).verdict.refusal,
		REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, 25 * CREDIT).bet_amount, 20 * CREDIT);
	ck_assert_int_eq(cancel("c3", "b2", "g1").verdict.refusal, REFUSAL_ALREADY_SETTLED);
	ck_assert_int_eq(balance(), 105 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_late_bet_cannot_land)
{
	struct bet_cancel_result first;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	first = cancel("c1", "b1", "g1");
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(first.state, BET_REJECTED);
	ck_assert_uint_eq(first.transaction_id, 0);
	ck_assert_int_eq(case_bet("b1", "g1", 30 * CREDIT).verdict.refusal, REFUSAL_BET_CANCELLED);
	/* Whatever the late call says. */
	ck_assert_int_eq(case_bet("b1", "g2", 5 * CREDIT).verdict.refusal, REFUSAL_BET_CANCELLED);
	ck_assert(cancel("c1", "b1", "g1").verdict.replay);
	ck_assert_int_eq(cancel("c2", "b1", "g1").state, BET_REJECTED);
	ck_assert_int_eq(balance(), 100 * CREDIT);
	/* A bet that was refused for lack of credit took no stake. */
	case_bet("b2", "g1", 200 * CREDIT);
	ck_assert_int_eq(cancel("c3", "b2", "g1").state, BET_REJECTED);
	case_prove();
	case_close();
}
END_TEST

/* Both orders within one batch: the bet first, and its cancellation first. */
START_TEST(in_one_batch)
{
	struct bet_place_cmd bet = case_bet_cmd("b1", "g1", 30 * CREDIT);
	struct bet_cancel_cmd cmd = case_cancel_cmd("c1", "b1", "g1");
	const bool bet_first = _i & 1;
	static struct slot slots[2];

	case_open(_i / 2);
	case_in("alice", "in", 100 * CREDIT);
	memset(slots, 0, sizeof(slots));
	slots[bet_first ? 0 : 1].command = COMMAND_BET_PLACE;
	slots[bet_first ? 0 : 1].cmd.bet_place = bet;
	slots[bet_first ? 1 : 0].command = COMMAND_BET_CANCEL;
	slots[bet_first ? 1 : 0].cmd.bet_cancel = cmd;
	case_run_batch(slots, 2);
	ck_assert_int_eq(slots[bet_first ? 0 : 1].result.bet_place.verdict.refusal,
		bet_first ? REFUSAL_NONE : REFUSAL_BET_CANCELLED);
	ck_assert_int_eq(slots[bet_first ? 1 : 0].result.bet_cancel.state,
		bet_first ? BET_REFUNDED : BET_REJECTED);
	ck_assert_int_eq(balance(), 100 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(keys_do_not_mix)
{
	struct bet_cancel_cmd cmd;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_player_add("demo", "bob");
	case_bet("b1", "g1", 30 * CREDIT);
	case_bet("b2", "g2", 10 * CREDIT);
	case_settle("s1", "g2", RESULT_LOSS, 0);
	ck_assert_str_eq(cancel("c1", "b1", "g2").verdict.field, "game_id");
	ck_assert_str_eq(cancel("c1", "s1", "g2").verdict.field, "bet_request_transaction_id");
	ck_assert_str_eq(cancel("b1", "b2", "g2").verdict.field, "operation");
	cmd = case_cancel_cmd("c1", "b1", "g1");
	text_copy(cmd.player.user_id, sizeof(cmd.player.user_id), "bob");
	ck_assert_str_eq(case_run(COMMAND_BET_CANCEL, &cmd)->result.bet_cancel.verdict.field,
		"player");
	text_copy(cmd.player.user_id, sizeof(cmd.player.user_id), "carol");
	ck_assert_int_eq(case_run(COMMAND_BET_CANCEL, &cmd)->result.bet_cancel.verdict.refusal,
		REFUSAL_USER_NOT_FOUND);
	/* The key of another client is another key. */
	cmd = case_cancel_cmd("c9", "b1", "g1");
	text_copy(cmd.client_id, sizeof(cmd.client_id), "cards");
	ck_assert_int_eq(case_run(COMMAND_BET_CANCEL, &cmd)->result.bet_cancel.state, BET_REJECTED);
	ck_assert_int_eq(balance(), 60 * CREDIT);
	ck_assert_int_eq(cancel("c1", "b1", "g1").state, BET_REFUNDED);
	ck_assert_str_eq(cancel("c1", "b2", "g1").verdict.field, "bet_request_transaction_id");
	ck_assert_str_eq(cancel("c1", "b1", "g2").verdict.field, "game_id");
	/* The key of a cancellation is none of a bet, nor of a result. */
	ck_assert_str_eq(cancel("c2", "c1", "g1").verdict.field, "bet_request_transaction_id");
	ck_assert_str_eq(case_bet("c1", "g1", CREDIT).verdict.field, "operation");
	ck_assert_str_eq(case_settle("c1", "g1", RESULT_LOSS, 0).verdict.field, "operation");
	ck_assert_int_eq(balance(), 90 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_refund_at_once)
{
	struct bet_place_result placed;
	struct bet_cancel_result cancelled;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = case_bet("b1", "g1", 10 * CREDIT);
	ck_assert_int_eq(cancel("c0", "b1", "g1").verdict.refusal, REFUSAL_BET_IN_PROGRESS);
	case_end(&placed.send, CALLBACK_SUCCESS);
	cancelled = cancel("c1", "b1", "g1");
	ck_assert_int_eq(cancelled.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(cancelled.state, BET_REFUNDING);
	ck_assert_int_eq(cancelled.send.kind, CALLBACK_BETTING_REFUND);
	ck_assert_uint_eq(cancelled.transaction_id, placed.bet.transaction_id);
	case_prove();
	/* The result comes too late for the only bet. */
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal,
		REFUSAL_BET_NOT_FOUND);
	/* The first attempt fails, so that the sweeper sends it again. */
	ck_assert_int_eq(case_end(&cancelled.send, CALLBACK_UNKNOWN).state, CALLBACK_DUE);
	ck_assert_int_eq(cancel("c1", "b1", "g1").state, BET_REFUNDING);
	case_pass(MINUTE);
	{
		struct callback_claim_result claim = case_claim(cancelled.send.event);

		ck_assert_int_eq(claim.verdict.refusal, REFUSAL_NONE);
		ck_assert_int_eq(case_end(&claim.send, CALLBACK_SUCCESS).state, CALLBACK_DELIVERED);
	}
	ck_assert_int_eq(cancel("c1", "b1", "g1").state, BET_REFUNDED);
	ck_assert_int_eq(case_bet("b1", "g1", 10 * CREDIT).verdict.refusal, REFUSAL_BET_CANCELLED);
	case_prove();
	case_close();
}
END_TEST

/* Ends @grant with the dealer's error id @id. */
static struct callback_end_result end_with(const struct callback_grant *grant, const char *id)
{
	struct callback_end_cmd end = case_end_cmd(grant, CALLBACK_REFUSED);

	text_copy(end.outcome.dealer_error_id, sizeof(end.outcome.dealer_error_id), id);
	return case_run(COMMAND_CALLBACK_END, &end)->result.callback_end;
}

static void keep_event(void *event, const void *due)
{
	*(uint64_t *)event = ((const struct due *)due)->event;
}

/* A dealer that accepted a bet has its stake, even if it does not find the bet any more. */
START_TEST(an_accepted_bet_is_not_unknown)
{
	struct bet_place_result placed;
	struct bet_cancel_result cancelled;
	struct callback_claim_result claim;
	uint64_t event = 0;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = case_bet("b1", "g1", 10 * CREDIT);
	case_end(&placed.send, CALLBACK_SUCCESS);
	cancelled = cancel("c1", "b1", "g1");
	ck_assert_int_eq(end_with(&cancelled.send, "bet_not_found").state, CALLBACK_DUE);
	ck_assert_int_eq(cancel("c1", "b1", "g1").state, BET_REFUNDING);
	case_prove();
	case_pass(MINUTE);
	claim = case_claim(cancelled.send.event);
	ck_assert_int_eq(case_end(&claim.send, CALLBACK_SUCCESS).state, CALLBACK_DELIVERED);
	/* After a timeout, the dealer may never have had the bet. */
	placed = case_bet("b2", "g1", 10 * CREDIT);
	case_end(&placed.send, CALLBACK_UNKNOWN);
	cancelled = cancel("c2", "b2", "g1");
	ck_assert_int_eq(cancelled.state, BET_REFUNDING);
	case_pass(2 * MINUTE);
	case_list(RECORD_DUE, false, 10, keep_event, &event);
	claim = case_claim(event);
	ck_assert_int_eq(end_with(&claim.send, "bet_not_found").state, CALLBACK_DELIVERED);
	ck_assert_int_eq(cancel("c2", "b2", "g1").state, BET_REFUNDED);
	case_prove();
	case_close();
}
END_TEST

/* A bet that the dealer refused, or whose outcome is unknown, has ended without the stake. */
START_TEST(bets_that_ended)
{
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = case_bet("b1", "g1", 10 * CREDIT);
	case_end(&placed.send, CALLBACK_REFUSED);
	ck_assert_int_eq(cancel("c1", "b1", "g1").state, BET_REJECTED);
	placed = case_bet("b2", "g1", 10 * CREDIT);
	case_end(&placed.send, CALLBACK_UNKNOWN);
	ck_assert_int_eq(cancel("c2", "b2", "g1").state, BET_REFUNDING);
	/* It was not cancelled but timed out. */
	ck_assert_int_eq(case_bet("b2", "g1", 10 * CREDIT).verdict.refusal, REFUSAL_DEALER_TIMEOUT);
	case_prove();
	case_close();
}
END_TEST

Suite *cancels_suite(void)
{
	Suite *suite = suite_create("cancels");
	TCase *tests = tcase_create("cancels");

	tcase_add_loop_test(tests, a_stake_is_credited_back, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_late_bet_cannot_land, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, in_one_batch, 0, 2 * CASE_STORE_COUNT);
	tcase_add_loop_test(tests, keys_do_not_mix, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_refund_at_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, an_accepted_bet_is_not_unknown, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, bets_that_ended, 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tests);
	return suite;
}
