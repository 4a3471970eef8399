/*
 * Tests group C: bodies become commands, and the ledger's answers become replies. Nothing is sent
 * to a dealer.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/text.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

#define PLAYERS        "/platform/players"
#define PLAYER_BALANCE "/platform/balance"
#define BETS           "/platform/bets"
#define RESULTS        "/platform/results"

#define BODY_PLAYER "{\"casino_id\":\"demo\",\"user_id\":\"alice\"}"
#define BODY_BET                                                                                   \
	"{\"request_transaction_id\":\"b1\",\"player_id\":\"p\",\"game_id\":\"g\",\"bet_amount\":1}"
#define BODY_RESULT                                                                                \
	"{\"request_transaction_id\":\"r1\",\"player_id\":\"p\",\"game_id\":\"g\","                \
	"\"result\":\"win\",\"payout_amount\":2}"

static const struct ask players = {.path = PLAYERS, .body = BODY_PLAYER};
static const struct ask balance = {.path = PLAYER_BALANCE, .body = BODY_PLAYER};
static const struct ask bets = {.path = BETS, .body = BODY_BET};
static const struct ask results = {.path = RESULTS, .body = BODY_RESULT};
static const struct ask *const routes[] = {&players, &balance, &bets, &results};
static const enum command commands[] = {COMMAND_PLAYER_REGISTER, COMMAND_PLAYER_BALANCE,
	COMMAND_BET_PLACE, COMMAND_ROUND_SETTLE};
#define ROUTE_COUNT ((int)(sizeof(routes) / sizeof(routes[0])))

/* Returns the verdict of the command of route number @i. */
static struct verdict *verdict_of(int i)
{
	struct verdict *const verdicts[] = {&fake.results.player_register.verdict,
		&fake.results.player_balance.verdict, &fake.results.bet_place.verdict,
		&fake.results.round_settle.verdict};

	return verdicts[i];
}

static bool is_text(struct bytes bytes, const char *text)
{
	return bytes.len == strlen(text) &&
		(!bytes.len || memcmp(bytes.data, text, bytes.len) == 0);
}

START_TEST(test_players)
{
	const struct player_register_cmd *cmd = &fake.cmds.player_register;
	char first[PLAYER_ID_SIZE];

	fake.results.player_register = (struct player_register_result){
		.player_id = "abcdefghijklmnopqrst",
		.user_id = "al\"ice",
		.casino_id = "demo",
		.currency = "thb",
		.created = true,
	};
	ck_assert_int_eq(ask(&players), 200);
	ck_assert_str_eq(reply_body(),
		"{\"player_id\":\"abcdefghijklmnopqrst\",\"user_id\":\"al\\\"ice\","
		"\"casino_id\":\"demo\",\"currency\":\"thb\",\"created\":true}");
	ck_assert_str_eq(cmd->casino_id, "demo");
	ck_assert_str_eq(cmd->user_id, "alice");
	/* Each call supplies a new player_id. */
	ck_assert_uint_eq(strlen(cmd->player_id), PLAYER_ID_SIZE - 1);
	ck_assert_uint_eq(strspn(cmd->player_id, "abcdefghijklmnopqrstuvwxyz234567"),
		PLAYER_ID_SIZE - 1);
	text_copy(first, sizeof(first), cmd->player_id);
	ck_assert_int_eq(ask(&players), 200);
	ck_assert_str_ne(cmd->player_id, first);
}
END_TEST

START_TEST(test_balance)
{
	fake.results.player_balance = (struct player_balance_result){
		.player_id = "abcdefghijklmnopqrst",
		.user_id = "alice",
		.casino_id = "demo",
		.balance = 1000,
		.currency = "thb",
	};
	ck_assert_int_eq(ask(&balance), 200);
	ck_assert_str_eq(reply_body(),
		"{\"player_id\":\"abcdefghijklmnopqrst\",\"user_id\":\"alice\",\"balance\":0.1,"
		"\"currency\":\"thb\"}");
	ck_assert_str_eq(fake.cmds.player_balance.player.player_id, "");
	ck_assert_str_eq(fake.cmds.player_balance.player.casino_id, "demo");
	ck_assert_str_eq(fake.cmds.player_balance.player.user_id, "alice");
	ck_assert_uint_eq(fake.calls[COMMAND_CALLBACK_END], 0);
}
END_TEST

