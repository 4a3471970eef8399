/*
 * Tests METRICS: the counters of the ledger, and when they are counted.
 */
#include "case_wagers.h"

#include "base/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct metrics *metrics;
static struct dealer_metrics dealers[DEALERS_MAX];
static uint32_t dealer_count;

/* Opens a ledger that counts, with a seamless dealer. */
static void open_counting(int kind)
{
	case_open_mode(kind, WALLET_SEAMLESS);
	metrics = metrics_new();
	ck_assert_ptr_nonnull(metrics);
	case_ledger.metrics = metrics;
}

static void close_counting(void)
{
	case_close();
	munmap(metrics, sizeof(*metrics));
}

static struct metrics_result page_after(const char *casino_id, bool without_dealers)
{
	struct metrics_cmd cmd = {.without_dealers = without_dealers};
	struct metrics_result result;
	struct bytes rows;
	struct slot *slot;
	struct buffer out;

	strcpy(cmd.after, casino_id);
	slot = case_run(COMMAND_METRICS, &cmd);
	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, slot, 1, &out);
	ck_assert(!out.failed);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	result = slot->result.metrics;
	rows = result.dealers;
	for (uint32_t i = 0; i < result.count; i++)
		ck_assert(unpack_record(&rows, dealer_metrics_fields, &dealers[dealer_count++]));
	ck_assert_uint_eq(rows.len, 0);
	buffer_free(&out);
	return result;
}

/* Reads all dealers into dealers[]. */
static struct metrics_result read_all(void)
{
	struct metrics_result first, page;

	dealer_count = 0;
	first = page = page_after("", false);
	while (page.more)
		page = page_after(page.last, false);
	return first;
}

/* How many of dealers[] have or had callbacks. */
static uint32_t called_count(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < dealer_count; i++)
		count += dealers[i].called;
	return count;
}

static struct dealer_metrics *demo(void)
{
	read_all();
	ck_assert_uint_eq(dealer_count, 1);
	ck_assert_str_eq(dealers[0].casino_id, "demo");
	return &dealers[0];
}

static void see_callback(void *context, const void *row)
{
	uint64_t *states = context;

	states[((const struct callback *)row)->state]++;
}

/* Checks that the stored counts agree with the rows. */
static void prove_queue(void)
{
	uint64_t states[CALLBACK_STATE_COUNT] = {0};

	case_list(RECORD_CALLBACK, false, 0, see_callback, states);
	ck_assert_uint_eq(demo()->due, states[CALLBACK_DUE]);
	ck_assert_uint_eq(dealers[0].sending, states[CALLBACK_SENDING]);
	ck_assert_uint_eq(dealers[0].held, states[CALLBACK_HELD]);
	ck_assert_uint_eq(dealers[0].parked, states[CALLBACK_PARKED]);
}

static uint64_t ended(enum callback_kind kind, enum callback_class class)
{
	return *dealer_attempts(demo(), kind, class);
}

static struct bet_place_result bet(const char *id, const char *game)
{
	return case_bet(id, game, 10 * CREDIT);
}

static struct callback_end_cmd end_cmd(const struct callback_grant *grant,
	enum callback_class class, uint32_t ms)
{
	struct callback_end_cmd cmd = case_end_cmd(grant, class);

	cmd.outcome.ms = ms;
	return cmd;
}

static struct callback_end_result end(const struct callback_grant *grant, enum callback_class class,
	uint32_t ms)
{
	struct callback_end_cmd cmd = end_cmd(grant, class, ms);

	return case_run(COMMAND_CALLBACK_END, &cmd)->result.callback_end;
}

static void operate(uint64_t event, enum callback_action action)
{
	ck_assert_int_eq(case_operate(event, action), REFUSAL_NONE);
}

