#include "dealer/callback.h"

#include "base/text.h"
#include "dealer/keys.h"

#include <stdio.h>
#include <string.h>

/* A call, and the members that are only checked. */
struct received_body {
	struct dealer_call call;
	char result[16];
	bool remark;
	bool user_bet;
	bool has_result;
};

#define CALL_FIELD(type_, member_)                                                                 \
	{                                                                                          \
#member_, (type_), true, (uint32_t)offsetof(struct received_body, call.member_),   \
			(uint32_t)sizeof(((struct received_body *)0)->call.member_), NULL          \
	}
/* The member must be absent. */
#define ALIEN_FIELD(name_, member_)                                                                \
	{                                                                                          \
		name_, BODY_HAS_ANY, false, (uint32_t)offsetof(struct received_body, member_),     \
			(uint32_t)sizeof(bool), NULL                                               \
	}
#define USER_FIELDS CALL_FIELD(BODY_ID, user_id), CALL_FIELD(BODY_ID, player_id)
#define GAME_FIELDS                                                                                \
	USER_FIELDS, CALL_FIELD(BODY_ID, game_id), CALL_FIELD(BODY_INTEGER, transaction_id),       \
		CALL_FIELD(BODY_INTEGER, timestamp),                                               \
		BODY_FIELD(BODY_HAS_STRING, received_body, remark)

static const struct body_field balance_fields[] = {USER_FIELDS, BODY_FIELD_END};
static const struct body_field betting_fields[] = {
	GAME_FIELDS,
	CALL_FIELD(BODY_AMOUNT, bet_amount),
	BODY_FIELD(BODY_HAS_OBJECT, received_body, user_bet),
	ALIEN_FIELD("result", has_result),
	BODY_FIELD_END,
};
static const struct body_field result_fields[] = {
	GAME_FIELDS,
	CALL_FIELD(BODY_PAYOUT, bet_amount),
	CALL_FIELD(BODY_PAYOUT, payout_amount),
	BODY_FIELD(BODY_NAME, received_body, result),
	BODY_FIELD_END,
};
static const struct body_field refund_fields[] = {
	GAME_FIELDS,
	CALL_FIELD(BODY_AMOUNT, bet_amount),
	ALIEN_FIELD("result", has_result),
	ALIEN_FIELD("user_bet", user_bet),
	BODY_FIELD_END,
};
static const struct body_field decrease_fields[] = {
	GAME_FIELDS,
	CALL_FIELD(BODY_PAYOUT, previous_payout_amount),
	CALL_FIELD(BODY_PAYOUT, payout_amount),
	ALIEN_FIELD("result", has_result),
	ALIEN_FIELD("user_bet", user_bet),
	BODY_FIELD_END,
};
static const struct body_field *const fields[CALLBACK_KIND_COUNT] = {
	[CALLBACK_BALANCE_INQUIRE] = balance_fields,
	[CALLBACK_BETTING] = betting_fields,
	[CALLBACK_BETTING_RESULT] = result_fields,
	[CALLBACK_BETTING_REFUND] = refund_fields,
	[CALLBACK_BETTING_CORRECTION] = decrease_fields,
};

/* Returns true if the header is absent or is "KIND-NUMBER". */
static bool webhook_id_fits(const struct http_variable *header, enum callback_kind kind)
{
	size_t prefix = strlen(callback_kind_names[kind]);
	const char *text = header->value;

	if (!header->count)
		return true;
	if (!http_header_is_single(header) || !text_is_name(text, EXTERNAL_ID_SIZE - 1) ||
		strncmp(text, callback_kind_names[kind], prefix) != 0 || text[prefix] != '-')
		return false;
	text += prefix + 1;
	return text[0] && text[strspn(text, "0123456789")] == '\0';
}

static enum dealer_answer refuse_callback(const char *text, char detail[BODY_DETAIL_MAX])
{
	snprintf(detail, BODY_DETAIL_MAX, "%s", text);
	return ANSWER_BAD_REQUEST;
}

/* Checks the rules that the tables cannot express, and completes the call. */
static enum dealer_answer body_check(struct received_body *body, enum callback_kind kind,
	char detail[BODY_DETAIL_MAX])
{
	bool is_result = kind == CALLBACK_BETTING_RESULT;

	for (unsigned int i = OUTCOME_WIN; i < DEALER_OUTCOME_COUNT && is_result; i++) {
		if (strcmp(body->result, dealer_outcome_names[i]) == 0)
			body->call.result = (enum dealer_outcome)i;
	}
	if (is_result && body->call.result == OUTCOME_NONE)
		return refuse_callback("result: must be win, loss or refund", detail);
	if (kind == CALLBACK_BETTING_CORRECTION &&
		body->call.payout_amount >= body->call.previous_payout_amount)
		return refuse_callback("payout_amount: must be below previous_payout_amount",
			detail);
	if (kind != CALLBACK_BALANCE_INQUIRE && body->call.result != OUTCOME_LOSS &&
		!body->call.transaction_id)
		return refuse_callback("transaction_id: must not be 0", detail);
	body->call.kind = kind;
	return ANSWER_OK;
}

enum dealer_answer callback_parse(const struct http_request *request, enum callback_kind kind,
	struct dealer_call *call, bool *alien, char detail[BODY_DETAIL_MAX])
{
	struct received_body body = {.remark = false};
	enum dealer_answer answer;

	if (request->body_state == HTTP_BODY_BROKEN)
		return refuse_callback("body length does not match Content-Length", detail);
	switch (body_parse(request->body, request->body_len, fields[kind], &body, detail)) {
	case REFUSAL_NONE:
		break;
	case REFUSAL_INVALID_AMOUNT:
		return ANSWER_INVALID_AMOUNT;
	case REFUSAL_BAD_REQUEST:
		return ANSWER_BAD_REQUEST;
	default:
		return ANSWER_INTERNAL_ERROR;
	}
	*alien = (kind != CALLBACK_BETTING_RESULT && body.has_result) ||
		((kind == CALLBACK_BETTING_REFUND || kind == CALLBACK_BETTING_CORRECTION) &&
			body.user_bet);
	answer = body_check(&body, kind, detail);
	if (answer == ANSWER_OK)
		*call = body.call;
	return answer;
}

enum dealer_answer callback_read(const struct http_request *request, enum callback_kind kind,
	struct dealer_call *call, char detail[BODY_DETAIL_MAX])
{
	enum dealer_answer answer;
	bool alien = false;

	if (request->body_state != HTTP_BODY_BROKEN &&
		!webhook_id_fits(&request->headers[DEALER_WEBHOOK_ID], kind))
		return refuse_callback("webhook-id: is not of this callback", detail);
	answer = callback_parse(request, kind, call, &alien, detail);
	return alien ? refuse_callback("the body is of another callback", detail) : answer;
}
