#include "suites.h"

#include "domain/refusal.h"

#include <string.h>

/* contract, "Error ids". The order is that of the stored numbers: append, never reorder. */
static const struct {
	enum refusal refusal;
	const char *id;
	int code;
	bool retryable;
} rows[] = {
	{REFUSAL_NONE, "", 200, false},
	{REFUSAL_BAD_REQUEST, "bad_request", 400, false},
	{REFUSAL_INVALID_AMOUNT, "invalid_amount", 400, false},
	{REFUSAL_INVALID_SIGNATURE, "invalid_signature", 401, false},
	{REFUSAL_STALE_REQUEST, "stale_request", 401, false},
	{REFUSAL_INSUFFICIENT_BALANCE, "insufficient_balance", 402, false},
	{REFUSAL_DEALER_SUSPENDED, "dealer_suspended", 403, false},
	{REFUSAL_USER_SUSPENDED, "user_suspended", 403, false},
	{REFUSAL_NOT_FOUND, "not_found", 404, false},
	{REFUSAL_USER_NOT_FOUND, "user_not_found", 404, false},
	{REFUSAL_DEALER_NOT_FOUND, "dealer_not_found", 404, false},
	{REFUSAL_METHOD_NOT_ALLOWED, "method_not_allowed", 405, false},
	{REFUSAL_TRANSACTION_CONFLICT, "transaction_conflict", 409, false},
	{REFUSAL_WRONG_WALLET_MODE, "wrong_wallet_mode", 409, false},
	{REFUSAL_BALANCE_LIMIT, "balance_limit", 409, false},
	{REFUSAL_PAYLOAD_TOO_LARGE, "payload_too_large", 413, false},
	{REFUSAL_RATE_LIMITED, "rate_limited", 429, true},
	{REFUSAL_INTERNAL_ERROR, "internal_error", 500, true},
	{REFUSAL_SERVICE_UNAVAILABLE, "service_unavailable", 503, true},
	{REFUSAL_STORAGE_FULL, "storage_full", 503, true},
	/* only for operators */
	{REFUSAL_ALREADY_EXISTS, "already_exists", 409, false},
	{REFUSAL_KEY_NOT_FOUND, "key_not_found", 404, false},
	{REFUSAL_KEY_IN_USE, "key_in_use", 409, false},
	{REFUSAL_TOO_MANY_KEYS, "too_many_keys", 409, false},
	{REFUSAL_NOT_ALLOWED_NOW, "not_allowed_now", 409, false},
	{REFUSAL_TOO_MANY_DEALERS, "too_many_dealers", 409, false},
	/* only for group C */
	{REFUSAL_GAME_NOT_FOUND, "game_not_found", 404, false},
	{REFUSAL_BET_NOT_FOUND, "bet_not_found", 404, false},
	{REFUSAL_ALREADY_SETTLED, "already_settled", 409, false},
	{REFUSAL_ROUND_FULL, "round_full", 409, false},
	{REFUSAL_BET_REJECTED, "bet_rejected", 409, false},
	{REFUSAL_DEALER_REFUSED, "dealer_refused", 409, false},
	{REFUSAL_BET_IN_PROGRESS, "bet_in_progress", 409, true},
	{REFUSAL_DEALER_UNREACHABLE, "dealer_unreachable", 502, false},
	{REFUSAL_DEALER_BAD_ANSWER, "dealer_bad_answer", 502, false},
	{REFUSAL_DEALER_BUSY, "dealer_busy", 503, true},
	{REFUSAL_DEALER_TIMEOUT, "dealer_timeout", 504, false},
	{REFUSAL_CLIENT_NOT_FOUND, "client_not_found", 404, false},
	{REFUSAL_CALLBACK_NOT_FOUND, "callback_not_found", 404, false},
	{REFUSAL_KEY_KNOWN, "key_known", 409, false},
	/* sealed transfers and cancelled bets */
	{REFUSAL_TRANSACTION_SEALED, "transaction_sealed", 409, false},
	{REFUSAL_BET_CANCELLED, "bet_cancelled", 409, false},
	/* corrections of settled rounds */
	{REFUSAL_REVISION_CONFLICT, "revision_conflict", 409, false},
	{REFUSAL_CORRECTION_NOT_SUPPORTED, "correction_not_supported", 409, false},
	{REFUSAL_CALLBACK_OPEN, "callback_open", 409, true},
	{REFUSAL_ROLE_NEEDED, "role_needed", 403, false},
	{REFUSAL_SESSION_NEEDED, "session_needed", 401, false},
	{REFUSAL_CODE_NEEDED, "code_needed", 403, false},
	{REFUSAL_SIGN_IN_REFUSED, "sign_in_refused", 401, false},
	{REFUSAL_OPERATOR_NOT_FOUND, "operator_not_found", 404, false},
};

START_TEST(table)
{
	/* Add a new row of refusal.def to the rows above. */
	ck_assert_uint_eq(sizeof(rows) / sizeof(rows[0]), REFUSAL_COUNT);
	for (unsigned int i = 0; i < REFUSAL_COUNT; i++) {
		const struct refusal_info *info = refusal_info(rows[i].refusal);

		ck_assert_uint_eq(rows[i].refusal, i);
		ck_assert_str_eq(info->id, rows[i].id);
		ck_assert_str_eq(refusal_ids[i], rows[i].id);
		ck_assert_int_eq(info->code, rows[i].code);
		ck_assert_msg(info->retryable == rows[i].retryable, "%s", rows[i].id);
		ck_assert_msg(i == 0 || info->detail[0], "%s has no detail", rows[i].id);
	}
}
END_TEST

START_TEST(unknown_is_internal)
{
	ck_assert_str_eq(refusal_info(REFUSAL_COUNT)->id, "internal_error");
	ck_assert_str_eq(refusal_info((enum refusal)12345)->id, "internal_error");
}
END_TEST

Suite *refusal_suite(void)
{
	const TTest *const tests[] = {table, unknown_is_internal, NULL};

	return suite_make("refusal", tests, 10);
}
