/*
 * Tests the proof of corrections, cancellations, and the dealers' sums that follow from bets, rounds
 * and callbacks. Each damage must be found, in its row or between two sets.
 */
#include "proof_world.h"
#include "suites.h"

#include <string.h>

static void make(struct world *world)
{
	world_make(world);
	world_add_changes(world);
}

START_TEST(sound_changes_are_proved)
{
	struct world world;
	struct world_verdict verdict;

	make(&world);
	world_prove(&world, &verdict);
	ck_assert_msg(world_is_sound(&verdict),
		"requests %d transactions %d callbacks %d ends %d: %s", verdict.requests,
		verdict.transactions, verdict.callbacks, verdict.ends, verdict.text);
}
END_TEST

/* ---- damage that is reported */

#define DAMAGE(name)  static void name(struct world *w)
#define BET(game)     world_bet(w, game, 1)
#define ROUND(game)   world_round(w, game)
#define CORRECTION(n) world_correction(w, "g4", n)
#define REPORTED(n)   world_callback(w, CORRECTION(n)->event)
#define SEAMLESS      (w->totals[0])
#define TRANSFER      (w->totals[1])

/* clang-format off: a damage a line */
DAMAGE(shortfall)
{
	TRANSFER.shortfall++;
}
DAMAGE(shortfall_there)
{
	SEAMLESS.shortfall = -1;
}
DAMAGE(staked)
{
	SEAMLESS.seamless_staked -= 20000;
}
DAMAGE(staked_here)
{
	TRANSFER.seamless_staked = 1;
}
DAMAGE(paid)
{
	SEAMLESS.seamless_paid -= 300000;
}
DAMAGE(refunded)
{
	SEAMLESS.seamless_refunded -= 20000;
}
DAMAGE(owed_payouts)
{
	SEAMLESS.owed_payouts += 40000;
}
DAMAGE(owed_refunds)
{
	SEAMLESS.owed_refunds -= 20000;
}
DAMAGE(with_balance)
{
	SEAMLESS.bets_with_balance = 1;
}
DAMAGE(without_balance)
{
	SEAMLESS.bets_without_balance--;
}
DAMAGE(balance_told)
{
	BET("g4")->has_balance = true;
}
DAMAGE(callback_less)
{
	REPORTED(2)->shortfall = 30000;
}
DAMAGE(callback_more)
{
	REPORTED(2)->shortfall = 50000;
}
DAMAGE(row_less)
{
	CORRECTION(2)->shortfall = 0;
	ROUND("g4")->shortfall = -40000;
}
DAMAGE(row_too_early)
{
	REPORTED(2)->state = CALLBACK_PARKED;
	REPORTED(2)->ended_ms = 0;
}
DAMAGE(key_of_cancellation_gone)
{
	world_key(w, "cancel-g5")->owner[0] = 'x';
}
DAMAGE(key_of_cancellation_later)
{
	world_key(w, "cancel-g5")->time_ms++;
}
DAMAGE(key_of_other_bet)
{
	world_key(w, "cancel-g5")->bet_number = 2;
}
DAMAGE(key_of_accepted)
{
	strcpy(world_key(w, "cancel-g5")->game_id, "g4");
}
DAMAGE(key_of_other_client)
{
	strcpy(BET("g5")->client_id, "other");
}
DAMAGE(key_of_movement_gone)
{
	strcpy(world_key(w, "cancel-h5")->request_transaction_id, "x");
}
/* clang-format on */

