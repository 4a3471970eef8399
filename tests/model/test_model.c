/*
 * The model of one bet: nothing bad can happen to it, and what is planted is found (see model.h).
 */
#include "model.h"

#include "base/text.h"
#include "dealer/rules.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

#define MODEL(refund_delay_, bound_, stop_, sweepers_, ...)                                        \
	{                                                                                          \
		.lease = 5, .timeout = 2, .patience = 3, .refund_delay = refund_delay_,            \
		.bound = bound_, .stop = stop_, .sweepers = sweepers_, __VA_ARGS__                 \
	}
/* As it is to be: what the dealer and our own processes may take is within refund_delay. */
#define RIGHT(sweepers_, ...) MODEL(4, 3, 2, sweepers_, __VA_ARGS__)
/* The same in fewer ticks, where there is much else to try. */
#define RIGHT_SHORT(sweepers_, ...)                                                                \
	{                                                                                          \
		.lease = 3, .timeout = 1, .patience = 1, .refund_delay = 2, .bound = 2, .stop = 1, \
		.sweepers = sweepers_, __VA_ARGS__                                                 \
	}
/* Whatever they take. */
#define TOMBSTONE(refund_delay_, sweepers_, ...)                                                   \
	MODEL(refund_delay_, MODEL_FOREVER, MODEL_FOREVER, sweepers_, .tombstone = true,           \
		__VA_ARGS__)

#define BIT(of)   (1u << (of))
#define EVERY_BET (BIT(BET_STATE_COUNT) - 1)
#define SENT_STATES                                                                                \
	(BIT(CALLBACK_DUE) | BIT(CALLBACK_SENDING) | BIT(CALLBACK_DELIVERED) | BIT(CALLBACK_PARKED))

/* All was seen, nothing is bad, and the search went where it had to. */
static void assert_nothing_bad(const char *name, const struct model *model)
{
	const unsigned int operated =
		model->operations ? BIT(CALLBACK_HELD) | BIT(CALLBACK_CANCELLED) : 0;
	struct findings findings = model_search(name, model, 0);

	ck_assert_msg(findings.bad == 0 && findings.complete, "%s: see the trace", name);
	for (unsigned int i = 0; i < STEP_COUNT; i++) {
		bool operating = i == STEP_OPERATE_RESULT || i == STEP_OPERATE_REFUND;
		bool cancelling = i == STEP_CANCEL || i == STEP_CANCEL_UNUSED || i == STEP_BARRED;
		char text[160];

		step_describe((struct label){(uint8_t)i, 0}, text, sizeof(text));
		ck_assert_msg(findings.steps[i] || (operating && !model->operations) ||
				(cancelling && !model->cancels) ||
				(i == STEP_CORRECT && !model->corrects),
			"%s: it never came to this: %s", name, text);
	}
	ck_assert_uint_eq(findings.bets, EVERY_BET);
	ck_assert_uint_eq(findings.callbacks[PLACE_BETTING],
		BIT(CALLBACK_SENDING) | BIT(CALLBACK_DELIVERED) | BIT(CALLBACK_FAILED));
	ck_assert_uint_eq(findings.callbacks[PLACE_RESULT], SENT_STATES | operated);
	ck_assert_uint_eq(findings.callbacks[PLACE_REFUND], SENT_STATES | operated);
	ck_assert_uint_eq(findings.callbacks[PLACE_CORRECTION], model->corrects ? SENT_STATES : 0);
}

START_TEST(nothing_bad_happens_to_a_bet)
{
	static const struct model model = RIGHT(2, .operations = 0);

	assert_nothing_bad("worker, two sweepers", &model);
}
END_TEST

START_TEST(nothing_bad_happens_with_an_operator)
{
	static const struct model more = RIGHT_SHORT(1, .operations = 3);
	static const struct model wide = RIGHT_SHORT(2, .operations = 2);

	assert_nothing_bad("three steps of an operator, one sweeper", &more);
	assert_nothing_bad("two steps of an operator, two sweepers", &wide);
}
END_TEST

START_TEST(nothing_bad_happens_with_a_cancellation)
{
	static const struct model wide = RIGHT_SHORT(2, .cancels = true);
	static const struct model operated = RIGHT_SHORT(1, .cancels = true, .operations = 2);

	assert_nothing_bad("a cancellation, two sweepers", &wide);
	assert_nothing_bad("a cancellation, an operator, one sweeper", &operated);
}
END_TEST

START_TEST(nothing_bad_happens_with_a_correction)
{
	static const struct model corrected = RIGHT_SHORT(1, .corrects = true);
	static const struct model operated = RIGHT_SHORT(1, .corrects = true, .operations = 1);

	assert_nothing_bad("a correction, one sweeper", &corrected);
	assert_nothing_bad("a correction, an operator, one sweeper", &operated);
}
END_TEST

