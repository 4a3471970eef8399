#include "suites.h"

#include "domain/delivery.h"
#include "domain/retry.h"
#include "domain/wager.h"

#include <stdio.h>
#include <string.h>

/* contract, "Bet states": the listed transitions, and no other. */
START_TEST(only_legal_moves)
{
	static const enum bet_state arrows[][2] = {{BET_PENDING, BET_ACCEPTED},
		{BET_PENDING, BET_REJECTED}, {BET_PENDING, BET_REFUNDING},
		{BET_ACCEPTED, BET_SETTLED}, {BET_ACCEPTED, BET_REFUNDING},
		{BET_ACCEPTED, BET_REFUNDED}, {BET_REFUNDING, BET_REFUNDED}};
	unsigned int legal = 0;

	for (unsigned int from = 0; from < BET_STATE_COUNT; from++) {
		for (unsigned int to = 0; to < BET_STATE_COUNT; to++) {
			struct bet bet = {.state = from, .changed_ms = 1};
			bool moved = bet_move(&bet, to, 2);

			ck_assert_uint_eq(bet.state, moved ? to : from);
			ck_assert_int_eq(bet.changed_ms, moved ? 2 : 1);
			legal += moved;
		}
	}
	for (size_t i = 0; i < sizeof(arrows) / sizeof(arrows[0]); i++)
		ck_assert(bet_may_move(arrows[i][0], arrows[i][1]));
	ck_assert_uint_eq(legal, sizeof(arrows) / sizeof(arrows[0]));
	ck_assert(!bet_may_move(BET_STATE_COUNT, BET_ACCEPTED));
	ck_assert(!bet_may_move(BET_PENDING, BET_STATE_COUNT));
	ck_assert(bet_has_ended(BET_SETTLED) && bet_has_ended(BET_REJECTED) &&
		bet_has_ended(BET_REFUNDED));
	ck_assert(!bet_has_ended(BET_REFUNDING) && !bet_has_ended(BET_ACCEPTED));
}
END_TEST

/* contract, "Repeated bets": the answer to a bet, now and when repeated. */
START_TEST(bets_are_answered_by_their_state)
{
	static const enum refusal answers[BET_STATE_COUNT] = {
		[BET_PENDING] = REFUSAL_BET_IN_PROGRESS,
		[BET_ACCEPTED] = REFUSAL_NONE,
		[BET_REJECTED] = REFUSAL_DEALER_UNREACHABLE,
		[BET_REFUNDING] = REFUSAL_DEALER_TIMEOUT,
		[BET_REFUNDED] = REFUSAL_DEALER_TIMEOUT,
		[BET_SETTLED] = REFUSAL_NONE,
	};

	for (unsigned int state = 0; state < BET_STATE_COUNT; state++) {
		const struct bet bet = {.state = state, .outcome = REFUSAL_DEALER_UNREACHABLE};

		ck_assert_uint_eq(bet_refusal(&bet), answers[state]);
	}
}
END_TEST

static enum game_status status_of(enum round_result result, unsigned int states)
{
	const struct round round = {.state = result == RESULT_NONE ? ROUND_OPEN : ROUND_SETTLED,
		.result = result,
		.current_result = result};
	uint32_t bets[BET_STATE_COUNT];

	for (unsigned int i = 0; i < BET_STATE_COUNT; i++)
		bets[i] = states >> i & 1 ? 3 : 0;
	return round_status(&round, bets);
}

