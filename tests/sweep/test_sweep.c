/*
 * Tests the promises of sweep/sweep.h against a ledger and dealers with a simulated clock
 * (sweep_world.h). tests/e2e/test_sweep.py uses real ones.
 */
#include "sweep_world.h"

#include "link/client.h"
#include "tap.h"

#include "sweep/duration.h"

#include <stdio.h>
#include <string.h>

static struct settings settings;
static struct report report;
static char why[SWEEP_WHY_MAX];

static void prepare(void)
{
	log_open("test_sweep", false, LOG_LEVEL_ERROR);
	settings_defaults(&settings);
	report_init(&report);
	memset(why, 0, sizeof(why));
	world_reset();
}

static void clean(void)
{
	report_free(&report);
}

/* Sweeps for @for_ms; 0: one pass. */
static enum status sweep(int64_t for_ms)
{
	struct sweep_options options = {.settings = &settings,
		.until_ms = for_ms ? WORLD_START_MS + for_ms : 0};

	sigemptyset(&options.stop);
	sigaddset(&options.stop, SIGTERM);
	return sweep_run(&options, &report, why);
}

static void add_many(unsigned int count, const char *casino_id)
{
	for (unsigned int i = 0; i < count; i++)
		world_add(world.count + 1, casino_id);
}

START_TEST(a_pass_sends_what_is_due)
{
	add_many(3, "demo");
	world_add(4, "other")->due_ms = WORLD_START_MS + 60000;
	world_add(5, "other")->answer = CALLBACK_UNKNOWN;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 3);
	ck_assert_uint_eq(world.callbacks[3].claims, 0);
	ck_assert_uint_eq(world.callbacks[4].sends, 1);
	ck_assert_uint_eq(world.callbacks[4].told, CALLBACK_UNKNOWN);
	ck_assert_uint_eq(report.counts[SWEPT_SENT], 4);
	ck_assert_uint_eq(report.counts[SWEPT_DELIVERED], 3);
	ck_assert_uint_eq(report.counts[SWEPT_DUE_AGAIN], 1);
	ck_assert_uint_eq(report.waiting, 2);
	ck_assert_int_lt(world.now_ms, WORLD_START_MS + 1000);
}
END_TEST

START_TEST(nothing_to_do_is_one_look)
{
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_le(world.finds, 2); /* and the number of callbacks left */
	ck_assert_uint_eq(world.asked, world.finds);
}
END_TEST

START_TEST(no_more_is_claimed_than_is_sent_at_once)
{
	settings.sweep_concurrency = 4;
	add_many(50, "demo");
	for (unsigned int i = 0; i < world.count; i++)
		world.callbacks[i].takes_ms = 700;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 50);
	/* A quarter of the slots is reserved for dealers to which nothing is being sent. */
	ck_assert_uint_eq(world.most_under_way, 3);
}
END_TEST

START_TEST(the_most_at_once)
{
	settings.sweep_concurrency = 256;
	add_many(300, "demo");
	for (unsigned int i = 0; i < world.count; i++)
		world.callbacks[i].takes_ms = 2900;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 300);
	ck_assert_uint_eq(world.most_under_way, 192);
}
END_TEST

START_TEST(slow_dealers_leave_places_to_others)
{
	settings.sweep_concurrency = 8;
	add_many(40, "slow");
	for (unsigned int i = 0; i < 40; i++)
		world.callbacks[i].takes_ms = 2900;
	world_add(world.count + 1, "healthy")->due_ms = WORLD_START_MS + 1000;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 41);
	ck_assert_uint_eq(world.most_under_way, 7);
}
END_TEST

START_TEST(a_place_is_filled_when_it_gets_free)
{
	world.max_inflight = 2;
	add_many(20, "slow");
	for (unsigned int i = 0; i < 20; i++)
		world.callbacks[i].takes_ms = 1500;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 20);
	ck_assert_uint_eq(world.most_under_way, 2);
	/* 10 rounds of 1.5 s: the sweeper did not wait for the second of its next query. */
	ck_assert_int_lt(world.now_ms, WORLD_START_MS + 15300);
}
END_TEST

