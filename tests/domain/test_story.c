/* The sentences of domain/story.h: each combination of states that can exist has exactly one. */
#include "suites.h"

#include "domain/story.h"

#include <stdio.h>
#include <string.h>

#define BIT(n) (1u << (n))

/* ---- which combinations can exist, from the rules of the states and not from the table */

static bool is_open(enum story_message message)
{
	return message == MESSAGE_DUE || message == MESSAGE_SENDING || message == MESSAGE_PARKED ||
		message == MESSAGE_HELD;
}

/* Only a betting-refund can be answered with "unknown bet" (contract, "Answers of a dealer"). */
static bool refund_ended(enum story_message message)
{
	return message == MESSAGE_DELIVERED || message == MESSAGE_KNOWN ||
		message == MESSAGE_UNKNOWN || message == MESSAGE_CANCELLED;
}

/* The round describes a settled bet. */
static bool bet_can_be(const struct story_facts *facts)
{
	const bool cancelled = facts->flags & STORY_CANCELLED;
	const bool not_sent = facts->flags & STORY_NOT_SENT;

	if (facts->move != MOVE_NOTHING ||
		facts->flags & ~(unsigned int)(STORY_CANCELLED | STORY_NOT_SENT) ||
		(not_sent && facts->state != BET_REJECTED))
		return false;
	if (facts->mode == WALLET_TRANSFER)
		return facts->message == MESSAGE_NONE &&
			((facts->state == BET_ACCEPTED && !cancelled) ||
				(facts->state == BET_REFUNDED && cancelled));
	switch (facts->state) {
	case BET_PENDING:
	case BET_ACCEPTED:
	case BET_REJECTED:
		return facts->message == MESSAGE_NONE && !cancelled;
	case BET_REFUNDING:
		return is_open(facts->message);
	case BET_REFUNDED:
		return refund_ended(facts->message);
	default:
		return false;
	}
}

static bool settled_message(const struct story_facts *facts)
{
	const bool adjusted =
		facts->message == MESSAGE_ADJUSTED || facts->message == MESSAGE_ADJUSTED_ENDED;

	/* An adjustment stands for a betting-result only, not for a betting-correction. */
	return facts->message != MESSAGE_NONE && facts->message != MESSAGE_UNKNOWN &&
		!(adjusted && facts->move == MOVE_TAKES);
}

static bool round_can_be(const struct story_facts *facts)
{
	const bool shortfall = facts->flags & STORY_SHORTFALL;

	if (facts->flags & ~(unsigned int)STORY_SHORTFALL || facts->state >= ROUND_STATE_COUNT)
		return false;
	if (facts->state == ROUND_OPEN)
		return facts->message == MESSAGE_NONE && facts->move == MOVE_NOTHING && !shortfall;
	if (facts->mode == WALLET_TRANSFER)
		return facts->message == MESSAGE_NONE && facts->move != MOVE_TAKES;
	/* An increase takes the whole shortfall before it moves anything. */
	return settled_message(facts) && !(shortfall && facts->move != MOVE_TAKES);
}

static bool transfer_can_be(const struct story_facts *facts)
{
	const bool seal = facts->state == ENTRY_SEAL;

	if (facts->message != MESSAGE_NONE || facts->move != MOVE_NOTHING ||
		facts->state >= ENTRY_KIND_COUNT || facts->state == ENTRY_RESULT_BATCH)
		return false;
	if (facts->flags == STORY_SEALED)
		return seal;
	return !seal && (facts->flags == 0 || facts->flags == STORY_REFUSED);
}

static bool can_be(const struct story_facts *facts)
{
	switch (facts->subject) {
	case STORY_BET:
		return bet_can_be(facts);
	case STORY_ROUND:
		return round_can_be(facts);
	default:
		return transfer_can_be(facts);
	}
}

/* ---- all combinations */

#define STATES_MAX 9 /* the most states of a subject: those of a movement */
#define COMBINATIONS                                                                               \
	(STORY_SUBJECT_COUNT * WALLET_MODE_COUNT * STATES_MAX * MESSAGE_COUNT * MOVE_COUNT *       \
		STORY_FLAGS_END)

static struct story_facts combination(unsigned int number)
{
	struct story_facts facts;

