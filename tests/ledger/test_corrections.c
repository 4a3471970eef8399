/*
 * Tests corrections of settled rounds: one after the other, each once, and never a balance below 0.
 */
#include "case_wagers.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static struct round_correct_result correct(const char *id, const char *game, uint32_t revision,
	enum round_result result, money_t payout)
{
	struct round_correct_cmd cmd = case_correct_cmd(id, game, revision, result, payout);

	return case_run(COMMAND_ROUND_CORRECT, &cmd)->result.round_correct;
}

static struct round_correct_result allowed(const char *id, const char *game, uint32_t revision,
	enum round_result result, money_t payout)
{
	struct round_correct_cmd cmd = case_correct_cmd(id, game, revision, result, payout);

	cmd.allow_shortfall = true;
	return case_run(COMMAND_ROUND_CORRECT, &cmd)->result.round_correct;
}

static money_t balance(void)
{
	return case_balance("alice").balance;
}

/* The sums that A4 reports of alice: bets, turnover and profit, in credits. */
static void statistics_are(uint64_t bets, money_t turnover, money_t profit_loss)
{
	struct user_stat_cmd cmd = {.bet_summary = true};
	const struct user_stat_result *result;

	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, "alice");
	result = &case_run(COMMAND_USER_STAT, &cmd)->result.user_stat;
	ck_assert_uint_eq(result->sums.bet_count, bets);
	ck_assert(result->sums.turnover == turnover * CREDIT);
	ck_assert(result->sums.profit_loss == profit_loss * CREDIT);
	ck_assert_mem_eq(&result->days[STATISTICS_DAYS - 1], &result->sums, sizeof(result->sums));
}

