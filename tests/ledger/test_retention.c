/*
 * Tests retention with a virtual clock: which data is deleted, and when.
 */
#include "case_wagers.h"

#include <stdio.h>
#include <string.h>

#define DAYS  180
#define PAUSE (3600 * SECOND)

/* Starts retention, with its first pause over. */
static void begin(void)
{
	case_ledger.retention.days = DAYS;
	case_ledger.retention.pause_ms = PAUSE;
	ck_assert_int_eq(retention_step(&case_ledger.retention, case_moment()), RETENTION_REST);
	case_pass(PAUSE);
}

static void open_with(int kind, enum wallet_mode mode)
{
	case_open_mode(kind, mode);
	begin();
}

static struct bet_place_result bet(const char *id, const char *game)
{
	return case_bet(id, game, 1 * CREDIT);
}

static void end(const struct callback_grant *grant, enum callback_class class)
{
	ck_assert(!case_end(grant, class).late);
}

static struct callback_grant claim(uint64_t event)
{
	const struct callback_claim_result result = case_claim(event);

	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	return result.send;
}

/* Places and accepts a bet in game "g" followed by the number of @id. */
static uint64_t accept(const char *id, const char *game)
{
	struct bet_place_result placed = bet(id, game);

	ck_assert_uint_ne(placed.send.event, 0);
	end(&placed.send, CALLBACK_SUCCESS);
	return placed.send.event;
}

static unsigned int steps;

/* Runs steps until there is nothing to do, and makes the next pass possible. */
static void drop(void)
{
	enum retention_step step = RETENTION_MORE;

	for (steps = 0; step == RETENTION_MORE; steps++) {
		ck_assert_uint_lt(steps, 1000);
		step = retention_step(&case_ledger.retention, case_moment());
	}
	ck_assert_int_eq(step, RETENTION_REST);
	case_pass(PAUSE);
}

struct seen {
	unsigned int bodies;
	unsigned int attempts;
	unsigned int answers;
	unsigned int bets;   /* that still have the game server's data */
	unsigned int rounds; /* that still have the game server's data */
	unsigned int callbacks;
	unsigned int transactions;
	uint64_t event; /* of the last body */
};

static void see_body(void *context, const void *row)
{
	struct seen *seen = context;

	seen->bodies++;
	seen->event = ((const struct callback_body *)row)->event;
}

static void see_attempt(void *context, const void *row)
{
	(void)row;
	((struct seen *)context)->attempts++;
}

static void see_answer(void *context, const void *row)
{
	const struct answer *answer = row;

	ck_assert_str_eq(answer->text, "<busy>");
	ck_assert_str_eq(answer->content_type, "text/html");
	ck_assert_uint_eq(answer->length, 6);
	((struct seen *)context)->answers++;
}

static void see_bet(void *context, const void *row)
{
	((struct seen *)context)->bets += ((const struct bet *)row)->user_bet.len > 0;
}

static void see_round(void *context, const void *row)
{
	const struct round *round = row;

	((struct seen *)context)->rounds +=
		round->user_bet.len || round->game_result.len || round->user_bet_result.len;
}

static void see_callback(void *context, const void *row)
{
	(void)row;
	((struct seen *)context)->callbacks++;
}

static void see_nothing(void *context, const void *row)
{
	(void)context;
	(void)row;
}

static void see_transaction(void *context, const void *row)
{
	(void)row;
	((struct seen *)context)->transactions++;
}

static struct seen look(void)
{
	const int64_t rest_until_ms = case_ledger.retention.rest_until_ms;
	struct seen seen = {.bodies = 0};

	case_list(RECORD_CALLBACK_BODY, false, 0, see_body, &seen);
	case_list(RECORD_ATTEMPT, false, 0, see_attempt, &seen);
	case_list(RECORD_ANSWER, false, 0, see_answer, &seen);
	case_list(RECORD_BET, false, 0, see_bet, &seen);
	case_list(RECORD_ROUND, false, 0, see_round, &seen);
	case_list(RECORD_CALLBACK, false, 0, see_callback, &seen);
	case_list(RECORD_TRANSACTION, false, 0, see_transaction, &seen);
	/* This reader does not matter. */
	case_ledger.retention.rest_until_ms = rest_until_ms;
	return seen;
}

