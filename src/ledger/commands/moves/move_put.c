/*
 * move_put - puts a page of rows in the cell that a dealer moves to.
 *
 * All rows of the page are judged before the first is written, so that a refused page changes nothing. Rows that the
 * cell has with the same content stay: the key of a batch may have come with another dealer.
 */
#include "base/pack.h"
#include "domain/callback.h"
#include "domain/retired_digest.h"
#include "domain/retry.h"
#include "domain/row_bounds.h"
#include "ledger/commands/moves/move_rows.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/life.h"
#include "ledger/rows/row_owner.h"
#include "link/frame.h"

#include <stdio.h>

#define KEY_LETTER      'k'
#define CALLBACK_LETTER 'c'

/* Reads the next row. Returns false at the end, and for bytes that are no row. */
static bool next_row(struct bytes *rest, enum record record, union move_row *row)
{
	memset(row, 0, record_infos[record].size);
	return rest->len && unpack_record(rest, record_infos[record].fields, row);
}

/* Returns true if operators or the dealer asked for attempts of the result. */
static bool was_retried(const struct callback *callback)
{
	return (callback->kind == CALLBACK_BETTING_RESULT ||
		       callback->kind == CALLBACK_BETTING_CORRECTION) &&
		callback->attempts > RETRY_RESULT_ATTEMPTS;
}

/* Returns the step that writes an audit row for the row; NULL: none does. */
static const struct operator*
	step_of(const struct move_put_cmd *cmd, const union move_row *row, struct operator* step)
{
	*step = cmd->operator;
	if (cmd->record == RECORD_RETIRED_DIGEST)
		move_operator(cmd->id, KEY_LETTER,
			row->retired_digest.audit_seq * 8 + row->retired_digest.number % 8, step);
	else if (cmd->record == RECORD_CALLBACK && was_retried(&row->callback))
		move_operator(cmd->id, CALLBACK_LETTER, row->callback.event, step);
	else
		return NULL;
	return step;
}

/* Returns the game server that the row names; "": none. */
static const char *client_of(enum record record, const union move_row *row)
{
	switch (record) {
	case RECORD_ROUND:
		return row->round.client_id;
	case RECORD_BET:
		return row->bet.client_id;
	case RECORD_REQUEST:
		return scope_is_of_client(row->request.scope) ? row->request.owner : "";
	case RECORD_RESULT_BATCH:
		return row->result_batch.client_id;
	default:
		return "";
	}
}

static void want_row(struct ws *ws, const struct move_put_cmd *cmd, const union move_row *row)
{
	struct operator step;
	struct request request;
	struct client client;

	if (cmd->record != RECORD_RETIRED_DIGEST)
		ws_want(ws, cmd->record, row);
	if (cmd->record == RECORD_RESULT_BATCH) {
		request = move_batch_request(&row->result_batch);
		ws_want(ws, RECORD_REQUEST, &request);
	}
	row_owner_want(ws, cmd->record, row);
	if (client_of(cmd->record, row)[0]) {
		client = client_named(client_of(cmd->record, row));
		ws_want(ws, RECORD_CLIENT, &client);
	}
	if (step_of(cmd, row, &step))
		audit_keys(ws, &step);
}

void move_put_keys(const void *arg, struct ws *ws)
{
	const struct move_put_cmd *cmd = arg;
	const struct dealer_move move = move_named(cmd->casino_id);
	struct bytes rest = cmd->rows;
	union move_row row;

	ws_want(ws, RECORD_DEALER_MOVE, &move);
	life_want_id(ws, LIFE_TRANSACTIONS);
	life_want_id(ws, LIFE_EVENTS);
	if (!move_has_record(cmd->record))
		return;
	for (uint32_t count = 0;
		count < move_page_max(cmd->record) && next_row(&rest, cmd->record, &row); count++)
		want_row(ws, cmd, &row);
}

/* Returns true if both rows have the same content. @scratch is used for both. */
static bool are_equal(enum record record, const void *stored, const union move_row *row,
	struct buffer *scratch)
{
	const struct field *fields = record_infos[record].fields;
	union move_row ours;
	size_t len;

	memcpy(&ours, stored, record_infos[record].size);
	move_localise(record, &ours);
	buffer_reset(scratch);
	if (!pack_record(scratch, fields, &ours))
		return false;
	len = scratch->len;
	return pack_record(scratch, fields, row) && scratch->len == 2 * len &&
		memcmp(scratch->data, scratch->data + len, len) == 0;
}

