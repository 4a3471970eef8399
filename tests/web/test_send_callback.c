/*
 * Tests group C's callbacks: under a permit of the ledger, the worker sends them to a real server
 * on the loopback interface. It reports the outcome to the ledger and to the game service.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/text.h"
#include "tiny_dealer.h"

#include <stdio.h>
#include <string.h>

#define BALANCE_OF(currency)                                                                       \
	"{\"user_id\":\"alice\",\"balance\":12.5,\"currency\":\"" currency "\"}"
#define NO_CREDIT "{\"id\":\"no_credit\",\"detail\":\"none left\"}"
#define B2_BODY   "{\"user_bet\":{ \"red\" : 0.1 }}"

static struct tiny_dealer dealer;
static const struct ask bet = {.path = "/platform/bets",
	.body = "{\"request_transaction_id\":\"b\",\"player_id\":\"p\",\"game_id\":\"g\","
		"\"bet_amount\":1}",
	.more = {"HTTP_X_REQUEST_ID=req-1"}};
static const struct ask result = {.path = "/platform/results",
	.body = "{\"request_transaction_id\":\"r\",\"player_id\":\"p\",\"game_id\":\"g\","
		"\"result\":\"loss\"}"};
static const struct ask inquiry = {.path = "/platform/balance", .body = "{\"player_id\":\"p\"}"};

static void fill_grant(struct callback_grant *grant, enum callback_kind kind, const char *body)
{
	memset(grant, 0, sizeof(*grant));
	grant->event = 17;
	grant->kind = kind;
	grant->attempt = 1;
	grant->lease_left_ms = 10000;
	snprintf(grant->target.url, sizeof(grant->target.url), "http://127.0.0.1:%d", dealer.port);
	text_copy(grant->target.path, sizeof(grant->target.path), "/there");
	grant->target.allow_http = true;
	text_copy(grant->target.signing_key_id, KEY_ID_SIZE, "k1");
	text_copy(grant->target.keys[0].key_id, KEY_ID_SIZE, "k1");
	text_copy(grant->target.keys[0].secret, KEY_SECRET_SIZE, KEY_OTHER);
	grant->body = (struct bytes){(const uint8_t *)body, (uint32_t)strlen(body)};
}

static void prepare(void)
{
	tiny_init(&dealer);
	tiny_start(&dealer);
	web_case_platform();
	fill_grant(&fake.results.bet_place.send, CALLBACK_BETTING, B2_BODY);
	fake.results.bet_place.verdict.refusal = REFUSAL_BET_IN_PROGRESS;
	fake.results.bet_place.bet.transaction_id = 5;
	fake.results.callback_end.bet =
		(struct bet_answer){.transaction_id = 5, .state = BET_ACCEPTED};
	fill_grant(&fake.results.round_settle.send, CALLBACK_BETTING_RESULT, "{}");
	fake.results.round_settle.event = 17;
	fake.results.round_settle.callback_state = CALLBACK_SENDING;
	fake.results.round_settle.callback_attempts = 1;
	fill_grant(&fake.results.player_balance.send, CALLBACK_BALANCE_INQUIRE, "{}");
	fake.results.player_balance.mode = WALLET_SEAMLESS;
	text_copy(fake.results.player_balance.player_id, PLAYER_ID_SIZE, "abcdefghijklmnopqrst");
	text_copy(fake.results.player_balance.user_id, EXTERNAL_ID_SIZE, "alice");
	text_copy(fake.results.player_balance.casino_id, CASINO_ID_SIZE, "demo");
	text_copy(fake.results.player_balance.currency, CURRENCY_SIZE, "thb");
}

static void clean(void)
{
	web_case_teardown();
	tiny_stop(&dealer);
}

/* Restarts the worker with other timeouts. */
static void restart(uint32_t callback_ms, uint32_t ledger_ms)
{
	worker_free(&worker);
	service.callbacks.total_timeout_ms = callback_ms;
	service.ledger_deadline_ms = ledger_ms;
	ck_assert(worker_init(&worker, &service));
}