START_TEST(a_dead_dealer_does_not_hold_up_another)
{
	world.max_inflight = 20;
	add_many(200, "dead");
	for (unsigned int i = 0; i < 200; i++) {
		world.callbacks[i].answer = CALLBACK_UNKNOWN;
		world.callbacks[i].takes_ms = 3000;
	}
	add_many(200, "healthy");
	ck_assert_int_eq(sweep(2000), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 200);
	ck_assert_uint_eq(report.dealers[0].counts[SWEPT_SENT], 20);
	ck_assert_str_eq(report.dealers[1].casino_id, "healthy");
	ck_assert_uint_eq(report.dealers[1].counts[SWEPT_DELIVERED], 200);
}
END_TEST

START_TEST(one_that_hangs_does_not_hold_up_the_next)
{
	world.max_inflight = 1;
	world_add(1, "slow")->takes_ms = 2900;
	for (uint64_t event = 2; event < 12; event++)
		world_add(event, "quick")->takes_ms = 1;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 11);
	ck_assert_int_lt(world.last_claim_ms, WORLD_START_MS + 250);
}
END_TEST

START_TEST(it_does_not_look_without_a_pause)
{
	world.max_inflight = 1;
	add_many(100, "quick");
	for (unsigned int i = 0; i < world.count; i++)
		world.callbacks[i].takes_ms = 1;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 100);
	ck_assert_int_le(2 * world.finds, world.now_ms - WORLD_START_MS + 30);
}
END_TEST

START_TEST(it_looks_each_second_until_the_time_is_over)
{
	world_add(1, "demo")->due_ms = WORLD_START_MS + 7300;
	ck_assert_int_eq(sweep(10000), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 1);
	ck_assert_uint_ge(world.finds, 10);
	ck_assert_uint_le(world.finds, 14);
	ck_assert_int_ge(world.now_ms, WORLD_START_MS + 10000);
	ck_assert_int_lt(world.now_ms, WORLD_START_MS + 10100);
}
END_TEST

START_TEST(it_does_not_wait_beyond_its_time)
{
	ck_assert_int_eq(sweep(1500), STATUS_OK);
	ck_assert_int_ge(world.now_ms, WORLD_START_MS + 1500);
	ck_assert_int_lt(world.now_ms, WORLD_START_MS + 1510);
}
END_TEST

START_TEST(what_is_due_is_found_within_a_second_beside_what_hangs)
{
	struct world_callback *callback = world_add(1, "slow");

	callback->takes_ms = 2900;
	callback = world_add(2, "demo");
	callback->due_ms = WORLD_START_MS + 500;
	callback->takes_ms = 0;
	ck_assert_int_eq(sweep(2000), STATUS_OK);
	ck_assert_int_le(world.last_claim_ms, WORLD_START_MS + 1100);
}
END_TEST

START_TEST(nothing_is_begun_when_the_time_is_over)
{
	settings.sweep_concurrency = 1;
	add_many(100, "demo");
	for (unsigned int i = 0; i < world.count; i++)
		world.callbacks[i].takes_ms = 2900;
	ck_assert_int_eq(sweep(10000), STATUS_OK);
	ck_assert_int_lt(world.last_claim_ms, WORLD_START_MS + 10000);
	ck_assert_int_le(world.now_ms, WORLD_START_MS + 10000 + 2900 + 100);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 4);
	ck_assert_uint_eq(world_count(CALLBACK_SENDING), 0);
	ck_assert_uint_eq(report.waiting, 96);
}
END_TEST