/* contract, "Group C: what game servers call": by player_id, or by casino_id and user_id. */
START_TEST(test_player_names)
{
	static const struct {
		const char *members;
		const char *player_id, *casino_id, *user_id;
		const char *detail;
	} cases[] = {
		{"\"player_id\":\"abcdefghijklmnopqrst\"", "abcdefghijklmnopqrst", "", "", NULL},
		{"\"casino_id\":\"demo\",\"user_id\":\"alice\"", "", "demo", "alice", NULL},
		/* The ledger receives all three and checks that they agree. */
		{"\"player_id\":\"p\",\"casino_id\":\"demo\",\"user_id\":\"alice\"", "p", "demo",
			"alice", NULL},
		{"\"player_id\":\"p\",\"user_id\":\"alice\"", "p", "", "alice", NULL},
		/*
		 * Too long for an id: it names no player, not even the one with the same
		 * beginning.
		 */
		{"\"player_id\":\"abcdefghijklmnopqrstu\"", "-", "", "", NULL},
		{"\"x\":1", "", "", "", "player_id: is required, or casino_id and user_id"},
		{"\"casino_id\":\"demo\"", "", "", "", "user_id: is required with casino_id"},
		{"\"user_id\":\"alice\"", "", "", "", "casino_id: is required with user_id"},
		{"\"player_id\":\"\"", "", "", "",
			"player_id: must be 1 to 128 bytes of UTF-8 without control characters"},
		{"\"player_id\":7", "", "", "", "player_id: must be a string"},
		{"\"casino_id\":\"a b\",\"user_id\":\"alice\"", "", "", "",
			"casino_id: must be 1 to 64 of A-Z a-z 0-9 _ . -"},
	};
	static const char *const more[] = {"", "",
		",\"request_transaction_id\":\"b1\",\"game_id\":\"g\",\"bet_amount\":1",
		",\"request_transaction_id\":\"r1\",\"game_id\":\"g\",\"result\":\"loss\""};
	const struct player_ref *const refs[] = {NULL, &fake.cmds.player_balance.player,
		&fake.cmds.bet_place.player, &fake.cmds.round_settle.player};
	char body[512], detail[256];

	for (int r = 1; r < ROUTE_COUNT; r++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct ask what = {.path = routes[r]->path, .body = body};

			snprintf(body, sizeof(body), "{%s%s}", cases[i].members, more[r]);
			if (cases[i].detail) {
				ck_assert_int_eq(ask(&what), 400);
				ck_error("bad_request");
				snprintf(detail, sizeof(detail), "\"detail\":\"%s\"",
					cases[i].detail);
				ck_assert_msg(strstr(reply_body(), detail), "%s", reply_body());
				continue;
			}
			ck_assert_int_eq(ask(&what), 200);
			ck_assert_str_eq(refs[r]->player_id, cases[i].player_id);
			ck_assert_str_eq(refs[r]->casino_id, cases[i].casino_id);
			ck_assert_str_eq(refs[r]->user_id, cases[i].user_id);
		}
	}
}
END_TEST

START_TEST(test_bet)
{
	static const char details[] =
		"{ \"red\" : 0.1,\t\"n\":[9223372036854775807,18446744073709551615,1.10,1e400],"
		" \"s\":\"}\\\"{\" }";
	const struct bet_place_cmd *cmd = &fake.cmds.bet_place;
	char body[1024];
	uint64_t sender;

	snprintf(body, sizeof(body),
		"{\"request_transaction_id\":\"b\\u0031\",\"remark\":\"ro\xc3\xbb\","
		"\"bet_amount\":10.5,\"u\\u0073er_bet\" :%s , \"game_id\":\"g\",\"addition\":true,"
		"\"player_id\":\"p\"}",
		details);
	fake.results.bet_place.bet =
		(struct bet_answer){.transaction_id = TRANSACTION_ID_MAX, .state = BET_ACCEPTED};
	ck_assert_int_eq(ask(&(struct ask){.path = BETS, .body = body}), 200);
	ck_assert_str_eq(reply_body(),
		"{\"transaction_id\":9007199254740991,\"state\":\"accepted\"}");
	ck_assert_str_eq(cmd->client_id, "game");
	ck_assert_str_eq(cmd->request_transaction_id, "b1");
	ck_assert_str_eq(cmd->game_id, "g");
	ck_assert_int_eq(cmd->bet_amount, 105000);
	ck_assert(cmd->addition);
	ck_assert_str_eq(cmd->remark, "ro\xc3\xbb");
	ck_assert_msg(is_text(cmd->user_bet, details), "%.*s", (int)cmd->user_bet.len,
		(const char *)cmd->user_bet.data);
	sender = cmd->sender;

	fake_lock(&fake);
	fake.results.bet_place.bet.has_balance = true;
	fake.results.bet_place.bet.balance = 895000;
	fake.results.bet_place.verdict.replay = true;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.path = BETS,
				 .body = BODY_BET,
				 .caller = "other",
				 .key = KEY_OTHER}),
		200);
	ck_assert_str_eq(reply_body(),
		"{\"transaction_id\":9007199254740991,"
		"\"state\":\"accepted\",\"balance\":89.5}");
	ck_assert(reply_has("X-Idempotent-Replay: true"));
	ck_assert_str_eq(cmd->client_id, "other");
	/* The omitted member. */
	ck_assert(!cmd->addition);
	ck_assert_str_eq(cmd->remark, "");
	ck_assert_uint_eq(cmd->user_bet.len, 0);
	ck_assert_uint_ne(cmd->sender, sender);
}
END_TEST

