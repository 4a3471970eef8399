#include "dealer/rules.h"

#include "base/text.h"

#include <string.h>

const char *const dealer_outcome_names[] = {"", "win", "loss", "refund"};
const char *const dealer_state_names[] = {"none", "bet", "refunded", "tombstone", "paid", "refused",
	"corrected"};

const struct dealer_answer_info dealer_answers[] = {
	[ANSWER_OK] = {"", 200, ""},
	[ANSWER_BAD_REQUEST] = {"bad_request", 400, "the request is not valid"},
	[ANSWER_INVALID_AMOUNT] = {"invalid_amount", 400, "the amount is not valid"},
	[ANSWER_INVALID_SIGNATURE] = {"invalid_signature", 401, "the signature is not valid"},
	[ANSWER_INSUFFICIENT_BALANCE] = {"insufficient_balance", 402,
		"the balance is lower than the bet"},
	[ANSWER_NOT_FOUND] = {"not_found", 404, "there is no such path"},
	[ANSWER_METHOD_NOT_ALLOWED] = {"method_not_allowed", 405, "the path takes another method"},
	[ANSWER_TRANSACTION_CONFLICT] = {"transaction_conflict", 409,
		"the transaction_id was used before with other content"},
	[ANSWER_BET_REFUNDED] = {"bet_refunded", 409, "the bet was refunded"},
	[ANSWER_BALANCE_LIMIT] = {"balance_limit", 409, "the balance would exceed the limit"},
	[ANSWER_PAYLOAD_TOO_LARGE] = {"payload_too_large", 413, "the body is too large"},
	[ANSWER_INTERNAL_ERROR] = {"internal_error", 500,
		"the outcome is not known; repeat the call"},
};

/* One cell of the table in rules.h. */
struct step {
	enum dealer_answer answer;
	enum dealer_state next;
	enum { MOVE_NOTHING, MOVE_DEBIT, MOVE_CREDIT, MOVE_TAKE } move;
};

#define CONFLICT                                                                                   \
	{                                                                                          \
		ANSWER_TRANSACTION_CONFLICT, TRANSACTION_NONE, MOVE_NOTHING                        \
	}
#define REFUNDED                                                                                   \
	{                                                                                          \
		ANSWER_BET_REFUNDED, TRANSACTION_NONE, MOVE_NOTHING                                \
	}

static const struct step steps[DEALER_STATE_COUNT][CALLBACK_KIND_COUNT] = {
	[TRANSACTION_NONE] =
		{
			[CALLBACK_BETTING] = {ANSWER_OK, TRANSACTION_BET, MOVE_DEBIT},
			[CALLBACK_BETTING_RESULT] = {ANSWER_OK, TRANSACTION_PAID, MOVE_CREDIT},
			[CALLBACK_BETTING_REFUND] = {ANSWER_OK, TRANSACTION_TOMBSTONE,
				MOVE_NOTHING},
			[CALLBACK_BETTING_CORRECTION] = {ANSWER_OK, TRANSACTION_CORRECTED,
				MOVE_TAKE},
		},
	[TRANSACTION_BET] =
		{
			[CALLBACK_BETTING] = {ANSWER_OK, TRANSACTION_BET, MOVE_NOTHING},
			[CALLBACK_BETTING_RESULT] = CONFLICT,
			[CALLBACK_BETTING_REFUND] = {ANSWER_OK, TRANSACTION_REFUNDED, MOVE_CREDIT},
			[CALLBACK_BETTING_CORRECTION] = CONFLICT,
		},
	[TRANSACTION_REFUNDED] =
		{
			[CALLBACK_BETTING] = REFUNDED,
			[CALLBACK_BETTING_RESULT] = CONFLICT,
			[CALLBACK_BETTING_REFUND] = {ANSWER_OK, TRANSACTION_REFUNDED, MOVE_NOTHING},
			[CALLBACK_BETTING_CORRECTION] = CONFLICT,
		},
	[TRANSACTION_TOMBSTONE] =
		{
			[CALLBACK_BETTING] = REFUNDED,
			[CALLBACK_BETTING_RESULT] = CONFLICT,
			[CALLBACK_BETTING_REFUND] = {ANSWER_OK, TRANSACTION_TOMBSTONE,
				MOVE_NOTHING},
			[CALLBACK_BETTING_CORRECTION] = CONFLICT,
		},
	[TRANSACTION_PAID] =
		{
			[CALLBACK_BETTING] = CONFLICT,
			[CALLBACK_BETTING_RESULT] = {ANSWER_OK, TRANSACTION_PAID, MOVE_NOTHING},
			[CALLBACK_BETTING_REFUND] = CONFLICT,
			[CALLBACK_BETTING_CORRECTION] = CONFLICT,
		},
	[TRANSACTION_REFUSED] =
		{
			[CALLBACK_BETTING] = {ANSWER_INSUFFICIENT_BALANCE, TRANSACTION_NONE,
				MOVE_NOTHING},
			[CALLBACK_BETTING_RESULT] = CONFLICT,
			[CALLBACK_BETTING_REFUND] = {ANSWER_OK, TRANSACTION_REFUSED, MOVE_NOTHING},
			[CALLBACK_BETTING_CORRECTION] = CONFLICT,
		},
	[TRANSACTION_CORRECTED] =
		{
			[CALLBACK_BETTING] = CONFLICT,
			[CALLBACK_BETTING_RESULT] = CONFLICT,
			[CALLBACK_BETTING_REFUND] = CONFLICT,
			[CALLBACK_BETTING_CORRECTION] = {ANSWER_OK, TRANSACTION_CORRECTED,
				MOVE_NOTHING},
		},
};

