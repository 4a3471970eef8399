/* C bets: places a bet, and sends it to a seamless dealer. */
#include "web/handlers/send_callback.h"

#include "base/log.h"
#include "base/text.h"
#include "domain/wager.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The answer (contract, "Bets"), without a balance and with one. */
static const struct field accepted_fields[] = {
	FIELD(FIELD_U64, bet_answer, transaction_id),
	FIELD_NAMED(bet_answer, state, bet_state_names, BET_STATE_COUNT),
	FIELD_END,
};
static const struct field balance_fields[] = {
	FIELD(FIELD_U64, bet_answer, transaction_id),
	FIELD_NAMED(bet_answer, state, bet_state_names, BET_STATE_COUNT),
	FIELD(FIELD_MONEY, bet_answer, balance),
	FIELD_END,
};

/* Replies with the result of a bet. */
static void bet_reply(struct http_reply *reply, const struct verdict *verdict,
	const struct bet_answer *bet)
{
	struct error_body error;

	if (verdict->refusal == REFUSAL_NONE) {
		reply_verdict(reply, verdict, bet->has_balance ? balance_fields : accepted_fields,
			bet);
		return;
	}
	error = reply_error_begin(reply, verdict);
	switch (verdict->refusal) {
	case REFUSAL_BET_REJECTED:
		error.dealer_error_id = bet->dealer_error_id;
		error.dealer_error_detail = bet->dealer_error_detail;
		break;
	case REFUSAL_DEALER_TIMEOUT:
		error.state = bet_state_names[bet->state];
		if (bet->state == BET_REFUNDED)
			error.detail = BET_REFUNDED_DETAIL;
		break;
	case REFUSAL_INVALID_AMOUNT:
		/* body_parse() accepts the decimals of any dealer. */
		if (!error.detail)
			error.detail = "bet_amount: more decimals than the dealer has";
		break;
	case REFUSAL_CALLBACK_NOT_FOUND:
		/* The ledger does not know the callback that it granted. */
		error = (struct error_body){.refusal = REFUSAL_INTERNAL_ERROR};
		break;
	default:
		break;
	}
	reply_error(reply, &error);
}

/* Replies with the result of B2. */
static void betting_reply(struct web_request *web, const struct callback_outcome *outcome,
	struct callback_end_result *end)
{
	struct verdict *verdict = &end->verdict;

	if (end->bet.state == BET_ACCEPTED && outcome->has_balance && !end->bet.has_balance)
		log_line(LOG_LEVEL_WARNING, "balance_dropped",
			"request_id=%s transaction_id=%" PRIu64
			" reason=\"the dealer's answer is of another user_id or currency\"",
			web->reply->request_id, end->bet.transaction_id);
	if (verdict->refusal == REFUSAL_DEALER_TIMEOUT && outcome->http_status &&
		end->bet.state == BET_REFUNDING)
		snprintf(verdict->detail, sizeof(verdict->detail),
			"the dealer's answer cannot be used (HTTP status %u); the bet is being refunded",
			(unsigned int)outcome->http_status);
	/* The result of B2 was not stored. The dealer may have accepted, so this is not 503. */
	if (end->verdict.refusal == REFUSAL_STORAGE_FULL)
		reply_refuse(web->reply, REFUSAL_INTERNAL_ERROR, NULL);
	else
		bet_reply(web->reply, &end->verdict, &end->bet);
}

void handle_bet(struct web_request *web)
{
	const struct bet_request_body *body = &web->body.bet;
	struct bet_place_cmd cmd = {.bet_amount = body->bet_amount,
		.addition = body->addition,
		.user_bet = body->user_bet};
	struct bet_place_result result;
	struct callback_outcome outcome;
	struct callback_end_result end;
	enum status status = STATUS_NOMEM;

	if (!web_request_player(web, &body->player, &cmd.player))
		return;
	text_copy(cmd.client_id, sizeof(cmd.client_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		body->request_transaction_id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), body->game_id);
	text_copy(cmd.remark, sizeof(cmd.remark), body->remark);
	memset(&result, 0, sizeof(result));
	if (signature_random_number(&cmd.sender))
		status = link_call(web->link, COMMAND_BET_PLACE, &cmd, &result, web->deadline_ms);
	if (status != STATUS_OK)
		reply_fail(web->reply, status, CALL_MOVES);
	else if (!result.send.event)
		bet_reply(web->reply, &result.verdict, &result.bet);
	else if (send_callback_run(web, "", &result.send, &outcome, &end) == STATUS_OK)
		betting_reply(web, &outcome, &end);
	else
		/* The dealer may have received the bet, so this is not 503. */
		reply_refuse(web->reply, REFUSAL_INTERNAL_ERROR, NULL);
}