/* Parks the result of an accepted bet by failing each of its attempts. */
static uint64_t park(const char *game)
{
	struct bet_place_result placed = bet(game, game);
	struct round_settle_result settled;
	struct callback_claim_result claimed;
	char id[16];

	end(&placed.send, CALLBACK_SUCCESS, 1);
	snprintf(id, sizeof(id), "result-%s", game);
	settled = case_settle(id, game, RESULT_WIN, CREDIT);
	ck_assert_int_eq(settled.verdict.refusal, REFUSAL_NONE);
	end(&settled.send, CALLBACK_UNKNOWN, 3000);
	for (unsigned int i = 0; i < 2; i++) {
		case_pass(30 * SECOND);
		claimed = case_claim(settled.event);
		ck_assert_uint_eq(claimed.send.event, settled.event);
		end(&claimed.send, CALLBACK_UNKNOWN, 3000);
	}
	return settled.event;
}

START_TEST(attempts_are_counted_once)
{
	struct bet_place_result placed;
	struct metrics_result result;

	open_counting(_i);
	ck_assert(!demo()->called);
	ck_assert_str_eq(demo()->currency, "thb");
	ck_assert_int_eq(demo()->mode, WALLET_SEAMLESS);
	placed = bet("b1", "g1");
	ck_assert(demo()->called);
	ck_assert_uint_eq(demo()->sending, 1);
	ck_assert_uint_eq(demo()->inflight, 1);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_SUCCESS), 0);
	end(&placed.send, CALLBACK_SUCCESS, 3);
	/* The same report again, and other late reports. */
	ck_assert(end(&placed.send, CALLBACK_SUCCESS, 3).late);
	ck_assert(end(&placed.send, CALLBACK_UNKNOWN, 3).late);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_SUCCESS), 1);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_UNKNOWN), 0);
	placed = bet("b2", "g1");
	end(&placed.send, CALLBACK_REFUSED, 0);
	placed = bet("b3", "g1");
	end(&placed.send, CALLBACK_NOT_SENT, 0);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_REFUSED), 1);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_NOT_SENT), 1);
	result = read_all();
	ck_assert_uint_eq(histogram_count(&result.attempts[CALLBACK_BETTING]), 3);
	ck_assert_uint_eq(result.attempts[CALLBACK_BETTING].sum, 3000);
	ck_assert_uint_eq(histogram_count(&result.attempts[CALLBACK_BETTING_RESULT]), 0);
	close_counting();
}
END_TEST

static uint64_t recent(enum callback_class class)
{
	return demo()->recent[class].count;
}

START_TEST(attempts_of_the_last_minutes)
{
	struct bet_place_result placed;

	open_counting(_i);
	ck_assert_uint_eq(recent(CALLBACK_SUCCESS), 0);
	placed = bet("b1", "g1");
	end(&placed.send, CALLBACK_SUCCESS, 3);
	case_pass(4 * 60 * SECOND);
	placed = bet("b2", "g1");
	end(&placed.send, CALLBACK_SUCCESS, 3);
	placed = bet("b3", "g1");
	end(&placed.send, CALLBACK_REFUSED, 3);
	ck_assert_uint_eq(recent(CALLBACK_SUCCESS), 2);
	ck_assert_uint_eq(recent(CALLBACK_REFUSED), 1);
	ck_assert_uint_eq(recent(CALLBACK_NOT_SENT), 0);
	/* The first one is older than five minutes. */
	case_pass(61 * SECOND);
	ck_assert_uint_eq(recent(CALLBACK_SUCCESS), 1);
	ck_assert_uint_eq(recent(CALLBACK_REFUSED), 1);
	case_pass(5 * 60 * SECOND);
	ck_assert_uint_eq(recent(CALLBACK_SUCCESS), 0);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_SUCCESS), 2);
	close_counting();
}
END_TEST

