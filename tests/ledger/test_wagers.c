/*
 * Tests group C in a transfer wallet: bets debit and rounds credit, each once.
 */
#include "case_wagers.h"

#include "ledger/outbox/outbox.h"

#include <stdio.h>
#include <string.h>

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
	placed = case_bet("b1", "g1", 30 * CREDIT);
	ck_assert_int_eq(placed.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(placed.bet.state, BET_ACCEPTED);
	ck_assert(placed.bet.has_balance);
	ck_assert_int_eq(placed.bet.balance, 70 * CREDIT);
	ck_assert_uint_gt(placed.bet.transaction_id, 0);
	ck_assert_int_eq(balance(), 70 * CREDIT);
	again = case_bet("b1", "g1", 30 * CREDIT);
	ck_assert(again.verdict.replay);
	again.verdict = placed.verdict;
	ck_assert_mem_eq(&placed, &again, sizeof(placed));
	won = case_settle("s1", "g1", RESULT_WIN, 50 * CREDIT);
	ck_assert_int_eq(won.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(won.bet_amount, 30 * CREDIT);
	ck_assert_int_eq(won.win_amount, 20 * CREDIT);
	ck_assert_int_eq(balance(), 120 * CREDIT);
	repeated = case_settle("s1", "g1", RESULT_WIN, 50 * CREDIT);
	ck_assert(repeated.verdict.replay);
	repeated.verdict = won.verdict;
	ck_assert_mem_eq(&won, &repeated, sizeof(won));
	/* The bet's answer stays unchanged. */
	again = case_bet("b1", "g1", 30 * CREDIT);
	ck_assert_int_eq(again.bet.state, BET_ACCEPTED);
	ck_assert_int_eq(balance(), 120 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(loss_refund_and_additions)
{
	struct bet_place_cmd insurance = case_bet_cmd("b2", "g1", 5 * CREDIT);
	struct round_settle_result result;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	insurance.addition = true;
	case_run(COMMAND_BET_PLACE, &insurance);
	result = case_settle("s0", "g1", RESULT_LOSS, 1 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INVALID_AMOUNT);
	result = case_settle("s1", "g1", RESULT_LOSS, 0);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(result.transaction_id, 0);
	ck_assert_int_eq(result.bet_amount, 30 * CREDIT);
	ck_assert_int_eq(result.addition_amount, 5 * CREDIT);
	ck_assert_int_eq(result.win_amount, -35 * CREDIT);
	ck_assert_int_eq(balance(), 65 * CREDIT);

	case_bet("b3", "g2", 20 * CREDIT);
	result = case_settle("s2", "g2", RESULT_REFUND, 19 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INVALID_AMOUNT);
	result = case_settle("s2", "g2", RESULT_REFUND, 20 * CREDIT);
	ck_assert_int_eq(result.payout_amount, 20 * CREDIT);
	ck_assert_int_eq(result.win_amount, 0);
	ck_assert_uint_gt(result.transaction_id, 0);
	ck_assert_int_eq(balance(), 65 * CREDIT);

	/* A win of 0 moves nothing, but it is a win and has a transaction id. */
	case_bet("b4", "g3", 20 * CREDIT);
	result = case_settle("s3", "g3", RESULT_WIN, 0);
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
	ck_assert_int_eq(case_settle("s0", "g1", RESULT_LOSS, 0).verdict.refusal,
		REFUSAL_GAME_NOT_FOUND);
	case_bet("b1", "g1", 10 * CREDIT);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_settle("s2", "g1", RESULT_WIN, CREDIT).verdict.refusal,
		REFUSAL_ALREADY_SETTLED);
	ck_assert_int_eq(case_bet("b2", "g1", CREDIT).verdict.refusal, REFUSAL_ALREADY_SETTLED);
	ck_assert_str_eq(case_settle("s1", "g1", RESULT_WIN, 2 * CREDIT).verdict.field,
		"payout_amount");
	ck_assert_str_eq(case_settle("s1", "g1", RESULT_LOSS, 0).verdict.field, "result");
	ck_assert_str_eq(case_settle("b1", "g1", RESULT_LOSS, 0).verdict.field, "operation");
	ck_assert_str_eq(case_bet("s1", "g1", CREDIT).verdict.field, "operation");
	ck_assert_str_eq(case_bet("b1", "g2", 10 * CREDIT).verdict.field, "game_id");
	ck_assert_str_eq(case_bet("b1", "g1", 11 * CREDIT).verdict.field, "bet_amount");
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
	result = case_bet("b1", "g1", 11 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(result.verdict.current_balance, 10 * CREDIT);
	case_in("alice", "in2", 10 * CREDIT);
	result = case_bet("b1", "g1", 11 * CREDIT);
	ck_assert(result.verdict.replay);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(case_bet("b2", "g1", 1).verdict.refusal, REFUSAL_INVALID_AMOUNT);
	case_suspend_player("alice", true);
	ck_assert_int_eq(case_bet("b2", "g1", CREDIT).verdict.refusal, REFUSAL_USER_SUSPENDED);
	case_suspend_player("alice", false);
	ck_assert_int_eq(case_bet("b2", "g1", CREDIT).verdict.refusal, REFUSAL_NONE);
	/* A placed bet must end, even if the player is suspended. */
	case_suspend_player("alice", true);
	case_suspend_dealer(true);
	ck_assert_int_eq(case_bet("b3", "g1", CREDIT).verdict.refusal, REFUSAL_DEALER_SUSPENDED);
	/* The round belongs to the client of its first bet. */
	cmd = case_bet_cmd("b9", "g1", CREDIT);
	case_suspend_dealer(false);
	case_suspend_player("alice", false);
	strcpy(cmd.client_id, "other");
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal,
		REFUSAL_GAME_NOT_FOUND);
	case_suspend_dealer(true);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_NONE);
	cmd = case_bet_cmd("b10", "g9", CREDIT);
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

/* The ledger itself refuses bets that no front end sends. They move nothing. */
START_TEST(bets_that_no_edge_sends)
{
	struct bet_place_cmd cmds[6];

	case_open(_i);
	case_in("alice", "in", 10 * CREDIT);
	for (int i = 0; i < 6; i++)
		cmds[i] = case_bet_cmd("b1", "g1", CREDIT);
	cmds[0].bet_amount = 0;
	cmds[1].bet_amount = -CREDIT;
	cmds[2].bet_amount = MONEY_MAX + 1;
	cmds[3].request_transaction_id[0] = '\0';
	cmds[4].game_id[0] = '\0';
	strcpy(cmds[5].client_id, "no name");
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmds[i])->result.verdict.refusal,
			REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_balance("alice").balance, 10 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(settlements_that_no_edge_sends)
{
	struct round_settle_cmd cmds[6];

	case_open(_i);
	case_in("alice", "in", 10 * CREDIT);
	case_bet("b1", "g1", CREDIT);
	for (int i = 0; i < 6; i++)
		cmds[i] = case_settle_cmd("s1", "g1", RESULT_WIN, 2 * CREDIT);
	cmds[0].result = RESULT_NONE;
	cmds[1].payout_amount = -CREDIT;
	cmds[2].payout_amount = MONEY_MAX + 1;
	cmds[3].request_transaction_id[0] = '\0';
	cmds[4].game_id[0] = '\0';
	strcpy(cmds[5].client_id, "no name");
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &cmds[i])->result.verdict.refusal,
			REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(balance(), 9 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

/* A payout that exceeds the room in the player's balance moves nothing; the round stays open. */
START_TEST(a_payout_that_does_not_fit)
{
	const money_t most = MONEY_MAX - MONEY_MAX % 100;

	case_open(_i);
	case_in("alice", "in", most);
	case_bet("b1", "g1", CREDIT);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, 2 * CREDIT).verdict.refusal,
		REFUSAL_BALANCE_LIMIT);
	ck_assert_int_eq(balance(), most - CREDIT);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(balance(), most);
	case_prove();
	case_close();
}
END_TEST

/* An id that settled a round settles no other one, whatever differs; the round's answer stays. */
START_TEST(an_id_settles_one_round)
{
	static const char *const fields[] = {"player", "player", "game_id", "result",
		"payout_amount"};
	struct round_settle_cmd cmds[5];
	struct round_settle_result refunded, again;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_player_add("demo", "bob");
	case_bet("b1", "g1", 10 * CREDIT);
	case_bet("b2", "g2", 10 * CREDIT);
	refunded = case_settle("s1", "g1", RESULT_REFUND, 0);
	ck_assert_int_eq(refunded.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(refunded.payout_amount, 10 * CREDIT);
	/* The payout of a refund may be present or omitted, also in the repeated call. */
	again = case_settle("s1", "g1", RESULT_REFUND, 0);
	ck_assert(again.verdict.replay);
	again = case_settle("s1", "g1", RESULT_REFUND, 10 * CREDIT);
	ck_assert(again.verdict.replay);
	ck_assert_int_eq(again.payout_amount, 10 * CREDIT);
	for (int i = 0; i < 5; i++)
		cmds[i] = case_settle_cmd("s1", "g1", RESULT_REFUND, 0);
	strcpy(cmds[0].player.user_id, "nobody");
	strcpy(cmds[1].player.user_id, "bob");
	strcpy(cmds[2].game_id, "g2");
	cmds[3].result = RESULT_WIN;
	cmds[4].payout_amount = 9 * CREDIT;
	for (int i = 0; i < 5; i++) {
		again = case_run(COMMAND_ROUND_SETTLE, &cmds[i])->result.round_settle;
		ck_assert_int_eq(again.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
		ck_assert_str_eq(again.verdict.field, fields[i]);
	}
	strcpy(cmds[0].request_transaction_id, "s2");
	ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &cmds[0])->result.verdict.refusal,
		REFUSAL_USER_NOT_FOUND);
	ck_assert_int_eq(balance(), 90 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

/* A result whose objects do not fit into a body for the dealer settles nothing. */
START_TEST(a_result_fits_a_body)
{
	static uint8_t object[OUTBOX_OBJECTS_MAX / 3 + 1];
	struct round_settle_cmd cmd = case_settle_cmd("s1", "g1", RESULT_WIN, CREDIT);
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = case_bet("b1", "g1", CREDIT);
	case_end(&placed.send, CALLBACK_SUCCESS);
	memset(object, ' ', sizeof(object));
	object[0] = '{';
	object[sizeof(object) - 1] = '}';
	cmd.user_bet = cmd.game_result = cmd.user_bet_result =
		(struct bytes){object, sizeof(object)};
	ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &cmd)->result.verdict.refusal,
		REFUSAL_PAYLOAD_TOO_LARGE);
	ck_assert_ptr_nonnull(
		strstr(case_run(COMMAND_ROUND_SETTLE, &cmd)->result.verdict.detail, "63488"));
	cmd = case_settle_cmd("s1", "g1", RESULT_WIN, CREDIT);
	ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &cmd)->result.verdict.refusal,
		REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_player_is_named_by_id)
{
	struct bet_place_cmd cmd = case_bet_cmd("b1", "g1", CREDIT);
	struct player_balance_cmd ask;
	struct slot *slot;

	case_open(_i);
	case_in("alice", "in", 10 * CREDIT);
	memset(&cmd.player, 0, sizeof(cmd.player));
	strcpy(cmd.player.player_id, case_balance("alice").player_id);
	memset(&ask, 0, sizeof(ask));
	ask.player = cmd.player;
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal, REFUSAL_NONE);
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
		ck_assert_int_eq(case_bet(id, "g1", CREDIT).verdict.refusal, REFUSAL_NONE);
	}
	ck_assert_int_eq(case_bet("b", "g1", CREDIT).verdict.refusal, REFUSAL_ROUND_FULL);
	result = case_settle("s1", "g1", RESULT_WIN, 300 * CREDIT);
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

