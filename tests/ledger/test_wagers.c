/*
 * Group C in a transfer wallet: bets debit, rounds credit, each once.
 */
#include "case.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define CREDIT MONEY_UNITS_PER_CREDIT

static struct bet_place_cmd bet_cmd(const char *id, const char *game, money_t amount, bool addition)
{
	struct bet_place_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.client_id, "slots");
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), game);
	cmd.bet_amount = amount;
	cmd.addition = addition;
	strcpy(cmd.remark, "a remark");
	cmd.user_bet = (struct bytes){(const uint8_t *)"{\"line\":1}", 10};
	return cmd;
}

static struct bet_place_result bet(const char *id, const char *game, money_t amount)
{
	struct bet_place_cmd cmd = bet_cmd(id, game, amount, false);

	return case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
}

static struct round_settle_cmd settle_cmd(const char *id, const char *game,
	enum round_result result, money_t payout)
{
	struct round_settle_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.client_id, "slots");
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), game);
	cmd.result = result;
	cmd.payout_amount = payout;
	return cmd;
}

static struct round_settle_result settle(const char *id, const char *game,
	enum round_result result, money_t payout)
{
	struct round_settle_cmd cmd = settle_cmd(id, game, result, payout);

	return case_run(COMMAND_ROUND_SETTLE, &cmd)->result.round_settle;
}

static money_t balance(void)
{
	return case_balance("alice").balance;
}

