/* C players and balance: registers a player, and reports a player's credit. */
#include "web/handlers/send_callback.h"

#include "base/text.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

/* The answers (contract, "Group C: what game servers call"). */
static const struct field registered_fields[] = {
	FIELD(FIELD_STR, player_register_result, player_id),
	FIELD(FIELD_STR, player_register_result, user_id),
	FIELD(FIELD_STR, player_register_result, casino_id),
	FIELD(FIELD_STR, player_register_result, currency),
	FIELD(FIELD_BOOL, player_register_result, created),
	FIELD_END,
};
static const struct field balance_fields[] = {
	FIELD(FIELD_STR, player_balance_result, player_id),
	FIELD(FIELD_STR, player_balance_result, user_id),
	FIELD(FIELD_MONEY, player_balance_result, balance),
	FIELD(FIELD_STR, player_balance_result, currency),
	FIELD_END,
};

bool web_request_player_named(struct web_request *web, const struct player_body *body,
	struct player_ref *ref)
{
	const char *missing = NULL;

	if (!body->player_id[0] && !body->casino_id[0] && !body->user_id[0])
		missing = "player_id: is required, or casino_id and user_id";
	else if (!body->player_id[0] && !body->casino_id[0])
		missing = "casino_id: is required with user_id";
	else if (!body->player_id[0] && !body->user_id[0])
		missing = "user_id: is required with casino_id";
	if (missing) {
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST, missing);
		return false;
	}
	/* An id that is too long names no player. It must not be cut to another player's id. */
	if (!text_copy(ref->player_id, sizeof(ref->player_id), body->player_id))
		text_copy(ref->player_id, sizeof(ref->player_id), "-");
	text_copy(ref->casino_id, sizeof(ref->casino_id), body->casino_id);
	text_copy(ref->user_id, sizeof(ref->user_id), body->user_id);
	return true;
}

bool web_request_player(struct web_request *web, const struct player_body *body,
	struct player_ref *ref)
{
	return web_request_player_named(web, body, ref) && web_request_route(web, ref);
}

void handle_register(struct web_request *web)
{
	const struct register_body *body = &web->body.enrolment;
	struct player_register_cmd cmd = {.casino_id = ""};
	struct player_register_result result;
	struct player_ref player = {.player_id = ""};
	enum status status = STATUS_NOMEM;

	text_copy(cmd.casino_id, sizeof(cmd.casino_id), body->casino_id);
	text_copy(cmd.user_id, sizeof(cmd.user_id), body->user_id);
	text_copy(player.casino_id, sizeof(player.casino_id), body->casino_id);
	if (!web_request_route(web, &player))
		return;
	memset(&result, 0, sizeof(result));
	if (signature_random_id(cmd.player_id, sizeof(cmd.player_id)))
		status = link_call(web->link, COMMAND_PLAYER_REGISTER, &cmd, &result,
			web->deadline_ms);
	if (status == STATUS_OK)
		reply_verdict(web->reply, &result.verdict, registered_fields, &result);
	else
		reply_fail(web->reply, status, CALL_MOVES);
}

/* Replies with the result of B1. */
static void inquiry_answer(struct http_reply *reply, const struct callback_outcome *outcome,
	struct player_balance_result *result)
{
	static const enum refusal refusals[CALLBACK_CLASS_COUNT] = {
		[CALLBACK_UNKNOWN] = REFUSAL_DEALER_TIMEOUT,
		[CALLBACK_SUCCESS] = REFUSAL_DEALER_BAD_ANSWER,
		[CALLBACK_REFUSED] = REFUSAL_DEALER_REFUSED,
		[CALLBACK_NOT_SENT] = REFUSAL_DEALER_UNREACHABLE,
	};
	struct error_body error = {.refusal = refusals[outcome->class]};
	char unusable[64];

	if (callback_balance_ok(outcome, result->user_id, result->currency)) {
		result->balance = outcome->balance;
		reply_success(reply, balance_fields, result);
		return;
	}
	if (outcome->class == CALLBACK_REFUSED) {
		error.dealer_error_id = outcome->dealer_error_id;
		error.dealer_error_detail = outcome->dealer_error_detail;
	}
	if (outcome->class == CALLBACK_UNKNOWN) {
		/* An inquiry moves nothing, so it may be repeated. */
		snprintf(unusable, sizeof(unusable),
			"the dealer's answer cannot be used (HTTP status %u)",
			(unsigned int)outcome->http_status);
		error.detail = outcome->http_status ? unusable : "the dealer did not answer";
		error.retryable = true;
	}
	reply_error(reply, &error);
}

void handle_player_balance(struct web_request *web)
{
	struct player_balance_cmd cmd = {.player = {.player_id = ""}};
	struct player_balance_result result;
	struct callback_outcome outcome;
	struct callback_end_result end;
	enum status status;

	if (!web_request_player(web, &web->body.player_balance.player, &cmd.player))
		return;
	memset(&result, 0, sizeof(result));
	status = link_call(web->link, COMMAND_PLAYER_BALANCE, &cmd, &result, web->deadline_ms);
	/* Only the dealer knows the credit of a seamless player. */
	if (status == STATUS_OK && result.verdict.refusal == REFUSAL_NONE &&
		result.mode == WALLET_SEAMLESS && !result.send.event)
		status = STATUS_FAULT;
	if (status != STATUS_OK) {
		reply_fail(web->reply, status, CALL_READS);
	} else if (result.verdict.refusal == REFUSAL_NONE && result.send.event) {
		/* The answer does not depend on the ledger's. */
		send_callback_run(web, result.casino_id, &result.send, &outcome, &end);
		inquiry_answer(web->reply, &outcome, &result);
	} else {
		reply_verdict(web->reply, &result.verdict, balance_fields, &result);
	}
}