static const struct damage {
	void (*make)(struct world *world);
	const char *found;
} damages[] = {
	{shortfall, "dealer beta: shortfall is kept as 3.0001, the rows sum up to 3.00"},
	{shortfall_there, "dealer alpha: shortfall is kept as -0.0001, the rows sum up to 0.00"},
	{staked, "dealer alpha: seamless_staked is kept as 22.00, the rows sum up to 24.00"},
	{staked_here, "dealer beta: seamless_staked is kept as 0.0001, the rows sum up to 0.00"},
	{paid, "dealer alpha: seamless_paid is kept as 25.00, the rows sum up to 55.00"},
	{refunded, "dealer alpha: seamless_refunded is kept as 10.00, the rows sum up to 12.00"},
	{owed_payouts, "dealer alpha: owed_payouts is kept as 10.00, the rows sum up to 6.00"},
	{owed_refunds, "dealer alpha: owed_refunds is kept as 5.00, the rows sum up to 7.00"},
	{with_balance, "dealer alpha: bets_with_balance is kept as 1, there are 0"},
	{without_balance, "dealer alpha: bets_without_balance is kept as 5, there are 6"},
	{balance_told, "dealer alpha: bets_with_balance is kept as 0, there are 1"},
	{callback_less, "correction p1/g4/2 has another shortfall than its betting-correction"},
	{callback_more, "correction p1/g4/2 has another shortfall than its betting-correction"},
	{row_less, "correction p1/g4/2 has another shortfall than its betting-correction"},
	{row_too_early, "correction p1/g4/2 has another shortfall than its betting-correction"},
	{key_of_cancellation_gone, "cancellation of bet p1/g5/1: its request key is missing"},
	{key_of_cancellation_later,
		"cancellation of bet p1/g5/1: its request key is of another time"},
	{key_of_other_bet, "request cancel-g5 of slots cancels bet 2, which does not exist"},
	{key_of_accepted, "request cancel-g5 of slots cancels bet 1, which was not cancelled"},
	{key_of_other_client,
		"request cancel-g5 of slots cancels bet 1, which is another client's"},
	{key_of_movement_gone, "cancellation of bet p2/h5/1: its request key is missing"},
};

START_TEST(a_damage_is_reported)
{
	const struct damage *damage = &damages[_i];
	struct world world;
	struct world_verdict verdict;

	make(&world);
	damage->make(&world);
	world_prove(&world, &verdict);
	ck_assert_msg(strstr(verdict.text, damage->found) != NULL, "'%s' not in: %s", damage->found,
		verdict.text);
	ck_assert_uint_gt(verdict.problems, 0);
}
END_TEST

/* ---- movements that no row names: comparing the sets finds them */

/* Adds a second movement like that of @id, with a key of its own. */
static void double_movement(struct world *w, const char *id)
{
	struct request *key = &w->requests[w->request_count++];
	struct transaction *row = &w->transactions[w->transaction_count++];

	*key = *world_key(w, id);
	*row = *world_transaction(w, key->transaction_id);
	strcpy(key->request_transaction_id, "second");
	strcpy(row->request_transaction_id, "second");
	key->transaction_id = row->transaction_id = ++w->transaction_id;
	w->point.as_of = w->moment.as_of = w->transaction_id;
}

/* clang-format off: a damage a line */
DAMAGE(second_cancellation)
{
	double_movement(w, "cancel-h5");
}
DAMAGE(second_correction)
{
	double_movement(w, "correct-h4-1");
}
DAMAGE(correction_there)
{
	double_movement(w, "correct-g4-1");
}
DAMAGE(movement_gone)
{
	world_remove(w->transactions, w->transaction_count,
		world_transaction(w, world_cancellation(w, "h5")->transaction_id));
}
DAMAGE(movement_of_other_dealer)
{
	strcpy(world_transaction(w, world_cancellation(w, "h5")->transaction_id)->casino_id,
		"alpha");
}
DAMAGE(key_amount)
{
	world_key(w, "cancel-h5")->amount++;
}
DAMAGE(correction_key_gone)
{
	world_remove(w->requests, w->request_count, world_key(w, "correct-g4-2"));
}
/* clang-format on */

static const struct set_damage {
	void (*make)(struct world *world);
	bool requests, transactions;
} set_damages[] = {
	{second_cancellation, true, true},
	{second_correction, true, true},
	{correction_there, true, true},
	{movement_gone, false, true},
	{movement_of_other_dealer, false, true},
	{key_amount, true, false},
	{correction_key_gone, true, false},
};