START_TEST(the_time_may_end_among_the_claims)
{
	add_many(100, "demo");
	for (unsigned int i = 0; i < world.count; i++)
		world.callbacks[i].claim_takes_ms = 200;
	ck_assert_int_eq(sweep(3000), STATUS_OK);
	ck_assert_int_lt(world.last_claim_ms, WORLD_START_MS + 3000);
	/* The first one did not wait for the claims of the others. */
	ck_assert_int_lt(world.first_end_ms, WORLD_START_MS + 500);
	ck_assert_uint_eq(world_count(CALLBACK_SENDING), 0);
	ck_assert_uint_eq(report.counts[SWEPT_SENT], report.counts[SWEPT_DELIVERED]);
}
END_TEST

START_TEST(a_signal_ends_the_claiming)
{
	settings.sweep_concurrency = 2;
	add_many(100, "demo");
	for (unsigned int i = 0; i < world.count; i++)
		world.callbacks[i].takes_ms = 1000;
	world.signal_ms = WORLD_START_MS + 2500;
	ck_assert_int_eq(sweep(55000), STATUS_OK);
	ck_assert_int_le(world.last_claim_ms, WORLD_START_MS + 2500);
	ck_assert_int_le(world.now_ms, WORLD_START_MS + 3600);
	/* Attempts in progress were finished. */
	ck_assert_uint_eq(world_count(CALLBACK_SENDING), 0);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 6);
}
END_TEST

START_TEST(a_signal_ends_the_waiting)
{
	world.signal_ms = WORLD_START_MS + 2300;
	ck_assert_int_eq(sweep(55000), STATUS_OK);
	ck_assert_int_le(world.now_ms, WORLD_START_MS + 2310);
}
END_TEST

START_TEST(what_was_left_is_taken_over_and_not_sent)
{
	struct world_callback *bet = world_add(1, "demo"), *result = world_add(2, "demo");

	bet->entry.kind = CALLBACK_BETTING;
	bet->state = result->state = CALLBACK_SENDING;
	bet->abandoned = result->abandoned = true;
	bet->attempts = result->attempts = 1;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(bet->sends + result->sends, 0);
	ck_assert_uint_eq(bet->ends + result->ends, 0);
	ck_assert_uint_eq(report.counts[SWEPT_TAKEN_OVER], 2);
	ck_assert_uint_eq(report.counts[SWEPT_FAILED], 1);
	ck_assert_uint_eq(report.counts[SWEPT_DUE_AGAIN], 1);
	ck_assert_uint_eq(report.counts[SWEPT_SENT], 0);
}
END_TEST

START_TEST(a_lease_that_holds_is_left_alone)
{
	struct world_callback *bet = world_add(1, "demo");

	bet->state = CALLBACK_SENDING;
	bet->abandoned = true;
	bet->due_ms = WORLD_START_MS + 5000;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(bet->claims, 0);
	ck_assert_uint_eq(report.waiting, 1);
}
END_TEST

START_TEST(refused_claims_are_skipped)
{
	add_many(4, "demo");
	world.callbacks[0].refusal = REFUSAL_DEALER_BUSY;
	world.callbacks[1].refusal = REFUSAL_NOT_ALLOWED_NOW;
	world.callbacks[2].refusal = REFUSAL_CALLBACK_NOT_FOUND;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 1);
	ck_assert_uint_ge(report.counts[SWEPT_REFUSED_BUSY], 1);
	/* These are no progress, so the sweeper does not ask endlessly. */
	ck_assert_uint_le(world.callbacks[0].claims, 2);
	ck_assert_uint_eq(report.counts[SWEPT_REFUSED_BUSY], world.callbacks[0].claims);
}
END_TEST

START_TEST(refused_claims_are_asked_each_second)
{
	world_add(1, "demo")->refusal = REFUSAL_DEALER_BUSY;
	ck_assert_int_eq(sweep(10000), STATUS_OK);
	ck_assert_uint_ge(world.callbacks[0].claims, 9);
	ck_assert_uint_le(world.callbacks[0].claims, 11);
}
END_TEST

