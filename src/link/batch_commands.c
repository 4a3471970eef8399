#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)

const struct field settle_item_fields[] = {
	FIELD_SUB(settle_item, player, player_ref, player_ref_fields),
	FIELD(FIELD_STR, settle_item, game_id),
	FIELD_NAMED(settle_item, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, settle_item, payout_amount),
	FIELD(FIELD_STR, settle_item, remark),
	FIELD(FIELD_JSON, settle_item, user_bet),
	FIELD(FIELD_JSON, settle_item, game_result),
	FIELD(FIELD_JSON, settle_item, user_bet_result),
	FIELD_END,
};

const struct field settle_answer_fields[] = {
	VERDICT(settle_answer),
	FIELD(FIELD_U64, settle_answer, transaction_id),
	FIELD(FIELD_MONEY, settle_answer, bet_amount),
	FIELD(FIELD_MONEY, settle_answer, addition_amount),
	FIELD(FIELD_MONEY, settle_answer, win_amount),
	FIELD(FIELD_MONEY, settle_answer, payout_amount),
	FIELD_NAMED(settle_answer, callback_state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD_END,
};

const struct field settle_batch_cmd_fields[] = {
	FIELD(FIELD_STR, settle_batch_cmd, client_id),
	FIELD(FIELD_STR, settle_batch_cmd, request_transaction_id),
	FIELD(FIELD_STR, settle_batch_cmd, request_id),
	FIELD(FIELD_STR, settle_batch_cmd, digest),
	FIELD(FIELD_U32, settle_batch_cmd, count),
	FIELD(FIELD_BYTES, settle_batch_cmd, items),
	FIELD_END,
};
const struct field settle_batch_result_fields[] = {
	VERDICT(settle_batch_result),
	FIELD(FIELD_STR, settle_batch_result, request_id),
	FIELD(FIELD_U32, settle_batch_result, count),
	FIELD(FIELD_BYTES, settle_batch_result, answers),
	FIELD_END,
};
