/*
 * Tests A4 and A5: bodies become commands, and the ledger's pages become replies.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAT    "/user-service/user/stat"
#define INQUIRE "/game-service/bet_game/result-inquire"

#define BODY_STAT "{\"user_id\":\"alice\",\"request_timestamp\":1700000000000}"
#define BODY_SUMMARY                                                                               \
	"{\"user_id\":\"alice\",\"include_data\":[\"bet_summary\"],"                               \
	"\"request_timestamp\":1700000000000}"
#define BODY_INQUIRE "{\"user_id\":\"alice\",\"game_id\":\"g1\"}"

static const struct ask stat = {.path = STAT, .body = BODY_STAT};
static const struct ask summary = {.path = STAT, .body = BODY_SUMMARY};
static const struct ask inquire = {.path = INQUIRE, .body = BODY_INQUIRE};

static void stat_setup(uint32_t today)
{
	fake_lock(&fake);
	fake.results.user_stat = (struct user_stat_result){
		.user_id = "al\"ice",
		.player_id = "abcdefghijklmnopqrst",
		.currency = "thb",
		.sums = {.bet_count = 3, .turnover = 1000000, .profit_loss = -5000},
		.utc_offset_min = -210,
		.today = today,
	};
	for (unsigned int i = 0; i < STATISTICS_DAYS; i++)
		fake.results.user_stat.days[i] = (struct statistics){.bet_count = i,
			.turnover = 10000 * (money_t)i,
			.profit_loss = -(money_t)i};
	fake_unlock(&fake);
}

#define LIFETIME                                                                                   \
	"{\"user_id\":\"al\\\"ice\",\"player_id\":\"abcdefghijklmnopqrst\",\"currency\":\"thb\","  \
	"\"bet_count\":3,\"turnover\":100.0,\"profit_loss\":-0.5"

START_TEST(test_stat)
{
	static const char *const bodies[] = {BODY_STAT,
		"{\"user_id\":\"alice\",\"include_data\":[],\"request_timestamp\":1700000000000}"};
	static const char *const methods[] = {"GET", "POST"};

	stat_setup(20000);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(ask(&(struct ask){.method = methods[i],
					 .path = STAT,
					 .body = bodies[i]}),
			200);
		ck_assert_str_eq(reply_body(), LIFETIME "}");
		ck_assert_str_eq(fake.cmds.user_stat.casino_id, "demo");
		ck_assert_str_eq(fake.cmds.user_stat.user_id, "alice");
		ck_assert(!fake.cmds.user_stat.bet_summary);
	}
	ck_assert_int_eq(ask(&(struct ask){.method = "PUT", .path = STAT, .body = BODY_STAT}), 405);
	ck_assert(reply_has("Allow: GET, POST"));
}
END_TEST

/* Writes the whole answer with the days up to @today. */
static const char *expected_summary(uint32_t today)
{
	static char text[8192];
	char date[DATE_SIZE], profit[MONEY_TEXT_MAX];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s", LIFETIME ",\"bet_summary\":[");

	for (uint32_t i = 0; i < 30; i++) {
		statistics_date(today - 29 + i, date);
		money_format(-(money_t)i, 1, profit);
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			"%s{\"date\":\"%s\",\"bet_count\":%u,\"turnover\":%u.0,"
			"\"profit_loss\":%s}",
			i ? "," : "", date, i, i, profit);
	}
	snprintf(text + len, sizeof(text) - len, "],\"utc_offset\":-210}");
	return text;
}

START_TEST(test_summary)
{
	static const struct {
		uint32_t today;
		const char *first, *last;
	} cases[] = {
		{19723, "2023-12-03", "2024-01-01"}, /* across the end of a year */
		{19783, "2024-02-01", "2024-03-01"}, /* in a leap year */
		{19418, "2023-02-01", "2023-03-02"},
		{47541, "2100-01-31", "2100-03-01"}, /* not a leap year */
	};
	char part[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		stat_setup(cases[i].today);
		ck_assert_int_eq(ask(&summary), 200);
		ck_assert(fake.cmds.user_stat.bet_summary);
		ck_assert_str_eq(reply_body(), expected_summary(cases[i].today));
		snprintf(part, sizeof(part), "\"bet_summary\":[{\"date\":\"%s\",", cases[i].first);
		ck_assert_msg(strstr(reply_body(), part), "%s", reply_body());
		snprintf(part, sizeof(part), "{\"date\":\"%s\",\"bet_count\":29,", cases[i].last);
		ck_assert_msg(strstr(reply_body(), part), "%s", reply_body());
	}
}
END_TEST