static bool refuse_row(struct verdict *verdict, enum refusal refusal, enum record record,
	const union move_row *row, const char *why)
{
	char name[ROW_BOUNDS_NAME_SIZE];

	verdict->refusal = refusal;
	row_bounds_name(record, row, name);
	snprintf(verdict->detail, sizeof(verdict->detail), "%.80s: %.40s", name, why);
	return false;
}

/* The key of a batch must be free, or that of this batch. */
static bool batch_key_fits(struct ws *ws, const struct result_batch *batch, struct buffer *scratch)
{
	union move_row row = {.request = move_batch_request(batch)};
	const struct request *stored = ws_get(ws, RECORD_REQUEST, &row.request);

	/* Each cell has the time at which it received the batch. */
	if (stored)
		row.request.time_ms = stored->time_ms;
	return !stored || are_equal(RECORD_REQUEST, stored, &row, scratch);
}

static bool judge_row(struct ws *ws, const struct move_put_cmd *cmd, const union move_row *row,
	struct verdict *verdict, struct buffer *scratch)
{
	const enum record record = cmd->record;
	const bool is_batch = record == RECORD_RESULT_BATCH;
	const char *client_id = client_of(record, row);
	const struct client client = client_named(client_id);
	char why[ROW_BOUNDS_WHY_SIZE];
	const void *stored;

	if (!row_bounds_check(record, row, true, why) || !record_sane(record, row))
		return refuse_row(verdict, REFUSAL_BAD_REQUEST, record, row, "out of bounds");
	if (!row_is_of(ws, record, row, cmd->casino_id))
		return refuse_row(verdict, REFUSAL_BAD_REQUEST, record, row,
			"not a row of the dealer");
	if (client_id[0] && !ws_get(ws, RECORD_CLIENT, &client))
		return refuse_row(verdict, REFUSAL_CLIENT_NOT_FOUND, record, row,
			"its game server is not known here");
	if (record == RECORD_RETIRED_DIGEST)
		return true;
	stored = ws_get(ws, record, row);
	if (stored && is_batch && move_batch_is_same(stored, &row->result_batch))
		stored = NULL;
	if ((stored && !are_equal(record, stored, row, scratch)) ||
		(is_batch && !batch_key_fits(ws, &row->result_batch, scratch)))
		return refuse_row(verdict, REFUSAL_TRANSACTION_CONFLICT, record, row,
			"this cell has another row");
	return true;
}

/* A row retired_digest is named by a row of the audit, which stays in the other cell. Here a new row of the audit names it. */
static void put_retired(struct ws *ws, const struct apply_context *context,
	const struct move_put_cmd *cmd, const struct operator* step,
	const struct retired_digest *row)
{
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];
	bool is_new;

	if (!key_book_take_retired(context->key_book, row, &is_new))
		ws_fail(ws, "no memory for a retired key");
	if (!is_new)
		return;
	snprintf(object, sizeof(object), "dealer %s", cmd->casino_id);
	snprintf(detail, sizeof(detail), "%s%s", RETIRED_DIGEST_MARK, row->digest);
	audit_write(ws, context, step, RETIRED_DIGEST_MOVED, object, detail);
}

/* The retries by which `check` allows the attempts are in the audit of the other cell. */
static void audit_attempts(struct ws *ws, const struct apply_context *context,
	const struct operator* step, const struct callback *callback)
{
	char object[CALLBACK_EVENT_ID_SIZE], detail[DETAIL_SIZE];

	callback_event_id(callback->kind, callback->event, object);
	snprintf(detail, sizeof(detail), "attempts=%u", callback->attempts);
	audit_write(ws, context, step, CALLBACK_MOVED_ACTION, object, detail);
}

/*
 * The batch came with another dealer or from its sender before, and some of its items were tried again in one of the
 * cells. The call that came first counts.
 */
