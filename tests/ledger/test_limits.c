/*
 * Near every limit, accepted bets can still end. With the largest sums and with balances at their
 * bounds, every open bet ends by win, loss, refund or B4. A failing run prints its seed.
 * CB_SEED=N repeats it; CB_LIMIT_RUNS=N sets the number of runs.
 */
#include "case_wagers.h"

#include "base/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS    60
#define GAMES   4
#define BETS    12
#define LARGEST (MONEY_MAX - MONEY_MAX % 100) /* with two decimals */

static uint64_t state, seed;

static uint32_t chance(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

#define expect(condition) ck_assert_msg((condition), "CB_SEED=%" PRIu64 ": %s", seed, #condition)

/* ---- sums near a bound, as years of transactions produce them */

/* Values added to the rows' sums, and removed again before the proof. */
struct planted {
	int64_t total[6];
	int64_t statistics[2];
	uint32_t day;  /* whose row has them: today when they were added */
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
	planted.total[0] = near_bound(false);      /* transferred in */
	planted.total[1] = near_bound(false);      /* transferred out */
	planted.total[2] = near_bound(true);       /* adjusted */
	planted.total[3] = near_bound(false);      /* staked */
	planted.total[4] = near_bound(false);      /* paid */
	planted.total[5] = near_bound(false);      /* the sum of all balances */
	planted.statistics[0] = near_bound(false); /* turnover */
	planted.statistics[1] = near_bound(true);  /* profit_loss */
	planted.day = statistics_day(case_now_ms, 0);
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
	day.number = planted->day;
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

/* ---- actions of dealers and game servers */

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

/* Returns an amount above 0 and at most @most; half of the time it is near a bound. */
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

/* The dealer moves the balance to a value between its bounds. */
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

/* The run's own record of a game. */
struct game {
	bool accepted;          /* at least one of its bets was accepted */
	sum_t staked;           /* by bets that are part of the round */
	uint64_t refunds[BETS]; /* events of B4 */
	unsigned int refund_count;
};

/* The dealer answers B2 in a random way. */
static void answer(struct game *game, const struct callback_grant *send, money_t amount)
{
	switch (chance(4)) {
	case 0:
		expect(case_end(send, CALLBACK_UNKNOWN).verdict.refusal == REFUSAL_DEALER_TIMEOUT);
		game->refunds[game->refund_count++] = send->event + 1;
		game->staked -= amount;
		break;
	case 1:
		expect(case_end(send, CALLBACK_REFUSED).verdict.refusal == REFUSAL_BET_REJECTED);
		game->staked -= amount;
		break;
	default:
		expect(case_end(send, CALLBACK_SUCCESS).verdict.refusal == REFUSAL_NONE);
		game->accepted = true;
		break;
	}
}

/* Places a bet. It may be refused only if a refund of the round could not be paid. */
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
		answer(game, &placed.send, cmd.bet_amount);
	} else {
		expect(placed.verdict.refusal == REFUSAL_NONE);
		game->accepted = true;
	}
}

/* B4 ends a bet that the dealer did not answer. */
static void refund(uint64_t event)
{
	struct callback_claim_result claimed;

	case_pass(2 * MINUTE);
	claimed = case_claim(event);
	expect(claimed.send.event == event);
	expect(case_end(&claimed.send, CALLBACK_SUCCESS).state == CALLBACK_DELIVERED);
}

/*
 * Ends the round with a result. In a transfer wallet, a payout may exceed the room in the
 * balance. The call then succeeds when repeated after the dealer has taken out credit.
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

/* Stakes the smallest amount ten thousand times: no sum is rounded. */
START_TEST(small_stakes_add_up)
{
	static struct slot slots[ROUND_BETS_MAX];
	struct dealer values = {.decimals = 4};
	struct user_stat_cmd ask;
	struct user_stat_result stat;
	char id[32], game[32];

	case_open(CASE_DISK);
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

	case_open(CASE_DISK);
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
	/* A row written beside it has the new form. */
	ck_assert_int_eq(case_in("alice", "in", CREDIT).verdict.refusal, REFUSAL_NONE);
	case_reopen();
	case_list(RECORD_TOTAL, false, 0, prove_newer_total, NULL);
	buffer_free(&key);
	buffer_free(&value);
	case_close();
}
END_TEST

