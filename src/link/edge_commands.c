#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)

const char *const keyring_of_names[KEYRING_OF_COUNT] = {"dealers", "clients"};
const char *const transfer_state_names[TRANSFER_STATE_COUNT] = {"unknown", "done", "refused",
	"sealed"};

const struct field keyring_entry_fields[] = {
	FIELD(FIELD_STR, keyring_entry, caller_id),
	FIELD_NAMED(keyring_entry, signature_algorithm, signature_algorithm_names,
		SIGNATURE_ALGORITHM_COUNT),
	FIELD_NAMED(keyring_entry, signature_encoding, signature_encoding_names,
		SIGNATURE_ENCODING_COUNT),
	FIELD(FIELD_STR, keyring_entry, signing_key_id),
	FIELD(FIELD_U8, keyring_entry, decimals),
	FIELD(FIELD_BOOL, keyring_entry, yields),
	FIELD_SUB(keyring_entry, keys, dealer_key, dealer_key_fields),
	FIELD_END,
};

const struct field player_ref_fields[] = {
	FIELD(FIELD_STR, player_ref, player_id),
	FIELD(FIELD_STR, player_ref, casino_id),
	FIELD(FIELD_STR, player_ref, user_id),
	FIELD_END,
};
#define PLAYER_REF(cmd) FIELD_SUB(cmd, player, player_ref, player_ref_fields)

