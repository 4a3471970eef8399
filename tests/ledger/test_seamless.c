/*
 * Tests group C in a seamless wallet: the ledger's side of B1 to B4. The test acts as worker and
 * sweeper.
 */
#include "case_wagers.h"

#include "base/pack.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static struct bet_place_result bet(const char *id, const char *game)
{
	return case_bet(id, game, 10 * CREDIT);
}

static struct callback_end_result end_refused(const struct callback_grant *grant,
	const char *error_id)
{
	struct callback_end_cmd cmd = case_end_cmd(grant, CALLBACK_REFUSED);

	text_copy(cmd.outcome.dealer_error_id, sizeof(cmd.outcome.dealer_error_id), error_id);
	return case_run(COMMAND_CALLBACK_END, &cmd)->result.callback_end;
}

/* Returns the row that a sweeper would find first; its event is 0 if there is none. */
static struct due_entry find(void)
{
	struct callback_find_cmd cmd = {.most = 0};
	struct slot *slot = case_run(COMMAND_CALLBACK_FIND, &cmd);
	struct due_entry entry;
	struct bytes entries;
	struct buffer out;

	memset(&entry, 0, sizeof(entry));
	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, slot, 1, &out);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	entries = slot->result.callback_find.entries;
	if (slot->result.callback_find.count)
		ck_assert(unpack_record(&entries, due_entry_fields, &entry));
	buffer_free(&out);
	return entry;
}

static bool body_has(const struct callback_grant *grant, const char *text)
{
	return memmem(grant->body.data, grant->body.len, text, strlen(text)) != NULL;
}

/* Returns 1 if the dealer's mode cannot be changed because a bet is open. */
static uint64_t open_bets(void)
{
	struct dealer values = {.mode = WALLET_TRANSFER};
	enum refusal refusal;

	refusal = case_dealer_set(DEALER_MODE, &values).verdict.refusal;
	if (refusal != REFUSAL_NONE)
		return 1;
	values.mode = WALLET_SEAMLESS;
	case_dealer_set(DEALER_MODE, &values);
	return 0;
}