START_TEST(up_and_down)
{
	struct round_correct_result first, again;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_settle("s1", "g1", RESULT_LOSS, 0);
	statistics_are(1, 30, -30);
	first = correct("c1", "g1", 1, RESULT_WIN, 50 * CREDIT);
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_gt(first.transaction_id, 0);
	ck_assert_uint_eq(first.revision, 1);
	ck_assert_int_eq(first.delta, 50 * CREDIT);
	ck_assert_int_eq(first.payout_amount, 50 * CREDIT);
	ck_assert_int_eq(first.shortfall, 0);
	ck_assert_int_eq(balance(), 120 * CREDIT);
	statistics_are(1, 30, 20);
	again = correct("c1", "g1", 1, RESULT_WIN, 50 * CREDIT);
	ck_assert(again.verdict.replay);
	again.verdict = first.verdict;
	ck_assert_mem_eq(&first, &again, sizeof(first));
	case_prove();
	ck_assert_int_eq(correct("c2", "g1", 2, RESULT_WIN, 20 * CREDIT).delta, -30 * CREDIT);
	ck_assert_int_eq(balance(), 90 * CREDIT);
	statistics_are(1, 30, -10);
	/* A round that is void after its settlement: the bet does not count any more. */
	ck_assert_int_eq(correct("c3", "g1", 3, RESULT_REFUND, 0).delta, 10 * CREDIT);
	ck_assert_int_eq(balance(), 100 * CREDIT);
	statistics_are(0, 0, 0);
	ck_assert_int_eq(correct("c4", "g1", 4, RESULT_LOSS, 0).delta, -30 * CREDIT);
	statistics_are(1, 30, -30);
	/* The answers of the settlement and of each correction stay. */
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_LOSS, 0).payout_amount, 0);
	again = correct("c1", "g1", 1, RESULT_WIN, 50 * CREDIT);
	again.verdict = first.verdict;
	ck_assert_mem_eq(&first, &again, sizeof(first));
	ck_assert_int_eq(balance(), 70 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_revision_is_made_once)
{
	struct round_correct_result refused;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	ck_assert_int_eq(correct("c0", "g1", 1, RESULT_LOSS, 0).verdict.refusal,
		REFUSAL_GAME_NOT_FOUND);
	case_bet("b1", "g1", 30 * CREDIT);
	ck_assert_int_eq(correct("c0", "g1", 1, RESULT_LOSS, 0).verdict.refusal,
		REFUSAL_REVISION_CONFLICT);
	case_settle("s1", "g1", RESULT_LOSS, 0);
	refused = correct("c0", "g1", 2, RESULT_WIN, CREDIT);
	ck_assert_int_eq(refused.verdict.refusal, REFUSAL_REVISION_CONFLICT);
	ck_assert_uint_eq(refused.revision, 0);
	correct("c1", "g1", 1, RESULT_WIN, CREDIT);
	refused = correct("c2", "g1", 1, RESULT_WIN, 2 * CREDIT);
	ck_assert_int_eq(refused.verdict.refusal, REFUSAL_REVISION_CONFLICT);
	ck_assert_uint_eq(refused.revision, 1);
	/* The key that was refused is free. */
	ck_assert_int_eq(correct("c2", "g1", 2, RESULT_WIN, 2 * CREDIT).verdict.refusal,
		REFUSAL_NONE);
	ck_assert_str_eq(correct("c2", "g1", 3, RESULT_WIN, 2 * CREDIT).verdict.field, "revision");
	ck_assert_str_eq(correct("c2", "g1", 2, RESULT_WIN, 3 * CREDIT).verdict.field,
		"payout_amount");
	ck_assert_str_eq(correct("c2", "g1", 2, RESULT_LOSS, 0).verdict.field, "result");
	ck_assert_str_eq(correct("c2", "g2", 2, RESULT_WIN, 2 * CREDIT).verdict.field, "game_id");
	ck_assert_str_eq(correct("s1", "g1", 3, RESULT_WIN, 0).verdict.field, "operation");
	ck_assert_str_eq(allowed("c2", "g1", 2, RESULT_WIN, 2 * CREDIT).verdict.field,
		"allow_shortfall");
	/* What does not fit the result, or has too many decimals. */
	ck_assert_int_eq(correct("c3", "g1", 3, RESULT_LOSS, CREDIT).verdict.refusal,
		REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(correct("c3", "g1", 3, RESULT_REFUND, CREDIT).verdict.refusal,
		REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(correct("c3", "g1", 3, RESULT_WIN, 1).verdict.refusal,
		REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(balance(), 72 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

/* Both want to make the same revision, in one batch: one does. */
START_TEST(two_in_one_batch)
{
	static struct slot slots[2];

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_settle("s1", "g1", RESULT_LOSS, 0);
	memset(slots, 0, sizeof(slots));
	slots[0].command = slots[1].command = COMMAND_ROUND_CORRECT;
	slots[0].cmd.round_correct = case_correct_cmd("c1", "g1", 1, RESULT_WIN, 10 * CREDIT);
	slots[1].cmd.round_correct = case_correct_cmd("c2", "g1", 1, RESULT_WIN, 20 * CREDIT);
	case_run_batch(slots, 2);
	ck_assert_int_eq(slots[0].result.round_correct.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(slots[1].result.round_correct.verdict.refusal, REFUSAL_REVISION_CONFLICT);
	ck_assert_int_eq(balance(), 80 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_shortfall_is_taken_later)
{
	struct round_correct_result result;

	case_open(_i);
	case_in("alice", "in", 30 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_settle("s1", "g1", RESULT_WIN, 100 * CREDIT);
	case_out("alice", "out", 60 * CREDIT);
	result = correct("c1", "g1", 1, RESULT_LOSS, 0);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(result.verdict.current_balance, 40 * CREDIT);
	result = allowed("c1", "g1", 1, RESULT_LOSS, 0);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(result.delta, -100 * CREDIT);
	ck_assert_int_eq(result.shortfall, 60 * CREDIT);
	ck_assert_int_eq(balance(), 0);
	case_prove();
	/* Nothing is left to take: no movement, but a transaction of its own. */
	result = allowed("c2", "g1", 2, RESULT_WIN, 50 * CREDIT);
	ck_assert_int_eq(result.delta, 50 * CREDIT);
	ck_assert_int_eq(result.shortfall, -50 * CREDIT);
	ck_assert_int_eq(balance(), 0);
	ck_assert_uint_gt(result.transaction_id, 0);
	/* The rest of the shortfall, and then credit: the player has had 60 of the 100 that are due. */
	result = allowed("c3", "g1", 3, RESULT_WIN, 100 * CREDIT);
	ck_assert_int_eq(result.shortfall, -10 * CREDIT);
	ck_assert_int_eq(balance(), 40 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(only_the_objects_change)
{
	struct round_correct_result result;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_settle("s1", "g1", RESULT_WIN, 40 * CREDIT);
	result = correct("c1", "g1", 1, RESULT_WIN, 40 * CREDIT);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(result.delta, 0);
	ck_assert_uint_gt(result.transaction_id, 0);
	ck_assert_int_eq(balance(), 110 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

static bool body_has(const struct callback_grant *grant, const char *text)
{
	return memmem(grant->body.data, grant->body.len, text, strlen(text)) != NULL;
}

/* Settles a won round of a seamless wallet; its B3 is delivered. */
static void seamless_round(money_t payout)
{
	struct bet_place_result placed = case_bet("b1", "g1", 10 * CREDIT);
	struct round_settle_result settled;

	case_end(&placed.send, CALLBACK_SUCCESS);
	settled = case_settle("s1", "g1", payout ? RESULT_WIN : RESULT_LOSS, payout);
	case_end(&settled.send, CALLBACK_SUCCESS);
}

START_TEST(a_dealer_is_sent_another_win)
{
	struct round_correct_result first, again;
	struct bet_place_result placed;
	struct round_settle_result settled;

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = case_bet("b1", "g1", 10 * CREDIT);
	case_end(&placed.send, CALLBACK_SUCCESS);
	settled = case_settle("s1", "g1", RESULT_LOSS, 0);
	/* The B3 of the settlement comes first. */
	ck_assert_int_eq(correct("c1", "g1", 1, RESULT_WIN, 25 * CREDIT).verdict.refusal,
		REFUSAL_CALLBACK_OPEN);
	case_end(&settled.send, CALLBACK_SUCCESS);
	first = correct("c1", "g1", 1, RESULT_WIN, 25 * CREDIT);
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(first.send.kind, CALLBACK_BETTING_RESULT);
	ck_assert_int_eq(first.callback_state, CALLBACK_SENDING);
	ck_assert(body_has(&first.send, "\"result\":\"win\""));
	ck_assert(body_has(&first.send, "\"bet_amount\":0"));
	ck_assert(body_has(&first.send, "\"payout_amount\":25.0"));
	ck_assert(body_has(&first.send, "\"corrects_revision\":0"));
	ck_assert(body_has(&first.send, "\"revision\":1"));
	case_prove();
	ck_assert_int_eq(correct("c2", "g1", 2, RESULT_WIN, 30 * CREDIT).verdict.refusal,
		REFUSAL_CALLBACK_OPEN);
	case_end(&first.send, CALLBACK_SUCCESS);
	again = correct("c1", "g1", 1, RESULT_WIN, 25 * CREDIT);
	ck_assert(again.verdict.replay);
	ck_assert_int_eq(again.callback_state, CALLBACK_DELIVERED);
	ck_assert_int_eq(correct("c2", "g1", 2, RESULT_WIN, 30 * CREDIT).delta, 5 * CREDIT);
	/* The answer to the first one stays, although its callback is not the last one any more. */
	again = correct("c1", "g1", 1, RESULT_WIN, 25 * CREDIT);
	ck_assert_int_eq(again.verdict.refusal, REFUSAL_NONE);
	ck_assert(again.verdict.replay);
	ck_assert_uint_eq(again.transaction_id, first.transaction_id);
	ck_assert_int_eq(again.callback_state, CALLBACK_DELIVERED);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_LOSS, 0).payout_amount, 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_decrease_needs_a_path)
{
	struct dealer values;
	struct round_correct_result down, up;
	struct callback_end_cmd end;

	case_open_mode(_i, WALLET_SEAMLESS);
	seamless_round(25 * CREDIT);
	ck_assert_int_eq(correct("c1", "g1", 1, RESULT_LOSS, 0).verdict.refusal,
		REFUSAL_CORRECTION_NOT_SUPPORTED);
	case_prove();
	memset(&values, 0, sizeof(values));
	strcpy(values.path_betting_correction, "/betting-correction");
	case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values);
	down = correct("c1", "g1", 1, RESULT_LOSS, 0);
	ck_assert_int_eq(down.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(down.send.kind, CALLBACK_BETTING_CORRECTION);
	ck_assert_str_eq(down.send.target.path, "/betting-correction");
	ck_assert(body_has(&down.send, "\"correction_amount\":-25.0"));
	ck_assert(body_has(&down.send, "\"previous_payout_amount\":25.0"));
	/* The dealer could take 15 of 25. */
	end = case_end_cmd(&down.send, CALLBACK_SUCCESS);
	end.outcome.shortfall = 10 * CREDIT;
	/* The caller's first answer is the same as a repeated one. */
	ck_assert_int_eq(case_run(COMMAND_CALLBACK_END, &end)->result.callback_end.shortfall,
		10 * CREDIT);
	ck_assert_int_eq(correct("c1", "g1", 1, RESULT_LOSS, 0).shortfall, 10 * CREDIT);
	case_prove();
	up = correct("c2", "g1", 2, RESULT_WIN, 25 * CREDIT);
	ck_assert_int_eq(up.shortfall, -10 * CREDIT);
	ck_assert(body_has(&up.send, "\"payout_amount\":15.0"));
	ck_assert_int_eq(case_end(&up.send, CALLBACK_SUCCESS).shortfall, -10 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

/* How much the dealer took is not known from such a shortfall: the call is sent again. */
START_TEST(a_shortfall_fits)
{
	static const money_t wrong[] = {-1, 26 * CREDIT, CREDIT / 1000};
	struct dealer values;
	struct round_correct_result down;
	struct callback_end_cmd end;
	struct callback_end_result ended;

	case_open_mode(_i % CASE_STORE_COUNT, WALLET_SEAMLESS);
	seamless_round(25 * CREDIT);
	memset(&values, 0, sizeof(values));
	strcpy(values.path_betting_correction, "/c");
	case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values);
	down = correct("c1", "g1", 1, RESULT_LOSS, 0);
	end = case_end_cmd(&down.send, CALLBACK_SUCCESS);
	end.outcome.shortfall = wrong[_i / CASE_STORE_COUNT];
	ended = case_run(COMMAND_CALLBACK_END, &end)->result.callback_end;
	ck_assert_int_eq(ended.state, CALLBACK_DUE);
	ck_assert_int_eq(ended.shortfall, 0);
	case_prove();
	case_pass(MINUTE);
	down.send = case_claim(down.send.event).send;
	end = case_end_cmd(&down.send, CALLBACK_SUCCESS);
	end.outcome.shortfall = 25 * CREDIT;
	ended = case_run(COMMAND_CALLBACK_END, &end)->result.callback_end;
	ck_assert_int_eq(ended.state, CALLBACK_DELIVERED);
	ck_assert_int_eq(ended.shortfall, 25 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

/* A decrease has no default path: without one it would go to the dealer's URL itself. */
START_TEST(a_removed_path_is_used_to_the_end)
{
	struct dealer values;
	struct round_correct_result down;
	struct callback_claim_result claim;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	seamless_round(25 * CREDIT);
	memset(&values, 0, sizeof(values));
	strcpy(values.path_betting_correction, "/old");
	case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values);
	down = correct("c1", "g1", 1, RESULT_LOSS, 0);
	case_end(&down.send, CALLBACK_UNKNOWN);
	memset(&values, 0, sizeof(values));
	ck_assert_int_eq(case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values).verdict.refusal,
		REFUSAL_NONE);
	case_reopen();
	case_pass(MINUTE);
	claim = case_claim(down.send.event);
	ck_assert_int_eq(claim.verdict.refusal, REFUSAL_NONE);
	ck_assert_str_eq(claim.send.target.path, "/old");
	case_end(&claim.send, CALLBACK_UNKNOWN);
	strcpy(values.path_betting_correction, "/new");
	case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values);
	case_pass(MINUTE);
	claim = case_claim(down.send.event);
	ck_assert_str_eq(claim.send.target.path, "/new");
	case_end(&claim.send, CALLBACK_SUCCESS);
	case_prove();
	case_close();
}
END_TEST

/* A decrease that is not answered is parked after three attempts, and blocks the next one. */
START_TEST(a_parked_correction_blocks)
{
	struct dealer values;
	struct round_correct_result down;
	struct callback_end_result ended;
	struct callback_claim_result claim;

	case_open_mode(_i, WALLET_SEAMLESS);
	seamless_round(25 * CREDIT);
	memset(&values, 0, sizeof(values));
	strcpy(values.path_betting_correction, "/c");
	case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values);
	down = correct("c1", "g1", 1, RESULT_LOSS, 0);
	ended = case_end(&down.send, CALLBACK_UNKNOWN);
	for (int attempt = 2; attempt <= 3; attempt++) {
		ck_assert_int_eq(ended.state, CALLBACK_DUE);
		case_pass(MINUTE);
		claim = case_claim(down.send.event);
		ck_assert_int_eq(claim.verdict.refusal, REFUSAL_NONE);
		ended = case_end(&claim.send, CALLBACK_UNKNOWN);
	}
	ck_assert_int_eq(ended.state, CALLBACK_PARKED);
	ck_assert_int_eq(correct("c2", "g1", 2, RESULT_WIN, CREDIT).verdict.refusal,
		REFUSAL_CALLBACK_OPEN);
	case_prove();
	ck_assert_int_eq(case_operate(down.send.event, CALLBACK_CANCEL), REFUSAL_NONE);
	ck_assert_int_eq(correct("c2", "g1", 2, RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

/* The credit of a round of before is where the other wallet is. */
START_TEST(a_round_keeps_its_wallet)
{
	struct dealer values = {.mode = WALLET_TRANSFER};
	struct round_correct_result first, refused;

	case_open_mode(_i, WALLET_SEAMLESS);
	seamless_round(25 * CREDIT);
	first = correct("c1", "g1", 1, RESULT_WIN, 30 * CREDIT);
	case_end(&first.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &values).verdict.refusal, REFUSAL_NONE);
	refused = correct("c2", "g1", 2, RESULT_WIN, 40 * CREDIT);
	ck_assert_int_eq(refused.verdict.refusal, REFUSAL_WRONG_WALLET_MODE);
	ck_assert_ptr_ne(strstr(refused.verdict.detail, "settle the difference"), NULL);
	ck_assert_int_eq(balance(), 0);
	/* The answer to what was done stays. */
	ck_assert(correct("c1", "g1", 1, RESULT_WIN, 30 * CREDIT).verdict.replay);
	case_prove();
	case_close();
}
END_TEST

static struct operator_correct_result by_operator(const char *operation_id, uint32_t revision,
	enum round_result result, money_t payout, bool preview)
{
	struct operator_correct_cmd cmd = {.operator= case_operator(),
		.revision = revision,
		.result = result,
		.payout_amount = payout,
		.preview = preview};

	strcpy(cmd.operator.operation_id, operation_id);
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, "alice");
	strcpy(cmd.game_id, "g1");
	return case_run(COMMAND_OPERATOR_CORRECT, &cmd)->result.operator_correct;
}

static void keep_audit(void *last, const void *audit)
{
	*(struct audit *)last = *(const struct audit *)audit;
}

/* The key of an operator is of another scope than that of a game server. */
START_TEST(an_operator_corrects)
{
	struct operator_correct_result made, again;
	struct audit audit;
	unsigned int audits;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 30 * CREDIT);
	case_settle("s1", "g1", RESULT_LOSS, 0);
	made = by_operator("o1", 1, RESULT_WIN, 50 * CREDIT, true);
	ck_assert_int_eq(made.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(made.delta, 50 * CREDIT);
	ck_assert_uint_eq(made.transaction_id, 0);
	ck_assert_int_eq(balance(), 70 * CREDIT);
	/* The preview has used neither the revision nor the operation id. */
	audits = case_list(RECORD_AUDIT, false, 0, keep_audit, &audit);
	made = by_operator("o1", 1, RESULT_WIN, 50 * CREDIT, false);
	ck_assert_int_eq(made.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(balance(), 120 * CREDIT);
	case_prove();
	again = by_operator("o1", 1, RESULT_WIN, 50 * CREDIT, false);
	ck_assert(again.verdict.replay);
	ck_assert_uint_eq(again.transaction_id, made.transaction_id);
	/* The audit has the correction once. */
	ck_assert_uint_eq(case_list(RECORD_AUDIT, false, 0, keep_audit, &audit), audits + 1);
	ck_assert_str_eq(audit.object, "player demo/alice");
	ck_assert_ptr_nonnull(strstr(audit.detail, "game_id=g1 revision=1 result=win"));
	ck_assert_str_eq(by_operator("o1", 1, RESULT_WIN, 40 * CREDIT, false).verdict.field,
		"payout_amount");
	/* A game server may have the same reference. */
	ck_assert_int_eq(correct("o1", "g1", 2, RESULT_LOSS, 0).delta, -50 * CREDIT);
	ck_assert_int_eq(by_operator("o2", 2, RESULT_LOSS, 0, true).verdict.refusal,
		REFUSAL_REVISION_CONFLICT);
	ck_assert_int_eq(by_operator("o2", 2, RESULT_LOSS, 0, false).verdict.refusal,
		REFUSAL_REVISION_CONFLICT);
	/* The operation id of another command. */
	ck_assert_int_eq(case_adjust("alice", CREDIT, "o3").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(by_operator("o3", 3, RESULT_WIN, CREDIT, false).verdict.refusal,
		REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_int_eq(case_adjust("alice", CREDIT, "o1").verdict.refusal,
		REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_int_eq(balance(), 71 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(the_sweeper_sends_for_an_operator)
{
	struct operator_correct_result made;
	struct callback_claim_result claim;

	case_open_mode(_i, WALLET_SEAMLESS);
	seamless_round(25 * CREDIT);
	made = by_operator("o1", 1, RESULT_WIN, 30 * CREDIT, false);
	ck_assert_int_eq(made.callback_state, CALLBACK_DUE);
	ck_assert_uint_eq(made.callback_attempts, 0);
	case_prove();
	claim = case_claim(made.event);
	ck_assert_int_eq(claim.verdict.refusal, REFUSAL_NONE);
	ck_assert(body_has(&claim.send, "\"payout_amount\":5.0"));
	case_end(&claim.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(by_operator("o1", 1, RESULT_WIN, 30 * CREDIT, false).callback_state,
		CALLBACK_DELIVERED);
	/* A worker may not name itself an operator. */
	{
		struct round_correct_cmd cmd =
			case_correct_cmd("c1", "g1", 2, RESULT_WIN, 40 * CREDIT);

		cmd.client_id[0] = '\0';
		ck_assert_int_eq(case_run(COMMAND_ROUND_CORRECT, &cmd)
					 ->result.round_correct.verdict.refusal,
			REFUSAL_BAD_REQUEST);
	}
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_round_has_64)
{
	char id[16];

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 10 * CREDIT);
	case_settle("s1", "g1", RESULT_LOSS, 0);
	for (uint32_t revision = 1; revision <= ROUND_CORRECTIONS_MAX; revision++) {
		snprintf(id, sizeof(id), "c%u", revision);
		ck_assert_int_eq(correct(id, "g1", revision, RESULT_WIN, (money_t)revision * CREDIT)
					 .verdict.refusal,
			REFUSAL_NONE);
	}
	ck_assert_int_eq(correct("c65", "g1", 65, RESULT_LOSS, 0).verdict.refusal,
		REFUSAL_ROUND_FULL);
	ck_assert_int_eq(balance(), 154 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

Suite *corrections_suite(void)
{
	Suite *suite = suite_create("corrections");
	TCase *tests = tcase_create("corrections");

	tcase_add_loop_test(tests, up_and_down, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_revision_is_made_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, two_in_one_batch, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_shortfall_is_taken_later, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, only_the_objects_change, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_dealer_is_sent_another_win, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_decrease_needs_a_path, 0, CASE_STORE_COUNT);
	tcase_add_test(tests, a_removed_path_is_used_to_the_end);
	tcase_add_loop_test(tests, a_shortfall_fits, 0, 3 * CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_parked_correction_blocks, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_round_keeps_its_wallet, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, an_operator_corrects, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, the_sweeper_sends_for_an_operator, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_round_has_64, 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tests);
	return suite;
}
