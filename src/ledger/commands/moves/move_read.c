/*
 * move_read - a page of the rows of a dealer that moves (link/move_commands.h).
 *
 * Two scans of the same rows: the first declares the rows that name their dealers, the second takes the
 * dealer's. Between them nothing changes, because one thread does all work on the data.
 */
#include "base/pack.h"
#include "ledger/commands/moves/move_rows.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/moves.h"
#include "ledger/rows/row_owner.h"
#include "link/frame.h"
#include "wire/digest.h"

#include <string.h>

/* Leaves room in a frame for the largest row and the cursor. */
#define BYTES_MAX (FRAME_MAX / 2)
/* A batch names the keys of its items, and these their players. */
#define LOADS_MAX 3
/* Memory of the rows that one command looks at: some have objects of 64 KiB. */
#define LOOK_BYTES_MAX (4 * 1024 * 1024)

struct row_page {
	const struct move_read_cmd *cmd;
	struct move_read_result *result;
	const struct read_context *context;
	struct store_range range;
	uint32_t looks;    /* rows that it may look at */
	uint32_t looked;   /* in the present scan */
	size_t weight;     /* of the rows that were looked at */
	struct buffer row; /* the row whose digest is made */
	bool failed;
};

/* The amount of each kind, for the sums of a move; other kinds have none. */
static const struct {
	enum record record;
	const char *member;
} amounts[] = {
	{RECORD_TOTAL, "balance"},
	{RECORD_PLAYER, "balance"},
	{RECORD_REQUEST, "amount"},
	{RECORD_TRANSACTION, "amount"},
	{RECORD_ROUND, "payout_amount"},
	{RECORD_BET, "bet_amount"},
	{RECORD_CORRECTION, "payout_amount"},
	{RECORD_LIFETIME, "staked"},
};

static sum_t amount_in(enum record record, const void *row)
{
	const struct field *field;
	money_t money;
	sum_t sum;

	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		if (amounts[i].record != record)
			continue;
		field = field_find(record_infos[record].fields, amounts[i].member);
		if (field->type == FIELD_SUM) {
			memcpy(&sum, (const char *)row + field->offset, sizeof(sum));
			return sum;
		}
		memcpy(&money, (const char *)row + field->offset, sizeof(money));
		return money;
	}
	return 0;
}

static bool want_owner(void *arg, struct bytes key, const void *row)
{
	struct row_page *page = arg;

	(void)key;
	if (page->looked == page->looks || page->weight > LOOK_BYTES_MAX) {
		page->looks = page->looked;
		return false;
	}
	page->looked++;
	page->weight += record_weigh(page->cmd->record, row);
	row_owner_want(page->context->ws, page->cmd->record, row);
	return true;
}

/* The digest of all rows so far: of the digest before this row, and the row. */
static bool add_digest(struct row_page *page, const void *row)
{
	char *text = page->result->digest;
	struct digest digest;
	bool done;

	buffer_reset(&page->row);
	if (!pack_record(&page->row, record_infos[page->cmd->record].fields, row))
		return false;
	digest_begin(&digest);
	digest_add(&digest, text, strlen(text));
	digest_add(&digest, page->row.data, page->row.len);
	done = digest_text(&digest, text);
	digest_end(&digest);
	return done;
}

static bool take_row(struct row_page *page, struct bytes key, const void *stored)
{
	const enum record record = page->cmd->record;
	struct buffer *rows = page->context->rows;
	union move_row row;

	memcpy(&row, stored, record_infos[record].size);
	move_localise(record, &row);
	page->result->count++;
	page->result->amount += amount_in(record, &row);
	if (!add_digest(page, &row))
		return false;
	if (page->cmd->want == MOVE_WANT_ROWS)
		return buffer_append(rows, page->row.data, page->row.len);
	return page->cmd->want != MOVE_WANT_KEYS || buffer_append(rows, key.data, key.len);
}

static bool visit_row(void *arg, struct bytes key, const void *row)
{
	struct row_page *page = arg;

	if (page->looked == page->looks || page->result->count == MOVE_ROWS_MAX ||
		page->context->rows->len > BYTES_MAX) {
		page->result->more = true;
		return false;
	}
	page->looked++;
	buffer_reset(page->context->cursor);
	page->failed = !buffer_append(page->context->cursor, key.data, key.len) ||
		(row_is_of(page->context->ws, page->cmd->record, row, page->cmd->casino_id) &&
			!take_row(page, key, row));
	return !page->failed;
}

static enum status scan_rows(struct row_page *page, store_visit *with)
{
	page->looked = 0;
	page->weight = 0;
	return page->context->store->scan(page->context->store, &page->range, with, page);
}

/* Loads the rows that name the dealers of the rows. */
static enum status load_owners(struct row_page *page)
{
	struct ws *ws = page->context->ws;
	enum status status = STATUS_OK;

	ws_reset(ws);
	for (unsigned int loads = 0; loads < LOADS_MAX && !status; loads++) {
		status = scan_rows(page, want_owner);
		if (status || !ws_pending(ws))
			break;
		status = page->context->store->load(page->context->store, ws);
	}
	return status || !ws_faulty(ws) ? status : STATUS_NOMEM;
}

/* Narrows the range to the dealer's rows if their keys begin with it. */
static bool narrow_range(struct row_page *page, struct buffer *prefix)
{
	const struct record_info *info = &record_infos[page->cmd->record];
	struct dealer key = dealer_named(page->cmd->casino_id);

	if (strcmp(info->fields[0].name, "casino_id") != 0)
		return true;
	if (!pack_key(prefix, dealer_fields, 1, &key))
		return false;
	page->range.prefix = (struct bytes){prefix->data, (uint32_t)prefix->len};
	return true;
}

static bool may_read(const struct move_read_cmd *cmd, const struct read_context *context)
{
	const struct live_move *move = moves_find(context->moves, cmd->casino_id);

	return move && strcmp(move->id, cmd->id) == 0 && cmd->cursor.len <= MOVE_AFTER_MAX &&
		(move_has_record(cmd->record) || cmd->record == RECORD_DEALER);
}

enum status move_read_read(const void *arg, const struct read_context *context, void *out)
{
	const struct move_read_cmd *cmd = arg;
	struct move_read_result *result = out;
	struct row_page page = {
		.cmd = cmd,
		.result = result,
		.context = context,
		.range = {.record = cmd->record, .after = cmd->cursor},
		.looks = cmd->record == RECORD_RESULT_BATCH ? MOVE_BATCHES_MAX : MOVE_LOOK_MAX,
	};
	struct buffer prefix;
	enum status status;

	if (!may_read(cmd, context)) {
		move_refuse(&result->verdict, REFUSAL_NOT_ALLOWED_NOW,
			"no such move of the dealer is under way here");
		return STATUS_OK;
	}
	memcpy(result->digest, cmd->digest, sizeof(result->digest));
	buffer_init(&prefix, MOVE_AFTER_MAX);
	buffer_init(&page.row, FRAME_MAX);
	status = narrow_range(&page, &prefix) ? load_owners(&page) : STATUS_NOMEM;
	if (!status)
		status = scan_rows(&page, visit_row);
	buffer_free(&prefix);
	buffer_free(&page.row);
	result->looked = page.looked;
	result->rows = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	if (result->more)
		result->cursor =
			(struct bytes){context->cursor->data, (uint32_t)context->cursor->len};
	if (result->more && context->store->part_before)
		result->part =
			context->store->part_before(context->store, cmd->record, result->cursor);
	return page.failed || context->rows->failed ? STATUS_NOMEM : status;
}
