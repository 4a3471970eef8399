#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)
#define OPERATOR(cmd)   FIELD_SUB(cmd, operator, operator, operator_fields)

const char *const key_action_names[KEY_ACTION_COUNT] = {"add", "use", "retire", "confirm"};
const char *const note_action_names[NOTE_ACTION_COUNT] = {"dealer test", "resume", "sign",
	"request", "export", "recon", "dealer ping", "csv", "view"};
const char *const backup_stage_names[BACKUP_STAGE_COUNT] = {"none", "running", "done", "failed"};
static const char *const record_names[RECORD_COUNT] = {
#define RECORD(name, struct_, keys) #struct_,
#include "domain/records.def"
#undef RECORD
};

const struct field status_cmd_fields[] = {
	FIELD(FIELD_BOOL, status_cmd, unused),
	FIELD_END,
};
static const struct field table_size_fields[] = {
	FIELD(FIELD_STR, table_size, name),
	FIELD(FIELD_U64, table_size, bytes),
	FIELD_END,
};
static const char *const figure_unit_names[FIGURE_UNIT_COUNT] = {"number", "bytes", "microseconds"};
static const struct field store_figure_fields[] = {
	FIELD(FIELD_STR, store_figure, name),
	FIELD_NAMED(store_figure, unit, figure_unit_names, FIGURE_UNIT_COUNT),
	FIELD(FIELD_U64, store_figure, value),
	FIELD_END,
};
const struct field status_result_fields[] = {
	VERDICT(status_result),
	FIELD(FIELD_STR, status_result, version),
	FIELD(FIELD_STR, status_result, installation),
	FIELD(FIELD_STR, status_result, member),
	FIELD(FIELD_U64, status_result, epoch),
	FIELD(FIELD_U32, status_result, pid),
	FIELD(FIELD_U32, status_result, parent_pid),
	FIELD(FIELD_BOOL, status_result, halted),
	FIELD(FIELD_BOOL, status_result, storage_low),
	FIELD(FIELD_U64, status_result, disk_free_bytes),
	FIELD(FIELD_U64, status_result, disk_low_water_bytes),
	FIELD(FIELD_U64, status_result, log_bytes),
	FIELD_SUB(status_result, tables, table_size, table_size_fields),
	FIELD_SUB(status_result, store, store_figure, store_figure_fields),
	FIELD(FIELD_U64, status_result, uptime_ms),
	FIELD(FIELD_U32, status_result, schema),
	FIELD(FIELD_U64, status_result, last_transaction_id),
	FIELD(FIELD_U32, status_result, ledger_number),
	FIELD(FIELD_U64, status_result, dealers),
	FIELD(FIELD_U64, status_result, held_dealers),
	FIELD(FIELD_U64, status_result, unconfirmed_keys),
	FIELD(FIELD_U32, status_result, connections),
	FIELD(FIELD_U64, status_result, commands),
	FIELD(FIELD_U64, status_result, batches),
	FIELD(FIELD_U64, status_result, commits),
	FIELD(FIELD_U64, status_result, checkpoints),
	FIELD(FIELD_U64, status_result, refused_busy),
	FIELD(FIELD_U64, status_result, clients_cut),
	FIELD(FIELD_U64, status_result, relayed),
	FIELD(FIELD_U64, status_result, relayed_open),
	FIELD(FIELD_U64, status_result, peers_refused),
	FIELD(FIELD_U64, status_result, engine_starts),
	FIELD(FIELD_TIME_MS, status_result, swept_ms),
	FIELD(FIELD_TIME_MS, status_result, backup_ms),
	FIELD(FIELD_U32, status_result, retention_days),
	FIELD(FIELD_U64, status_result, bodies_dropped),
	FIELD(FIELD_U64, status_result, refused_bytes),
	FIELD(FIELD_U64, status_result, refused_bytes_max),
	FIELD(FIELD_TIME_MS, status_result, refused_oldest_ms),
	FIELD(FIELD_U64, status_result, refused_left_out),
	FIELD_END,
};

const struct field resume_cmd_fields[] = {OPERATOR(resume_cmd), FIELD_END};
const struct field resume_result_fields[] = {VERDICT(resume_result), FIELD_END};