START_TEST(sets_that_differ_are_told)
{
	const struct set_damage *damage = &set_damages[_i];
	struct world world;
	struct world_verdict verdict;

	make(&world);
	damage->make(&world);
	world_prove(&world, &verdict);
	ck_assert_int_eq(!verdict.requests, damage->requests);
	ck_assert_int_eq(!verdict.transactions, damage->transactions);
}
END_TEST

/* ---- the sums belong to one moment; rows changed since */

/* Proves the sums that @total has as the first dealer's. */
static void prove_sums(struct world *world, const struct total *total, const char *when)
{
	struct world_verdict verdict;

	world->totals[0] = *total;
	world_prove(world, &verdict);
	ck_assert_msg(!strstr(verdict.text, "the rows sum up to") &&
			!strstr(verdict.text, "there are"),
		"%s: %s", when, verdict.text);
}

START_TEST(sums_are_those_of_the_moment)
{
	const int64_t later_ms = WORLD_NOW_MS + 1;
	struct world world, *w = &world;
	struct world_verdict verdict;
	struct total total;

	/* A bet that was settled since was accepted then, or had not even been. */
	make(w);
	total = SEAMLESS;
	BET("g4")->changed_ms = later_ms;
	prove_sums(w, &total, "accepted");
	total.seamless_staked -= 100000;
	total.bets_without_balance--;
	prove_sums(w, &total, "pending");
	total.seamless_staked--;
	world.totals[0] = total;
	world_prove(w, &verdict);
	ck_assert_ptr_nonnull(strstr(verdict.text, "seamless_staked is kept as 13.9999"));
	/* A bet that was cancelled since was staked, and its stake was not owed. */
	make(w);
	total = SEAMLESS;
	BET("g5")->changed_ms = later_ms;
	total.seamless_staked += 20000;
	total.seamless_refunded -= 20000;
	total.owed_refunds -= 20000;
	prove_sums(w, &total, "not cancelled");
	world.totals[0] = total;
	BET("g5")->changed_ms = WORLD_NOW_MS - 1;
	world_prove(w, &verdict);
	ck_assert_ptr_nonnull(strstr(verdict.text, "seamless_staked is kept as 26.00"));
	/* A correction that was made since changed nothing then, nor did what followed it. */
	make(w);
	total = SEAMLESS;
	TRANSFER.shortfall = 0;
	w->moment.as_of = CORRECTION(3)->transaction_id - 1;
	w->moment.event_from = w->moment.event_until = CORRECTION(3)->event - 1;
	total.seamless_paid -= 100000;
	total.owed_payouts -= 60000;
	total.shortfall += 40000;
	total.owed_refunds -= 20000;
	total.seamless_refunded -= 20000;
	total.bets_without_balance--;
	prove_sums(w, &total, "not corrected");
	/* A betting-correction that ended since had reported no shortfall, and the one after was due. */
	make(w);
	total = SEAMLESS;
	REPORTED(2)->ended_ms = later_ms;
	total.shortfall -= 40000;
	prove_sums(w, &total, "not answered");
	REPORTED(1)->ended_ms = later_ms;
	total.owed_payouts += 300000;
	prove_sums(w, &total, "not delivered");
	/* It may have ended just then. */
	REPORTED(1)->ended_ms = WORLD_NOW_MS;
	prove_sums(w, &total, "delivered just then");
	total.owed_payouts -= 300000;
	prove_sums(w, &total, "delivered just before");
}
END_TEST

Suite *proof_changes_suite(void)
{
	Suite *suite = suite_create("proof_changes");
	TCase *tcase = tcase_create("proof_changes");

	tcase_add_test(tcase, sound_changes_are_proved);
	tcase_add_loop_test(tcase, a_damage_is_reported, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_loop_test(tcase, sets_that_differ_are_told, 0,
		sizeof(set_damages) / sizeof(set_damages[0]));
	tcase_add_test(tcase, sums_are_those_of_the_moment);
	suite_add_tcase(suite, tcase);
	return suite;
}
