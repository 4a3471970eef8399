/* The newest accepted calls by their request id (ledger/rows/accepted_calls.h). */
#include "case.h"
#include "ledger/rows/accepted_calls.h"

#include <stdio.h>
#include <string.h>

static struct accepted_calls calls;
static union any_cmd cmd;
static union any_result result;

static void begin(void)
{
	accepted_calls_init(&calls, 1000);
	memset(&cmd, 0, sizeof(cmd));
	memset(&result, 0, sizeof(result));
}

/* A transfer of demo with the request id, which made the transaction. */
static void note_transfer(const char *request_id, uint64_t transaction_id, int64_t wall_ms)
{
	strcpy(cmd.transfer.casino_id, "demo");
	cmd.transfer.kind = ENTRY_TRANSFER_OUT;
	result.transfer.transaction_id = transaction_id;
	accepted_calls_note(&calls, request_id, COMMAND_TRANSFER, &cmd, &result, wall_ms);
}

START_TEST(the_newest_is_found_first)
{
	const struct accepted_call *call;

	begin();
	ck_assert_ptr_null(accepted_calls_find(&calls, "a", NULL));
	note_transfer("a", 1, 2000);
	note_transfer("b", 2, 2001);
	note_transfer("a", 3, 2002);
	call = accepted_calls_find(&calls, "a", NULL);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_eq(call->transaction_id, 3);
	ck_assert_int_eq(call->time_ms, 2002);
	ck_assert_int_eq(call->operation, OPERATION_TRANSFER_OUT);
	ck_assert_str_eq(call->owner, "demo");
	ck_assert(!call->of_client);
	call = accepted_calls_find(&calls, "a", call);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_eq(call->transaction_id, 1);
	ck_assert_ptr_null(accepted_calls_find(&calls, "a", call));
	ck_assert_ptr_null(accepted_calls_find(&calls, "", NULL));
	ck_assert_int_eq(calls.from_ms, 1000);
	accepted_calls_free(&calls);
}
END_TEST

/* Also around the end of the ring. */
START_TEST(the_oldest_is_dropped)
{
	const struct accepted_call *call;
	char id[24];

	begin();
	for (unsigned int i = 0; i < ACCEPTED_CALLS_MAX + 3; i++) {
		snprintf(id, sizeof(id), "call-%u", i / 2);
		note_transfer(id, i + 1, 2000 + i);
	}
	ck_assert_uint_eq(calls.count, ACCEPTED_CALLS_MAX);
	ck_assert_int_eq(calls.from_ms, 2002);
	ck_assert_ptr_null(accepted_calls_find(&calls, "call-0", NULL));
	call = accepted_calls_find(&calls, "call-1", NULL);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_eq(call->transaction_id, 4);
	ck_assert_ptr_null(accepted_calls_find(&calls, "call-1", call));
	snprintf(id, sizeof(id), "call-%u", (ACCEPTED_CALLS_MAX + 1) / 2);
	call = accepted_calls_find(&calls, id, NULL);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_eq(call->transaction_id, ACCEPTED_CALLS_MAX + 2);
	call = accepted_calls_find(&calls, id, call);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_eq(call->transaction_id, ACCEPTED_CALLS_MAX + 1);
	accepted_calls_free(&calls);
}
END_TEST

/* A refused call is in the list of the refused ones; what no caller asked for has no place here. */
START_TEST(only_accepted_calls_are_kept)
{
	const struct accepted_call *call;

	begin();
	note_transfer("", 1, 2000);
	result.verdict.refusal = REFUSAL_INSUFFICIENT_BALANCE;
	note_transfer("refused", 0, 2000);
	result.verdict.refusal = REFUSAL_NONE;
	accepted_calls_note(&calls, "list", COMMAND_LIST, &cmd, &result, 2000);
	accepted_calls_note(&calls, "end", COMMAND_CALLBACK_END, &cmd, &result, 2000);
	ck_assert_uint_eq(calls.count, 0);
	/* The bet is sent to the dealer, which refuses it. Its caller repeats the call. */
	strcpy(cmd.bet_place.client_id, "slots");
	result.bet_place.bet.transaction_id = 7;
	result.verdict.refusal = REFUSAL_BET_REJECTED;
	accepted_calls_note(&calls, "again", COMMAND_BET_PLACE, &cmd, &result, 2000);
	ck_assert_uint_eq(calls.count, 0);
	result.verdict.refusal = REFUSAL_BET_IN_PROGRESS;
	accepted_calls_note(&calls, "bet", COMMAND_BET_PLACE, &cmd, &result, 2000);
	call = accepted_calls_find(&calls, "bet", NULL);
	ck_assert_ptr_nonnull(call);
	ck_assert_int_eq(call->operation, OPERATION_BETS);
	ck_assert_uint_eq(call->transaction_id, 7);
	ck_assert_str_eq(call->owner, "slots");
	ck_assert(call->of_client);
	accepted_calls_free(&calls);
}
END_TEST