/* Asks for @player_ids, which follow each other. Returns a digit for each. */
static const char *find_players(const char *player_ids)
{
	static char found[PLAYER_FIND_MAX + 1];
	const struct player_find_cmd cmd = {
		.player_ids = {(const uint8_t *)player_ids, (uint32_t)strlen(player_ids)}};
	struct slot *slot = case_run(COMMAND_PLAYER_FIND, &cmd);
	const struct player_find_result *result = &slot->result.player_find;
	struct buffer out;

	/* Reads run when the answer is made. */
	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, slot, 1, &out);
	buffer_free(&out);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	if (result->verdict.refusal != REFUSAL_NONE)
		return "refused";
	for (uint32_t i = 0; i < result->found.len; i++)
		found[i] = (char)('0' + result->found.data[i]);
	found[result->found.len] = '\0';
	return found;
}

/* A worker with several cells asks the ledger of the first character first, and finds the player there. */
START_TEST(a_new_player_has_the_character_of_the_ledger)
{
	struct player_register_cmd cmd;
	struct player_register_result first, again;

	case_open(_i);
	case_ledger.ws.id_number = 15;
	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, "bob");
	strcpy(cmd.player_id, "bbbbbbbbbbbbbbbbbbbb");
	first = case_run(COMMAND_PLAYER_REGISTER, &cmd)->result.player_register;
	ck_assert_str_eq(first.player_id, "pbbbbbbbbbbbbbbbbbbb");
	ck_assert(first.created);
	again = case_run(COMMAND_PLAYER_REGISTER, &cmd)->result.player_register;
	ck_assert_str_eq(again.player_id, first.player_id);
	ck_assert(again.created);
	ck_assert_str_eq(find_players("bbbbbbbbbbbbbbbbbbbbpbbbbbbbbbbbbbbbbbbb"), "01");
	ck_assert_str_eq(find_players("bbb"), "refused");
	ck_assert_str_eq(find_players(""), "");
	case_prove();
	case_close();
}
END_TEST

