/*
 * Tests the proof of A4's sums. The sums that the ledger stores must pass; each single fault in
 * them or in the bets must be found.
 */
#include "proof/statistics.h"

#include "chance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tap.h>

#define CREDIT  MONEY_UNITS_PER_CREDIT
#define PLAYER  "aaaaaaaaaaaaaaaaaaaa"
#define ROUNDS  6U
#define BETS    8
#define DAYS    8
#define DAY_ONE 20000

/* A player's rows in a ledger. */
static struct world {
	struct round rounds[ROUNDS];
	struct bet bets[ROUNDS][BETS];
	unsigned int bet_counts[ROUNDS];
	unsigned int round_count;
	bool has_lifetime;
	struct lifetime lifetime;
	struct day days[DAYS];
	unsigned int day_count;
} world;

/* The reported problems. */
static struct {
	unsigned int lines;
	char text[4096];
} printed;

static void report(void *closure, const char *problem)
{
	size_t len = strlen(printed.text);

	(void)closure;
	printed.lines++;
	snprintf(printed.text + len, sizeof(printed.text) - len, "%s\n", problem);
}

/* Books as src/ledger/rows/player_stats.c does. */
static void book(uint32_t number, const struct statistics_change *change)
{
	struct day *day = world.days;

	while (day < world.days + world.day_count && day->number != number)
		day++;
	if (day == world.days + world.day_count) {
		ck_assert_uint_lt(world.day_count, DAYS);
		strcpy(day->player_id, PLAYER);
		day->number = number;
		world.day_count++;
	}
	statistics_add(&world.lifetime.sums, change);
	world.lifetime.staked += change->staked;
	statistics_add(&day->sums, change);
	world.has_lifetime = true;
}

static struct bet *add_bet(unsigned int round, enum bet_state state, money_t amount, bool addition,
	uint32_t day)
{
	struct bet *bet = &world.bets[round][world.bet_counts[round]++];
	struct statistics_change change;

	bet->number = world.bet_counts[round];
	bet->state = state;
	bet->bet_amount = amount * CREDIT;
	bet->addition = addition;
	bet->day = DAY_ONE + day;
	if (state != BET_ACCEPTED && state != BET_SETTLED)
		return bet;
	change = statistics_of_acceptance(bet);
	book(bet->day, &change);
	return bet;
}

static unsigned int add_round(void)
{
	return world.round_count++;
}

/* Settles the round and its accepted bets. */
static void settle(unsigned int number, enum round_result result, money_t payout)
{
	struct round *round = &world.rounds[number];
	struct statistics_change change;
	bool paid = false;

	round->state = ROUND_SETTLED;
	round->result = result;
	round->payout_amount = round->current_payout = payout * CREDIT;
	round->current_result = result;
	for (unsigned int i = 0; i < world.bet_counts[number]; i++) {
		struct bet *bet = &world.bets[number][i];

		if (bet->state != BET_ACCEPTED)
			continue;
		bet->state = BET_SETTLED;
		change = statistics_of_settlement(bet, result);
		book(bet->day, &change);
		change = statistics_of_payout(round->payout_amount, result);
		if (!paid)
			book(bet->day, &change);
		paid = true;
	}
}

/*
 * Makes a win across midnight, a loss, a refund, an open round, a refunded round and a rejected
 * bet.
 */
static void make_world(void)
{
	unsigned int round;

	memset(&world, 0, sizeof(world));
	memset(&printed, 0, sizeof(printed));
	round = add_round();
	add_bet(round, BET_REJECTED, 500, false, 0);
	add_bet(round, BET_ACCEPTED, 30, false, 0);
	add_bet(round, BET_ACCEPTED, 5, true, 0);
	add_bet(round, BET_ACCEPTED, 10, false, 1);
	settle(round, RESULT_WIN, 100);
	round = add_round();
	add_bet(round, BET_ACCEPTED, 7, false, 1);
	add_bet(round, BET_REFUNDED, 70, false, 1);
	settle(round, RESULT_LOSS, 0);
	round = add_round();
	add_bet(round, BET_ACCEPTED, 11, false, 2);
	add_bet(round, BET_ACCEPTED, 1, true, 3);
	settle(round, RESULT_REFUND, 12);
	round = add_round();
	add_bet(round, BET_ACCEPTED, 13, false, 4);
	add_bet(round, BET_PENDING, 17, false, 4);
	round = add_round();
	add_bet(round, BET_REFUNDING, 19, false, 5);
	round = add_round();
	add_bet(round, BET_REJECTED, 23, false, 5);
}

