/*
 * Tests the replies to the ledger's answers and failures: status, headers, body.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define INQUIRE "/wallet-service/credit/transfer-inquire"

START_TEST(test_transfer)
{
	fake.results.transfer = (struct transfer_result){
		.amount = 105000,
		.before_balance = 1000,
		.currency = "thb",
		.current_balance = 106000,
		.player_id = "abcdefghijklmnopqrst",
		.request_transaction_id = "r1",
		.transaction_id = TRANSACTION_ID_MAX,
		.user_id = "al\"ice",
	};
	ck_assert_int_eq(ask(&(struct ask){.more = {"HTTP_X_REQUEST_ID=id-1"}}), 200);
	ck_assert_str_eq(reply_body(),
		"{\"amount\":10.5,\"before_balance\":0.1,\"currency\":\"thb\","
		"\"current_balance\":10.6,\"player_id\":\"abcdefghijklmnopqrst\","
		"\"request_transaction_id\":\"r1\",\"transaction_id\":9007199254740991,"
		"\"user_id\":\"al\\\"ice\"}");
	ck_assert_str_eq(reply_head(),
		"Status: 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: id-1\r\n"
		"Cache-Control: no-store\r\nContent-Length: 195\r\n\r\n");
	ck_assert_uint_eq(strlen(reply_body()), 195);
	ck_assert_int_eq(fake.cmds.transfer.kind, ENTRY_TRANSFER_IN);
	ck_assert_int_eq(fake.cmds.transfer.amount, 105000);
	ck_assert_str_eq(fake.cmds.transfer.casino_id, "demo");
	ck_assert_str_eq(fake.cmds.transfer.user_id, "alice");
	ck_assert_str_eq(fake.cmds.transfer.request_transaction_id, "r1");

	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_OUT}), 200);
	ck_assert_int_eq(fake.cmds.transfer.kind, ENTRY_TRANSFER_OUT);
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 2);
}
END_TEST

/* A2 has an amount or asks for the whole balance. */
START_TEST(test_all)
{
	static const struct {
		const char *members;
		const char *detail; /* NULL: it is accepted */
	} cases[] = {
		{"\"all\":true", NULL},
		{"\"all\":true,\"amount\":1", "amount: must be absent with all"},
		{"\"all\":false", "amount: is required"},
		{"\"other\":true", "amount: is required"},
		{"\"all\":1", "all: must be true or false"},
		{"\"amount\":1,\"all\":false", NULL},
	};
	char body[128], detail[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ask what = {.path = TRANSFER_OUT, .body = body};

		snprintf(body, sizeof(body),
			"{%s,\"request_transaction_id\":\"r1\",\"user_id\":\"alice\"}",
			cases[i].members);
		ck_assert_int_eq(ask(&what), cases[i].detail ? 400 : 200);
		if (cases[i].detail) {
			snprintf(detail, sizeof(detail), "\"detail\":\"%s\"", cases[i].detail);
			ck_assert_msg(strstr(reply_body(), detail), "%s", reply_body());
			continue;
		}
		ck_assert(fake.cmds.transfer.all == (i == 0));
		ck_assert_int_eq(fake.cmds.transfer.amount, i ? 10000 : 0);
	}
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN, .body = body}), 200);
	ck_assert(!fake.cmds.transfer.all);
}
END_TEST

static const struct ask inquiry = {
	.path = INQUIRE,
	.body = "{\"request_transaction_id\":\"r1\",\"request_timestamp\":1700000000000,"
		"\"seal\":true}",
	.more = {"HTTP_X_REQUEST_ID=id-1"},
};

static void found_transfer(enum transfer_state state)
{
	struct transfer_inquire_result *found = &fake.results.transfer_inquire;

	found->state = state;
	found->transfer = (struct transfer_result){
		.verdict = {.replay = true},
		.amount = 105000,
		.before_balance = 1000,
		.currency = "thb",
		.current_balance = 106000,
		.player_id = "abcdefghijklmnopqrst",
		.request_transaction_id = "r1",
		.transaction_id = 17,
		.user_id = "al\"ice",
	};
	if (state != TRANSFER_REFUSED)
		return;
	memset(&found->transfer, 0, sizeof(found->transfer));
	found->transfer.verdict = (struct verdict){.refusal = REFUSAL_INSUFFICIENT_BALANCE,
		.replay = true,
		.current_balance = 25000};
}