const struct field keyring_cmd_fields[] = {
	FIELD_NAMED(keyring_cmd, of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD(FIELD_U64, keyring_cmd, generation),
	FIELD(FIELD_STR, keyring_cmd, after),
	FIELD_END,
};
const struct field keyring_result_fields[] = {
	VERDICT(keyring_result),
	FIELD(FIELD_U64, keyring_result, generation),
	FIELD(FIELD_BOOL, keyring_result, unchanged),
	FIELD(FIELD_BOOL, keyring_result, more),
	FIELD(FIELD_U32, keyring_result, count),
	FIELD(FIELD_BYTES, keyring_result, entries),
	FIELD_END,
};

const struct field transfer_cmd_fields[] = {
	FIELD(FIELD_STR, transfer_cmd, casino_id),
	FIELD_NAMED(transfer_cmd, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD(FIELD_STR, transfer_cmd, request_transaction_id),
	FIELD(FIELD_STR, transfer_cmd, user_id),
	FIELD(FIELD_MONEY, transfer_cmd, amount),
	FIELD(FIELD_BOOL, transfer_cmd, all),
	FIELD_END,
};
const struct field transfer_result_fields[] = {
	VERDICT(transfer_result),
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

const struct field transfer_inquire_cmd_fields[] = {
	FIELD(FIELD_STR, transfer_inquire_cmd, casino_id),
	FIELD(FIELD_STR, transfer_inquire_cmd, request_transaction_id),
	FIELD(FIELD_BOOL, transfer_inquire_cmd, seal),
	FIELD_END,
};
const struct field transfer_inquire_result_fields[] = {
	VERDICT(transfer_inquire_result),
	FIELD_NAMED(transfer_inquire_result, state, transfer_state_names, TRANSFER_STATE_COUNT),
	FIELD_SUB(transfer_inquire_result, transfer, transfer_result, transfer_result_fields),
	FIELD(FIELD_BOOL, transfer_inquire_result, again),
	FIELD_END,
};

const struct field balance_cmd_fields[] = {
	FIELD(FIELD_STR, balance_cmd, casino_id),
	FIELD(FIELD_STR, balance_cmd, user_id),
	FIELD_END,
};
const struct field balance_result_fields[] = {
	VERDICT(balance_result),
	FIELD(FIELD_STR, balance_result, user_id),
	FIELD(FIELD_STR, balance_result, player_id),
	FIELD(FIELD_MONEY, balance_result, balance),
	FIELD(FIELD_MONEY, balance_result, staked),
	FIELD(FIELD_STR, balance_result, currency),
	FIELD_END,
};

const struct field user_stat_cmd_fields[] = {
	FIELD(FIELD_STR, user_stat_cmd, casino_id),
	FIELD(FIELD_STR, user_stat_cmd, user_id),
	FIELD(FIELD_BOOL, user_stat_cmd, bet_summary),
	FIELD_END,
};
const struct field user_stat_result_fields[] = {
	VERDICT(user_stat_result),
	FIELD(FIELD_STR, user_stat_result, user_id),
	FIELD(FIELD_STR, user_stat_result, player_id),
	FIELD(FIELD_STR, user_stat_result, currency),
	FIELD_SUB(user_stat_result, sums, statistics, statistics_fields),
	FIELD(FIELD_I32, user_stat_result, utc_offset_min),
	FIELD(FIELD_U32, user_stat_result, today),
	FIELD_SUB(user_stat_result, days, statistics, statistics_fields),
	FIELD_END,
};

const struct field result_inquire_cmd_fields[] = {
	FIELD(FIELD_STR, result_inquire_cmd, casino_id),
	FIELD(FIELD_STR, result_inquire_cmd, user_id),
	FIELD(FIELD_STR, result_inquire_cmd, game_id),
	FIELD(FIELD_U32, result_inquire_cmd, after_bet),
	FIELD_END,
};
const struct field result_inquire_result_fields[] = {
	VERDICT(result_inquire_result),
	FIELD_SUB(result_inquire_result, round, round, round_fields),
	FIELD(FIELD_BOOL, result_inquire_result, more),
	FIELD(FIELD_U32, result_inquire_result, last_bet),
	FIELD(FIELD_U32, result_inquire_result, count),
	FIELD(FIELD_BYTES, result_inquire_result, bets),
	FIELD(FIELD_BYTES, result_inquire_result, corrections),
	FIELD(FIELD_U32, result_inquire_result, correction_count),
	FIELD_END,
};
const struct field correction_entry_fields[] = {
	FIELD(FIELD_U32, correction_entry, revision),
	FIELD(FIELD_U64, correction_entry, transaction_id),
	FIELD(FIELD_MONEY, correction_entry, delta),
	FIELD(FIELD_MONEY, correction_entry, shortfall),
	FIELD(FIELD_TIME_MS, correction_entry, timestamp),
	FIELD(FIELD_STR, correction_entry, reason),
	FIELD_END,
};

const struct field player_register_cmd_fields[] = {
	FIELD(FIELD_STR, player_register_cmd, casino_id),
	FIELD(FIELD_STR, player_register_cmd, user_id),
	FIELD(FIELD_STR, player_register_cmd, player_id),
	FIELD_END,
};
const struct field player_register_result_fields[] = {
	VERDICT(player_register_result),
	FIELD(FIELD_STR, player_register_result, player_id),
	FIELD(FIELD_STR, player_register_result, user_id),
	FIELD(FIELD_STR, player_register_result, casino_id),
	FIELD(FIELD_STR, player_register_result, currency),
	FIELD(FIELD_BOOL, player_register_result, created),
	FIELD_END,
};

const struct field player_find_cmd_fields[] = {
	FIELD(FIELD_BYTES, player_find_cmd, player_ids),
	FIELD_END,
};
const struct field player_find_result_fields[] = {
	VERDICT(player_find_result),
	FIELD(FIELD_BYTES, player_find_result, found),
	FIELD_END,
};

const struct field callback_grant_fields[] = {
	FIELD(FIELD_U64, callback_grant, event),
	FIELD_NAMED(callback_grant, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_U32, callback_grant, attempt),
	FIELD(FIELD_TIME_MS, callback_grant, lease_left_ms),
	FIELD_SUB(callback_grant, target, callback_target, callback_target_fields),
	FIELD(FIELD_JSON, callback_grant, body),
	FIELD_END,
};
#define GRANT(result) FIELD_SUB(result, send, callback_grant, callback_grant_fields)

const struct field player_balance_cmd_fields[] = {
	PLAYER_REF(player_balance_cmd),
	FIELD_END,
};
const struct field player_balance_result_fields[] = {
	VERDICT(player_balance_result),
	FIELD_NAMED(player_balance_result, mode, wallet_mode_names, WALLET_MODE_COUNT),
	FIELD(FIELD_STR, player_balance_result, player_id),
	FIELD(FIELD_STR, player_balance_result, user_id),
	FIELD(FIELD_STR, player_balance_result, casino_id),
	FIELD(FIELD_MONEY, player_balance_result, balance),
	FIELD(FIELD_STR, player_balance_result, currency),
	GRANT(player_balance_result),
	FIELD_END,
};

const struct field bet_place_cmd_fields[] = {
	FIELD(FIELD_STR, bet_place_cmd, client_id),
	FIELD(FIELD_STR, bet_place_cmd, request_transaction_id),
	PLAYER_REF(bet_place_cmd),
	FIELD(FIELD_STR, bet_place_cmd, game_id),
	FIELD(FIELD_MONEY, bet_place_cmd, bet_amount),
	FIELD(FIELD_BOOL, bet_place_cmd, addition),
	FIELD(FIELD_STR, bet_place_cmd, remark),
	FIELD(FIELD_JSON, bet_place_cmd, user_bet),
	FIELD(FIELD_U64, bet_place_cmd, sender),
	FIELD_END,
};
const struct field bet_answer_fields[] = {
	FIELD(FIELD_U64, bet_answer, transaction_id),
	FIELD_NAMED(bet_answer, state, bet_state_names, BET_STATE_COUNT),
	FIELD(FIELD_BOOL, bet_answer, has_balance),
	FIELD(FIELD_MONEY, bet_answer, balance),
	FIELD(FIELD_STR, bet_answer, dealer_error_id),
	FIELD(FIELD_STR, bet_answer, dealer_error_detail),
	FIELD_END,
};
#define BET_ANSWER(result) FIELD_SUB(result, bet, bet_answer, bet_answer_fields)
const struct field bet_place_result_fields[] = {
	VERDICT(bet_place_result),
	BET_ANSWER(bet_place_result),
	GRANT(bet_place_result),
	FIELD_END,
};

const struct field bet_cancel_cmd_fields[] = {
	FIELD(FIELD_STR, bet_cancel_cmd, client_id),
	FIELD(FIELD_STR, bet_cancel_cmd, request_transaction_id),
	PLAYER_REF(bet_cancel_cmd),
	FIELD(FIELD_STR, bet_cancel_cmd, game_id),
	FIELD(FIELD_STR, bet_cancel_cmd, bet_request_transaction_id),
	FIELD(FIELD_STR, bet_cancel_cmd, reason),
	FIELD(FIELD_U64, bet_cancel_cmd, sender),
	FIELD_END,
};
const struct field bet_cancel_result_fields[] = {
	VERDICT(bet_cancel_result),
	FIELD(FIELD_U64, bet_cancel_result, transaction_id),
	FIELD_NAMED(bet_cancel_result, state, bet_state_names, BET_STATE_COUNT),
	GRANT(bet_cancel_result),
	FIELD_END,
};
const struct field round_correct_cmd_fields[] = {
	FIELD(FIELD_STR, round_correct_cmd, client_id),
	FIELD(FIELD_STR, round_correct_cmd, request_transaction_id),
	PLAYER_REF(round_correct_cmd),
	FIELD(FIELD_STR, round_correct_cmd, game_id),
	FIELD(FIELD_U32, round_correct_cmd, revision),
	FIELD_NAMED(round_correct_cmd, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, round_correct_cmd, payout_amount),
	FIELD(FIELD_BOOL, round_correct_cmd, allow_shortfall),
	FIELD(FIELD_STR, round_correct_cmd, reason),
	FIELD(FIELD_JSON, round_correct_cmd, game_result),
	FIELD(FIELD_JSON, round_correct_cmd, user_bet_result),
	FIELD(FIELD_U64, round_correct_cmd, sender),
	FIELD_END,
};
const struct field round_correct_result_fields[] = {
	VERDICT(round_correct_result),
	FIELD(FIELD_U64, round_correct_result, transaction_id),
	FIELD(FIELD_U32, round_correct_result, revision),
	FIELD_NAMED(round_correct_result, previous_result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, round_correct_result, delta),
	FIELD(FIELD_MONEY, round_correct_result, shortfall),
	FIELD(FIELD_MONEY, round_correct_result, payout_amount),
	FIELD(FIELD_U64, round_correct_result, event),
	FIELD_NAMED(round_correct_result, callback_state, callback_state_names,
		CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, round_correct_result, callback_attempts),
	GRANT(round_correct_result),
	FIELD_END,
};
const struct field round_settle_cmd_fields[] = {
	FIELD(FIELD_STR, round_settle_cmd, client_id),
	FIELD(FIELD_STR, round_settle_cmd, request_transaction_id),
	PLAYER_REF(round_settle_cmd),
	FIELD(FIELD_STR, round_settle_cmd, game_id),
	FIELD_NAMED(round_settle_cmd, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, round_settle_cmd, payout_amount),
	FIELD(FIELD_STR, round_settle_cmd, remark),
	FIELD(FIELD_JSON, round_settle_cmd, user_bet),
	FIELD(FIELD_JSON, round_settle_cmd, game_result),
	FIELD(FIELD_JSON, round_settle_cmd, user_bet_result),
	FIELD(FIELD_U64, round_settle_cmd, sender),
	FIELD(FIELD_U32, round_settle_cmd, item),
	FIELD_END,
};
const struct field round_settle_result_fields[] = {
	VERDICT(round_settle_result),
	FIELD(FIELD_U64, round_settle_result, transaction_id),
	FIELD(FIELD_MONEY, round_settle_result, bet_amount),
	FIELD(FIELD_MONEY, round_settle_result, addition_amount),
	FIELD(FIELD_MONEY, round_settle_result, win_amount),
	FIELD(FIELD_MONEY, round_settle_result, payout_amount),
	FIELD(FIELD_U64, round_settle_result, event),
	FIELD_NAMED(round_settle_result, callback_state, callback_state_names,
		CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, round_settle_result, callback_attempts),
	GRANT(round_settle_result),
	FIELD_END,
};

const struct field callback_end_cmd_fields[] = {
	FIELD(FIELD_U64, callback_end_cmd, event),
	FIELD_NAMED(callback_end_cmd, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, callback_end_cmd, casino_id),
	FIELD(FIELD_U32, callback_end_cmd, attempt),
	FIELD_SUB(callback_end_cmd, outcome, callback_outcome, callback_outcome_fields),
	FIELD(FIELD_BOOL, callback_end_cmd, is_look),
	FIELD_END,
};
const struct field callback_end_result_fields[] = {
	VERDICT(callback_end_result),
	FIELD(FIELD_BOOL, callback_end_result, late),
	FIELD_NAMED(callback_end_result, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, callback_end_result, attempts),
	FIELD(FIELD_TIME_MS, callback_end_result, next_ms),
	FIELD(FIELD_MONEY, callback_end_result, shortfall),
	BET_ANSWER(callback_end_result),
	FIELD_END,
};

const struct field callback_wait_cmd_fields[] = {
	FIELD(FIELD_BOOL, callback_wait_cmd, unused),
	FIELD_END,
};
const struct field callback_wait_result_fields[] = {
	VERDICT(callback_wait_result),
	FIELD_END,
};

const struct field due_entry_fields[] = {
	FIELD(FIELD_U64, due_entry, event),
	FIELD(FIELD_STR, due_entry, casino_id),
	FIELD_NAMED(due_entry, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_BOOL, due_entry, takeover),
	FIELD(FIELD_U64, due_entry, overdue_ms),
	FIELD_END,
};
const struct field callback_find_cmd_fields[] = {
	FIELD(FIELD_U32, callback_find_cmd, most),
	FIELD(FIELD_BOOL, callback_find_cmd, sweeping),
	FIELD_END,
};
const struct field callback_find_result_fields[] = {
	VERDICT(callback_find_result),
	FIELD(FIELD_U64, callback_find_result, waiting),
	FIELD(FIELD_U32, callback_find_result, count),
	FIELD(FIELD_BYTES, callback_find_result, entries),
	FIELD_END,
};

const struct field callback_claim_cmd_fields[] = {
	FIELD(FIELD_U64, callback_claim_cmd, event),
	FIELD(FIELD_U64, callback_claim_cmd, sender),
	FIELD_END,
};
const struct field callback_claim_result_fields[] = {
	VERDICT(callback_claim_result),
	FIELD(FIELD_BOOL, callback_claim_result, taken_over),
	FIELD(FIELD_STR, callback_claim_result, casino_id),
	FIELD_NAMED(callback_claim_result, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD_NAMED(callback_claim_result, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, callback_claim_result, attempts),
	FIELD(FIELD_TIME_MS, callback_claim_result, next_ms),
	GRANT(callback_claim_result),
	FIELD_END,
};
