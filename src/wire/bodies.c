#include "wire/bodies.h"

const struct body_field transfer_body_fields[] = {
	BODY_FIELD(BODY_AMOUNT, transfer_body, amount),
	BODY_FIELD(BODY_ID, transfer_body, request_transaction_id),
	BODY_FIELD(BODY_ID, transfer_body, user_id),
	BODY_FIELD_END,
};

const struct body_field transfer_out_body_fields[] = {
	BODY_OPTIONAL("amount", BODY_HAS_ANY, transfer_body, has_amount),
	BODY_OPTIONAL("amount", BODY_AMOUNT, transfer_body, amount),
	BODY_OPTIONAL("all", BODY_BOOL, transfer_body, all),
	BODY_FIELD(BODY_ID, transfer_body, request_transaction_id),
	BODY_FIELD(BODY_ID, transfer_body, user_id),
	BODY_FIELD_END,
};

const struct body_field transfer_inquire_body_fields[] = {
	BODY_FIELD(BODY_ID, transfer_inquire_body, request_transaction_id),
	BODY_FIELD(BODY_INTEGER, transfer_inquire_body, request_timestamp),
	BODY_OPTIONAL("seal", BODY_BOOL, transfer_inquire_body, seal),
	BODY_FIELD_END,
};

const struct body_field balance_body_fields[] = {
	BODY_FIELD(BODY_ID, balance_body, user_id),
	BODY_FIELD(BODY_INTEGER, balance_body, request_timestamp),
	BODY_FIELD_END,
};

static const char *const include_words[] = {"bet_summary", NULL};

const struct body_field stat_body_fields[] = {
	BODY_FIELD(BODY_ID, stat_body, user_id),
	BODY_OPTIONAL_WORDS("include_data", stat_body, include_data, include_words),
	BODY_FIELD(BODY_INTEGER, stat_body, request_timestamp),
	BODY_FIELD_END,
};

const struct body_field inquire_body_fields[] = {
	BODY_FIELD(BODY_ID, inquire_body, user_id),
	BODY_FIELD(BODY_ID, inquire_body, game_id),
	BODY_FIELD_END,
};

const struct body_field feed_body_fields[] = {
	BODY_FIELD(BODY_INTEGER, feed_body, after),
	BODY_FIELD(BODY_INTEGER, feed_body, limit),
	BODY_OPTIONAL("wait_ms", BODY_INTEGER, feed_body, wait_ms),
	BODY_FIELD(BODY_INTEGER, feed_body, request_timestamp),
	BODY_FIELD_END,
};

const struct body_field history_body_fields[] = {
	BODY_FIELD(BODY_ID, history_body, user_id),
	BODY_OPTIONAL("after", BODY_INTEGER, history_body, after),
	BODY_FIELD(BODY_INTEGER, history_body, limit),
	BODY_FIELD(BODY_INTEGER, history_body, request_timestamp),
	BODY_FIELD_END,
};

const struct body_field callbacks_body_fields[] = {
	BODY_FIELD(BODY_NAME, callbacks_body, state),
	BODY_OPTIONAL("after", BODY_INTEGER, callbacks_body, after),
	BODY_FIELD(BODY_INTEGER, callbacks_body, limit),
	BODY_FIELD_END,
};

const struct body_field resend_body_fields[] = {
	BODY_FIELD(BODY_NAME, resend_body, webhook_id),
	BODY_FIELD_END,
};

const struct body_field register_body_fields[] = {
	BODY_FIELD(BODY_NAME, register_body, casino_id),
	BODY_FIELD(BODY_ID, register_body, user_id),
	BODY_FIELD_END,
};

const struct body_field player_balance_body_fields[] = {
	BODY_PLAYER(player_balance_body),
	BODY_FIELD_END,
};

const struct body_field bet_request_body_fields[] = {
	BODY_FIELD(BODY_ID, bet_request_body, request_transaction_id),
	BODY_PLAYER(bet_request_body),
	BODY_FIELD(BODY_ID, bet_request_body, game_id),
	BODY_FIELD(BODY_AMOUNT, bet_request_body, bet_amount),
	BODY_OPTIONAL("remark", BODY_TEXT, bet_request_body, remark),
	BODY_OPTIONAL("user_bet", BODY_OBJECT, bet_request_body, user_bet),
	BODY_OPTIONAL("addition", BODY_BOOL, bet_request_body, addition),
	BODY_FIELD_END,
};

/* The members of a result, without the key. */
#define BODY_RESULT_MEMBERS                                                                        \
	BODY_PLAYER(result_request_body), BODY_FIELD(BODY_ID, result_request_body, game_id),       \
		BODY_FIELD(BODY_RESULT, result_request_body, result),                              \
		BODY_OPTIONAL("payout_amount", BODY_HAS_ANY, result_request_body, has_payout),     \
		BODY_OPTIONAL("payout_amount", BODY_PAYOUT, result_request_body, payout_amount),   \
		BODY_OPTIONAL("remark", BODY_TEXT, result_request_body, remark),                   \
		BODY_OPTIONAL("user_bet", BODY_OBJECT, result_request_body, user_bet),             \
		BODY_OPTIONAL("game_result", BODY_OBJECT, result_request_body, game_result),       \
		BODY_OPTIONAL("user_bet_result", BODY_OBJECT, result_request_body,                 \
			user_bet_result)

const struct body_field result_request_body_fields[] = {
	BODY_FIELD(BODY_ID, result_request_body, request_transaction_id),
	BODY_RESULT_MEMBERS,
	BODY_FIELD_END,
};

/* An item of a batch. */
const struct body_field result_item_body_fields[] = {
	BODY_RESULT_MEMBERS,
	BODY_FIELD_END,
};

const struct body_field batch_request_body_fields[] = {
	BODY_FIELD(BODY_ID, batch_request_body, request_transaction_id),
	BODY_FIELD(BODY_ARRAY, batch_request_body, results),
	BODY_FIELD_END,
};

const struct body_field cancel_request_body_fields[] = {
	BODY_FIELD(BODY_ID, cancel_request_body, request_transaction_id),
	BODY_PLAYER(cancel_request_body),
	BODY_FIELD(BODY_ID, cancel_request_body, game_id),
	BODY_FIELD(BODY_ID, cancel_request_body, bet_request_transaction_id),
	BODY_FIELD(BODY_TEXT, cancel_request_body, reason),
	BODY_FIELD_END,
};

const struct body_field correction_request_body_fields[] = {
	BODY_FIELD(BODY_ID, correction_request_body, request_transaction_id),
	BODY_PLAYER(correction_request_body),
	BODY_FIELD(BODY_ID, correction_request_body, game_id),
	BODY_FIELD(BODY_INTEGER, correction_request_body, revision),
	BODY_FIELD(BODY_RESULT, correction_request_body, result),
	BODY_OPTIONAL("payout_amount", BODY_HAS_ANY, correction_request_body, has_payout),
	BODY_OPTIONAL("payout_amount", BODY_PAYOUT, correction_request_body, payout_amount),
	BODY_FIELD(BODY_TEXT, correction_request_body, reason),
	BODY_OPTIONAL("game_result", BODY_OBJECT, correction_request_body, game_result),
	BODY_OPTIONAL("user_bet_result", BODY_OBJECT, correction_request_body, user_bet_result),
	BODY_OPTIONAL("allow_shortfall", BODY_BOOL, correction_request_body, allow_shortfall),
	BODY_FIELD_END,
};
