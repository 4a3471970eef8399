/*
 * Tests serve(): the order of checks, authentication, and the replies to the ledger's answers.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/text.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

static char body_large[BODY_MAX + 2];

/*
 * The checks in their order (contract, "Order of checks"): the first of several faults is reported.
 */
START_TEST(test_order_of_checks)
{
	static const char *const expected[] = {"not_found", "method_not_allowed",
		"payload_too_large", "invalid_signature", "bad_request", "stale_request",
		"user_not_found", ""};
	char id[64];

	memset(body_large, ' ', sizeof(body_large) - 1);
	fake.results.balance.verdict.refusal = REFUSAL_USER_NOT_FOUND;
	for (int good = 0; good < 8; good++) {
		struct ask what = {
			.path = good > 0 ? BALANCE : "/nowhere",
			.method = good > 1 ? "GET" : "PUT",
			.key = good > 3 ? KEY_ONE : KEY_OTHER,
			.body = good > 5   ? BODY_BALANCE
				: good > 4 ? "{\"user_id\":\"alice\",\"request_timestamp\":1}"
				: good > 2 ? "{\"user_id\":17}"
					   : body_large,
		};

		if (good == 7) {
			fake_lock(&fake);
			fake.results.balance.verdict.refusal = REFUSAL_NONE;
			fake_unlock(&fake);
			ck_assert_int_eq(ask(&what), 200);
			continue;
		}
		ask(&what);
		snprintf(id, sizeof(id), "{\"id\":\"%s\",", expected[good]);
		ck_assert_msg(strncmp(reply_body(), id, strlen(id)) == 0, "%d: expected %s, got %s",
			good, expected[good], reply_body());
		ck_assert_uint_eq(fake.calls[COMMAND_BALANCE], good == 6);
	}
}
END_TEST

START_TEST(test_methods)
{
	static const struct {
		const char *method, *path, *allow;
	} cases[] = {
		{"GET", TRANSFER_IN, "Allow: POST"},
		{"HEAD", TRANSFER_OUT, "Allow: POST"},
		{"post", TRANSFER_IN, "Allow: POST"},
		{"-", TRANSFER_IN, "Allow: POST"},
		{"HEAD", BALANCE, "Allow: GET, POST"},
		{"DELETE", BALANCE, "Allow: GET, POST"},
		{"OPTIONS", BALANCE, "Allow: GET, POST"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ask what = {.method = cases[i].method, .path = cases[i].path};

		ck_assert_int_eq(ask(&what), 405);
		ck_error("method_not_allowed");
		ck_assert(reply_has(cases[i].allow));
		ck_assert_uint_eq(signatures, 0);
	}
	ck_assert_int_eq(ask(&(struct ask){.method = "GET", .path = BALANCE, .body = BODY_BALANCE}),
		200);
	ck_assert(strstr(reply_head(), "Allow") == NULL);
	ck_assert_int_eq(ask(&(struct ask){.path = BALANCE, .body = BODY_BALANCE}), 200);
}
END_TEST

START_TEST(test_groups)
{
	ck_assert_int_eq(ask(&(struct ask){.method = "GET", .path = "/healthz"}), 404);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN "/"}), 404);
	ck_assert_int_eq(ask(&(struct ask){.path = "/Wallet-service/credit/transfer-in"}), 404);
	ck_assert_int_eq(ask(&(struct ask){.path = "-"}), 404);
	service.group = SERVE_PLATFORM;
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 404);
	ck_error("not_found");
	ck_assert_int_eq(ask(&(struct ask){.path = BALANCE, .body = BODY_BALANCE}), 404);
	ck_assert_int_eq(ask(&(struct ask){.path = "/healthz"}), 405);
	ck_assert(reply_has("Allow: GET"));
	ck_assert_int_eq(ask(&(struct ask){.method = "GET", .path = "/healthz", .caller = "-"}),
		200);
	ck_assert_str_eq(reply_body(), "{\"status\":\"ok\"}");
	/*
	 * Even under overload: a supervisor that restarts the worker after a 503 would break
	 * calls to dealers.
	 */
	ck_assert_int_eq(ask(&(struct ask){.method = "GET", .path = "/healthz", .excess = true}),
		200);
	ck_assert_int_eq(ask(&(struct ask){.method = "GET", .path = "/readyz", .excess = true}),
		503);
	ck_error("service_unavailable");
	ck_assert_int_eq(ask(&(struct ask){.path = "/nothing", .excess = true}), 503);
	/* Only the liveness of the worker is checked. */
	ck_assert_int_eq(worker.link.fd, -1);
}
END_TEST