/* The longest answer fits. */
START_TEST(test_longest_summary)
{
	struct user_stat_result *result = &fake.results.user_stat;

	stat_setup(47541);
	memset(result->user_id, '"', EXTERNAL_ID_SIZE - 1);
	memset(result->player_id, '\\', PLAYER_ID_SIZE - 1);
	memset(result->currency, '"', CURRENCY_SIZE - 1);
	for (unsigned int i = 0; i < STATISTICS_DAYS; i++)
		result->days[i] = (struct statistics){.bet_count = UINT64_MAX,
			.turnover = INT64_MIN,
			.profit_loss = INT64_MIN};
	ck_assert_int_eq(ask(&summary), 200);
	ck_assert(strstr(reply_body(), "],\"utc_offset\":-210}"));
}
END_TEST

/* contract, "Request timestamp" */
START_TEST(test_stat_window)
{
	static const struct {
		int64_t off_s;
		int code;
	} cases[] = {{0, 200}, {300, 200}, {-300, 200}, {301, 401}, {-301, 401}};

	stat_setup(20000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(ask_at(&summary, NOW_MS + cases[i].off_s * 1000, clock_boot_ms()),
			cases[i].code);
		if (cases[i].code == 401)
			ck_error("stale_request");
	}
	ck_assert_uint_eq(fake.calls[COMMAND_USER_STAT], 3);
	service.request_window_s = 0;
	ck_assert_int_eq(ask_at(&stat, 0, clock_boot_ms()), 200);
}
END_TEST

