#include "link/refused_calls.h"

#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)

const char *const refused_why_names[REFUSED_WHY_COUNT] = {"", "headers", "unknown_caller",
	"signature", "stale_request", "flood"};

const char *const refused_form_names[REFUSED_FORM_COUNT] = {"", "id_missing", "id_not_single",
	"signature_missing", "signature_not_single", "clock_unit", "clock_zone", "clock_ahead",
	"clock_behind"};

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
	FIELD_NAMED(refused_cause, form, refused_form_names, REFUSED_FORM_COUNT),
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

/* A clock that is off by more is more than a wrong unit. */
#define UNIT_NEAR_MS (60 * 60 * 1000)

static bool is_near(int64_t one_ms, int64_t other_ms)
{
	return one_ms >= other_ms - UNIT_NEAR_MS && one_ms <= other_ms + UNIT_NEAR_MS;
}

enum refused_form refused_clock(int64_t timestamp, int64_t time_ms)
{
	/* Time zones are multiples of 30 minutes here, from 1 to 14 hours, with a clock that is right to a minute. */
	const int64_t half_ms = 30 * 60 * 1000, slack_ms = 60 * 1000;
	int64_t off_ms, size_ms, halves, rest_ms;

	/* Before 1970: in any unit, and without a difference that does not fit. */
	if (timestamp < 0)
		return REFUSED_FORM_CLOCK_BEHIND;
	off_ms = timestamp - time_ms;
	size_ms = off_ms < 0 ? -off_ms : off_ms;
	halves = size_ms / half_ms + (size_ms % half_ms >= half_ms / 2);
	rest_ms = size_ms - halves * half_ms;
	if ((timestamp < INT64_MAX / 1000 && is_near(timestamp * 1000, time_ms)) ||
		is_near(timestamp / 1000, time_ms) || is_near(timestamp / 1000000, time_ms))
		return REFUSED_FORM_CLOCK_UNIT;
	if (halves >= 2 && halves <= 28 && rest_ms > -slack_ms && rest_ms < slack_ms)
		return REFUSED_FORM_CLOCK_ZONE;
	return off_ms < 0 ? REFUSED_FORM_CLOCK_BEHIND : REFUSED_FORM_CLOCK_AHEAD;
}

enum refused_form refused_call_form(const struct refused_call *call)
{
	if (call->why == REFUSED_WHY_CLOCK)
		return refused_clock(call->request_timestamp, call->time_ms);
	if (call->why != REFUSED_WHY_HEADERS)
		return REFUSED_FORM_NONE;
	if (!call->caller_count)
		return REFUSED_FORM_ID_MISSING;
	if (!call->signature_count)
		return REFUSED_FORM_SIGNATURE_MISSING;
	return call->caller_count > 1 ? REFUSED_FORM_ID_NOT_SINGLE
				      : REFUSED_FORM_SIGNATURE_NOT_SINGLE;
}

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