START_TEST(test_size)
{
	static char exact[BODY_MAX + 1];
	struct ask what = {.body = exact};
	size_t len = strlen(BODY_TRANSFER);

	memset(exact, ' ', BODY_MAX);
	memcpy(exact, BODY_TRANSFER, len);
	ck_assert_int_eq(ask(&what), 200);
	memset(body_large, ' ', BODY_MAX + 1);
	memcpy(body_large, BODY_TRANSFER, len);
	what.body = body_large;
	ck_assert_int_eq(ask(&what), 413);
	ck_error("payload_too_large");
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 1);
}
END_TEST

/*
 * All 401s are the same answer. A header that cannot be a signature costs no computation for any
 * caller id. All others cost the same work with one algorithm (contract, "Signature").
 */
START_TEST(test_indistinguishable)
{
	static const enum signature_algorithm algorithms[] = {HMAC_SHA256, HMAC_SHA512, HMAC_SHA1};
	static const char sha1[] = "0123456789abcdef0123456789abcdef01234567";
	static const char base64_256[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
	static const char base64_512[] =
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
	static char long_signature[200];
	static char long_casino[200];
	static const char *const signed_twice =
		"HTTP_X_CASINO_SIGNATURE="
		"64f1a6b5e3a8a0c0b1e0dd6c0f3c4f0c6d2e0e5b7b7f6b1b0a5a9d0f0e1c2b3a";
	/* Each case computes signatures of only one algorithm. */
	const struct {
		struct ask ask;
		unsigned int work;
		enum signature_algorithm of;
	} cases[] = {
		{{.caller = "-"}, 0, HMAC_SHA256},
		{{.caller = ""}, 0, HMAC_SHA256},
		{{.signature = "-"}, 0, HMAC_SHA256},
		{{.signature = ""}, 0, HMAC_SHA256},
		{{.caller = "-", .signature = "-"}, 0, HMAC_SHA256},
		{{.caller = "nobody"}, AUTH_WORK, HMAC_SHA256},
		{{.caller = "nobody", .key = ""}, AUTH_WORK, HMAC_SHA256},
		{{.caller = "Demo"}, AUTH_WORK, HMAC_SHA256},
		{{.caller = "demo,other"}, 0, HMAC_SHA256},
		{{.caller = "demo "}, 0, HMAC_SHA256},
		{{.caller = "de\tmo"}, 0, HMAC_SHA256},
		{{.caller = long_casino}, AUTH_WORK, HMAC_SHA256},
		{{.key = KEY_OTHER}, AUTH_WORK, HMAC_SHA256},
		{{.caller = "other", .key = KEY_ONE}, AUTH_WORK, HMAC_SHA256},
		/* Its second slot is empty. */
		{{.caller = "other", .key = ""}, AUTH_WORK, HMAC_SHA256},
		{{.signature = sha1}, AUTH_WORK, HMAC_SHA1},
		{{.caller = "nobody", .signature = sha1}, AUTH_WORK, HMAC_SHA1},
		{{.signature = base64_512}, AUTH_WORK, HMAC_SHA512},
		{{.caller = "nobody", .signature = base64_512}, AUTH_WORK, HMAC_SHA512},
		{{.signature = "not hex at all"}, 0, HMAC_SHA256},
		{{.signature = base64_256}, AUTH_WORK, HMAC_SHA256},
		{{.caller = "nobody", .signature = base64_256}, AUTH_WORK, HMAC_SHA256},
		{{.signature = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, 0, HMAC_SHA256},
		{{.signature = "-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}, 0, HMAC_SHA256},
		{{.signature = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB="}, 0, HMAC_SHA256},
		{{.signature = "abcd"}, 0, HMAC_SHA256},
		{{.signature = long_signature}, 0, HMAC_SHA256},
		{{.more = {"HTTP_X_CASINO_ID=demo"}}, 0, HMAC_SHA256},
		{{.more = {"HTTP_X_CASINO_ID=demo", "HTTP_X_CASINO_ID=demo"}}, 0, HMAC_SHA256},
		{{.more = {signed_twice}}, 0, HMAC_SHA256},
	};
	char head[2048] = "", body[2048] = "";

	memset(long_signature, 'a', sizeof(long_signature) - 1);
	memset(long_casino, 'd', sizeof(long_casino) - 1);
	fake_lock(&fake);
	fake.dealers[1].signature_algorithm = algorithms[_i];
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.key = NULL}), 200);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ask what = cases[i].ask;
		size_t more = 0;

		while (what.more[more])
			more++;
		what.more[more] = "HTTP_X_REQUEST_ID=fixed";
		ck_assert_msg(ask(&what) == 401, "case %zu: %s", i, reply_head());
		/* Independent of the dealer's algorithm. */
		ck_assert_msg(signatures == cases[i].work &&
				signatures_of[cases[i].of] == cases[i].work,
			"case %zu: %u of %u", i, signatures_of[cases[i].of], signatures);
		if (i == 0) {
			text_copy(head, sizeof(head), reply_head());
			text_copy(body, sizeof(body), reply_body());
			ck_error("invalid_signature");
		}
		ck_assert_str_eq(reply_head(), head);
		ck_assert_str_eq(reply_body(), body);
	}
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 1);
}
END_TEST

/* The error of a stale request contains its unit, the time here, and the difference. */
START_TEST(test_stale_details)
{
	static const struct {
		const char *timestamp, *detail;
	} cases[] = {
		{"1700000000",
			"request_timestamp is in seconds: send milliseconds since 1970 (UTC), "
			"1700000000000 now"},
		{"1700000000000000", "request_timestamp is in microseconds: send milliseconds"},
		{"1700000400123",
			"request_timestamp is 400 s after the time here, 1700000000000 ms since "
			"1970 (UTC); at most 300 s\""},
		{"1699999500000",
			"request_timestamp is 500 s before the time here, 1700000000000 ms"},
		{"1700025200000", "at most 300 s; is it in local time?"},
	};
	char body[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(body, sizeof(body), "{\"user_id\":\"alice\",\"request_timestamp\":%s}",
			cases[i].timestamp);
		ck_assert_int_eq(ask(&(struct ask){.path = BALANCE, .body = body}), 401);
		ck_error("stale_request");
		ck_assert_msg(strstr(reply_body(), cases[i].detail) != NULL, "%s", reply_body());
	}
}
END_TEST

/* The headers name the format of a bad body. Valid JSON is accepted with any headers. */
START_TEST(test_details_by_headers)
{
	static const struct {
		const char *header, *body, *detail;
	} cases[] = {
		{"HTTP_CONTENT_ENCODING=br", "\x8b\x07",
			"is compressed (Content-Encoding: br): send it"},
		{"HTTP_CONTENT_ENCODING=identity", "[", "not valid JSON"},
		{"HTTP_CONTENT_ENCODING=a\"b", "[", "not valid JSON"},
		{"CONTENT_TYPE=application/x-www-form-urlencoded", "[",
			"is a form by its Content-Type"},
		{"CONTENT_TYPE=multipart/form-data; boundary=x", "x",
			"is a form by its Content-Type"},
		{"CONTENT_TYPE=application/json", "x", "not valid JSON"},
		{"CONTENT_TYPE=application/json",
			"{\"amount\":0.30000000000000004,"
			"\"request_transaction_id\":\"r1\",\"user_id\":\"alice\"}",
			"at most 2 decimals; 0.30000000000000004 is nearest to 0.30"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(ask(&(struct ask){.body = cases[i].body,
					 .more = {cases[i].header}}),
			400);
		ck_assert_msg(strstr(reply_body(), cases[i].detail) != NULL, "%zu: %s", i,
			reply_body());
		/* Without a valid signature there is no detail. */
		ck_assert_int_eq(ask(&(struct ask){.body = cases[i].body,
					 .key = KEY_OTHER,
					 .more = {cases[i].header}}),
			401);
		ck_assert(strstr(reply_body(), cases[i].detail) == NULL);
	}
	ck_assert_int_eq(ask(&(struct ask){.more = {"CONTENT_TYPE=multipart/form-data",
						   "HTTP_CONTENT_ENCODING=br"}}),
		200);
}
END_TEST

START_TEST(test_both_keys)
{
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
	ck_assert_uint_eq(signatures, 1);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_TWO}), 200);
	ck_assert_uint_eq(signatures, 2);
	ck_assert_int_eq(ask(&(struct ask){.caller = "other", .key = KEY_OTHER}), 200);
	ck_assert_str_eq(fake.cmds.transfer.casino_id, "other");
}
END_TEST