START_TEST(a_takeover_is_an_unknown_end)
{
	struct bet_place_result placed;
	struct metrics_result result;

	open_counting(_i);
	placed = bet("b1", "g1");
	ledger_link_gone(&case_ledger, 1);
	case_pass(10 * SECOND);
	ck_assert(case_claim(placed.send.event).taken_over);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_UNKNOWN), 1);
	/* The worker is alive after all, but its report is late. */
	ck_assert(end(&placed.send, CALLBACK_SUCCESS, 5).late);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_SUCCESS), 0);
	/* The duration is unknown. */
	result = read_all();
	ck_assert_uint_eq(histogram_count(&result.attempts[CALLBACK_BETTING]), 0);
	ck_assert_uint_eq(dealers[0].due, 1);
	ck_assert_uint_eq(dealers[0].overdue_ms, 0);
	case_pass(61 * SECOND);
	ck_assert_uint_eq(demo()->overdue_ms, 1000);
	close_counting();
}
END_TEST

START_TEST(a_balance_inquiry_counts_by_its_permit)
{
	struct player_balance_cmd cmd;
	struct player_balance_result asked;

	open_counting(_i);
	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	asked = case_run(COMMAND_PLAYER_BALANCE, &cmd)->result.player_balance;
	ck_assert_uint_ne(asked.send.event, 0);
	end(&asked.send, CALLBACK_SUCCESS, 2);
	end(&asked.send, CALLBACK_SUCCESS, 2);
	ck_assert_uint_eq(ended(CALLBACK_BALANCE_INQUIRE, CALLBACK_SUCCESS), 1);
	/* An invented event of a worker: it has neither a row nor a permit. */
	asked.send.event += 1000;
	end(&asked.send, CALLBACK_SUCCESS, 2);
	ck_assert_uint_eq(ended(CALLBACK_BALANCE_INQUIRE, CALLBACK_SUCCESS), 1);
	close_counting();
}
END_TEST

/* When a batch is run again command by command, only saved commands are counted. */
START_TEST(what_was_not_saved_is_not_counted)
{
	static struct slot slots[2];
	struct bet_place_result placed[2];

	open_counting(CASE_MEMORY);
	for (unsigned int i = 0; i < 2; i++) {
		char id[8];

		snprintf(id, sizeof(id), "b%u", i);
		placed[i] = bet(id, id);
		memset(&slots[i], 0, sizeof(slots[i]));
		slots[i].command = COMMAND_CALLBACK_END;
		slots[i].link = 1;
		slots[i].cmd.callback_end = end_cmd(&placed[i].send, CALLBACK_SUCCESS, 4);
	}
	/* Neither the batch nor its first command by itself can be saved. */
	memory_store_fail(case_db, SAVE_FAULT, 2);
	case_run_batch(slots, 2);
	ck_assert_int_eq(slots[0].outcome, FRAME_FAULT);
	ck_assert_int_eq(slots[1].outcome, FRAME_DONE);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_SUCCESS), 1);
	case_run_batch(slots, 1);
	ck_assert_uint_eq(ended(CALLBACK_BETTING, CALLBACK_SUCCESS), 2);
	close_counting();
}
END_TEST

START_TEST(parked_and_held_are_counted)
{
	uint64_t first, second;

	open_counting(_i);
	first = park("g1");
	second = park("g2");
	ck_assert_uint_eq(demo()->parked, 2);
	ck_assert_uint_eq(ended(CALLBACK_BETTING_RESULT, CALLBACK_UNKNOWN), 6);
	operate(first, CALLBACK_HOLD);
	ck_assert_uint_eq(demo()->parked, 1);
	ck_assert_uint_eq(demo()->held, 1);
	prove_queue();
	/* Its attempts are used up, so it is parked again. */
	operate(first, CALLBACK_RELEASE);
	ck_assert_uint_eq(demo()->parked, 2);
	ck_assert_uint_eq(demo()->held, 0);
	operate(first, CALLBACK_CANCEL);
	operate(second, CALLBACK_RETRY);
	ck_assert_uint_eq(demo()->parked, 0);
	ck_assert_uint_eq(demo()->due, 1);
	operate(second, CALLBACK_HOLD);
	ck_assert_uint_eq(demo()->held, 1);
	ck_assert_uint_eq(demo()->due, 0);
	prove_queue();
	/* An operator's actions are not attempts. */
	ck_assert_uint_eq(ended(CALLBACK_BETTING_RESULT, CALLBACK_UNKNOWN), 6);
	if (_i == CASE_DISK) {
		case_reopen();
		case_ledger.metrics = metrics;
		ck_assert_uint_eq(demo()->held, 1);
		ck_assert_uint_eq(ended(CALLBACK_BETTING_RESULT, CALLBACK_UNKNOWN), 6);
	}
	close_counting();
}
END_TEST

