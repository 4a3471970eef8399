/*
 * Tests CALLBACK_AGES: how long the callbacks that wait have waited, by state.
 */
#include "case_wagers.h"

#include "ledger/outbox/schedule.h"

#include <string.h>

static struct callback_ages_result ask(const struct callback_ages_cmd *cmd)
{
	struct slot *slot = case_run(COMMAND_CALLBACK_AGES, cmd);
	struct callback_ages_result result;
	struct buffer out;

	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, slot, 1, &out);
	ck_assert(!out.failed);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	result = slot->result.callback_ages;
	buffer_free(&out);
	return result;
}

static struct callback_ages_result ages_of(const char *casino_id)
{
	struct callback_ages_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.casino_id, casino_id);
	return ask(&cmd);
}

static void has(struct callback_ages_result *result, enum callback_state state,
	const uint64_t expected[CALLBACK_AGES])
{
	for (unsigned int age = 0; age < CALLBACK_AGES; age++)
		ck_assert_msg(*callback_ages_count(result, state, age) == expected[age],
			"%s, age %u: %llu", callback_state_names[state], age,
			(unsigned long long)*callback_ages_count(result, state, age));
}

/* Makes a result of dealer demo that is held. */
static void hold(unsigned int number)
{
	ck_assert_int_eq(case_operate(case_refused_result(number, CREDIT), CALLBACK_HOLD),
		REFUSAL_NONE);
}

/* Makes a result of dealer @casino_id, whose first attempt is under way, and holds it after its end. */
static void hold_of(const char *casino_id, const char *game)
{
	struct bet_place_cmd bet = case_bet_cmd(game, game, CREDIT);
	struct round_settle_cmd settle = case_settle_cmd("of-other", game, RESULT_WIN, CREDIT);
	struct round_settle_result settled;
	struct callback_end_cmd end;

	strcpy(bet.player.casino_id, casino_id);
	strcpy(settle.player.casino_id, casino_id);
	end = case_end_cmd(&case_run(COMMAND_BET_PLACE, &bet)->result.bet_place.send,
		CALLBACK_SUCCESS);
	strcpy(end.casino_id, casino_id);
	case_run(COMMAND_CALLBACK_END, &end);
	settled = case_run(COMMAND_ROUND_SETTLE, &settle)->result.round_settle;
	ck_assert_int_eq(settled.verdict.refusal, REFUSAL_NONE);
	end = case_end_cmd(&settled.send, CALLBACK_REFUSED);
	strcpy(end.casino_id, casino_id);
	case_run(COMMAND_CALLBACK_END, &end);
	ck_assert_int_eq(case_operate(settled.event, CALLBACK_HOLD), REFUSAL_NONE);
}

/* Callbacks of each age. The newest is a bet that is being sent. */
static void make_ages(void)
{
	for (unsigned int i = 0; i < 3; i++)
		hold(i);
	case_pass(2 * DAY);
	hold(3);
	hold(4);
	case_pass(2 * HOUR);
	hold(5);
	case_pass(20 * MINUTE);
	case_park(case_refused_result(6, CREDIT)); /* in 2 minutes */
	case_refused_result(7, CREDIT);
	ck_assert_uint_ne(case_bet("b8", "g8", CREDIT).send.event, 0);
}

START_TEST(each_state_and_age)
{
	struct callback_ages_result result;

	case_open_mode(_i, WALLET_SEAMLESS);
	result = ages_of("");
	ck_assert_uint_eq(result.looked, 0);
	make_ages();
	result = ages_of("demo");
	has(&result, CALLBACK_HELD, (const uint64_t[]){0, 0, 1, 2, 3});
	has(&result, CALLBACK_PARKED, (const uint64_t[]){0, 1, 0, 0, 0});
	has(&result, CALLBACK_DUE, (const uint64_t[]){1, 0, 0, 0, 0});
	has(&result, CALLBACK_SENDING, (const uint64_t[]){1, 0, 0, 0, 0});
	/* The bets were delivered. */
	has(&result, CALLBACK_DELIVERED, (const uint64_t[]){0, 0, 0, 0, 0});
	ck_assert_uint_eq(result.looked, 7);
	ck_assert(!result.more);
	ck_assert_uint_eq(result.due_left, 0);
	/* The ends of an age. */
	case_pass(MINUTE - 1);
	result = ages_of("demo");
	has(&result, CALLBACK_DUE, (const uint64_t[]){1, 0, 0, 0, 0});
	case_pass(1);
	result = ages_of("demo");
	has(&result, CALLBACK_DUE, (const uint64_t[]){0, 1, 0, 0, 0});
	/* A clock that was ahead: nothing is younger than now. */
	case_now_ms -= 3 * DAY;
	result = ages_of("demo");
	has(&result, CALLBACK_HELD, (const uint64_t[]){6, 0, 0, 0, 0});
	case_now_ms += 3 * DAY;
	case_close();
}
END_TEST