/* Feeds the world. The caller frees the proof. */
static struct proof_statistics prove(void)
{
	struct proof_statistics proof;

	proof_statistics_init(&proof, report, NULL);
	proof_statistics_begin(&proof, PLAYER);
	for (unsigned int i = 0; i < world.round_count; i++) {
		proof_statistics_round(&proof, &world.rounds[i]);
		for (unsigned int n = 0; n < world.bet_counts[i]; n++)
			proof_statistics_bet(&proof, &world.bets[i][n]);
	}
	if (world.has_lifetime)
		proof_statistics_lifetime(&proof, &world.lifetime);
	for (unsigned int i = 0; i < world.day_count; i++)
		proof_statistics_day(&proof, &world.days[i]);
	ck_assert(proof_statistics_end(&proof));
	ck_assert_uint_eq(proof.differences, printed.lines);
	return proof;
}

static void proved(void)
{
	struct proof_statistics proof = prove();

	ck_assert_msg(printed.lines == 0, "%s", printed.text);
	proof_statistics_free(&proof);
}

START_TEST(sums_are_proved)
{
	struct proof_statistics proof;

	make_world();
	proved();
	ck_assert_uint_eq(world.lifetime.sums.bet_count, 4);
	ck_assert(world.lifetime.sums.turnover == 52 * CREDIT);
	ck_assert(world.lifetime.sums.profit_loss == 48 * CREDIT);
	ck_assert_uint_eq(world.day_count, 5);
	/* A player without bets has no rows; rows of zeros are equivalent. */
	memset(&world, 0, sizeof(world));
	proved();
	world.has_lifetime = true;
	world.day_count = 1;
	world.days[0].number = 7;
	proved();
	/* Bets whose round is missing belong to an open round. */
	make_world();
	memset(&printed, 0, sizeof(printed));
	proof_statistics_init(&proof, report, NULL);
	proof_statistics_begin(&proof, PLAYER);
	proof_statistics_round(&proof, NULL);
	proof_statistics_bet(&proof, &world.bets[3][0]);
	ck_assert_uint_eq(proof.lifetime.made[0].accepted, 1);
	ck_assert(proof.lifetime.made[0].turnover == 0);
	proof_statistics_free(&proof);
}
END_TEST

/* The faults. Each test applies one. */
/* clang-format off: a lie a line */
static void lifetime_count(void)
{
	world.lifetime.sums.bet_count++;
}
static void lifetime_turnover(void)
{
	world.lifetime.sums.turnover += 5 * CREDIT;
}
static void lifetime_profit(void)
{
	world.lifetime.sums.profit_loss *= -1;
}
static void lifetime_staked(void)
{
	world.lifetime.staked -= CREDIT;
}
static void lifetime_gone(void)
{
	world.has_lifetime = false;
}
static void day_count_(void)
{
	world.days[1].sums.bet_count--;
}
static void day_turnover(void)
{
	world.days[1].sums.turnover--;
}
static void day_profit(void)
{
	world.days[0].sums.profit_loss++;
}
static void day_gone(void)
{
	world.day_count--;
}
static void day_too_many(void)
{
	world.days[world.day_count++] =
		(struct day){.number = DAY_ONE + 99, .sums = {.bet_count = 1}};
}
static void days_exchanged(void)
{
	struct statistics sums = world.days[0].sums;

	world.days[0].sums = world.days[1].sums;
	world.days[1].sums = sums;
}
static void bet_on_another_day(void)
{
	world.bets[1][0].day++;
}
static void bet_larger(void)
{
	world.bets[1][0].bet_amount++;
}
static void bet_an_addition(void)
{
	world.bets[3][0].addition = true;
}
static void bet_not_settled(void)
{
	world.bets[1][0].state = BET_ACCEPTED;
}
static void bet_refunded(void)
{
	world.bets[3][0].state = BET_REFUNDED;
}
static void round_pays_more(void)
{
	world.rounds[0].current_payout += CREDIT;
}
static void round_lost(void)
{
	world.rounds[2].current_result = RESULT_LOSS;
}
static void round_not_settled(void)
{
	world.rounds[1].state = ROUND_OPEN;
}
static void impossible_day(void)
{
	world.bets[3][0].day = UINT32_MAX;
}
static void bet_enormous(void)
{
	world.bets[1][0].bet_amount = INT64_MAX - CREDIT;
}
/* clang-format on */

