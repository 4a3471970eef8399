/* C corrections: changes the result of a settled round, and reports it to a seamless dealer. */
#include "web/handlers/send_callback.h"

#include "base/text.h"
#include "wire/signature.h"

#include <string.h>

/* The answer (contract, "Corrections"), without a callback and with one. */
struct callback_report {
	enum callback_state state;
	uint32_t attempts;
};
static const struct field callback_report_fields[] = {
	FIELD_NAMED(callback_report, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, callback_report, attempts),
	FIELD_END,
};
struct corrected {
	uint64_t transaction_id;
	uint32_t revision;
	money_t delta;
	money_t shortfall;
	money_t payout_amount;
	struct callback_report callback;
};
#define CORRECTED_FIELDS                                                                           \
	FIELD(FIELD_U64, corrected, transaction_id), FIELD(FIELD_U32, corrected, revision),        \
		FIELD(FIELD_MONEY, corrected, delta), FIELD(FIELD_MONEY, corrected, shortfall),    \
		FIELD(FIELD_MONEY, corrected, payout_amount)
static const struct field moved_fields[] = {
	CORRECTED_FIELDS,
	FIELD_END,
};
static const struct field reported_fields[] = {
	CORRECTED_FIELDS,
	FIELD_SUB(corrected, callback, callback_report, callback_report_fields),
	FIELD_END,
};

/*
 * Sends the first attempt of B3 or B5. The correction stays if it fails. The dealer's shortfall is
 * in the answer, as it is in the answer to a repeated request.
 */
static void send_correction(struct web_request *web, struct round_correct_result *result,
	struct corrected *corrected)
{
	struct callback_report *report = &corrected->callback;
	struct callback_outcome outcome;
	struct callback_end_result end;

	report->state = CALLBACK_SENDING;
	report->attempts = result->send.attempt;
	if (send_callback_run(web, "", &result->send, &outcome, &end) != STATUS_OK ||
		end.verdict.refusal != REFUSAL_NONE)
		return;
	report->state = end.state;
	report->attempts = end.attempts;
	corrected->shortfall = end.shortfall;
}

static void correction_reply(struct web_request *web, struct round_correct_result *result)
{
	struct corrected corrected = {
		.transaction_id = result->transaction_id,
		.revision = result->revision,
		.delta = result->delta,
		.shortfall = result->shortfall,
		.payout_amount = result->payout_amount,
		.callback = {result->callback_state, result->callback_attempts},
	};
	struct verdict *verdict = &result->verdict;
	struct error_body error;

	if (verdict->refusal == REFUSAL_REVISION_CONFLICT) {
		error = reply_error_begin(web->reply, verdict);
		error.has_revision = true;
		error.current_revision = result->revision;
		reply_error(web->reply, &error);
		return;
	}
	if (verdict->refusal == REFUSAL_INVALID_AMOUNT && !verdict->detail[0])
		text_copy(verdict->detail, sizeof(verdict->detail),
			"payout_amount: does not fit the result");
	if (verdict->refusal == REFUSAL_NONE && result->send.event)
		send_correction(web, result, &corrected);
	reply_verdict(web->reply, verdict, result->event ? reported_fields : moved_fields,
		&corrected);
}

/* Checks what the table of the body cannot. Answers with an error and returns false. */
static bool correction_is_valid(struct web_request *web, const struct correction_request_body *body)
{
	if (body->result == RESULT_WIN && !body->has_payout) {
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST,
			"payout_amount: is required for a win");
		return false;
	}
	if (body->revision < 1 || body->revision > UINT32_MAX) {
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST, "revision: must be 1 or more");
		return false;
	}
	return true;
}

void handle_correction(struct web_request *web)
{
	const struct correction_request_body *body = &web->body.correction;
	struct round_correct_cmd cmd = {
		.revision = (uint32_t)body->revision,
		.result = body->result,
		.payout_amount = body->payout_amount,
		.allow_shortfall = body->allow_shortfall,
		.game_result = body->game_result,
		.user_bet_result = body->user_bet_result,
	};
	struct round_correct_result result;
	enum status status = STATUS_NOMEM;

	if (!web_request_player(web, &body->player, &cmd.player) || !correction_is_valid(web, body))
		return;
	text_copy(cmd.client_id, sizeof(cmd.client_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		body->request_transaction_id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), body->game_id);
	text_copy(cmd.reason, sizeof(cmd.reason), body->reason);
	memset(&result, 0, sizeof(result));
	if (signature_random_number(&cmd.sender))
		status = link_call(web->link, COMMAND_ROUND_CORRECT, &cmd, &result,
			web->deadline_ms);
	if (status == STATUS_OK)
		correction_reply(web, &result);
	else
		reply_fail(web->reply, status, CALL_MOVES);
}
