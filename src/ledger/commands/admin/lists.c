/*
 * lists - pages of rows for creditbridgectl: lists, lookups and the proof.
 */
#include "base/check.h"
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/aside_page.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/moves.h"
#include "ledger/rows/row_owner.h"
#include "link/frame.h"

#include <string.h>

/* Leaves room in a frame for the largest row and the cursor. */
#define LIST_BYTES_MAX (FRAME_MAX / 2)
/* The same on desk.sock, whose commands run beside those of callers. */
#define LIST_DESK_ROWS_MAX  64
#define LIST_DESK_BYTES_MAX (32 * 1024)
/* Rows of keys that are loaded together. A round has up to 1 MiB. */
#define LIST_KEYS_TOGETHER 16
/* Callbacks that are loaded together. They are small. */
#define LIST_ASIDE_TOGETHER 64

struct list_page {
	const struct list_cmd *cmd;
	struct list_result *result;
	const struct read_context *context;
	uint32_t limit;
	size_t bytes;               /* with more, the page ends */
	uint32_t looks;             /* rows that it may look at; 0: as many as it has */
	const struct field *dealer; /* the member that must be cmd->casino_id; NULL: none */
	const struct field *time;   /* with looks: the member that is the time of a row */
	/* Rows of dealers that move are left out (domain/dealer_move.h). */
	bool hides;
	uint32_t passed; /* rows that the page has seen while it leaves some out */
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

/* A copy of the row that the caller may see. */
union shown_row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

/* Returns @row as the caller may see it, or a changed copy of it in @shown. */
static const void *show_row(const struct list_page *page, const void *row, union shown_row *shown)
{
	const enum record record = page->cmd->record;

	if (!page->cmd->keys.len && record != RECORD_DEALER && record != RECORD_CLIENT &&
		record != RECORD_DESK_OPERATOR)
		return row;
	memcpy(shown, row, record_infos[record].size);
	if (record == RECORD_DEALER)
		blank_secrets(shown->dealer.keys);
	else if (record == RECORD_CLIENT)
		blank_secrets(shown->client.keys);
	else if (record == RECORD_DESK_OPERATOR)
		blank_code_secret(page->context, shown->desk_operator.secret);
	if (page->cmd->keys.len)
		field_drop_bytes(record_infos[record].fields, shown);
	return shown;
}

/* Returns true if the caller asked for the row. */
static bool is_asked_for(const struct list_page *page, const void *row)
{
	return (!page->cmd->own || is_own(page->context, row)) &&
		(!page->dealer ||
			strcmp((const char *)row + page->dealer->offset, page->cmd->casino_id) ==
				0);
}

/* Returns true if the row is of a dealer whose rows do not count here. */
static bool is_hidden(const struct list_page *page, const void *row)
{
	const struct moves *moves = page->context->moves;

	for (uint32_t at = 0; at < moves->count; at++) {
		if (move_hides_rows(moves->list[at].state) &&
			row_is_of(page->context->ws, page->cmd->record, row,
				moves->list[at].casino_id))
			return true;
	}
	return false;
}

static bool list_visit(void *arg, struct bytes key, const void *row)
{
	struct list_page *page = arg;
	struct buffer *rows = page->context->rows;
	union shown_row shown;

	if (page->result->count == page->limit || rows->len > page->bytes ||
		(page->hides && page->passed == LIST_ROWS_MAX) ||
		(page->looks && page->result->looked == page->looks)) {
		page->result->more = true;
		return false;
	}
	page->passed++;
	if (page->hides && is_hidden(page, row))
		return pass_row(page, key);
	if (page->looks) {
		page->result->looked++;
		memcpy(&page->result->looked_ms, (const uint8_t *)row + page->time->offset,
			sizeof(page->result->looked_ms));
	}
	if (!is_asked_for(page, row))
		return pass_row(page, key);
	page->result->count++;
	return pack_record(rows, record_infos[page->cmd->record].fields,
		       show_row(page, row, &shown)) &&
		pass_row(page, key);
}

/* Takes the next key from @rest. Returns false if the bytes are no whole key. */
static bool take_key(struct bytes *rest, enum record record, union shown_row *key,
	struct bytes *packed)
{
	const struct record_info *info = &record_infos[record];