static money_t staked(void)
{
	return case_balance("alice").staked;
}

/* A3 shows the stakes of bets whose round has no result. */
START_TEST(a_stake_is_shown_until_its_round_is_settled)
{
	struct bet_place_cmd insurance = case_bet_cmd("b3", "g2", 5 * CREDIT);
	struct bet_cancel_cmd cancel = case_cancel_cmd("c1", "b4", "g2");

	case_open(_i);
	case_in("alice", "in", 1000 * CREDIT);
	ck_assert_int_eq(staked(), 0);
	case_bet("b1", "g1", 30 * CREDIT);
	case_bet("b2", "g2", 20 * CREDIT);
	insurance.addition = true;
	case_run(COMMAND_BET_PLACE, &insurance);
	ck_assert_int_eq(staked(), 55 * CREDIT);
	ck_assert_int_eq(balance(), 945 * CREDIT);
	/* What is refused is not staked, and a repeat is staked once. */
	case_bet("b2", "g2", 20 * CREDIT);
	case_bet("b9", "g1", 2000 * CREDIT);
	case_bet("b4", "g2", 7 * CREDIT);
	ck_assert_int_eq(staked(), 62 * CREDIT);
	case_run(COMMAND_BET_CANCEL, &cancel);
	ck_assert_int_eq(staked(), 55 * CREDIT);
	case_settle("s1", "g1", RESULT_WIN, 90 * CREDIT);
	ck_assert_int_eq(staked(), 25 * CREDIT);
	case_settle("s2", "g2", RESULT_REFUND, 0);
	ck_assert_int_eq(staked(), 0);
	case_bet("b5", "g3", 1 * CREDIT);
	case_settle("s3", "g3", RESULT_LOSS, 0);
	ck_assert_int_eq(staked(), 0);
	case_prove();
	case_close();
}
END_TEST