START_TEST(accepted_and_won)
{
	struct bet_place_result placed;
	struct callback_end_result ended;
	struct round_settle_result won, again;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	ck_assert_int_eq(placed.verdict.refusal, REFUSAL_BET_IN_PROGRESS);
	ck_assert(!placed.verdict.replay);
	ck_assert_int_eq(placed.bet.state, BET_PENDING);
	ck_assert_int_eq(placed.send.kind, CALLBACK_BETTING);
	ck_assert_uint_eq(placed.send.attempt, 1);
	ck_assert_int_eq(placed.send.lease_left_ms, 10 * SECOND);
	ck_assert(body_has(&placed.send, "\"bet_amount\":10.0"));
	ck_assert(body_has(&placed.send, "\"user_bet\":{\"line\":1}"));
	ck_assert_str_eq(placed.send.target.path, "/betting");
	/* In progress: nothing is settled, and a repetition with the same key does not help. */
	ck_assert_int_eq(case_settle("s0", "g1", RESULT_WIN, 0).verdict.refusal,
		REFUSAL_BET_IN_PROGRESS);
	ck_assert(bet("b1", "g1").verdict.replay);
	ended = case_end(&placed.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(ended.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(ended.bet.state, BET_ACCEPTED);
	ck_assert_uint_eq(ended.bet.transaction_id, placed.bet.transaction_id);
	ck_assert(!ended.late);
	ck_assert(case_end(&placed.send, CALLBACK_UNKNOWN).late);
	ck_assert_int_eq(bet("b1", "g1").verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(find().event, 0);

	won = case_settle("s1", "g1", RESULT_WIN, 25 * CREDIT);
	ck_assert_int_eq(won.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(won.win_amount, 15 * CREDIT);
	ck_assert_int_eq(won.callback_state, CALLBACK_SENDING);
	ck_assert_uint_eq(won.callback_attempts, 1);
	ck_assert(body_has(&won.send, "\"payout_amount\":25.0"));
	ck_assert_uint_eq(open_bets(), 1);
	ended = case_end(&won.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(ended.state, CALLBACK_DELIVERED);
	again = case_settle("s1", "g1", RESULT_WIN, 25 * CREDIT);
	ck_assert(again.verdict.replay);
	ck_assert_int_eq(again.callback_state, CALLBACK_DELIVERED);
	ck_assert_uint_eq(again.send.event, 0);
	ck_assert_uint_eq(open_bets(), 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(refused_and_unreachable)
{
	struct bet_place_result placed;
	struct callback_end_result ended;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	ended = end_refused(&placed.send, "no_credit");
	ck_assert_int_eq(ended.verdict.refusal, REFUSAL_BET_REJECTED);
	ck_assert_str_eq(ended.bet.dealer_error_id, "no_credit");
	placed = bet("b2", "g1");
	ended = case_end(&placed.send, CALLBACK_NOT_SENT);
	ck_assert_int_eq(ended.verdict.refusal, REFUSAL_DEALER_UNREACHABLE);
	ck_assert_int_eq(bet("b2", "g1").verdict.refusal, REFUSAL_DEALER_UNREACHABLE);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_LOSS, 0).verdict.refusal,
		REFUSAL_BET_NOT_FOUND);
	case_pass(3600 * SECOND);
	ck_assert_uint_eq(find().event, 0);
	ck_assert_uint_eq(open_bets(), 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_game_keeps_its_wallet)
{
	struct dealer values = {.mode = WALLET_TRANSFER};
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	end_refused(&placed.send, "no_credit");
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &values).verdict.refusal, REFUSAL_NONE);
	case_in("alice", "in", 100 * CREDIT);
	ck_assert_int_eq(bet("b2", "g1").verdict.refusal, REFUSAL_WRONG_WALLET_MODE);
	ck_assert_int_eq(bet("b3", "g2").verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

static void ignore_row(void *context, const void *row)
{
	(void)context;
	(void)row;
}

/* A bet whose callback body would be too large is refused before anything is stored. */
START_TEST(a_dealer_is_sent_no_more_than_a_body_may_hold)
{
	static uint8_t object[64 * 1024];
	struct bet_place_cmd cmd = case_bet_cmd("b1", "g1", 10 * CREDIT);
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	memset(object, ' ', sizeof(object));
	object[0] = '{';
	object[OUTBOX_OBJECTS_MAX] = '}';
	cmd.user_bet = (struct bytes){object, OUTBOX_OBJECTS_MAX + 1};
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal,
		REFUSAL_PAYLOAD_TOO_LARGE);
	ck_assert_ptr_nonnull(
		strstr(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.detail, "63488"));
	object[OUTBOX_OBJECTS_MAX - 1] = '}';
	cmd.user_bet.len = OUTBOX_OBJECTS_MAX;
	memset(cmd.remark, '"', sizeof(cmd.remark) - 1);
	placed = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	ck_assert_uint_gt(placed.send.body.len, OUTBOX_OBJECTS_MAX);
	ck_assert_uint_le(placed.send.body.len, 65536);
	/* Rows of that size can be listed. */
	for (unsigned int i = 0; i < 5; i++) {
		snprintf(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), "c%u", i);
		case_run(COMMAND_BET_PLACE, &cmd);
	}
	ck_assert_uint_eq(case_list(RECORD_BET, false, 0, ignore_row, NULL), 6);
	ck_assert_uint_eq(case_list(RECORD_CALLBACK_BODY, false, 0, ignore_row, NULL), 6);
	case_close();
}
END_TEST

START_TEST(a_key_of_a_bet_is_no_other_players)
{
	struct bet_place_cmd cmd = case_bet_cmd("b1", "g1", 10 * CREDIT);
	struct slot *slot;

	case_open_mode(_i, WALLET_SEAMLESS);
	case_run(COMMAND_BET_PLACE, &cmd);
	memset(&cmd.player, 0, sizeof(cmd.player));
	strcpy(cmd.player.player_id, "aaaaaaaaaaaaaaaaaaaa");
	slot = case_run(COMMAND_BET_PLACE, &cmd);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(slot->result.verdict.field, "player");
	case_close();
}
END_TEST

START_TEST(a_game_is_staked_no_higher_than_can_be_paid_back)
{
	struct bet_place_cmd cmd = case_bet_cmd("b1", "g1", 10 * CREDIT);
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	cmd.bet_amount = MONEY_MAX - 9999; /* with two decimals */
	cmd.bet_amount -= cmd.bet_amount % 100;
	placed = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	case_end(&placed.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(bet("b2", "g1").verdict.refusal, REFUSAL_BALANCE_LIMIT);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_REFUND, 0).verdict.refusal, REFUSAL_NONE);
	case_close();
}
END_TEST

START_TEST(unknown_is_refunded)
{
	struct bet_place_result placed;
	struct callback_claim_result claimed;
	struct callback_end_result ended;
	struct due_entry due;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	case_pass(3 * SECOND);
	ended = case_end(&placed.send, CALLBACK_UNKNOWN);
	ck_assert_int_eq(ended.verdict.refusal, REFUSAL_DEALER_TIMEOUT);
	ck_assert_int_eq(ended.bet.state, BET_REFUNDING);
	case_pass(60 * SECOND - 1);
	ck_assert_uint_eq(find().event, 0);
	case_pass(1);
	due = find();
	ck_assert_int_eq(due.kind, CALLBACK_BETTING_REFUND);
	ck_assert(!due.takeover);
	claimed = case_claim(due.event);
	ck_assert_uint_eq(claimed.send.event, due.event);
	ck_assert_str_eq(claimed.send.target.path, "/betting-refund");
	ck_assert(body_has(&claimed.send, "\"remark\":\"a remark\""));
	ck_assert_int_eq(case_claim(due.event).verdict.refusal, REFUSAL_NOT_ALLOWED_NOW);
	/* Not delivered: sent again after about a second, with the same bytes. */
	ended = case_end(&claimed.send, CALLBACK_NOT_SENT);
	ck_assert_int_eq(ended.state, CALLBACK_DUE);
	ck_assert_int_gt(ended.next_ms, case_now_ms);
	case_pass(SECOND);
	claimed = case_claim(due.event);
	ck_assert_uint_eq(claimed.send.attempt, 2);
	ended = end_refused(&claimed.send, "bet_not_found");
	ck_assert_int_eq(ended.state, CALLBACK_DELIVERED);
	ck_assert_int_eq(bet("b1", "g1").bet.state, BET_REFUNDED);
	ck_assert_uint_eq(open_bets(), 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_left_bet_is_taken_over)
{
	struct bet_place_result placed;
	struct callback_claim_result claimed;
	struct due_entry due;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	case_pass(10 * SECOND);
	/* The lease has expired, but its sender may only be slow. */
	ck_assert_uint_eq(find().event, 0);
	ck_assert_int_eq(case_claim(placed.send.event).verdict.refusal, REFUSAL_NOT_ALLOWED_NOW);
	ledger_link_gone(&case_ledger, 1);
	due = find();
	ck_assert_uint_eq(due.event, placed.send.event);
	ck_assert(due.takeover);
	claimed = case_claim(due.event);
	ck_assert(claimed.taken_over);
	ck_assert_uint_eq(claimed.send.event, 0);
	/* refund_delay starts here. */
	case_pass(60 * SECOND - 1);
	ck_assert_uint_eq(find().event, 0);
	/* The first sender's report is late. */
	ck_assert(case_end(&placed.send, CALLBACK_SUCCESS).late);
	ck_assert_int_eq(bet("b1", "g1").bet.state, BET_REFUNDING);
	case_pass(1);
	ck_assert_int_eq(find().kind, CALLBACK_BETTING_REFUND);
	case_prove();
	case_close();
}
END_TEST

/* A worker whose connection broke asks again on another one, and is the sender from then on. */
START_TEST(a_bet_follows_its_sender)
{
	static struct slot slot;
	uint64_t event;

	case_open_mode(_i, WALLET_SEAMLESS);
	memset(&slot, 0, sizeof(slot));
	slot.command = COMMAND_BET_PLACE;
	slot.cmd.bet_place = case_bet_cmd("b1", "g1", 10 * CREDIT);
	slot.link = 1;
	case_run_batch(&slot, 1);
	event = slot.result.bet_place.send.event;
	ck_assert_uint_gt(event, 0);
	ledger_link_gone(&case_ledger, 1);
	slot.link = 2;
	case_run_batch(&slot, 1);
	ck_assert_uint_eq(slot.result.bet_place.send.event, event);
	case_pass(10 * SECOND);
	ck_assert_uint_eq(find().event, 0);
	ledger_link_gone(&case_ledger, 2);
	ck_assert_uint_eq(find().event, event);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_sender_that_hangs_is_passed_over)
{
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	case_pass(10 * SECOND + 60 * SECOND - 1);
	ck_assert_uint_eq(find().event, 0);
	ck_assert_uint_eq(ledger_link_overdue(&case_ledger, case_boot_ms), 0);
	case_pass(1);
	ck_assert_uint_eq(ledger_link_overdue(&case_ledger, case_boot_ms), 1);
	ck_assert_uint_eq(find().event, placed.send.event);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_left_bet_of_a_dead_dealer_is_taken_over)
{
	struct bet_place_result left, placed;
	char id[8], game[8];

	case_open_mode(_i, WALLET_SEAMLESS);
	left = bet("left", "left");
	/* The breaker opens. */
	for (unsigned int i = 0; i < 10; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		snprintf(game, sizeof(game), "g%u", i);
		placed = bet(id, game);
		case_end(&placed.send, CALLBACK_UNKNOWN);
	}
	ck_assert_int_eq(bet("b10", "g10").verdict.refusal, REFUSAL_DEALER_BUSY);
	ledger_link_gone(&case_ledger, 1);
	case_pass(10 * SECOND);
	/* A takeover calls no dealer. */
	ck_assert_int_eq(bet("b10", "g10").verdict.refusal, REFUSAL_DEALER_BUSY);
	ck_assert_uint_eq(find().event, left.send.event);
	ck_assert(case_claim(left.send.event).taken_over);
	ck_assert_int_eq(bet("left", "left").bet.state, BET_REFUNDING);
	case_prove();
	case_close();
}
END_TEST

START_TEST(late_news_give_no_permit_back)
{
	struct round_settle_result settled;
	struct callback_claim_result claimed;
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	case_end(&placed.send, CALLBACK_SUCCESS);
	settled = case_settle("s1", "g1", RESULT_LOSS, 0);
	case_pass(10 * SECOND);
	ledger_link_gone(&case_ledger, 1);
	ck_assert(case_claim(settled.event).taken_over);
	case_pass(5 * SECOND);
	claimed = case_claim(settled.event);
	ck_assert_uint_eq(claimed.send.attempt, 2);
	/* The permit belongs to the second attempt. */
	ck_assert(case_end(&settled.send, CALLBACK_UNKNOWN).late);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 1);
	ck_assert(!case_end(&claimed.send, CALLBACK_SUCCESS).late);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(results_are_sent_three_times)
{
	static const int64_t delays[] = {5 * SECOND, 30 * SECOND};
	struct round_settle_result settled;
	struct callback_claim_result claimed;
	struct callback_operate_cmd cmd;
	struct callback_end_result ended;
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	case_end(&placed.send, CALLBACK_SUCCESS);
	settled = case_settle("s1", "g1", RESULT_LOSS, 0);
	ck_assert_uint_eq(settled.transaction_id, 0);
	ended = case_end(&settled.send, CALLBACK_UNKNOWN);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(ended.state, CALLBACK_DUE);
		case_pass(delays[i] - 1);
		ck_assert_uint_eq(find().event, 0);
		case_pass(1);
		claimed = case_claim(find().event);
		ck_assert_uint_eq(claimed.send.attempt, i + 2);
		ck_assert_uint_eq(claimed.send.body.len, settled.send.body.len);
		ended = case_end(&claimed.send, CALLBACK_UNKNOWN);
	}
	ck_assert_int_eq(ended.state, CALLBACK_PARKED);
	ck_assert_uint_eq(ended.attempts, 3);
	case_pass(3600 * SECOND);
	ck_assert_uint_eq(find().event, 0);
	ck_assert_uint_eq(open_bets(), 1);

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	cmd.event = settled.event;
	cmd.action = CALLBACK_RETRY;
	ck_assert_int_eq(case_run(COMMAND_CALLBACK_OPERATE, &cmd)->result.verdict.refusal,
		REFUSAL_NONE);
	claimed = case_claim(find().event);
	ended = case_end(&claimed.send, CALLBACK_UNKNOWN);
	ck_assert_int_eq(ended.state, CALLBACK_PARKED);
	/* The same command again acts once. */
	case_run(COMMAND_CALLBACK_OPERATE, &cmd);
	ck_assert_uint_eq(find().event, 0);
	cmd.operator= case_operator();
	cmd.action = CALLBACK_CANCEL;
	ck_assert_int_eq(case_run(COMMAND_CALLBACK_OPERATE, &cmd)->result.callback_operate.state,
		CALLBACK_CANCELLED);
	ck_assert_uint_eq(open_bets(), 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_cancelled_refund_leaves_the_bet_refunded)
{
	struct bet_place_result placed;
	uint64_t refund;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	refund = placed.send.event + 1;
	ck_assert_int_eq(case_operate(placed.send.event, CALLBACK_CANCEL), REFUSAL_NOT_ALLOWED_NOW);
	case_end(&placed.send, CALLBACK_UNKNOWN);
	case_operate(refund, CALLBACK_HOLD);
	case_pass(3600 * SECOND);
	ck_assert_uint_eq(find().event, 0);
	ck_assert_int_eq(case_operate(refund, CALLBACK_CANCEL), REFUSAL_NONE);
	ck_assert_int_eq(bet("b1", "g1").bet.state, BET_REFUNDED);
	ck_assert_uint_eq(open_bets(), 0);
	case_prove();
	case_close();
}
END_TEST

/* Deletes the body, as damage or a bad import would. */
static void drop_body(uint64_t event)
{
	struct callback_body key;
	struct ws ws;

	memset(&key, 0, sizeof(key));
	key.event = event;
	ws_init(&ws);
	ws_want(&ws, RECORD_CALLBACK_BODY, &key);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	ws_drop(&ws, RECORD_CALLBACK_BODY, &key);
	ck_assert_int_eq(case_db->save(case_db, &ws), SAVE_OK);
	ws_free(&ws);
}

/* A callback that cannot be sent must not hold a permit that others need. */
START_TEST(a_body_that_is_missing_holds_no_permit)
{
	struct dealer values = {.max_inflight = 1};
	struct bet_place_result first;
	struct round_settle_result settled;

	case_open_mode(_i, WALLET_SEAMLESS);
	first = bet("b1", "g1");
	case_end(&first.send, CALLBACK_SUCCESS);
	case_dealer_set(DEALER_MAX_INFLIGHT, &values);
	first = bet("b2", "g2");
	settled = case_settle("s1", "g1", RESULT_LOSS, 0);
	ck_assert_int_eq(settled.callback_state, CALLBACK_DUE);
	case_end(&first.send, CALLBACK_SUCCESS);
	drop_body(settled.event);
	ck_assert_uint_eq(case_claim(settled.event).send.event, 0);
	ck_assert_uint_ne(bet("b3", "g3").send.event, 0);
	case_close();
}
END_TEST

START_TEST(a_busy_dealer_consumes_no_key)
{
	struct dealer values = {.max_inflight = 1};
	struct round_settle_result settled;
	struct bet_place_result first, second;

	case_open_mode(_i, WALLET_SEAMLESS);
	first = bet("b1", "g1");
	case_end(&first.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(case_dealer_set(DEALER_MAX_INFLIGHT, &values).verdict.refusal,
		REFUSAL_NONE);
	first = bet("b2", "g2");
	second = bet("b3", "g3");
	ck_assert_int_eq(second.verdict.refusal, REFUSAL_DEALER_BUSY);
	ck_assert_uint_gt(second.verdict.retry_after_s, 0);
	/* A first betting-result is left to the sweeper. */
	settled = case_settle("s1", "g1", RESULT_LOSS, 0);
	ck_assert_int_eq(settled.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(settled.callback_state, CALLBACK_DUE);
	ck_assert_uint_eq(settled.send.event, 0);
	ck_assert_uint_eq(find().event, 0);
	case_end(&first.send, CALLBACK_SUCCESS);
	ck_assert_uint_eq(find().event, settled.event);
	second = bet("b3", "g3");
	ck_assert_int_eq(second.verdict.refusal, REFUSAL_BET_IN_PROGRESS);
	ck_assert_uint_ne(second.send.event, 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_repeated_call_still_sends)
{
	struct bet_place_cmd cmd = case_bet_cmd("b1", "g1", 10 * CREDIT);
	struct bet_place_result first, again;

	case_open_mode(_i, WALLET_SEAMLESS);
	first = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	again = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	ck_assert(!again.verdict.replay);
	ck_assert_uint_eq(again.send.event, first.send.event);
	ck_assert_uint_eq(again.send.attempt, 1);
	ck_assert_int_eq(again.send.lease_left_ms, first.send.lease_left_ms);
	ck_assert_uint_eq(again.send.body.len, first.send.body.len);
	ck_assert_mem_eq(again.send.body.data, first.send.body.data, first.send.body.len);
	cmd.sender++;
	again = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	ck_assert(again.verdict.replay);
	ck_assert_uint_eq(again.send.event, 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_restart_forgets_nothing)
{
	struct bet_place_result left, lost;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	left = bet("b1", "g1");
	lost = bet("b2", "g2");
	case_end(&lost.send, CALLBACK_UNKNOWN);
	case_pass(30 * SECOND);
	case_reopen();
	/* It was being sent when the ledger stopped: leased for 10 s from the start. */
	case_pass(10 * SECOND - 1);
	ck_assert_uint_eq(find().event, 0);
	case_pass(1);
	ck_assert_uint_eq(find().event, left.send.event);
	ck_assert(case_claim(left.send.event).taken_over);
	/* After a reboot, the refund of the other is due by the wall clock. */
	case_pass(10 * SECOND);
	case_boot++;
	case_boot_ms = 5 * SECOND;
	case_reopen();
	ck_assert_uint_eq(find().event, 0);
	case_pass(10 * SECOND);
	ck_assert_int_eq(find().kind, CALLBACK_BETTING_REFUND);
	case_prove();
	case_close();
}
END_TEST

/*
 * When space is low, the dealer's answer is stored, and abandoned attempts are taken over.
 * Everything else waits.
 */
START_TEST(low_space_keeps_no_bet_under_way)
{
	struct bet_place_result answered, left;
	struct callback_claim_result claimed;
	uint64_t refund;

	case_open_mode(_i, WALLET_SEAMLESS);
	answered = bet("b1", "g1");
	left = bet("b2", "g2");
	case_ledger.storage_low = true;
	ck_assert_int_eq(bet("b3", "g3").verdict.refusal, REFUSAL_STORAGE_FULL);
	ck_assert_int_eq(case_end(&answered.send, CALLBACK_SUCCESS).bet.state, BET_ACCEPTED);
	case_pass(10 * SECOND);
	ledger_link_gone(&case_ledger, 1);
	claimed = case_claim(left.send.event);
	ck_assert_int_eq(claimed.verdict.refusal, REFUSAL_NONE);
	ck_assert(claimed.taken_over);
	case_pass(60 * SECOND);
	refund = find().event;
	ck_assert_uint_gt(refund, left.send.event);
	ck_assert_int_eq(case_claim(refund).verdict.refusal, REFUSAL_STORAGE_FULL);
	case_ledger.storage_low = false;
	ck_assert_int_eq(case_claim(refund).verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

/*
 * When space is low, a caller whose answer was lost gets the same callback to send: it was stored
 * and is due.
 */
START_TEST(low_space_tells_again_what_to_send)
{
	struct bet_place_cmd asked = case_bet_cmd("b1", "g1", 10 * CREDIT);
	struct bet_place_result first, won, again;
	struct round_settle_cmd settle = case_settle_cmd("s1", "g2", RESULT_WIN, 25 * CREDIT);
	struct round_settle_result settled, settled_again;

	case_open_mode(_i, WALLET_SEAMLESS);
	first = case_run(COMMAND_BET_PLACE, &asked)->result.bet_place;
	won = bet("b2", "g2");
	case_end(&won.send, CALLBACK_SUCCESS);
	settled = case_run(COMMAND_ROUND_SETTLE, &settle)->result.round_settle;
	case_ledger.storage_low = true;
	again = case_run(COMMAND_BET_PLACE, &asked)->result.bet_place;
	ck_assert_int_eq(again.verdict.refusal, first.verdict.refusal);
	ck_assert(!again.verdict.replay);
	ck_assert_uint_gt(first.send.event, 0);
	ck_assert_uint_eq(again.send.event, first.send.event);
	settled_again = case_run(COMMAND_ROUND_SETTLE, &settle)->result.round_settle;
	ck_assert_uint_gt(settled.send.event, 0);
	ck_assert_uint_eq(settled_again.send.event, settled.send.event);
	ck_assert_int_eq(case_end(&again.send, CALLBACK_SUCCESS).bet.state, BET_ACCEPTED);
	ck_assert_int_eq(case_end(&settled_again.send, CALLBACK_SUCCESS).state, CALLBACK_DELIVERED);
	case_prove();
	case_close();
}
END_TEST

/*
 * When space is low, a command that needs space delays no other command that ends in the same
 * batch.
 */
START_TEST(low_space_parts_a_batch)
{
	static struct slot slots[2];
	struct bet_place_cmd asked = case_bet_cmd("b2", "g2", 10 * CREDIT);
	struct bet_place_result first;
	struct callback_end_cmd end;

	case_open_mode(_i, WALLET_SEAMLESS);
	first = bet("b1", "g1");
	end = case_end_cmd(&first.send, CALLBACK_SUCCESS);
	memset(slots, 0, sizeof(slots));
	slots[0].command = COMMAND_BET_PLACE;
	slots[0].cmd.bet_place = asked;
	slots[1].command = COMMAND_CALLBACK_END;
	slots[1].cmd.callback_end = end;
	slots[0].link = slots[1].link = 1;
	case_ledger.storage_low = true;
	case_run_batch(slots, 2);
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_STORAGE_FULL);
	ck_assert_int_eq(slots[1].result.callback_end.bet.state, BET_ACCEPTED);
	case_prove();
	case_close();
}
END_TEST

/* A clock without a battery starts in the past and is set when there is a network. */
START_TEST(a_clock_that_is_behind_keeps_nothing_waiting)
{
	struct callback_claim_result claimed;
	struct callback_end_result ended;
	struct bet_place_result lost, left;
	uint64_t refund;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	lost = bet("b1", "g1");
	case_end(&lost.send, CALLBACK_UNKNOWN);
	left = bet("b2", "g2");
	case_now_ms -= 400 * 86400 * SECOND;
	case_boot++;
	case_boot_ms = 5 * SECOND;
	case_reopen();
	case_pass(10 * SECOND);
	ck_assert_uint_eq(find().event, left.send.event);
	ck_assert(case_claim(left.send.event).taken_over);
	/* The refund waits for the longest possible delay, and is sent. */
	case_pass(case_outbox.retry.refund_backoff_max_ms - 10 * SECOND - 1);
	refund = lost.send.event + 1;
	ck_assert_int_eq(case_claim(refund).verdict.refusal, REFUSAL_NOT_ALLOWED_NOW);
	case_pass(1);
	claimed = case_claim(refund);
	ck_assert_int_eq(claimed.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(claimed.kind, CALLBACK_BETTING_REFUND);
	/* Its day begins when the clock is set. */
	ended = case_end(&claimed.send, CALLBACK_UNKNOWN);
	case_now_ms += 400 * 86400 * SECOND;
	for (int i = 0; i < 26 * 12 && ended.state != CALLBACK_PARKED; i++) {
		ck_assert_int_eq(ended.state, CALLBACK_DUE);
		case_pass(5 * MINUTE);
		claimed = case_claim(refund);
		ended = case_end(&claimed.send, CALLBACK_UNKNOWN);
	}
	ck_assert_int_eq(ended.state, CALLBACK_PARKED);
	case_prove();
	case_close();
}
END_TEST

/* The clock is right only after the next reboot: the earlier attempt does not shorten the day. */
START_TEST(a_clock_that_was_behind_parks_nothing)
{
	struct callback_claim_result claimed;
	struct bet_place_result lost;
	uint64_t refund;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	lost = bet("b1", "g1");
	refund = lost.send.event + 1;
	case_end(&lost.send, CALLBACK_UNKNOWN);
	for (int behind = 1; behind >= 0; behind--) {
		case_now_ms += (behind ? -400 : 400) * 86400 * SECOND;
		case_boot++;
		case_boot_ms = 5 * SECOND;
		case_reopen();
		case_pass(HOUR);
		claimed = case_claim(refund);
		ck_assert_int_eq(claimed.verdict.refusal, REFUSAL_NONE);
		ck_assert_int_eq(case_end(&claimed.send, CALLBACK_UNKNOWN).state, CALLBACK_DUE);
	}
	case_prove();
	case_close();
}
END_TEST

START_TEST(balance_is_inquired)
{
	struct player_balance_result result;
	struct player_balance_cmd cmd;

	case_open_mode(_i, WALLET_SEAMLESS);
	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	result = case_run(COMMAND_PLAYER_BALANCE, &cmd)->result.player_balance;
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(result.mode, WALLET_SEAMLESS);
	ck_assert_int_eq(result.send.kind, CALLBACK_BALANCE_INQUIRE);
	ck_assert_uint_gt(result.send.event, 0);
	ck_assert(body_has(&result.send, "\"user_id\":\"alice\""));
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 1);
	case_end(&result.send, CALLBACK_SUCCESS);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_lost_batch_keeps_no_permits)
{
	struct slot slots[2];

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	memset(slots, 0, sizeof(slots));
	for (unsigned int i = 0; i < 2; i++) {
		slots[i].command = COMMAND_BET_PLACE;
		slots[i].link = 1;
		slots[i].cmd.bet_place =
			case_bet_cmd(i ? "b2" : "b1", i ? "g2" : "g1", 10 * CREDIT);
	}
	memory_store_fail(case_db, SAVE_FULL, 3);
	case_run_batch(slots, 2);
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_STORAGE_FULL);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 0);
	case_run_batch(slots, 2);
	ck_assert_uint_eq(permits_inflight(&case_ledger.derived.permits, "demo", case_boot_ms), 2);
	case_prove();
	case_close();
}
END_TEST

Suite *seamless_suite(void)
{
	Suite *suite = suite_create("seamless");
	TCase *tc = tcase_create("seamless");

	tcase_add_loop_test(tc, accepted_and_won, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, refused_and_unreachable, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_dealer_is_sent_no_more_than_a_body_may_hold, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_key_of_a_bet_is_no_other_players, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_game_is_staked_no_higher_than_can_be_paid_back, 0,
		CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_game_keeps_its_wallet, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, unknown_is_refunded, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_left_bet_is_taken_over, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_bet_follows_its_sender, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_sender_that_hangs_is_passed_over, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_left_bet_of_a_dead_dealer_is_taken_over, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, late_news_give_no_permit_back, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, results_are_sent_three_times, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_cancelled_refund_leaves_the_bet_refunded, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_busy_dealer_consumes_no_key, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_body_that_is_missing_holds_no_permit, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_repeated_call_still_sends, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_restart_forgets_nothing);
	tcase_add_test(tc, a_clock_that_is_behind_keeps_nothing_waiting);
	tcase_add_test(tc, a_clock_that_was_behind_parks_nothing);
	tcase_add_loop_test(tc, low_space_keeps_no_bet_under_way, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, low_space_tells_again_what_to_send, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, low_space_parts_a_batch, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, balance_is_inquired, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_lost_batch_keeps_no_permits);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