/* contract, "Status of a game", for every mixture of states. */
START_TEST(games_have_a_status)
{
	enum {
		PENDING = 1 << BET_PENDING,
		ACCEPTED = 1 << BET_ACCEPTED,
		REJECTED = 1 << BET_REJECTED,
		REFUNDING = 1 << BET_REFUNDING,
		REFUNDED = 1 << BET_REFUNDED,
		SETTLED = 1 << BET_SETTLED
	};

	for (unsigned int states = 0; states < 1 << BET_STATE_COUNT; states++) {
		for (unsigned int i = 0; i < ROUND_RESULT_COUNT; i++) {
			const enum game_status status = status_of((enum round_result)i, states);

			ck_assert_int_eq(status == GAME_PENDING,
				(states & (PENDING | ACCEPTED)) != 0);
			ck_assert_int_eq(status == GAME_NOT_FOUND,
				states == 0 || states == REJECTED);
		}
	}
	ck_assert_int_eq(status_of(RESULT_WIN, SETTLED), GAME_SETTLED);
	ck_assert_int_eq(status_of(RESULT_LOSS, SETTLED | REJECTED), GAME_SETTLED);
	/* Refunded bets are not part of the round. */
	ck_assert_int_eq(status_of(RESULT_WIN, SETTLED | REFUNDED | REFUNDING), GAME_SETTLED);
	ck_assert_int_eq(status_of(RESULT_REFUND, SETTLED), GAME_REFUNDED);
	ck_assert_int_eq(status_of(RESULT_REFUND, SETTLED | REFUNDED | REJECTED), GAME_REFUNDED);
	ck_assert_int_eq(status_of(RESULT_NONE, REFUNDED), GAME_REFUNDED);
	ck_assert_int_eq(status_of(RESULT_NONE, REFUNDING | REJECTED), GAME_REFUNDED);
	ck_assert_int_eq(status_of(RESULT_NONE, REFUNDING | ACCEPTED), GAME_PENDING);
	ck_assert_str_eq(game_status_names[GAME_PENDING], "pending");
	ck_assert_str_eq(game_status_names[GAME_REFUNDED], "refunded");
	ck_assert_str_eq(game_status_names[GAME_SETTLED], "settled");
}
END_TEST

static enum refusal settle(enum round_result result, money_t asked, struct settlement *settlement)
{
	const struct bet bets[] = {{.state = BET_ACCEPTED, .bet_amount = 100},
		{.state = BET_ACCEPTED, .bet_amount = 30, .addition = true},
		{.state = BET_REJECTED, .bet_amount = 1000},
		{.state = BET_REFUNDED, .bet_amount = 1},
		{.state = BET_REFUNDING, .bet_amount = 1}};

	memset(settlement, 0, sizeof(*settlement));
	for (size_t i = 0; i < sizeof(bets) / sizeof(bets[0]); i++)
		ck_assert_int_eq(settlement_add(settlement, &bets[i]), REFUSAL_NONE);
	return settlement_close(settlement, result, asked);
}

