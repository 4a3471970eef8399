/*
 * Tests the feed, the history and a dealer's own callbacks: bodies become commands, pages become
 * replies, and a call waits.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"
#include "web/request/feed_waits.h"

#include <stdio.h>
#include <string.h>

#define FEED      "/wallet-service/feed"
#define HISTORY   "/wallet-service/history"
#define CALLBACKS "/wallet-service/callbacks"
#define RESEND    "/wallet-service/callbacks/resend"
#define NOW       "\"request_timestamp\":1700000000000}"

static struct buffer packed;
static struct feed_waits waits;
static unsigned int empty_pages; /* of these answers none has an item */

/* An item of the next page. */
static void pack_item(const struct feed_item *item)
{
	pack_record(&packed, feed_item_fields, item);
	fake.results.feed.items = (struct bytes){packed.data, (uint32_t)packed.len};
	fake.results.feed.count++;
}

static void feed_setup(void)
{
	web_case_setup();
	buffer_init(&packed, 4096);
	fake.results.feed = (struct feed_result){.next = 9, .complete = true};
	memset(&waits, 0, sizeof(waits));
	empty_pages = 0;
}

static void feed_teardown(void)
{
	web_case_teardown();
	buffer_free(&packed);
}

START_TEST(items_have_the_members_of_their_kind)
{
	const struct feed_item moved = {.transaction_id = 7,
		.casino_id = "demo",
		.kind = ENTRY_TRANSFER_IN,
		.time_ms = 5,
		.user_id = "alice",
		.player_id = "p",
		.state = "done",
		.moved = true,
		.amount = 15000,
		.current_balance = 15000,
		.request_transaction_id = "r1"};
	const struct feed_item bet = {.transaction_id = 8,
		.kind = ENTRY_BET,
		.user_id = "alice",
		.player_id = "p",
		.state = "accepted",
		.game_id = "g1",
		.bet_amount = 10000};
	const struct feed_item correction = {.transaction_id = 9,
		.kind = ENTRY_CORRECTION,
		.user_id = "alice",
		.player_id = "p",
		.state = "due",
		.game_id = "g1",
		.result = RESULT_LOSS,
		.revision = 2,
		.previous_payout_amount = 30000,
		.event = 18,
		.callback_kind = CALLBACK_BETTING_RESULT,
		.attempts = 1};

	pack_item(&moved);
	pack_item(&bet);
	pack_item(&correction);
	ck_assert_int_eq(ask(&(struct ask){.path = FEED, .body = "{\"after\":3,\"limit\":10," NOW}),
		200);
	ck_assert_str_eq(reply_body(),
		"{\"items\":[{\"transaction_id\":7,\"kind\":\"transfer_in\",\"state\":\"done\","
		"\"timestamp\":5,\"user_id\":\"alice\",\"player_id\":\"p\",\"amount\":1.5,"
		"\"before_balance\":0.0,\"current_balance\":1.5,\"request_transaction_id\":\"r1\"},"
		"{\"transaction_id\":8,\"kind\":\"bet\",\"state\":\"accepted\",\"timestamp\":0,"
		"\"user_id\":\"alice\",\"player_id\":\"p\",\"game_id\":\"g1\",\"bet_amount\":1.0,"
		"\"addition\":false},"
		"{\"transaction_id\":9,\"kind\":\"correction\",\"state\":\"due\",\"timestamp\":0,"
		"\"user_id\":\"alice\",\"player_id\":\"p\",\"game_id\":\"g1\",\"revision\":2,"
		"\"result\":\"loss\",\"previous_payout_amount\":3.0,\"payout_amount\":0.0,"
		"\"shortfall\":0.0,\"webhook_id\":\"betting-result-18\",\"attempts\":1}],"
		"\"next\":9,\"complete\":true}");
	ck_assert_str_eq(fake.cmds.feed.casino_id, "demo");
	ck_assert_str_eq(fake.cmds.feed.user_id, "");
	ck_assert_uint_eq(fake.cmds.feed.after, 3);
	ck_assert_uint_eq(fake.cmds.feed.limit, 10);
	ck_assert(!fake.cmds.feed.goes_on);
	ck_assert_int_eq(ask(&(struct ask){.path = HISTORY,
				 .method = "GET",
				 .body = "{\"user_id\":\"alice\",\"limit\":3," NOW}),
		200);
	ck_assert_str_eq(fake.cmds.feed.user_id, "alice");
	ck_assert_uint_eq(fake.cmds.feed.after, 0);
}
END_TEST