START_TEST(test_bad_bodies)
{
	static const struct {
		const char *path, *body, *detail;
	} cases[] = {
		{STAT, "{\"request_timestamp\":1700000000000}", "user_id: is required"},
		{STAT, "{\"user_id\":\"alice\"}", "request_timestamp: is required"},
		{STAT, "{\"user_id\":7,\"request_timestamp\":1700000000000}", "user_id: must be"},
		{STAT, "{\"user_id\":\"alice\",\"request_timestamp\":\"1700000000000\"}",
			"request_timestamp: must be an integer"},
		{STAT,
			"{\"user_id\":\"alice\",\"request_timestamp\":1700000000000,"
			"\"include_data\":\"bet_summary\"}",
			"include_data: must be an array"},
		{STAT,
			"{\"user_id\":\"alice\",\"request_timestamp\":1700000000000,"
			"\"include_data\":null}",
			"include_data: must be an array"},
		{STAT,
			"{\"user_id\":\"alice\",\"request_timestamp\":1700000000000,"
			"\"include_data\":[\"bet_summary\",\"bets\"]}",
			"include_data: holds what"},
		{STAT,
			"{\"user_id\":\"alice\",\"request_timestamp\":1700000000000,"
			"\"include_data\":[1]}",
			"include_data: holds what"},
		/* The shape is checked before the age. */
		{STAT, "{\"user_id\":\"alice\",\"request_timestamp\":1,\"include_data\":[1]}",
			"include_data: holds what"},
		{INQUIRE, "{\"user_id\":\"alice\"}", "game_id: is required"},
		{INQUIRE, "{\"game_id\":\"g\"}", "user_id: is required"},
		{INQUIRE, "{\"user_id\":\"alice\",\"game_id\":\"\"}", "game_id: must be 1 to 128"},
		{INQUIRE, "[]", "the body is not a JSON object"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(ask(&(struct ask){.path = cases[i].path, .body = cases[i].body}),
			400);
		ck_error("bad_request");
		ck_assert_msg(strstr(reply_body(), cases[i].detail), "%s", reply_body());
	}
	ck_assert_uint_eq(fake.calls[COMMAND_USER_STAT], 0);
	ck_assert_uint_eq(fake.calls[COMMAND_RESULT_INQUIRE], 0);
}
END_TEST

START_TEST(test_refusals)
{
	static const struct {
		enum refusal refusal;
		int code;
		const char *id;
	} cases[] = {
		{REFUSAL_USER_NOT_FOUND, 404, "user_not_found"},
		{REFUSAL_GAME_NOT_FOUND, 404, "game_not_found"},
		{REFUSAL_RATE_LIMITED, 429, "rate_limited"},
		{REFUSAL_INVALID_SIGNATURE, 401, "invalid_signature"},
	};
	char begin[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_lock(&fake);
		fake.results.user_stat.verdict.refusal = cases[i].refusal;
		fake.results.result_inquire.verdict.refusal = cases[i].refusal;
		fake_unlock(&fake);
		snprintf(begin, sizeof(begin), "{\"id\":\"%s\",", cases[i].id);
		ck_assert_int_eq(ask(&summary), cases[i].code);
		ck_assert(strstr(reply_body(), begin) == reply_body());
		ck_assert_int_eq(ask(&inquire), cases[i].code);
		ck_assert(strstr(reply_body(), begin) == reply_body());
	}
}
END_TEST

/* The game that the fake ledger returns. */
static struct {
	struct bet bets[ROUND_BETS_MAX];
	uint32_t count;
	uint32_t page;       /* bets in one answer */
	uint32_t settles_at; /* from this call on the round is settled; 0: it stays unchanged */
	uint32_t fails_at;   /* this call is not answered; 0: all are */
	bool endless;        /* every page announces another one */
	bool damaged;
	struct buffer rows;
} game;

/* Answers RESULT_INQUIRE as the ledger does. */
static void answer_page(struct fake_ledger *ledger, enum command command)
{
	struct result_inquire_result *result = &ledger->results.result_inquire;
	uint32_t from = ledger->cmds.result_inquire.after_bet;
	uint32_t call = ledger->calls[COMMAND_RESULT_INQUIRE];

	if (command != COMMAND_RESULT_INQUIRE)
		return;
	ledger->acts[command] = call == game.fails_at && call ? FAKE_BUSY : FAKE_ANSWER;
	if (game.settles_at && call == game.settles_at) {
		result->round.state = ROUND_SETTLED;
		result->round.result = result->round.current_result = RESULT_LOSS;
		for (uint32_t i = 0; i < game.count; i++)
			game.bets[i].state = BET_SETTLED;
	}
	buffer_reset(&game.rows);
	result->count = 0;
	result->last_bet = from;
	while (result->count < game.page && result->last_bet < game.count) {
		ck_assert(pack_record(&game.rows, bet_fields, &game.bets[result->last_bet++]));
		result->count++;
	}
	result->more = game.endless || result->last_bet < game.count;
	if (game.damaged)
		game.rows.len--;
	result->bets = (struct bytes){game.rows.data, (uint32_t)game.rows.len};
}

static struct bytes text_bytes(const char *text)
{
	return (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)};
}

/* Makes a game with @count bets whose states repeat those in @states. */
static void game_setup(uint32_t count, const enum bet_state *states, uint32_t state_count)
{
	buffer_free(&game.rows);
	memset(&game, 0, sizeof(game));
	buffer_init(&game.rows, FRAME_MAX);
	game.page = 64;
	game.count = count;
	for (uint32_t i = 0; i < count; i++)
		game.bets[i] = (struct bet){
			.number = i + 1,
			.transaction_id = 1000 + i,
			.state = states[i % state_count],
			.bet_amount = 15000,
			.accepted_ms = 1700000000000 + i,
		};
	fake_lock(&fake);
	fake.prepare = answer_page;
	fake.calls[COMMAND_RESULT_INQUIRE] = 0;
	fake.results.result_inquire =
		(struct result_inquire_result){.round = {.user_id = "al\"ice",
						       .player_id = "abcdefghijklmnopqrst",
						       .game_id = "g1"}};
	fake_unlock(&fake);
}

static void settle(enum round_result result)
{
	struct round *round = &fake.results.result_inquire.round;

	round->state = ROUND_SETTLED;
	round->result = result;
	round->bet_amount = 100000;
	round->addition_amount = 5000;
	round->win_amount = 95000;
	round->payout_amount = round->current_payout = 200000;
	round->current_result = result;
	round->settled_ms = 1700000009999;
}

static void game_teardown(void)
{
	web_case_teardown();
	buffer_free(&game.rows);
}

#define GAME "{\"user_id\":\"al\\\"ice\",\"player_id\":\"abcdefghijklmnopqrst\",\"game_id\":\"g1\","