START_TEST(a_lease_that_came_too_late_sends_nothing)
{
	struct world_callback *callback = world_add(1, "demo");

	/* 3.5 s must remain; only 3.499 s do. */
	callback->lease_ms = 10000;
	callback->claim_takes_ms = 6501;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world.callbacks[0].sends, 0);
	ck_assert_uint_eq(world.callbacks[0].told, CALLBACK_NOT_SENT);
	world_reset();
	world_add(1, "demo");
	callback = world_add(2, "demo");
	callback->claim_takes_ms = 6500;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world.callbacks[1].told, CALLBACK_SUCCESS);
}
END_TEST

START_TEST(what_cannot_be_begun_is_ended)
{
	world_add(1, "demo")->no_place = true;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world.callbacks[0].told, CALLBACK_NOT_SENT);
	ck_assert_uint_eq(world.callbacks[0].ends, 1);
	ck_assert_uint_eq(report.counts[SWEPT_DUE_AGAIN], 1);
}
END_TEST

START_TEST(news_that_come_late)
{
	struct world_callback *callback = world_add(1, "demo");

	/* Ended by the same command, whose answer was lost. */
	callback->end_late = true;
	callback->end_attempts = 1;
	/* Another process took it over and began a new attempt. */
	callback = world_add(2, "demo");
	callback->end_late = true;
	callback->end_attempts = 2;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(report.counts[SWEPT_DELIVERED], 1);
	ck_assert_uint_eq(report.counts[SWEPT_LATE], 1);
}
END_TEST

START_TEST(the_ledger_is_away)
{
	world.find_status = STATUS_NOT_SENT;
	world.away_until_ms = INT64_MAX;
	add_many(3, "demo");
	ck_assert_int_eq(sweep(55000), STATUS_NOT_SENT);
	ck_assert_str_eq(why,
		"callback_find at /run/creditbridge/edge.sock: the ledger is not "
		"reachable");
	ck_assert_uint_eq(world.asked, 1);
	ck_assert_int_le(world.now_ms, WORLD_START_MS + 5100);
}
END_TEST

START_TEST(the_ledger_goes_away_while_callbacks_are_sent)
{
	world.find_status = STATUS_NOT_SENT;
	add_many(3, "demo");
	for (unsigned int i = 0; i < 3; i++) {
		world.callbacks[i].takes_ms = 500 + i;
		world.callbacks[i].end_status = STATUS_UNKNOWN;
	}
	ck_assert_int_eq(sweep(55000), STATUS_UNKNOWN);
	/* After the first failure, the sweeper sends the ledger no further command. */
	ck_assert_uint_eq(world.callbacks[0].ends + world.callbacks[1].ends +
			world.callbacks[2].ends,
		1);
	ck_assert_uint_eq(world.under_way, 0);
	ck_assert_uint_eq(report.counts[SWEPT_SENT], 3);
	ck_assert_ptr_nonnull(strstr(why, "callback_end"));
}
END_TEST

START_TEST(answers_are_read_while_the_ledger_is_waited_for)
{
	add_many(2, "demo");
	world.callbacks[0].takes_ms = 500;
	world.callbacks[1].claim_takes_ms = 4000;
	world.callbacks[1].lease_ms = 20000;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world.callbacks[0].told, CALLBACK_SUCCESS);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 2);
}
END_TEST

/* Each report is too short to be waited for; all together take longer than a call may. */
START_TEST(answers_are_read_while_others_ends_are_told)
{
	settings.sweep_concurrency = 256;
	world.end_takes_ms = 10;
	add_many(192, "demo");
	/*
	 * All but the first end at the same moment, and the first while they are being reported.
	 */
	for (unsigned int i = 0; i < world.count; i++)
		world.callbacks[i].takes_ms = i ? 1200 - i : 1500;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world.callbacks[0].told, CALLBACK_SUCCESS);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 192);
}
END_TEST

START_TEST(a_ledger_without_room_is_asked_again)
{
	world.find_status = STATUS_BUSY;
	world.away_until_ms = WORLD_START_MS + 3000;
	add_many(3, "demo");
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 3);
	ck_assert_uint_lt(world.asked, 200);
}
END_TEST