/* Returns the amount that the call asks to move. */
static money_t amount_of(const struct dealer_call *call)
{
	switch (call->kind) {
	case CALLBACK_BETTING_RESULT:
		return call->payout_amount;
	case CALLBACK_BETTING_CORRECTION:
		return call->previous_payout_amount - call->payout_amount;
	default:
		return call->bet_amount;
	}
}

struct dealer_transaction rules_content(const struct dealer_call *call)
{
	struct dealer_transaction content = {
		.transaction_id = call->transaction_id,
		.amount = amount_of(call),
		.result = call->result,
	};

	text_copy(content.user_id, sizeof(content.user_id), call->user_id);
	text_copy(content.game_id, sizeof(content.game_id), call->game_id);
	return content;
}

static bool content_equal(const struct dealer_transaction *a, const struct dealer_transaction *b)
{
	/* A correction may have taken less than it asked. */
	const bool amount =
		a->state == TRANSACTION_CORRECTED ? a->amount <= b->amount : a->amount == b->amount;

	return strcmp(a->user_id, b->user_id) == 0 && strcmp(a->game_id, b->game_id) == 0 &&
		amount && a->result == b->result;
}

enum dealer_answer rules_apply(const struct dealer_call *call, struct dealer_rows *rows)
{
	struct dealer_transaction content = rules_content(call);
	const struct step *step = &steps[rows->transaction.state][call->kind];
	money_t balance = rows->user.balance, taken;

	/* A refund without a bet does nothing, not even for a new user. */
	rows->user_changed = rows->user_is_new && call->kind != CALLBACK_BETTING_REFUND;
	rows->transaction_changed = false;
	if (call->kind == CALLBACK_BALANCE_INQUIRE || call->result == OUTCOME_LOSS)
		return ANSWER_OK;
	if (!call->transaction_id)
		return ANSWER_BAD_REQUEST;
	if (step->answer != ANSWER_OK)
		return step->answer;
	if (rows->transaction.state != TRANSACTION_NONE &&
		!content_equal(&rows->transaction, &content))
		return ANSWER_TRANSACTION_CONFLICT;
	if (step->move == MOVE_DEBIT && content.amount > balance) {
		content.state = TRANSACTION_REFUSED;
		rows->transaction = content;
		rows->transaction_changed = true;
		return ANSWER_INSUFFICIENT_BALANCE;
	}
	rows->shortfall = 0;
	if (step->next == TRANSACTION_CORRECTED) {
		taken = rows->transaction.state == TRANSACTION_CORRECTED ? rows->transaction.amount
			: content.amount < balance                       ? content.amount
									 : balance;
		rows->shortfall = content.amount - taken;
		content.amount = taken;
	}
	if (step->move == MOVE_DEBIT || step->move == MOVE_TAKE)
		balance -= content.amount;
	if (step->move == MOVE_CREDIT && content.amount > MONEY_MAX - balance)
		return ANSWER_BALANCE_LIMIT;
	if (step->move == MOVE_CREDIT)
		balance += content.amount;
	content.state = step->next;
	rows->user_changed |= step->move != MOVE_NOTHING;
	rows->user.balance = balance;
	rows->transaction_changed = rows->transaction.state != step->next;
	rows->transaction = content;
	return ANSWER_OK;
}
