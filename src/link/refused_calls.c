#include "link/refused_calls.h"

#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)

const char *const refused_why_names[REFUSED_WHY_COUNT] = {"", "headers", "unknown_caller",
	"signature", "stale_request", "flood"};

const struct field refused_call_fields[] = {
	FIELD(FIELD_U64, refused_call, number),
	FIELD(FIELD_TIME_MS, refused_call, time_ms),
	FIELD(FIELD_STR, refused_call, request_id),
	FIELD_NAMED(refused_call, of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD(FIELD_BOOL, refused_call, proved),
	FIELD_NAMED(refused_call, why, refused_why_names, REFUSED_WHY_COUNT),
	FIELD_NAMED(refused_call, refusal, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_STR, refused_call, detail),
	FIELD(FIELD_STR, refused_call, operation),
	FIELD(FIELD_STR, refused_call, method),
	FIELD(FIELD_STR, refused_call, path),
	FIELD(FIELD_STR, refused_call, caller),
	FIELD(FIELD_STR, refused_call, casino_id),
	FIELD(FIELD_STR, refused_call, user_id),
	FIELD(FIELD_STR, refused_call, player_id),
	FIELD(FIELD_STR, refused_call, game_id),
	FIELD(FIELD_STR, refused_call, request_transaction_id),
	FIELD(FIELD_STR, refused_call, amount),
	FIELD(FIELD_TIME_MS, refused_call, request_timestamp),
	FIELD(FIELD_STR, refused_call, address),
	FIELD(FIELD_U32, refused_call, caller_count),
	FIELD(FIELD_U32, refused_call, signature_count),
	FIELD(FIELD_U32, refused_call, body_len),
	FIELD_END,
};

const struct field refused_cause_fields[] = {
	FIELD_NAMED(refused_cause, refusal, refusal_ids, REFUSAL_COUNT),
	FIELD_NAMED(refused_cause, why, refused_why_names, REFUSED_WHY_COUNT),
	FIELD(FIELD_U64, refused_cause, calls),
	FIELD(FIELD_U64, refused_cause, proved),
	FIELD(FIELD_TIME_MS, refused_cause, newest_ms),
	FIELD_END,
};

const struct field refused_keep_cmd_fields[] = {
	FIELD(FIELD_BYTES, refused_keep_cmd, calls),
	FIELD_END,
};
const struct field refused_keep_result_fields[] = {
	VERDICT(refused_keep_result),
	FIELD(FIELD_U32, refused_keep_result, kept),
	FIELD(FIELD_U32, refused_keep_result, left_out),
	FIELD_END,
};

const struct field refused_list_cmd_fields[] = {
	FIELD(FIELD_U64, refused_list_cmd, before),
	FIELD(FIELD_TIME_MS, refused_list_cmd, since_ms),
	FIELD(FIELD_TIME_MS, refused_list_cmd, until_ms),
	FIELD(FIELD_STR, refused_list_cmd, casino_id),
	FIELD(FIELD_STR, refused_list_cmd, user_id),
	FIELD(FIELD_STR, refused_list_cmd, player_id),
	FIELD(FIELD_STR, refused_list_cmd, request_transaction_id),
	FIELD(FIELD_STR, refused_list_cmd, request_id),
	FIELD(FIELD_STR, refused_list_cmd, client_id),
	FIELD(FIELD_BOOL, refused_list_cmd, of_refusal),
	FIELD_NAMED(refused_list_cmd, refusal, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_BOOL, refused_list_cmd, of_why),
	FIELD_NAMED(refused_list_cmd, why, refused_why_names, REFUSED_WHY_COUNT),
	FIELD(FIELD_BOOL, refused_list_cmd, count_only),
	FIELD(FIELD_BOOL, refused_list_cmd, by_cause),
	FIELD(FIELD_U32, refused_list_cmd, limit),
	FIELD_END,
};
const struct field refused_list_result_fields[] = {
	VERDICT(refused_list_result),
	FIELD(FIELD_BYTES, refused_list_result, calls),
	FIELD(FIELD_U32, refused_list_result, matches),
	FIELD(FIELD_U64, refused_list_result, next),
	FIELD(FIELD_BOOL, refused_list_result, keeps),
	FIELD(FIELD_U64, refused_list_result, bytes),
	FIELD(FIELD_TIME_MS, refused_list_result, since_ms),
	FIELD(FIELD_U64, refused_list_result, left_out),
	FIELD(FIELD_TIME_MS, refused_list_result, started_ms),
	FIELD(FIELD_TIME_MS, refused_list_result, looked_ms),
	FIELD(FIELD_BYTES, refused_list_result, causes),
	FIELD_END,
};

/* Returns true if @wanted is "" or equals @text. */
static bool is_wanted(const char *wanted, const char *text)
{
	return !wanted[0] || strcmp(wanted, text) == 0;
}

/* A call names a player by casino_id and user_id, or by player_id. */
static bool names_player(const struct refused_call *call, const struct refused_list_cmd *cmd)
{
	if (cmd->player_id[0] && strcmp(call->player_id, cmd->player_id) == 0)
		return true;
	return is_wanted(cmd->casino_id, call->casino_id) && is_wanted(cmd->user_id, call->user_id);
}

static bool is_of_client(const struct refused_call *call, const struct refused_list_cmd *cmd)
{
	return !cmd->client_id[0] ||
		(call->of == KEYRING_CLIENTS && strcmp(call->caller, cmd->client_id) == 0);
}

static bool has_cause(const struct refused_call *call, const struct refused_list_cmd *cmd)
{
	return (!cmd->of_refusal || call->refusal == cmd->refusal) &&
		(!cmd->of_why || call->why == cmd->why);
}

bool refused_call_matches(const struct refused_call *call, const struct refused_list_cmd *cmd)
{
	return call->time_ms >= cmd->since_ms &&
		(!cmd->until_ms || call->time_ms < cmd->until_ms) &&
		is_wanted(cmd->request_id, call->request_id) &&
		is_wanted(cmd->request_transaction_id, call->request_transaction_id) &&
		is_of_client(call, cmd) && has_cause(call, cmd) && names_player(call, cmd);
}