static const struct {
	void (*damage)(void);
	const char *printed;
} damages[] = {
	{lifetime_count, "player " PLAYER ": bet_count is kept as 5, the bets make 4\n"},
	{lifetime_turnover, "player " PLAYER ": turnover is kept as 57.00, the bets make 52.00\n"},
	{lifetime_profit,
		"player " PLAYER ": profit_loss is kept as -48.00, the bets make 48.00\n"},
	{lifetime_staked, "player " PLAYER ": staked is kept as 12.00, the bets make 13.00\n"},
	{lifetime_gone, "player " PLAYER ": bet_count is kept as 0, the bets make 4\n"},
	{day_count_, "player " PLAYER " on 2024-10-05: bet_count is kept as 1, the bets make 2\n"},
	{day_turnover, " on 2024-10-05: turnover is kept as 16.9999, the bets make 17.00\n"},
	{day_profit, " on 2024-10-04: profit_loss is kept as 65.0001, the bets make 65.00\n"},
	{day_gone, " on 2024-10-08: bet_count is kept as 0, the bets make 1\n"},
	{day_too_many, " on 2025-01-11: bet_count is kept as 1, the bets make 0\n"},
	{days_exchanged, " on 2024-10-04: turnover is kept as 17.00, the bets make 35.00\n"},
	{bet_on_another_day, " on 2024-10-05: bet_count is kept as 2, the bets make 1\n"},
	{bet_larger, ": turnover is kept as 52.00, the bets make 52.0001\n"},
	{bet_an_addition, ": bet_count is kept as 4, the bets make 3\n"},
	{bet_not_settled, ": turnover is kept as 52.00, the bets make 45.00\n"},
	{bet_refunded, ": bet_count is kept as 4, the bets make 3\n"},
	{round_pays_more, ": profit_loss is kept as 48.00, the bets make 49.00\n"},
	{round_lost, ": bet_count is kept as 4, the bets make 5\n"},
	{round_not_settled, ": turnover is kept as 52.00, the bets make 45.00\n"},
	{impossible_day, "player " PLAYER " has the day 4294967295, which cannot be\n"},
	{bet_enormous, "the bets make 922337203685521.5807\n"},
};

START_TEST(damages_are_told)
{
	struct proof_statistics proof;

	make_world();
	damages[_i].damage();
	proof = prove();
	ck_assert_msg(strstr(printed.text, damages[_i].printed), "%s", printed.text);
	/* There is no callback for problems, but they are counted. */
	ck_assert_uint_ge(proof.differences, 1);
	proof_statistics_free(&proof);
}
END_TEST

/*
 * A stored sum must lie between the values before and after it was read; otherwise it is
 * reported.
 */
