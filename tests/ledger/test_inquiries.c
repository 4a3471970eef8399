/*
 * Tests balance inquiries (B1): reads that take their events from a block of ids in memory.
 */
#include "case_wagers.h"

#include "ledger/commands/ops.h"
#include "ledger/rows/counters.h"
#include "ledger/rows/life.h"

#include <string.h>

#define MANY (3 * LIFE_BLOCK_IDS + 1)

static struct player_balance_cmd inquiry(void)
{
	struct player_balance_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	return cmd;
}

static struct player_balance_result inquire(void)
{
	struct player_balance_cmd cmd = inquiry();

	return case_run(COMMAND_PLAYER_BALANCE, &cmd)->result.player_balance;
}

/* Makes an inquiry that is answered at once. Returns its event. */
static uint64_t inquire_and_end(void)
{
	const struct player_balance_result result = inquire();

	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_gt(result.send.event, 0);
	case_end(&result.send, CALLBACK_SUCCESS);
	return result.send.event;
}

static uint64_t commits(void)
{
	struct status_result status;

	ledger_status(&case_ledger, &status);
	return status.commits;
}

/* LIFE_BLOCK_IDS inquiries cost one commit, and no bet has one of their ids. */
START_TEST(a_block_of_inquiries_is_one_write)
{
	const unsigned int bet_at = LIFE_BLOCK_IDS / 2;
	struct bet_place_result bet;
	uint64_t last = 0, before;

	case_open_mode(_i, WALLET_SEAMLESS);
	before = commits();
	for (unsigned int i = 0; i < LIFE_BLOCK_IDS; i++) {
		const uint64_t event = inquire_and_end();

		ck_assert_uint_gt(event, last);
		last = event;
		if (i != bet_at)
			continue;
		bet = case_bet("b1", "g1", 10 * CREDIT);
		case_end(&bet.send, CALLBACK_SUCCESS);
	}
	ck_assert_uint_gt(bet.send.event, last);
	/* The reservation; the bet and its end. */
	ck_assert_uint_eq(commits(), before + 3);
	ck_assert_uint_gt(inquire_and_end(), bet.send.event);
	ck_assert_uint_eq(commits(), before + 4);
	case_prove();
	case_close();
}
END_TEST

START_TEST(low_space_refuses_no_inquiry)
{
	uint64_t last = 0;

	case_open_mode(_i, WALLET_SEAMLESS);
	case_ledger.storage_low = true;
	for (unsigned int i = 0; i < MANY; i++) {
		const uint64_t event = inquire_and_end();

		ck_assert_uint_gt(event, last);
		last = event;
	}
	ck_assert_int_eq(case_bet("b1", "g1", 10 * CREDIT).verdict.refusal, REFUSAL_STORAGE_FULL);
	case_prove();
	case_close();
}
END_TEST

/* When space is low, a bet in the same batch is refused without delaying the inquiries. */
START_TEST(low_space_parts_a_batch_of_inquiries)
{
	static struct slot slots[3];

	case_open_mode(_i, WALLET_SEAMLESS);
	memset(slots, 0, sizeof(slots));
	slots[0].command = slots[2].command = COMMAND_PLAYER_BALANCE;
	slots[0].cmd.player_balance = slots[2].cmd.player_balance = inquiry();
	slots[1].command = COMMAND_BET_PLACE;
	slots[1].cmd.bet_place = case_bet_cmd("b1", "g1", 10 * CREDIT);
	slots[0].link = slots[1].link = slots[2].link = 1;
	case_ledger.storage_low = true;
	case_run_batch(slots, 3);
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(slots[1].result.verdict.refusal, REFUSAL_STORAGE_FULL);
	ck_assert_int_eq(slots[2].result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_gt(slots[2].result.player_balance.send.event,
		slots[0].result.player_balance.send.event);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 2);
	case_prove();
	case_close();
}
END_TEST

/* A reservation that was not saved assigns no ids: the block is as it was before the batch. */
START_TEST(a_lost_reservation_gives_out_nothing)
{
	struct bet_place_result bet;
	struct player_balance_result result;

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	memory_store_fail(case_db, SAVE_FULL, 2);
	result = inquire();
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_STORAGE_FULL);
	ck_assert_uint_eq(result.send.event, 0);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 0);
	ck_assert_uint_eq(case_ledger.derived.permits.inquiries.count, 0);
	/* The bet takes the first id of the block that was not reserved. */
	bet = case_bet("b1", "g1", 10 * CREDIT);
	result = inquire();
	ck_assert_uint_gt(result.send.event, bet.send.event);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 2);
	case_prove();
	case_close();
}
END_TEST