START_TEST(test_result)
{
	const struct round_settle_cmd *cmd = &fake.cmds.round_settle;

	fake.results.round_settle = (struct round_settle_result){
		.transaction_id = 5,
		.bet_amount = 100000,
		.addition_amount = 50000,
		.win_amount = 51000,
		.payout_amount = 201000,
		.callback_state = CALLBACK_DELIVERED,
	};
	ck_assert_int_eq(
		ask(&(struct ask){.path = RESULTS,
			.body = "{\"request_transaction_id\":\"r1\",\"casino_id\":\"demo\",\"user_id\":\"alice\","
				"\"game_id\":\"g\",\"result\":\"win\",\"payout_amount\":20.1,\"remark\":\"x\","
				"\"user_bet\":{},\"game_result\":{\"n\":17.0},\"user_bet_result\":{\"a\":[{}]}}"}),
		200);
	ck_assert_str_eq(reply_body(),
		"{\"transaction_id\":5,\"bet_amount\":10.0,\"addition_amount\":5.0,"
		"\"win_amount\":5.1,\"payout_amount\":20.1,"
		"\"callback\":{\"state\":\"delivered\",\"attempts\":0}}");
	ck_assert_str_eq(cmd->client_id, "game");
	ck_assert_str_eq(cmd->request_transaction_id, "r1");
	ck_assert_str_eq(cmd->player.user_id, "alice");
	ck_assert_str_eq(cmd->game_id, "g");
	ck_assert_int_eq(cmd->result, RESULT_WIN);
	ck_assert_int_eq(cmd->payout_amount, 201000);
	ck_assert_str_eq(cmd->remark, "x");
	ck_assert(is_text(cmd->user_bet, "{}"));
	ck_assert(is_text(cmd->game_result, "{\"n\":17.0}"));
	ck_assert(is_text(cmd->user_bet_result, "{\"a\":[{}]}"));
	ck_assert_uint_eq(fake.calls[COMMAND_CALLBACK_END], 0);

	/* A seamless dealer's result that is left to the sweeper. */
	fake_lock(&fake);
	fake.results.round_settle.event = 9;
	fake.results.round_settle.callback_state = CALLBACK_DUE;
	fake.results.round_settle.callback_attempts = 1;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&results), 200);
	ck_assert(strstr(reply_body(), "\"callback\":{\"state\":\"due\",\"attempts\":1}"));
}
END_TEST

/* Results that need no payout. */
START_TEST(test_payouts)
{
	static const struct {
		const char *members;
		enum round_result result;
		money_t payout;
		int code;
	} cases[] = {
		{"\"result\":\"loss\"", RESULT_LOSS, 0, 200},
		{"\"result\":\"refund\"", RESULT_REFUND, 0, 200},
		{"\"result\":\"loss\",\"payout_amount\":0", RESULT_LOSS, 0, 200},
		{"\"result\":\"refund\",\"payout_amount\":1.5", RESULT_REFUND, 15000, 200},
		{"\"result\":\"win\",\"payout_amount\":0.0", RESULT_WIN, 0, 200},
		{"\"result\":\"win\"", RESULT_NONE, 0, 400},
		{"\"result\":\"win\",\"payout_amount\":null", RESULT_NONE, 0, 400},
		{"\"payout_amount\":1", RESULT_NONE, 0, 400},
		{"\"result\":\"none\",\"payout_amount\":1", RESULT_NONE, 0, 400},
		{"\"result\":\"Win\",\"payout_amount\":1", RESULT_NONE, 0, 400},
		{"\"result\":\"\",\"payout_amount\":1", RESULT_NONE, 0, 400},
		{"\"result\":1,\"payout_amount\":1", RESULT_NONE, 0, 400},
	};
	char body[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(body, sizeof(body),
			"{\"request_transaction_id\":\"r\","
			"\"player_id\":\"p\",\"game_id\":\"g\",%s}",
			cases[i].members);
		ck_assert_int_eq(ask(&(struct ask){.path = RESULTS, .body = body}), cases[i].code);
		if (cases[i].code == 400) {
			ck_error("bad_request");
			continue;
		}
		ck_assert_int_eq(fake.cmds.round_settle.result, cases[i].result);
		ck_assert_int_eq(fake.cmds.round_settle.payout_amount, cases[i].payout);
	}
	ck_assert_int_eq(
		ask(&(struct ask){.path = RESULTS,
			.body = "{\"request_transaction_id\":\"r\",\"player_id\":\"p\",\"game_id\":\"g\","
				"\"result\":\"win\",\"payout_amount\":-1}"}),
		400);
	ck_error("invalid_amount");
}
END_TEST