START_TEST(a_halted_ledger_is_a_failure)
{
	world.find_status = STATUS_BUSY;
	world.away_until_ms = INT64_MAX;
	ck_assert_int_eq(sweep(0), STATUS_BUSY);
	ck_assert_int_le(world.now_ms, WORLD_START_MS + 5100);
}
END_TEST

START_TEST(one_bad_callback_does_not_stop_the_others)
{
	world_add(1, "demo")->claim_status = STATUS_FAULT;
	world_add(2, "demo")->end_status = STATUS_FAULT;
	add_many(3, "demo");
	ck_assert_int_eq(sweep(0), STATUS_FAULT);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 3);
	ck_assert_ptr_nonnull(strstr(why, "callback_claim"));
}
END_TEST

START_TEST(a_full_disk_ends_the_claiming)
{
	add_many(2 * LINK_SEVERAL_MAX, "demo");
	for (unsigned int i = 1; i < world.count; i++)
		world.callbacks[i].refusal = REFUSAL_STORAGE_FULL;
	world.callbacks[0].takes_ms = 900;
	ck_assert_int_eq(sweep(55000), STATUS_FULL);
	/* It was not claimed together with the first that were refused, nor after them. */
	ck_assert_uint_eq(world.callbacks[world.count - 1].claims, 0);
	ck_assert_uint_eq(world.callbacks[0].told, CALLBACK_SUCCESS);
	ck_assert_ptr_nonnull(strstr(why, "short of storage"));
}
END_TEST

/*
 * Takeovers need no disk space, whatever else is due. The sweeper asks again while there is time.
 */
START_TEST(a_full_disk_leaves_the_takeovers)
{
	add_many(2, "first");
	world.callbacks[0].refusal = REFUSAL_STORAGE_FULL;
	world_add(9, "second")->state = CALLBACK_SENDING;
	world.callbacks[2].abandoned = true;
	ck_assert_int_eq(sweep(0), STATUS_FULL);
	ck_assert_uint_eq(report.counts[SWEPT_TAKEN_OVER], 1);

	world.callbacks[0].refusal = REFUSAL_NONE;
	ck_assert_int_eq(sweep(10000), STATUS_OK);
	ck_assert_uint_eq(world_count(CALLBACK_DELIVERED), 3);
}
END_TEST

/* Returns the output of sweep_look(). */
static const char *look(bool json)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(sweep_look(&settings, json, out, why), STATUS_OK);
	fclose(out);
	return text;
}

START_TEST(a_look_claims_nothing)
{
	struct world_callback *callback = world_add(17, "demo");

	callback->due_ms -= 1499;
	callback = world_add(18, "other");
	callback->entry.kind = CALLBACK_BETTING;
	callback->state = CALLBACK_SENDING;
	callback->abandoned = true;
	world_add(19, "demo")->due_ms += 60000;
	ck_assert_str_eq(look(false),
		"send betting-result-17 casino demo, overdue by 1.500 s\n"
		"take over betting-18 casino other, overdue by 0.001 s\n"
		"2 to do now, 3 waiting\n");
	ck_assert_str_eq(look(true),
		"{\"waiting\":3,\"callbacks\":["
		"{\"event\":17,\"casino_id\":\"demo\",\"kind\":\"betting-result\","
		"\"takeover\":false,\"overdue_ms\":1501},"
		"{\"event\":18,\"casino_id\":\"other\",\"kind\":\"betting\","
		"\"takeover\":true,\"overdue_ms\":2}]}\n");
	ck_assert_uint_eq(world.asked, 2);
	ck_assert_uint_eq(world.finds, 2);
}
END_TEST

START_TEST(a_look_at_no_ledger_fails)
{
	world.find_status = STATUS_BUSY;
	world.away_until_ms = INT64_MAX;
	ck_assert_int_eq(sweep_look(&settings, false, stderr, why), STATUS_BUSY);
	ck_assert_ptr_nonnull(strstr(why, "callback_find"));
}
END_TEST

static const char *parked_lines(void)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	report_parked(&report, out);
	fputc('\0', out);
	fclose(out);
	return text;
}