const struct field dealer_put_cmd_fields[] = {
	OPERATOR(dealer_put_cmd),
	FIELD(FIELD_BOOL, dealer_put_cmd, create),
	FIELD(FIELD_U32, dealer_put_cmd, mask),
	FIELD(FIELD_BOOL, dealer_put_cmd, unreconciled),
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

const struct field operator_correct_cmd_fields[] = {
	OPERATOR(operator_correct_cmd),
	FIELD(FIELD_BOOL, operator_correct_cmd, preview),
	FIELD(FIELD_STR, operator_correct_cmd, casino_id),
	FIELD(FIELD_STR, operator_correct_cmd, user_id),
	FIELD(FIELD_STR, operator_correct_cmd, game_id),
	FIELD(FIELD_U32, operator_correct_cmd, revision),
	FIELD_NAMED(operator_correct_cmd, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, operator_correct_cmd, payout_amount),
	FIELD(FIELD_BOOL, operator_correct_cmd, allow_shortfall),
	FIELD_END,
};
const struct field operator_correct_result_fields[] = {
	VERDICT(operator_correct_result),
	FIELD(FIELD_U64, operator_correct_result, transaction_id),
	FIELD(FIELD_U32, operator_correct_result, revision),
	FIELD_NAMED(operator_correct_result, previous_result, round_result_names,
		ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, operator_correct_result, delta),
	FIELD(FIELD_MONEY, operator_correct_result, shortfall),
	FIELD(FIELD_MONEY, operator_correct_result, payout_amount),
	FIELD(FIELD_U64, operator_correct_result, event),
	FIELD_NAMED(operator_correct_result, callback_state, callback_state_names,
		CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, operator_correct_result, callback_attempts),
	FIELD_END,
};

const struct field adjust_cmd_fields[] = {
	OPERATOR(adjust_cmd),
	FIELD(FIELD_STR, adjust_cmd, casino_id),
	FIELD(FIELD_STR, adjust_cmd, user_id),
	FIELD(FIELD_MONEY, adjust_cmd, amount),
	FIELD(FIELD_U64, adjust_cmd, event),
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

const struct field callback_operate_cmd_fields[] = {
	OPERATOR(callback_operate_cmd),
	FIELD(FIELD_U64, callback_operate_cmd, event),
	FIELD_NAMED(callback_operate_cmd, action, callback_action_names, CALLBACK_ACTION_COUNT),
	FIELD_END,
};
const struct field callback_operate_result_fields[] = {
	VERDICT(callback_operate_result),
	FIELD_NAMED(callback_operate_result, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, callback_operate_result, casino_id),
	FIELD_NAMED(callback_operate_result, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, callback_operate_result, attempts),
	FIELD_END,
};

const struct field note_cmd_fields[] = {
	OPERATOR(note_cmd),
	FIELD_NAMED(note_cmd, action, note_action_names, NOTE_ACTION_COUNT),
	FIELD(FIELD_STR, note_cmd, object),
	FIELD(FIELD_STR, note_cmd, detail),
	FIELD_END,
};
const struct field note_result_fields[] = {VERDICT(note_result), FIELD_END};

const struct field backup_cmd_fields[] = {
	OPERATOR(backup_cmd),
	FIELD(FIELD_BOOL, backup_cmd, start),
	FIELD(FIELD_BOOL, backup_cmd, whole),
	FIELD(FIELD_STR, backup_cmd, directory),
	FIELD_END,
};
const struct field backup_result_fields[] = {
	VERDICT(backup_result),
	FIELD_NAMED(backup_result, stage, backup_stage_names, BACKUP_STAGE_COUNT),
	FIELD(FIELD_BOOL, backup_result, added),
	FIELD(FIELD_U64, backup_result, bytes),
	FIELD(FIELD_U64, backup_result, bytes_all),
	FIELD(FIELD_U64, backup_result, tables),
	FIELD(FIELD_U64, backup_result, logs),
	FIELD(FIELD_TIME_MS, backup_result, begun_ms),
	FIELD(FIELD_TIME_MS, backup_result, ended_ms),
	FIELD(FIELD_TIME_MS, backup_result, complete_to_ms),
	FIELD(FIELD_STR, backup_result, why),
	FIELD_END,
};

const struct field list_cmd_fields[] = {
	FIELD_NAMED(list_cmd, record, record_names, RECORD_COUNT),
	FIELD(FIELD_BOOL, list_cmd, reverse),
	FIELD(FIELD_BOOL, list_cmd, own),
	FIELD(FIELD_U32, list_cmd, limit),
	FIELD(FIELD_BYTES, list_cmd, prefix),
	FIELD(FIELD_BYTES, list_cmd, cursor),
	FIELD(FIELD_BYTES, list_cmd, keys),
	FIELD(FIELD_BOOL, list_cmd, chain),
	FIELD(FIELD_STR, list_cmd, aside_of),
	FIELD(FIELD_STR, list_cmd, casino_id),
	FIELD_END,
};
const struct field list_result_fields[] = {
	VERDICT(list_result),
	FIELD(FIELD_U64, list_result, last_transaction_id),
	FIELD(FIELD_BOOL, list_result, more),
	FIELD(FIELD_U32, list_result, count),
	FIELD(FIELD_U32, list_result, looked),
	FIELD(FIELD_TIME_MS, list_result, looked_ms),
	FIELD(FIELD_BYTES, list_result, rows),
	FIELD(FIELD_BYTES, list_result, cursor),
	FIELD_END,
};