START_TEST(rows_read_between)
{
	struct proof_statistics proof;
	struct bet later = {.number = 9, .state = BET_ACCEPTED, .day = DAY_ONE, .bet_amount = 1};

	for (int damaged = 0; damaged < 2; damaged++) {
		make_world();
		world.lifetime.sums.bet_count += damaged ? 3 : 1;
		proof_statistics_init(&proof, report, NULL);
		proof_statistics_begin(&proof, PLAYER);
		for (int again = 0; again < 2; again++) {
			for (unsigned int i = 0; i < world.round_count; i++) {
				proof_statistics_round(&proof, &world.rounds[i]);
				for (unsigned int n = 0; n < world.bet_counts[i]; n++)
					proof_statistics_bet(&proof, &world.bets[i][n]);
			}
			if (again)
				break;
			proof_statistics_lifetime(&proof, &world.lifetime);
			for (unsigned int i = 0; i < world.day_count; i++)
				proof_statistics_day(&proof, &world.days[i]);
			proof_statistics_again(&proof);
		}
		/* Two more bets in the last round. */
		proof_statistics_bet(&proof, &later);
		proof_statistics_bet(&proof, &later);
		ck_assert(proof_statistics_end(&proof));
		ck_assert_str_eq(printed.text,
			damaged ? "player " PLAYER
				  ": bet_count is kept as 7, the bets make 4 to 6\n"
				: "");
		proof_statistics_free(&proof);
	}
}
END_TEST

/* A round was corrected twice between the readings, upwards and then to a refund. */
START_TEST(corrected_between_the_readings)
{
	const struct bet bet = {.number = 1, .state = BET_SETTLED, .day = DAY_ONE, .bet_amount = 5};
	const struct correction corrections[] = {
		{.previous_result = RESULT_WIN,
			.previous_payout = 10,
			.result = RESULT_WIN,
			.payout_amount = 30},
		{.previous_result = RESULT_WIN,
			.previous_payout = 30,
			.result = RESULT_REFUND,
			.payout_amount = 5},
	};
	struct lifetime lifetime = {.sums = {1, 5, 25}};
	struct day day = {.number = DAY_ONE, .sums = {1, 5, 25}};
	struct proof_statistics proof;

	for (int known = 0; known < 2; known++) {
		struct round round = {.state = ROUND_SETTLED,
			.current_result = RESULT_WIN,
			.current_payout = 10};

		printed.text[0] = '\0';
		proof_statistics_init(&proof, report, NULL);
		proof_statistics_begin(&proof, PLAYER);
		proof_statistics_round(&proof, &round);
		proof_statistics_bet(&proof, &bet);
		proof_statistics_lifetime(&proof, &lifetime);
		proof_statistics_day(&proof, &day);
		proof_statistics_again(&proof);
		round.current_result = RESULT_REFUND;
		round.current_payout = 5;
		proof_statistics_round(&proof, &round);
		proof_statistics_bet(&proof, &bet);
		for (unsigned int i = 0; known && i < 2; i++)
			proof_statistics_correction(&proof, &corrections[i]);
		ck_assert(proof_statistics_end(&proof));
		ck_assert_int_eq(proof.differences == 0, known);
		proof_statistics_free(&proof);
	}
}
END_TEST

/* Makes one step of a world, including its bookings. */
static void step(uint64_t *luck)
{
	unsigned int number = (unsigned int)chance_below(luck, ROUNDS);
	struct round *round = &world.rounds[number];
	unsigned int *count = &world.bet_counts[number], pending = 0, accepted = 0;
	struct statistics_change change;
	struct bet *bet;

	world.round_count = ROUNDS;
	if (round->state == ROUND_SETTLED)
		return;
	for (unsigned int i = 0; i < *count; i++) {
		bet = &world.bets[number][i];
		pending += bet->state == BET_PENDING;
		accepted += bet->state == BET_ACCEPTED;
		if (bet->state != BET_PENDING || chance_below(luck, 2))
			continue;
		bet->state = chance_below(luck, 3) ? BET_ACCEPTED : BET_REJECTED;
		if (bet->state == BET_REJECTED)
			return;
		change = statistics_of_acceptance(bet);
		book(bet->day, &change);
		return;
	}
	if (accepted && !pending && !chance_below(luck, 3)) {
		settle(number, (enum round_result)(1 + chance_below(luck, 3)),
			(money_t)chance_below(luck, 50));
	} else if (*count < BETS) {
		add_bet(number, BET_PENDING, 1 + (money_t)chance_below(luck, 9),
			!chance_below(luck, 4), (uint32_t)chance_below(luck, DAYS));
	}
}

