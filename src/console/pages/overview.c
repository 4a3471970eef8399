/* pages/overview - is anything wrong, and since when? */
#include "base/text.h"
#include "console/sections/activity.h"
#include "console/sections/ages.h"
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
/* Callbacks of a dealer whose ages are counted: one command of the ledger. */
#define OVERVIEW_AGES_ROWS CALLBACK_AGES_LOOK_MAX

struct overview {
	struct dealer_metrics *dealers;
	size_t count;
	uint64_t quiet; /* those that are not shown */
	/* The dealers that the table begins with, of those whose callbacks wait. */
	struct ages_of ages[AGES_DEALERS_MAX];
	unsigned int ages_dealers;
	unsigned int waiting_dealers; /* dealers whose callbacks wait */
	uint64_t ages_rows;           /* parked and held callbacks of each whose ages are counted */
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

/* Writes what the dealer owes, in its currency. The sums are the ledger's. */
static void write_owed(struct page *page, const struct dealer_metrics *dealer)
{
	const struct {
		sum_t owed;
		const char *what;
	} sums[] = {
		{dealer->owed_payouts, "in payouts"},
		{dealer->owed_refunds, "in refunds that it has not confirmed"},
	};
	char digits[SUM_TEXT_MAX], amount[VIEW_TEXT_MAX];
	const char *before = ". It owes";

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		if (!sums[i].owed)
			continue;
		sum_format(sums[i].owed, 2, digits);
		view_group_digits(digits, amount);
		html_printf(&page->html, "%s %s %s %s", before, amount, dealer->currency,
			sums[i].what);
		before = ", and";
	}
}

/* Writes since when the breaker is open. */
static void write_breaker(struct page *page, const struct dealer_metrics *dealer)
{
	char age[TEXT_DURATION_SIZE];

	text_duration(dealer->breaker_ms, age);
	html_printf(&page->html, "breaker %s since ", breaker_names[dealer->breaker]);
	page_time(page, page->now_ms - (int64_t)dealer->breaker_ms);
	html_printf(&page->html, " (%s)", age);
}

/* Writes to how many players the dealer owes credit, if they were counted. */
static void write_owed_players(struct page *page, const struct overview *overview,
	const struct dealer_metrics *dealer)
{
	const struct ages_of *of = overview->ages;
	char count[VIEW_COUNT_SIZE];
	unsigned int at = 0;

	while (at < overview->ages_dealers && strcmp(of[at].casino_id, dealer->casino_id) != 0)
		at++;
	if (at == overview->ages_dealers || !of[at].owed_players)
		return;
	html_printf(&page->html, ", to %s%s player%s", of[at].owed_more ? "at least " : "",
		view_count(of[at].owed_players, count), of[at].owed_players == 1 ? "" : "s");
}

static void alarm_of_dealer(struct page *page, const struct overview *overview,
	const struct dealer_metrics *dealer, unsigned int *alarms)
{
	struct page_address to = page_address(page, "/callbacks");
	struct html *html = &page->html;
	char age[TEXT_DURATION_SIZE], count[VIEW_COUNT_SIZE];

	if (dealer->breaker == BREAKER_CLOSED && !dealer->parked)
		return;
	open_alarm(page, alarms);
	html_foreign(html, dealer->casino_id);
	html_text(html, ": ");
	if (dealer->breaker != BREAKER_CLOSED)
		write_breaker(page, dealer);
	if (dealer->parked)
		html_printf(html, "%s%s callback%s parked",
			dealer->breaker != BREAKER_CLOSED ? ", " : "",
			view_count(dealer->parked, count), dealer->parked == 1 ? " is" : "s are");
	write_owed(page, dealer);
	write_owed_players(page, overview, dealer);
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
	const struct page_address health = page_address(page, "/health");
	struct html *html = &page->html;
	unsigned int alarms = 0;

	html_open(html, "section");
	html_element(html, "h2", "", "Alarms");
	html_open(html, "ul");
	html_attribute(html, "class", "alarms");
	if (status->halted) {
		open_alarm(page, &alarms);
		html_text(html,
			page_remedy(page,
				"The ledger is halted because its disk failed. After the repair: "
				"creditbridgectl resume."));
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
		html_text(html,
			page_remedy(page,
				". On its host: systemctl status creditbridge-sweep.timer. "));
		page_link(page, &health, "Health");
		html_close(html);
	}
	for (size_t i = 0; i < overview->count; i++)
		alarm_of_dealer(page, overview, &overview->dealers[i], &alarms);
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
	struct view view = dealers_view();
	struct html *html = &page->html;

	html_open(html, "section");
	html_element(html, "h2", "", "Dealers");
	view_begin(&view, page, "Those that need attention first", dealers_columns);
	for (size_t i = 0; i < overview->count; i++)
		dealers_row(&view, &overview->dealers[i]);
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

/* Counts what waits, of the dealers that the table begins with. */
static enum outcome count_ages(struct page *page, struct overview *overview)
{
	overview->ages_rows = page->console->ages_rows < OVERVIEW_AGES_ROWS
		? page->console->ages_rows
		: OVERVIEW_AGES_ROWS;
	for (size_t i = 0; i < overview->count; i++) {
		const struct dealer_metrics *dealer = &overview->dealers[i];
		struct ages_of *of = &overview->ages[overview->ages_dealers];

		if (!dealer->parked && !dealer->held && !dealer->due && !dealer->sending)
			continue;
		if (overview->waiting_dealers++ >= AGES_DEALERS_MAX)
			continue;
		text_copy(of->casino_id, sizeof(of->casino_id), dealer->casino_id);
		of->players = dealer->owed_payouts || dealer->owed_refunds;
		ages_take(of, dealer);
		overview->ages_dealers++;
	}
	return ages_count(page, overview->ages, overview->ages_dealers, overview->ages_rows);
}

/* Without the script, the link refreshes the page. */
static void write_refresh(struct page *page)
{
	const struct page_address here = page_address(page, "/");

	html_open(&page->html, "p");
	html_attribute(&page->html, "class", "pager");
	page_link(page, &here, "Refresh");
	html_close(&page->html);
}

/* The script that refreshes the page drops what is below the region that it replaces, and asks for the page without it. */
static enum outcome write_below(struct page *page, const struct overview *overview,
	const struct status_result *status)
{
	enum outcome code;

	if (params_get(&page->query, "refresh")[0])
		return OUTCOME_DONE;
	code = activity_section(page, status);
	return code == OUTCOME_DONE ? write_days(page, overview) : code;
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
		code = count_ages(page, &overview);
	}
	if (code == OUTCOME_DONE) {
		page_begin(page, "Overview");
		html_open(&page->html, "div");
		html_attribute(&page->html, "data-refresh", "10");
		write_refresh(page);
		write_alarms(page, &overview, &status);
		ages_section(page, overview.ages, overview.ages_dealers, overview.ages_rows,
			overview.waiting_dealers > overview.ages_dealers
				? "Four dealers, those that need attention first. All dealers:"
				: "");
		write_dealers(page, &overview);
		write_ledger(page, &status);
		html_close(&page->html);
	}
	if (code == OUTCOME_DONE)
		code = write_below(page, &overview, &status);
	if (code == OUTCOME_DONE)
		code = page_end(page);
	free(overview.dealers);
	return code;
}
