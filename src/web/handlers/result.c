/* C results: settles a round, and reports it to a seamless dealer. */
#include "web/handlers/send_callback.h"
#include "web/handlers/settled.h"

#include "base/text.h"
#include "wire/signature.h"

#include <string.h>

/* Sends the first attempt of B3. The round stays settled if it fails. */
static void report_delivery(struct web_request *web, struct round_settle_result *result,
	struct delivery_report *report)
{
	struct callback_outcome outcome;
	struct callback_end_result end;

	report->state = CALLBACK_SENDING;
	report->attempts = result->send.attempt;
	if (send_callback_run(web, "", &result->send, &outcome, &end) != STATUS_OK ||
		end.verdict.refusal != REFUSAL_NONE)
		return;
	report->state = end.state;
	report->attempts = end.attempts;
}

static void result_reply(struct web_request *web, struct round_settle_result *result)
{
	struct settled settled = {
		.transaction_id = result->transaction_id,
		.bet_amount = result->bet_amount,
		.addition_amount = result->addition_amount,
		.win_amount = result->win_amount,
		.payout_amount = result->payout_amount,
		.callback = {result->callback_state, result->callback_attempts},
	};
	struct verdict *verdict = &result->verdict;

	settled_describe(verdict, web->body.result.result);
	if (verdict->refusal == REFUSAL_NONE && result->send.event)
		report_delivery(web, result, &settled.callback);
	reply_verdict(web->reply, verdict, settled_fields, &settled);
}

void handle_result(struct web_request *web)
{
	const struct result_request_body *body = &web->body.result;
	struct round_settle_cmd cmd = {
		.result = body->result,
		.payout_amount = body->payout_amount,
		.user_bet = body->user_bet,
		.game_result = body->game_result,
		.user_bet_result = body->user_bet_result,
	};
	struct round_settle_result result;
	enum status status = STATUS_NOMEM;

	if (!web_request_player(web, &body->player, &cmd.player))
		return;
	if (body->result == RESULT_WIN && !body->has_payout) {
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST,
			"payout_amount: is required for a win");
		return;
	}
	text_copy(cmd.client_id, sizeof(cmd.client_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		body->request_transaction_id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), body->game_id);
	text_copy(cmd.remark, sizeof(cmd.remark), body->remark);
	memset(&result, 0, sizeof(result));
	if (signature_random_number(&cmd.sender))
		status =
			link_call(web->link, COMMAND_ROUND_SETTLE, &cmd, &result, web->deadline_ms);
	if (status == STATUS_OK)
		result_reply(web, &result);
	else
		reply_fail(web->reply, status, CALL_MOVES);
}
