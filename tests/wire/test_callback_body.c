#include "suites.h"

#include "wire/callback_body.h"

#include <jansson.h>
#include <string.h>

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)};
}

static void renders_with(enum callback_kind kind, const void *body, const char *currency,
	const char *expected)
{
	struct buffer out;
	json_t *json;

	buffer_init(&out, CALLBACK_BODY_MAX);
	ck_assert(callback_body_render(&out, kind, body, currency));
	json = json_loadb((const char *)out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(json != NULL, "%.*s", (int)out.len, (const char *)out.data);
	json_decref(json);
	ck_assert(buffer_append(&out, "", 1));
	ck_assert_str_eq((const char *)out.data, expected);
	buffer_free(&out);
}

static void renders(enum callback_kind kind, const void *body, const char *expected)
{
	renders_with(kind, body, "", expected);
}

START_TEST(balance_inquire)
{
	struct balance_inquire_body body = {"alice", "p2345abcdefghijklmno"};

	renders(CALLBACK_BALANCE_INQUIRE, &body,
		"{\"user_id\":\"alice\",\"player_id\":\"p2345abcdefghijklmno\"}");
}
END_TEST

START_TEST(betting)
{
	struct bet_body body = {
		.user_id = "al\"ice",
		.player_id = "p2345abcdefghijklmno",
		.bet_amount = 125000,
		.transaction_id = TRANSACTION_ID_MAX,
		.timestamp = INT64_C(1700000000123),
		.remark = "round 1",
		.game_id = "g1",
		.user_bet = bytes_of("{ \"line\": [1, 2.50] }"),
	};

	renders(CALLBACK_BETTING, &body,
		"{\"user_id\":\"al\\\"ice\",\"player_id\":\"p2345abcdefghijklmno\",\"bet_amount\":12.5,"
		"\"transaction_id\":9007199254740991,\"timestamp\":1700000000123,"
		"\"remark\":\"round 1\",\"game_id\":\"g1\",\"user_bet\":{ \"line\": [1, 2.50] }}");
	/* The specification requires this member. */
	body.user_bet.len = 0;
	renders(CALLBACK_BETTING, &body,
		"{\"user_id\":\"al\\\"ice\",\"player_id\":\"p2345abcdefghijklmno\",\"bet_amount\":12.5,"
		"\"transaction_id\":9007199254740991,\"timestamp\":1700000000123,"
		"\"remark\":\"round 1\",\"game_id\":\"g1\",\"user_bet\":{}}");
}
END_TEST

START_TEST(betting_result)
{
	struct result_body body = {
		.user_id = "alice",
		.player_id = "p2345abcdefghijklmno",
		.bet_amount = 1000000,
		.transaction_id = 7,
		.timestamp = 1,
		.result = RESULT_WIN,
		.game_id = "g1",
		.addition_amount = 500000,
		.win_amount = -499999,
		.payout_amount = 1000001,
		.user_bet = bytes_of("{\"a\":1}"),
		.game_result = bytes_of("{}"),
		.user_bet_result = bytes_of("{\"b\":{}}"),
	};

	renders(CALLBACK_BETTING_RESULT, &body,
		"{\"user_id\":\"alice\",\"player_id\":\"p2345abcdefghijklmno\",\"bet_amount\":100.0,"
		"\"transaction_id\":7,\"timestamp\":1,\"remark\":\"\",\"result\":\"win\","
		"\"game_id\":\"g1\",\"addition_amount\":50.0,\"win_amount\":-49.9999,"
		"\"payout_amount\":100.0001,\"user_bet\":{\"a\":1},\"game_result\":{},"
		"\"user_bet_result\":{\"b\":{}}}");
	body.user_bet.len = body.game_result.len = body.user_bet_result.len = 0;
	body.result = RESULT_LOSS;
	body.transaction_id = 0;
	body.payout_amount = 0;
	renders(CALLBACK_BETTING_RESULT, &body,
		"{\"user_id\":\"alice\",\"player_id\":\"p2345abcdefghijklmno\",\"bet_amount\":100.0,"
		"\"transaction_id\":0,\"timestamp\":1,\"remark\":\"\",\"result\":\"loss\","
		"\"game_id\":\"g1\",\"addition_amount\":50.0,\"win_amount\":-49.9999,"
		"\"payout_amount\":0.0}");
}
END_TEST

START_TEST(betting_refund)
{
	struct refund_body body = {
		.bet_amount = 1000,
		.game_id = "g1",
		.player_id = "p2345abcdefghijklmno",
		.remark = "r",
		.timestamp = 2,
		.transaction_id = 9,
		.user_id = "alice",
	};

	renders(CALLBACK_BETTING_REFUND, &body,
		"{\"bet_amount\":0.1,\"game_id\":\"g1\",\"player_id\":\"p2345abcdefghijklmno\","
		"\"remark\":\"r\",\"timestamp\":2,\"transaction_id\":9,\"user_id\":\"alice\"}");
}
END_TEST

/* A dealer with send_currency: the currency is the last member of each body. */
START_TEST(currency)
{
	struct balance_inquire_body inquire = {"alice", "p2345abcdefghijklmno"};
	struct bet_body bet = {.user_bet = bytes_of("{\"a\":1}")};
	struct result_body result = {.result = RESULT_LOSS};
	struct refund_body refund = {.user_id = "alice"};

	renders_with(CALLBACK_BALANCE_INQUIRE, &inquire, "thb",
		"{\"user_id\":\"alice\",\"player_id\":\"p2345abcdefghijklmno\","
		"\"currency\":\"thb\"}");
	renders_with(CALLBACK_BETTING, &bet, "usdt",
		"{\"user_id\":\"\",\"player_id\":\"\",\"bet_amount\":0.0,\"transaction_id\":0,"
		"\"timestamp\":0,\"remark\":\"\",\"game_id\":\"\",\"user_bet\":{\"a\":1},"
		"\"currency\":\"usdt\"}");
	renders_with(CALLBACK_BETTING_RESULT, &result, "eu",
		"{\"user_id\":\"\",\"player_id\":\"\",\"bet_amount\":0.0,\"transaction_id\":0,"
		"\"timestamp\":0,\"remark\":\"\",\"result\":\"loss\",\"game_id\":\"\","
		"\"addition_amount\":0.0,\"win_amount\":0.0,\"payout_amount\":0.0,"
		"\"currency\":\"eu\"}");
	renders_with(CALLBACK_BETTING_REFUND, &refund, "12345678",
		"{\"bet_amount\":0.0,\"game_id\":\"\",\"player_id\":\"\",\"remark\":\"\","
		"\"timestamp\":0,\"transaction_id\":0,\"user_id\":\"alice\","
		"\"currency\":\"12345678\"}");
}
END_TEST

/* The proof must find a currency only where callback_body_render() put one. */
START_TEST(currency_at_the_end)
{
	static const struct {
		const char *body, *currency;
	} cases[] = {
		{"{\"user_id\":\"a\",\"currency\":\"thb\"}", "thb"},
		{"{\"payout_amount\":0.0,\"currency\":\"12345678\"}", "12345678"},
		{",\"currency\":\"x\"}", "x"},
		{"{\"user_bet\":{\"a\":1,\"currency\":\"thb\"}}", ""},
		{"{\"user_id\":\"a\\\",\\\"currency\\\":\\\"thb\"}", ""},
		{"{\"currency\":\"thb\",\"user_id\":\"a\"}", ""},
		{"{\"user_id\":\"a\",\"currency\":\"123456789\"}", ""},
		{"{\"user_id\":\"a\",\"currency\":\"THB\"}", ""},
		{"{\"user_id\":\"a\",\"currency\":\"\"}", ""},
		{"{\"user_id\":\"a\",\"currency\":\"thb\"} ", ""},
		{"\"currency\":\"thb\"}", ""},
		{"thb\"}", ""},
		{"\"}", ""},
		{"", ""},
	};
	char found[CURRENCY_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t len = callback_body_currency(bytes_of(cases[i].body), found);

		ck_assert_str_eq(found, cases[i].currency);
		ck_assert_uint_eq(len, found[0] ? strlen(",\"currency\":\"\"") + strlen(found) : 0);
	}
}
END_TEST

START_TEST(a_full_buffer_is_told)
{
	struct bet_body body = {.user_bet = bytes_of("{\"a\":1}")};
	struct buffer out;

	buffer_init(&out, 40);
	ck_assert(!callback_body_render(&out, CALLBACK_BETTING, &body, ""));
	ck_assert(out.failed);
	ck_assert_uint_eq(out.len, 0);
	buffer_free(&out);
	/* There is room for the body, and none for the currency. */
	buffer_init(&out, 128);
	ck_assert(callback_body_render(&out, CALLBACK_BETTING, &body, ""));
	ck_assert_uint_gt(out.len, 128 - 18);
	buffer_reset(&out);
	ck_assert(!callback_body_render(&out, CALLBACK_BETTING, &body, "thb"));
	ck_assert(out.failed);
	ck_assert_uint_eq(out.len, 0);
	buffer_free(&out);
}
END_TEST

Suite *callback_body_suite(void)
{
	const TTest *const tests[] = {balance_inquire, betting, betting_result, betting_refund,
		currency, currency_at_the_end, a_full_buffer_is_told, NULL};

	return suite_make("callback_body", tests, 10);
}