START_TEST(a_call_sends_a_bounded_number_of_commands)
{
	fake.results.feed.complete = false;
	ck_assert_int_eq(ask(&(struct ask){.path = FEED, .body = "{\"after\":0,\"limit\":10," NOW}),
		200);
	ck_assert_str_eq(reply_body(), "{\"items\":[],\"next\":9,\"complete\":false}");
	ck_assert_uint_eq(fake.calls[COMMAND_FEED], 16);
	ck_assert(fake.cmds.feed.goes_on);
	ck_assert_uint_eq(fake.cmds.feed.after, 9);
}
END_TEST

START_TEST(wrong_members_are_refused)
{
	static const struct {
		const char *path;
		const char *body;
	} bodies[] = {
		{FEED, "{\"after\":0,\"limit\":0," NOW},
		{FEED, "{\"after\":0,\"limit\":1001," NOW},
		{FEED, "{\"after\":0,\"limit\":1,\"wait_ms\":20001," NOW},
		{FEED, "{\"limit\":1," NOW},
		{HISTORY, "{\"user_id\":\"alice\",\"limit\":0," NOW},
		{HISTORY, "{\"limit\":1," NOW},
		{CALLBACKS, "{\"state\":\"held\",\"limit\":1}"},
		{CALLBACKS, "{\"state\":\"due\",\"limit\":0}"},
		{RESEND, "{}"},
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		ck_assert_int_eq(ask(&(struct ask){.path = bodies[i].path, .body = bodies[i].body}),
			400);
		ck_error("bad_request");
	}
	ck_assert_int_eq(ask(&(struct ask){.path = FEED,
				 .body = "{\"after\":0,\"limit\":1,\"request_timestamp\":1}"}),
		401);
	ck_assert_uint_eq(fake.calls[COMMAND_FEED], 0);
	ck_assert_uint_eq(fake.calls[COMMAND_CALLBACK_PAGE], 0);
}
END_TEST

/* Another transaction is there after some empty pages. */
static void empty_at_first(struct fake_ledger *ledger, enum command command)
{
	static const struct feed_item item = {.transaction_id = 7, .state = "done"};

	(void)ledger;
	if (command != COMMAND_FEED || !empty_pages || --empty_pages)
		return;
	pack_item(&item);
}

#define BODY_WAIT "{\"after\":0,\"limit\":10,\"wait_ms\":20000," NOW

static int ask_waiting(void)
{
	return ask_at(&(struct ask){.path = FEED, .body = BODY_WAIT}, NOW_MS, clock_boot_ms());
}

START_TEST(a_call_waits_for_an_item)
{
	service.feed_waits = &waits;
	feed_waits_init(&waits, 8);
	fake.prepare = empty_at_first;
	empty_pages = 4;
	ck_assert_int_eq(ask_waiting(), 200);
	ck_assert_ptr_nonnull(strstr(reply_body(), "\"transaction_id\":7,"));
	ck_assert_uint_eq(fake.calls[COMMAND_FEED], 4);
	/* Its place is free again. */
	for (unsigned int i = 0; i < FEED_WAITS_MAX; i++)
		ck_assert_str_eq(waits.casino_ids[i], "");
}
END_TEST

