/*
 * Tests A1 to A3: keys, replays, conflicts and the order of checks (contract, "Idempotency" and
 * "Order of checks").
 */
#include "case.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define CREDIT MONEY_UNITS_PER_CREDIT

START_TEST(in_and_out)
{
	struct transfer_result in, out;

	case_open(_i);
	in = case_in("alice", "r1", 100 * CREDIT);
	ck_assert_int_eq(in.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(in.amount, 100 * CREDIT);
	ck_assert_int_eq(in.before_balance, 0);
	ck_assert_int_eq(in.current_balance, 100 * CREDIT);
	ck_assert_str_eq(in.currency, "thb");
	ck_assert_str_eq(in.user_id, "alice");
	ck_assert_str_eq(in.request_transaction_id, "r1");
	ck_assert_uint_eq(strlen(in.player_id), 20);
	ck_assert_uint_eq(in.transaction_id, 1);
	out = case_out("alice", "r2", 30 * CREDIT);
	ck_assert_int_eq(out.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(out.amount, 30 * CREDIT);
	ck_assert_int_eq(out.before_balance, 100 * CREDIT);
	ck_assert_int_eq(out.current_balance, 70 * CREDIT);
	ck_assert_uint_eq(out.transaction_id, 2);
	ck_assert_int_eq(case_balance("alice").balance, 70 * CREDIT);
	ck_assert_int_eq(case_out("alice", "r3", 70 * CREDIT).current_balance, 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(repeat_answers_the_stored_answer)
{
	struct transfer_result first, again;

	case_open(_i);
	first = case_in("alice", "r1", 100 * CREDIT);
	case_in("alice", "r2", 5 * CREDIT);
	case_out("alice", "r3", 50 * CREDIT);
	again = case_in("alice", "r1", 100 * CREDIT);
	ck_assert(again.verdict.replay);
	again.verdict = first.verdict;
	ck_assert_mem_eq(&first, &again, sizeof(first));
	again = case_out("alice", "r3", 50 * CREDIT);
	ck_assert(again.verdict.replay);
	ck_assert_int_eq(again.before_balance, 105 * CREDIT);
	ck_assert_int_eq(again.current_balance, 55 * CREDIT);
	ck_assert_int_eq(case_balance("alice").balance, 55 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(other_content_is_a_conflict)
{
	struct transfer_result result;

	case_open(_i);
	case_player_add("demo", "bob");
	case_in("alice", "r1", 100 * CREDIT);
	result = case_out("alice", "r1", 100 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(result.verdict.field, "direction");
	result = case_in("bob", "r1", 100 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(result.verdict.field, "user_id");
	result = case_in("nobody", "r1", 100 * CREDIT);
	ck_assert_str_eq(result.verdict.field, "user_id");
	result = case_in("alice", "r1", 100 * CREDIT + 1);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(result.verdict.field, "amount");
	ck_assert(!result.verdict.replay);
	ck_assert_int_eq(case_balance("alice").balance, 100 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(insufficient_balance_is_recorded)
{
	struct transfer_result result;

	case_open(_i);
	case_in("alice", "r1", 10 * CREDIT);
	result = case_out("alice", "r2", 11 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(result.verdict.current_balance, 10 * CREDIT);
	ck_assert(!result.verdict.replay);
	case_in("alice", "r3", 100 * CREDIT);
	result = case_out("alice", "r2", 11 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(result.verdict.current_balance, 10 * CREDIT);
	ck_assert(result.verdict.replay);
	result = case_out("alice", "r2", 12 * CREDIT);
	ck_assert_str_eq(result.verdict.field, "amount");
	ck_assert_int_eq(case_balance("alice").balance, 110 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

/*
 * contract, "Consumption of keys": these consume no key, so the same id works after the obstacle is
 * removed.
 */
START_TEST(other_refusals_consume_no_key)
{
	struct dealer seamless = {.mode = WALLET_SEAMLESS}, transfer = {.mode = WALLET_TRANSFER};

	case_open(_i);
	ck_assert_int_eq(case_in("bob", "r1", CREDIT).verdict.refusal, REFUSAL_USER_NOT_FOUND);
	case_player_add("demo", "bob");
	ck_assert_int_eq(case_in("bob", "r1", CREDIT).verdict.refusal, REFUSAL_NONE);

	case_suspend_player("alice", true);
	ck_assert_int_eq(case_in("alice", "r2", CREDIT).verdict.refusal, REFUSAL_USER_SUSPENDED);
	case_suspend_player("alice", false);
	case_suspend_dealer(true);
	ck_assert_int_eq(case_in("alice", "r2", CREDIT).verdict.refusal, REFUSAL_DEALER_SUSPENDED);
	case_suspend_dealer(false);
	ck_assert_int_eq(case_in("alice", "r2", CREDIT / 1000).verdict.refusal,
		REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(case_in("alice", "r2", CREDIT).verdict.refusal, REFUSAL_NONE);

	case_out("alice", "r4", CREDIT);
	case_out("bob", "r5", CREDIT);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &seamless).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_in("alice", "r6", CREDIT).verdict.refusal, REFUSAL_WRONG_WALLET_MODE);
	ck_assert_int_eq(case_balance("alice").balance, 0);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &transfer).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_in("alice", "r6", CREDIT).verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

START_TEST(balance_has_a_limit)
{
	const money_t limit = MONEY_MAX - MONEY_MAX % 100;

	case_open(_i);
	ck_assert_int_eq(case_in("alice", "r1", limit).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_in("alice", "r2", CREDIT).verdict.refusal, REFUSAL_BALANCE_LIMIT);
	case_out("alice", "r3", CREDIT);
	ck_assert_int_eq(case_in("alice", "r2", CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_balance("alice").balance, limit);
	case_prove();
	case_close();
}
END_TEST

/* A replay gets the same answer, whatever has changed since. */
START_TEST(replay_comes_before_everything)
{
	struct transfer_result result;

	case_open(_i);
	case_in("alice", "r1", CREDIT);
	case_suspend_dealer(true);
	case_suspend_player("alice", true);
	result = case_in("alice", "r1", CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert(result.verdict.replay);
	ck_assert_int_eq(case_in("alice", "r1", 2 * CREDIT).verdict.refusal,
		REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_int_eq(case_balance("alice").verdict.refusal, REFUSAL_NONE);
	case_close();
}
END_TEST

/*
 * Order of checks: suspension, wallet mode, decimals, player, credit. Each takes precedence over
 * the later ones.
 */
START_TEST(checks_have_an_order)
{
	struct dealer seamless = {.mode = WALLET_SEAMLESS}, transfer = {.mode = WALLET_TRANSFER};

	case_open(_i);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &seamless).verdict.refusal, REFUSAL_NONE);
	case_suspend_dealer(true);
	ck_assert_int_eq(case_out("nobody", "r1", 1).verdict.refusal, REFUSAL_DEALER_SUSPENDED);
	case_suspend_dealer(false);
	case_suspend_player("alice", true);
	ck_assert_int_eq(case_out("alice", "r1", 1).verdict.refusal, REFUSAL_USER_SUSPENDED);
	case_suspend_player("alice", false);
	ck_assert_int_eq(case_out("nobody", "r1", 1).verdict.refusal, REFUSAL_WRONG_WALLET_MODE);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &transfer).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_out("nobody", "r1", 1).verdict.refusal, REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(case_out("nobody", "r1", 100).verdict.refusal, REFUSAL_USER_NOT_FOUND);
	ck_assert_int_eq(case_out("alice", "r1", 100).verdict.refusal,
		REFUSAL_INSUFFICIENT_BALANCE);
	case_close();
}
END_TEST

/*
 * A worker may be any process of the web server's group: invalid commands from it move nothing.
 */
START_TEST(nonsense_from_a_worker_is_refused)
{
	struct transfer_cmd cmd;

	case_open(_i);
	case_in("alice", "r0", 10 * CREDIT);
	cmd = case_transfer_cmd(ENTRY_ADJUST, "alice", "r1", CREDIT);
	ck_assert_int_eq(case_run(COMMAND_TRANSFER, &cmd)->result.verdict.refusal,
		REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_in("alice", "r1", -CREDIT).verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_in("alice", "r1", 0).verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_in("alice", "r1", MONEY_MAX + 1).verdict.refusal,
		REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_out("alice", "r1", INT64_MIN).verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_in("alice", "", CREDIT).verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_in("", "r1", CREDIT).verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(case_in("alice", "a\nb", CREDIT).verdict.refusal, REFUSAL_BAD_REQUEST);
	cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "r1", CREDIT);
	strcpy(cmd.casino_id, "nowhere");
	ck_assert_int_eq(case_run(COMMAND_TRANSFER, &cmd)->result.verdict.refusal,
		REFUSAL_INVALID_SIGNATURE);
	ck_assert_int_eq(case_balance("alice").balance, 10 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

#define LARGE_MOVEMENTS 9300 /* of the largest amount: their sum exceeds 64 bits */
#define LARGE           (MONEY_MAX - MONEY_MAX % 100)

static void prove_large_sums(void *context, const void *row)
{
	const struct total *total = row;

	(void)context;
	ck_assert(total->transferred_in == (sum_t)LARGE * LARGE_MOVEMENTS);
	ck_assert(total->transferred_out == (sum_t)LARGE * LARGE_MOVEMENTS);
	ck_assert(total->balance == 0);
}

/* The sums of a dealer may exceed 64 bits and stay correct. */
START_TEST(sums_grow_for_ever)
{
	char in[32], out[32];

	case_open(CASE_MEMORY);
	for (unsigned int i = 0; i < LARGE_MOVEMENTS; i++) {
		snprintf(in, sizeof(in), "in%u", i);
		snprintf(out, sizeof(out), "out%u", i);
		ck_assert_int_eq(case_in("alice", in, LARGE).verdict.refusal, REFUSAL_NONE);
		ck_assert_int_eq(case_out("alice", out, LARGE).verdict.refusal, REFUSAL_NONE);
	}
	case_list(RECORD_TOTAL, false, 0, prove_large_sums, NULL);
	case_close();
}
END_TEST

START_TEST(everything_is_there_after_a_restart)
{
	struct transfer_result first, again;

	case_open(CASE_DISK);
	first = case_in("alice", "r1", 100 * CREDIT);
	case_reopen();
	again = case_in("alice", "r1", 100 * CREDIT);
	ck_assert(again.verdict.replay);
	again.verdict = first.verdict;
	ck_assert_mem_eq(&first, &again, sizeof(first));
	ck_assert_uint_eq(case_in("alice", "r2", CREDIT).transaction_id, 2);
	case_prove();
	case_close();
}
END_TEST

/* The clock of the host before was ahead: times go on from there, unless one of the clocks is wrong. */
START_TEST(times_do_not_run_back_at_a_takeover)
{
	case_open(_i);
	case_db->wall_ms = case_now_ms + LEDGER_CLOCK_BEHIND_MAX_MS - 1;
	case_in("alice", "r1", CREDIT);
	ck_assert_int_eq(case_ledger.now.wall_ms, case_db->wall_ms);
	case_db->wall_ms++;
	case_in("alice", "r2", CREDIT);
	ck_assert_int_eq(case_ledger.now.wall_ms, case_now_ms);
	case_db->wall_ms = case_now_ms - 1;
	case_in("alice", "r3", CREDIT);
	ck_assert_int_eq(case_ledger.now.wall_ms, case_now_ms);
	case_close();
}
END_TEST

static enum status refuse_to_vouch(struct store *vouching, int64_t oldest_ms)
{
	ck_assert_ptr_eq(vouching, case_db);
	ck_assert_int_eq(oldest_ms, 1000);
	return STATUS_IO;
}

/* A ledger that was replaced answers no read, either. */
START_TEST(a_read_needs_a_store_that_vouches)
{
	struct slot slot = {.command = COMMAND_BALANCE};

	case_open(_i);
	text_copy(slot.cmd.balance.casino_id, sizeof(slot.cmd.balance.casino_id), "demo");
	text_copy(slot.cmd.balance.user_id, sizeof(slot.cmd.balance.user_id), "alice");
	ck_assert_int_eq(ledger_run(&case_ledger, &slot, 1, case_moment()), STATUS_OK);
	case_db->read_lease_ms = 1000;
	case_db->vouch = refuse_to_vouch;
	ck_assert_int_eq(ledger_run(&case_ledger, &slot, 1, case_moment()), STATUS_IO);
	case_db->vouch = NULL;
	case_close();
}
END_TEST

Suite *transfers_suite(void)
{
	Suite *suite = suite_create("transfers");
	TCase *tc = tcase_create("transfers");

	tcase_add_loop_test(tc, in_and_out, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, repeat_answers_the_stored_answer, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, other_content_is_a_conflict, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, insufficient_balance_is_recorded, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, other_refusals_consume_no_key, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, balance_has_a_limit, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, replay_comes_before_everything, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, checks_have_an_order, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, nonsense_from_a_worker_is_refused, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, times_do_not_run_back_at_a_takeover, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_read_needs_a_store_that_vouches, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, sums_grow_for_ever);
	tcase_add_test(tc, everything_is_there_after_a_restart);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
