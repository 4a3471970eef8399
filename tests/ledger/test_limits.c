/*
 * Near every limit, what was accepted can end: from sums as large as they ever get, and balances at
 * their bound, every open bet still ends by win, loss, refund and B4.
 *
 * A failing run prints its seed; CB_SEED=N runs it again, CB_LIMIT_RUNS=N runs so many more.
 */
#include "case_wagers.h"

#include "base/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS   120
#define GAMES  4
#define BETS   12
#define LARGEST (MONEY_MAX - MONEY_MAX % 100) /* of two decimals */

static uint64_t state, seed;

static uint32_t chance(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

#define expect(condition) ck_assert_msg((condition), "CB_SEED=%" PRIu64 ": %s", seed, #condition)

/* ---- sums that came near a bound, as years of movements make them */

/* What is added to the rows' sums, and taken away again before they are proved. */
struct planted {
	int64_t total[6];
	int64_t statistics[2];
	uint32_t days; /* after today's */
};

static int64_t near_bound(bool negative)
{
	static const int64_t bounds[] = {INT64_MAX, INT64_MAX / 2, INT64_MAX - MONEY_MAX};
	int64_t bound = bounds[chance(3)] - (int64_t)chance(1000);

	return negative && chance(2) ? -bound : bound;
}

static struct planted some_sums(void)
{
	struct planted planted;

	memset(&planted, 0, sizeof(planted));
	planted.total[0] = near_bound(false);             /* transferred in */
	planted.total[1] = near_bound(false);             /* out */
	planted.total[2] = near_bound(true);              /* adjusted */
	planted.total[3] = near_bound(false);             /* staked */
	planted.total[4] = near_bound(false);             /* paid */
	planted.total[5] = near_bound(false);             /* the balance of all */
	planted.statistics[0] = near_bound(false);        /* turnover */
	planted.statistics[1] = near_bound(true);         /* profit_loss */
	return planted;
}

static void plant_total(const struct planted *planted, int sign)
{
	struct total key, total;
	struct ws ws;

	memset(&key, 0, sizeof(key));
	strcpy(key.casino_id, "demo");
	ws_init(&ws);
	ws_want(&ws, RECORD_TOTAL, &key);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	total = *(const struct total *)ws_get(&ws, RECORD_TOTAL, &key);
	total.transferred_in += sign * planted->total[0];
	total.transferred_out += sign * planted->total[1];
	total.adjusted += sign * planted->total[2];
	total.staked += sign * planted->total[3];
	total.paid += sign * planted->total[4];
	total.balance += sign * planted->total[5];
	ws_put(&ws, RECORD_TOTAL, &total);
	ck_assert_int_eq(case_db->save(case_db, &ws), SAVE_OK);
	ws_free(&ws);
}

static void plant_statistics(const struct planted *planted, int sign)
{
	struct lifetime lifetime;
	struct day day;
	struct ws ws;

	memset(&lifetime, 0, sizeof(lifetime));
	memset(&day, 0, sizeof(day));
	strcpy(lifetime.player_id, case_balance("alice").player_id);
	strcpy(day.player_id, lifetime.player_id);
	day.number = statistics_day(case_now_ms, 0);
	ws_init(&ws);
	ws_want(&ws, RECORD_LIFETIME, &lifetime);
	ws_want(&ws, RECORD_DAY, &day);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	if (ws_get(&ws, RECORD_LIFETIME, &lifetime))
		lifetime = *(const struct lifetime *)ws_get(&ws, RECORD_LIFETIME, &lifetime);
	if (ws_get(&ws, RECORD_DAY, &day))
		day = *(const struct day *)ws_get(&ws, RECORD_DAY, &day);
	lifetime.sums.turnover += sign * planted->statistics[0];
	lifetime.sums.profit_loss += sign * planted->statistics[1];
	day.sums.turnover += sign * planted->statistics[0];
	day.sums.profit_loss += sign * planted->statistics[1];
	ws_put(&ws, RECORD_LIFETIME, &lifetime);
	ws_put(&ws, RECORD_DAY, &day);
	ck_assert_int_eq(case_db->save(case_db, &ws), SAVE_OK);
	ws_free(&ws);
}

/* ---- what dealers and game servers may do */

static unsigned int ids; /* of requests */

static const char *next_id(void)
{
	static char id[32];

	snprintf(id, sizeof(id), "r%u", ids++);
	return id;
}

static money_t balance(void)
{
	return case_balance("alice").balance;
}

/* An amount near a bound as often as not, above 0 and at most @most. */
static money_t some_amount(money_t most)
{
	const money_t cents = most / 100;
	money_t amount;

	switch (chance(4)) {
	case 0:
		amount = most;
		break;
	case 1:
		amount = 100;
		break;
	default:
		amount = (1 + (money_t)(chance(1000000000) % (cents ? cents : 1))) * 100;
		break;
	}
	return amount > most ? most : amount;
}

/* The balance goes somewhere between its bounds, by the dealer. */
static void move_credit(void)
{
	const money_t held = balance(), room = LARGEST - held;

	if (room >= 100 && chance(3))
		expect(case_in("alice", next_id(), some_amount(room)).verdict.refusal ==
			REFUSAL_NONE);
	else if (held >= 100)
		expect(case_out("alice", next_id(), some_amount(held)).verdict.refusal ==
			REFUSAL_NONE);
}

static const char *game_of(unsigned int number)
{
	static char game[16];

	snprintf(game, sizeof(game), "g%u", number);
	return game;
}

/* A game as the run knows it. */
struct game {
	bool accepted; /* a bet of it was */
	sum_t staked;
	uint64_t refunds[BETS]; /* events of B4 */
	unsigned int refund_count;
};

/* The dealer answers B2 somehow. */
static void answer(struct game *game, const struct callback_grant *send)
{
	switch (chance(4)) {
	case 0:
		expect(case_end(send, CALLBACK_UNKNOWN).verdict.refusal == REFUSAL_DEALER_TIMEOUT);
		game->refunds[game->refund_count++] = send->event + 1;
		break;
	case 1:
		expect(case_end(send, CALLBACK_REFUSED).verdict.refusal == REFUSAL_BET_REJECTED);
		break;
	default:
		expect(case_end(send, CALLBACK_SUCCESS).verdict.refusal == REFUSAL_NONE);
		game->accepted = true;
		break;
	}
}

/* Places a bet, which is refused only where a refund of the round could not be paid. */
static void place(enum wallet_mode mode, struct game *game, unsigned int number)
{
	const money_t held = mode == WALLET_TRANSFER ? balance() : LARGEST;
	struct bet_place_cmd cmd = case_bet_cmd(next_id(), game_of(number), 100);
	struct bet_place_result placed;

	if (held < 100)
		return;
	cmd.bet_amount = some_amount(held);
	cmd.addition = chance(3) == 0;
	placed = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
	if (game->staked + cmd.bet_amount > MONEY_MAX) {
		expect(placed.verdict.refusal == REFUSAL_BALANCE_LIMIT);
		return;
	}
	game->staked += cmd.bet_amount;
	if (mode == WALLET_SEAMLESS) {
		expect(placed.verdict.refusal == REFUSAL_BET_IN_PROGRESS);
		answer(game, &placed.send);
	} else {
		expect(placed.verdict.refusal == REFUSAL_NONE);
		game->accepted = true;
	}
}

/* B4 ends what the dealer did not answer. */
static void refund(uint64_t event)
{
	struct callback_claim_result claimed;

	case_pass(2 * MINUTE);
	claimed = case_claim(event);
	expect(claimed.send.event == event);
	expect(case_end(&claimed.send, CALLBACK_SUCCESS).state == CALLBACK_DELIVERED);
}

/*
 * Ends the round by a result. In a transfer wallet a payout that the balance has no room for waits
 * until the dealer has taken credit out: then the same call succeeds.
 */
static void settle(enum wallet_mode mode, const char *game)
{
	const enum round_result result = (enum round_result)(RESULT_WIN + chance(3));
	money_t payout = result == RESULT_WIN && chance(4) ? some_amount(LARGEST) : 0;
	struct round_settle_cmd cmd = case_settle_cmd(next_id(), game, result, payout);
	struct round_settle_result settled =
		case_run(COMMAND_ROUND_SETTLE, &cmd)->result.round_settle;

	if (settled.verdict.refusal == REFUSAL_BALANCE_LIMIT) {
		expect(mode == WALLET_TRANSFER && balance() + payout > (payout ? MONEY_MAX : 0));
		expect(case_out("alice", next_id(), balance()).verdict.refusal == REFUSAL_NONE);
		settled = case_run(COMMAND_ROUND_SETTLE, &cmd)->result.round_settle;
	}
	expect(settled.verdict.refusal == REFUSAL_NONE);
	if (mode == WALLET_SEAMLESS)
		expect(case_end(&settled.send, CALLBACK_SUCCESS).state == CALLBACK_DELIVERED);
}

static void prove_closed(void *context, const void *row)
{
	(void)context;
	ck_assert_uint_eq(((const struct total *)row)->open_bets, 0);
}

static void run(uint64_t number)
{
	const enum wallet_mode mode = number % 2 ? WALLET_SEAMLESS : WALLET_TRANSFER;
	struct game games[GAMES];
	struct planted planted;

	seed = number;
	state = number * UINT64_C(0x9e3779b97f4a7c15);
	memset(games, 0, sizeof(games));
	case_open_mode(CASE_MEMORY, mode);
	planted = some_sums();
	plant_total(&planted, 1);
	plant_statistics(&planted, 1);
	for (unsigned int i = 0; i < BETS; i++) {
		unsigned int game = chance(GAMES);

		if (mode == WALLET_TRANSFER && chance(2))
			move_credit();
		place(mode, &games[game], game);
	}
	for (unsigned int i = 0; i < GAMES; i++) {
		if (mode == WALLET_TRANSFER)
			move_credit();
		if (games[i].accepted)
			settle(mode, game_of(i));
		for (unsigned int n = 0; n < games[i].refund_count; n++)
			refund(games[i].refunds[n]);
	}
	case_list(RECORD_TOTAL, false, 0, prove_closed, NULL);
	plant_total(&planted, -1);
	plant_statistics(&planted, -1);
	case_prove();
	case_close();
}

START_TEST(what_was_accepted_can_end)
{
	const char *given = getenv("CB_SEED"), *runs = getenv("CB_LIMIT_RUNS");
	const uint64_t count = runs ? strtoull(runs, NULL, 10) : RUNS;

	if (given) {
		run(strtoull(given, NULL, 10));
		return;
	}
	for (uint64_t i = 1; i <= count; i++)
		run(i);
}
END_TEST

/* The smallest stake, ten thousand times: nothing is rounded on the way. */
START_TEST(small_stakes_add_up)
{
	static struct slot slots[ROUND_BETS_MAX];
	struct dealer values = {.decimals = 4};
	struct user_stat_cmd ask;
	struct user_stat_result stat;
	char id[32], game[32];

	case_open(CASE_BDB);
	ck_assert_int_eq(case_dealer_set(DEALER_DECIMALS, &values).verdict.refusal, REFUSAL_NONE);
	case_in("alice", "in", CREDIT);
	for (unsigned int i = 0; i < 40; i++) {
		snprintf(game, sizeof(game), "g%u", i);
		for (unsigned int n = 0; n < 250; n++) {
			snprintf(id, sizeof(id), "b%u.%u", i, n);
			slots[n].command = COMMAND_BET_PLACE;
			slots[n].cmd.bet_place = case_bet_cmd(id, game, 1);
		}
		case_run_batch(slots, 250);
		for (unsigned int n = 0; n < 250; n++)
			ck_assert_int_eq(slots[n].result.verdict.refusal, REFUSAL_NONE);
		ck_assert_int_eq(case_settle(game, game, RESULT_LOSS, 0).verdict.refusal,
			REFUSAL_NONE);
	}
	ck_assert_int_eq(balance(), 0);
	memset(&ask, 0, sizeof(ask));
	strcpy(ask.casino_id, "demo");
	strcpy(ask.user_id, "alice");
	stat = case_run(COMMAND_USER_STAT, &ask)->result.user_stat;
	ck_assert_uint_eq(stat.sums.bet_count, 10000);
	ck_assert(stat.sums.turnover == CREDIT);
	ck_assert(stat.sums.profit_loss == -CREDIT);
	case_close();
}
END_TEST

/* ---- rows of e6e949b, whose sums had 64 bits */

static void put(struct buffer *out, uint64_t number)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		buffer_append(out, &(uint8_t){(uint8_t)(number >> shift)}, 1);
}