/* When a batch is run again, it takes the same ids of the block again. */
START_TEST(a_batch_that_is_run_again_takes_its_ids_again)
{
	static struct slot slots[2];
	uint64_t first;

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	first = inquire_and_end();
	memset(slots, 0, sizeof(slots));
	slots[0].command = COMMAND_PLAYER_BALANCE;
	slots[0].cmd.player_balance = inquiry();
	slots[1].command = COMMAND_BET_PLACE;
	slots[1].cmd.bet_place = case_bet_cmd("b1", "g1", 10 * CREDIT);
	slots[0].link = slots[1].link = 1;
	memory_store_fail(case_db, SAVE_FAULT, 1);
	case_run_batch(slots, 2);
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(slots[0].result.player_balance.send.event, first + 1);
	ck_assert_uint_eq(slots[1].result.bet_place.send.event, first + LIFE_BLOCK_IDS);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 2);
	case_prove();
	case_close();
}
END_TEST

/*
 * The unused ids of an engine's block are lost. @_i: data of an incarnation, or of a version
 * before incarnations.
 */
START_TEST(a_restart_gives_no_id_twice)
{
	uint64_t last = 0;
	char why[256];

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	if (_i) {
		ck_assert_int_eq(life_begin_first(case_db, case_now_ms, 0, why, sizeof(why)),
			STATUS_OK);
		case_reopen();
	}
	for (unsigned int start = 0; start < 4; start++) {
		for (unsigned int i = 0; i < LIFE_BLOCK_IDS + start; i++) {
			const uint64_t event = inquire_and_end();

			ck_assert_uint_gt(event, last);
			last = event;
		}
		/* The clock stands still or was set back. */
		case_now_ms -= start;
		case_reopen();
	}
	case_prove();
	case_close();
}
END_TEST

/* An inquiry beyond the dealer's capacity takes no id and writes nothing. */
START_TEST(a_dealer_without_room_is_not_asked)
{
	struct dealer values = {.max_inflight = 1};
	struct player_balance_result first, second;
	uint64_t before;

	case_open_mode(_i, WALLET_SEAMLESS);
	case_dealer_set(DEALER_MAX_INFLIGHT, &values);
	first = inquire();
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	second = inquire();
	ck_assert_int_eq(second.verdict.refusal, REFUSAL_DEALER_BUSY);
	ck_assert_uint_eq(second.send.event, 0);
	case_end(&first.send, CALLBACK_SUCCESS);
	ck_assert_uint_eq(inquire_and_end(), first.send.event + 1);
	/* Callbacks are held: with ids in the block, and without. */
	values.callbacks_held_ms = 1;
	case_dealer_set(DEALER_CALLBACKS_HELD, &values);
	before = commits();
	ck_assert_int_eq(inquire().verdict.refusal, REFUSAL_DEALER_BUSY);
	case_ledger.derived.permits.inquiries.count = 0;
	ck_assert_int_eq(inquire().verdict.refusal, REFUSAL_DEALER_BUSY);
	ck_assert_uint_eq(commits(), before);
	case_prove();
	case_close();
}
END_TEST

/* The last block is shorter and ends at the largest id. */
START_TEST(the_last_block_ends_at_the_largest_id)
{
	const uint64_t stride = _i ? LIFE_STRIDE : 1, left = 3;
	const uint64_t last = TRANSACTION_ID_MAX / stride * stride;
	struct counter counter = {.value = last - left * stride, .name = LIFE_EVENTS};
	struct life_block block = {.count = 0};
	struct ws ws;

	ws_init(&ws);
	case_open_empty(CASE_MEMORY);
	life_want_id(&ws, LIFE_EVENTS);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	ws.id_stride = stride;
	ws_put(&ws, RECORD_COUNTER, &counter);
	for (uint64_t i = 1; i <= left; i++) {
		const uint64_t next = life_block_peek(&ws, LIFE_EVENTS, &block);

		ck_assert_uint_eq(next, counter.value + i * stride);
		ck_assert_uint_eq(life_block_take(&ws, LIFE_EVENTS, 0, &block), next);
		ck_assert_uint_eq(counter_read(&ws, LIFE_EVENTS), last);
	}
	ck_assert_uint_eq(life_block_peek(&ws, LIFE_EVENTS, &block), 0);
	ck_assert_uint_eq(life_block_take(&ws, LIFE_EVENTS, LIFE_BLOCK_IDS, &block), 0);
	ws_free(&ws);
	case_close();
}
END_TEST

Suite *inquiries_suite(void)
{
	Suite *suite = suite_create("inquiries");
	TCase *tc = tcase_create("inquiries");

	tcase_add_loop_test(tc, a_block_of_inquiries_is_one_write, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, low_space_refuses_no_inquiry, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, low_space_parts_a_batch_of_inquiries, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_lost_reservation_gives_out_nothing);
	tcase_add_test(tc, a_batch_that_is_run_again_takes_its_ids_again);
	tcase_add_loop_test(tc, a_restart_gives_no_id_twice, 0, 2);
	tcase_add_loop_test(tc, a_dealer_without_room_is_not_asked, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, the_last_block_ends_at_the_largest_id, 0, 2);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