START_TEST(rounds_sum_up)
{
	struct settlement s;
	struct bet pending = {.state = BET_PENDING, .bet_amount = 1};

	ck_assert_int_eq(settle(RESULT_WIN, 500, &s), REFUSAL_NONE);
	ck_assert_int_eq(s.bet_amount, 100);
	ck_assert_int_eq(s.addition_amount, 30);
	ck_assert_int_eq(s.win_amount, 370);
	ck_assert_uint_eq(s.bets, 2);
	ck_assert_int_eq(settle(RESULT_WIN, -1, &s), REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(settle(RESULT_LOSS, 0, &s), REFUSAL_NONE);
	ck_assert_int_eq(s.win_amount, -130);
	ck_assert_int_eq(settle(RESULT_LOSS, 1, &s), REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(settle(RESULT_REFUND, 0, &s), REFUSAL_NONE);
	ck_assert_int_eq(s.payout_amount, 130);
	ck_assert_int_eq(s.win_amount, 0);
	ck_assert_int_eq(settle(RESULT_REFUND, 129, &s), REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(settlement_add(&s, &pending), REFUSAL_BET_IN_PROGRESS);
	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(settlement_close(&s, RESULT_WIN, 5), REFUSAL_BET_NOT_FOUND);
}
END_TEST

START_TEST(no_round_overflows)
{
	struct settlement s = {.bets = 1, .bet_amount = INT64_MAX - 10, .addition_amount = 11};
	struct bet bet = {.state = BET_ACCEPTED, .bet_amount = 11};

	ck_assert_int_eq(settlement_close(&s, RESULT_WIN, 5), REFUSAL_BALANCE_LIMIT);
	ck_assert_int_eq(settlement_add(&s, &bet), REFUSAL_BALANCE_LIMIT);
	ck_assert_int_eq(settle(RESULT_WIN, MONEY_MAX + 1, &s), REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(settle(RESULT_WIN, MONEY_MAX, &s), REFUSAL_NONE);
}
END_TEST

/* B3: three attempts, after 5 s and 30 s, then parked. */
START_TEST(results_are_sent_three_times)
{
	struct retry_policy policy;
	struct callback callback = {.kind = CALLBACK_BETTING_RESULT, .event = 1};

	retry_policy_defaults(&policy);
	callback.attempts = 1;
	ck_assert_int_eq(retry_next(&policy, &callback, 0).state, CALLBACK_DUE);
	ck_assert_int_eq(retry_next(&policy, &callback, 0).delay_ms, 5000);
	callback.attempts = 2;
	ck_assert_int_eq(retry_next(&policy, &callback, 0).delay_ms, 30000);
	callback.attempts = 3;
	ck_assert_int_eq(retry_next(&policy, &callback, 0).state, CALLBACK_PARKED);
	callback.kind = CALLBACK_BETTING;
	ck_assert_int_eq(retry_next(&policy, &callback, 0).state, CALLBACK_FAILED);
}
END_TEST

/*
 * B4: 1, 2, 4 ... 300 s, reduced by up to a quarter, for 24 hours; an operator's retry is one
 * attempt.
 */
START_TEST(refunds_back_off)
{
	struct retry_policy policy;
	struct callback callback = {.kind = CALLBACK_BETTING_REFUND, .event = 7};
	int64_t now_ms = 0, nominal_ms = 1000;
	unsigned int attempts = 0;
	struct retry next;

	retry_policy_defaults(&policy);
	for (;;) {
		callback.attempts = ++attempts;
		next = retry_next(&policy, &callback, now_ms);
		if (next.state != CALLBACK_DUE)
			break;
		ck_assert_int_le(next.delay_ms, nominal_ms);
		ck_assert_int_gt(next.delay_ms, nominal_ms * 3 / 4 - 1);
		ck_assert_int_eq(next.delay_ms, retry_next(&policy, &callback, now_ms).delay_ms);
		now_ms += next.delay_ms;
		nominal_ms = nominal_ms * 2 < 300000 ? nominal_ms * 2 : 300000;
		ck_assert_uint_lt(attempts, 1000);
	}
	ck_assert_int_eq(next.state, CALLBACK_PARKED);
	ck_assert_int_le(now_ms, INT64_C(86400000));
	ck_assert_int_gt(now_ms, INT64_C(86400000) - 301000);
	callback.attempts = 1;
	callback.once_more = true;
	ck_assert_int_eq(retry_next(&policy, &callback, 0).state, CALLBACK_PARKED);
}
END_TEST

#define DAY_MS INT64_C(86400000)

/* An attempt that begins now fails after @ms; meanwhile the wall clock is set by @jump_ms. */
static enum callback_state attempt(struct delivery *delivery, struct moment *now, int64_t ms,
	int64_t jump_ms)
{
	static const struct callback_outcome failed = {.class = CALLBACK_UNKNOWN};
	const struct delivery_lease lease = {.lease_ms = 10000};
	struct delivery_terms terms = {.unknown_bet_ids = "", .duplicate_ids = ""};

	retry_policy_defaults(&terms.retry);
	ck_assert(delivery_begin(delivery, now, &lease));
	now->boot_ms += ms;
	now->wall_ms += ms + jump_ms;
	ck_assert(delivery_end(delivery, delivery->callback.attempts, &failed, &terms, now));
	return delivery->callback.state;
}

/* B4's 24 hours are elapsed time, even if the wall clock is set meanwhile. */
START_TEST(a_day_is_a_day)
{
	static const int64_t jumps_ms[] = {0, DAY_MS, -DAY_MS, 40 * 365 * DAY_MS};
	const int64_t jump_ms = jumps_ms[_i % 4];
	const bool while_sent = _i < 4;
	struct moment now = {.wall_ms = INT64_C(1700000000000), .boot_ms = 5000, .boot = 1};
	struct delivery delivery;
	enum callback_state state;

	delivery_open(&delivery, CALLBACK_BETTING_REFUND, 1, "dealer", &now, 60000);
	now.boot_ms += 60000;
	now.wall_ms += 60000 + (while_sent ? 0 : jump_ms);
	state = attempt(&delivery, &now, 3000, while_sent ? jump_ms : 0);
	ck_assert_int_eq(state, CALLBACK_DUE);
	ck_assert_int_lt(delivery.due.due_boot_ms, now.boot_ms + 1001);
	/* Almost a day later, and a day later. */
	now.boot_ms += DAY_MS - 600000;
	now.wall_ms += DAY_MS - 600000;
	ck_assert_int_eq(attempt(&delivery, &now, 3000, 0), CALLBACK_DUE);
	now.boot_ms += 600000;
	now.wall_ms += 600000;
	ck_assert_int_eq(attempt(&delivery, &now, 3000, 0), CALLBACK_PARKED);
}
END_TEST

/* After a reboot, only the wall clock is known. */
START_TEST(a_reboot_goes_by_the_wall_clock)
{
	struct moment now = {.wall_ms = INT64_C(1700000000000), .boot_ms = 5000, .boot = 1};
	struct delivery delivery;

	delivery_open(&delivery, CALLBACK_BETTING_REFUND, 1, "dealer", &now, 60000);
	ck_assert_int_eq(attempt(&delivery, &now, 3000, 0), CALLBACK_DUE);
	now = (struct moment){now.wall_ms + 2 * DAY_MS, 7000, 2};
	ck_assert_int_eq(attempt(&delivery, &now, 3000, 0), CALLBACK_PARKED);
}
END_TEST

/* The answer @id to attempt number @attempts of a callback of @kind; those before ended as @before. */
static struct delivery answered(enum callback_kind kind, uint32_t attempts,
	const struct callback_outcome *before, enum callback_class class, const char *id)
{
	struct moment now = {.wall_ms = INT64_C(1700000000000), .boot_ms = 5000, .boot = 1};
	const struct delivery_lease lease = {.lease_ms = 10000};
	struct delivery_terms terms = {.unknown_bet_ids = "gone", .duplicate_ids = "twice,E-9"};
	struct callback_outcome outcome;
	struct delivery delivery;

	outcome = *before;
	retry_policy_defaults(&terms.retry);
	delivery_open(&delivery, kind, 1, "dealer", &now, 0);
	for (uint32_t i = 1; i <= attempts; i++) {
		ck_assert(delivery_begin(&delivery, &now, &lease));
		if (i == attempts) {
			outcome.class = class;
			snprintf(outcome.dealer_error_id, sizeof(outcome.dealer_error_id), "%s",
				id);
		}
		ck_assert(delivery_end(&delivery, i, &outcome, &terms, &now));
	}
	return delivery;
}

/* duplicate_ids: after an attempt of a result or refund whose outcome stayed unknown. */
START_TEST(known_to_the_dealer)
{
	static const struct {
		enum callback_kind kind;
		uint32_t attempts;
		enum callback_class class;
		const char *id;
		bool known;
		enum callback_state state;
	} cases[] = {
		{CALLBACK_BETTING_RESULT, 1, CALLBACK_REFUSED, "twice", false, CALLBACK_DUE},
		{CALLBACK_BETTING_RESULT, 2, CALLBACK_REFUSED, "twice", true, CALLBACK_DELIVERED},
		{CALLBACK_BETTING_RESULT, 3, CALLBACK_REFUSED, "E-9", true, CALLBACK_DELIVERED},
		{CALLBACK_BETTING_RESULT, 2, CALLBACK_REFUSED, "E-", false, CALLBACK_DUE},
		{CALLBACK_BETTING_RESULT, 2, CALLBACK_REFUSED, "", false, CALLBACK_DUE},
		{CALLBACK_BETTING_RESULT, 2, CALLBACK_UNKNOWN, "twice", false, CALLBACK_DUE},
		{CALLBACK_BETTING_RESULT, 3, CALLBACK_REFUSED, "other", false, CALLBACK_PARKED},
		{CALLBACK_BETTING_RESULT, 2, CALLBACK_SUCCESS, "", false, CALLBACK_DELIVERED},
		{CALLBACK_BETTING_REFUND, 1, CALLBACK_REFUSED, "twice", false, CALLBACK_DUE},
		{CALLBACK_BETTING_REFUND, 2, CALLBACK_REFUSED, "twice", true, CALLBACK_DELIVERED},
		{CALLBACK_BETTING_REFUND, 2, CALLBACK_REFUSED, "gone", false, CALLBACK_DELIVERED},
		{CALLBACK_BETTING, 1, CALLBACK_REFUSED, "twice", false, CALLBACK_FAILED},
	};

	static const struct callback_outcome lost = {.class = CALLBACK_UNKNOWN};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct delivery delivery = answered(cases[i].kind, cases[i].attempts, &lost,
			cases[i].class, cases[i].id);

		ck_assert_msg(delivery.callback.known_to_dealer == cases[i].known &&
				delivery.callback.state == cases[i].state,
			"case %zu: %s", i, callback_state_names[delivery.callback.state]);
		ck_assert_str_eq(delivery.attempt.note,
			cases[i].known ? "known to the dealer from an earlier attempt: delivered"
				       : "");
		ck_assert_int_eq(delivery.callback.unknown_to_dealer,
			strcmp(cases[i].id, "gone") == 0);
	}
}
END_TEST

/* If every attempt was refused or not sent, the dealer performed none: the id means another thing. */
START_TEST(never_performed_is_not_known)
{
	static const struct callback_outcome before[] = {
		{.class = CALLBACK_REFUSED, .http_status = 409, .dealer_error_id = "twice"},
		{.class = CALLBACK_NOT_SENT},
	};
	struct delivery delivery;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		delivery =
			answered(CALLBACK_BETTING_RESULT, 3, &before[i], CALLBACK_REFUSED, "twice");
		ck_assert(!delivery.callback.known_to_dealer);
		ck_assert_int_eq(delivery.callback.state, CALLBACK_PARKED);
		delivery =
			answered(CALLBACK_BETTING_REFUND, 3, &before[i], CALLBACK_REFUSED, "twice");
		ck_assert(!delivery.callback.known_to_dealer);
		ck_assert_int_eq(delivery.callback.state, CALLBACK_DUE);
	}
}
END_TEST

/* One id cannot mean that a bet is known and that it is not. */
START_TEST(ids_mean_one_thing)
{
	ck_assert(duplicate_ids_valid("", "gone"));
	ck_assert(duplicate_ids_valid("twice,E-9,", "gone,E-"));
	ck_assert(!duplicate_ids_valid("twice,gone", "gone"));
	ck_assert(!duplicate_ids_valid("bet_not_found", ""));
	ck_assert(!duplicate_ids_valid("a,transaction_not_found", ""));
}
END_TEST

Suite *wager_suite(void)
{
	Suite *suite = suite_create("wager");
	TCase *tcase = tcase_create("wager");

	tcase_add_test(tcase, only_legal_moves);
	tcase_add_test(tcase, bets_are_answered_by_their_state);
	tcase_add_test(tcase, games_have_a_status);
	tcase_add_test(tcase, rounds_sum_up);
	tcase_add_test(tcase, no_round_overflows);
	tcase_add_test(tcase, results_are_sent_three_times);
	tcase_add_test(tcase, refunds_back_off);
	tcase_add_loop_test(tcase, a_day_is_a_day, 0, 8);
	tcase_add_test(tcase, a_reboot_goes_by_the_wall_clock);
	tcase_add_test(tcase, known_to_the_dealer);
	tcase_add_test(tcase, never_performed_is_not_known);
	tcase_add_test(tcase, ids_mean_one_thing);
	suite_add_tcase(suite, tcase);
	return suite;
}
