/* A1 and A2: one command with two directions. Also the inquiry about the outcome of a transfer. */
#include "web/handlers/handlers.h"

#include "base/text.h"

#include <string.h>

/* The answer of A1 and A2 (contract, "Group A: what the dealer calls"). */
static const struct field transfer_fields[] = {
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
	struct transfer_cmd cmd = {.kind = kind, .amount = body->amount, .all = body->all};
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
	web_request_answer(web, status, CALL_MOVES, &result.verdict, transfer_fields, &result);
}

void handle_transfer_in(struct web_request *web)
{
	transfer_credit(web, ENTRY_TRANSFER_IN);
}

void handle_transfer_out(struct web_request *web)
{
	const struct transfer_body *body = &web->body.transfer;

	if (!body->all && !body->has_amount)
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST, "amount: is required");
	else if (body->all && body->has_amount)
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST, "amount: must be absent with all");
	else
		transfer_credit(web, ENTRY_TRANSFER_OUT);
}

/* The answer of transfer-inquire; by its state it has the answer of the transfer, or its error. */
struct inquiry_answer {
	struct transfer_inquire_result found;
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct bytes error;
};
#define INQUIRY                                                                                    \
	FIELD(FIELD_STR, inquiry_answer, request_transaction_id),                                  \
		FIELD_NAMED_AS("state", inquiry_answer, found.state, transfer_state_names,         \
			TRANSFER_STATE_COUNT)

static const struct field inquiry_fields[] = {
	INQUIRY,
	FIELD(FIELD_JSON, inquiry_answer, error),
	FIELD_END,
};
static const struct field inquiry_done_fields[] = {
	INQUIRY,
	FIELD_SUB_AS("transfer", inquiry_answer, found.transfer, transfer_result, transfer_fields),
	FIELD_END,
};

/* Asks again if the transfer was made at the same moment. The next answer has its user_id. */
#define INQUIRY_TRIES 3

static enum status inquire_transfer(struct web_request *web, const struct transfer_inquire_cmd *cmd,
	struct transfer_inquire_result *result)
{
	enum status status = STATUS_OK;

	for (unsigned int i = 0; i < INQUIRY_TRIES && (!i || result->again) && !status; i++) {
		memset(result, 0, sizeof(*result));
		status = link_call(web->link, COMMAND_TRANSFER_INQUIRE, cmd, result,
			web->deadline_ms);
	}
	return !status && result->again ? STATUS_BUSY : status;
}

void handle_transfer_inquire(struct web_request *web)
{
	const struct transfer_inquire_body *body = &web->body.transfer_inquire;
	struct transfer_inquire_cmd cmd = {.seal = body->seal};
	struct inquiry_answer answer = {.request_transaction_id = ""};
	const struct transfer_inquire_result *found = &answer.found;
	struct buffer error;
	enum status status;

	if (!web_request_is_fresh(web, body->request_timestamp))
		return;
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		body->request_transaction_id);
	text_copy(answer.request_transaction_id, sizeof(answer.request_transaction_id),
		body->request_transaction_id);
	status = inquire_transfer(web, &cmd, &answer.found);
	buffer_init(&error, ERROR_BODY_MAX);
	if (status == STATUS_OK && found->state == TRANSFER_REFUSED) {
		if (!reply_render_error(web->reply, &found->transfer.verdict, &error))
			status = STATUS_NOMEM;
		answer.error = (struct bytes){error.data, (uint32_t)error.len};
	}
	/* Nothing moves. But if the answer is lost, the id may be sealed. */
	web_request_answer(web, status, body->seal ? CALL_MOVES : CALL_READS, &found->verdict,
		found->state == TRANSFER_DONE ? inquiry_done_fields : inquiry_fields, &answer);
	buffer_free(&error);
}
