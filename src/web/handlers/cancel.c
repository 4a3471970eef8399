/* C bets/cancel: cancels one bet, and returns the stake of a seamless dealer by B4. */
#include "web/handlers/send_callback.h"

#include "base/text.h"
#include "wire/signature.h"

#include <string.h>

/* The answer (contract, "Cancelled bets"), for a bet and for a key that no bet has used. */
static const struct field cancelled_fields[] = {
	FIELD(FIELD_U64, bet_cancel_result, transaction_id),
	FIELD_NAMED(bet_cancel_result, state, bet_state_names, BET_STATE_COUNT),
	FIELD_END,
};
static const struct field unused_fields[] = {
	FIELD_NAMED(bet_cancel_result, state, bet_state_names, BET_STATE_COUNT),
	FIELD_END,
};

/* Sends the first attempt of B4. The bet stays cancelled if it fails; the sweeper sends it again. */
static void send_refund(struct web_request *web, struct bet_cancel_result *result)
{
	struct callback_outcome outcome;
	struct callback_end_result end;

	if (send_callback_run(web, "", &result->send, &outcome, &end) == STATUS_OK &&
		end.verdict.refusal == REFUSAL_NONE && end.state == CALLBACK_DELIVERED)
		result->state = BET_REFUNDED;
}

void handle_bet_cancel(struct web_request *web)
{
	const struct cancel_request_body *body = &web->body.cancel;
	struct bet_cancel_cmd cmd = {.sender = 0};
	struct bet_cancel_result result;
	enum status status = STATUS_NOMEM;

	if (!web_request_player(web, &body->player, &cmd.player))
		return;
	if (strcmp(body->request_transaction_id, body->bet_request_transaction_id) == 0) {
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST,
			"bet_request_transaction_id: must differ from request_transaction_id");
		return;
	}
	text_copy(cmd.client_id, sizeof(cmd.client_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		body->request_transaction_id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), body->game_id);
	text_copy(cmd.bet_request_transaction_id, sizeof(cmd.bet_request_transaction_id),
		body->bet_request_transaction_id);
	text_copy(cmd.reason, sizeof(cmd.reason), body->reason);
	memset(&result, 0, sizeof(result));
	if (signature_random_number(&cmd.sender))
		status = link_call(web->link, COMMAND_BET_CANCEL, &cmd, &result, web->deadline_ms);
	if (status != STATUS_OK) {
		reply_fail(web->reply, status, CALL_MOVES);
		return;
	}
	if (result.verdict.refusal == REFUSAL_NONE && result.send.event)
		send_refund(web, &result);
	reply_verdict(web->reply, &result.verdict,
		result.transaction_id ? cancelled_fields : unused_fields, &result);
}