/* ---- bets that belong to a round, and bets that do not */

/* Places a bet of a seamless player, and makes the dealer give this answer. */
static struct callback_end_result bet_answered(const char *game, money_t amount,
	enum callback_class class)
{
	struct bet_place_result placed = case_bet(next_id(), game, amount);

	ck_assert_int_eq(placed.verdict.refusal, REFUSAL_BET_IN_PROGRESS);
	return case_end(&placed.send, class);
}

/* A rejected or refunded bet uses neither a slot nor an amount of its round. */
START_TEST(rejected_bets_are_no_part)
{
	struct result_inquire_cmd ask;
	struct result_inquire_result told;
	struct round_settle_result result;

	case_open_mode(_i, WALLET_SEAMLESS);
	for (unsigned int i = 0; i < ROUND_BETS_MAX; i++)
		bet_answered("g1", LARGEST, i % 2 ? CALLBACK_REFUSED : CALLBACK_UNKNOWN);
	for (unsigned int i = 0; i < ROUND_BETS_MAX; i++)
		bet_answered("g1", CREDIT, CALLBACK_SUCCESS);
	ck_assert_int_eq(case_bet(next_id(), "g1", CREDIT).verdict.refusal, REFUSAL_ROUND_FULL);
	result = case_settle("s1", "g1", RESULT_REFUND, 0);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(result.bet_amount, ROUND_BETS_MAX * CREDIT);
	memset(&ask, 0, sizeof(ask));
	strcpy(ask.casino_id, "demo");
	strcpy(ask.user_id, "alice");
	strcpy(ask.game_id, "g1");
	told = case_run(COMMAND_RESULT_INQUIRE, &ask)->result.result_inquire;
	ck_assert_uint_eq(told.round.bets, 2 * ROUND_BETS_MAX);
	/* The page begins with the first bet that belongs to the round. */
	ck_assert_uint_gt(told.last_bet, ROUND_BETS_MAX);
	ck_assert(told.more);
	case_prove();
	case_close();
}
END_TEST

/* ---- rows that a command loads */

#define OBJECT (60 * 1000)

static uint8_t object[OBJECT];

/* A round may have this many bets with such an object. */
#define OBJECTS (ROUND_OBJECTS_MAX / OBJECT)

/* Opens the largest round. */
static void open_round(const char *game)
{
	memset(object, ' ', sizeof(object));
	object[0] = '{';
	object[sizeof(object) - 1] = '}';
	for (unsigned int i = 0; i < OBJECTS; i++) {
		struct bet_place_cmd cmd = case_bet_cmd(next_id(), game, CREDIT);

		cmd.user_bet = (struct bytes){object, sizeof(object)};
		ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal,
			REFUSAL_NONE);
	}
}

START_TEST(a_round_has_a_size)
{
	struct bet_place_cmd cmd = case_bet_cmd("more", "g1", CREDIT);
	struct slot *slot;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	open_round("g1");
	cmd.user_bet = (struct bytes){object, sizeof(object)};
	slot = case_run(COMMAND_BET_PLACE, &cmd);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_ROUND_FULL);
	ck_assert_ptr_nonnull(strstr(slot->result.verdict.detail, "1048576 bytes"));
	/* The key is not consumed, and a bet with a small object fits. */
	cmd = case_bet_cmd("more", "g1", CREDIT);
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

