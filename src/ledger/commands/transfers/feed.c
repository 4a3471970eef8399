/*
 * feed - a dealer reads its transactions, and the history of one player (contract, "Feed" and
 * "History").
 *
 * Nothing is stored for it. The rows of transactions are in the order of their commits, because one
 * thread gives out the ids. A command looks at FEED_ROWS_MAX of them at most, of whichever dealer,
 * so other commands wait no longer than that.
 */
#include "ledger/commands/transfers/feed_items.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/moves.h"
#include "ledger/rows/recent.h"
#include "link/client.h"

#include <stdlib.h>

/* The transactions of one page. */
struct feed_page {
	const char *casino_id; /* "": of all dealers, except those whose rows do not count here */
	const struct moves *moves;
	const char *player_id; /* "": of all players */
	bool movements;        /* only those that moved credit here */
	uint32_t limit;
	uint32_t looked_at;
	uint64_t last; /* id of the last one that was looked at */
	bool more;     /* another one follows */
	uint32_t count;
	struct transaction rows[FEED_ROWS_MAX];
};

static bool is_of_page(const struct feed_page *page, const struct transaction *entry)
{
	return (page->casino_id[0] ? strcmp(page->casino_id, entry->casino_id) == 0
				   : !moves_hide(page->moves, entry->casino_id)) &&
		(!page->player_id[0] || strcmp(page->player_id, entry->player_id) == 0) &&
		(!page->movements || entry->entry_seq);
}

static bool feed_visit(void *arg, struct bytes key, const void *row)
{
	const struct transaction *entry = row;
	struct feed_page *page = arg;

	(void)key;
	if (page->looked_at == FEED_ROWS_MAX || page->count == page->limit) {
		page->more = true;
		return false;
	}
	page->looked_at++;
	page->last = entry->transaction_id;
	if (is_of_page(page, entry))
		page->rows[page->count++] = *entry;
	return true;
}

/* Walks the transactions of all dealers from @after, backwards with @reverse. */
static enum status walk_all(const struct read_context *context, struct feed_page *page,
	uint64_t after, bool reverse)
{
	const struct transaction key = {.transaction_id = after};
	struct store_range range = {.record = RECORD_TRANSACTION, .reverse = reverse};

	if (after) {
		range.after = link_list_key(context->cursor, RECORD_TRANSACTION, 1, &key);
		if (context->cursor->failed)
			return STATUS_NOMEM;
	}
	return context->store->scan(context->store, &range, feed_visit, page);
}

/*
 * Takes the dealer's transactions after @after from those in memory. Sets *known to false if not all
 * of them are there.
 */
static enum status walk_recent(const struct read_context *context, struct feed_page *page,
	uint64_t after, bool *known)
{
	struct transaction key = {.transaction_id = 0};
	const struct transaction *entry;
	uint64_t ids[FEED_ROWS_MAX];
	struct recent_found found;
	enum status status;

	*known = page->casino_id[0] &&
		recent_find(context->recent, page->casino_id, after, ids, page->limit, &found);
	if (!*known)
		return STATUS_OK;
	for (uint32_t i = 0; i < found.count; i++) {
		key.transaction_id = ids[i];
		ws_want(context->ws, RECORD_TRANSACTION, &key);
	}
	status = found.count ? context->store->load(context->store, context->ws) : STATUS_OK;
	for (uint32_t i = 0; i < found.count && !status; i++) {
		key.transaction_id = ids[i];
		entry = ws_get(context->ws, RECORD_TRANSACTION, &key);
		/* One that is missing is of another dealer with the same hash, which has moved away. */
		if (entry && is_of_page(page, entry))
			page->rows[page->count++] = *entry;
	}
	page->last = found.last;
	page->more = found.more;
	return status;
}

/* The dealer's transactions after @after: those in memory, or else a bounded number of rows. */
static enum status walk_feed(const struct read_context *context, struct feed_page *page,
	uint64_t after)
{
	bool known;
	enum status status = walk_recent(context, page, after, &known);

	return status || known ? status : walk_all(context, page, after, false);
}

/* Loads one transaction; NULL if it does not exist. */
static enum status load_entry(const struct read_context *context, uint64_t transaction_id,
	const struct transaction **entry)
{
	const struct transaction key = {.transaction_id = transaction_id};
	enum status status;

	ws_want(context->ws, RECORD_TRANSACTION, &key);
	status = context->store->load(context->store, context->ws);
	*entry = status ? NULL : ws_get(context->ws, RECORD_TRANSACTION, &key);
	return status;
}

/*
 * Finds the player's newest movement below @after, which is none of the player's. It is in no chain,
 * so the transactions of all dealers are walked backwards, a bounded number of them. Every id that
 * this looks at is below @after, so a page that ends here can be continued. Takes the movement into
 * the page, and sets *next to the one before it; 0 if there is none or it was not reached.
 */
