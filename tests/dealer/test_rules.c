/*
 * The reference dealer's rules without HTTP and storage: every sequence of callbacks about one
 * transaction id, and each planted bug against the same invariants.
 */
#include "base/text.h"
#include "dealer/rules.h"

#include "faulty/faults.h"
#include "tap.h"

#include <string.h>

#define OPENING 1000
#define STAKE   10
#define PAYOUT  30
#define DEPTH   6

enum step {
	BET,
	BET_OTHER,
	WIN,
	WIN_OTHER,
	CANCEL,
	REFUND,
	REFUND_OTHER,
	LOSS,
	INQUIRE,
	STEP_COUNT
};

/* What a sequence has done, kept apart from the rows. */
struct story {
	struct dealer_rows rows;
	unsigned int debits, credits;
	bool refund_first; /* the first that was taken of bets and refunds was a refund */
	bool bet_taken;
};

static struct dealer_call call_of(enum step step)
{
	static const struct {
		enum callback_kind kind;
		enum dealer_outcome result;
		money_t stake, payout;
	} calls[STEP_COUNT] = {
		[BET] = {CALLBACK_BETTING, OUTCOME_NONE, STAKE, 0},
		[BET_OTHER] = {CALLBACK_BETTING, OUTCOME_NONE, STAKE + 1, 0},
		[WIN] = {CALLBACK_BETTING_RESULT, OUTCOME_WIN, STAKE, PAYOUT},
		[WIN_OTHER] = {CALLBACK_BETTING_RESULT, OUTCOME_WIN, STAKE, PAYOUT + 1},
		[CANCEL] = {CALLBACK_BETTING_RESULT, OUTCOME_REFUND, STAKE, PAYOUT},
		[REFUND] = {CALLBACK_BETTING_REFUND, OUTCOME_NONE, STAKE, 0},
		[REFUND_OTHER] = {CALLBACK_BETTING_REFUND, OUTCOME_NONE, STAKE + 1, 0},
		[LOSS] = {CALLBACK_BETTING_RESULT, OUTCOME_LOSS, STAKE, 0},
		[INQUIRE] = {CALLBACK_BALANCE_INQUIRE, OUTCOME_NONE, 0, 0},
	};
	struct dealer_call call = {.kind = calls[step].kind,
		.result = calls[step].result,
		.bet_amount = calls[step].stake,
		.payout_amount = calls[step].payout,
		.transaction_id = step == LOSS || step == INQUIRE ? 0 : 7};

	text_copy(call.user_id, sizeof(call.user_id), "alice");
	text_copy(call.game_id, sizeof(call.game_id), "g");
	return call;
}

static struct story story_new(void)
{
	struct story story = {.debits = 0};

	text_copy(story.rows.user.user_id, sizeof(story.rows.user.user_id), "alice");
	story.rows.user.balance = OPENING;
	story.rows.user.granted = OPENING;
	story.rows.transaction.transaction_id = 7;
	return story;
}

/* Applies one step as the server does. Returns what broke, or NULL. */
static const char *step_take(struct story *story, enum step step, unsigned int bugs)
{
	struct dealer_rows before = story->rows, rows = story->rows;
	struct dealer_call call = call_of(step);
	enum dealer_answer answer;
	money_t moved;

	if (!call.transaction_id)
		memset(&rows.transaction, 0, sizeof(rows.transaction));
	faults_blind(bugs, &call, &rows);
	answer = rules_apply(&call, &rows);
	moved = rows.user.balance - before.user.balance;
	if (answer != ANSWER_OK) {
		if (rows.transaction_changed)
			return "a refusal that is remembered, with credit enough";
		return dealer_answers[answer].code >= 400 && dealer_answers[answer].id[0]
			? NULL
			: "an answer without an id";
	}
	if (moved && !rows.user_changed)
		return "credit moved and is not written";
	if (!call.transaction_id)
		rows.transaction = before.transaction;
	if (memcmp(&rows.transaction, &before.transaction, sizeof(rows.transaction)) != 0 &&
		!rows.transaction_changed && before.transaction.state != TRANSACTION_NONE)
		return "a transaction changed and is not written";
	story->rows = rows;
	story->debits += moved < 0;
	story->credits += moved > 0;
	if (call.kind == CALLBACK_BETTING)
		story->bet_taken = true;
	if (call.kind == CALLBACK_BETTING_REFUND && !story->bet_taken)
		story->refund_first = true;
	if (story->debits > 1)
		return "debited twice";
	if (story->credits > 1)
		return "credited twice";
	if (story->refund_first && story->debits)
		return "a bet was taken after its refund";
	if (moved && (step == LOSS || step == INQUIRE))
		return "credit moved without a reason";
	return NULL;
}

static const char *totals_check(const struct story *story)
{
	money_t due = OPENING;

	if (story->rows.transaction.state == TRANSACTION_BET)
		due -= story->rows.transaction.amount;
	if (story->rows.transaction.state == TRANSACTION_PAID)
		due += story->rows.transaction.amount;
	return story->rows.user.balance == due ? NULL : "the balance is not the sum of the rows";
}

