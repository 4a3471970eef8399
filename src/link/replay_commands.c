#include "link/replay_commands.h"

#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)
#define OPERATOR(cmd)   FIELD_SUB(cmd, operator, operator, operator_fields)
#define FILTER(cmd)     FIELD_SUB(cmd, filter, replay_filter, replay_filter_fields)

const struct field replay_sum_fields[] = {
	FIELD(FIELD_U64, replay_sum, count),
	FIELD(FIELD_SUM, replay_sum, amount),
	FIELD_END,
};

const struct field replay_preview_cmd_fields[] = {
	FILTER(replay_preview_cmd),
	FIELD(FIELD_BYTES, replay_preview_cmd, events),
	FIELD(FIELD_U64, replay_preview_cmd, below),
	FIELD(FIELD_U32, replay_preview_cmd, most),
	FIELD_END,
};
const struct field replay_preview_result_fields[] = {
	VERDICT(replay_preview_result),
	FIELD(FIELD_U64, replay_preview_result, last_event),
	FIELD(FIELD_TIME_MS, replay_preview_result, parked_to_ms),
	FIELD(FIELD_U64, replay_preview_result, first_event),
	FIELD(FIELD_TIME_MS, replay_preview_result, looked_to_ms),
	FIELD(FIELD_BOOL, replay_preview_result, more),
	FIELD_SUB(replay_preview_result, sums, replay_sum, replay_sum_fields),
	FIELD(FIELD_TIME_MS, replay_preview_result, oldest_ms),
	FIELD(FIELD_TIME_MS, replay_preview_result, newest_ms),
	FIELD(FIELD_BYTES, replay_preview_result, found),
	FIELD(FIELD_U64, replay_preview_result, held),
	FIELD(FIELD_U64, replay_preview_result, adjusted),
	FIELD(FIELD_U64, replay_preview_result, parked_later),
	FIELD(FIELD_BOOL, replay_preview_result, has_url),
	FIELD(FIELD_BOOL, replay_preview_result, dealer_is_held),
	FIELD_NAMED(replay_preview_result, breaker, breaker_names, BREAKER_COUNT),
	FIELD(FIELD_U32, replay_preview_result, rate),
	FIELD_END,
};

const struct field replay_start_cmd_fields[] = {
	OPERATOR(replay_start_cmd),
	FILTER(replay_start_cmd),
	FIELD(FIELD_BYTES, replay_start_cmd, events),
	FIELD(FIELD_U64, replay_start_cmd, expected),
	FIELD(FIELD_U64, replay_start_cmd, parked_later),
	FIELD_END,
};
const struct field replay_start_result_fields[] = {
	VERDICT(replay_start_result),
	FIELD(FIELD_U64, replay_start_result, id),
	FIELD_END,
};

const struct field replay_stop_cmd_fields[] = {
	OPERATOR(replay_stop_cmd),
	FIELD(FIELD_U64, replay_stop_cmd, id),
	FIELD_END,
};
const struct field replay_stop_result_fields[] = {
	VERDICT(replay_stop_result),
	FIELD_NAMED(replay_stop_result, state, replay_state_names, REPLAY_STATE_COUNT),
	FIELD(FIELD_U64, replay_stop_result, made_due),
	FIELD(FIELD_U64, replay_stop_result, on_its_way),
	FIELD_END,
};

const struct field replay_step_cmd_fields[] = {
	FIELD(FIELD_U64, replay_step_cmd, id),
	FIELD(FIELD_U64, replay_step_cmd, from),
	FIELD(FIELD_U64, replay_step_cmd, to),
	FIELD(FIELD_BOOL, replay_step_cmd, ends),
	FIELD(FIELD_BOOL, replay_step_cmd, fails),
	FIELD(FIELD_BYTES, replay_step_cmd, events),
	FIELD_END,
};
const struct field replay_step_result_fields[] = {
	VERDICT(replay_step_result),
	FIELD(FIELD_U32, replay_step_result, made_due),
	FIELD_END,
};