/* Sets the dealer's next answers. */
static void dealer_will(enum tiny_act act, int status, const char *body)
{
	tiny_lock(&dealer);
	dealer.act = act;
	dealer.status = status;
	dealer.body = body;
	tiny_unlock(&dealer);
}

static unsigned int asked(void)
{
	unsigned int requests;

	tiny_lock(&dealer);
	requests = dealer.requests;
	tiny_unlock(&dealer);
	return requests;
}

static unsigned int ends(void)
{
	unsigned int calls;

	fake_lock(&fake);
	calls = fake.calls[COMMAND_CALLBACK_END];
	fake_unlock(&fake);
	return calls;
}

START_TEST(test_request)
{
	const struct callback_end_cmd *end = &fake.cmds.callback_end;

	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_str_eq(reply_body(), "{\"transaction_id\":5,\"state\":\"accepted\"}");
	ck_assert(strstr(reply_head(), "Replay") == NULL);
	ck_assert_uint_eq(asked(), 1);
	ck_assert_str_eq(dealer.text, B2_BODY);
	ck_assert_ptr_eq(strstr(dealer.head, "POST /there HTTP/1.1\r\n"), dealer.head);
	ck_assert(strstr(dealer.head, "\r\nwebhook-id: betting-17\r\n"));
	ck_assert(strstr(dealer.head, "\r\nx-casino-signature: "));
	ck_assert(strstr(dealer.head, KEY_OTHER) == NULL);
	ck_assert_uint_eq(ends(), 1);
	ck_assert_uint_eq(end->event, 17);
	ck_assert_int_eq(end->kind, CALLBACK_BETTING);
	ck_assert_uint_eq(end->attempt, 1);
	ck_assert_int_eq(end->outcome.class, CALLBACK_SUCCESS);
	ck_assert_uint_eq(end->outcome.http_status, 200);

	/* The connection is kept for the next one. */
	ck_assert_int_eq(ask(&result), 200);
	ck_assert_uint_eq(asked(), 2);
	ck_assert_uint_eq(dealer.connections, 1);
}
END_TEST

/* The outcome of B2 as the ledger judges it. */
START_TEST(test_bet_answers)
{
	static const struct {
		enum refusal refusal;
		enum bet_state state;
		int code;
		const char *text;
	} cases[] = {
		{REFUSAL_NONE, BET_ACCEPTED, 200, "\"balance\":3.5}"},
		{REFUSAL_BET_REJECTED, BET_REJECTED, 409,
			"\"dealer_error\":{\"id\":\"no_credit\",\"detail\":\"none left\"}"},
		{REFUSAL_DEALER_UNREACHABLE, BET_REJECTED, 502, "\"id\":\"dealer_unreachable\""},
		{REFUSAL_DEALER_TIMEOUT, BET_REFUNDING, 504, "\"state\":\"refunding\""},
		{REFUSAL_DEALER_TIMEOUT, BET_REFUNDED, 504, "\"state\":\"refunded\""},
		/* This is never an answer over HTTP. */
		{REFUSAL_CALLBACK_NOT_FOUND, BET_PENDING, 500, "\"id\":\"internal_error\""},
		/* The dealer's answer could not be stored: it is not known that nothing moved. */
		{REFUSAL_STORAGE_FULL, BET_PENDING, 500, "\"id\":\"internal_error\""},
	};
	struct callback_end_result *end = &fake.results.callback_end;

	text_copy(end->bet.dealer_error_id, DEALER_ERROR_ID_SIZE, "no_credit");
	text_copy(end->bet.dealer_error_detail, DEALER_ERROR_TEXT_SIZE, "none left");
	end->bet.has_balance = true;
	end->bet.balance = 35000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_lock(&fake);
		end->verdict.refusal = cases[i].refusal;
		end->bet.state = cases[i].state;
		fake_unlock(&fake);
		ck_assert_int_eq(ask(&bet), cases[i].code);
		ck_assert_msg(strstr(reply_body(), cases[i].text), "%s", reply_body());
	}
}
END_TEST