START_TEST(test_algorithm_of_dealer)
{
	char signature[SIGNATURE_TEXT_MAX];

	fake_lock(&fake);
	fake.dealers[0].signature_algorithm = HMAC_SHA512;
	fake.dealers[0].signature_encoding = ENCODING_BASE64;
	fake_unlock(&fake);
	ck_assert(signature_make(HMAC_SHA512, ENCODING_BASE64, KEY_ONE, BODY_TRANSFER,
		strlen(BODY_TRANSFER), signature));
	ck_assert_int_eq(ask(&(struct ask){.signature = signature}), 200);
	ck_assert_uint_eq(signatures, 1);
	/* A valid signature by another algorithm than the dealer's is refused. */
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 401);
	ck_assert_uint_eq(signatures, AUTH_WORK);
}
END_TEST

/* The dealer's encoding decides only how the platform signs (contract, "Signature"). */
START_TEST(test_encodings)
{
	char text[SIGNATURE_TEXT_MAX];
	size_t len = strlen(BODY_TRANSFER);

	for (unsigned int set = 0; set < SIGNATURE_ENCODING_COUNT; set++) {
		fake_lock(&fake);
		fake.dealers[0].signature_encoding = (enum signature_encoding)set;
		fake.generation++;
		fake_unlock(&fake);
		for (unsigned int sent = 0; sent < SIGNATURE_ENCODING_COUNT; sent++) {
			ck_assert(signature_make(HMAC_SHA256, (enum signature_encoding)sent,
				KEY_ONE, BODY_TRANSFER, len, text));
			ck_assert_int_eq(ask_at(&(struct ask){.signature = text}, NOW_MS,
						 clock_boot_ms() + 2000),
				200);
		}
		/* The last one is base64. Without its padding it is refused without an HMAC. */
		text[strlen(text) - 1] = '\0';
		ck_assert_int_eq(ask(&(struct ask){.signature = text}), 401);
		ck_error("invalid_signature");
		ck_assert_uint_eq(signatures, 0);
	}
}
END_TEST

