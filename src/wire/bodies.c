#include "wire/bodies.h"

const struct body_field transfer_body_fields[] = {
	BODY_FIELD(BODY_AMOUNT, transfer_body, amount),
	BODY_FIELD(BODY_ID, transfer_body, request_transaction_id),
	BODY_FIELD(BODY_ID, transfer_body, user_id),
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

const struct body_field result_request_body_fields[] = {
	BODY_FIELD(BODY_ID, result_request_body, request_transaction_id),
	BODY_PLAYER(result_request_body),
	BODY_FIELD(BODY_ID, result_request_body, game_id),
	BODY_FIELD(BODY_RESULT, result_request_body, result),
	BODY_OPTIONAL("payout_amount", BODY_HAS_ANY, result_request_body, has_payout),
	BODY_OPTIONAL("payout_amount", BODY_PAYOUT, result_request_body, payout_amount),
	BODY_OPTIONAL("remark", BODY_TEXT, result_request_body, remark),
	BODY_OPTIONAL("user_bet", BODY_OBJECT, result_request_body, user_bet),
	BODY_OPTIONAL("game_result", BODY_OBJECT, result_request_body, game_result),
	BODY_OPTIONAL("user_bet_result", BODY_OBJECT, result_request_body, user_bet_result),
	BODY_FIELD_END,
};
