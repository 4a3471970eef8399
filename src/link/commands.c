#include "link/commands.h"

const char *const key_action_names[KEY_ACTION_COUNT] = {"add", "use", "retire"};
const char *const keyring_of_names[KEYRING_OF_COUNT] = {"dealers", "clients"};
static const char *const record_names[RECORD_COUNT] = {
#define RECORD(name, struct_, keys) #struct_,
#include "domain/records.def"
#undef RECORD
};

const struct field verdict_fields[] = {
	FIELD_NAMED(verdict, refusal, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_BOOL, verdict, replay),
	FIELD(FIELD_STR, verdict, field),
	FIELD(FIELD_STR, verdict, detail),
	FIELD(FIELD_MONEY, verdict, current_balance),
	FIELD(FIELD_U32, verdict, retry_after_s),
	FIELD_END,
};

const struct field operator_fields[] = {
	FIELD(FIELD_U32, operator, uid),
	FIELD(FIELD_U32, operator, login_uid),
	FIELD(FIELD_STR, operator, sudo_user),
	FIELD(FIELD_STR, operator, operation_id),
	FIELD(FIELD_STR, operator, reason),
	FIELD_END,
};

#define VERDICT(result)  FIELD_SUB(result, verdict, verdict, verdict_fields)
#define OPERATOR(cmd)    FIELD_SUB(cmd, operator, operator, operator_fields)

const struct field keyring_entry_fields[] = {
	FIELD(FIELD_STR, keyring_entry, casino_id),
	FIELD_NAMED(keyring_entry, signature_algorithm, signature_algorithm_names,
		SIGNATURE_ALGORITHM_COUNT),
	FIELD_NAMED(keyring_entry, signature_encoding, signature_encoding_names,
		SIGNATURE_ENCODING_COUNT),
	FIELD(FIELD_STR, keyring_entry, signing_key_id),
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
	FIELD(FIELD_STR, balance_result, currency),
	FIELD_END,
};

const struct field status_cmd_fields[] = {
	FIELD(FIELD_BOOL, status_cmd, unused),
	FIELD_END,
};
const struct field status_result_fields[] = {
	VERDICT(status_result),
	FIELD(FIELD_STR, status_result, version),
	FIELD(FIELD_STR, status_result, installation),
	FIELD(FIELD_U32, status_result, pid),
	FIELD(FIELD_U32, status_result, parent_pid),
	FIELD(FIELD_BOOL, status_result, halted),
	FIELD(FIELD_BOOL, status_result, storage_low),
	FIELD(FIELD_U64, status_result, disk_free_bytes),
	FIELD(FIELD_U64, status_result, log_bytes),
	FIELD(FIELD_U64, status_result, uptime_ms),
	FIELD(FIELD_U32, status_result, schema),
	FIELD(FIELD_U64, status_result, last_transaction_id),
	FIELD(FIELD_U64, status_result, dealers),
	FIELD(FIELD_U32, status_result, connections),
	FIELD(FIELD_U64, status_result, commands),
	FIELD(FIELD_U64, status_result, batches),
	FIELD(FIELD_U64, status_result, commits),
	FIELD(FIELD_U64, status_result, checkpoints),
	FIELD(FIELD_U64, status_result, refused_busy),
	FIELD(FIELD_U64, status_result, clients_cut),
	FIELD_END,
};

const struct field resume_cmd_fields[] = {OPERATOR(resume_cmd), FIELD_END};
const struct field resume_result_fields[] = {VERDICT(resume_result), FIELD_END};

const struct field dealer_put_cmd_fields[] = {
	OPERATOR(dealer_put_cmd),
	FIELD(FIELD_BOOL, dealer_put_cmd, create),
	FIELD(FIELD_U32, dealer_put_cmd, mask),
	FIELD_SUB(dealer_put_cmd, dealer, dealer, dealer_fields),
	FIELD_END,
};
const struct field dealer_put_result_fields[] = {
	VERDICT(dealer_put_result),
	FIELD_SUB(dealer_put_result, dealer, dealer, dealer_fields),
	FIELD_END,
};

const struct field dealer_key_cmd_fields[] = {
	OPERATOR(dealer_key_cmd),
	FIELD(FIELD_STR, dealer_key_cmd, casino_id),
	FIELD_NAMED(dealer_key_cmd, action, key_action_names, KEY_ACTION_COUNT),
	FIELD(FIELD_STR, dealer_key_cmd, key_id),
	FIELD(FIELD_SECRET, dealer_key_cmd, secret),
	FIELD_END,
};
const struct field dealer_key_result_fields[] = {
	VERDICT(dealer_key_result),
	FIELD(FIELD_STR, dealer_key_result, key_id),
	FIELD_END,
};