START_TEST(test_broken_body)
{
	/* A body that is too short is reported only to a caller that signed the received part. */
	struct ask what = {.more = {"CONTENT_LENGTH=9"}};

	ck_assert_int_eq(ask(&what), 401);
	what.body = "";
	ck_assert_int_eq(ask(&what), 400);
	ck_error("bad_request");
	ck_assert_int_eq(ask(&(struct ask){.body = ""}), 400);
}
END_TEST

START_TEST(test_request_ids)
{
	static const char *const taken[] = {"a", "A-b_c.9",
		"0123456789012345678901234567890123456789012345678901234567890123"};
	static const char *const made[] = {"", "with space", "a,b", "a\"b", "a/b", "\x80",
		"01234567890123456789012345678901234567890123456789012345678901234"};
	char variable[128], line[128], first[REQUEST_ID_SIZE];
	struct ask what = {.path = "/nowhere"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		snprintf(variable, sizeof(variable), "HTTP_X_REQUEST_ID=%s", taken[i]);
		snprintf(line, sizeof(line), "X-Request-Id: %s", taken[i]);
		what.more[0] = variable;
		ask(&what);
		ck_assert_msg(reply_has(line), "%s", reply_head());
		snprintf(line, sizeof(line), "\"request_id\":\"%s\"", taken[i]);
		ck_assert(strstr(reply_body(), line));
	}
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		snprintf(variable, sizeof(variable), "HTTP_X_REQUEST_ID=%s", made[i]);
		ask(&what);
		ck_assert_uint_eq(strlen(worker.reply.request_id), 20);
		ck_assert_str_ne(worker.reply.request_id, made[i]);
	}
	text_copy(first, sizeof(first), worker.reply.request_id);
	what.more[0] = "HTTP_X_REQUEST_ID=twice";
	what.more[1] = "HTTP_X_REQUEST_ID=twice";
	ask(&what);
	ck_assert_str_ne(worker.reply.request_id, "twice");
	ck_assert_str_ne(worker.reply.request_id, first);
}
END_TEST

/* Log lines of the ledger about a command also contain the request id. */
START_TEST(test_ledger_is_told_request_ids)
{
	ck_assert_int_eq(ask(&(struct ask){.more = {"HTTP_X_REQUEST_ID=id-1"}}), 200);
	ck_assert_str_eq(fake.request_ids[COMMAND_KEYRING], "id-1");
	ck_assert_str_eq(fake.request_ids[COMMAND_TRANSFER], "id-1");
	ck_assert_int_eq(ask(&(struct ask){.path = NULL}), 200);
	ck_assert_str_eq(fake.request_ids[COMMAND_TRANSFER], worker.reply.request_id);
	ck_assert_uint_eq(strlen(fake.request_ids[COMMAND_TRANSFER]), 20);
}
END_TEST

