#include "web/handlers/settled.h"

#include "base/text.h"

static const struct field delivery_report_fields[] = {
	FIELD_NAMED(delivery_report, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, delivery_report, attempts),
	FIELD_END,
};
const struct field settled_fields[] = {
	FIELD(FIELD_U64, settled, transaction_id),
	FIELD(FIELD_MONEY, settled, bet_amount),
	FIELD(FIELD_MONEY, settled, addition_amount),
	FIELD(FIELD_MONEY, settled, win_amount),
	FIELD(FIELD_MONEY, settled, payout_amount),
	FIELD_SUB(settled, callback, delivery_report, delivery_report_fields),
	FIELD_END,
};

/* Returns the reason for a refused payout that body_parse() accepted. */
static const char *payout_detail(enum round_result result)
{
	if (result == RESULT_LOSS)
		return "payout_amount: must be 0 for a loss";
	if (result == RESULT_REFUND)
		return "payout_amount: must be what was staked, or absent, for a refund";
	return "payout_amount: more decimals than the dealer has";
}

void settled_describe(struct verdict *verdict, enum round_result result)
{
	if (verdict->refusal == REFUSAL_INVALID_AMOUNT && !verdict->detail[0])
		text_copy(verdict->detail, sizeof(verdict->detail), payout_detail(result));
}