	memset(key, 0, sizeof(*key));
	packed->data = rest->data;
	if (!unpack_key(rest, info->fields, info->key_count, key))
		return false;
	packed->len = (uint32_t)(rest->data - packed->data);
	return true;
}

/* Returns true if the bytes are whole keys, at most @most. */
static bool are_keys(const struct list_cmd *cmd, uint32_t most)
{
	struct bytes rest = cmd->keys, packed;
	union shown_row key;
	uint32_t count = 0;

	while (rest.len && count <= most) {
		if (!take_key(&rest, cmd->record, &key, &packed))
			return false;
		count++;
	}
	return count <= most;
}

/* Reads the rows of the next keys, which the store loads together. Takes their keys from @rest. */
static enum status read_together(struct list_page *page, struct bytes *rest)
{
	const enum record record = page->cmd->record;
	struct ws *ws = page->context->ws;
	struct bytes packed, again = *rest;
	union shown_row key;
	const void *row;
	enum status status;

	ws_reset(ws);
	for (unsigned int i = 0; i < LIST_KEYS_TOGETHER && rest->len; i++) {
		CHECK(take_key(rest, record, &key, &packed)); /* as are_keys() did */
		if (record == RECORD_BET)
			ws_want_without_object(ws, record, &key);
		else
			ws_want(ws, record, &key);
	}
	status = page->context->store->load(page->context->store, ws);
	if (!status && ws_faulty(ws))
		status = STATUS_NOMEM;
	while (!status && again.data != rest->data && !page->result->more) {
		CHECK(take_key(&again, record, &key, &packed));
		row = ws_get(ws, record, &key);
		if (row && !list_visit(page, packed, row) && !page->result->more)
			status = STATUS_NOMEM;
	}
	return status;
}

/* Reads the row of each key. The library that reads an archive has no working set: there, one after the other. */
static enum status read_keys(struct list_page *page)
{
	struct store_range range = {.record = page->cmd->record};
	struct bytes rest = page->cmd->keys;
	enum status status = STATUS_OK;
	union shown_row key;

	while (rest.len && !page->result->more && !status) {
		if (page->context->ws) {
			status = read_together(page, &rest);
		} else {
			CHECK(take_key(&rest, range.record, &key, &range.prefix));
			status = page->context->store->scan(page->context->store, &range,
				list_visit, page);
		}
	}
	return status;
}

/* A chain on its way. */
struct list_chain {
	struct list_page *page;
	uint64_t next; /* the transaction that is read next; 0: none is left */
};

static bool chain_visit(void *arg, struct bytes key, const void *row)
{
	struct list_chain *chain = arg;

	chain->next = ((const struct transaction *)row)->previous;
	return list_visit(chain->page, key, row);
}

/* Reads the transaction of the key and the earlier ones of its player. A page ends at its bounds, even in a damaged chain. */
static enum status read_chain(struct list_page *page)
{
	struct store_range range = {.record = RECORD_TRANSACTION};
	struct list_chain chain = {.page = page};
	struct bytes rest = page->cmd->keys;
	enum status status = STATUS_OK;
	struct transaction key;
	union shown_row first;
	struct buffer packed;

	CHECK(take_key(&rest, RECORD_TRANSACTION, &first, &range.prefix)); /* as are_keys() did */
	memset(&key, 0, sizeof(key));
	chain.next = first.transaction.transaction_id;
	buffer_init(&packed, LIST_KEY_MAX);
	while (chain.next && !page->result->more && !status) {
		key.transaction_id = chain.next;
		chain.next = 0;
		buffer_reset(&packed);
		if (!pack_key(&packed, transaction_fields, 1, &key)) {
			status = STATUS_NOMEM;
			break;
		}
		range.prefix = (struct bytes){packed.data, (uint32_t)packed.len};
		status = page->context->store->scan(page->context->store, &range, chain_visit,
			&chain);
	}
	buffer_free(&packed);
	return status;
}

/* Shows the callbacks that @aside found. */
static enum status show_aside(struct list_page *page, const struct aside_page *aside)
{
	enum status status = STATUS_OK;
	struct callback key;
	struct buffer packed;
	const void *row;

	buffer_init(&packed, LIST_KEY_MAX);
	for (uint32_t i = 0; i < aside->count && !status && !page->result->more; i++) {
		key = callback_named(aside->events[i]);
		row = ws_get(page->context->ws, RECORD_CALLBACK, &key);
		buffer_reset(&packed);
		if (!pack_key(&packed, callback_fields, 1, &key))
			status = STATUS_NOMEM;
		else if (row &&
			!list_visit(page, (struct bytes){packed.data, (uint32_t)packed.len}, row) &&
			!page->result->more)
			status = STATUS_NOMEM;
	}
	buffer_free(&packed);
	return status;
}

/* Reads the callbacks of a dealer that are parked or held. */
static enum status read_aside(struct list_page *page)
{
	const struct list_cmd *cmd = page->cmd;
	struct aside_page aside = {.casino_id = cmd->aside_of,
		.reverse = cmd->reverse,
		.limit = LIST_ASIDE_TOGETHER};
	struct bytes cursor = cmd->cursor;
	struct callback after = {.event = 0};
	enum status status = STATUS_OK;