const struct field player_put_cmd_fields[] = {
	OPERATOR(player_put_cmd),
	FIELD(FIELD_STR, player_put_cmd, casino_id),
	FIELD(FIELD_STR, player_put_cmd, user_id),
	FIELD(FIELD_STR, player_put_cmd, player_id),
	FIELD(FIELD_BOOL, player_put_cmd, change_suspended),
	FIELD(FIELD_BOOL, player_put_cmd, suspended),
	FIELD_END,
};
const struct field player_put_result_fields[] = {
	VERDICT(player_put_result),
	FIELD(FIELD_STR, player_put_result, casino_id),
	FIELD(FIELD_STR, player_put_result, user_id),
	FIELD(FIELD_STR, player_put_result, player_id),
	FIELD(FIELD_STR, player_put_result, currency),
	FIELD(FIELD_BOOL, player_put_result, created),
	FIELD(FIELD_BOOL, player_put_result, suspended),
	FIELD(FIELD_MONEY, player_put_result, balance),
	FIELD_END,
};

const struct field adjust_cmd_fields[] = {
	OPERATOR(adjust_cmd),
	FIELD(FIELD_STR, adjust_cmd, casino_id),
	FIELD(FIELD_STR, adjust_cmd, user_id),
	FIELD(FIELD_MONEY, adjust_cmd, amount),
	FIELD_END,
};
const struct field adjust_result_fields[] = {
	VERDICT(adjust_result),
	FIELD(FIELD_STR, adjust_result, player_id),
	FIELD(FIELD_MONEY, adjust_result, amount),
	FIELD(FIELD_MONEY, adjust_result, before_balance),
	FIELD(FIELD_MONEY, adjust_result, current_balance),
	FIELD(FIELD_U64, adjust_result, transaction_id),
	FIELD_END,
};

const struct field client_put_cmd_fields[] = {
	OPERATOR(client_put_cmd),
	FIELD(FIELD_STR, client_put_cmd, client_id),
	FIELD(FIELD_BOOL, client_put_cmd, remove),
	FIELD(FIELD_SECRET, client_put_cmd, secret),
	FIELD_END,
};
const struct field client_put_result_fields[] = {
	VERDICT(client_put_result),
	FIELD(FIELD_STR, client_put_result, key_id),
	FIELD_END,
};

const struct field client_key_cmd_fields[] = {
	OPERATOR(client_key_cmd),
	FIELD(FIELD_STR, client_key_cmd, client_id),
	FIELD_NAMED(client_key_cmd, action, key_action_names, KEY_ACTION_COUNT),
	FIELD(FIELD_STR, client_key_cmd, key_id),
	FIELD(FIELD_SECRET, client_key_cmd, secret),
	FIELD_END,
};
const struct field client_key_result_fields[] = {
	VERDICT(client_key_result),
	FIELD(FIELD_STR, client_key_result, key_id),
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
	FIELD_END,
};
const struct field bet_place_result_fields[] = {
	VERDICT(bet_place_result),
	FIELD(FIELD_U64, bet_place_result, transaction_id),
	FIELD_NAMED(bet_place_result, state, bet_state_names, BET_STATE_COUNT),
	FIELD(FIELD_BOOL, bet_place_result, has_balance),
	FIELD(FIELD_MONEY, bet_place_result, balance),
	FIELD(FIELD_STR, bet_place_result, dealer_error_id),
	FIELD(FIELD_STR, bet_place_result, dealer_error_detail),
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
	FIELD_NAMED(round_settle_result, callback_state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, round_settle_result, callback_attempts),
	FIELD_END,
};

const struct field list_cmd_fields[] = {
	FIELD_NAMED(list_cmd, record, record_names, RECORD_COUNT),
	FIELD(FIELD_BOOL, list_cmd, reverse),
	FIELD(FIELD_U32, list_cmd, limit),
	FIELD(FIELD_BYTES, list_cmd, prefix),
	FIELD(FIELD_BYTES, list_cmd, cursor),
	FIELD_END,
};
const struct field list_result_fields[] = {
	VERDICT(list_result),
	FIELD(FIELD_U64, list_result, last_transaction_id),
	FIELD(FIELD_BOOL, list_result, more),
	FIELD(FIELD_U32, list_result, count),
	FIELD(FIELD_BYTES, list_result, rows),
	FIELD(FIELD_BYTES, list_result, cursor),
	FIELD_END,
};

const struct command_info command_infos[COMMAND_COUNT] = {
#define COMMAND(name, lower, socket, access, limited)                                              \
	{#lower, SOCKET_##socket, ACCESS_##access, limited, (uint32_t)sizeof(struct lower##_cmd),  \
		lower##_cmd_fields, (uint32_t)sizeof(struct lower##_result), lower##_result_fields},
#include "link/commands.def"
#undef COMMAND
};

uint64_t command_protocol(void)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325);

	for (unsigned int i = 0; i < COMMAND_COUNT; i++) {
		digest = field_digest_name(digest, command_infos[i].name);
		digest = field_digest(digest, command_infos[i].cmd_fields);
		digest = field_digest(digest, command_infos[i].result_fields);
	}
	for (unsigned int i = 0; i < RECORD_COUNT; i++)
		digest = field_digest(digest, record_infos[i].fields);
	return field_digest(digest, keyring_entry_fields);
}