START_TEST(a_call_without_a_place_is_refused)
{
	struct feed_place place;

	service.feed_waits = &waits;
	feed_waits_init(&waits, 16);
	for (unsigned int i = 0; i < FEED_WAITS_DEALER_MAX; i++)
		ck_assert(feed_waits_take(&waits, "demo", &place));
	ck_assert(!feed_waits_take(&waits, "demo", &place));
	ck_assert_int_eq(ask_waiting(), 429);
	ck_error("rate_limited");
	ck_assert(reply_has("Retry-After: 1"));
	/* Half of 16 slots: another dealer has the rest. */
	for (unsigned int i = 0; i < 4; i++)
		ck_assert(feed_waits_take(&waits, "other", &place));
	feed_waits_give(&waits, &(struct feed_place){0, 1});
	ck_assert(feed_waits_take(&waits, "third", &place));
	/* All are taken, and no second one for the third. */
	ck_assert(!feed_waits_take(&waits, "third", &place));
	/* A worker of one request at a time has no places at all. */
	service.feed_waits = NULL;
	ck_assert_int_eq(ask_waiting(), 200);
}
END_TEST

/* The calls of some dealers do not keep another one out. */
START_TEST(a_dealer_without_a_place_gets_one)
{
	struct feed_place oldest, place, others[2];

	feed_waits_init(&waits, 8);
	ck_assert(feed_waits_take(&waits, "single", &place));
	ck_assert(feed_waits_take(&waits, "demo", &oldest));
	ck_assert(feed_waits_take(&waits, "demo", &place));
	ck_assert(feed_waits_take(&waits, "demo", &place));
	ck_assert(!feed_waits_take(&waits, "demo", &place));
	/* The oldest call of a dealer with several ends; then its next one. */
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(feed_waits_holds(&waits, &oldest) == (i == 0));
		ck_assert(feed_waits_take(&waits, i ? "third" : "second", &others[i]));
		ck_assert(feed_waits_holds(&waits, &others[i]));
		ck_assert(!feed_waits_holds(&waits, &oldest));
	}
	/* What ended gives nothing back. */
	feed_waits_give(&waits, &oldest);
	ck_assert(feed_waits_holds(&waits, &others[0]));
	/* Each dealer has one. */
	ck_assert(!feed_waits_take(&waits, "fourth", &place));
	feed_waits_give(&waits, &others[1]);
	ck_assert(!feed_waits_holds(&waits, &others[1]));
	ck_assert(feed_waits_take(&waits, "fourth", &place));
}
END_TEST

/* A waiting call whose place another dealer gets is answered without items. */
static void take_the_place(struct fake_ledger *ledger, enum command command)
{
	struct feed_place place;

	(void)ledger;
	if (command != COMMAND_FEED)
		return;
	/* A second call of the same dealer begins, and then the call of another one. */
	if (++empty_pages == 3) {
		ck_assert(feed_waits_take(&waits, "demo", &place));
		ck_assert(feed_waits_take(&waits, "other", &place));
	}
}

START_TEST(a_call_ends_when_its_place_is_needed)
{
	struct feed_place place;
	const int64_t begun_ms = clock_boot_ms();

	service.feed_waits = &waits;
	feed_waits_init(&waits, 4);
	fake.prepare = take_the_place;
	empty_pages = 0;
	ck_assert_int_eq(ask_waiting(), 200);
	ck_assert_ptr_nonnull(strstr(reply_body(), "\"items\":[]"));
	ck_assert_int_lt(clock_boot_ms() - begun_ms, FEED_WAIT_MS);
	/* The place that it held is another dealer's. */
	ck_assert(!feed_waits_take(&waits, "third", &place));
}
END_TEST

static bool always(void *context)
{
	(void)context;
	return true;
}

START_TEST(hurry_is_asked_of_the_request)
{
	struct http_request request = {.hurries = NULL};

	ck_assert(!http_request_hurries(&request));
	request.hurries = always;
	ck_assert(http_request_hurries(&request));
}
END_TEST