	facts.subject = number % STORY_SUBJECT_COUNT;
	number /= STORY_SUBJECT_COUNT;
	facts.mode = number % WALLET_MODE_COUNT;
	number /= WALLET_MODE_COUNT;
	facts.state = number % STATES_MAX;
	number /= STATES_MAX;
	facts.message = number % MESSAGE_COUNT;
	number /= MESSAGE_COUNT;
	facts.move = number % MOVE_COUNT;
	facts.flags = number / MOVE_COUNT;
	return facts;
}

static const struct story_values demo = {
	.dealer = "demo-b",
	.user = "alice",
	.client = "slots",
	.result = RESULT_WIN,
	.amount = 100000,
	.moved = 250000,
	.shortfall = 40000,
	.balance = 990000,
	.transaction_id = 17,
	.adjusted_by = 21,
	.attempts = 3,
	.last = "unknown 503",
	.when = "in 3.200 s",
	.event = "betting-result-18",
	.by = "kim",
	.error = "insufficient_funds",
	.refusal = "insufficient_balance",
};

_Static_assert(ENTRY_KIND_COUNT <= STATES_MAX && BET_STATE_COUNT <= STATES_MAX, "states fit");

START_TEST(each_combination_has_one_sentence)
{
	unsigned int existing = 0;

	for (unsigned int number = 0; number < COMBINATIONS; number++) {
		const struct story_facts facts = combination(number);
		unsigned int rows = 0;

		for (unsigned int i = 0; i < story_row_count; i++)
			rows += story_row_fits(&story_rows[i], &facts);
		existing += can_be(&facts);
		ck_assert_msg(rows == can_be(&facts),
			"%u rows of subject %u, mode %u, state %u, message %u, move %u, flags %#x",
			rows, facts.subject, facts.mode, facts.state, facts.message, facts.move,
			facts.flags);
	}
	ck_assert_uint_eq(existing, 90);
}
END_TEST

/* Each row is the row of a combination, and no two rows say the same. */
START_TEST(each_row_is_used)
{
	for (unsigned int i = 0; i < story_row_count; i++) {
		bool used = false;

		for (unsigned int number = 0; number < COMBINATIONS && !used; number++) {
			const struct story_facts facts = combination(number);

			used = can_be(&facts) && story_row_fits(&story_rows[i], &facts);
		}
		ck_assert_msg(used, "row %u is of no combination", i);
		for (unsigned int k = 0; k < i; k++)
			ck_assert_str_ne(story_rows[i].happened, story_rows[k].happened);
	}
}
END_TEST

/* Every sentence is complete: it ends with a full stop, or a command, and no placeholder is left. */
START_TEST(sentences_are_complete)
{
	for (unsigned int number = 0; number < COMBINATIONS; number++) {
		const struct story_facts facts = combination(number);
		struct story story;

		ck_assert(story_make(&facts, &demo, &story) == can_be(&facts));
		ck_assert(story.happened[0] && story.owes[0] && story.next[0]);
		ck_assert(!strpbrk(story.happened, "{}") && !strpbrk(story.owes, "{}") &&
			!strpbrk(story.next, "{}"));
		ck_assert_uint_lt(strlen(story.happened), STORY_TEXT_MAX - 1);
		ck_assert_int_eq(story.happened[strlen(story.happened) - 1], '.');
		ck_assert_int_eq(story.owes[strlen(story.owes) - 1], '.');
		ck_assert((story.owed == 0) == (story.debt == DEBT_NONE));
	}
}
END_TEST

/* Credit is owed exactly while the callback that moves it is open, or a part is missing. */
START_TEST(open_credit_is_owed)
{
	for (unsigned int number = 0; number < COMBINATIONS; number++) {
		const struct story_facts facts = combination(number);
		const bool moves = facts.subject == STORY_BET || facts.move != MOVE_NOTHING;
		bool owed;
		struct story story;

		if (!story_make(&facts, &demo, &story))
			continue;
		owed = (moves && (is_open(facts.message) || facts.message == MESSAGE_ADJUSTED)) ||
			facts.flags & STORY_SHORTFALL ||
			(facts.message == MESSAGE_UNKNOWN && facts.flags & STORY_CANCELLED);
		ck_assert_msg((story.debt != DEBT_NONE) == owed, "%s %s", story.happened,
			story.owes);
	}
}
END_TEST

static void story_is(const struct story_facts *facts, const struct story_values *values,
	const char *happened, const char *owes, const char *next)
{
	struct story story;

	ck_assert(story_make(facts, values, &story));
	ck_assert_str_eq(story.happened, happened);
	ck_assert_str_eq(story.owes, owes);
	ck_assert_str_eq(story.next, next);
}

