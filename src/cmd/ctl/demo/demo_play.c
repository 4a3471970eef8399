/*
 * demo_play - the calls of `demo`: as a game server makes them over HTTP, or as a worker of the
 * platform makes them for one.
 */
#include "cmd/ctl/demo/demo.h"

#include "admin/list.h"
#include "admin/ping.h"
#include "base/text.h"
#include "callback/granted.h"
#include "callback/http.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 5000
#define TOTAL_TIMEOUT_MS   30000
#define CALL_BODY_SIZE     1024
#define URL_MAX            2048
#define USER_BET           "{\"colour\":\"red\"}"
#define GAME_RESULT        "{\"number\":7}"

/* Prints the calls that the demo dealer received. */
static void say_exchanges(const struct demo *demo)
{
	struct demo_exchange exchange;

	while (demo_dealer_take(demo->server, &exchange)) {
		demo_say(demo, "     platform to dealer:  POST %s %s", exchange.path,
			exchange.body);
		demo_say(demo, "     the dealer answers:  %d %s", exchange.code, exchange.answer);
	}
}

/* ---- over HTTP */

static enum outcome judge_call(struct demo *demo, const char *url, enum http_outcome outcome,
	const struct http_answer *answer)
{
	const char *remedy = http_fault_remedy(answer->fault);

	if (outcome == HTTP_NOT_SENT || outcome == HTTP_FAILED)
		return ctl_fail(demo->ctl, OUTCOME_UNREACHABLE, "unreachable",
			"%s: %s%s%s; give --platform-url=URL as game servers call it, or leave it out",
			url, answer->error, remedy[0] ? "; " : "", remedy);
	if (outcome != HTTP_ANSWERED)
		return ctl_fail(demo->ctl, OUTCOME_UNREACHABLE, "outcome_unknown", "%s: %s", url,
			answer->error);
	if (answer->code != 200)
		return ctl_fail(demo->ctl, OUTCOME_FAILED, "demo_failed",
			"%s: HTTP %d, where 200 was expected: %.*s", url, answer->code,
			(int)(answer->body.len < 400 ? answer->body.len : 400),
			answer->body.len ? (const char *)answer->body.data : "");
	return OUTCOME_DONE;
}

/* POSTs @body to the platform's mount as the demo game server. */
static enum outcome post_call(struct demo *demo, const char *path, const char *body)
{
	char signature[SIGNATURE_TEXT_MAX], url[URL_MAX];
	const struct http_header headers[] = {
		{"x-client-id", DEMO_CLIENT},
		{"x-client-signature", signature},
		{"Content-Type", "application/json"},
	};
	const struct http_call call = {
		.method = "POST",
		.url = url,
		.headers = headers,
		.header_count = sizeof(headers) / sizeof(headers[0]),
		.body = body,
		.body_len = strlen(body),
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.total_timeout_ms = TOTAL_TIMEOUT_MS,
	};
	struct http_client *client = http_client_new();
	struct http_answer answer;
	size_t len = strlen(demo->platform_url);
	enum outcome code;

	if (!client ||
		!signature_make(HMAC_SHA256, ENCODING_HEX, demo->client_secret, body, strlen(body),
			signature)) {
		http_client_free(client);
		return ctl_no_memory(demo->ctl);
	}
	while (len && demo->platform_url[len - 1] == '/')
		len--;
	snprintf(url, sizeof(url), "%.*s%s", (int)(len < 1900 ? len : 1900), demo->platform_url,
		path);
	demo_say(demo, "     game server calls:   POST %s %s", path, body);
	http_answer_init(&answer);
	code = judge_call(demo, url, http_exchange(client, &call, &answer), &answer);
	say_exchanges(demo);
	if (code == OUTCOME_DONE)
		demo_say(demo, "     the platform answers: %d %.*s", answer.code,
			(int)(answer.body.len < 400 ? answer.body.len : 400),
			(const char *)answer.body.data);
	http_answer_free(&answer);
	http_client_free(client);
	return code;
}

/* ---- as a worker */