/* A refused result loads no bets, whatever the reason. */
START_TEST(a_refused_result_loads_no_bets)
{
	struct round_settle_cmd cmds[6];
	const enum refusal refusals[6] = {REFUSAL_GAME_NOT_FOUND, REFUSAL_INVALID_AMOUNT,
		REFUSAL_INVALID_AMOUNT, REFUSAL_INVALID_AMOUNT, REFUSAL_BALANCE_LIMIT,
		REFUSAL_ALREADY_SETTLED};

	case_open(_i);
	case_in("alice", "in", LARGEST);
	open_round("g1");
	for (unsigned int i = 0; i < 6; i++)
		cmds[i] = case_settle_cmd("s1", "g1", RESULT_WIN, CREDIT);
	strcpy(cmds[0].client_id, "other");
	cmds[1].payout_amount = 1;
	cmds[2].result = RESULT_LOSS;
	cmds[3].result = RESULT_REFUND;
	cmds[4].payout_amount = LARGEST;
	for (unsigned int i = 0; i < 6; i++) {
		if (i == 5)
			ck_assert_int_eq(case_settle("s0", "g1", RESULT_LOSS, 0).verdict.refusal,
				REFUSAL_NONE);
		ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &cmds[i])->result.verdict.refusal,
			refusals[i]);
		ck_assert_uint_lt(case_ledger.ws.loaded, OBJECT / 4);
	}
	/* The round's row also answers the repeated call. */
	ck_assert(case_settle("s0", "g1", RESULT_LOSS, 0).verdict.replay);
	ck_assert_uint_lt(case_ledger.ws.loaded, OBJECT / 4);
	case_prove();
	case_close();
}
END_TEST

/* While one bet is pending, only its row is loaded. */
START_TEST(a_pending_bet_is_all_that_is_loaded)
{
	struct bet_place_cmd cmd = case_bet_cmd("b1", "g1", CREDIT);
	struct bet_place_result placed;

	case_open_mode(_i, WALLET_SEAMLESS);
	memset(object, ' ', sizeof(object));
	object[0] = '{';
	object[sizeof(object) - 1] = '}';
	for (unsigned int i = 0; i < 3; i++) {
		strcpy(cmd.request_transaction_id, next_id());
		cmd.user_bet = (struct bytes){object, sizeof(object)};
		placed = case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
		case_end(&placed.send, CALLBACK_SUCCESS);
	}
	placed = case_bet(next_id(), "g1", CREDIT);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal,
		REFUSAL_BET_IN_PROGRESS);
	ck_assert_uint_lt(case_ledger.ws.loaded, OBJECT / 4);
	case_end(&placed.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, CREDIT).verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_close();
}
END_TEST

#define LARGE_ROUNDS 8

/*
 * Results of the largest rounds are split into several batches, and all are done. A store that keeps
 * the objects of the bets separately does not load them.
 */
START_TEST(a_batch_loads_so_much)
{
	const bool leaves_out = _i != CASE_MEMORY;
	static struct slot slots[LARGE_ROUNDS];
	unsigned int done = 0, batches = 0, some;
	struct result_inquire_cmd ask;
	char game[16];

	case_open(_i);
	case_in("alice", "in", 1000 * CREDIT);
	for (unsigned int i = 0; i < LARGE_ROUNDS; i++) {
		snprintf(game, sizeof(game), "g%u", i);
		open_round(game);
		slots[i].command = COMMAND_ROUND_SETTLE;
		slots[i].link = 1;
		slots[i].cmd.round_settle = case_settle_cmd(game, game, RESULT_LOSS, 0);
	}
	for (; done < LARGE_ROUNDS; done += some, batches++) {
		some = LARGE_ROUNDS - done;
		ck_assert_int_eq(ledger_run_some(&case_ledger, slots + done, &some, case_moment()),
			STATUS_OK);
		ck_assert_uint_gt(some, 1);
		ck_assert_uint_lt(case_ledger.ws.loaded,
			leaves_out ? 4 * OBJECT
				   : LEDGER_BATCH_BYTES + ROUND_OBJECTS_MAX + 64 * 1024);
	}
	if (leaves_out)
		ck_assert_uint_eq(batches, 1);
	else
		ck_assert_uint_ge(batches,
			LARGE_ROUNDS * OBJECTS * OBJECT / LEDGER_BATCH_BYTES - 1);
	for (unsigned int i = 0; i < LARGE_ROUNDS; i++)
		ck_assert_int_eq(slots[i].result.verdict.refusal, REFUSAL_NONE);
	/* A page of A5 loads little more than it returns. */
	memset(&ask, 0, sizeof(ask));
	strcpy(ask.casino_id, "demo");
	strcpy(ask.user_id, "alice");
	strcpy(ask.game_id, "g1");
	ck_assert_uint_eq(case_run(COMMAND_RESULT_INQUIRE, &ask)->result.result_inquire.count, 1);
	ck_assert_uint_le(case_ledger.ws.loaded, 5 * OBJECT);
	case_prove();
	case_close();
}
END_TEST