#define STEPS 60
static struct world history[STEPS];

/*
 * Feeds the bets, each row as it was at a random time between @from and @until. The bets of a
 * round are fed one after the other, the round at any time.
 */
static void feed_torn(struct proof_statistics *proof, unsigned int from, unsigned int until,
	uint64_t *luck)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned int at = from + (unsigned int)chance_below(luck, until - from + 1);

		proof_statistics_round(proof,
			history[at].bet_counts[i] ? &history[at].rounds[i] : NULL);
		at = from;
		for (unsigned int n = 0; n < BETS; n++) {
			if (chance_below(luck, 2))
				at += (unsigned int)chance_below(luck, until - at + 1);
			if (n >= history[at].bet_counts[i])
				break;
			proof_statistics_bet(proof, &history[at].bets[i][n]);
		}
	}
}

/* Correct rows are never reported as wrong, however inconsistent the times of reading. */
START_TEST(readings_may_be_torn)
{
	struct proof_statistics proof;
	uint64_t luck = (uint64_t)_i + 1;
	unsigned int wide = 0;

	memset(&printed, 0, sizeof(printed));
	memset(&world, 0, sizeof(world));
	for (unsigned int i = 0; i < STEPS; i++) {
		step(&luck);
		history[i] = world;
	}
	for (unsigned int try = 0; try < 50; try++) {
		unsigned int at = (unsigned int)chance_below(&luck, STEPS);

		proof_statistics_init(&proof, report, NULL);
		proof_statistics_begin(&proof, PLAYER);
		feed_torn(&proof, 0, at, &luck);
		if (history[at].has_lifetime)
			proof_statistics_lifetime(&proof, &history[at].lifetime);
		for (unsigned int i = 0; i < history[at].day_count; i++)
			proof_statistics_day(&proof, &history[at].days[i]);
		proof_statistics_again(&proof);
		feed_torn(&proof, at, STEPS - 1, &luck);
		ck_assert(proof_statistics_end(&proof));
		ck_assert_msg(printed.lines == 0, "seed %d: %s", _i + 1, printed.text);
		wide += proof.lifetime.made[0].accepted < proof.lifetime.made[1].accepted;
		proof_statistics_free(&proof);
	}
	ck_assert_uint_gt(wide, 10);
}
END_TEST

/* A player with many years of bets, in any order of days, within the memory for their days. */
START_TEST(many_days)
{
	static struct day days[5000];
	struct proof_statistics proof;
	struct lifetime lifetime = {.sums = {.bet_count = 0}};
	uint64_t luck = 1;

	memset(&printed, 0, sizeof(printed));
	memset(days, 0, sizeof(days));
	proof_statistics_init(&proof, report, NULL);
	for (int twice = 0; twice < 2; twice++) {
		memset(days, 0, sizeof(days));
		memset(&lifetime, 0, sizeof(lifetime));
		proof_statistics_begin(&proof, PLAYER);
		proof_statistics_round(&proof, NULL);
		for (unsigned int i = 0; i < 100000; i++) {
			const struct bet bet = {.number = i,
				.state = BET_ACCEPTED,
				.day = DAY_ONE + (uint32_t)chance_below(&luck, 5000),
				.bet_amount = 1};

			days[bet.day - DAY_ONE].sums.bet_count++;
			lifetime.sums.bet_count++;
			lifetime.staked++;
			proof_statistics_bet(&proof, &bet);
		}
		proof_statistics_lifetime(&proof, &lifetime);
		for (uint32_t i = 0; i < 5000; i++) {
			days[i].number = DAY_ONE + i;
			proof_statistics_day(&proof, &days[i]);
		}
		ck_assert(proof_statistics_end(&proof));
		ck_assert_msg(printed.lines == 0, "%s", printed.text);
		ck_assert_uint_le(proof.day_room, 8192);
	}
	proof_statistics_free(&proof);
}
END_TEST