static enum status find_movement(const struct read_context *context, struct feed_page *page,
	uint64_t after, uint64_t *next)
{
	const uint32_t limit = page->limit;
	enum status status;

	page->limit = 1;
	status = walk_all(context, page, after, true);
	page->limit = limit;
	*next = page->count ? page->rows[0].previous : 0;
	if (page->count)
		page->more = *next != 0;
	return status;
}

/* Sets *next to the player's newest movement below @after. See find_movement() for the page. */
static enum status begin_chain(const struct read_context *context, const struct player *player,
	struct feed_page *page, uint64_t after, uint64_t *next)
{
	const struct transaction *entry = NULL;
	enum status status;

	*next = player->entry_transaction_id;
	if (!after || after > *next)
		return STATUS_OK;
	status = load_entry(context, after, &entry);
	if (status)
		return status;
	if (!entry || !is_of_page(page, entry))
		return find_movement(context, page, after, next);
	*next = entry->previous;
	return STATUS_OK;
}

/* Walks the movements of @player back from @after, or from the last one: each names the previous. */
static enum status walk_chain(const struct read_context *context, const struct player *player,
	struct feed_page *page, uint64_t after)
{
	const struct transaction *entry;
	enum status status;
	uint64_t next;

	page->movements = true;
	status = begin_chain(context, player, page, after, &next);
	if (!next)
		return status;
	while (!status && next && page->count < page->limit && page->looked_at < FEED_ROWS_MAX) {
		status = load_entry(context, next, &entry);
		if (!status && !entry)
			status = STATUS_CORRUPT;
		if (status)
			break;
		page->rows[page->count++] = *entry;
		page->looked_at++;
		page->last = next;
		next = entry->previous;
	}
	page->more = next != 0;
	return status;
}

/* Finds the dealer and, for a history, the player. Either is NULL if it does not exist. */
static enum status find_caller(const struct read_context *context, const struct feed_cmd *cmd,
	const struct dealer **dealer, const struct player **player)
{
	const struct player key = player_named(cmd->casino_id, cmd->user_id);
	enum status status;

	ws_reset(context->ws);
	ws_want(context->ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	ws_want(context->ws, RECORD_PLAYER, &key);
	status = context->store->load(context->store, context->ws);
	if (status)
		return status;
	*dealer = ws_get(context->ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	*player = ws_get(context->ws, RECORD_PLAYER, &key);
	return STATUS_OK;
}

/* The player's movements here, or the bets and results of a seamless player. */
static enum status walk_history(const struct read_context *context, const struct feed_cmd *cmd,
	const struct dealer *dealer, const struct player *player, struct feed_page *page)
{
	page->player_id = player->player_id;
	if (dealer->mode == WALLET_SEAMLESS)
		return walk_all(context, page, cmd->after, true);
	return walk_chain(context, player, page, cmd->after);
}

/* Collects the transactions of the page, or refuses. */
static enum status walk_page(const struct read_context *context, const struct feed_cmd *cmd,
	struct feed_page *page, struct feed_result *result)
{
	const struct dealer *dealer;
	const struct player *player;
	enum status status = find_caller(context, cmd, &dealer, &player);

	if (status)
		return status;
	if (cmd->casino_id[0] && !dealer)
		result->verdict.refusal = REFUSAL_INVALID_SIGNATURE;
	else if (cmd->user_id[0] && !player)
		result->verdict.refusal = REFUSAL_USER_NOT_FOUND;
	if (result->verdict.refusal != REFUSAL_NONE)
		return STATUS_OK;
	return cmd->user_id[0] ? walk_history(context, cmd, dealer, player, page)
			       : walk_feed(context, page, cmd->after);
}

/* The dealer's row, for its rate limit. */
void feed_keys(const void *arg, struct ws *ws)
{
	const struct feed_cmd *cmd = arg;

	ws_want(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
}

void feed_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	(void)arg;
	(void)context;
	(void)ws;
	(void)out;
}

enum status feed_read(const void *arg, const struct read_context *context, void *out)
{
	const struct feed_cmd *cmd = arg;
	struct feed_result *result = out;
	struct feed_page *page = malloc(sizeof(*page));
	enum status status;

	if (!page)
		return STATUS_NOMEM;
	memset(page, 0, offsetof(struct feed_page, rows));
	page->casino_id = cmd->casino_id;
	page->player_id = "";
	page->moves = context->moves;
	page->limit = cmd->limit && cmd->limit < FEED_ROWS_MAX ? cmd->limit : FEED_ROWS_MAX;
	page->last = cmd->after;
	status = walk_page(context, cmd, page, result);
	if (!status && result->verdict.refusal == REFUSAL_NONE) {
		result->next = page->last;
		result->complete = !page->more;
		status = feed_items_answer(context, page->rows, page->count, result);
	}
	free(page);
	return status;
}