/* A lost round has no transaction, and a game server may name a player by its player_id only. */
START_TEST(it_is_known_whose_call_it_is)
{
	const struct accepted_call *call;

	begin();
	strcpy(cmd.round_settle.client_id, "slots");
	result.round_settle.event = 9;
	accepted_calls_note(&calls, "loss", COMMAND_ROUND_SETTLE, &cmd, &result, 2000);
	call = accepted_calls_find(&calls, "loss", NULL);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_eq(call->transaction_id, 0);
	ck_assert_uint_eq(call->event, 9);
	ck_assert(call->of_client);
	memset(&cmd, 0, sizeof(cmd));
	memset(&result, 0, sizeof(result));
	strcpy(cmd.player_balance.player.player_id, "player");
	strcpy(result.player_balance.casino_id, "demo");
	accepted_calls_note(&calls, "balance", COMMAND_PLAYER_BALANCE, &cmd, &result, 2000);
	call = accepted_calls_find(&calls, "balance", NULL);
	ck_assert_ptr_nonnull(call);
	ck_assert_str_eq(call->owner, "demo");
	ck_assert(!call->of_client);
	accepted_calls_free(&calls);
}
END_TEST

/* Answers @command with the request id, and returns how many calls are kept then. */
static uint32_t kept_after(enum command command, const void *given, const char *request_id)
{
	static struct slot slot;
	struct buffer out;

	memset(&slot, 0, sizeof(slot));
	slot.command = command;
	slot.link = 1;
	strcpy(slot.request_id, request_id);
	memcpy(&slot.cmd, given, command_infos[command].cmd_size);
	case_run_batch(&slot, 1);
	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, &slot, 1, &out);
	ck_assert_int_eq(slot.outcome, FRAME_DONE);
	buffer_free(&out);
	return case_ledger.accepted.count;
}

START_TEST(the_ledger_keeps_what_it_answers)
{
	struct transfer_cmd in =
		case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "in-1", MONEY_UNITS_PER_CREDIT);
	struct feed_cmd feed = {.casino_id = "demo", .limit = 1};
	const struct accepted_call *call;

	case_open(_i);
	ck_assert_uint_eq(kept_after(COMMAND_TRANSFER, &in, "http-1"), 1);
	call = accepted_calls_find(&case_ledger.accepted, "http-1", NULL);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_gt(call->transaction_id, 0);
	/* A repetition, and a call of several commands. */
	ck_assert_uint_eq(kept_after(COMMAND_TRANSFER, &in, "http-2"), 2);
	ck_assert_uint_eq(accepted_calls_find(&case_ledger.accepted, "http-2", NULL)
				  ->transaction_id,
		accepted_calls_find(&case_ledger.accepted, "http-1", NULL)->transaction_id);
	ck_assert_uint_eq(kept_after(COMMAND_FEED, &feed, "http-3"), 3);
	feed.goes_on = true;
	ck_assert_uint_eq(kept_after(COMMAND_FEED, &feed, "http-3"), 3);
	strcpy(in.user_id, "zzz");
	strcpy(in.request_transaction_id, "in-2");
	ck_assert_uint_eq(kept_after(COMMAND_TRANSFER, &in, "http-4"), 3);
	case_close();
}
END_TEST

Suite *accepted_calls_suite(void)
{
	Suite *suite = suite_create("accepted_calls");
	TCase *tcase = tcase_create("accepted_calls");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, the_newest_is_found_first);
	tcase_add_test(tcase, the_oldest_is_dropped);
	tcase_add_test(tcase, only_accepted_calls_are_kept);
	tcase_add_test(tcase, it_is_known_whose_call_it_is);
	tcase_add_loop_test(tcase, the_ledger_keeps_what_it_answers, 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tcase);
	return suite;
}