/* The transfer's answer and its error are the bytes of a replay. */
START_TEST(test_inquiry)
{
	static const char *const states[] = {"unknown", "done", "refused", "sealed"};
	char replay[512], expected[768];

	for (enum transfer_state state = 0; state < TRANSFER_STATE_COUNT; state++) {
		fake_lock(&fake);
		found_transfer(state);
		fake.results.transfer = fake.results.transfer_inquire.transfer;
		fake_unlock(&fake);
		ask(&(struct ask){.more = {"HTTP_X_REQUEST_ID=id-1"}});
		text_copy(replay, sizeof(replay), reply_body());
		snprintf(expected, sizeof(expected),
			"{\"request_transaction_id\":\"r1\",\"state\":\"%s\"%s%s}", states[state],
			state == TRANSFER_DONE              ? ",\"transfer\":"
				: state == TRANSFER_REFUSED ? ",\"error\":"
							    : "",
			state == TRANSFER_DONE || state == TRANSFER_REFUSED ? replay : "");
		ck_assert_int_eq(ask(&inquiry), 200);
		ck_assert_str_eq(reply_body(), expected);
		ck_assert(!strstr(reply_head(), "X-Idempotent-Replay"));
		ck_assert_str_eq(fake.cmds.transfer_inquire.casino_id, "demo");
		ck_assert_str_eq(fake.cmds.transfer_inquire.request_transaction_id, "r1");
		ck_assert(fake.cmds.transfer_inquire.seal);
	}
	ck_assert_int_eq(ask(&(struct ask){.method = "GET",
				 .path = INQUIRE,
				 .body = "{\"request_transaction_id\":\"r1\","
					 "\"request_timestamp\":1700000000000}"}),
		200);
	ck_assert(!fake.cmds.transfer_inquire.seal);
}
END_TEST

/* The second answer has the user_id. */
static void settle_inquiry(struct fake_ledger *ledger, enum command command)
{
	if (command == COMMAND_TRANSFER_INQUIRE)
		ledger->results.transfer_inquire.again =
			ledger->calls[COMMAND_TRANSFER_INQUIRE] < 2;
}

START_TEST(test_inquiry_again)
{
	found_transfer(TRANSFER_DONE);
	fake.prepare = settle_inquiry;
	ck_assert_int_eq(ask(&inquiry), 200);
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER_INQUIRE], 2);
	fake.prepare = NULL;
	fake.results.transfer_inquire.again = true;
	ck_assert_int_eq(ask(&inquiry), 503);
	ck_error("service_unavailable");
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER_INQUIRE], 5);
}
END_TEST

/* A lost answer may have been that of a seal. */
START_TEST(test_inquiry_lost)
{
	service.ledger_deadline_ms = 300;
	fake.acts[COMMAND_TRANSFER_INQUIRE] = FAKE_CUT;
	ck_assert_int_eq(ask(&inquiry), 500);
	ck_error("internal_error");
	ck_assert_int_eq(ask(&(struct ask){.path = INQUIRE,
				 .body = "{\"request_transaction_id\":\"r1\","
					 "\"request_timestamp\":1700000000000}"}),
		503);
	ck_error("service_unavailable");
}
END_TEST

START_TEST(test_balance)
{
	fake.results.balance = (struct balance_result){
		.user_id = "alice",
		.player_id = "abcdefghijklmnopqrst",
		.balance = MONEY_MAX,
		.staked = 25,
		.currency = "eur",
	};
	ck_assert_int_eq(ask(&(struct ask){.method = "GET", .path = BALANCE, .body = BODY_BALANCE}),
		200);
	ck_assert_str_eq(reply_body(),
		"{\"user_id\":\"alice\",\"player_id\":\"abcdefghijklmnopqrst\","
		"\"balance\":99999999999.9999,\"currency\":\"eur\",\"staked\":0.0025}");
	ck_assert_str_eq(fake.cmds.balance.casino_id, "demo");
	ck_assert_str_eq(fake.cmds.balance.user_id, "alice");
}
END_TEST

/* The longest ids, with every byte escaped, fit. */
START_TEST(test_longest_answer)
{
	memset(fake.results.transfer.user_id, '"', EXTERNAL_ID_SIZE - 1);
	memset(fake.results.transfer.request_transaction_id, '\\', EXTERNAL_ID_SIZE - 1);
	memset(fake.results.transfer.player_id, '\x01', PLAYER_ID_SIZE - 1);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 200);
	ck_assert(strstr(reply_body(), "\\u0001"));
	ck_assert_int_eq(reply_body()[worker.reply.body.len - 1], '}');
}
END_TEST

