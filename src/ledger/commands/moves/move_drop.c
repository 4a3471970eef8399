/*
 * move_drop - deletes a page of rows: in the cell that the dealer has left, or where a move was aborted.
 */
#include "base/pack.h"
#include "ledger/commands/moves/move_rows.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/row_owner.h"

/* Reads the next key. Returns false at the end, and for bytes that are no key. */
static bool next_key(struct bytes *rest, enum record record, union move_row *key)
{
	const struct record_info *info = &record_infos[record];

	memset(key, 0, info->size);
	return rest->len && unpack_key(rest, info->fields, info->key_count, key);
}

/* Returns the row of the key, or NULL. */
static const void *find_row(struct ws *ws, enum record record, const union move_row *key)
{
	return ws_loaded(ws, record, key) ? ws_get(ws, record, key) : NULL;
}

void move_drop_keys(const void *arg, struct ws *ws)
{
	const struct move_drop_cmd *cmd = arg;
	const struct dealer_move move = move_named(cmd->casino_id);
	struct bytes rest = cmd->keys;
	struct request request;
	union move_row key;
	const void *row;

	ws_want(ws, RECORD_DEALER_MOVE, &move);
	if (!move_has_record(cmd->record))
		return;
	for (uint32_t count = 0;
		count < move_page_max(cmd->record) && next_key(&rest, cmd->record, &key); count++) {
		ws_want(ws, cmd->record, &key);
		row = find_row(ws, cmd->record, &key);
		if (!row)
			continue;
		row_owner_want(ws, cmd->record, row);
		if (cmd->record == RECORD_RESULT_BATCH) {
			request = move_batch_request(row);
			ws_want(ws, RECORD_REQUEST, &request);
		}
	}
}

/* Returns true if each row that exists is of the dealer. */
static bool judge_page(struct ws *ws, const struct move_drop_cmd *cmd)
{
	struct bytes rest = cmd->keys;
	uint32_t count = 0;
	union move_row key;
	const void *row;

	while (count < move_page_max(cmd->record) && next_key(&rest, cmd->record, &key)) {
		row = find_row(ws, cmd->record, &key);
		if (row && !row_is_of(ws, cmd->record, row, cmd->casino_id))
			return false;
		count++;
	}
	return !rest.len;
}

static bool drop_row(struct ws *ws, const struct move_drop_cmd *cmd, const union move_row *key)
{
	const void *row = find_row(ws, cmd->record, key);
	struct request request;

	if (!row)
		return false;
	if (cmd->record == RECORD_RESULT_BATCH) {
		if (batch_is_of_others(ws, row, cmd->casino_id))
			return false;
		request = move_batch_request(row);
		ws_drop(ws, RECORD_REQUEST, &request);
	}
	ws_drop(ws, cmd->record, key);
	return true;
}

/* Returns true if rows of the kind are deleted in this state. */
static bool may_drop(const struct dealer_move *move, enum record record)
{
	if (!move || !move_has_record(record) || record == RECORD_RETIRED_DIGEST)
		return false;
	return move->state == MOVE_UNDOING ||
		(move->state == MOVE_REMOVING && !move_copies(record));
}

void move_drop_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct move_drop_cmd *cmd = arg;
	struct move_drop_result *result = out;
	const struct dealer_move *stored = move_find(ws, cmd->casino_id, cmd->id);
	struct bytes rest = cmd->keys;
	struct dealer_move move;
	union move_row key;

	(void)context;
	if (!may_drop(stored, cmd->record)) {
		move_refuse(&result->verdict, REFUSAL_NOT_ALLOWED_NOW,
			"these rows of the dealer are not to be deleted now");
		return;
	}
	if (cmd->cursor.len > MOVE_AFTER_MAX || !judge_page(ws, cmd)) {
		move_refuse(&result->verdict, REFUSAL_BAD_REQUEST,
			"a key cannot be read, or is of another dealer");
		return;
	}
	move = *stored;
	while (next_key(&rest, cmd->record, &key))
		result->dropped += drop_row(ws, cmd, &key);
	move.rows += result->dropped;
	move.page_kind = cmd->record;
	move.after = cmd->cursor;
	ws_put(ws, RECORD_DEALER_MOVE, &move);
}