START_TEST(what_was_parked_is_a_line_for_each_dealer)
{
	static const uint64_t events[] = {40, 12, 99, 13, 7, 50, 8};

	ck_assert_str_eq(parked_lines(), "");
	report_state(&report, "b", CALLBACK_BETTING_REFUND, 3, CALLBACK_PARKED);
	report_state(&report, "b", CALLBACK_BETTING_REFUND, 2, CALLBACK_DELIVERED);
	report_state(&report, "c", CALLBACK_BETTING_REFUND, 4, CALLBACK_DUE);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		report_state(&report, "a",
			i < 2 ? CALLBACK_BETTING_REFUND : CALLBACK_BETTING_RESULT, events[i],
			CALLBACK_PARKED);
	ck_assert_str_eq(parked_lines(),
		"casino a: parked 5 betting-result, 2 betting-refund (events 7 8 12 13 40 ...); "
		"see: creditbridgectl callback list --casino a --state parked\n"
		"casino b: parked 1 betting-refund (events 3); "
		"see: creditbridgectl callback list --casino b --state parked\n");
}
END_TEST

START_TEST(the_third_failure_parks)
{
	struct world_callback *callback = world_add(17, "demo");

	callback->attempts = 2;
	callback->answer = CALLBACK_NOT_SENT;
	ck_assert_int_eq(sweep(0), STATUS_OK);
	ck_assert_uint_eq(report.counts[SWEPT_PARKED], 1);
	ck_assert_str_eq(parked_lines(),
		"casino demo: parked 1 betting-result (events 17); "
		"see: creditbridgectl callback list --casino demo --state parked\n");
}
END_TEST

#define NO_COUNTS                                                                                  \
	"\"sent\":0,\"delivered\":0,\"due_again\":0,\"parked\":0,\"failed\":0,\"late\":0,"         \
	"\"taken_over\":0,\"refused_busy\":0,"

START_TEST(the_summary)
{
	struct buffer text;
	char line[512] = "";
	FILE *out;

	buffer_init(&text, 65536);
	ck_assert(report_json(&report, &text));
	ck_assert(buffer_append(&text, "", 1));
	ck_assert_str_eq((char *)text.data, "{" NO_COUNTS "\"waiting\":0,\"dealers\":[]}");
	buffer_reset(&text);
	report_count(&report, "b", SWEPT_SENT);
	report_state(&report, "b", CALLBACK_BETTING_RESULT, 1, CALLBACK_DELIVERED);
	report_count(&report, "a", SWEPT_REFUSED_BUSY);
	report_count(&report, "b", SWEPT_TAKEN_OVER);
	report_state(&report, "b", CALLBACK_BETTING, 1, CALLBACK_FAILED);
	report.waiting = 8;
	ck_assert(report_json(&report, &text));
	ck_assert(buffer_append(&text, "", 1));
	ck_assert_str_eq((char *)text.data,
		"{\"sent\":1,\"delivered\":1,\"due_again\":0,\"parked\":0,\"failed\":1,\"late\":0,"
		"\"taken_over\":1,\"refused_busy\":1,\"waiting\":8,\"dealers\":["
		"{\"sent\":0,\"delivered\":0,\"due_again\":0,\"parked\":0,\"failed\":0,\"late\":0,"
		"\"taken_over\":0,\"refused_busy\":1,\"casino_id\":\"a\"},"
		"{\"sent\":1,\"delivered\":1,\"due_again\":0,\"parked\":0,\"failed\":1,\"late\":0,"
		"\"taken_over\":1,\"refused_busy\":0,\"casino_id\":\"b\"}]}");
	buffer_free(&text);
	out = fmemopen(line, sizeof(line), "w");
	ck_assert_ptr_nonnull(out);
	report_text(&report, out);
	fclose(out);
	ck_assert_str_eq(line,
		"1 sent, 1 taken over: 1 delivered, 0 due again, 0 parked, 1 failed; "
		"8 waiting\n");
	buffer_init(&text, 64);
	ck_assert(!report_json(&report, &text));
	buffer_free(&text);
}
END_TEST