START_TEST(test_pending)
{
	static const enum bet_state states[] = {BET_ACCEPTED, BET_PENDING, BET_REJECTED};
	static const char *const methods[] = {"GET", "POST"};

	game_setup(3, states, 3);
	game.bets[0].user_bet =
		text_bytes("{ \"red\" : 0.10,\n\"n\":[1e400,0.30000000000000004] }");
	text_copy(game.bets[0].remark, REMARK_SIZE, "ro\xc3\xbb\"");
	game.bets[1].addition = true;
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(ask(&(struct ask){.method = methods[i],
					 .path = INQUIRE,
					 .body = BODY_INQUIRE}),
			200);
		ck_assert_str_eq(fake.cmds.result_inquire.casino_id, "demo");
		ck_assert_str_eq(fake.cmds.result_inquire.user_id, "alice");
		ck_assert_str_eq(fake.cmds.result_inquire.game_id, "g1");
		ck_assert_str_eq(reply_body(),
			GAME
			"\"status\":\"pending\",\"bets\":["
			"{\"transaction_id\":1000,\"bet_amount\":1.5,\"addition\":false,"
			"\"timestamp\":1700000000000,\"state\":\"accepted\",\"remark\":\"ro\xc3\xbb\\\"\","
			"\"user_bet\":{ \"red\" : 0.10, \"n\":[1e400,0.30000000000000004] }},"
			"{\"transaction_id\":1001,\"bet_amount\":1.5,\"addition\":true,"
			"\"timestamp\":1700000000001,\"state\":\"pending\",\"remark\":\"\",\"user_bet\":{}},"
			"{\"transaction_id\":1002,\"bet_amount\":1.5,\"addition\":false,"
			"\"timestamp\":1700000000002,\"state\":\"rejected\",\"remark\":\"\",\"user_bet\":{}}]}");
	}
}
END_TEST

START_TEST(test_settled)
{
	static const enum bet_state states[] = {BET_SETTLED};
	struct round *round = &fake.results.result_inquire.round;

	game_setup(1, states, 1);
	settle(RESULT_WIN);
	round->user_bet = text_bytes("{\"a\":1.0}");
	round->game_result = text_bytes("{\"b\":1E+2}");
	round->user_bet_result = text_bytes("{\"c\":-0}");
	ck_assert_int_eq(ask(&inquire), 200);
	ck_assert_str_eq(reply_body(),
		GAME
		"\"status\":\"settled\",\"result\":\"win\","
		"\"bet_amount\":10.0,\"addition_amount\":0.5,\"win_amount\":9.5,"
		"\"payout_amount\":20.0,\"timestamp\":1700000009999,\"user_bet\":{\"a\":1.0},"
		"\"game_result\":{\"b\":1E+2},\"user_bet_result\":{\"c\":-0},\"bets\":["
		"{\"transaction_id\":1000,\"bet_amount\":1.5,\"addition\":false,"
		"\"timestamp\":1700000000000,\"state\":\"settled\",\"remark\":\"\",\"user_bet\":{}}]}");

	/* Missing objects are not shown. A refund is another status. */
	settle(RESULT_REFUND);
	round->user_bet = round->game_result = round->user_bet_result = (struct bytes){NULL, 0};
	ck_assert_int_eq(ask(&inquire), 200);
	ck_assert(strstr(reply_body(), "\"status\":\"refunded\",\"result\":\"refund\","));
	ck_assert(strstr(reply_body(), "\"timestamp\":1700000009999,\"bets\":[{"));
}
END_TEST

START_TEST(test_statuses)
{
	static const enum bet_state rejected[] = {BET_REJECTED};
	static const enum bet_state refunded[] = {BET_REFUNDED, BET_REFUNDING, BET_REJECTED};

	game_setup(100, rejected, 1);
	ck_assert_int_eq(ask(&inquire), 404);
	ck_error("game_not_found");
	game_setup(100, refunded, 3);
	ck_assert_int_eq(ask(&inquire), 200);
	ck_assert(!worker.reply.large.failed && worker.reply.large.len);
	ck_assert(memmem(worker.reply.large.data, worker.reply.large.len,
		"\"status\":\"refunded\",\"bets\":[{", 29));
}
END_TEST