START_TEST(texts)
{
	struct story_values values = demo;

	story_is(&(struct story_facts){STORY_ROUND, WALLET_SEAMLESS, ROUND_SETTLED, MESSAGE_PARKED,
			 MOVE_PAYS, 0},
		&values,
		"The round was won. demo-b has not confirmed 25.00 for alice after 3 attempts "
		"(last: unknown 503), and no further attempt is planned.",
		"demo-b owes alice 25.00.",
		"When demo-b's server answers again: creditbridgectl callback retry "
		"betting-result-18 --reason TEXT");
	values.corrections = 2;
	story_is(&(struct story_facts){STORY_ROUND, WALLET_SEAMLESS, ROUND_SETTLED,
			 MESSAGE_DELIVERED, MOVE_TAKES, STORY_SHORTFALL},
		&values,
		"The round was won, after 2 corrections. That is 25.00 less than was paid. demo-b "
		"could not take back 4.00, which alice did not have.",
		"alice owes demo-b 4.00.",
		"A later increase of this round's payout takes it first. Otherwise demo-b collects "
		"it from alice.");
	values.attempts = 0;
	values.when = "";
	values.moved = values.amount;
	values.event = "betting-refund-19";
	story_is(&(struct story_facts){STORY_BET, WALLET_SEAMLESS, BET_REFUNDING, MESSAGE_DUE,
			 MOVE_NOTHING, 0},
		&values,
		"demo-b did not answer the bet, so it is not known whether it debited 10.00. The "
		"bet does not count. The refund betting-refund-19 is not confirmed (no attempt has "
		"ended yet).",
		"If demo-b debited the bet, it owes alice 10.00.",
		"The sweeper sends it (soon). After a failed attempt this sends it at once: "
		"creditbridgectl callback retry betting-refund-19 --reason TEXT");
	story_is(&(struct story_facts){STORY_BET, WALLET_SEAMLESS, BET_REJECTED, MESSAGE_NONE,
			 MOVE_NOTHING, 0},
		&values,
		"demo-b refused the bet (insufficient_funds), so it must not have debited 10.00.",
		"Nothing is owed.", "If alice was charged, ask demo-b for its record of bet 17.");
}
END_TEST

START_TEST(a_held_dealer_is_released)
{
	const struct story_facts due = {.subject = STORY_BET,
		.mode = WALLET_SEAMLESS,
		.state = BET_REFUNDING,
		.message = MESSAGE_DUE};
	struct story_facts parked = due;
	struct story_values values = demo;
	struct story story;

	values.dealer_held = true;
	ck_assert(story_make(&due, &values, &story));
	ck_assert_ptr_nonnull(strstr(story.next, "creditbridgectl release demo-b --reason TEXT"));
	ck_assert_ptr_null(strstr(story.next, "sweeper"));
	parked.message = MESSAGE_PARKED;
	ck_assert(story_make(&parked, &values, &story));
	ck_assert_ptr_nonnull(strstr(story.next, "creditbridgectl callback retry"));
	values.dealer_held = false;
	ck_assert(story_make(&due, &values, &story));
	ck_assert_ptr_nonnull(strstr(story.next, "The sweeper sends it"));
}
END_TEST

/* An open decrease is owed with what is missing of an earlier one; an ended one is not. */
START_TEST(amounts)
{
	struct story_facts facts = {STORY_ROUND, WALLET_SEAMLESS, ROUND_SETTLED, MESSAGE_HELD,
		MOVE_TAKES, STORY_SHORTFALL};
	struct story story;

	ck_assert(story_make(&facts, &demo, &story));
	ck_assert_int_eq(story.owed, demo.moved + demo.shortfall);
	ck_assert_str_eq(story.owes, "alice owes demo-b 29.00.");
	facts.message = MESSAGE_CANCELLED;
	ck_assert(story_make(&facts, &demo, &story));
	ck_assert_int_eq(story.owed, demo.shortfall);
	facts = (struct story_facts){STORY_ROUND, WALLET_TRANSFER, ROUND_SETTLED, MESSAGE_NONE,
		MOVE_PAYS, STORY_SHORTFALL};
	ck_assert(story_make(&facts, &demo, &story));
	ck_assert_int_eq(story.owed, demo.shortfall);
	ck_assert_str_eq(story.owes, "alice owes the platform 4.00.");
}
END_TEST

