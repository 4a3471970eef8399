#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)
#define WHO(result)     FIELD_SUB(result, who, session_who, session_who_fields)

const char *const find_kind_names[FIND_KIND_COUNT] = {"dealer", "client", "player", "transaction",
	"callback", "request", "call", "round"};
const char *const operator_action_names[OPERATOR_ACTION_COUNT] = {"add", "set", "suspend", "resume",
	"unlock", "new-code", "sign-out"};

static const struct field session_who_fields[] = {
	FIELD(FIELD_STR, session_who, name),
	FIELD_NAMED(session_who, role, role_names, ROLE_COUNT),
	FIELD(FIELD_U32, session_who, code_age_s),
	FIELD(FIELD_U32, session_who, code_left_s),
	FIELD(FIELD_U32, session_who, idle_s),
	FIELD(FIELD_U32, session_who, left_s),
	FIELD_END,
};

const struct field session_open_cmd_fields[] = {
	FIELD(FIELD_STR, session_open_cmd, login),
	FIELD(FIELD_SECRET, session_open_cmd, code),
	FIELD(FIELD_SECRET, session_open_cmd, session),
	FIELD(FIELD_STR, session_open_cmd, address),
	FIELD(FIELD_STR, session_open_cmd, name),
	FIELD_END,
};
const struct field session_open_result_fields[] = {
	VERDICT(session_open_result),
	WHO(session_open_result),
	FIELD(FIELD_BOOL, session_open_result, locks),
	FIELD_END,
};

const struct field session_step_cmd_fields[] = {
	FIELD(FIELD_SECRET, session_step_cmd, code),
	FIELD(FIELD_STR, session_step_cmd, operation_id),
	FIELD(FIELD_STR, session_step_cmd, name),
	FIELD_END,
};
const struct field session_step_result_fields[] = {
	VERDICT(session_step_result),
	WHO(session_step_result),
	FIELD(FIELD_BOOL, session_step_result, locks),
	FIELD_END,
};

const struct field session_show_cmd_fields[] = {
	FIELD(FIELD_BOOL, session_show_cmd, unused),
	FIELD_END,
};
const struct field session_show_result_fields[] = {
	VERDICT(session_show_result),
	WHO(session_show_result),
	FIELD_END,
};

const struct field session_close_cmd_fields[] = {
	FIELD(FIELD_BOOL, session_close_cmd, unused),
	FIELD_END,
};
const struct field session_close_result_fields[] = {
	VERDICT(session_close_result),
	FIELD_END,
};

const struct field session_count_cmd_fields[] = {
	FIELD(FIELD_STR, session_count_cmd, name),
	FIELD_END,
};
const struct field session_count_result_fields[] = {
	VERDICT(session_count_result),
	FIELD(FIELD_U32, session_count_result, sessions),
	FIELD(FIELD_U32, session_count_result, oldest_s),
	FIELD(FIELD_U32, session_count_result, seen_s),
	FIELD(FIELD_STR, session_count_result, address),
	FIELD_END,
};

const struct field find_hit_fields[] = {
	FIELD_NAMED(find_hit, of, find_kind_names, FIND_KIND_COUNT),
	FIELD(FIELD_STR, find_hit, casino_id),
	FIELD(FIELD_STR, find_hit, client_id),
	FIELD(FIELD_STR, find_hit, user_id),
	FIELD(FIELD_STR, find_hit, player_id),
	FIELD(FIELD_STR, find_hit, game_id),
	FIELD(FIELD_U32, find_hit, bet_number),
	FIELD(FIELD_U64, find_hit, transaction_id),
	FIELD(FIELD_U64, find_hit, event),
	FIELD(FIELD_STR, find_hit, request_transaction_id),
	FIELD_NAMED(find_hit, scope, request_scope_names, SCOPE_COUNT),
	FIELD_NAMED(find_hit, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD_NAMED(find_hit, outcome, refusal_ids, REFUSAL_COUNT),
	FIELD_NAMED(find_hit, callback_kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD_NAMED(find_hit, callback_state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_STR, find_hit, call),
	FIELD(FIELD_MONEY, find_hit, amount),
	FIELD(FIELD_TIME_MS, find_hit, time_ms),
	FIELD_END,
};
const struct field find_cmd_fields[] = {
	FIELD(FIELD_STR, find_cmd, text),
	FIELD(FIELD_STR, find_cmd, after),
	FIELD_END,
};
const struct field find_result_fields[] = {
	VERDICT(find_result),
	FIELD(FIELD_U32, find_result, dealers),
	FIELD(FIELD_U32, find_result, clients),
	FIELD(FIELD_U32, find_result, count),
	FIELD(FIELD_BOOL, find_result, rounds_more),
	FIELD(FIELD_BYTES, find_result, hits),
	FIELD(FIELD_TIME_MS, find_result, calls_from_ms),
	FIELD(FIELD_STR, find_result, next),
	FIELD_END,
};

const struct field operator_put_cmd_fields[] = {
	FIELD_SUB(operator_put_cmd, operator, operator, operator_fields),
	FIELD_NAMED(operator_put_cmd, action, operator_action_names, OPERATOR_ACTION_COUNT),
	FIELD(FIELD_STR, operator_put_cmd, name),
	FIELD(FIELD_STR, operator_put_cmd, login),
	FIELD_NAMED(operator_put_cmd, role, role_names, ROLE_COUNT),
	FIELD(FIELD_SECRET, operator_put_cmd, secret),
	FIELD_END,
};
const struct field operator_put_result_fields[] = {
	VERDICT(operator_put_result),
	FIELD_SUB(operator_put_result, row, desk_operator, desk_operator_fields),
	FIELD_END,
};