/* Returns how often @part is in the answer. */
static unsigned int count_of(const char *part)
{
	const struct buffer *body = reply_content(&worker.reply);
	const uint8_t *at = body->data, *end = at + body->len;
	unsigned int count = 0;

	while ((at = memmem(at, (size_t)(end - at), part, strlen(part)))) {
		at += strlen(part);
		count++;
	}
	return count;
}

/* A full round with objects of the maximum size is answered completely. */
START_TEST(test_largest)
{
	static const enum bet_state states[] = {BET_SETTLED};
	const uint32_t size = BODY_MAX - 200;
	char *object = malloc(size), line[64];
	const struct buffer *body;

	ck_assert(object);
	memset(object, 'x', size);
	memcpy(object, "{\"k\":\"", 6);
	memcpy(object + size - 2, "\"}", 2);
	game_setup(ROUND_BETS_MAX, states, 1);
	game.page = 1;
	settle(RESULT_WIN);
	fake.results.result_inquire.round.game_result = (struct bytes){(uint8_t *)object, size};
	for (uint32_t i = 0; i < ROUND_BETS_MAX; i++) {
		game.bets[i].user_bet = (struct bytes){(uint8_t *)object, size};
		memset(game.bets[i].remark, '"', REMARK_SIZE - 1);
		game.bets[i].bet_amount = MONEY_MAX;
		game.bets[i].transaction_id = TRANSACTION_ID_MAX;
	}
	service.ledger_deadline_ms = 60000;
	ck_assert_int_eq(ask(&inquire), 200);
	body = reply_content(&worker.reply);
	ck_assert_uint_gt(body->len, (size_t)(ROUND_BETS_MAX + 1) * size);
	ck_assert_uint_le(body->len, REPLY_LARGE_MAX);
	snprintf(line, sizeof(line), "Content-Length: %zu", body->len);
	ck_assert(reply_has(line));
	ck_assert_uint_eq(count_of("{\"transaction_id\":9007199254740991,"), ROUND_BETS_MAX);
	ck_assert(memcmp(body->data + body->len - 5, "\"}}]}", 5) == 0);
	ck_assert_uint_eq(fake.calls[COMMAND_RESULT_INQUIRE], ROUND_BETS_MAX);
	/* Its memory is freed. */
	ck_assert_int_eq(ask(&(struct ask){.path = "/nowhere"}), 404);
	ck_error("not_found");
	ck_assert(!worker.reply.large.data);
	free(object);
}
END_TEST

/* A game that is settled between two pages is read again. No answer mixes the two. */
START_TEST(test_settled_between)
{
	static const enum bet_state states[] = {BET_ACCEPTED};

	game_setup(200, states, 1);
	game.settles_at = 3;
	ck_assert_int_eq(ask(&inquire), 200);
	ck_assert_uint_eq(count_of("\"status\":\"settled\",\"result\":\"loss\","), 1);
	ck_assert_uint_eq(count_of("\"state\":\"settled\""), 200);
	ck_assert_uint_eq(count_of("\"state\":"), 200);
	/* Two pages, the page that shows the settlement, and all four again. */
	ck_assert_uint_eq(fake.calls[COMMAND_RESULT_INQUIRE], 7);
}
END_TEST

START_TEST(test_bad_pages)
{
	static const enum bet_state states[] = {BET_SETTLED};

	game_setup(200, states, 1);
	game.fails_at = 2;
	ck_assert_int_eq(ask(&inquire), 503);
	ck_error("service_unavailable");
	game_setup(200, states, 1);
	game.damaged = true;
	ck_assert_int_eq(ask(&inquire), 500);
	ck_error("internal_error");
	game_setup(200, states, 1);
	game.endless = true;
	ck_assert_int_eq(ask(&inquire), 500);
	ck_error("internal_error");
	ck_assert_uint_eq(fake.calls[COMMAND_RESULT_INQUIRE], 2 * ROUND_BETS_MAX);
	ck_assert(!worker.ended);
}
END_TEST

Suite *web_reports_suite(void)
{
	const TTest *const tests[] = {test_stat, test_summary, test_longest_summary,
		test_stat_window, test_bad_bodies, test_refusals, test_pending, test_settled,
		test_statuses, test_largest, test_settled_between, test_bad_pages};
	Suite *suite = suite_create("web_reports");
	TCase *tcase = tcase_create("reports");

	tcase_add_checked_fixture(tcase, web_case_setup, game_teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