START_TEST(test_replay)
{
	fake.results.transfer.verdict.replay = true;
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 200);
	ck_assert(reply_has("X-Idempotent-Replay: true"));

	/* A recorded refusal is repeated unchanged, with the balance of its time. */
	fake_lock(&fake);
	fake.results.transfer.verdict.refusal = REFUSAL_INSUFFICIENT_BALANCE;
	fake.results.transfer.verdict.current_balance = 25000;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_OUT}), 402);
	ck_error("insufficient_balance");
	ck_assert(strstr(reply_body(), "\"current_balance\":2.5"));
	ck_assert(reply_has("X-Idempotent-Replay: true"));
	ck_assert(strstr(reply_head(), "Status: 402 Payment Required\r\n") == reply_head());

	/* Nothing remains in the next reply. */
	ck_assert_int_eq(ask(&(struct ask){.path = "/nowhere"}), 404);
	ck_assert(strstr(reply_head(), "Replay") == NULL);
	ck_assert(strstr(reply_body(), "current_balance") == NULL);
}
END_TEST

START_TEST(test_verdicts)
{
	static const struct {
		enum refusal refusal;
		uint32_t retry_after_s;
		int code;
		const char *header;
	} cases[] = {
		{REFUSAL_INVALID_AMOUNT, 0, 400, NULL},
		{REFUSAL_DEALER_SUSPENDED, 0, 403, NULL},
		{REFUSAL_USER_SUSPENDED, 0, 403, NULL},
		{REFUSAL_USER_NOT_FOUND, 0, 404, NULL},
		{REFUSAL_TRANSACTION_CONFLICT, 0, 409, NULL},
		{REFUSAL_WRONG_WALLET_MODE, 0, 409, NULL},
		{REFUSAL_BALANCE_LIMIT, 0, 409, NULL},
		{REFUSAL_RATE_LIMITED, 7, 429, "Retry-After: 7"},
		{REFUSAL_RATE_LIMITED, 0, 429, "Retry-After: 1"},
		{REFUSAL_STORAGE_FULL, 0, 503, "Retry-After: 1"},
		{REFUSAL_SERVICE_UNAVAILABLE, 3, 503, "Retry-After: 3"},
		/* A deleted dealer is an unknown caller. */
		{REFUSAL_DEALER_NOT_FOUND, 0, 401, NULL},
	};
	char id[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_lock(&fake);
		fake.results.transfer.verdict.refusal = cases[i].refusal;
		fake.results.transfer.verdict.retry_after_s = cases[i].retry_after_s;
		fake_unlock(&fake);
		ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), cases[i].code);
		if (cases[i].code != 401) {
			snprintf(id, sizeof(id), "{\"id\":\"%s\",",
				refusal_info(cases[i].refusal)->id);
			ck_assert_str_eq(strstr(reply_body(), id), reply_body());
		} else {
			ck_error("invalid_signature");
		}
		if (cases[i].header)
			ck_assert_msg(reply_has(cases[i].header), "%s", reply_head());
		else
			ck_assert(strstr(reply_head(), "Retry-After") == NULL);
	}
}
END_TEST

START_TEST(test_verdict_details)
{
	fake.results.transfer.verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
	text_copy(fake.results.transfer.verdict.field, sizeof(fake.results.transfer.verdict.field),
		"amount");
	text_copy(fake.results.transfer.verdict.detail,
		sizeof(fake.results.transfer.verdict.detail), "it differs");
	ck_assert_int_eq(ask(&(struct ask){.more = {"HTTP_X_REQUEST_ID=q"}}), 409);
	ck_assert(strstr(reply_body(), "\"detail\":\"it differs\""));
	ck_assert(strstr(reply_body(), "\"field\":\"amount\""));
	ck_assert(strstr(reply_body(), "\"request_id\":\"q\""));
	ck_assert(strstr(reply_body(), "\"status\":\"Conflict\""));
}
END_TEST

START_TEST(test_decimals_detail)
{
	fake.results.transfer.verdict.refusal = REFUSAL_INVALID_AMOUNT;
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_OUT}), 400);
	ck_error("invalid_amount");
	ck_assert(strstr(reply_body(), "\"detail\":\"amount: more decimals than the dealer has\""));
	fake_lock(&fake);
	text_copy(fake.results.transfer.verdict.detail,
		sizeof(fake.results.transfer.verdict.detail), "because");
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 400);
	ck_assert(strstr(reply_body(), "\"detail\":\"because\""));
}
END_TEST

START_TEST(test_body_details)
{
	ck_assert_int_eq(ask(&(struct ask){.body = "{\"amount\":1,\"user_id\":\"a\"}"}), 400);
	ck_error("bad_request");
	ck_assert(strstr(reply_body(), "request_transaction_id"));
	ck_assert_int_eq(ask(&(struct ask){.body = "{\"amount\":0,\"user_id\":\"a\","
						   "\"request_transaction_id\":\"r\"}"}),
		400);
	ck_error("invalid_amount");
	ck_assert_int_eq(ask(&(struct ask){.body = "[]"}), 400);
	ck_error("bad_request");
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 0);
}
END_TEST