START_TEST(callbacks_are_listed)
{
	const struct callback_item item = {.event = 18,
		.kind = CALLBACK_BETTING_RESULT,
		.state = CALLBACK_PARKED,
		.attempts = 3,
		.created_ms = 5,
		.user_id = "alice",
		.player_id = "p",
		.game_id = "g1",
		.last_http_status = 503};

	pack_record(&packed, callback_item_fields, &item);
	fake.results.callback_page = (struct callback_page_result){.next = 18,
		.complete = true,
		.count = 1,
		.items = {packed.data, (uint32_t)packed.len}};
	ck_assert_int_eq(ask(&(struct ask){.path = CALLBACKS,
				 .body = "{\"state\":\"parked\",\"limit\":5}"}),
		200);
	ck_assert_str_eq(reply_body(),
		"{\"items\":[{\"webhook_id\":\"betting-result-18\",\"kind\":\"betting-result\","
		"\"state\":\"parked\",\"attempts\":3,\"timestamp\":5,\"next_attempt\":0,"
		"\"last_http_status\":503,\"user_id\":\"alice\",\"player_id\":\"p\","
		"\"game_id\":\"g1\"}],\"next\":18,\"complete\":true}");
	ck_assert_int_eq(fake.cmds.callback_page.state, CALLBACK_PARKED);
	ck_assert_uint_eq(fake.cmds.callback_page.limit, 5);
}
END_TEST

START_TEST(a_callback_is_asked_for)
{
	static const char body[] = "{\"webhook_id\":\"betting-result-18\"}";

	fake.results.callback_resend = (struct callback_resend_result){.resent = true,
		.state = CALLBACK_DUE,
		.attempts = 3};
	ck_assert_int_eq(ask(&(struct ask){.path = RESEND, .body = body}), 200);
	ck_assert_str_eq(reply_body(),
		"{\"webhook_id\":\"betting-result-18\",\"resent\":true,\"state\":\"due\","
		"\"attempts\":3}");
	ck_assert_uint_eq(fake.cmds.callback_resend.event, 18);
	ck_assert_uint_eq(strlen(fake.cmds.callback_resend.operation_id), OPERATION_ID_SIZE - 1);
	fake.results.callback_resend.adjusted_by = 7;
	ck_assert_int_eq(ask(&(struct ask){.path = RESEND, .body = body}), 200);
	ck_assert_ptr_nonnull(strstr(reply_body(), ",\"adjusted_by\":7}"));
	fake.results.callback_resend.verdict =
		(struct verdict){.refusal = REFUSAL_RATE_LIMITED, .retry_after_s = 290};
	ck_assert_int_eq(ask(&(struct ask){.path = RESEND, .body = body}), 429);
	ck_assert(reply_has("Retry-After: 290"));
	ck_assert_int_eq(ask(&(struct ask){.path = RESEND, .body = "{\"webhook_id\":\"18\"}"}),
		404);
	ck_error("callback_not_found");
}
END_TEST

Suite *web_feed_suite(void)
{
	Suite *suite = suite_create("feed");
	TCase *tests = tcase_create("feed");

	tcase_add_checked_fixture(tests, feed_setup, feed_teardown);
	tcase_add_test(tests, items_have_the_members_of_their_kind);
	tcase_add_test(tests, a_call_sends_a_bounded_number_of_commands);
	tcase_add_test(tests, wrong_members_are_refused);
	tcase_add_test(tests, a_call_waits_for_an_item);
	tcase_add_test(tests, a_call_without_a_place_is_refused);
	tcase_add_test(tests, a_dealer_without_a_place_gets_one);
	tcase_add_test(tests, a_call_ends_when_its_place_is_needed);
	tcase_add_test(tests, hurry_is_asked_of_the_request);
	tcase_add_test(tests, callbacks_are_listed);
	tcase_add_test(tests, a_callback_is_asked_for);
	suite_add_tcase(suite, tests);
	return suite;
}
