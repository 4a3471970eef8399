/*
 * Tests batches: sixteen equal commands make one transaction, and a bad command fails only
 * itself.
 */
#include "case_wagers.h"

#include "memory_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREDIT MONEY_UNITS_PER_CREDIT

static struct slot slots[LEDGER_BATCH_MAX];

static void set_slot(unsigned int at, const struct transfer_cmd *cmd)
{
	slots[at].command = COMMAND_TRANSFER;
	slots[at].cmd.transfer = *cmd;
}

START_TEST(equal_commands_move_once)
{
	struct transfer_cmd cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "r1", CREDIT);
	unsigned int replays = 0;

	case_open(_i);
	for (unsigned int i = 0; i < 16; i++)
		set_slot(i, &cmd);
	case_run_batch(slots, 16);
	for (unsigned int i = 0; i < 16; i++) {
		ck_assert_int_eq(slots[i].outcome, FRAME_DONE);
		ck_assert_int_eq(slots[i].result.transfer.current_balance, CREDIT);
		ck_assert_uint_eq(slots[i].result.transfer.transaction_id, 1);
		replays += slots[i].result.verdict.replay;
	}
	ck_assert_uint_eq(replays, 15);
	ck_assert_int_eq(case_balance("alice").balance, CREDIT);
	case_prove();
	case_close();
}
END_TEST

/* Fills a batch with 100 transfers, a read and a replay, and runs it. */
static void run_mixed_batch(void)
{
	struct transfer_cmd cmd;
	char id[32];

	case_in("alice", "before", CREDIT);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", id, CREDIT);
		set_slot(i, &cmd);
	}
	cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "before", CREDIT);
	set_slot(100, &cmd);
	memset(&slots[101], 0, sizeof(slots[101]));
	slots[101].command = COMMAND_BALANCE;
	strcpy(slots[101].cmd.balance.casino_id, "demo");
	strcpy(slots[101].cmd.balance.user_id, "alice");
}

START_TEST(a_fault_is_run_around)
{
	case_open(CASE_MEMORY);
	run_mixed_batch();
	/*
	 * The whole batch, the batch without assumptions, and then the first command by itself.
	 */
	memory_store_fail(case_db, SAVE_FAULT, 3);
	case_run_batch(slots, 102);
	ck_assert_int_eq(slots[0].outcome, FRAME_FAULT);
	for (unsigned int i = 1; i < 102; i++)
		ck_assert_int_eq(slots[i].outcome, FRAME_DONE);
	ck_assert_int_eq(slots[101].result.balance.balance, 100 * CREDIT);
	ck_assert(slots[100].result.verdict.replay);
	case_prove();
	case_close();
}
END_TEST

static uint64_t commits(void)
{
	static const struct status_cmd cmd;

	return case_run(COMMAND_STATUS, &cmd)->result.status.commits;
}

/*
 * If a request was assumed to be new but exists, the whole batch is run again and returns the
 * right answers.
 */
START_TEST(what_was_there_is_found)
{
	struct transfer_cmd cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "before", CREDIT);
	uint64_t before;

	case_open(_i);
	run_mixed_batch();
	before = commits();
	case_run_batch(slots, 102);
	ck_assert_uint_eq(commits(), before + 1);
	for (unsigned int i = 0; i < 102; i++) {
		ck_assert_int_eq(slots[i].outcome, FRAME_DONE);
		ck_assert_int_eq(slots[i].result.verdict.refusal, REFUSAL_NONE);
	}
	ck_assert(slots[100].result.verdict.replay);
	ck_assert_uint_eq(slots[100].result.transfer.transaction_id, 1);
	ck_assert_int_eq(slots[101].result.balance.balance, 101 * CREDIT);
	/* Much later, when nothing would be written for a new one. */
	for (unsigned int i = 0; i < 100; i++)
		case_balance("alice");
	case_suspend_dealer(true);
	set_slot(0, &cmd);
	case_run_batch(slots, 1);
	ck_assert(slots[0].result.verdict.replay);
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(slots[0].result.transfer.transaction_id, 1);
	ck_assert_uint_eq(commits(), before + 2);
	case_suspend_dealer(false);
	case_prove();
	case_close();
}
END_TEST