START_TEST(the_breaker_is_told)
{
	struct bet_place_result placed;
	char id[16];

	open_counting(_i);
	for (unsigned int i = 0; i < 10; i++) {
		snprintf(id, sizeof(id), "b%u", i);
		placed = bet(id, id);
		end(&placed.send, CALLBACK_NOT_SENT, 0);
	}
	ck_assert_int_eq(demo()->breaker, BREAKER_OPEN);
	ck_assert_uint_le(demo()->breaker_ms, 1);
	case_pass(30 * SECOND);
	ck_assert_int_eq(demo()->breaker, BREAKER_HALF_OPEN);
	/* A test call that fails does not begin the time anew. */
	placed = bet("b11", "b11");
	end(&placed.send, CALLBACK_NOT_SENT, 0);
	ck_assert_int_eq(demo()->breaker, BREAKER_OPEN);
	case_pass(30 * SECOND);
	ck_assert_uint_eq(demo()->breaker_ms, 60000);
	placed = bet("b10", "b10");
	end(&placed.send, CALLBACK_SUCCESS, 0);
	ck_assert_int_eq(demo()->breaker, BREAKER_CLOSED);
	ck_assert_uint_eq(demo()->breaker_ms, 0);
	close_counting();
}
END_TEST

START_TEST(a_sweep_is_noted)
{
	struct callback_find_cmd look = {.most = 1}, work = {.most = 1, .sweeping = true};
	struct metrics_result result;
	struct buffer out;

	open_counting(_i);
	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, case_run(COMMAND_CALLBACK_FIND, &look), 1, &out);
	ck_assert(!page_after("", true).swept);
	ck_assert_int_eq(read_all().status.swept_ms, 0);
	ledger_answer(&case_ledger, case_run(COMMAND_CALLBACK_FIND, &work), 1, &out);
	case_pass(90 * SECOND);
	/* The wall clock is set back: the age does not follow it. */
	case_now_ms -= 3600 * SECOND;
	result = page_after("", true);
	case_now_ms += 3600 * SECOND;
	ck_assert(result.swept);
	ck_assert_uint_eq(result.swept_ms_ago, 90000);
	ck_assert_int_eq(result.status.swept_ms, case_now_ms - 90 * SECOND);
	buffer_free(&out);
	close_counting();
}
END_TEST

START_TEST(batches_and_commits_are_measured)
{
	static struct slot slots[20];
	struct metrics_result before, after;

	open_counting(_i);
	before = read_all();
	memset(slots, 0, sizeof(slots));
	for (unsigned int i = 0; i < 20; i++) {
		slots[i].command = COMMAND_BALANCE;
		strcpy(slots[i].cmd.balance.casino_id, "demo");
		strcpy(slots[i].cmd.balance.user_id, "alice");
	}
	case_run_batch(slots, 20);
	after = read_all();
	/* One more for the query itself. */
	ck_assert_uint_eq(histogram_count(&after.batches), histogram_count(&before.batches) + 2);
	ck_assert_uint_eq(after.batches.sum, before.batches.sum + 21);
	ck_assert_uint_eq(after.batches.places[5].count, before.batches.places[5].count + 1);
	/* Reading saves nothing. */
	ck_assert_uint_eq(histogram_count(&after.commits), histogram_count(&before.commits));
	case_player_add("demo", "bob");
	after = read_all();
	ck_assert_uint_eq(histogram_count(&after.commits), histogram_count(&before.commits) + 1);
	if (_i == CASE_DISK)
		ck_assert_uint_gt(after.commits.sum, before.commits.sum);
	close_counting();
}
END_TEST

