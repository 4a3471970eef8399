/*
 * keyring - the keys that workers verify with: of the dealers for group A, of the clients for C.
 */
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/moves.h"
#include "link/keyring.h"

/* A page: 128 entries of at most 300 bytes. */
#define KEYRING_PAGE 128

struct keyring_page {
	enum keyring_of of;
	struct keyring_result *result;
	struct buffer *rows;
	const struct moves *moves;
};

static bool add_to_page(void *arg, struct bytes key, const void *row)
{
	struct keyring_page *page = arg;
	struct keyring_entry entry;

	(void)key;
	if (page->result->count == KEYRING_PAGE) {
		page->result->more = true;
		return false;
	}
	if (page->of == KEYRING_DEALERS)
		keyring_entry_of_dealer(row, &entry);
	else
		keyring_entry_of_client(row, &entry);
	/* If the rows are in the other cell, that one serves the dealer. */
	entry.yields |= page->of == KEYRING_DEALERS && moves_hide(page->moves, entry.caller_id);
	page->result->count++;
	return pack_record(page->rows, keyring_entry_fields, &entry);
}

enum status keyring_read(const void *arg, const struct read_context *context, void *out)
{
	const struct keyring_cmd *cmd = arg;
	struct keyring_result *result = out;
	struct keyring_page page = {cmd->of, result, context->rows, context->moves};
	struct store_range range = {
		.record = cmd->of == KEYRING_DEALERS ? RECORD_DEALER : RECORD_CLIENT};
	struct dealer after = dealer_named(cmd->after);
	enum status status;

	result->generation = context->generation;
	result->unchanged = cmd->generation == context->generation;
	if (result->unchanged)
		return STATUS_OK;
	if (cmd->after[0]) {
		/* Both kinds of rows have one name as their key. */
		pack_key(context->cursor, dealer_fields, 1, &after);
		range.after = (struct bytes){context->cursor->data, (uint32_t)context->cursor->len};
	}
	status = context->store->scan(context->store, &range, add_to_page, &page);
	result->entries = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return context->rows->failed ? STATUS_NOMEM : status;
}