/* The credit of a seamless player is at the dealer. */
START_TEST(a_seamless_player_has_no_stake_here)
{
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = case_bet("b1", "g1", 30 * CREDIT);
	ck_assert_int_eq(staked(), 0);
	case_end(&placed.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(staked(), 0);
	case_close();
}
END_TEST

/* The player is created by the same batch: nothing is read that was not declared. */
START_TEST(a_new_player_has_no_stake)
{
	struct slot slots[2] = {{.command = COMMAND_PLAYER_REGISTER}, {.command = COMMAND_BALANCE}};
	uint64_t commits;

	case_open(_i);
	strcpy(slots[0].cmd.player_register.casino_id, "demo");
	strcpy(slots[0].cmd.player_register.user_id, "bob");
	strcpy(slots[0].cmd.player_register.player_id, "bobbobbobbobbobbobbb");
	strcpy(slots[1].cmd.balance.casino_id, "demo");
	strcpy(slots[1].cmd.balance.user_id, "bob");
	commits = case_ledger.figures.commits;
	case_run_batch(slots, 2);
	ck_assert_uint_eq(case_ledger.figures.commits, commits + 1);
	ck_assert_int_eq(slots[1].outcome, FRAME_DONE);
	ck_assert_int_eq(slots[1].result.verdict.refusal, REFUSAL_NONE);
	ck_assert_str_eq(slots[1].result.balance.player_id, "bobbobbobbobbobbobbb");
	ck_assert_int_eq(slots[1].result.balance.staked, 0);
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
	tcase_add_loop_test(tc, bets_that_no_edge_sends, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, settlements_that_no_edge_sends, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_payout_that_does_not_fit, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, an_id_settles_one_round, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_result_fits_a_body, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_player_is_named_by_id, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, rounds_have_room_for_256_bets, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, players_register_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_new_player_has_the_character_of_the_ledger, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_stake_is_shown_until_its_round_is_settled, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_seamless_player_has_no_stake_here, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_new_player_has_no_stake, 0, CASE_STORE_COUNT);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