/* Invalid members of each body. The detail names the field. */
static const struct {
	int route;
	const char *member; /* replaces the member with its name, or is added */
	const char *id;
	const char *detail;
} bad_bodies[] = {
	{0, "\"casino_id\":\"a b\"", "bad_request", "casino_id: must be 1 to 64 of"},
	{0, "\"casino_id\":null", "bad_request", "casino_id: must be a string"},
	{0, "\"casino_id\"", "bad_request", "casino_id: is required"},
	{0, "\"user_id\":\"\"", "bad_request", "user_id: must be 1 to 128 bytes"},
	{0, "\"user_id\"", "bad_request", "user_id: is required"},
	{2, "\"request_transaction_id\"", "bad_request", "request_transaction_id: is required"},
	{2, "\"request_transaction_id\":\"\\n\"", "bad_request", "request_transaction_id: must be"},
	{2, "\"game_id\"", "bad_request", "game_id: is required"},
	{2, "\"game_id\":7", "bad_request", "game_id: must be a string"},
	{2, "\"bet_amount\"", "bad_request", "bet_amount: is required"},
	{2, "\"bet_amount\":\"1\"", "bad_request", "bet_amount: must be a number, without quotes"},
	{2, "\"bet_amount\":0", "invalid_amount", "bet_amount: must be above zero"},
	{2, "\"bet_amount\":-1", "invalid_amount", "bet_amount: must be above zero"},
	{2, "\"bet_amount\":0.00001", "invalid_amount", "bet_amount: must have at most 4"},
	{2, "\"bet_amount\":1e11", "invalid_amount",
		"bet_amount: must be at most 99999999999.9999"},
	{2, "\"remark\":null", "bad_request", "remark: must be a string"},
	{2, "\"remark\":\"a\\u0000b\"", "bad_request", "the body is not valid JSON"},
	{2, "\"remark\":\"a\\nb\"", "bad_request", "remark: must be at most 256 bytes of UTF-8"},
	{2, "\"user_bet\":[]", "bad_request", "user_bet: must be an object"},
	{2, "\"user_bet\":null", "bad_request", "user_bet: must be an object"},
	{2, "\"user_bet\":\"{}\"", "bad_request", "user_bet: must be an object"},
	{2, "\"addition\":1", "bad_request", "addition: must be true or false"},
	{2, "\"addition\":null", "bad_request", "addition: must be true or false"},
	{2, "\"addition\":\"true\"", "bad_request", "addition: must be true or false"},
	{3, "\"request_transaction_id\"", "bad_request", "request_transaction_id: is required"},
	{3, "\"game_id\"", "bad_request", "game_id: is required"},
	{3, "\"result\"", "bad_request", "result: is required"},
	{3, "\"result\":\"draw\"", "bad_request", "result: must be win, loss or refund"},
	{3, "\"result\":{}", "bad_request", "result: must be a string"},
	{3, "\"payout_amount\"", "bad_request", "payout_amount: is required for a win"},
	{3, "\"payout_amount\":true", "bad_request", "payout_amount: must be a number"},
	{3, "\"payout_amount\":0.12345", "invalid_amount", "payout_amount: must have at most 4"},
	{3, "\"remark\":5", "bad_request", "remark: must be a string"},
	{3, "\"user_bet\":1", "bad_request", "user_bet: must be an object"},
	{3, "\"game_result\":[{}]", "bad_request", "game_result: must be an object"},
	{3, "\"user_bet_result\":\"\"", "bad_request", "user_bet_result: must be an object"},
};

/*
 * Writes @body with @member in place of the member with its name. If @member has no colon, omits
 * that member.
 */
