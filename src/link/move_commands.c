#include "link/move_commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)
#define OPERATOR(cmd)   FIELD_SUB(cmd, operator, operator, operator_fields)

static const char *const record_names[RECORD_COUNT] = {
#define RECORD(name, struct_, keys) #struct_,
#include "domain/records.def"
#undef RECORD
};

const char *const move_action_names[MOVE_ACTION_COUNT] = {"look", "leave", "stay", "cut", "remove",
	"finish", "arrive", "undo", "undone", "open"};

static const char *const want_names[MOVE_WANT_COUNT] = {"sums", "rows", "keys"};

/* A row comes after those by which its dealer is found (ledger/rows/row_owner.h). */
const enum record move_records[] = {
	RECORD_TOTAL,
	RECORD_PLAYER_NAME,
	RECORD_PLAYER,
	RECORD_DEALER_DAY,
	RECORD_LIFETIME,
	RECORD_DAY,
	RECORD_RETIRED_DIGEST,
	RECORD_REQUEST,
	RECORD_RESULT_BATCH,
	RECORD_TRANSACTION,
	RECORD_ROUND,
	RECORD_BET,
	RECORD_GAME_PLAYER,
	RECORD_PLAYER_BET,
	RECORD_CORRECTION,
	RECORD_CANCELLATION,
	RECORD_CALLBACK,
	RECORD_CALLBACK_BODY,
	RECORD_ATTEMPT,
	RECORD_ANSWER,
	RECORD_ASIDE,
	RECORD_DUE,
};
const unsigned int move_record_count = sizeof(move_records) / sizeof(move_records[0]);

uint32_t move_page_max(enum record record)
{
	return record == RECORD_RESULT_BATCH ? MOVE_BATCHES_MAX : MOVE_ROWS_MAX;
}

bool move_copies(enum record record)
{
	return record == RECORD_RETIRED_DIGEST || record == RECORD_RESULT_BATCH;
}

const struct field dealer_move_cmd_fields[] = {
	OPERATOR(dealer_move_cmd),
	FIELD_NAMED(dealer_move_cmd, action, move_action_names, MOVE_ACTION_COUNT),
	FIELD(FIELD_STR, dealer_move_cmd, casino_id),
	FIELD(FIELD_STR, dealer_move_cmd, id),
	FIELD(FIELD_STR, dealer_move_cmd, peer),
	FIELD(FIELD_STR, dealer_move_cmd, other),
	FIELD(FIELD_BYTES, dealer_move_cmd, dealer),
	FIELD(FIELD_U64, dealer_move_cmd, page),
	FIELD(FIELD_U64, dealer_move_cmd, rows),
	FIELD(FIELD_TIME_MS, dealer_move_cmd, complete_to_ms),
	FIELD_END,
};
const struct field dealer_move_result_fields[] = {
	VERDICT(dealer_move_result),
	FIELD(FIELD_BOOL, dealer_move_result, has_dealer),
	FIELD(FIELD_BOOL, dealer_move_result, has_move),
	FIELD_SUB(dealer_move_result, move, dealer_move, dealer_move_fields),
	FIELD(FIELD_U64, dealer_move_result, sending),
	FIELD(FIELD_BOOL, dealer_move_result, has_opened),
	FIELD(FIELD_BOOL, dealer_move_result, has_stayed),
	FIELD_END,
};

const struct field move_read_cmd_fields[] = {
	FIELD(FIELD_STR, move_read_cmd, casino_id),
	FIELD(FIELD_STR, move_read_cmd, id),
	FIELD_NAMED(move_read_cmd, record, record_names, RECORD_COUNT),
	FIELD_NAMED(move_read_cmd, want, want_names, MOVE_WANT_COUNT),
	FIELD(FIELD_BYTES, move_read_cmd, cursor),
	FIELD(FIELD_STR, move_read_cmd, digest),
	FIELD_END,
};
const struct field move_read_result_fields[] = {
	VERDICT(move_read_result),
	FIELD(FIELD_BOOL, move_read_result, more),
	FIELD(FIELD_U32, move_read_result, count),
	FIELD(FIELD_U32, move_read_result, looked),
	FIELD(FIELD_U32, move_read_result, part),
	FIELD(FIELD_STR, move_read_result, digest),
	FIELD(FIELD_SUM, move_read_result, amount),
	FIELD(FIELD_BYTES, move_read_result, rows),
	FIELD(FIELD_BYTES, move_read_result, cursor),
	FIELD_END,
};

const struct field move_put_cmd_fields[] = {
	OPERATOR(move_put_cmd),
	FIELD(FIELD_STR, move_put_cmd, casino_id),
	FIELD(FIELD_STR, move_put_cmd, id),
	FIELD(FIELD_U64, move_put_cmd, page),
	FIELD_NAMED(move_put_cmd, record, record_names, RECORD_COUNT),
	FIELD(FIELD_BYTES, move_put_cmd, rows),
	FIELD(FIELD_BYTES, move_put_cmd, cursor),
	FIELD_END,
};
const struct field move_put_result_fields[] = {
	VERDICT(move_put_result),
	FIELD(FIELD_U64, move_put_result, page),
	FIELD_END,
};

const struct field move_drop_cmd_fields[] = {
	FIELD(FIELD_STR, move_drop_cmd, casino_id),
	FIELD(FIELD_STR, move_drop_cmd, id),
	FIELD_NAMED(move_drop_cmd, record, record_names, RECORD_COUNT),
	FIELD(FIELD_BYTES, move_drop_cmd, keys),
	FIELD(FIELD_BYTES, move_drop_cmd, cursor),
	FIELD_END,
};
const struct field move_drop_result_fields[] = {
	VERDICT(move_drop_result),
	FIELD(FIELD_U32, move_drop_result, dropped),
	FIELD_END,
};