static void expect_storage_full(void)
{
	for (unsigned int i = 0; i < 100; i++) {
		ck_assert_int_eq(slots[i].outcome, FRAME_DONE);
		ck_assert_int_eq(slots[i].result.verdict.refusal, REFUSAL_STORAGE_FULL);
		ck_assert_uint_gt(slots[i].result.verdict.retry_after_s, 0);
	}
	/* A replay and a read need no disk space. */
	ck_assert_int_eq(slots[100].result.verdict.refusal, REFUSAL_NONE);
	ck_assert(slots[100].result.verdict.replay);
	ck_assert_int_eq(slots[101].result.balance.balance, CREDIT);
}

START_TEST(a_full_disk_refuses_writes_only)
{
	case_open(CASE_MEMORY);
	run_mixed_batch();
	memory_store_fail(case_db, SAVE_FULL, 1000);
	case_run_batch(slots, 102);
	expect_storage_full();
	memory_store_fail(case_db, SAVE_OK, 0);
	case_run_batch(slots, 102);
	ck_assert_int_eq(slots[99].result.verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

START_TEST(low_space_refuses_writes_only)
{
	case_open(_i);
	run_mixed_batch();
	case_ledger.storage_low = true;
	case_run_batch(slots, 102);
	expect_storage_full();
	case_ledger.storage_low = false;
	case_run_batch(slots, 102);
	ck_assert_int_eq(slots[99].result.verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_lost_batch_ends_the_process)
{
	struct transfer_cmd cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "r1", CREDIT);

	case_open(CASE_MEMORY);
	set_slot(0, &cmd);
	memory_store_fail(case_db, SAVE_LOST, 1);
	ck_assert_int_eq(ledger_run(&case_ledger, slots, 1, case_moment()), STATUS_IO);
	case_close();
}
END_TEST

/* It is reported as damage, which halts the ledger: a restart would find the same row. */
START_TEST(a_row_of_the_start_that_does_not_decode_is_told)
{
	static const enum record records[] = {RECORD_DUE, RECORD_DEALER};

	for (unsigned int i = 0; i < sizeof(records) / sizeof(*records); i++) {
		case_open(CASE_DISK);
		ck_assert_int_eq(case_reopen_with_garbage(records[i]), STATUS_CORRUPT);
		case_close();
	}
}
END_TEST

START_TEST(a_halted_ledger_answers_busy)
{
	static struct ledger halted;
	struct transfer_cmd cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "r1", CREDIT);

	ck_assert_int_eq(ledger_init(&halted, NULL, 1, NULL, case_moment()), STATUS_OK);
	set_slot(0, &cmd);
	memset(&slots[1], 0, 2 * sizeof(slots[0]));
	slots[1].command = COMMAND_STATUS;
	slots[2].command = COMMAND_LIST;
	ck_assert_int_eq(ledger_run(&halted, slots, 3, case_moment()), STATUS_OK);
	ck_assert_int_eq(slots[0].outcome, FRAME_BUSY);
	ck_assert_int_eq(slots[1].outcome, FRAME_DONE);
	ck_assert(slots[1].result.status.halted);
	ck_assert_int_eq(slots[2].outcome, FRAME_BUSY);
	ck_assert(!halted.resume_asked);
	memset(&slots[0], 0, sizeof(slots[0]));
	slots[0].command = COMMAND_RESUME;
	ck_assert_int_eq(ledger_run(&halted, slots, 1, case_moment()), STATUS_OK);
	ck_assert(halted.resume_asked);
	ledger_free(&halted);
}
END_TEST

START_TEST(rate_limit_refills)
{
	struct dealer five = {.rate_limit = 5}, none = {.rate_limit = 0};
	char id[32];
	unsigned int refused = 0;

	case_open(_i);
	ck_assert_int_eq(case_dealer_set(DEALER_RATE_LIMIT, &five).verdict.refusal, REFUSAL_NONE);
	for (unsigned int i = 0; i < 8; i++) {
		struct transfer_result result;

		snprintf(id, sizeof(id), "r%u", i);
		result = case_in("alice", id, CREDIT);
		refused += result.verdict.refusal == REFUSAL_RATE_LIMITED;
		ck_assert_int_eq(result.verdict.refusal == REFUSAL_RATE_LIMITED, i >= 5);
	}
	ck_assert_uint_eq(refused, 3);
	ck_assert_uint_eq(case_in("alice", "r7", CREDIT).verdict.retry_after_s, 1);
	case_boot_ms += 200;
	ck_assert_int_eq(case_in("alice", "r7", CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_balance("alice").verdict.refusal, REFUSAL_RATE_LIMITED);
	case_boot_ms += 3600 * 1000;
	for (unsigned int i = 0; i < 5; i++)
		ck_assert_int_eq(case_balance("alice").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_balance("alice").verdict.refusal, REFUSAL_RATE_LIMITED);
	case_dealer_set(DEALER_RATE_LIMIT, &none);
	ck_assert_int_eq(case_balance("alice").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_balance("alice").balance, 6 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

/* Writes a row of a round that no command makes: its list of bets is too long or out of order. */
static void forge_round(const char *game, uint32_t entries, uint32_t step)
{
	static uint8_t listed[4 * 2000];
	struct round round;
	struct ws ws;

	memset(&round, 0, sizeof(round));
	strcpy(round.player_id, case_balance("alice").player_id);
	strcpy(round.game_id, game);
	strcpy(round.casino_id, "demo");
	strcpy(round.user_id, "alice");
	strcpy(round.client_id, "slots");
	round.bets = 2000;
	for (uint32_t i = 0; i < entries; i++) {
		const uint32_t entry = 2 * (1 + i * step);

		listed[4 * i + 2] = (uint8_t)(entry >> 8);
		listed[4 * i + 3] = (uint8_t)entry;
	}
	round.listed = (struct bytes){listed, 4 * entries};
	ws_init(&ws);
	ws_append(&ws, RECORD_ROUND, &round);
	ck_assert_int_eq(case_db->save(case_db, &ws), SAVE_OK);
	ws_free(&ws);
}

/* No command writes beyond an array: it fails by itself, and the others continue. */
START_TEST(a_forged_round_fails_its_command_only)
{
	struct round_settle_cmd settle;
	struct bet_place_cmd place;

	case_open(_i);
	forge_round("long", 2000, 1);
	forge_round("equal", 2, 0);
	settle = case_settle_cmd("s-1", "long", RESULT_WIN, CREDIT);
	ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &settle)->outcome, FRAME_FAULT);
	place = case_bet_cmd("b-1", "long", CREDIT);
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &place)->outcome, FRAME_FAULT);
	settle = case_settle_cmd("s-2", "equal", RESULT_WIN, CREDIT);
	ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &settle)->outcome, FRAME_FAULT);
	ck_assert_int_eq(case_in("alice", "in", CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_bet("b-2", "good", CREDIT).verdict.refusal, REFUSAL_NONE);
	case_close();
}
END_TEST

Suite *batches_suite(void)
{
	Suite *suite = suite_create("batches");
	TCase *tc = tcase_create("batches");

	tcase_add_loop_test(tc, a_forged_round_fails_its_command_only, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, equal_commands_move_once, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_fault_is_run_around);
	tcase_add_loop_test(tc, what_was_there_is_found, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_full_disk_refuses_writes_only);
	tcase_add_loop_test(tc, low_space_refuses_writes_only, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_lost_batch_ends_the_process);
	tcase_add_test(tc, a_halted_ledger_answers_busy);
	tcase_add_test(tc, a_row_of_the_start_that_does_not_decode_is_told);
	tcase_add_loop_test(tc, rate_limit_refills, 0, CASE_STORE_COUNT);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