static void body_with(char *to, size_t size, const char *body, const char *member)
{
	size_t name = (size_t)(strchr(member + 1, '"') - member) + 1;
	const char *at = body + 1, *comma = "{";

	to[0] = '\0';
	while (*at) {
		size_t len = strcspn(at, ",}");

		if (strncmp(at, member, name) != 0) {
			snprintf(to + strlen(to), size - strlen(to), "%s%.*s", comma, (int)len, at);
			comma = ",";
		}
		at += len + 1;
	}
	if (member[name])
		snprintf(to + strlen(to), size - strlen(to), "%s%s", comma, member);
	snprintf(to + strlen(to), size - strlen(to), "}");
}

START_TEST(test_bad_body)
{
	const struct ask *route = routes[bad_bodies[_i].route];
	char body[1024], id[64];

	body_with(body, sizeof(body), route->body, bad_bodies[_i].member);
	ck_assert_int_eq(ask(&(struct ask){.path = route->path, .body = body}), 400);
	snprintf(id, sizeof(id), "{\"id\":\"%s\",", bad_bodies[_i].id);
	ck_assert_msg(strncmp(reply_body(), id, strlen(id)) == 0, "%s: %s", body, reply_body());
	ck_assert_msg(strstr(reply_body(), bad_bodies[_i].detail), "%s: %s", body, reply_body());
	ck_assert_uint_eq(fake.calls[commands[bad_bodies[_i].route]], 0);
}
END_TEST

START_TEST(test_long_remark)
{
	char remark[300] = "", body[1024];
	struct ask what = {.path = BETS, .body = body};

	memset(remark, 'r', 256);
	snprintf(body, sizeof(body),
		"{\"request_transaction_id\":\"b\",\"player_id\":\"p\","
		"\"game_id\":\"g\",\"bet_amount\":1,\"remark\":\"%s\"}",
		remark);
	ck_assert_int_eq(ask(&what), 200);
	ck_assert_str_eq(fake.cmds.bet_place.remark, remark);
	snprintf(body, sizeof(body),
		"{\"request_transaction_id\":\"b\",\"player_id\":\"p\","
		"\"game_id\":\"g\",\"bet_amount\":1,\"remark\":\"%sr\"}",
		remark);
	ck_assert_int_eq(ask(&what), 400);
	ck_error("bad_request");
}
END_TEST

/* The refusals of the ledger (contract, "Error ids"), by route. */
static const struct {
	int route;
	enum refusal refusal;
	int code;
	bool retryable;
} refusals[] = {
	{0, REFUSAL_DEALER_NOT_FOUND, 404, false},
	{0, REFUSAL_DEALER_SUSPENDED, 403, false},
	{0, REFUSAL_STORAGE_FULL, 503, true},
	{1, REFUSAL_DEALER_NOT_FOUND, 404, false},
	{1, REFUSAL_USER_NOT_FOUND, 404, false},
	{1, REFUSAL_DEALER_BUSY, 503, true},
	{2, REFUSAL_TRANSACTION_CONFLICT, 409, false},
	{2, REFUSAL_DEALER_NOT_FOUND, 404, false},
	{2, REFUSAL_DEALER_SUSPENDED, 403, false},
	{2, REFUSAL_USER_SUSPENDED, 403, false},
	{2, REFUSAL_INVALID_AMOUNT, 400, false},
	{2, REFUSAL_USER_NOT_FOUND, 404, false},
	{2, REFUSAL_GAME_NOT_FOUND, 404, false},
	{2, REFUSAL_ALREADY_SETTLED, 409, false},
	{2, REFUSAL_ROUND_FULL, 409, false},
	{2, REFUSAL_INSUFFICIENT_BALANCE, 402, false},
	{2, REFUSAL_DEALER_BUSY, 503, true},
	{2, REFUSAL_BET_IN_PROGRESS, 409, true},
	{2, REFUSAL_BET_REJECTED, 409, false},
	{2, REFUSAL_DEALER_UNREACHABLE, 502, false},
	{2, REFUSAL_DEALER_TIMEOUT, 504, false},
	{2, REFUSAL_STORAGE_FULL, 503, true},
	{3, REFUSAL_TRANSACTION_CONFLICT, 409, false},
	{3, REFUSAL_DEALER_NOT_FOUND, 404, false},
	{3, REFUSAL_USER_NOT_FOUND, 404, false},
	{3, REFUSAL_GAME_NOT_FOUND, 404, false},
	{3, REFUSAL_BET_NOT_FOUND, 404, false},
	{3, REFUSAL_ALREADY_SETTLED, 409, false},
	{3, REFUSAL_BET_IN_PROGRESS, 409, true},
	{3, REFUSAL_INVALID_AMOUNT, 400, false},
	{3, REFUSAL_BALANCE_LIMIT, 409, false},
	{3, REFUSAL_STORAGE_FULL, 503, true},
};

