/*
 * stats - METRICS: the ledger's figures and, page by page, those of the dealers. DEALER_STATE: those of one.
 */
#include "base/pack.h"
#include "base/text.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/refused/rejected_requests.h"
#include "ledger/outbox/metrics.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/keys.h"

#include <string.h>

/* Dealers of a page: the loop waits for a page. */
#define PAGE_ROWS 128

/* What the row of a dealer says of it. */
struct stats_dealer {
	char casino_id[CASINO_ID_SIZE];
	char currency[CURRENCY_SIZE];
	enum wallet_mode mode;
};

/* A page on its way: the dealers of it, and then their sums. Both are in the order of casino_id. */
struct stats_page {
	const struct read_context *context;
	struct metrics_result *result;
	struct stats_dealer dealers[PAGE_ROWS];
	uint32_t count;
	uint32_t next; /* the first dealer whose sums were not visited */
};

static void fill_sums(const struct total *total, struct dealer_metrics *dealer)
{
	dealer->transferred_in = total->transferred_in;
	dealer->transferred_out = total->transferred_out;
	dealer->adjusted = total->adjusted;
	dealer->staked = total->staked;
	dealer->paid = total->paid;
	dealer->balance = total->balance;
	dealer->corrected = total->corrected;
	dealer->cancelled = total->cancelled;
	dealer->shortfall = total->shortfall;
	dealer->seamless_staked = total->seamless_staked;
	dealer->seamless_paid = total->seamless_paid;
	dealer->seamless_refunded = total->seamless_refunded;
	dealer->owed_payouts = total->owed_payouts;
	dealer->owed_refunds = total->owed_refunds;
}

/* Fills the figures of the dealer's callbacks. */
static void fill_dealer_metrics(const struct read_context *context, const struct total *total,
	struct dealer_metrics *dealer)
{
	int64_t now_ms = context->now.boot_ms;
	struct schedule_figures schedule;
	bool called = metrics_ended(context->metrics, total->casino_id, now_ms, dealer);

	schedule_figures(context->schedule, total->casino_id, &schedule);
	dealer->due = schedule.waiting;
	dealer->sending = schedule.sending;
	dealer->held = total->held;
	dealer->parked = total->parked;
	dealer->bets_with_balance = total->bets_with_balance;
	dealer->bets_without_balance = total->bets_without_balance;
	if (schedule.waiting && schedule.first_due_ms < now_ms)
		dealer->overdue_ms = (uint64_t)(now_ms - schedule.first_due_ms);
	dealer->breaker = permits_breaker(context->permits, total->casino_id, now_ms);
	dealer->breaker_ms = permits_breaker_ms(context->permits, total->casino_id, now_ms);
	dealer->inflight = permits_inflight(context->permits, total->casino_id, now_ms);
	dealer->called = called || dealer->due || dealer->sending || dealer->held ||
		dealer->parked || dealer->inflight || dealer->breaker != BREAKER_CLOSED ||
		dealer->bets_with_balance || dealer->bets_without_balance;
}

static bool visit_dealer(void *context, struct bytes key, const void *row)
{
	struct stats_page *page = context;
	const struct dealer *dealer = row;
	struct stats_dealer *kept = &page->dealers[page->count];

	(void)key;
	if (page->count == PAGE_ROWS) {
		page->result->more = true;
		return false;
	}
	text_copy(kept->casino_id, sizeof(kept->casino_id), dealer->casino_id);
	text_copy(kept->currency, sizeof(kept->currency), dealer->currency);
	kept->mode = dealer->mode;
	page->count++;
	text_copy(page->result->last, sizeof(page->result->last), dealer->casino_id);
	return true;
}

