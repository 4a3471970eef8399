/* A1 and A2: one command, two directions. */
#include "web/handlers/handlers.h"

#include "base/text.h"

#include <string.h>

/* The answer of A1 and A2 (contract, "Group A: what the dealer calls"). */
static const struct field answer_fields[] = {
	FIELD(FIELD_MONEY, transfer_result, amount),
	FIELD(FIELD_MONEY, transfer_result, before_balance),
	FIELD(FIELD_STR, transfer_result, currency),
	FIELD(FIELD_MONEY, transfer_result, current_balance),
	FIELD(FIELD_STR, transfer_result, player_id),
	FIELD(FIELD_STR, transfer_result, request_transaction_id),
	FIELD(FIELD_U64, transfer_result, transaction_id),
	FIELD(FIELD_STR, transfer_result, user_id),
	FIELD_END,
};

static void transfer_credit(struct web_request *web, enum entry_kind kind)
{
	const struct transfer_body *body = &web->body.transfer;
	struct transfer_cmd cmd = {.kind = kind, .amount = body->amount};
	struct transfer_result result;
	enum status status;

	text_copy(cmd.casino_id, sizeof(cmd.casino_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		body->request_transaction_id);
	text_copy(cmd.user_id, sizeof(cmd.user_id), body->user_id);
	memset(&result, 0, sizeof(result));
	status = link_call(web->link, COMMAND_TRANSFER, &cmd, &result, web->deadline_ms);
	/* body_parse() accepts the decimals of any dealer. */
	if (result.verdict.refusal == REFUSAL_INVALID_AMOUNT && !result.verdict.detail[0])
		text_copy(result.verdict.detail, sizeof(result.verdict.detail),
			"amount: more decimals than the dealer has");
	web_request_answer(web, status, CALL_MOVES, &result.verdict, answer_fields, &result);
}

void handle_transfer_in(struct web_request *web)
{
	transfer_credit(web, ENTRY_TRANSFER_IN);
}

void handle_transfer_out(struct web_request *web)
{
	transfer_credit(web, ENTRY_TRANSFER_OUT);
}