/* The debt of a round leaves out the refunds of its bets, and says so. */
START_TEST(refunds_of_a_round)
{
	const struct story_facts open = {STORY_ROUND, WALLET_SEAMLESS, ROUND_OPEN, MESSAGE_NONE,
		MOVE_NOTHING, 0};
	const struct story_facts parked = {STORY_ROUND, WALLET_SEAMLESS, ROUND_SETTLED,
		MESSAGE_PARKED, MOVE_PAYS, 0};
	const struct story_facts bet = {STORY_BET, WALLET_SEAMLESS, BET_ACCEPTED, MESSAGE_NONE,
		MOVE_NOTHING, 0};
	struct story_values values = demo;
	struct story story;

	ck_assert(story_make(&open, &values, &story));
	ck_assert_str_eq(story.owes, "Nothing is owed.");
	values.refunds = 1;
	ck_assert(story_make(&open, &values, &story));
	ck_assert_str_eq(story.owes,
		"Nothing is owed for the result. One bet of the round has a "
		"refund: see what is owed for that bet.");
	values.refunds = 2;
	ck_assert(story_make(&parked, &values, &story));
	ck_assert_str_eq(story.owes,
		"demo-b owes alice 25.00. 2 bets of the round have refunds: "
		"see what is owed for each.");
	ck_assert_int_eq(story.owed, demo.moved);
	ck_assert(story_make(&bet, &values, &story));
	ck_assert_str_eq(story.owes, "Nothing is owed.");
}
END_TEST

/* Rows that contradict each other: it says so, and names no debt. */
START_TEST(contradictions)
{
	const struct story_facts facts = {STORY_BET, WALLET_SEAMLESS, BET_ACCEPTED, MESSAGE_PARKED,
		MOVE_NOTHING, 0};
	struct story story;

	ck_assert(!story_make(&facts, &demo, &story));
	ck_assert_int_eq(story.owed, 0);
	ck_assert_str_eq(story.next, "Run `creditbridgectl check`.");
}
END_TEST

START_TEST(long_names_are_cut)
{
	struct story_values values = demo;
	char name[1000];
	struct story story;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	values.dealer = values.user = values.event = values.by = values.error = values.last =
		values.when = values.client = values.refusal = name;
	for (unsigned int number = 0; number < COMBINATIONS; number++) {
		const struct story_facts facts = combination(number);

		story_make(&facts, &values, &story);
		ck_assert_uint_lt(strlen(story.happened), STORY_TEXT_MAX);
	}
}
END_TEST

START_TEST(messages_of_callbacks)
{
	struct callback callback = {.kind = CALLBACK_BETTING_RESULT, .state = CALLBACK_DELIVERED};

	ck_assert_uint_eq(story_message_of(NULL), MESSAGE_NONE);
	ck_assert_uint_eq(story_message_of(&callback), MESSAGE_DELIVERED);
	callback.known_to_dealer = true;
	ck_assert_uint_eq(story_message_of(&callback), MESSAGE_KNOWN);
	callback.unknown_to_dealer = true;
	ck_assert_uint_eq(story_message_of(&callback), MESSAGE_UNKNOWN);
	callback.state = CALLBACK_HELD;
	ck_assert_uint_eq(story_message_of(&callback), MESSAGE_HELD);
	callback.adjusted_by = 1;
	ck_assert_uint_eq(story_message_of(&callback), MESSAGE_ADJUSTED);
	callback.state = CALLBACK_CANCELLED;
	ck_assert_uint_eq(story_message_of(&callback), MESSAGE_ADJUSTED_ENDED);
	callback.kind = CALLBACK_BETTING;
	ck_assert_uint_eq(story_message_of(&callback), MESSAGE_NONE);
}
END_TEST

Suite *story_suite(void)
{
	Suite *suite = suite_create("story");
	TCase *tests = tcase_create("story");

	tcase_add_test(tests, each_combination_has_one_sentence);
	tcase_add_test(tests, each_row_is_used);
	tcase_add_test(tests, sentences_are_complete);
	tcase_add_test(tests, open_credit_is_owed);
	tcase_add_test(tests, texts);
	tcase_add_test(tests, a_held_dealer_is_released);
	tcase_add_test(tests, amounts);
	tcase_add_test(tests, refunds_of_a_round);
	tcase_add_test(tests, contradictions);
	tcase_add_test(tests, long_names_are_cut);
	tcase_add_test(tests, messages_of_callbacks);
	suite_add_tcase(suite, tests);
	return suite;
}