	if (moves_hide(page->context->moves, cmd->aside_of))
		return STATUS_OK;
	if (cursor.len)
		CHECK(unpack_key(&cursor, callback_fields, 1,
			&after)); /* as may_list_aside() did */
	aside.after = after.event;
	do {
		status = aside_page_load(page->context->store, page->context->ws, &aside);
		if (!status)
			status = show_aside(page, &aside);
		aside.after = aside.last;
		page->result->more |= aside.more && page->result->count == page->limit;
	} while (!status && aside.more && !page->result->more);
	return status;
}

/*
 * Returns true if the command may have @aside_of. The library that reads an archive has no working set, into which callbacks
 * could be loaded.
 */
static bool may_list_aside(const struct list_cmd *cmd, const struct read_context *context)
{
	struct bytes cursor = cmd->cursor;
	struct callback after;

	return cmd->record == RECORD_CALLBACK && context->ws && !cmd->prefix.len &&
		!cmd->keys.len && !cmd->casino_id[0] &&
		(!cursor.len || (unpack_key(&cursor, callback_fields, 1, &after) && !cursor.len));
}

static bool is_readable(const struct list_cmd *cmd, const struct read_context *context)
{
	return cmd->prefix.len <= LIST_KEY_MAX && cmd->cursor.len <= LIST_KEY_MAX &&
		(!cmd->own || cmd->record == RECORD_AUDIT) &&
		(!cmd->casino_id[0] || cmd->record == RECORD_TRANSACTION ||
			cmd->record == RECORD_CALLBACK) &&
		(!cmd->keys.len ||
			(!cmd->prefix.len && !cmd->cursor.len && !cmd->own &&
				!cmd->casino_id[0])) &&
		(!cmd->chain ||
			(cmd->record == RECORD_TRANSACTION && cmd->keys.len && are_keys(cmd, 1))) &&
		(!cmd->aside_of[0] || may_list_aside(cmd, context));
}

static bool want_owner(void *arg, struct bytes key, const void *row)
{
	struct list_page *page = arg;

	(void)key;
	if (page->passed == LIST_ROWS_MAX)
		return false;
	page->passed++;
	row_owner_want(page->context->ws, page->cmd->record, row);
	return true;
}

/* Scans the range. While rows of dealers are left out, it first loads the rows that name the dealers. */
static enum status read_range(struct list_page *page, const struct store_range *range)
{
	struct store *store = page->context->store;
	struct ws *ws = page->context->ws;
	enum status status = STATUS_OK;

	/* A batch of results stays in both cells. */
	page->hides = moves_hide_any(page->context->moves) && row_has_owner(range->record) &&
		!move_copies(range->record);
	if (page->hides) {
		ws_reset(ws);
		status = store->scan(store, range, want_owner, page);
		if (!status && ws_pending(ws))
			status = store->load(store, ws);
		if (!status && ws_faulty(ws))
			status = STATUS_NOMEM;
	}
	page->passed = 0;
	return status ? status : store->scan(store, range, list_visit, page);
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

	page.limit = context->desk ? LIST_DESK_ROWS_MAX : LIST_ROWS_MAX;
	page.bytes = context->desk ? LIST_DESK_BYTES_MAX : LIST_BYTES_MAX;
	if (cmd->limit && cmd->limit < page.limit)
		page.limit = cmd->limit;
	if (!is_readable(cmd, context) || !are_keys(cmd, page.limit)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return STATUS_OK;
	}
	if (cmd->own)
		page.looks = LIST_OWN_LOOK_MAX;
	else if (cmd->casino_id[0])
		page.looks = LIST_DEALER_LOOK_MAX;
	if (cmd->casino_id[0])
		page.dealer = field_find(record_infos[cmd->record].fields, "casino_id");
	if (page.looks)
		page.time = field_find(record_infos[cmd->record].fields,
			cmd->record == RECORD_CALLBACK ? "created_ms" : "time_ms");
	result->last_transaction_id = context->transaction_id;
	if (cmd->chain)
		status = read_chain(&page);
	else if (cmd->keys.len)
		status = read_keys(&page);
	else if (cmd->aside_of[0])
		status = read_aside(&page);
	else
		status = read_range(&page, &range);
	result->rows = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	if (result->more)
		result->cursor =
			(struct bytes){context->cursor->data, (uint32_t)context->cursor->len};
	return context->rows->failed || context->cursor->failed ? STATUS_NOMEM : status;
}