/* The rows of one settled round with one bet; both callbacks are delivered. */
static void expect_kept(struct seen seen, unsigned int rounds)
{
	ck_assert_uint_eq(seen.bodies, 2 * rounds);
	ck_assert_uint_eq(seen.attempts, 2 * rounds);
	ck_assert_uint_eq(seen.bets, rounds);
	ck_assert_uint_eq(seen.rounds, rounds);
}

START_TEST(the_old_is_dropped)
{
	struct round_settle_result settled, again;
	struct seen before, after;

	open_with(_i, WALLET_SEAMLESS);
	accept("b1", "g1");
	settled = case_settle("s1", "g1", RESULT_WIN, 3 * CREDIT);
	end(&settled.send, CALLBACK_SUCCESS);
	before = look();
	expect_kept(before, 1);
	case_pass(DAYS * DAY);
	drop();
	expect_kept(look(), 1);
	/* One more day, so that everything that follows a bet has ended. */
	case_pass(DAY);
	drop();
	after = look();
	expect_kept(after, 0);
	ck_assert_uint_eq(case_ledger.retention.dropped, 2);
	/* Keys, states and sums remain and answer as before. */
	ck_assert_uint_eq(after.callbacks, before.callbacks);
	ck_assert_uint_eq(after.transactions, before.transactions);
	ck_assert_int_eq(bet("b1", "g1").verdict.refusal, REFUSAL_NONE);
	again = case_settle("s1", "g1", RESULT_WIN, 3 * CREDIT);
	ck_assert(again.verdict.replay);
	ck_assert_int_eq(again.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(again.transaction_id, settled.transaction_id);
	ck_assert_int_eq(again.win_amount, 2 * CREDIT);
	ck_assert_int_eq(again.callback_state, CALLBACK_DELIVERED);
	ck_assert_uint_eq(again.callback_attempts, 1);
	drop();
	ck_assert_uint_eq(case_ledger.retention.dropped, 2);
	case_close();
}
END_TEST

START_TEST(a_loss_has_no_transaction)
{
	struct round_settle_result settled;

	open_with(_i, WALLET_SEAMLESS);
	accept("b1", "g1");
	settled = case_settle("s1", "g1", RESULT_LOSS, 0);
	ck_assert_uint_eq(settled.transaction_id, 0);
	end(&settled.send, CALLBACK_SUCCESS);
	case_pass((DAYS + 2) * DAY);
	drop();
	expect_kept(look(), 0);
	case_close();
}
END_TEST

/* A callback was parked for years: its bytes remain for the operator. After delivery they age. */
START_TEST(what_is_not_delivered_stays)
{
	struct round_settle_result settled;
	struct callback_grant grant;

	open_with(_i, WALLET_SEAMLESS);
	accept("b1", "g1");
	settled = case_settle("s1", "g1", RESULT_WIN, 3 * CREDIT);
	end(&settled.send, CALLBACK_UNKNOWN);
	for (unsigned int i = 0; i < 2; i++) {
		case_pass(MINUTE);
		grant = claim(settled.send.event);
		end(&grant, CALLBACK_UNKNOWN);
	}
	/* It does not delay younger ones. */
	accept("b2", "g2");
	settled = case_settle("s2", "g2", RESULT_LOSS, 0);
	end(&settled.send, CALLBACK_SUCCESS);
	case_pass(400 * DAY);
	drop();
	ck_assert_uint_eq(look().bodies, 1);
	ck_assert_uint_eq(look().attempts, 3);
	ck_assert_uint_eq(look().answers, 3);
	ck_assert_uint_eq(look().event, grant.event);
	ck_assert_uint_eq(look().bets, 0);
	ck_assert_int_eq(case_operate(grant.event, CALLBACK_RETRY), REFUSAL_NONE);
	grant = claim(grant.event);
	ck_assert_ptr_nonnull(memmem(grant.body.data, grant.body.len, "\"reels\":[7,7,7]", 15));
	end(&grant, CALLBACK_SUCCESS);
	case_pass((DAYS - 1) * DAY);
	drop();
	ck_assert_uint_eq(look().attempts, 4);
	case_pass(2 * DAY);
	drop();
	ck_assert_uint_eq(look().bodies, 0);
	ck_assert_uint_eq(look().attempts, 0);
	ck_assert_uint_eq(look().answers, 0);
	case_close();
}
END_TEST

/* The setting callback_keep_answers = none. */
START_TEST(no_answer_is_kept)
{
	struct round_settle_result settled;

	open_with(CASE_MEMORY, WALLET_SEAMLESS);
	case_ledger.outbox.keep_answers = false;
	accept("b1", "g1");
	settled = case_settle("s1", "g1", RESULT_WIN, 3 * CREDIT);
	end(&settled.send, CALLBACK_UNKNOWN);
	ck_assert_uint_eq(look().attempts, 2);
	ck_assert_uint_eq(look().answers, 0);
	case_close();
}
END_TEST

/*
 * Only delivered or settled rows are deleted, not failed, cancelled, refunded or rejected ones. Of these, only
 * what the dealer answered is deleted.
 */
START_TEST(other_ends_are_kept)
{
	struct bet_place_result placed;
	struct round_settle_result settled;
	struct callback_grant grant;
	struct bet_place_result refused;
	struct callback_end_cmd refusal;

	open_with(_i, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	end(&placed.send, CALLBACK_UNKNOWN);
	refused = bet("b2", "g2");
	refusal = case_end_cmd(&refused.send, CALLBACK_REFUSED);
	refusal.outcome.answer_length = 6;
	strcpy(refusal.outcome.answer_type, "text/html");
	strcpy(refusal.outcome.answer, "<busy>");
	case_run(COMMAND_CALLBACK_END, &refusal);
	accept("b3", "g3");
	settled = case_settle("s3", "g3", RESULT_WIN, 3 * CREDIT);
	end(&settled.send, CALLBACK_UNKNOWN);
	ck_assert_int_eq(case_operate(settled.send.event, CALLBACK_CANCEL), REFUSAL_NONE);
	case_pass(2 * MINUTE);
	/* The event after the betting's is its refund. */
	grant = claim(placed.send.event + 1);
	ck_assert_int_eq(grant.kind, CALLBACK_BETTING_REFUND);
	end(&grant, CALLBACK_SUCCESS);
	ck_assert_uint_eq(look().answers, 3);
	case_pass((DAYS - 1) * DAY);
	drop();
	ck_assert_uint_eq(look().answers, 3);
	case_pass(3 * DAY);
	drop();
	/* Their answers are deleted. */
	ck_assert_uint_eq(look().answers, 0);
	/* Deleted: the bodies of the refund and of the betting of b3. */
	ck_assert_uint_eq(look().bodies, 3);
	ck_assert_uint_eq(look().attempts, 3);
	ck_assert_uint_eq(look().bets, 2);
	/* Together with the body that was made from it. */
	ck_assert_uint_eq(look().rounds, 1);
	case_close();
}
END_TEST

START_TEST(a_transfer_wallet_keeps_its_movements)
{
	open_with(_i, WALLET_TRANSFER);
	ck_assert_int_eq(case_in("alice", "t1", 10 * CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(bet("b1", "g1").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_settle("s1", "g1", RESULT_WIN, 2 * CREDIT).verdict.refusal,
		REFUSAL_NONE);
	ck_assert_int_eq(bet("b2", "g2").verdict.refusal, REFUSAL_NONE);
	case_prove();
	case_pass((DAYS + 2) * DAY);
	drop();
	ck_assert_uint_eq(look().rounds, 0);
	/* The bet of the round that is still open. */
	ck_assert_uint_eq(look().bets, 1);
	ck_assert_uint_eq(look().transactions, 4);
	case_prove();
	ck_assert_int_eq(case_balance("alice").balance, 10 * CREDIT);
	/* It is found after it has ended and aged. */
	ck_assert_int_eq(case_settle("s2", "g2", RESULT_WIN, 2 * CREDIT).verdict.refusal,
		REFUSAL_NONE);
	drop();
	ck_assert_uint_eq(look().bets, 1);
	case_pass((DAYS + 2) * DAY);
	drop();
	ck_assert_uint_eq(look().bets, 0);
	case_prove();
	case_close();
}
END_TEST

/* A cancelled bet ends as a settled one does: when its stake has been returned. */
START_TEST(a_cancelled_bet_is_dropped)
{
	const bool seamless = _i & 1;
	struct bet_cancel_cmd cmd = case_cancel_cmd("c1", "b1", "g1");
	struct callback_grant grant;

	open_with(_i / 2, seamless ? WALLET_SEAMLESS : WALLET_TRANSFER);
	if (seamless) {
		accept("b1", "g1");
	} else {
		ck_assert_int_eq(case_in("alice", "t1", CREDIT).verdict.refusal, REFUSAL_NONE);
		ck_assert_int_eq(bet("b1", "g1").verdict.refusal, REFUSAL_NONE);
	}
	grant = case_run(COMMAND_BET_CANCEL, &cmd)->result.bet_cancel.send;
	ck_assert_int_eq(grant.event != 0, seamless);
	/* Its stake has not been returned yet. */
	case_pass((DAYS + 2) * DAY);
	drop();
	ck_assert_uint_eq(look().bets, seamless);
	if (seamless) {
		/* Its lease is over, and a day of attempts. */
		ck_assert_uint_eq(claim(grant.event).event, 0);
		ck_assert_int_eq(case_operate(grant.event, CALLBACK_RETRY), REFUSAL_NONE);
		grant = claim(grant.event);
		end(&grant, CALLBACK_SUCCESS);
		drop();
		ck_assert_uint_eq(look().bets, 1);
		case_pass((DAYS + 2) * DAY);
		drop();
	}
	ck_assert_uint_eq(look().bets, 0);
	ck_assert_uint_eq(look().bodies, 0);
	ck_assert_uint_eq(look().attempts, 0);
	case_prove();
	/* The key of the cancellation remains and answers as before. */
	ck_assert_int_eq(case_run(COMMAND_BET_CANCEL, &cmd)->result.bet_cancel.state, BET_REFUNDED);
	case_close();
}
END_TEST

static void make_rounds(unsigned int count)
{
	struct round_settle_result settled;
	char id[32], game[32];

	for (unsigned int i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		snprintf(game, sizeof(game), "g%u", i);
		accept(id, game);
		snprintf(id, sizeof(id), "s%u", i);
		settled = i % 2 ? case_settle(id, game, RESULT_WIN, CREDIT)
				: case_settle(id, game, RESULT_LOSS, 0);
		end(&settled.send, CALLBACK_SUCCESS);
	}
}

START_TEST(steps_are_small)
{
	unsigned int left = 200, now;

	open_with(_i, WALLET_SEAMLESS);
	make_rounds(200);
	case_pass((DAYS + 2) * DAY);
	while (retention_step(&case_ledger.retention, case_moment()) == RETENTION_MORE) {
		now = look().bets;
		ck_assert_uint_le(left - now, 32);
		left = now;
		/* The ledger serves between the steps. */
		ck_assert(bet("b199", "g199").verdict.replay);
	}
	expect_kept(look(), 0);
	/* The next pass begins after the finished part. */
	case_pass(PAUSE);
	drop();
	ck_assert_uint_eq(steps, 1);
	case_close();
}
END_TEST

/* After an interruption at any step, it continues where it was. */
START_TEST(it_goes_on_after_a_restart)
{
	open_with(CASE_DISK, WALLET_SEAMLESS);
	make_rounds(100);
	case_pass((DAYS + 2) * DAY);
	for (unsigned int i = 0; look().bets; i++) {
		ck_assert_uint_lt(i, 20);
		retention_step(&case_ledger.retention, case_moment());
		case_reopen();
		begin();
	}
	expect_kept(look(), 0);
	drop();
	ck_assert_uint_eq(steps, 1);
	case_close();
}
END_TEST

/*
 * If the clock is a year ahead at a start, or is set ahead, retention pauses so that it can be
 * corrected.
 */
START_TEST(a_new_clock_is_not_trusted)
{
	open_with(_i, WALLET_SEAMLESS);
	make_rounds(1);
	case_pass(DAY);
	drop();
	case_now_ms += 365 * DAY;
	drop();
	expect_kept(look(), 1);
	case_now_ms -= 365 * DAY;
	drop();
	expect_kept(look(), 1);
	/* A smaller difference does not count as set. */
	case_pass((DAYS + 2) * DAY);
	case_now_ms -= RETENTION_CLOCK_MS;
	drop();
	expect_kept(look(), 0);
	case_close();
}
END_TEST

START_TEST(a_first_pass_waits)
{
	open_with(CASE_DISK, WALLET_SEAMLESS);
	make_rounds(1);
	case_now_ms += 365 * DAY;
	case_boot++;
	case_reopen();
	case_ledger.retention.days = DAYS;
	case_ledger.retention.pause_ms = PAUSE;
	drop();
	expect_kept(look(), 1);
	drop();
	expect_kept(look(), 0);
	case_close();
}
END_TEST

/* A pass whose steps take 1000 s is followed by a pause of 20000 s, whatever its elapsed time. */
START_TEST(a_long_pass_is_followed_by_a_long_pause)
{
	open_with(_i, WALLET_SEAMLESS);
	make_rounds(100);
	case_pass((DAYS + 2) * DAY);
	ck_assert_int_eq(retention_step(&case_ledger.retention, case_moment()), RETENTION_MORE);
	case_pass(DAY);
	case_ledger.retention.spent_ns += 1000 * INT64_C(1000000000);
	drop();
	expect_kept(look(), 0);
	ck_assert_int_eq(case_ledger.retention.rest_until_ms,
		case_boot_ms - PAUSE + 1000 * SECOND * RETENTION_REST_FACTOR);
	case_close();
}
END_TEST

static enum save_result (*save)(struct store *store, struct ws *ws);

static enum save_result save_slowly(struct store *store, struct ws *ws)
{
	clock_sleep_ms(5);
	return save(store, ws);
}

/* The time of the last step counts too; in a pass with one step, it is the whole time. */
START_TEST(a_pass_of_one_step_is_followed_by_a_pause_of_its_length)
{
	open_with(_i, WALLET_SEAMLESS);
	make_rounds(10);
	case_pass((DAYS + 2) * DAY);
	case_ledger.retention.pause_ms = 0;
	save = case_db->save;
	case_db->save = save_slowly;
	ck_assert(retention_use_time(&case_ledger.retention, true, case_moment()));
	case_db->save = save;
	expect_kept(look(), 0);
	ck_assert_int_ge(case_ledger.retention.rest_until_ms,
		case_boot_ms + 5 * RETENTION_REST_FACTOR);
	case_close();
}
END_TEST

START_TEST(it_can_be_off)
{
	open_with(_i, WALLET_SEAMLESS);
	make_rounds(1);
	case_ledger.retention.days = 0;
	case_pass(10000 * DAY);
	drop();
	expect_kept(look(), 1);
	ck_assert_int_eq(retention_wait_ms(&case_ledger.retention, case_boot_ms, 1000), 1000);
	case_close();
}
END_TEST

/* Without disk space nothing is deleted, and it is tried again later. A lost save is reported. */
START_TEST(a_full_disk_is_waited_for)
{
	open_with(CASE_MEMORY, WALLET_SEAMLESS);
	make_rounds(1);
	case_pass((DAYS + 2) * DAY);
	memory_store_fail(case_db, SAVE_FULL, 1);
	ck_assert_int_eq(retention_step(&case_ledger.retention, case_moment()), RETENTION_REST);
	expect_kept(look(), 1);
	ck_assert_int_eq(retention_step(&case_ledger.retention, case_moment()), RETENTION_REST);
	expect_kept(look(), 1);
	case_ledger.storage_low = true;
	case_pass(PAUSE);
	drop();
	expect_kept(look(), 1);
	case_ledger.storage_low = false;
	memory_store_fail(case_db, SAVE_LOST, 1);
	ck_assert(!retention_use_time(&case_ledger.retention, true, case_moment()));
	case_close();
}
END_TEST

/* Nothing is deleted between the pages of a list. */
START_TEST(readers_are_not_disturbed)
{
	struct seen seen = {.bodies = 0};

	open_with(_i, WALLET_SEAMLESS);
	make_rounds(1);
	case_pass((DAYS + 2) * DAY);
	case_list(RECORD_CALLBACK_BODY, false, 0, see_body, &seen);
	for (unsigned int i = 0; i < 3; i++) {
		case_pass(RETENTION_READER_MS - 1);
		ck_assert_int_eq(retention_step(&case_ledger.retention, case_moment()),
			RETENTION_REST);
		expect_kept(look(), 1);
		case_list(RECORD_CALLBACK_BODY, false, 0, see_body, &seen);
	}
	case_pass(RETENTION_READER_MS);
	drop();
	expect_kept(look(), 0);
	case_close();
}
END_TEST

/* A page of rows that retention never changes is no reason to wait. */
START_TEST(other_readers_do_not_matter)
{
	static const enum record records[] = {RECORD_DEALER, RECORD_TOTAL, RECORD_REPLAY,
		RECORD_DEALER_DAY, RECORD_DESK_OPERATOR};

	open_with(CASE_MEMORY, WALLET_SEAMLESS);
	make_rounds(1);
	case_pass((DAYS + 2) * DAY);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		case_list(records[i], false, 0, see_nothing, NULL);
	drop();
	expect_kept(look(), 0);
	case_close();
}
END_TEST

/* A loop that is idle makes a step; one that is always busy makes one each second. */
START_TEST(spare_time_is_used)
{
	unsigned int left;

	open_with(CASE_MEMORY, WALLET_SEAMLESS);
	make_rounds(100);
	case_pass((DAYS + 2) * DAY);
	ck_assert_int_eq(retention_wait_ms(&case_ledger.retention, case_boot_ms, 1000), 5);
	ck_assert_int_eq(retention_wait_ms(&case_ledger.retention, case_boot_ms, 3), 3);
	ck_assert(retention_use_time(&case_ledger.retention, true, case_moment()));
	left = look().bets;
	ck_assert_uint_lt(left, 100);
	ck_assert(retention_use_time(&case_ledger.retention, false, case_moment()));
	ck_assert_uint_eq(look().bets, left);
	case_pass(1000);
	ck_assert(retention_use_time(&case_ledger.retention, false, case_moment()));
	ck_assert_uint_lt(look().bets, left);
	while (look().bets)
		ck_assert(retention_use_time(&case_ledger.retention, true, case_moment()));
	ck_assert(retention_use_time(&case_ledger.retention, true, case_moment()));
	ck_assert_int_eq(retention_wait_ms(&case_ledger.retention, case_boot_ms, 1000), 1000);
	ck_assert_int_eq(retention_wait_ms(&case_ledger.retention, case_boot_ms + PAUSE, 1000), 5);
	case_close();
}
END_TEST

Suite *retention_suite(void)
{
	Suite *suite = suite_create("retention");
	TCase *tcase = tcase_create("retention");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, the_old_is_dropped, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, a_loss_has_no_transaction, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, what_is_not_delivered_stays, 0, CASE_STORE_COUNT);
	tcase_add_test(tcase, no_answer_is_kept);
	tcase_add_loop_test(tcase, other_ends_are_kept, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, a_cancelled_bet_is_dropped, 0, 4);
	tcase_add_loop_test(tcase, a_transfer_wallet_keeps_its_movements, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, steps_are_small, 0, CASE_STORE_COUNT);
	tcase_add_test(tcase, it_goes_on_after_a_restart);
	tcase_add_loop_test(tcase, it_can_be_off, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, a_new_clock_is_not_trusted, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, a_long_pass_is_followed_by_a_long_pause, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, a_pass_of_one_step_is_followed_by_a_pause_of_its_length, 0,
		CASE_STORE_COUNT);
	tcase_add_test(tcase, a_first_pass_waits);
	tcase_add_test(tcase, a_full_disk_is_waited_for);
	tcase_add_loop_test(tcase, readers_are_not_disturbed, 0, CASE_STORE_COUNT);
	tcase_add_test(tcase, other_readers_do_not_matter);
	tcase_add_test(tcase, spare_time_is_used);
	suite_add_tcase(suite, tcase);
	return suite;
}