static void merge_batch(struct ws *ws, const struct result_batch *stored,
	const struct result_batch *row)
{
	struct result_batch merged = row->time_ms < stored->time_ms ? *row : *stored;
	const struct request request = move_batch_request(&merged);
	struct buffer answers;

	buffer_init(&answers, FRAME_MAX);
	if (move_batch_merge(stored, row, &answers)) {
		merged.answers = (struct bytes){answers.data, (uint32_t)answers.len};
		ws_put(ws, RECORD_RESULT_BATCH, &merged);
		ws_put(ws, RECORD_REQUEST, &request);
	} else {
		ws_fail(ws, "the answers of a batch cannot be merged");
	}
	buffer_free(&answers);
}

/* Writes a row that was judged. */
static void put_row(struct ws *ws, const struct apply_context *context,
	const struct move_put_cmd *cmd, const union move_row *row, struct dealer_move *move)
{
	const struct operator* step;
	struct operator operator;
	struct request request;
	const void *stored;

	step = step_of(cmd, row, &operator);
	if (cmd->record == RECORD_RETIRED_DIGEST) {
		put_retired(ws, context, cmd, step, &row->retired_digest);
		return;
	}
	stored = ws_get(ws, cmd->record, row);
	if (stored && cmd->record == RECORD_RESULT_BATCH)
		merge_batch(ws, stored, &row->result_batch);
	if (stored)
		return;
	ws_put(ws, cmd->record, row);
	move->rows++;
	if (cmd->record == RECORD_TRANSACTION) {
		life_raise(ws, LIFE_TRANSACTIONS, row->transaction.transaction_id);
		if (!move->first_transaction ||
			row->transaction.transaction_id < move->first_transaction)
			move->first_transaction = row->transaction.transaction_id;
	} else if (cmd->record == RECORD_CALLBACK) {
		life_raise(ws, LIFE_EVENTS, row->callback.event);
		if (step)
			audit_attempts(ws, context, step, &row->callback);
	} else if (cmd->record == RECORD_RESULT_BATCH) {
		request = move_batch_request(&row->result_batch);
		ws_put(ws, RECORD_REQUEST, &request);
	}
}

static bool judge_page(struct ws *ws, const struct move_put_cmd *cmd, struct verdict *verdict)
{
	struct bytes rest = cmd->rows;
	struct buffer scratch;
	union move_row row;
	uint32_t count = 0;
	bool fits = true;

	buffer_init(&scratch, 2 * FRAME_MAX);
	while (fits && count < move_page_max(cmd->record) && next_row(&rest, cmd->record, &row)) {
		fits = judge_row(ws, cmd, &row, verdict, &scratch);
		count++;
	}
	buffer_free(&scratch);
	if (fits && rest.len) {
		move_refuse(verdict, REFUSAL_BAD_REQUEST, "the rows cannot be read");
		fits = false;
	}
	return fits;
}

/* Returns true if the page is the last one that was put: the answer was lost, and the command is sent again. */
static bool was_put(const struct move_put_cmd *cmd, const struct dealer_move *stored)
{
	return cmd->page && cmd->page == stored->page && cmd->record == stored->page_kind &&
		cmd->cursor.len == stored->after.len &&
		(!cmd->cursor.len ||
			memcmp(cmd->cursor.data, stored->after.data, cmd->cursor.len) == 0);
}

void move_put_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct move_put_cmd *cmd = arg;
	struct move_put_result *result = out;
	const struct dealer_move *stored = move_find(ws, cmd->casino_id, cmd->id);
	struct bytes rest = cmd->rows;
	struct dealer_move move;
	union move_row row;

	if (!stored || stored->state != MOVE_ARRIVING) {
		move_refuse(&result->verdict, REFUSAL_NOT_ALLOWED_NOW,
			"the dealer is not arriving here by this move");
		return;
	}
	result->page = stored->page;
	if (was_put(cmd, stored))
		return;
	if (cmd->page != stored->page + 1 || !move_has_record(cmd->record) ||
		cmd->cursor.len > MOVE_AFTER_MAX) {
		move_refuse(&result->verdict, REFUSAL_NOT_ALLOWED_NOW,
			"this is not the next page: another run of the command puts pages");
		return;
	}
	move = *stored;
	if (!judge_page(ws, cmd, &result->verdict))
		return;
	while (next_row(&rest, cmd->record, &row))
		put_row(ws, context, cmd, &row, &move);
	result->page = move.page = cmd->page;
	move.page_kind = cmd->record;
	move.after = cmd->cursor;
	ws_put(ws, RECORD_DEALER_MOVE, &move);
}