/* The dealer that refuses a bet after its refund needs no assumption, and no refund_delay. */
START_TEST(nothing_bad_happens_with_tombstones)
{
	static const struct model at_once = TOMBSTONE(0, 2, .operations = 0);
	static const struct model later = TOMBSTONE(4, 2, .operations = 0);
	static const struct model operated = TOMBSTONE(0, 1, .operations = 2);

	assert_nothing_bad("tombstones, refund at once", &at_once);
	assert_nothing_bad("tombstones, refund later", &later);
	assert_nothing_bad("tombstones, refund at once, an operator", &operated);
}
END_TEST

static const struct {
	const char *name;
	enum bad bad;
	struct model model;
} planted[] = {
	{"no durable intent", BAD_STAKE_KEPT, RIGHT(1, .planted = PLANTED_NO_INTENT)},
	{"no compare-and-set: accepted", BAD_ACCEPTED_REFUNDED,
		RIGHT(1, .planted = PLANTED_NO_COMPARE)},
	{"no compare-and-set: settled", BAD_REFUNDED_SETTLED,
		RIGHT(1, .planted = PLANTED_NO_COMPARE)},
	{"no compare-and-set: wrong answer", BAD_ANSWERED_OTHERWISE,
		RIGHT(1, .planted = PLANTED_NO_COMPARE)},
	{"no compare-and-set: rows", BAD_ROWS, RIGHT(1, .planted = PLANTED_NO_COMPARE)},
	{"no send-fence", BAD_STAKE_KEPT, RIGHT(1, .planted = PLANTED_NO_FENCE)},
	{"a refund before the bet can have arrived", BAD_STAKE_KEPT,
		MODEL(0, 3, 2, 1, .operations = 0)},
	{"a dealer later than refund_delay", BAD_STAKE_KEPT,
		MODEL(4, MODEL_FOREVER, 2, 1, .operations = 0)},
	{"a worker stopped for ever", BAD_STAKE_KEPT,
		MODEL(4, 3, MODEL_FOREVER, 1, .operations = 0)},
	{"the game server is answered early", BAD_ANSWERED_EARLY,
		RIGHT(1, .planted = PLANTED_ANSWERED_EARLY)},
	{"no takeover", BAD_STUCK, RIGHT(1, .planted = PLANTED_NO_TAKEOVER)},
	{"attempts counted when they end", BAD_SENT_TOO_OFTEN,
		RIGHT(1, .planted = PLANTED_LATE_COUNT)},
	{"a correction of any revision", BAD_CORRECTED_TWICE,
		RIGHT_SHORT(1, .corrects = true, .planted = PLANTED_NO_REVISION)},
	{"a correction while a callback is open", BAD_OVERTAKEN,
		RIGHT_SHORT(2, .corrects = true, .planted = PLANTED_NO_OPEN_CHECK)},
	{"a cancellation without tombstone", BAD_CANCELLED_COUNTS,
		RIGHT_SHORT(1, .cancels = true, .planted = PLANTED_NO_TOMBSTONE)},
	{"unknown counts as delivered", BAD_BOOKS, RIGHT(1, .planted = PLANTED_UNKNOWN_IS_OK)},
	{"a forgetful dealer: bets", BAD_DEBITED_TWICE, RIGHT(1, .planted = PLANTED_FORGETFUL)},
	{"a forgetful dealer: results", BAD_PAID_TWICE, RIGHT(1, .planted = PLANTED_FORGETFUL)},
	/* We send no callback twice, but a proxy before a dealer may. */
	{"a dealer that takes a copy of what it refused", BAD_STAKE_KEPT,
		RIGHT(1, .forgets_refusals = true)},
};

START_TEST(what_is_planted_is_found)
{
	struct findings findings =
		model_search(planted[_i].name, &planted[_i].model, BIT(planted[_i].bad));

	ck_assert_msg(findings.bad & BIT(planted[_i].bad), "%s: not found: %s", planted[_i].name,
		bad_names[planted[_i].bad]);
	ck_assert_uint_gt(findings.depth, 0);
}
END_TEST

/* Each check of judge.c and of the search is seen to fail. */
START_TEST(every_check_can_fail)
{
	unsigned int seen = 0;

	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++)
		seen |= BIT(planted[i].bad);
	ck_assert_uint_eq(seen, BIT(BAD_COUNT) - 1);
}
END_TEST

/*
 * Exactly how much refund_delay covers. What the dealer may take after the close counts, and where
 * a link is lost or the ledger restarts also how long the worker was stopped between its fence and
 * its close, less the spare that the fence leaves of the lease (a tick here). While links last,
 * owners are waited for as well: the patience is added.
 */
static bool is_covered(const struct model *model)
{
	int dealer = model->bound > 1 ? model->bound : 1;
	int waits = model->refund_delay + 1 + (model->steady ? model->patience : 0);

	return model->bound <= model->refund_delay && dealer + model->stop <= waits;
}