/* Pages contain all dealers, in order. */
START_TEST(dealers_come_by_pages)
{
	struct dealer_put_cmd cmd;
	char casino_id[32];

	open_counting(CASE_MEMORY);
	for (unsigned int i = 0; i < 1500; i++) {
		snprintf(casino_id, sizeof(casino_id), "d%04u", i);
		cmd = case_dealer_cmd(casino_id);
		ck_assert_int_eq(case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal,
			REFUSAL_NONE);
	}
	read_all();
	ck_assert_uint_eq(dealer_count, 1501);
	ck_assert_uint_eq(called_count(), 0);
	for (unsigned int i = 0; i < 1500; i += 3) {
		struct metrics_notes notes = {.count = 0};
		struct callback_outcome outcome = {.class = CALLBACK_SUCCESS};
		struct callback callback = {.kind = CALLBACK_BETTING, .known_to_dealer = i == 3};

		snprintf(callback.casino_id, sizeof(callback.casino_id), "d%04u", i);
		callback.unknown_to_dealer = i == 6;
		metrics_note(&notes, &callback, &outcome, true);
		metrics_book(metrics, &notes, 1);
	}
	read_all();
	ck_assert_uint_eq(dealer_count, 1501);
	ck_assert_uint_eq(called_count(), 500);
	for (unsigned int i = 0; i < 1500; i++) {
		snprintf(casino_id, sizeof(casino_id), "d%04u", i);
		ck_assert_str_eq(dealers[i].casino_id, casino_id);
		ck_assert_uint_eq(*dealer_attempts(&dealers[i], CALLBACK_BETTING, CALLBACK_SUCCESS),
			i % 3 == 0);
		ck_assert_uint_eq(dealers[i].known_to_dealer, i == 3);
		ck_assert_uint_eq(dealers[i].unknown_to_dealer, i == 6);
	}
	close_counting();
}
END_TEST

START_TEST(more_names_than_dealers_are_not_counted)
{
	struct callback_outcome outcome = {.class = CALLBACK_SUCCESS};
	struct dealer_metrics dealer;
	char casino_id[32];

	metrics = metrics_new();
	for (unsigned int i = 0; i < DEALERS_MAX + 10; i++) {
		snprintf(casino_id, sizeof(casino_id), "d%u", i);
		metrics_count(metrics, casino_id, CALLBACK_BETTING, &outcome, 1);
		ck_assert(metrics_ended(metrics, casino_id, 1, &dealer) == (i < DEALERS_MAX));
	}
	/* The histogram still contains all of them. */
	ck_assert_uint_eq(histogram_count(&metrics->attempts[CALLBACK_BETTING]), DEALERS_MAX + 10);
	munmap(metrics, sizeof(*metrics));
}
END_TEST

START_TEST(without_memory_nothing_is_counted)
{
	struct bet_place_result placed;

	open_counting(_i);
	case_ledger.metrics = NULL;
	placed = bet("b1", "g1");
	end(&placed.send, CALLBACK_SUCCESS, 3);
	read_all();
	/* What follows from rows is there. */
	ck_assert_uint_eq(demo()->bets_without_balance, 1);
	ck_assert_uint_eq(*dealer_attempts(demo(), CALLBACK_BETTING, CALLBACK_SUCCESS), 0);
	placed = bet("b2", "g1");
	ck_assert_uint_eq(demo()->sending, 1);
	end(&placed.send, CALLBACK_SUCCESS, 3);
	close_counting();
}
END_TEST

