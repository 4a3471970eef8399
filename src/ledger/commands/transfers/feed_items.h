/*
 * feed_items - the present states of transactions, from the rows that have them (contract,
 * "Feed").
 */
#ifndef LEDGER_COMMANDS_TRANSFERS_FEED_ITEMS_H
#define LEDGER_COMMANDS_TRANSFERS_FEED_ITEMS_H

#include "ledger/commands/ops.h"

/*
 * Packs the items of @count transactions into the answer until it is full; the next page then begins
 * after the last item. @result has the page's next and complete. Returns STATUS_CORRUPT if a row is
 * missing.
 */
enum status feed_items_answer(const struct read_context *context, const struct transaction *rows,
	uint32_t count, struct feed_result *result);

#endif