START_TEST(the_assumption_is_exact)
{
	struct model model = {.lease = 3, .timeout = 1, .patience = 1, .sweepers = 1};
	unsigned int covered = 0, searched = 0;

	model.steady = _i;
	for (model.refund_delay = 0; model.refund_delay < 3; model.refund_delay++) {
		for (model.bound = 0; model.bound <= model.refund_delay + 1; model.bound++) {
			for (model.stop = 0; model.stop < 5; model.stop++) {
				struct findings findings = model_search(NULL, &model, 0);

				ck_assert_msg(findings.complete == is_covered(&model),
					"refund_delay %d, dealer %d, stopped %d",
					model.refund_delay, model.bound, model.stop);
				ck_assert_uint_eq(findings.bad,
					findings.complete ? 0 : BIT(BAD_STAKE_KEPT));
				covered += findings.complete;
				searched++;
			}
		}
	}
	printf("# %u of %u are covered, %s\n", covered, searched,
		model.steady ? "while links last" : "with links lost and restarts");
	fflush(stdout);
}
END_TEST

/* A call to the reference dealer, whose transaction is in @was. Returns what the balance gained. */
static money_t reference_take(enum callback_kind kind, enum dealer_state was, money_t amount,
	enum dealer_state *is, enum dealer_answer *answer)
{
	struct dealer_call call = {.kind = kind,
		.transaction_id = 7,
		.bet_amount = MODEL_STAKE,
		.payout_amount = amount,
		.result = kind == CALLBACK_BETTING_RESULT ? OUTCOME_WIN : OUTCOME_NONE};
	struct dealer_rows rows;

	memset(&rows, 0, sizeof(rows));
	text_copy(call.user_id, sizeof(call.user_id), "alice");
	text_copy(call.game_id, sizeof(call.game_id), "g");
	rows.user.balance = 1000;
	if (was != TRANSACTION_NONE)
		rows.transaction = rules_content(&call);
	rows.transaction.state = was;
	*answer = rules_apply(&call, &rows);
	*is = rows.transaction.state;
	return rows.user.balance - 1000;
}

/* The model's dealer with tombstones does what the reference dealer does. */
START_TEST(the_dealer_is_the_reference_dealer)
{
	static const struct model model = TOMBSTONE(0, 1, .operations = 0);
	/* A refused bet has no row there: the reference dealer forgets refusals. */
	static const struct {
		enum stake stake;
		enum dealer_state state;
	} states[] = {{STAKE_NONE, TRANSACTION_NONE}, {STAKE_TAKEN, TRANSACTION_BET},
		{STAKE_RETURNED, TRANSACTION_REFUNDED}, {STAKE_BARRED, TRANSACTION_TOMBSTONE}};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		for (unsigned int refund = 0; refund < 2; refund++) {
			struct state state = {.stake = (uint8_t)states[i].stake};
			enum callback_class class = CALLBACK_SUCCESS;
			enum dealer_state is = TRANSACTION_NONE;
			enum dealer_answer answer = ANSWER_OK;
			money_t gain =
				reference_take(refund ? CALLBACK_BETTING_REFUND : CALLBACK_BETTING,
					states[i].state, 0, &is, &answer);

			if (refund)
				dealer_take(&model, &state, PLACE_REFUND);
			else
				class = dealer_take_bet(&model, &state, false);
			ck_assert_int_eq(gain, (state.refunds - state.debits) * MODEL_STAKE);
			ck_assert_int_eq(answer == ANSWER_OK, class == CALLBACK_SUCCESS);
			for (size_t n = 0; n < sizeof(states) / sizeof(states[0]); n++)
				ck_assert_int_eq(is == states[n].state,
					state.stake == states[n].stake);
		}
	}
	for (unsigned int paid = 0; paid < 2; paid++) {
		struct state state = {.result = RESULT_WIN, .payments = (uint8_t)paid};
		enum dealer_state is = TRANSACTION_NONE;
		enum dealer_answer answer = ANSWER_OK;
		money_t gain = reference_take(CALLBACK_BETTING_RESULT,
			paid ? TRANSACTION_PAID : TRANSACTION_NONE, MODEL_PRIZE, &is, &answer);

		dealer_take(&model, &state, PLACE_RESULT);
		ck_assert_int_eq(gain, (money_t)(state.payments - paid) * MODEL_PRIZE);
		ck_assert_int_eq(answer, ANSWER_OK);
		ck_assert_int_eq(is, TRANSACTION_PAID);
	}
}
END_TEST

static Suite *model_suite(void)
{
	Suite *suite = suite_create("model");
	TCase *tcase = tcase_create("one bet");

	tcase_set_timeout(tcase, 100);
	tcase_add_test(tcase, nothing_bad_happens_to_a_bet);
	tcase_add_test(tcase, nothing_bad_happens_with_an_operator);
	tcase_add_test(tcase, nothing_bad_happens_with_a_cancellation);
	tcase_add_test(tcase, nothing_bad_happens_with_a_correction);
	tcase_add_test(tcase, nothing_bad_happens_with_tombstones);
	tcase_add_loop_test(tcase, what_is_planted_is_found, 0,
		(int)(sizeof(planted) / sizeof(planted[0])));
	tcase_add_test(tcase, every_check_can_fail);
	tcase_add_loop_test(tcase, the_assumption_is_exact, 0, 2);
	tcase_add_test(tcase, the_dealer_is_the_reference_dealer);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const suites[])(void) = {model_suite, NULL};

	return tap_main(suites);
}
