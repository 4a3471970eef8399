#include "domain/kinds.h"

#include "domain/role.h"

const char *const wallet_mode_names[WALLET_MODE_COUNT] = {"transfer", "seamless"};
const char *const entry_kind_names[ENTRY_KIND_COUNT] = {"transfer_in", "transfer_out", "adjust",
	"bet", "payout", "correction", "bet_cancel", "seal", "result_batch"};
const char *const request_scope_names[SCOPE_COUNT] = {"dealer", "operator", "client", "batch"};
const char *const bet_state_names[BET_STATE_COUNT] = {"pending", "accepted", "rejected",
	"refunding", "refunded", "settled"};
const char *const round_state_names[ROUND_STATE_COUNT] = {"open", "settled"};
const char *const round_result_names[ROUND_RESULT_COUNT] = {"none", "win", "loss", "refund"};
const char *const callback_state_names[CALLBACK_STATE_COUNT] = {"due", "sending", "delivered",
	"parked", "held", "cancelled", "failed"};
const char *const callback_kind_names[CALLBACK_KIND_COUNT] = {"balance-inquire", "betting",
	"betting-result", "betting-refund", "betting-correction"};
const char *const callback_class_names[CALLBACK_CLASS_COUNT] = {"unknown", "success", "refused",
	"not_sent"};
const char *const signature_algorithm_names[SIGNATURE_ALGORITHM_COUNT] = {"hmac-sha256",
	"hmac-sha512", "hmac-sha1"};
const char *const key_use_names[KEY_USE_COUNT] = {"as_issued", "decoded", "upper_case",
	"lower_case", "with_newline", "hashed_first", "hashed_last", "as_body"};
const char *const signature_encoding_names[SIGNATURE_ENCODING_COUNT] = {"hex", "base64"};
const char *const role_names[ROLE_COUNT] = {"none", "read", "support", "finance", "admin"};
