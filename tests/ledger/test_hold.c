/*
 * Tests the callbacks that a restore holds, and those that a release sends.
 */
#include "case_wagers.h"

#include "ledger/outbox/hold.h"

#include <stdio.h>
#include <string.h>

#define WAITING  10
#define FIRST_ID (UINT64_C(1) << 40)

static enum refusal set_held(bool held, bool unreconciled)
{
	struct dealer_put_cmd cmd = case_dealer_cmd("demo");

	cmd.create = false;
	cmd.mask = 1u << DEALER_CALLBACKS_HELD;
	cmd.unreconciled = unreconciled;
	cmd.dealer.callbacks_held_ms = held;
	return case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal;
}

static struct dealer reconcile(void)
{
	const struct dealer values = {.restored_ms = 0};
	const struct dealer_put_result result = case_dealer_set(DEALER_RECONCILED, &values);

	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	return result.dealer;
}

/* Changes the ledger's data as a restore does, and restarts it. */
static void restore(int64_t complete_to_ms, uint64_t first_id)
{
	const struct hold_restore restore = {case_now_ms, complete_to_ms, first_id};
	struct ws *ws = ws_new();

	ck_assert_ptr_nonnull(ws);
	ck_assert_int_eq(hold_everything(case_db, ws, &restore), STATUS_OK);
	ck_assert_int_eq(case_db->save(case_db, ws), SAVE_OK);
	ws_delete(ws);
	case_reopen();
}

static void accept_bet(const char *id, const char *game)
{
	const struct bet_place_result placed = case_bet(id, game, CREDIT);

	ck_assert_uint_ne(placed.send.event, 0);
	ck_assert_int_eq(case_end(&placed.send, CALLBACK_SUCCESS).bet.state, BET_ACCEPTED);
}

static enum callback_state state_of(uint64_t event)
{
	struct callback_operate_cmd cmd = {.operator= case_operator(),
		.event = event,
		.action = CALLBACK_RELEASE};

	/* Whether refused or done, the result contains the current state. */
	return case_run(COMMAND_CALLBACK_OPERATE, &cmd)->result.callback_operate.state;
}

START_TEST(a_burst_on_release_keeps_the_limit)
{
	struct dealer values = {.max_inflight = 3};
	struct callback_grant grants[WAITING];
	uint64_t events[WAITING];
	unsigned int granted = 0, ended = 0;
	char name[16];

	case_open_mode(_i, WALLET_SEAMLESS);
	for (unsigned int i = 0; i < WAITING; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		accept_bet(name, name);
	}
	case_dealer_set(DEALER_MAX_INFLIGHT, &values);
	ck_assert_int_eq(set_held(true, false), REFUSAL_NONE);
	for (unsigned int i = 0; i < WAITING; i++) {
		struct round_settle_result settled;
		char id[16];

		snprintf(name, sizeof(name), "g%u", i);
		snprintf(id, sizeof(id), "s%u", i);
		settled = case_settle(id, name, RESULT_WIN, 2 * CREDIT);
		ck_assert_int_eq(settled.verdict.refusal, REFUSAL_NONE);
		ck_assert_uint_eq(settled.send.event, 0);
		ck_assert_int_eq(settled.callback_state, CALLBACK_DUE);
		events[i] = settled.event;
	}
	case_pass(MINUTE);
	for (unsigned int i = 0; i < WAITING; i++)
		ck_assert_int_eq(case_claim(events[i]).verdict.refusal, REFUSAL_DEALER_BUSY);
	ck_assert_int_eq(set_held(false, false), REFUSAL_NONE);
	/* Never more than three at the same time, until all were sent. */
	while (ended < WAITING) {
		unsigned int before = granted;

		for (unsigned int i = 0; i < WAITING; i++) {
			const struct callback_claim_result claimed = case_claim(events[i]);

			if (claimed.verdict.refusal == REFUSAL_NONE && claimed.send.event)
				grants[granted++] = claimed.send;
		}
		ck_assert(granted > before || granted == WAITING);
		ck_assert_uint_le(granted - ended, 3);
		ck_assert_int_eq(case_end(&grants[ended++], CALLBACK_SUCCESS).state,
			CALLBACK_DELIVERED);
	}
	ck_assert_uint_eq(granted, WAITING);
	case_prove();
	case_close();
}
END_TEST