START_TEST(a_halted_ledger_tells_its_figures)
{
	static struct ledger halted;
	static struct slot slot;
	struct buffer out;

	ck_assert_int_eq(ledger_init(&halted, NULL, 1, NULL, case_moment()), STATUS_OK);
	metrics = metrics_new();
	halted.metrics = metrics;
	metrics->engine_starts = 3;
	memset(&slot, 0, sizeof(slot));
	slot.command = COMMAND_METRICS;
	ck_assert_int_eq(ledger_run(&halted, &slot, 1, case_moment()), STATUS_OK);
	buffer_init(&out, FRAME_MAX);
	ledger_answer(&halted, &slot, 1, &out);
	ck_assert_int_eq(slot.outcome, FRAME_DONE);
	ck_assert(slot.result.metrics.status.halted);
	ck_assert_uint_eq(slot.result.metrics.status.engine_starts, 3);
	ck_assert_uint_eq(slot.result.metrics.count, 0);
	ck_assert(!slot.result.metrics.more);
	ck_assert(!halted.resume_asked);
	buffer_free(&out);
	ledger_free(&halted);
	munmap(metrics, sizeof(*metrics));
}
END_TEST

static void count_for_ever(unsigned int from)
{
	struct callback_outcome outcome = {.class = CALLBACK_SUCCESS};
	char casino_id[32];

	for (unsigned int i = from;; i++) {
		snprintf(casino_id, sizeof(casino_id), "d%u", i % 3000);
		metrics_count(metrics, casino_id, CALLBACK_BETTING, &outcome, 1);
	}
}

/* An engine dies while it counts. The next one finds the counts in an intact table. */
START_TEST(counts_outlive_an_engine)
{
	struct dealer_metrics dealer;
	uint64_t counted = 0, alone = 0;

	metrics = metrics_new();
	for (unsigned int round = 0; round < 20; round++) {
		int status;
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid)
			count_for_ever(round * 100);
		/*
		 * The first engine lives until something is counted, because processes start
		 * slowly under valgrind.
		 */
		for (int i = 0; !round && !metrics->slots_used && i < 10000; i++)
			usleep(1000);
		usleep(1000 + 200 * round);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	}
	for (unsigned int i = 0; i < 3000; i++) {
		char casino_id[32];

		snprintf(casino_id, sizeof(casino_id), "d%u", i);
		memset(&dealer, 0, sizeof(dealer));
		if (metrics_ended(metrics, casino_id, 1, &dealer))
			counted += *dealer_attempts(&dealer, CALLBACK_BETTING, CALLBACK_SUCCESS);
	}
	/* Each death may leave one attempt with only one of its two counts. */
	alone = histogram_count(&metrics->attempts[CALLBACK_BETTING]);
	ck_assert_uint_gt(counted, 0);
	ck_assert_uint_le(counted > alone ? counted - alone : alone - counted, 20);
	ck_assert_uint_le(metrics->slots_used, 3000 + 20);
	munmap(metrics, sizeof(*metrics));
}
END_TEST

Suite *figures_suite(void)
{
	Suite *suite = suite_create("figures");
	TCase *tc = tcase_create("figures");

	tcase_add_loop_test(tc, attempts_are_counted_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, attempts_of_the_last_minutes, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_takeover_is_an_unknown_end, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_balance_inquiry_counts_by_its_permit, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, what_was_not_saved_is_not_counted);
	tcase_add_loop_test(tc, parked_and_held_are_counted, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, the_breaker_is_told, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_sweep_is_noted, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, batches_and_commits_are_measured, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, dealers_come_by_pages);
	tcase_add_test(tc, more_names_than_dealers_are_not_counted);
	tcase_add_loop_test(tc, without_memory_nothing_is_counted, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, a_halted_ledger_tells_its_figures);
	tcase_add_test(tc, counts_outlive_an_engine);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