/* A batch settles a round and reads it: the result needs no user_bet, the inquiry does. */
START_TEST(one_batch_settles_and_inquires)
{
	static struct slot slots[2];
	struct result_inquire_cmd *ask = &slots[1].cmd.result_inquire;
	struct result_inquire_result result;
	struct bet bet;

	for (unsigned int first = 0; first < 2; first++) {
		case_open(_i);
		case_in("alice", "in", 100 * CREDIT);
		open_round("g1");
		memset(slots, 0, sizeof(slots));
		slots[0].command = COMMAND_ROUND_SETTLE;
		slots[0].cmd.round_settle = case_settle_cmd("s1", "g1", RESULT_LOSS, 0);
		slots[1].command = COMMAND_RESULT_INQUIRE;
		strcpy(ask->casino_id, "demo");
		strcpy(ask->user_id, "alice");
		strcpy(ask->game_id, "g1");
		slots[0].link = slots[1].link = 1;
		/* In both orders. */
		if (first) {
			struct slot settle = slots[0];

			slots[0] = slots[1];
			slots[1] = settle;
		}
		ck_assert_int_eq(ledger_run(&case_ledger, slots, 2, case_moment()), STATUS_OK);
		ck_assert_int_eq(slots[first].result.round_settle.verdict.refusal, REFUSAL_NONE);
		result = slots[!first].result.result_inquire;
		ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
		ck_assert(unpack_record(&result.bets, bet_fields, &bet));
		ck_assert_int_eq(bet.state, first ? BET_ACCEPTED : BET_SETTLED);
		ck_assert_uint_eq(bet.user_bet.len, OBJECT);
		ck_assert(memcmp(bet.user_bet.data, object, OBJECT) == 0);
		case_prove();
		case_close();
	}
}
END_TEST

/* ---- rounds of e6e949b, which had no list of their bets */

static void keep_round(void *context, const void *row)
{
	*(struct round *)context = *(const struct round *)row;
}

START_TEST(older_rounds_are_read)
{
	const struct field *fields = record_fields_of(RECORD_ROUND, 1);
	struct bet_place_result refunded;
	struct round_settle_result result;
	struct buffer key, value;
	struct round round;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	bet_answered("g1", CREDIT, CALLBACK_SUCCESS);
	bet_answered("g1", CREDIT, CALLBACK_REFUSED);
	refunded = case_bet("b3", "g1", CREDIT);
	bet_answered("g1", CREDIT, CALLBACK_SUCCESS);
	case_list(RECORD_ROUND, false, 0, keep_round, &round);
	/* As the old version stored it: the sum of all stakes, and no list of the bets. */
	round.staked = 4 * CREDIT;
	buffer_init(&key, 1024);
	buffer_init(&value, 4096);
	ck_assert(pack_key(&key, fields, 2, &round));
	ck_assert(buffer_append(&value, "\1", 1) && pack_record(&value, fields + 2, &round));
	case_reopen_with_row(RECORD_ROUND, (struct bytes){key.data, (uint32_t)key.len},
		(struct bytes){value.data, (uint32_t)value.len});
	case_prove();
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_LOSS, 0).verdict.refusal,
		REFUSAL_BET_IN_PROGRESS);
	case_end(&refunded.send, CALLBACK_UNKNOWN);
	case_prove();
	result = case_settle("s1", "g1", RESULT_REFUND, 0);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(result.payout_amount, 2 * CREDIT);
	case_prove();
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
	tcase_add_loop_test(tc, rejected_bets_are_no_part, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_round_has_a_size, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_refused_result_loads_no_bets, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_pending_bet_is_all_that_is_loaded, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_batch_loads_so_much, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, one_batch_settles_and_inquires, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, older_rounds_are_read);
	tcase_set_timeout(tc, getenv("CB_LIMIT_RUNS") ? 0 : 60);
	suite_add_tcase(suite, tc);
	return suite;
}