/* The hold is stored in the row: a wrong limit in memory sends nothing. */
START_TEST(a_wrong_limit_in_memory_sends_nothing)
{
	struct bet_place_result placed;
	struct round_settle_result settled;

	case_open_mode(_i, WALLET_SEAMLESS);
	accept_bet("b1", "g1");
	placed = case_bet("b2", "g2", CREDIT);
	ck_assert_int_eq(set_held(true, false), REFUSAL_NONE);
	permits_limit(&case_ledger.derived.permits, "demo", 20);
	ck_assert_uint_eq(case_bet("b3", "g3", CREDIT).send.event, 0);
	settled = case_settle("s1", "g1", RESULT_WIN, CREDIT);
	ck_assert_uint_eq(settled.send.event, 0);
	ck_assert_uint_eq(case_claim(settled.event).send.event, 0);
	/* Its sender continues with its permit; a repetition of the call gets none. */
	ck_assert_uint_ne(placed.send.event, 0);
	ck_assert_uint_eq(case_bet("b2", "g2", CREDIT).send.event, 0);
	case_end(&placed.send, CALLBACK_SUCCESS);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_restore_asks_for_the_file)
{
	const struct dealer values = {.rate_limit = 0};
	struct dealer dealer;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	restore(case_now_ms - HOUR, FIRST_ID);
	ck_assert_int_eq(set_held(false, false), REFUSAL_NOT_ALLOWED_NOW);
	case_pass(MINUTE);
	/* Another restore before the gap is closed: the gap begins where the first one did. */
	restore(case_now_ms, 2 * FIRST_ID);
	dealer = case_dealer_set(DEALER_RATE_LIMIT, &values).dealer;
	ck_assert_int_eq(dealer.restored_ms, case_now_ms);
	ck_assert_int_eq(dealer.restored_to_ms, case_now_ms - MINUTE - HOUR);
	ck_assert_uint_eq(dealer.restored_id, 2 * FIRST_ID);
	ck_assert_int_eq(set_held(false, false), REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_uint_eq(case_ledger.derived.permits.held_count, 1);
	dealer = reconcile();
	ck_assert(!dealer.restored_ms && !dealer.restored_to_ms && !dealer.restored_id);
	ck_assert_int_ne(dealer.callbacks_held_ms, 0);
	ck_assert_int_eq(set_held(false, false), REFUSAL_NONE);
	ck_assert_uint_eq(case_ledger.derived.permits.held_count, 0);
	case_prove();
	case_close();
}
END_TEST

static void keep_client(void *kept, const void *client)
{
	*(struct client *)kept = *(const struct client *)client;
}

/* What was changed after the backup is not known: the keys of game servers, too. */
START_TEST(a_restore_asks_for_the_keys_of_clients)
{
	struct client_put_cmd cmd;
	struct client client;

	case_open(CASE_DISK);
	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	strcpy(cmd.client_id, "slots");
	case_secret("slots", cmd.secret);
	ck_assert_int_eq(case_run(COMMAND_CLIENT_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(case_list(RECORD_CLIENT, false, 0, keep_client, &client), 1);
	ck_assert_int_eq(client.keys_restored_ms, 0);
	case_pass(HOUR);
	restore(case_now_ms - MINUTE, FIRST_ID);
	case_list(RECORD_CLIENT, false, 0, keep_client, &client);
	ck_assert_int_eq(client.keys_restored_ms, case_now_ms);
	case_prove();
	case_close();
}
END_TEST

START_TEST(without_the_file_what_is_old_is_held)
{
	struct bet_place_result pending, placed;
	struct round_settle_result settled;
	struct callback_end_result ended;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	accept_bet("b1", "old");
	accept_bet("b2", "mixed");
	accept_bet("b3", "later");
	pending = case_bet("b4", "pending", CREDIT);
	restore(case_now_ms, pending.bet.transaction_id + 1);
	ck_assert_int_eq(set_held(false, true), REFUSAL_NONE);
	/* Older than the restore: held individually. */
	settled = case_settle("s1", "old", RESULT_WIN, 3 * CREDIT);
	ck_assert_int_eq(settled.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(settled.callback_state, CALLBACK_HELD);
	ck_assert_uint_eq(settled.send.event, 0);
	ck_assert_int_eq(case_claim(settled.event).verdict.refusal, REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_uint_eq(case_settle("s1", "old", RESULT_WIN, 3 * CREDIT).send.event, 0);
	/* A bet made after the restore does not make its round new. */
	accept_bet("b5", "mixed");
	settled = case_settle("s2", "mixed", RESULT_REFUND, 0);
	ck_assert_int_eq(settled.callback_state, CALLBACK_HELD);
	ended = case_end(&pending.send, CALLBACK_UNKNOWN);
	ck_assert_int_eq(ended.bet.state, BET_REFUNDING);
	ck_assert_int_eq(case_operate(settled.event, CALLBACK_RELEASE), REFUSAL_NONE);
	ck_assert_int_ne(state_of(settled.event), CALLBACK_HELD);
	/* Made after the restore: sent, and so is its refund. */
	accept_bet("b6", "new");
	ck_assert_uint_ne(case_settle("s3", "new", RESULT_WIN, CREDIT).send.event, 0);
	placed = case_bet("b7", "new-2", CREDIT);
	ck_assert_int_eq(case_end(&placed.send, CALLBACK_UNKNOWN).bet.state, BET_REFUNDING);
	/* The file was compared: old rows are handled like new ones. */
	reconcile();
	ck_assert_uint_ne(case_settle("s4", "later", RESULT_WIN, CREDIT).send.event, 0);
	case_prove();
	case_close();
}
END_TEST

/* A result that is repeated while the dealer is held is not sent by a release without the file. */
START_TEST(what_comes_during_the_hold_is_held)
{
	struct bet_place_result pending;
	struct round_settle_result settled;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	accept_bet("b1", "old");
	pending = case_bet("b2", "pending", CREDIT);
	restore(case_now_ms, pending.bet.transaction_id + 1);
	settled = case_settle("s1", "old", RESULT_WIN, 3 * CREDIT);
	ck_assert_int_eq(settled.callback_state, CALLBACK_HELD);
	ck_assert_int_eq(set_held(false, true), REFUSAL_NONE);
	ck_assert_int_eq(case_claim(settled.event).verdict.refusal, REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_int_eq(case_operate(settled.event, CALLBACK_RELEASE), REFUSAL_NONE);
	ck_assert_int_eq(case_claim(settled.event).verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

struct held {
	unsigned int refunds;
	unsigned int results;
};

static void count_held(void *context, const void *row)
{
	const struct callback *callback = row;
	struct held *held = context;

	if (callback->state != CALLBACK_HELD)
		return;
	held->refunds += callback->kind == CALLBACK_BETTING_REFUND;
	held->results += callback->kind == CALLBACK_BETTING_RESULT;
}

START_TEST(the_refund_of_an_old_bet_is_held)
{
	struct bet_place_result old, new;
	struct held held = {0};

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	old = case_bet("b1", "g1", CREDIT);
	restore(case_now_ms, old.bet.transaction_id + 1);
	ck_assert_int_eq(set_held(false, true), REFUSAL_NONE);
	case_end(&old.send, CALLBACK_UNKNOWN);
	case_list(RECORD_CALLBACK, false, 0, count_held, &held);
	ck_assert_uint_eq(held.refunds, 1);
	new = case_bet("b2", "g2", CREDIT);
	case_end(&new.send, CALLBACK_UNKNOWN);
	held = (struct held){0};
	case_list(RECORD_CALLBACK, false, 0, count_held, &held);
	ck_assert_uint_eq(held.refunds + held.results, 1);
	case_prove();
	case_close();
}
END_TEST

Suite *hold_suite(void)
{
	Suite *suite = suite_create("hold");
	TCase *tc = tcase_create("hold");

	tcase_add_loop_test(tc, a_burst_on_release_keeps_the_limit, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_wrong_limit_in_memory_sends_nothing, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_restore_asks_for_the_file);
	tcase_add_test(tc, a_restore_asks_for_the_keys_of_clients);
	tcase_add_test(tc, without_the_file_what_is_old_is_held);
	tcase_add_test(tc, what_comes_during_the_hold_is_held);
	tcase_add_test(tc, the_refund_of_an_old_bet_is_held);
	suite_add_tcase(suite, tc);
	return suite;
}
