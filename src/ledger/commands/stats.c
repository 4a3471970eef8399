/*
 * stats - METRICS: the ledger's figures and, page by page, those of the dealers.
 */
#include "base/pack.h"
#include "base/text.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/metrics.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"

#include <string.h>

/* Dealers that a page looks at, and that it holds: the loop waits for a page. */
#define PAGE_LOOKS 512
#define PAGE_ROWS  128

/* A page on its way. */
struct stats_page {
	const struct read_context *context;
	struct metrics_result *result;
	uint32_t looked;
};

/* Fills the figures of the dealer. Returns false if there are none. */
static bool fill_dealer_metrics(const struct stats_page *page, const struct total *total,
	struct dealer_metrics *dealer)
{
	const struct read_context *context = page->context;
	int64_t now_ms = context->now.boot_ms;
	struct schedule_figures schedule;
	bool called = metrics_ended(context->metrics, total->casino_id, dealer);

	text_copy(dealer->casino_id, sizeof(dealer->casino_id), total->casino_id);
	schedule_figures(context->schedule, total->casino_id, &schedule);
	dealer->due = schedule.waiting;
	dealer->sending = schedule.sending;
	dealer->held = total->held;
	dealer->parked = total->parked;
	if (schedule.waiting && schedule.first_due_ms < now_ms)
		dealer->overdue_ms = (uint64_t)(now_ms - schedule.first_due_ms);
	dealer->breaker = permits_breaker(context->permits, total->casino_id, now_ms);
	dealer->inflight = permits_inflight(context->permits, total->casino_id, now_ms);
	return called || dealer->due || dealer->sending || dealer->held || dealer->parked ||
		dealer->inflight || dealer->breaker != BREAKER_CLOSED;
}

static bool visit_dealer(void *context, struct bytes key, const void *row)
{
	struct stats_page *page = context;
	const struct total *total = row;
	struct dealer_metrics dealer;

	(void)key;
	if (page->looked == PAGE_LOOKS || page->result->count == PAGE_ROWS) {
		page->result->more = true;
		return false;
	}
	page->looked++;
	text_copy(page->result->last, sizeof(page->result->last), total->casino_id);
	memset(&dealer, 0, sizeof(dealer));
	if (fill_dealer_metrics(page, total, &dealer)) {
		pack_record(page->context->rows, dealer_metrics_fields, &dealer);
		page->result->count++;
	}
	return true;
}

static enum status read_dealers(const struct read_context *context, const char *after,
	struct metrics_result *result)
{
	struct store_range range = {.record = RECORD_TOTAL};
	struct stats_page page = {.context = context, .result = result};
	enum status status;
	struct total key;

	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), after);
	if (after[0]) {
		pack_key(context->cursor, total_fields, 1, &key);
		range.after = (struct bytes){context->cursor->data, (uint32_t)context->cursor->len};
	}
	status = context->store->scan(context->store, &range, visit_dealer, &page);
	if (context->rows->failed || context->cursor->failed)
		return STATUS_NOMEM;
	result->dealers = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return status;
}

static void read_figures(const struct read_context *context, struct metrics_result *result)
{
	const struct metrics *metrics = context->metrics;

	context->status(context->ledger, &result->status);
	if (!metrics)
		return;
	result->swept = metrics->swept_ms != 0;
	if (result->swept)
		result->swept_ms_ago = (uint64_t)(context->now.boot_ms - metrics->swept_boot_ms);
	result->batches = metrics->batches;
	result->commits = metrics->commits;
	memcpy(result->attempts, metrics->attempts, sizeof(result->attempts));
}

enum status metrics_read(const void *arg, const struct read_context *context, void *out)
{
	const struct metrics_cmd *cmd = arg;
	struct metrics_result *result = out;

	if (!cmd->after[0])
		read_figures(context, result);
	/* Halted: no rows can be read. */
	if (cmd->without_dealers || !context->store)
		return STATUS_OK;
	return read_dealers(context, cmd->after, result);
}
