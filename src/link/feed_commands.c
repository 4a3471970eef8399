#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)

const struct field feed_cmd_fields[] = {
	FIELD(FIELD_STR, feed_cmd, casino_id),
	FIELD(FIELD_STR, feed_cmd, user_id),
	FIELD(FIELD_U64, feed_cmd, after),
	FIELD(FIELD_U32, feed_cmd, limit),
	FIELD(FIELD_BOOL, feed_cmd, goes_on),
	FIELD_END,
};
const struct field feed_result_fields[] = {
	VERDICT(feed_result),
	FIELD(FIELD_U64, feed_result, next),
	FIELD(FIELD_BOOL, feed_result, complete),
	FIELD(FIELD_U32, feed_result, count),
	FIELD(FIELD_BYTES, feed_result, items),
	FIELD_END,
};

const struct field callback_item_fields[] = {
	FIELD(FIELD_U64, callback_item, event),
	FIELD_NAMED(callback_item, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD_NAMED(callback_item, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, callback_item, attempts),
	FIELD(FIELD_TIME_MS, callback_item, created_ms),
	FIELD(FIELD_TIME_MS, callback_item, next_ms),
	FIELD(FIELD_STR, callback_item, user_id),
	FIELD(FIELD_STR, callback_item, player_id),
	FIELD(FIELD_STR, callback_item, game_id),
	FIELD(FIELD_U32, callback_item, last_http_status),
	FIELD_END,
};

const struct field callback_page_cmd_fields[] = {
	FIELD(FIELD_STR, callback_page_cmd, casino_id),
	FIELD_NAMED(callback_page_cmd, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U64, callback_page_cmd, after),
	FIELD(FIELD_U32, callback_page_cmd, limit),
	FIELD(FIELD_BOOL, callback_page_cmd, goes_on),
	FIELD_END,
};
const struct field callback_page_result_fields[] = {
	VERDICT(callback_page_result),
	FIELD(FIELD_U64, callback_page_result, next),
	FIELD(FIELD_BOOL, callback_page_result, complete),
	FIELD(FIELD_U32, callback_page_result, count),
	FIELD(FIELD_BYTES, callback_page_result, items),
	FIELD_END,
};

const struct field callback_resend_cmd_fields[] = {
	FIELD(FIELD_STR, callback_resend_cmd, casino_id),
	FIELD(FIELD_U64, callback_resend_cmd, event),
	FIELD_NAMED(callback_resend_cmd, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_STR, callback_resend_cmd, operation_id),
	FIELD_END,
};
const struct field callback_resend_result_fields[] = {
	VERDICT(callback_resend_result),
	FIELD(FIELD_BOOL, callback_resend_result, resent),
	FIELD_NAMED(callback_resend_result, state, callback_state_names, CALLBACK_STATE_COUNT),
	FIELD(FIELD_U32, callback_resend_result, attempts),
	FIELD(FIELD_U64, callback_resend_result, adjusted_by),
	FIELD_END,
};