/* The dealer's action as reported to the ledger: contract, "Answers of a dealer". */
START_TEST(test_outcomes)
{
	static const struct {
		enum tiny_act act;
		int status;
		const char *body;
		enum callback_class class;
	} cases[] = {
		{TINY_ANSWER, 200, "", CALLBACK_SUCCESS},
		{TINY_ANSWER, 200, BALANCE_OF("thb"), CALLBACK_SUCCESS},
		{TINY_ANSWER, 200, NO_CREDIT, CALLBACK_REFUSED},
		{TINY_ANSWER, 400, NO_CREDIT, CALLBACK_REFUSED},
		{TINY_ANSWER, 404, "<html>", CALLBACK_REFUSED},
		{TINY_ANSWER, 500, NO_CREDIT, CALLBACK_UNKNOWN},
		{TINY_ANSWER, 302, "", CALLBACK_UNKNOWN},
		{TINY_ANSWER, 200, "OK", CALLBACK_UNKNOWN},
		{TINY_CUT, 0, "", CALLBACK_UNKNOWN},
		{TINY_HANG, 0, "", CALLBACK_UNKNOWN},
	};

	restart(3000, 5000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* Only a dealer that hangs reaches the time limit. */
		if (cases[i].act == TINY_HANG)
			restart(300, 2000);
		dealer_will(cases[i].act, cases[i].status, cases[i].body);
		ck_assert_int_eq(ask(&bet), 200);
		ck_assert_msg(fake.cmds.callback_end.outcome.class == cases[i].class, "case %zu",
			i);
	}
	ck_assert_uint_eq(asked(), sizeof(cases) / sizeof(cases[0]));
	ck_assert_uint_eq(ends(), sizeof(cases) / sizeof(cases[0]));
}
END_TEST

START_TEST(test_not_sent)
{
	/* No process listens on port 1. */
	text_copy(fake.results.bet_place.send.target.url, URL_SIZE, "http://127.0.0.1:1");
	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_int_eq(fake.cmds.callback_end.outcome.class, CALLBACK_NOT_SENT);
	/* An address that is not allowed. */
	worker_free(&worker);
	service.callbacks.network_count = 0;
	ck_assert(worker_init(&worker, &service));
	fake_lock(&fake);
	fill_grant(&fake.results.bet_place.send, CALLBACK_BETTING, B2_BODY);
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_int_eq(fake.cmds.callback_end.outcome.class, CALLBACK_NOT_SENT);
	ck_assert(strstr(fake.cmds.callback_end.outcome.note, "callback_networks"));
	ck_assert_uint_eq(asked(), 0);
}
END_TEST

/* Nothing is sent if the call could outlast the lease. */
START_TEST(test_fence)
{
	restart(3000, 2000);
	fake_lock(&fake);
	fake.results.bet_place.send.lease_left_ms = 3000 + CALLBACK_FENCE_SPARE_MS - 1;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_uint_eq(asked(), 0);
	ck_assert_int_eq(fake.cmds.callback_end.outcome.class, CALLBACK_NOT_SENT);
	ck_assert_str_eq(fake.cmds.callback_end.outcome.note, "fence");
	fake_lock(&fake);
	fake.results.bet_place.send.lease_left_ms = 3000 + CALLBACK_FENCE_SPARE_MS + 2000;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_uint_eq(asked(), 1);
	ck_assert_int_eq(fake.cmds.callback_end.outcome.class, CALLBACK_SUCCESS);
}
END_TEST