/* Walks every sequence of @depth steps on from @story. Returns what broke first, or NULL. */
static const char *walk(const struct story *story, unsigned int depth, unsigned int bugs)
{
	const char *broken = NULL;

	for (unsigned int step = 0; step < STEP_COUNT && depth && !broken; step++) {
		struct story next = *story;

		broken = step_take(&next, (enum step)step, bugs);
		if (!broken)
			broken = totals_check(&next);
		if (!broken)
			broken = walk(&next, depth - 1, bugs);
	}
	return broken;
}

START_TEST(every_sequence)
{
	struct story story = story_new();
	const char *broken = walk(&story, DEPTH, 0);

	ck_assert_msg(!broken, "%s", broken);
}
END_TEST

/* The invariants find what they are for. */
START_TEST(every_bug_is_found)
{
	static const unsigned int bugs[] = {BUG_DEBIT_TWICE, BUG_CREDIT_TWICE, BUG_REFUND_TWICE,
		BUG_LOSS_CREDITS, BUG_NO_TOMBSTONE, BUG_REFUND_UNKNOWN};
	struct story story = story_new();

	ck_assert_msg(walk(&story, 3, bugs[_i]) != NULL, "bug %x is not found", bugs[_i]);
}
END_TEST

/* Whatever the last answer was, the same call again gets it again and moves nothing. */
START_TEST(repeats_are_repeats)
{
	for (unsigned int first = 0; first < STEP_COUNT; first++) {
		for (unsigned int second = 0; second < STEP_COUNT; second++) {
			struct story story = story_new();
			struct dealer_call call = call_of((enum step)second);
			enum dealer_answer answer;
			money_t balance;

			if (!call.transaction_id)
				continue;
			step_take(&story, (enum step)first, 0);
			answer = rules_apply(&call, &story.rows);
			balance = story.rows.user.balance;
			ck_assert_int_eq(rules_apply(&call, &story.rows), answer);
			ck_assert_int_eq(story.rows.user.balance, balance);
			ck_assert(!story.rows.transaction_changed);
		}
	}
}
END_TEST

START_TEST(refusals_change_nothing)
{
	struct story story = story_new();
	struct dealer_call call = call_of(BET);
	struct dealer_rows before;

	story.rows.user.balance = STAKE - 1;
	before = story.rows;
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_INSUFFICIENT_BALANCE);
	ck_assert_mem_eq(&story.rows.user, &before.user, sizeof(before.user));
	story = story_new();
	story.rows.user.balance = MONEY_MAX - PAYOUT + 1;
	before = story.rows;
	call = call_of(WIN);
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_BALANCE_LIMIT);
	ck_assert_mem_eq(&story.rows, &before, sizeof(before));
	story.rows.user.balance = MONEY_MAX - PAYOUT;
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_OK);
	ck_assert_int_eq(story.rows.user.balance, MONEY_MAX);
	call.transaction_id = 0;
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_BAD_REQUEST);
}
END_TEST

/* An attacker that has its bytes may send it again when there is credit. */
START_TEST(a_bet_above_the_balance_stays_refused)
{
	struct story story = story_new();
	struct dealer_call call = call_of(BET);

	story.rows.user.balance = STAKE - 1;
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_INSUFFICIENT_BALANCE);
	ck_assert(story.rows.transaction_changed);
	ck_assert_int_eq(story.rows.transaction.state, TRANSACTION_REFUSED);
	story.rows.user.balance = OPENING;
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_INSUFFICIENT_BALANCE);
	ck_assert(!story.rows.transaction_changed && !story.rows.user_changed);
	call = call_of(REFUND);
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_OK);
	ck_assert_int_eq(story.rows.user.balance, OPENING);
	call = call_of(BET);
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_INSUFFICIENT_BALANCE);
	call = call_of(WIN);
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_TRANSACTION_CONFLICT);
}
END_TEST

START_TEST(first_sight)
{
	struct story story = story_new();
	struct dealer_call call = call_of(REFUND);

	story.rows.user_is_new = true;
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_OK);
	ck_assert(!story.rows.user_changed && story.rows.transaction_changed);
	story = story_new();
	story.rows.user_is_new = true;
	call = call_of(INQUIRE);
	ck_assert_int_eq(rules_apply(&call, &story.rows), ANSWER_OK);
	ck_assert(story.rows.user_changed && !story.rows.transaction_changed);
}
END_TEST

static Suite *rules_suite(void)
{
	Suite *suite = suite_create("dealer");
	TCase *tcase = tcase_create("rules");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, every_sequence);
	tcase_add_loop_test(tcase, every_bug_is_found, 0, 6);
	tcase_add_test(tcase, repeats_are_repeats);
	tcase_add_test(tcase, refusals_change_nothing);
	tcase_add_test(tcase, a_bet_above_the_balance_stays_refused);
	tcase_add_test(tcase, first_sight);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	Suite *(*const makers[])(void) = {rules_suite, NULL};

	return tap_main(makers);
}
