/*
 * lists - pages of rows for creditbridgectl: lists, lookups and the proof.
 */
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "link/frame.h"

#include <string.h>

/* Leaves room in a frame for the largest row and the cursor. */
#define LIST_BYTES_MAX (FRAME_MAX / 2)
/* The same on desk.sock, whose commands run beside those of callers. */
#define LIST_DESK_ROWS_MAX  64
#define LIST_DESK_BYTES_MAX (32 * 1024)

struct list_page {
	const struct list_cmd *cmd;
	struct list_result *result;
	const struct read_context *context;
	uint32_t limit;
	size_t bytes; /* with more, the page ends */
	uint32_t looked;
};

/* A list never contains keys. */
static void blank_secrets(struct dealer_key keys[DEALER_KEYS_MAX])
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++)
		memset(keys[i].secret, 0, sizeof(keys[i].secret));
}

/* Only the command line may see whether an operator has a code secret. */
static void blank_code_secret(const struct read_context *context, char secret[DESK_SECRET_SIZE])
{
	bool kept = secret[0] && !context->desk;

	memset(secret, 0, DESK_SECRET_SIZE);
	if (kept)
		memcpy(secret, LIST_SECRET_KEPT, sizeof(LIST_SECRET_KEPT));
}

/* Returns true if the caller did it: the operator of the session, or the person with the uid. */
static bool is_own(const struct read_context *context, const struct audit *audit)
{
	return context->desk ? strcmp(audit->operator, context->operator_name) == 0
			     : !audit->operator[0] && audit->peer_uid == context->peer_uid;
}

/* Moves the cursor past the row. */
static bool pass_row(const struct list_page *page, struct bytes key)
{
	buffer_reset(page->context->cursor);
	return buffer_append(page->context->cursor, key.data, key.len);
}

static bool list_visit(void *arg, struct bytes key, const void *row)
{
	struct list_page *page = arg;
	const struct field *fields = record_infos[page->cmd->record].fields;
	struct buffer *rows = page->context->rows;
	struct dealer dealer;
	struct client client;
	struct desk_operator operator;

	if (page->result->count == page->limit || rows->len > page->bytes ||
		(page->cmd->own && page->looked == LIST_OWN_LOOK_MAX)) {
		page->result->more = true;
		return false;
	}
	page->looked++;
	if (page->cmd->own && !is_own(page->context, row))
		return pass_row(page, key);
	if (page->cmd->record == RECORD_DEALER) {
		dealer = *(const struct dealer *)row;
		blank_secrets(dealer.keys);
		row = &dealer;
	} else if (page->cmd->record == RECORD_CLIENT) {
		client = *(const struct client *)row;
		blank_secrets(client.keys);
		row = &client;
	} else if (page->cmd->record == RECORD_DESK_OPERATOR) {
		operator= *(const struct desk_operator *) row;
		blank_code_secret(page->context, operator.secret);
		row = &operator;
	}
	page->result->count++;
	return pack_record(rows, fields, row) && pass_row(page, key);
}

enum status list_read(const void *arg, const struct read_context *context, void *out)
{
	const struct list_cmd *cmd = arg;
	struct list_result *result = out;
	struct list_page page = {.cmd = cmd, .result = result, .context = context};
	struct store_range range = {
		.record = cmd->record,
		.reverse = cmd->reverse,
		.prefix = cmd->prefix,
		.after = cmd->cursor,
	};
	enum status status;

	if (cmd->prefix.len > LIST_KEY_MAX || cmd->cursor.len > LIST_KEY_MAX ||
		(cmd->own && cmd->record != RECORD_AUDIT)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return STATUS_OK;
	}
	page.limit = context->desk ? LIST_DESK_ROWS_MAX : LIST_ROWS_MAX;
	page.bytes = context->desk ? LIST_DESK_BYTES_MAX : LIST_BYTES_MAX;
	if (cmd->limit && cmd->limit < page.limit)
		page.limit = cmd->limit;
	result->last_transaction_id = context->transaction_id;
	status = context->store->scan(context->store, &range, list_visit, &page);
	result->rows = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	if (result->more)
		result->cursor =
			(struct bytes){context->cursor->data, (uint32_t)context->cursor->len};
	return context->rows->failed || context->cursor->failed ? STATUS_NOMEM : status;
}