/* The report to the ledger fails: the bet's outcome is unknown although the dealer accepted. */
START_TEST(test_ledger_away)
{
	restart(1000, 300);
	fake.acts[COMMAND_CALLBACK_END] = FAKE_SILENT;
	ck_assert_int_eq(ask(&bet), 500);
	ck_error("internal_error");
	ck_assert(reply_has("Retry-After: 1"));
	/* Not 503 either, although the ledger certainly did not receive the report. */
	fake_lock(&fake);
	fake.acts[COMMAND_CALLBACK_END] = FAKE_BUSY;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bet), 500);
	ck_error("internal_error");
	ck_assert_uint_eq(asked(), 2);
	/* The round is settled all the same, and the balance is the dealer's. */
	ck_assert_int_eq(ask(&result), 200);
	ck_assert_msg(strstr(reply_body(), "\"callback\":{\"state\":\"sending\",\"attempts\":1}}"),
		"%s", reply_body());
	dealer_will(TINY_ANSWER, 200, BALANCE_OF("thb"));
	ck_assert_int_eq(ask(&inquiry), 200);
	ck_assert(strstr(reply_body(), "\"balance\":12.5"));
	ck_assert_uint_eq(asked(), 4);
}
END_TEST

/* Called with the lock held. */
static void room_at_third(struct fake_ledger *ledger, enum command command)
{
	if (command == COMMAND_CALLBACK_END && ledger->calls[command] == 3)
		ledger->acts[command] = FAKE_ANSWER;
}

/* The dealer accepted. If the ledger is briefly busy, the report is repeated. */
START_TEST(test_ledger_busy)
{
	fake_lock(&fake);
	fake.acts[COMMAND_CALLBACK_END] = FAKE_BUSY;
	fake.prepare = room_at_third;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_uint_eq(ends(), 3);
	ck_assert_uint_eq(asked(), 1);
}
END_TEST

/* Time spent at the dealer does not reduce the time for the ledger. */
START_TEST(test_slow_dealer)
{
	restart(3000, 1000);
	tiny_lock(&dealer);
	dealer.delay_ms = 1200;
	tiny_unlock(&dealer);
	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_uint_eq(ends(), 1);
	ck_assert_uint_ge(fake.cmds.callback_end.outcome.ms, 1190);
}
END_TEST

START_TEST(test_result_states)
{
	static const struct {
		enum callback_state state;
		uint32_t attempts;
		const char *text;
	} cases[] = {
		{CALLBACK_DELIVERED, 1, "\"callback\":{\"state\":\"delivered\",\"attempts\":1}}"},
		{CALLBACK_DUE, 1, "\"callback\":{\"state\":\"due\",\"attempts\":1}}"},
		{CALLBACK_PARKED, 3, "\"callback\":{\"state\":\"parked\",\"attempts\":3}}"},
	};
	struct callback_end_result *end = &fake.results.callback_end;

	fake.results.round_settle.bet_amount = 10000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dealer_will(TINY_ANSWER, i ? 500 : 200, "");
		fake_lock(&fake);
		end->state = cases[i].state;
		end->attempts = cases[i].attempts;
		fake_unlock(&fake);
		ck_assert_int_eq(ask(&result), 200);
		ck_assert_msg(strstr(reply_body(), cases[i].text), "%s", reply_body());
		ck_assert(strstr(reply_body(), "\"bet_amount\":1.0"));
		ck_assert_int_eq(fake.cmds.callback_end.outcome.class,
			i ? CALLBACK_UNKNOWN : CALLBACK_SUCCESS);
	}
	/* A missing row proves nothing. */
	fake_lock(&fake);
	end->verdict.refusal = REFUSAL_CALLBACK_NOT_FOUND;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&result), 200);
	ck_assert(strstr(reply_body(), "\"state\":\"sending\""));
	/* Refused, although the result contains a permit: nothing is sent. */
	fake_lock(&fake);
	fake.results.round_settle.verdict.refusal = REFUSAL_ALREADY_SETTLED;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&result), 409);
	ck_assert_uint_eq(asked(), 4);
}
END_TEST