START_TEST(test_refusal)
{
	const struct refusal_info *info = refusal_info(refusals[_i].refusal);
	struct verdict *verdict = verdict_of(refusals[_i].route);
	char text[128];

	verdict->refusal = refusals[_i].refusal;
	ck_assert_int_eq(ask(routes[refusals[_i].route]), refusals[_i].code);
	snprintf(text, sizeof(text), "{\"id\":\"%s\",\"code\":%d,\"status\":\"", info->id,
		refusals[_i].code);
	ck_assert_msg(strstr(reply_body(), text) == reply_body(), "%s", reply_body());
	ck_assert(strstr(reply_body(),
		refusals[_i].retryable ? "\"retryable\":true" : "\"retryable\":false"));
	ck_assert_int_eq(strstr(reply_head(), "Retry-After: 1\r\n") != NULL,
		refusals[_i].retryable);
	ck_assert_int_eq(strstr(reply_body(), "\"current_balance\":0.0") != NULL,
		refusals[_i].refusal == REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(strstr(reply_body(), "\"dealer_error\":{\"id\":\"\",\"detail\":\"\"}") !=
			NULL,
		refusals[_i].refusal == REFUSAL_BET_REJECTED);
	ck_assert_int_eq(strstr(reply_body(), "\"state\":\"") != NULL,
		refusals[_i].refusal == REFUSAL_DEALER_TIMEOUT);
	ck_assert(strstr(reply_head(), "Replay") == NULL);
	/* A recorded result is marked as a replay. */
	fake_lock(&fake);
	verdict->replay = true;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(routes[refusals[_i].route]), refusals[_i].code);
	ck_assert(reply_has("X-Idempotent-Replay: true"));
}
END_TEST

START_TEST(test_refusal_details)
{
	struct bet_place_result *bet = &fake.results.bet_place;
	static const struct {
		const char *body, *detail;
	} payouts[] = {
		{"\"loss\",\"payout_amount\":1}", "payout_amount: must be 0 for a loss"},
		{"\"refund\",\"payout_amount\":1}", "payout_amount: must be what was staked"},
		{"\"win\",\"payout_amount\":1}", "payout_amount: more decimals than the dealer"},
	};
	char body[256];

	bet->verdict.refusal = REFUSAL_INVALID_AMOUNT;
	ck_assert_int_eq(ask(&bets), 400);
	ck_assert(strstr(reply_body(), "\"bet_amount: more decimals than the dealer has\""));
	fake_lock(&fake);
	bet->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
	text_copy(bet->verdict.field, sizeof(bet->verdict.field), "game_id");
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bets), 409);
	ck_assert(strstr(reply_body(), "\"field\":\"game_id\""));
	fake_lock(&fake);
	bet->verdict.refusal = REFUSAL_BET_REJECTED;
	bet->verdict.field[0] = '\0';
	text_copy(bet->bet.dealer_error_id, DEALER_ERROR_ID_SIZE, "no_credit");
	text_copy(bet->bet.dealer_error_detail, DEALER_ERROR_TEXT_SIZE, "no \"credit\"");
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bets), 409);
	ck_assert(strstr(reply_body(),
		"\"dealer_error\":{\"id\":\"no_credit\","
		"\"detail\":\"no \\\"credit\\\"\"}}"));
	fake_lock(&fake);
	bet->verdict.refusal = REFUSAL_DEALER_TIMEOUT;
	bet->bet.state = BET_REFUNDING;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bets), 504);
	ck_assert(strstr(reply_body(), "is being refunded"));
	ck_assert(strstr(reply_body(), "\"state\":\"refunding\"}"));
	fake_lock(&fake);
	bet->bet.state = BET_REFUNDED;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&bets), 504);
	ck_assert(strstr(reply_body(), "was refunded"));
	ck_assert(strstr(reply_body(), "\"state\":\"refunded\"}"));
	ck_assert(strstr(reply_body(), "dealer_error") == NULL);

	fake.results.round_settle.verdict.refusal = REFUSAL_INVALID_AMOUNT;
	for (size_t i = 0; i < sizeof(payouts) / sizeof(payouts[0]); i++) {
		snprintf(body, sizeof(body),
			"{\"request_transaction_id\":\"r\","
			"\"player_id\":\"p\",\"game_id\":\"g\",\"result\":%s",
			payouts[i].body);
		ck_assert_int_eq(ask(&(struct ask){.path = RESULTS, .body = body}), 400);
		ck_assert_msg(strstr(reply_body(), payouts[i].detail), "%s", reply_body());
	}
}
END_TEST