/* Sends the callback that the ledger granted, and reports the dealer's answer to the ledger. */
static enum outcome send_granted(struct demo *demo, struct callback_grant *grant)
{
	struct session *session = &demo->ctl->session;
	const struct sender_options options = sender_options_of(&session->settings);
	struct sender *sender = sender_new(&options);
	struct granted granted;
	struct callback_request request = granted_request(&granted, grant, session->link.asked_ms,
		"", session->settings.callback_timeout_ms);
	struct callback_end_result end;
	struct failure failure;
	enum outcome code;

	if (!sender) {
		explicit_bzero(grant->target.keys, sizeof(grant->target.keys));
		return ctl_no_memory(demo->ctl);
	}
	callback_send(sender, &request, &granted.end.outcome);
	sender_free(sender);
	explicit_bzero(grant->target.keys, sizeof(grant->target.keys));
	say_exchanges(demo);
	code = session_try(session, COMMAND_CALLBACK_END, &granted.end, &end, &failure);
	if (code != OUTCOME_DONE && failure.id[0])
		return ctl_fail(demo->ctl, code, failure.id, "%s (the dealer's answer: %s%s%s)",
			failure.detail, callback_class_names[granted.end.outcome.class],
			granted.end.outcome.note[0] ? ", " : "", granted.end.outcome.note);
	return code;
}

/*
 * Ends a command that may have granted a callback. A granted one is unfinished, so its verdict is a
 * refusal.
 */
static enum outcome finish_command(struct demo *demo, enum outcome code,
	const struct failure *failure, struct callback_grant *grant)
{
	if (grant->event)
		return send_granted(demo, grant);
	if (code != OUTCOME_DONE && failure->id[0])
		return ctl_fail(demo->ctl, code, failure->id, "%s", failure->detail);
	return code;
}

static enum outcome place_bet(struct demo *demo, const char *reference)
{
	struct bet_place_cmd cmd = {.client_id = DEMO_CLIENT,
		.player = {.casino_id = DEMO_CASINO, .user_id = DEMO_USER},
		.bet_amount = DEMO_STAKE,
		.remark = "demo",
		.user_bet = {(const uint8_t *)USER_BET, sizeof(USER_BET) - 1}};
	struct bet_place_result result;
	struct failure failure;
	enum outcome code;

	memset(&result, 0, sizeof(result));
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), reference);
	text_copy(cmd.game_id, sizeof(cmd.game_id), demo->game_id);
	if (!signature_random_number(&cmd.sender))
		return session_no_random(&demo->ctl->session);
	code = session_try(&demo->ctl->session, COMMAND_BET_PLACE, &cmd, &result, &failure);
	return finish_command(demo, code, &failure, &result.send);
}

static enum outcome settle_round(struct demo *demo, const char *reference)
{
	struct round_settle_cmd cmd = {.client_id = DEMO_CLIENT,
		.player = {.casino_id = DEMO_CASINO, .user_id = DEMO_USER},
		.result = RESULT_WIN,
		.payout_amount = DEMO_PAYOUT,
		.remark = "demo",
		.game_result = {(const uint8_t *)GAME_RESULT, sizeof(GAME_RESULT) - 1}};
	struct round_settle_result result;
	struct failure failure;
	enum outcome code;

	memset(&result, 0, sizeof(result));
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), reference);
	text_copy(cmd.game_id, sizeof(cmd.game_id), demo->game_id);
	if (!signature_random_number(&cmd.sender))
		return session_no_random(&demo->ctl->session);
	code = session_try(&demo->ctl->session, COMMAND_ROUND_SETTLE, &cmd, &result, &failure);
	return finish_command(demo, code, &failure, &result.send);
}

/* ---- the steps */

/* Fetches the bet, which must be in @state. */
static enum outcome expect_state(struct demo *demo, enum bet_state state)
{
	enum outcome code;
	bool found = false;

	memset(&demo->bet, 0, sizeof(demo->bet));
	memcpy(demo->bet.player_id, demo->player.player_id, sizeof(demo->bet.player_id));
	text_copy(demo->bet.game_id, sizeof(demo->bet.game_id), demo->game_id);
	demo->bet.number = 1;
	code = list_fetch(&demo->ctl->session, RECORD_BET, &demo->bet, &found, NULL);
	if (code != OUTCOME_DONE || (found && demo->bet.state == state))
		return code;
	return ctl_fail(demo->ctl, OUTCOME_FAILED, "demo_failed",
		"the bet is %s, where %s was expected; see creditbridgectl bet show %s %s",
		found ? bet_state_names[demo->bet.state] : "missing", bet_state_names[state],
		demo->player.player_id, demo->game_id);
}