static void prove_older_total(void *context, const void *row)
{
	const struct total *total = row;

	(void)context;
	ck_assert(total->balance == -7 && total->transferred_in == INT64_MAX);
	ck_assert(total->transferred_out == 1 && total->adjusted == -3);
	ck_assert(total->staked == 5 && total->paid == INT64_MIN);
	ck_assert(total->players == 1 && total->open_bets == 2);
	ck_assert(total->parked == 3 && total->held == 4);
}

static void prove_newer_total(void *context, const void *row)
{
	const struct total *total = row;

	(void)context;
	ck_assert(total->transferred_in == (sum_t)INT64_MAX + CREDIT);
	ck_assert(total->balance == CREDIT - 7);
	ck_assert(total->paid == INT64_MIN && total->held == 4);
}

START_TEST(older_sums_are_read)
{
	const int64_t sums[6] = {-7, INT64_MAX, 1, -3, 5, INT64_MIN};
	struct buffer key, value;
	struct user_stat_cmd ask;
	struct user_stat_result stat;

	case_open(CASE_BDB);
	buffer_init(&key, 256);
	buffer_init(&value, 256);
	buffer_append(&key, case_balance("alice").player_id, PLAYER_ID_SIZE);
	buffer_append(&value, "\1", 1);
	put(&value, 17);
	put(&value, (uint64_t)INT64_MAX);
	put(&value, (uint64_t)-42);
	case_reopen_with_row(RECORD_LIFETIME, (struct bytes){key.data, (uint32_t)key.len},
		(struct bytes){value.data, (uint32_t)value.len});
	memset(&ask, 0, sizeof(ask));
	strcpy(ask.casino_id, "demo");
	strcpy(ask.user_id, "alice");
	stat = case_run(COMMAND_USER_STAT, &ask)->result.user_stat;
	ck_assert_uint_eq(stat.sums.bet_count, 17);
	ck_assert(stat.sums.turnover == INT64_MAX);
	ck_assert(stat.sums.profit_loss == -42);

	buffer_reset(&value);
	buffer_append(&value, "\1", 1);
	put(&value, 1);
	for (unsigned int i = 0; i < 6; i++)
		put(&value, (uint64_t)sums[i]);
	for (uint64_t i = 2; i < 5; i++)
		put(&value, i);
	case_reopen_with_row(RECORD_TOTAL, (struct bytes){(const uint8_t *)"demo", 5},
		(struct bytes){value.data, (uint32_t)value.len});
	case_list(RECORD_TOTAL, false, 0, prove_older_total, NULL);
	/* What is written next to it has the new form. */
	ck_assert_int_eq(case_in("alice", "in", CREDIT).verdict.refusal, REFUSAL_NONE);
	case_reopen();
	case_list(RECORD_TOTAL, false, 0, prove_newer_total, NULL);
	buffer_free(&key);
	buffer_free(&value);
	case_close();
}
END_TEST

Suite *limits_suite(void)
{
	Suite *suite = suite_create("limits");
	TCase *tc = tcase_create("limits");

	tcase_add_test(tc, what_was_accepted_can_end);
	tcase_add_test(tc, small_stakes_add_up);
	tcase_add_test(tc, older_sums_are_read);
	tcase_set_timeout(tc, getenv("CB_LIMIT_RUNS") ? 0 : 60);
	suite_add_tcase(suite, tc);
	return suite;
}