/* Internal failures (contract, "Error ids": 503 promises that nothing moved). */
static const struct {
	enum command command; /* the command that fails */
	enum fake_act act;
	const char *path, *body;
	int code;
	bool retry;
} failures[] = {
	{COMMAND_KEYRING, FAKE_SILENT, TRANSFER_IN, BODY_TRANSFER, 503, true},
	{COMMAND_KEYRING, FAKE_CUT, TRANSFER_IN, BODY_TRANSFER, 503, true},
	{COMMAND_KEYRING, FAKE_BUSY, TRANSFER_IN, BODY_TRANSFER, 503, true},
	{COMMAND_KEYRING, FAKE_FAULT, TRANSFER_IN, BODY_TRANSFER, 500, true},
	{COMMAND_KEYRING, FAKE_FORBIDDEN, TRANSFER_IN, BODY_TRANSFER, 500, true},
	{COMMAND_TRANSFER, FAKE_SILENT, TRANSFER_IN, BODY_TRANSFER, 500, true},
	{COMMAND_TRANSFER, FAKE_CUT, TRANSFER_OUT, BODY_TRANSFER, 500, true},
	{COMMAND_TRANSFER, FAKE_BUSY, TRANSFER_IN, BODY_TRANSFER, 503, true},
	{COMMAND_TRANSFER, FAKE_FAULT, TRANSFER_IN, BODY_TRANSFER, 500, true},
	{COMMAND_TRANSFER, FAKE_FORBIDDEN, TRANSFER_IN, BODY_TRANSFER, 500, true},
	{COMMAND_BALANCE, FAKE_SILENT, BALANCE, BODY_BALANCE, 503, true},
	{COMMAND_BALANCE, FAKE_CUT, BALANCE, BODY_BALANCE, 503, true},
	{COMMAND_BALANCE, FAKE_BUSY, BALANCE, BODY_BALANCE, 503, true},
	{COMMAND_BALANCE, FAKE_FAULT, BALANCE, BODY_BALANCE, 500, true},
};

START_TEST(test_failures)
{
	int64_t start_ms = clock_boot_ms();

	fake.acts[failures[_i].command] = failures[_i].act;
	service.ledger_deadline_ms = 1000;
	ck_assert_int_eq(ask(&(struct ask){.path = failures[_i].path, .body = failures[_i].body}),
		failures[_i].code);
	if (failures[_i].code == 503)
		ck_error("service_unavailable");
	else
		ck_error("internal_error");
	ck_assert_int_eq(reply_has("Retry-After: 1"), failures[_i].retry);
	ck_assert(!worker.ended);
	ck_assert_int_lt(clock_boot_ms() - start_ms, 4000);
	if (failures[_i].command == COMMAND_KEYRING)
		ck_assert_uint_eq(signatures, 0);
}
END_TEST

START_TEST(test_wallet_knows_after_failure)
{
	/* The thread's connection works again as soon as the ledger does. */
	service.ledger_deadline_ms = 1000;
	fake_lock(&fake);
	fake.acts[COMMAND_TRANSFER] = FAKE_CUT;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 500);
	fake_lock(&fake);
	fake.acts[COMMAND_TRANSFER] = FAKE_ANSWER;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 200);
}
END_TEST

START_TEST(test_no_ledger)
{
	service.ledger_deadline_ms = 100;
	ck_assert(text_copy(worker.link.path, sizeof(worker.link.path), "/proc/none/edge.sock"));
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 503);
	ck_error("service_unavailable");
	ck_assert(reply_has("Retry-After: 1"));
	ck_assert(!worker.ended);
	/* Requests that need no ledger are answered as usual. */
	ck_assert_int_eq(ask(&(struct ask){.path = "/nowhere"}), 404);
}
END_TEST

START_TEST(test_other_protocol)
{
	fake.protocol_xor = 1;
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 503);
	ck_error("service_unavailable");
	ck_assert(worker.ended);
	ck_assert_uint_eq(fake.calls[COMMAND_KEYRING], 0);
}
END_TEST

Suite *web_replies_suite(void)
{
	const TTest *const tests[] = {test_transfer, test_all, test_inquiry, test_inquiry_again,
		test_inquiry_lost, test_balance, test_longest_answer, test_replay, test_verdicts,
		test_verdict_details, test_decimals_detail, test_body_details,
		test_wallet_knows_after_failure, test_no_ledger, test_other_protocol};
	Suite *suite = suite_create("web_replies");
	TCase *tcase = tcase_create("replies");

	tcase_add_checked_fixture(tcase, web_case_setup, web_case_teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_loop_test(tcase, test_failures, 0, sizeof(failures) / sizeof(failures[0]));
	suite_add_tcase(suite, tcase);
	return suite;
}