enum outcome demo_balance(struct demo *demo, money_t expected)
{
	char body[CALL_BODY_SIZE], wanted[MONEY_TEXT_MAX], got[MONEY_TEXT_MAX];
	struct ping ping = {.code = OUTCOME_FAILED};
	enum outcome code;

	if (demo->platform_url) {
		snprintf(body, sizeof(body), "{\"player_id\":\"%s\"}", demo->player.player_id);
		return post_call(demo, "/platform/balance", body);
	}
	code = ping_ask(&demo->ctl->session, &demo->player, &ping);
	explicit_bzero(ping.target.keys, sizeof(ping.target.keys));
	if (code != OUTCOME_DONE)
		return code;
	say_exchanges(demo);
	if (ping.code != OUTCOME_DONE)
		return ctl_fail(demo->ctl, ping.code, ping.error_id, "%s", ping.error_detail);
	if (ping.outcome.balance == expected)
		return OUTCOME_DONE;
	money_format(expected, 2, wanted);
	money_format(ping.outcome.balance, 2, got);
	return ctl_fail(demo->ctl, OUTCOME_FAILED, "demo_failed",
		"the demo dealer's balance is %s, where %s was expected", got, wanted);
}

enum outcome demo_bet(struct demo *demo)
{
	char body[CALL_BODY_SIZE], reference[48];
	enum outcome code;

	snprintf(reference, sizeof(reference), "%s-bet", demo->game_id);
	snprintf(body, sizeof(body),
		"{\"request_transaction_id\":\"%s\",\"casino_id\":\"" DEMO_CASINO
		"\",\"user_id\":\"" DEMO_USER "\",\"game_id\":\"%s\",\"bet_amount\":10,"
		"\"remark\":\"demo\",\"user_bet\":" USER_BET "}",
		reference, demo->game_id);
	code = demo->platform_url ? post_call(demo, "/platform/bets", body)
				  : place_bet(demo, reference);
	return code == OUTCOME_DONE ? expect_state(demo, BET_ACCEPTED) : code;
}

/* The round's betting-result must be delivered. */
static enum outcome expect_delivered(struct demo *demo)
{
	struct round round = {.event = 0};
	struct callback callback;
	enum outcome code;
	bool found = false;

	memcpy(round.player_id, demo->player.player_id, sizeof(round.player_id));
	text_copy(round.game_id, sizeof(round.game_id), demo->game_id);
	code = list_fetch(&demo->ctl->session, RECORD_ROUND, &round, &found, NULL);
	memset(&callback, 0, sizeof(callback));
	callback.event = round.event;
	if (code == OUTCOME_DONE && found)
		code = list_fetch(&demo->ctl->session, RECORD_CALLBACK, &callback, &found, NULL);
	if (code != OUTCOME_DONE || (found && callback.state == CALLBACK_DELIVERED))
		return code;
	return ctl_fail(demo->ctl, OUTCOME_FAILED, "demo_failed",
		"the betting-result is %s, where delivered was expected; see creditbridgectl "
		"round show %s %s",
		found ? callback_state_names[callback.state] : "missing", demo->player.player_id,
		demo->game_id);
}

enum outcome demo_result(struct demo *demo)
{
	char body[CALL_BODY_SIZE], reference[48];
	enum outcome code;

	snprintf(reference, sizeof(reference), "%s-result", demo->game_id);
	snprintf(body, sizeof(body),
		"{\"request_transaction_id\":\"%s\",\"casino_id\":\"" DEMO_CASINO
		"\",\"user_id\":\"" DEMO_USER "\",\"game_id\":\"%s\",\"result\":\"win\","
		"\"payout_amount\":25,\"remark\":\"demo\",\"game_result\":" GAME_RESULT "}",
		reference, demo->game_id);
	code = demo->platform_url ? post_call(demo, "/platform/results", body)
				  : settle_round(demo, reference);
	if (code == OUTCOME_DONE)
		code = expect_state(demo, BET_SETTLED);
	return code == OUTCOME_DONE ? expect_delivered(demo) : code;
}