/* A dealer without a row of sums has had no movement and no callback. */
static bool visit_total(void *context, struct bytes key, const void *row)
{
	struct stats_page *page = context;
	const struct total *total = row;
	const struct stats_dealer *kept;
	struct dealer_metrics dealer;

	(void)key;
	while (page->next < page->count &&
		strcmp(page->dealers[page->next].casino_id, total->casino_id) < 0)
		page->next++;
	if (page->next == page->count)
		return false;
	kept = &page->dealers[page->next];
	if (strcmp(kept->casino_id, total->casino_id) != 0)
		return true;
	memset(&dealer, 0, sizeof(dealer));
	text_copy(dealer.casino_id, sizeof(dealer.casino_id), kept->casino_id);
	text_copy(dealer.currency, sizeof(dealer.currency), kept->currency);
	dealer.mode = kept->mode;
	fill_sums(total, &dealer);
	fill_dealer_metrics(page->context, total, &dealer);
	pack_record(page->context->rows, dealer_metrics_fields, &dealer);
	page->result->count++;
	return true;
}

static enum status read_dealers(const struct read_context *context, const char *after,
	struct metrics_result *result)
{
	struct store_range range = {.record = RECORD_DEALER};
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
	range.record = RECORD_TOTAL;
	if (status == STATUS_OK)
		status = context->store->scan(context->store, &range, visit_total, &page);
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

/* ---- one dealer */

/* Converts a boot time to the wall clock's. 0 stays 0. */
static int64_t wall_time(const struct moment *now, int64_t boot_ms)
{
	return boot_ms ? now->wall_ms - now->boot_ms + boot_ms : 0;
}

static void read_history(const struct read_context *context, const char *casino_id,
	struct dealer_state_result *result)
{
	const struct moment *now = &context->now;
	struct permits_history history;

	_Static_assert(BREAKER_OPENINGS == PERMITS_OPENINGS, "each opening has its place");
	permits_history(context->permits, casino_id, now->boot_ms, &history);
	result->next_ms = wall_time(now, history.next_ms);
	result->opened = history.opened;
	for (uint32_t i = 0; i < history.count; i++) {
		result->openings[i] = (struct breaker_opening){
			.opened_ms = wall_time(now, history.openings[i].opened_ms),
			.closed_ms = wall_time(now, history.openings[i].closed_ms),
			.tests = history.openings[i].tests,
		};
	}
	result->bad_ms = wall_time(now, history.bad_ms);
	result->bad_event = history.bad_id;
	result->bad_class = history.bad_class;
}

/* Loads the dealer and its sums. *dealer NULL: there is no such dealer; *total NULL: it has no sums yet. */
static enum status load_dealer(const struct read_context *context, const char *casino_id,
	const struct dealer **dealer, const struct total **total)
{
	const struct dealer of_dealer = dealer_named(casino_id);
	const struct total of_total = total_named(casino_id);
	enum status status;

	ws_reset(context->ws);
	ws_want(context->ws, RECORD_DEALER, &of_dealer);
	ws_want(context->ws, RECORD_TOTAL, &of_total);
	status = context->store->load(context->store, context->ws);
	if (!status && ws_faulty(context->ws))
		status = STATUS_NOMEM;
	if (!status) {
		*dealer = ws_get(context->ws, RECORD_DEALER, &of_dealer);
		*total = ws_get(context->ws, RECORD_TOTAL, &of_total);
	}
	return status;
}

enum status dealer_state_read(const void *arg, const struct read_context *context, void *out)
{
	const struct dealer_state_cmd *cmd = arg;
	struct dealer_state_result *result = out;
	const struct dealer *dealer = NULL;
	const struct total *total = NULL;
	const struct total none = total_named(cmd->casino_id);
	enum status status = load_dealer(context, cmd->casino_id, &dealer, &total);

	if (status)
		return status;
	if (!dealer) {
		result->verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
		return STATUS_OK;
	}
	text_copy(result->dealer.casino_id, sizeof(result->dealer.casino_id), dealer->casino_id);
	text_copy(result->dealer.currency, sizeof(result->dealer.currency), dealer->currency);
	result->dealer.mode = dealer->mode;
	fill_sums(total ? total : &none, &result->dealer);
	fill_dealer_metrics(context, total ? total : &none, &result->dealer);
	result->started_ms = context->refused->started_ms;
	read_history(context, result->dealer.casino_id, result);
	return STATUS_OK;
}