START_TEST(many_dealers_are_kept_in_order)
{
	char casino_id[CASINO_ID_SIZE];

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(casino_id, sizeof(casino_id), "casino-%03u", i * 7 % 1000);
		report_count(&report, casino_id, SWEPT_SENT);
		report_count(&report, "casino-500", SWEPT_SENT);
	}
	ck_assert_uint_eq(report.dealer_count, 1000);
	ck_assert(!report.failed);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(casino_id, sizeof(casino_id), "casino-%03u", i);
		ck_assert_str_eq(report.dealers[i].casino_id, casino_id);
		ck_assert_uint_eq(report.dealers[i].counts[SWEPT_SENT], i == 500 ? 1001 : 1);
	}
	ck_assert_uint_eq(report.counts[SWEPT_SENT], 2000);
}
END_TEST

START_TEST(durations)
{
	static const struct {
		const char *text;
		int64_t ms; /* 0: refused */
	} cases[] = {{"55s", 55000}, {"55", 55000}, {"1m", 60000}, {"24h", 86400000},
		{"250ms", 250}, {"86400", 86400000}, {"86401", 0}, {"25h", 0}, {"0", 0}, {"0s", 0},
		{"", 0}, {"s", 0}, {"-1", 0}, {"+1", 0}, {"1.5s", 0}, {"1 s", 0}, {" 1s", 0},
		{"1s ", 0}, {"1S", 0}, {"1d", 0}, {"1sm", 0}, {"99999999", 0}, {"999999999h", 0},
		{"18446744073709551617", 0}, {"0x10", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = 0;
		bool taken = duration_parse(cases[i].text, &ms);

		ck_assert_msg(taken == (cases[i].ms != 0) && (!taken || ms == cases[i].ms),
			"\"%s\": %lld", cases[i].text, (long long)ms);
	}
}
END_TEST

static Suite *sweep_suite(void)
{
	const TTest *const tests[] = {a_pass_sends_what_is_due, nothing_to_do_is_one_look,
		no_more_is_claimed_than_is_sent_at_once, the_most_at_once,
		slow_dealers_leave_places_to_others, a_place_is_filled_when_it_gets_free,
		a_dead_dealer_does_not_hold_up_another, one_that_hangs_does_not_hold_up_the_next,
		it_does_not_look_without_a_pause, it_looks_each_second_until_the_time_is_over,
		it_does_not_wait_beyond_its_time,
		what_is_due_is_found_within_a_second_beside_what_hangs,
		nothing_is_begun_when_the_time_is_over, the_time_may_end_among_the_claims,
		a_signal_ends_the_claiming, a_signal_ends_the_waiting,
		what_was_left_is_taken_over_and_not_sent, a_lease_that_holds_is_left_alone,
		refused_claims_are_skipped, refused_claims_are_asked_each_second,
		a_lease_that_came_too_late_sends_nothing, what_cannot_be_begun_is_ended,
		news_that_come_late, the_ledger_is_away,
		the_ledger_goes_away_while_callbacks_are_sent,
		answers_are_read_while_the_ledger_is_waited_for,
		answers_are_read_while_others_ends_are_told, a_ledger_without_room_is_asked_again,
		a_halted_ledger_is_a_failure, one_bad_callback_does_not_stop_the_others,
		a_full_disk_ends_the_claiming, a_full_disk_leaves_the_takeovers,
		a_look_claims_nothing, a_look_at_no_ledger_fails,
		what_was_parked_is_a_line_for_each_dealer, the_third_failure_parks, the_summary,
		many_dealers_are_kept_in_order, durations, NULL};
	Suite *suite = suite_create("sweep");
	TCase *tcase = tcase_create("sweep");

	tcase_add_checked_fixture(tcase, prepare, clean);
	for (size_t i = 0; tests[i]; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	Suite *(*const makers[])(void) = {sweep_suite, NULL};

	return tap_main(makers);
}
