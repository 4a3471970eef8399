/* pages/overview - is anything wrong, and since when? */
#include "base/text.h"
#include "console/sections/days.h"
#include "console/sections/dealers.h"
#include "console/common/leads.h"
#include "console/pages/pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Dealers that the overview shows: those with something to say first. */
#define OVERVIEW_DEALERS 64

struct overview {
	struct dealer_metrics *dealers;
	size_t count;
	uint64_t quiet; /* those that are not shown */
};

/* Higher: should be seen first. */
static uint64_t weight_of(const struct dealer_metrics *dealer)
{
	return (dealer->breaker != BREAKER_CLOSED) * UINT64_C(1000000) + dealer->parked * 100 +
		dealer->held * 10 + dealer->due;
}

/* Keeps the dealers of the greatest weight. */
static bool keep_dealer(void *context, const struct dealer_metrics *dealer)
{
	struct overview *overview = context;
	size_t least = 0;

	if (overview->count < OVERVIEW_DEALERS) {
		overview->dealers[overview->count++] = *dealer;
		return true;
	}
	overview->quiet++;
	for (size_t i = 1; i < overview->count; i++) {
		if (weight_of(&overview->dealers[i]) < weight_of(&overview->dealers[least]))
			least = i;
	}
	if (weight_of(dealer) > weight_of(&overview->dealers[least]))
		overview->dealers[least] = *dealer;
	return true;
}

static int compare_weight(const void *a, const void *b)
{
	uint64_t left = weight_of(a), right = weight_of(b);

	if (left != right)
		return left < right ? 1 : -1;
	return strcmp(((const struct dealer_metrics *)a)->casino_id,
		((const struct dealer_metrics *)b)->casino_id);
}

/* Begins an alarm. html_close() ends it. */
static void open_alarm(struct page *page, unsigned int *alarms)
{
	(*alarms)++;
	html_open(&page->html, "li");
}

static void alarm_of_dealer(struct page *page, const struct dealer_metrics *dealer,
	unsigned int *alarms)
{
	struct page_address to = page_address(page, "/callbacks");
	struct html *html = &page->html;
	char age[TEXT_DURATION_SIZE];

	if (dealer->breaker == BREAKER_CLOSED && !dealer->parked)
		return;
	open_alarm(page, alarms);
	html_foreign(html, dealer->casino_id);
	if (dealer->breaker != BREAKER_CLOSED)
		html_printf(html, ": breaker %s", breaker_names[dealer->breaker]);
	if (dealer->parked)
		html_printf(html, ": %" PRIu64 " callback%s parked", dealer->parked,
			dealer->parked == 1 ? " is" : "s are");
	if (dealer->overdue_ms) {
		text_duration(dealer->overdue_ms, age);
		html_printf(html, ". The oldest one that is due waits for %s", age);
	}
	html_text(html, ". ");
	address_add(&to, "casino", dealer->casino_id);
	address_add(&to, "state", dealer->parked ? "parked" : "waits");
	page_link(page, &to, "Callbacks");
	html_close(html);
}

static void write_alarms(struct page *page, const struct overview *overview,
	const struct status_result *status)
{
	struct html *html = &page->html;
	unsigned int alarms = 0;

	html_open(html, "section");
	html_element(html, "h2", "", "Alarms");
	html_open(html, "ul");
	html_attribute(html, "class", "alarms");
	if (status->halted) {
		open_alarm(page, &alarms);
		html_text(html,
			"The ledger is halted because its disk failed. After the repair: "
			"creditbridgectl resume.");
		html_close(html);
	}
	if (status->storage_low) {
		open_alarm(page, &alarms);
		html_text(html, "The disk is nearly full: the ledger refuses to write.");
		html_close(html);
	}
	if (!status->swept_ms ||
		page->now_ms - status->swept_ms > page->console->sweep_overdue_ms) {
		open_alarm(page, &alarms);
		html_text(html,
			status->swept_ms ? "The sweeper was last seen at "
					 : "The sweeper was never seen");
		if (status->swept_ms)
			page_time(page, status->swept_ms);
		html_text(html, ". On its host: systemctl status creditbridge-sweep.timer.");
		html_close(html);
	}
	for (size_t i = 0; i < overview->count; i++)
		alarm_of_dealer(page, &overview->dealers[i], &alarms);
	if (!alarms)
		html_element(html, "li", "fine", "None.");
	html_close(html);
	html_close(html);
}

static const struct view_column status_columns[] = {
	{"Version", "version", VIEW_PLAIN, NULL},
	{"Installation", "installation", VIEW_PLAIN, NULL},
	{"Dealers", "dealers", VIEW_PLAIN, NULL},
	{"Last transaction", "last_transaction_id", VIEW_PLAIN, NULL},
	{"Engine starts", "engine_starts", VIEW_PLAIN, NULL},
	{"Last backup is complete to", "backup_ms", VIEW_PLAIN, NULL},
	{"Sweeper last seen", "swept_ms", VIEW_PLAIN, NULL},
	VIEW_END,
};

static void write_ledger(struct page *page, const struct status_result *status)
{
	struct html *html = &page->html;
	char up[TEXT_DURATION_SIZE];

	text_duration(status->uptime_ms, up);
	html_open(html, "section");
	html_element(html, "h2", "", "Ledger");
	html_open(html, "p");
	html_printf(html, "The engine is up for %s; %" PRIu64 " GiB of its disk are free.", up,
		status->disk_free_bytes >> 30);
	html_close(html);
	view_pairs(page, status_columns, status_result_fields, status);
	html_close(html);
}

static void write_dealers(struct page *page, const struct overview *overview)
{
	struct view view = {.fields = dealer_metrics_fields};
	struct html *html = &page->html;

	html_open(html, "section");
	html_element(html, "h2", "", "Dealers");
	view_begin(&view, page, "Those that need attention first", dealers_columns);
	for (size_t i = 0; i < overview->count; i++)
		view_row(&view, &overview->dealers[i]);
	view_end(&view, "No dealer yet: creditbridgectl dealer add.");
	if (overview->quiet)
		html_printf(html, "%" PRIu64 " further dealers are on the page Dealers.",
			overview->quiet);
	html_close(html);
}

/* The days of the dealers that the table begins with. */
static enum outcome write_days(struct page *page, const struct overview *overview)
{
	const char *ids[DAYS_DEALERS_MAX];
	uint32_t count = 0;

	while (count < DAYS_DEALERS_MAX && count < overview->count) {
		ids[count] = overview->dealers[count].casino_id;
		count++;
	}
	return days_recent(page, ids, count);
}

enum outcome page_overview(struct page *page)
{
	struct overview overview = {
		.dealers = calloc(OVERVIEW_DEALERS, sizeof(struct dealer_metrics))};
	struct status_result status;
	enum outcome code;

	if (!overview.dealers)
		return session_no_memory(&page->desk.session);
	code = dealers_walk(page, "", &status, keep_dealer, &overview);
	if (code == OUTCOME_DONE) {
		qsort(overview.dealers, overview.count, sizeof(*overview.dealers), compare_weight);
		page_begin(page, "Overview");
		html_open(&page->html, "div");
		html_attribute(&page->html, "data-refresh", "10");
		write_alarms(page, &overview, &status);
		write_dealers(page, &overview);
		write_ledger(page, &status);
		html_close(&page->html);
		code = write_days(page, &overview);
	}
	if (code == OUTCOME_DONE)
		code = page_end(page);
	free(overview.dealers);
	return code;
}