/* The longest text of a dealer, with every character escaped, fits. */
START_TEST(test_longest_refusal)
{
	struct bet_place_result *bet = &fake.results.bet_place;

	bet->verdict.refusal = REFUSAL_BET_REJECTED;
	memset(bet->bet.dealer_error_id, '\x01', DEALER_ERROR_ID_SIZE - 1);
	memset(bet->bet.dealer_error_detail, '\x01', DEALER_ERROR_TEXT_SIZE - 1);
	ck_assert_int_eq(ask(&bets), 409);
	ck_error("bet_rejected");
	ck_assert_int_eq(reply_body()[worker.reply.body.len - 1], '}');
}
END_TEST

/* Internal failures: 503 promises that nothing moved. */
static const struct {
	int route;
	enum fake_act act;
	int code;
} failures[] = {
	{0, FAKE_SILENT, 500},
	{0, FAKE_BUSY, 503},
	{0, FAKE_FAULT, 500},
	{1, FAKE_SILENT, 503},
	{1, FAKE_CUT, 503},
	{1, FAKE_BUSY, 503},
	{2, FAKE_SILENT, 500},
	{2, FAKE_CUT, 500},
	{2, FAKE_BUSY, 503},
	{2, FAKE_FAULT, 500},
	{3, FAKE_SILENT, 500},
	{3, FAKE_CUT, 500},
	{3, FAKE_BUSY, 503},
	{3, FAKE_FORBIDDEN, 500},
};

START_TEST(test_failure)
{
	fake.acts[commands[failures[_i].route]] = failures[_i].act;
	service.ledger_deadline_ms = 600;
	ck_assert_int_eq(ask(routes[failures[_i].route]), failures[_i].code);
	if (failures[_i].code == 503)
		ck_error("service_unavailable");
	else
		ck_error("internal_error");
	ck_assert(reply_has("Retry-After: 1"));
}
END_TEST

START_TEST(test_groups)
{
	ck_assert_ptr_nonnull(worker.sender);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 404);
	ck_error("not_found");
	ck_assert_int_eq(ask(&(struct ask){.path = BALANCE, .body = BODY_BALANCE}), 404);
	for (int i = 0; i < ROUTE_COUNT; i++) {
		struct ask what = *routes[i];

		what.method = "GET";
		ck_assert_int_eq(ask(&what), 405);
		ck_assert(reply_has("Allow: POST"));
	}
	worker_free(&worker);
	service.group = SERVE_WALLET;
	ck_assert(worker_init(&worker, &service));
	ck_assert_ptr_null(worker.sender);
	for (int i = 0; i < ROUTE_COUNT; i++) {
		ck_assert_int_eq(ask(routes[i]), 404);
		ck_error("not_found");
		ck_assert_uint_eq(fake.calls[commands[i]], 0);
	}
}
END_TEST