#define LARGE_BETS 9300 /* of the largest amount: their sum exceeds 64 bits */

/* What a sum of 64 bits would hold. */
static sum_t cut(sum_t sum)
{
	return (int64_t)(uint64_t)sum;
}

/* Lost bets of a player on @count days, and the sums that the ledger keeps of them. */
static bool prove_large(unsigned int count, sum_t (*kept)(sum_t sum))
{
	struct proof_statistics proof;
	struct day days[2];
	struct lifetime lifetime;
	bool proved;

	memset(&printed, 0, sizeof(printed));
	memset(days, 0, sizeof(days));
	memset(&lifetime, 0, sizeof(lifetime));
	proof_statistics_init(&proof, report, NULL);
	proof_statistics_begin(&proof, PLAYER);
	for (unsigned int i = 0; i < LARGE_BETS; i++) {
		const struct round round = {.state = ROUND_SETTLED,
			.result = RESULT_LOSS,
			.current_result = RESULT_LOSS};
		struct bet bet = {.number = 1,
			.state = BET_ACCEPTED,
			.day = DAY_ONE + i % count,
			.bet_amount = MONEY_MAX};
		const struct statistics_change accepted = statistics_of_acceptance(&bet);
		const struct statistics_change settled =
			statistics_of_settlement(&bet, RESULT_LOSS);

		statistics_add(&lifetime.sums, &accepted);
		statistics_add(&lifetime.sums, &settled);
		statistics_add(&days[i % count].sums, &accepted);
		statistics_add(&days[i % count].sums, &settled);
		bet.state = BET_SETTLED;
		proof_statistics_round(&proof, &round);
		proof_statistics_bet(&proof, &bet);
	}
	ck_assert(lifetime.sums.turnover == (sum_t)MONEY_MAX * LARGE_BETS);
	ck_assert(lifetime.sums.turnover > INT64_MAX && lifetime.sums.profit_loss < INT64_MIN);
	ck_assert((days[0].sums.turnover > INT64_MAX) == (count == 1));
	if (kept) {
		lifetime.sums.turnover = kept(lifetime.sums.turnover);
		lifetime.sums.profit_loss = kept(lifetime.sums.profit_loss);
	}
	proof_statistics_lifetime(&proof, &lifetime);
	for (unsigned int i = 0; i < count; i++) {
		days[i].number = DAY_ONE + i;
		proof_statistics_day(&proof, &days[i]);
	}
	proved = proof_statistics_end(&proof);
	proof_statistics_free(&proof);
	return proved;
}

/* Of one day, or of days together: each bet is possible, so nothing is wrong. */
START_TEST(sums_above_64_bits)
{
	const unsigned int days = 1 + (unsigned int)_i;

	ck_assert(prove_large(days, NULL));
	ck_assert_msg(printed.lines == 0, "%s", printed.text);
	/* Sums that were cut are wrong, and are printed in full. */
	prove_large(days, cut);
	ck_assert_ptr_nonnull(strstr(printed.text, ": turnover is kept as -"));
	ck_assert_ptr_nonnull(strstr(printed.text, "the bets make 929999999999999.07\n"));
}
END_TEST

static Suite *proof_statistics_suite(void)
{
	Suite *suite = suite_create("proof_statistics");
	TCase *tcase = tcase_create("proof_statistics");

	tcase_add_test(tcase, sums_are_proved);
	tcase_add_loop_test(tcase, damages_are_told, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(tcase, rows_read_between);
	tcase_add_test(tcase, corrected_between_the_readings);
	tcase_add_loop_test(tcase, readings_may_be_torn, 0, 200);
	tcase_add_test(tcase, many_days);
	tcase_add_loop_test(tcase, sums_above_64_bits, 0, 2);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(void) = {proof_statistics_suite, NULL};

	return tap_main(makers);
}