START_TEST(pages_add_up)
{
	struct callback_ages_result result, sum;
	struct callback_ages_cmd cmd = {.limit = 2};
	unsigned int pages = 0;

	case_open_mode(_i, WALLET_SEAMLESS);
	case_add_dealer("alfa", WALLET_SEAMLESS);
	make_ages();
	hold_of("alfa", "other");
	memset(&sum, 0, sizeof(sum));
	do {
		result = ask(&cmd);
		for (unsigned int i = 0; i < CALLBACK_STATE_COUNT * CALLBACK_AGES; i++)
			sum.counts[i].count += result.counts[i].count;
		sum.looked += result.looked;
		strcpy(cmd.after_casino_id, result.last_casino_id);
		cmd.after_event = result.last_event;
		pages++;
	} while (result.more);
	ck_assert_uint_eq(pages, 4);
	ck_assert_uint_eq(sum.looked, 8);
	has(&sum, CALLBACK_HELD, (const uint64_t[]){1, 0, 1, 2, 3});
	has(&sum, CALLBACK_PARKED, (const uint64_t[]){0, 1, 0, 0, 0});
	has(&sum, CALLBACK_DUE, (const uint64_t[]){1, 0, 0, 0, 0});
	has(&sum, CALLBACK_SENDING, (const uint64_t[]){1, 0, 0, 0, 0});
	/* Only one dealer, and one whose name begins that of another. */
	result = ages_of("alfa");
	has(&result, CALLBACK_HELD, (const uint64_t[]){1, 0, 0, 0, 0});
	has(&result, CALLBACK_DUE, (const uint64_t[]){0, 0, 0, 0, 0});
	result = ages_of("alf");
	ck_assert_uint_eq(result.looked, 0);
	case_close();
}
END_TEST

static void owes(uint32_t players, bool more)
{
	const struct callback_ages_cmd cmd = {.casino_id = "demo", .players = true};
	const struct callback_ages_result result = ask(&cmd);

	ck_assert_uint_eq(result.owed_players, players);
	ck_assert(result.owed_more == more);
}

#define MANY 600

static unsigned int loads, rows_loaded;
static enum status (*load_really)(struct store *, struct ws *);

static enum status count_load(struct store *store, struct ws *ws)
{
	loads++;
	for (const struct ws_row *row = ws->first; row; row = row->next)
		rows_loaded += row->state == WS_WANTED;
	return load_really(store, ws);
}

/* Of many callbacks few are read, in three loads at most, wherever the ages begin among them. */
START_TEST(few_rows_of_many)
{
	const int64_t until_next[CALLBACK_AGES] = {2 * DAY, 2 * HOUR, 20 * MINUTE, 2 * MINUTE, 0};
	const uint64_t expected[CALLBACK_AGES] = {7, 200, 1, 90, MANY - 298};
	struct callback_ages_result result;
	unsigned int number = 0;

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	for (unsigned int age = CALLBACK_AGES; age-- > 0;) {
		for (uint64_t i = 0; i < expected[age]; i++)
			hold(number++);
		case_pass(until_next[CALLBACK_AGES - 1 - age]);
	}
	load_really = case_ledger.store->load;
	case_ledger.store->load = count_load;
	result = ages_of("demo");
	case_ledger.store->load = load_really;
	has(&result, CALLBACK_HELD, expected);
	ck_assert_msg(loads && loads <= 3, "%u loads", loads);
	ck_assert_msg(rows_loaded < 250, "%u rows", rows_loaded);
	owes(1, true);
	case_close();
}
END_TEST

/* A player is owed by a payout or by a refund, not by a lost round. Two debts are of one player. */
START_TEST(players_that_are_owed)
{
	struct bet_place_result bet;
	struct round_settle_result lost;

	case_open_mode(_i, WALLET_SEAMLESS);
	owes(0, false);
	bet = case_bet("b1", "g1", CREDIT);
	case_end(&bet.send, CALLBACK_SUCCESS);
	lost = case_settle("s1", "g1", RESULT_LOSS, 0);
	owes(0, false);
	case_end(&lost.send, CALLBACK_SUCCESS);
	bet = case_bet("b2", "g2", CREDIT);
	owes(0, false);
	case_end(&bet.send, CALLBACK_UNKNOWN);
	owes(1, false);
	case_refused_result(2, CREDIT);
	owes(1, false);
	/* Without the member @players nothing is counted. */
	ck_assert_uint_eq(ages_of("demo").owed_players, 0);
	case_close();
}
END_TEST

START_TEST(a_payout_is_owed_until_it_is_confirmed)
{
	struct callback_claim_result claimed;
	uint64_t event;

	case_open_mode(_i, WALLET_SEAMLESS);
	event = case_refused_result(0, CREDIT);
	owes(1, false);
	ck_assert_int_eq(case_operate(event, CALLBACK_RETRY), REFUSAL_NONE);
	claimed = case_claim(event);
	case_end(&claimed.send, CALLBACK_SUCCESS);
	owes(0, false);
	case_close();
}
END_TEST

START_TEST(the_schedule_names_as_many_as_fit)
{
	struct schedule schedule;
	uint64_t events[4] = {0};

	ck_assert(schedule_init(&schedule));
	for (uint64_t event = 1; event <= 5; event++) {
		const struct schedule_entry entry = {.event = event,
			.due_ms = 10,
			.sending = event == 5};

		ck_assert(schedule_set(&schedule, event < 3 ? "demo" : "other", &entry));
	}
	ck_assert_uint_eq(schedule_events(&schedule, "", false, events, 3), 4);
	ck_assert_uint_eq(events[0] + events[1], 3);
	ck_assert(events[2] == 3 || events[2] == 4);
	ck_assert_uint_eq(events[3], 0);
	ck_assert_uint_eq(schedule_events(&schedule, "other", true, events, 4), 1);
	ck_assert_uint_eq(events[0], 5);
	ck_assert_uint_eq(schedule_events(&schedule, "none", false, events, 4), 0);
	schedule_free(&schedule);
}
END_TEST

Suite *ages_suite(void)
{
	Suite *suite = suite_create("ages");
	TCase *tc = tcase_create("ages");

	tcase_add_loop_test(tc, each_state_and_age, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, pages_add_up, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, players_that_are_owed, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_payout_is_owed_until_it_is_confirmed, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, few_rows_of_many);
	tcase_add_test(tc, the_schedule_names_as_many_as_fit);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