/* B1: contract, "Players and balances" and "Answers of a dealer". */
START_TEST(test_inquiry)
{
	static const struct {
		enum tiny_act act;
		int status;
		const char *body;
		int code;
		const char *text;
	} cases[] = {
		{TINY_ANSWER, 200, BALANCE_OF("thb"), 200,
			"{\"player_id\":\"abcdefghijklmnopqrst\",\"user_id\":\"alice\","
			"\"balance\":12.5,\"currency\":\"thb\"}"},
		{TINY_ANSWER, 200, BALANCE_OF("eur"), 502, "\"id\":\"dealer_bad_answer\""},
		{TINY_ANSWER, 200, "{\"user_id\":\"bob\",\"balance\":12.5,\"currency\":\"thb\"}",
			502, "\"id\":\"dealer_bad_answer\""},
		{TINY_ANSWER, 200,
			"{\"user_id\":\"alice\",\"balance\":0.00001,\"currency\":\"thb\"}", 502,
			"\"id\":\"dealer_bad_answer\""},
		{TINY_ANSWER, 200, "", 502, "\"id\":\"dealer_bad_answer\""},
		{TINY_ANSWER, 400, NO_CREDIT, 409,
			"\"dealer_error\":{\"id\":\"no_credit\",\"detail\":\"none left\"}"},
		{TINY_ANSWER, 403, "no", 409, "\"dealer_error\":{\"id\":\"\",\"detail\":\"\"}"},
		{TINY_ANSWER, 500, "", 504,
			"\"id\":\"dealer_timeout\",\"code\":504,\"status\":\"Gateway Timeout\","
			"\"detail\":\"the dealer's answer cannot be used (HTTP status 500)\""},
		{TINY_ANSWER, 200, "OK", 504, "\"retryable\":true"},
		{TINY_HANG, 0, "", 504, "\"detail\":\"the dealer did not answer\""},
	};
	const struct callback_end_cmd *end = &fake.cmds.callback_end;

	restart(300, 2000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dealer_will(cases[i].act, cases[i].status, cases[i].body);
		ck_assert_msg(ask(&inquiry) == cases[i].code, "case %zu: %s", i, reply_body());
		ck_assert_msg(strstr(reply_body(), cases[i].text), "case %zu: %s", i, reply_body());
		ck_assert_int_eq(reply_has("Retry-After: 1"), cases[i].code == 504);
		/* The permit is returned. */
		ck_assert_uint_eq(ends(), i + 1);
		ck_assert_str_eq(end->casino_id, "demo");
		ck_assert_int_eq(end->kind, CALLBACK_BALANCE_INQUIRE);
		ck_assert_uint_eq(end->event, 17);
	}
	fake_lock(&fake);
	text_copy(fake.results.player_balance.send.target.url, URL_SIZE, "http://127.0.0.1:1");
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&inquiry), 502);
	ck_error("dealer_unreachable");
	ck_assert(strstr(reply_head(), "Retry-After") == NULL);
	/* Without a permit to ask the dealer, the ledger's own number is not the balance. */
	fake_lock(&fake);
	fake.results.player_balance.send.event = 0;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&inquiry), 500);
	ck_error("internal_error");
}
END_TEST

/* Unusable members of an answer are dropped and noted (contract, "Answers of a dealer"). */
START_TEST(test_dropped_members)
{
	const struct callback_outcome *outcome = &fake.cmds.callback_end.outcome;

	dealer_will(TINY_ANSWER, 200, "{\"balance\":\"much\",\"currency\":7}");
	ck_assert_int_eq(ask(&bet), 200);
	ck_assert_int_eq(outcome->class, CALLBACK_SUCCESS);
	ck_assert(!outcome->has_balance);
	ck_assert_str_eq(outcome->note, "not usable in the answer: balance, currency");
	ck_assert_str_eq(reply_body(), "{\"transaction_id\":5,\"state\":\"accepted\"}");
}
END_TEST

Suite *web_send_callback_suite(void)
{
	const TTest *const tests[] = {test_request, test_bet_answers, test_outcomes, test_not_sent,
		test_fence, test_ledger_away, test_ledger_busy, test_slow_dealer,
		test_result_states, test_inquiry, test_dropped_members};
	Suite *suite = suite_create("web_send_callback");
	TCase *tcase = tcase_create("callbacks");

	tcase_set_timeout(tcase, 20);
	tcase_add_checked_fixture(tcase, prepare, clean);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