/* All 401s of the platform are the same answer and cost the same work. */
START_TEST(test_signature)
{
	static char long_client[200];
	const struct {
		struct ask ask;
		unsigned int work;
	} cases[] = {
		{{.caller = "-"}, 0},
		{{.caller = ""}, 0},
		{{.signature = "-"}, 0},
		{{.signature = ""}, 0},
		{{.caller = "nobody"}, AUTH_WORK},
		{{.caller = "nobody", .key = ""}, AUTH_WORK},
		{{.caller = "demo"}, AUTH_WORK}, /* a dealer is not a client */
		{{.caller = "Game"}, AUTH_WORK},
		{{.caller = "game,other"}, 0},
		{{.caller = "game "}, 0},
		{{.caller = long_client}, AUTH_WORK},
		{{.key = KEY_OTHER}, AUTH_WORK},
		{{.caller = "other", .key = ""}, AUTH_WORK}, /* its second slot is empty */
		{{.signature = "not hex at all"}, 0},
		{{.more = {"HTTP_X_CLIENT_ID=game"}}, 0},
		{{.more = {"HTTP_X_CLIENT_SIGNATURE=00"}}, 0},
	};
	char head[2048] = "", body[2048] = "", good[SIGNATURE_TEXT_MAX];

	memset(long_client, 'g', sizeof(long_client) - 1);
	ck_assert_int_eq(ask(&bets), 200);
	ck_assert_uint_eq(signatures, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ask what = cases[i].ask;
		size_t more = 0;

		while (what.more[more])
			more++;
		what.more[more] = "HTTP_X_REQUEST_ID=fixed";
		what.path = BETS;
		what.body = BODY_BET;
		ck_assert_msg(ask(&what) == 401, "case %zu: %s", i, reply_head());
		ck_assert_uint_eq(signatures, cases[i].work);
		if (i == 0) {
			text_copy(head, sizeof(head), reply_head());
			text_copy(body, sizeof(body), reply_body());
			ck_error("invalid_signature");
			ck_assert(strstr(body, "client id"));
		}
		ck_assert_str_eq(reply_head(), head);
		ck_assert_str_eq(reply_body(), body);
	}
	ck_assert_uint_eq(fake.calls[COMMAND_BET_PLACE], 1);
	/* A dealer's headers do not count here. */
	ck_assert(signature_make(HMAC_SHA256, ENCODING_HEX, KEY_ONE, BODY_BET, strlen(BODY_BET),
		good));
	for (char *at = good; *at; at++)
		*at = *at >= 'a' && *at <= 'f' ? (char)(*at - 'a' + 'A') : *at;
	ck_assert_int_eq(ask(&(struct ask){.path = BETS, .body = BODY_BET, .signature = good}),
		200);
	ck_assert(signature_make(HMAC_SHA256, ENCODING_BASE64, KEY_ONE, BODY_BET, strlen(BODY_BET),
		good));
	ck_assert_int_eq(ask(&(struct ask){.path = BETS, .body = BODY_BET, .signature = good}),
		200);
	good[strlen(good) - 1] = '\0';
	ck_assert_int_eq(ask(&(struct ask){.path = BETS, .body = BODY_BET, .signature = good}),
		401);
	ck_assert_int_eq(ask(&(struct ask){.path = BETS,
				 .body = BODY_BET,
				 .caller = "-",
				 .signature = "-",
				 .more = {"HTTP_X_CASINO_ID=game"}}),
		401);
	ck_assert_int_eq(ask(&(struct ask){.path = BETS, .body = BODY_BET, .key = KEY_TWO}), 200);
}
END_TEST

START_TEST(test_removed_client)
{
	int64_t asked_ms;

	ck_assert_int_eq(ask(&bets), 200);
	ck_assert_int_eq(fake.cmds.keyring.of, KEYRING_CLIENTS);
	ck_assert_uint_eq(worker.auth.keyring.count, 2);
	/* The worker does not ask for keys while the ledger confirms them ... */
	asked_ms = worker.link.asked_ms;
	fake_lock(&fake);
	memset(fake.clients[0].keys, 0, sizeof(fake.clients[0].keys));
	fake.generation++;
	fake_unlock(&fake);
	ck_assert_int_eq(ask_at(&bets, NOW_MS, asked_ms + KEYRING_FRESH_MS), 200);
	/* ... and any answer reports that they have changed. */
	ck_assert_int_eq(ask(&bets), 401);
	ck_assert_uint_eq(fake.calls[COMMAND_BET_PLACE], 2);

	fake_lock(&fake);
	text_copy(fake.clients[0].keys[0].key_id, KEY_ID_SIZE, "k3");
	text_copy(fake.clients[0].keys[0].secret, KEY_SECRET_SIZE, KEY_ONE);
	fake.generation++;
	fake_unlock(&fake);
	ck_assert_int_eq(ask_at(&bets, NOW_MS, worker.link.asked_ms + KEYRING_FRESH_MS + 1), 200);
}
END_TEST

Suite *web_platform_suite(void)
{
	const TTest *const tests[] = {test_players, test_balance, test_player_names, test_bet,
		test_result, test_payouts, test_long_remark, test_refusal_details,
		test_longest_refusal, test_groups, test_signature, test_removed_client};
	Suite *suite = suite_create("web_platform");
	TCase *tcase = tcase_create("platform");

	tcase_add_checked_fixture(tcase, web_case_platform, web_case_teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_loop_test(tcase, test_bad_body, 0,
		(int)(sizeof(bad_bodies) / sizeof(bad_bodies[0])));
	tcase_add_loop_test(tcase, test_refusal, 0, (int)(sizeof(refusals) / sizeof(refusals[0])));
	tcase_add_loop_test(tcase, test_failure, 0, (int)(sizeof(failures) / sizeof(failures[0])));
	suite_add_tcase(suite, tcase);
	return suite;
}
