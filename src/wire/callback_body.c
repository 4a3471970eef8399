#include "wire/callback_body.h"

#include "wire/render.h"

const struct field balance_inquire_body_fields[] = {
	FIELD(FIELD_STR, balance_inquire_body, user_id),
	FIELD(FIELD_STR, balance_inquire_body, player_id),
	FIELD_END,
};

const struct field bet_body_fields[] = {
	FIELD(FIELD_STR, bet_body, user_id),
	FIELD(FIELD_STR, bet_body, player_id),
	FIELD(FIELD_MONEY, bet_body, bet_amount),
	FIELD(FIELD_U64, bet_body, transaction_id),
	FIELD(FIELD_TIME_MS, bet_body, timestamp),
	FIELD(FIELD_STR, bet_body, remark),
	FIELD(FIELD_STR, bet_body, game_id),
	FIELD(FIELD_JSON, bet_body, user_bet),
	FIELD_END,
};

const struct field result_body_fields[] = {
	FIELD(FIELD_STR, result_body, user_id),
	FIELD(FIELD_STR, result_body, player_id),
	FIELD(FIELD_MONEY, result_body, bet_amount),
	FIELD(FIELD_U64, result_body, transaction_id),
	FIELD(FIELD_TIME_MS, result_body, timestamp),
	FIELD(FIELD_STR, result_body, remark),
	FIELD_NAMED(result_body, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_STR, result_body, game_id),
	FIELD(FIELD_MONEY, result_body, addition_amount),
	FIELD(FIELD_MONEY, result_body, win_amount),
	FIELD(FIELD_MONEY, result_body, payout_amount),
	FIELD(FIELD_JSON, result_body, user_bet),
	FIELD(FIELD_JSON, result_body, game_result),
	FIELD(FIELD_JSON, result_body, user_bet_result),
	FIELD_END,
};

const struct field refund_body_fields[] = {
	FIELD(FIELD_MONEY, refund_body, bet_amount),
	FIELD(FIELD_STR, refund_body, game_id),
	FIELD(FIELD_STR, refund_body, player_id),
	FIELD(FIELD_STR, refund_body, remark),
	FIELD(FIELD_TIME_MS, refund_body, timestamp),
	FIELD(FIELD_U64, refund_body, transaction_id),
	FIELD(FIELD_STR, refund_body, user_id),
	FIELD_END,
};

static const struct field *const tables[CALLBACK_KIND_COUNT] = {
	[CALLBACK_BALANCE_INQUIRE] = balance_inquire_body_fields,
	[CALLBACK_BETTING] = bet_body_fields,
	[CALLBACK_BETTING_RESULT] = result_body_fields,
	[CALLBACK_BETTING_REFUND] = refund_body_fields,
};

bool callback_body_render(struct buffer *out, enum callback_kind kind, const void *body)
{
	static const uint8_t nothing[] = {'{', '}'};
	struct bet_body bet;

	if (kind == CALLBACK_BETTING) {
		bet = *(const struct bet_body *)body;
		if (!bet.user_bet.len)
			bet.user_bet = (struct bytes){nothing, sizeof(nothing)};
		body = &bet;
	}
	return render_record(out, tables[kind], body);
}