START_TEST(test_window)
{
	static const struct {
		uint32_t window_s;
		int64_t ahead_ms;
		int code;
	} cases[] = {
		{300, 0, 200},
		{300, 300000, 200},
		{300, -300000, 200},
		{300, 300001, 401},
		{300, -300001, 401},
		{1, 1000, 200},
		{1, 1001, 401},
		{0, -NOW_MS, 200},
		{0, 300001, 200},
	};
	char body[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		service.request_window_s = cases[i].window_s;
		snprintf(body, sizeof(body), "{\"user_id\":\"alice\",\"request_timestamp\":%lld}",
			(long long)(NOW_MS + cases[i].ahead_ms));
		ck_assert_int_eq(ask(&(struct ask){.path = BALANCE, .body = body}), cases[i].code);
		if (cases[i].code == 401)
			ck_error("stale_request");
	}
}
END_TEST

/* Returns how often the worker asked the ledger for keys. */
static unsigned int keyring_calls(void)
{
	unsigned int calls;

	fake_lock(&fake);
	calls = fake.calls[COMMAND_KEYRING];
	fake_unlock(&fake);
	return calls;
}

/* An answer that was read late confirms the keys only for the time of its request. */
START_TEST(test_keys_vouched_late)
{
	fake_lock(&fake);
	fake.acts[COMMAND_TRANSFER] = FAKE_SLOW;
	fake.slow_ms = KEYRING_FRESH_MS + 200;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
	ck_assert_uint_eq(keyring_calls(), 1);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
	ck_assert_uint_eq(keyring_calls(), 2);
}
END_TEST

START_TEST(test_keys_refreshed)
{
	int64_t asked_ms;

	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
	ck_assert_uint_eq(keyring_calls(), 1);

	/* A second after the last answer: the ledger is asked, and nothing has changed. */
	asked_ms = worker.link.asked_ms;
	ck_assert_int_eq(ask_at(&(struct ask){.key = KEY_OTHER}, NOW_MS, asked_ms + 1000), 401);
	ck_assert_uint_eq(keyring_calls(), 1);
	ck_assert_int_eq(ask_at(&(struct ask){.key = KEY_OTHER}, NOW_MS, asked_ms + 1001), 401);
	ck_assert_uint_eq(keyring_calls(), 2);
	ck_assert_uint_eq(fake.unchanged, 1);

	/*
	 * The answer to a transfer reports a change: the retired key is refused from the next
	 * request on.
	 */
	fake_lock(&fake);
	fake.dealers[0].keys[0].key_id[0] = '\0';
	fake.generation++;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 401);
	ck_assert_uint_eq(keyring_calls(), 3);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_TWO}), 200);
	ck_assert_uint_eq(keyring_calls(), 3);
}
END_TEST

START_TEST(test_keys_paged)
{
	char name[CASINO_ID_SIZE];

	fake_lock(&fake);
	for (int i = 10; i < 40; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		fake_add_dealer(&fake, name, KEY_TWO, "");
	}
	fake.page = 5;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.caller = "p39", .key = KEY_TWO}), 200);
	ck_assert_uint_eq(keyring_calls(), 7);
	ck_assert_uint_eq(worker.auth.keyring.count, 32);
	ck_assert_int_eq(ask(&(struct ask){.caller = "p10", .key = KEY_TWO}), 200);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);

	/* A keyring that changes with every page is never complete. */
	fake_lock(&fake);
	fake.restless = true;
	fake.generation++;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 503);
	fake_lock(&fake);
	fake.restless = false;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 200);
}
END_TEST

START_TEST(test_keys_damaged)
{
	struct keyring_entry first;

	fake_lock(&fake);
	first = fake.dealers[0];
	fake.dealers[0] = fake.dealers[1];
	fake.dealers[1] = first;
	fake_unlock(&fake);
	/* Not sorted: a search could miss a dealer. */
	ck_assert_int_eq(ask(&(struct ask){.key = KEY_ONE}), 500);
	ck_error("internal_error");
	ck_assert_uint_eq(signatures, 0);
}
END_TEST

Suite *web_serve_suite(void)
{
	const TTest *const tests[] = {test_order_of_checks, test_methods, test_groups, test_size,
		test_both_keys, test_stale_details, test_details_by_headers,
		test_algorithm_of_dealer, test_encodings, test_broken_body, test_request_ids,
		test_ledger_is_told_request_ids, test_window, test_keys_vouched_late,
		test_keys_refreshed, test_keys_paged, test_keys_damaged};
	Suite *suite = suite_create("web_serve");
	TCase *tcase = tcase_create("checks");

	tcase_add_checked_fixture(tcase, web_case_setup, web_case_teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_loop_test(tcase, test_indistinguishable, 0, SIGNATURE_ALGORITHM_COUNT);
	suite_add_tcase(suite, tcase);
	return suite;
}