START_TEST(bet_and_win)
{
	struct bet_place_result placed, again;
	struct round_settle_result won, repeated;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	placed = bet("b1", "g1", 30 * CREDIT);
	ck_assert_int_eq(placed.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(placed.bet.state, BET_ACCEPTED);
	ck_assert(placed.bet.has_balance);
	ck_assert_int_eq(placed.bet.balance, 70 * CREDIT);
	ck_assert_uint_gt(placed.bet.transaction_id, 0);
	ck_assert_int_eq(balance(), 70 * CREDIT);
	again = bet("b1", "g1", 30 * CREDIT);
	ck_assert(again.verdict.replay);
	again.verdict = placed.verdict;
	ck_assert_mem_eq(&placed, &again, sizeof(placed));
	won = settle("s1", "g1", RESULT_WIN, 50 * CREDIT);
	ck_assert_int_eq(won.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(won.bet_amount, 30 * CREDIT);
	ck_assert_int_eq(won.win_amount, 20 * CREDIT);
	ck_assert_int_eq(balance(), 120 * CREDIT);
	repeated = settle("s1", "g1", RESULT_WIN, 50 * CREDIT);
	ck_assert(repeated.verdict.replay);
	repeated.verdict = won.verdict;
	ck_assert_mem_eq(&won, &repeated, sizeof(won));
	/* The bet's answer stays what it was. */
	again = bet("b1", "g1", 30 * CREDIT);
	ck_assert_int_eq(again.bet.state, BET_ACCEPTED);
	ck_assert_int_eq(balance(), 120 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(loss_refund_and_additions)
{
	struct bet_place_cmd insurance = bet_cmd("b2", "g1", 5 * CREDIT, true);
	struct round_settle_result result;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	bet("b1", "g1", 30 * CREDIT);
	case_run(COMMAND_BET_PLACE, &insurance);
	result = settle("s0", "g1", RESULT_LOSS, 1 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INVALID_AMOUNT);
	result = settle("s1", "g1", RESULT_LOSS, 0);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(result.transaction_id, 0);
	ck_assert_int_eq(result.bet_amount, 30 * CREDIT);
	ck_assert_int_eq(result.addition_amount, 5 * CREDIT);
	ck_assert_int_eq(result.win_amount, -35 * CREDIT);
	ck_assert_int_eq(balance(), 65 * CREDIT);

	bet("b3", "g2", 20 * CREDIT);
	result = settle("s2", "g2", RESULT_REFUND, 19 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INVALID_AMOUNT);
	result = settle("s2", "g2", RESULT_REFUND, 20 * CREDIT);
	ck_assert_int_eq(result.payout_amount, 20 * CREDIT);
	ck_assert_int_eq(result.win_amount, 0);
	ck_assert_uint_gt(result.transaction_id, 0);
	ck_assert_int_eq(balance(), 65 * CREDIT);

	/* A win of nothing moves nothing, but is a win: it has a transaction id. */
	bet("b4", "g3", 20 * CREDIT);
	result = settle("s3", "g3", RESULT_WIN, 0);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_gt(result.transaction_id, 0);
	ck_assert_int_eq(balance(), 45 * CREDIT);
	case_close();
}
END_TEST

START_TEST(a_round_is_settled_once)
{
	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	ck_assert_int_eq(
		settle("s0", "g1", RESULT_LOSS, 0).verdict.refusal, REFUSAL_GAME_NOT_FOUND);
	bet("b1", "g1", 10 * CREDIT);
	ck_assert_int_eq(settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(
		settle("s2", "g1", RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_ALREADY_SETTLED);
	ck_assert_int_eq(bet("b2", "g1", CREDIT).verdict.refusal, REFUSAL_ALREADY_SETTLED);
	ck_assert_str_eq(settle("s1", "g1", RESULT_WIN, 2 * CREDIT).verdict.field, "payout_amount");
	ck_assert_str_eq(settle("s1", "g1", RESULT_LOSS, 0).verdict.field, "result");
	ck_assert_str_eq(settle("b1", "g1", RESULT_LOSS, 0).verdict.field, "operation");
	ck_assert_str_eq(bet("s1", "g1", CREDIT).verdict.field, "operation");
	ck_assert_str_eq(bet("b1", "g2", 10 * CREDIT).verdict.field, "game_id");
	ck_assert_str_eq(bet("b1", "g1", 11 * CREDIT).verdict.field, "bet_amount");
	ck_assert_int_eq(balance(), 91 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(bets_are_refused)
{
	struct bet_place_cmd cmd;
	struct bet_place_result result;

	case_open(_i);
	case_in("alice", "in", 10 * CREDIT);
	result = bet("b1", "g1", 11 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(result.verdict.current_balance, 10 * CREDIT);
	case_in("alice", "in2", 10 * CREDIT);
	result = bet("b1", "g1", 11 * CREDIT);
	ck_assert(result.verdict.replay);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(bet("b2", "g1", 1).verdict.refusal, REFUSAL_INVALID_AMOUNT);
	case_suspend_player("alice", true);
	ck_assert_int_eq(bet("b2", "g1", CREDIT).verdict.refusal, REFUSAL_USER_SUSPENDED);
	case_suspend_player("alice", false);
	ck_assert_int_eq(bet("b2", "g1", CREDIT).verdict.refusal, REFUSAL_NONE);
	/* What was staked must end, suspended or not. */
	case_suspend_player("alice", true);
	case_suspend_dealer(true);
	ck_assert_int_eq(bet("b3", "g1", CREDIT).verdict.refusal, REFUSAL_DEALER_SUSPENDED);
	/* The round is the client's of its first bet. */
	cmd = bet_cmd("b9", "g1", CREDIT, false);
	case_suspend_dealer(false);
	case_suspend_player("alice", false);
	strcpy(cmd.client_id, "other");
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal,
		REFUSAL_GAME_NOT_FOUND);
	case_suspend_dealer(true);
	ck_assert_int_eq(settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_NONE);
	cmd = bet_cmd("b10", "g9", CREDIT, false);
	strcpy(cmd.player.casino_id, "nowhere");
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal,
		REFUSAL_DEALER_NOT_FOUND);
	cmd.player = (struct player_ref){.player_id = "zzzzzzzzzzzzzzzzzzzz"};
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal,
		REFUSAL_USER_NOT_FOUND);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_player_is_named_by_id)
{
	struct bet_place_cmd cmd = bet_cmd("b1", "g1", CREDIT, false);
	struct player_balance_cmd ask;
	struct slot *slot;

	case_open(_i);
	case_in("alice", "in", 10 * CREDIT);
	memset(&cmd.player, 0, sizeof(cmd.player));
	strcpy(cmd.player.player_id, case_balance("alice").player_id);
	memset(&ask, 0, sizeof(ask));
	ask.player = cmd.player;
	ck_assert_int_eq(
		case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	ck_assert(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.replay);
	slot = case_run(COMMAND_PLAYER_BALANCE, &ask);
	ck_assert_int_eq(slot->result.player_balance.balance, 9 * CREDIT);
	ck_assert_str_eq(slot->result.player_balance.user_id, "alice");
	case_close();
}
END_TEST

START_TEST(rounds_have_room_for_256_bets)
{
	char id[32];
	struct round_settle_result result;

	case_open(_i);
	case_in("alice", "in", 1000 * CREDIT);
	for (unsigned int i = 0; i < ROUND_BETS_MAX; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		ck_assert_int_eq(bet(id, "g1", CREDIT).verdict.refusal, REFUSAL_NONE);
	}
	ck_assert_int_eq(bet("b", "g1", CREDIT).verdict.refusal, REFUSAL_ROUND_FULL);
	result = settle("s1", "g1", RESULT_WIN, 300 * CREDIT);
	ck_assert_int_eq(result.bet_amount, 256 * CREDIT);
	ck_assert_int_eq(result.win_amount, 44 * CREDIT);
	ck_assert_int_eq(balance(), 1044 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(players_register_once)
{
	struct player_register_cmd cmd;
	struct player_register_result first, again;

	case_open(_i);
	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, "bob");
	strcpy(cmd.player_id, "bbbbbbbbbbbbbbbbbbbb");
	first = case_run(COMMAND_PLAYER_REGISTER, &cmd)->result.player_register;
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	ck_assert(first.created);
	strcpy(cmd.player_id, "cccccccccccccccccccc");
	again = case_run(COMMAND_PLAYER_REGISTER, &cmd)->result.player_register;
	ck_assert(!again.created);
	ck_assert_str_eq(again.player_id, "bbbbbbbbbbbbbbbbbbbb");
	strcpy(cmd.casino_id, "nowhere");
	ck_assert_int_eq(case_run(COMMAND_PLAYER_REGISTER, &cmd)->result.verdict.refusal,
		REFUSAL_DEALER_NOT_FOUND);
	case_prove();
	case_close();
}
END_TEST

Suite *wagers_suite(void)
{
	Suite *suite = suite_create("wagers");
	TCase *tc = tcase_create("wagers");

	tcase_add_loop_test(tc, bet_and_win, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, loss_refund_and_additions, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_round_is_settled_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, bets_are_refused, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_player_is_named_by_id, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, rounds_have_room_for_256_bets, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, players_register_once, 0, CASE_STORE_COUNT);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
