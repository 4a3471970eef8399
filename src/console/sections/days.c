#include "console/sections/days.h"

#include "admin/names.h"
#include "console/html/chart.h"
#include "console/common/leads.h"
#include "console/common/route.h"

#include <stdio.h>
#include <string.h>

static void lead_to_day(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	*to = lead_day(page, view_source_text(source, "casino_id"),
		view_source_text(source, "date"));
}

const struct view_column days_columns[] = {
	{"Day", "date", VIEW_PLAIN, lead_to_day},
	{"Bets", "bets", VIEW_PLAIN, NULL},
	{"Staked", "staked", VIEW_PLAIN, NULL},
	{"Paid", "paid", VIEW_PLAIN, NULL},
	{"Corrected", "corrected", VIEW_PLAIN, NULL},
	{"Profit", "profit", VIEW_PLAIN, NULL},
	{"Refunded", "refunded", VIEW_PLAIN, NULL},
	{"Rejected", "rejected", VIEW_PLAIN, NULL},
	{"In", "transferred_in", VIEW_PLAIN, NULL},
	{"Out", "transferred_out", VIEW_PLAIN, NULL},
	{"Callbacks", "callbacks", VIEW_PLAIN, NULL},
	{"Success", "callbacks_success", VIEW_PLAIN, NULL},
	{"Refused", "callbacks_refused", VIEW_PLAIN, NULL},
	{"Unknown", "callbacks_unknown", VIEW_PLAIN, NULL},
	{"Not sent", "callbacks_not_sent", VIEW_PLAIN, NULL},
	VIEW_END,
};

const struct view_column days_dealers_columns[] = {
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_day},
	{"Day", "date", VIEW_PLAIN, NULL},
	{"Currency", "currency", VIEW_PLAIN, NULL},
	{"Bets", "bets", VIEW_PLAIN, NULL},
	{"Staked", "staked", VIEW_PLAIN, NULL},
	{"Paid", "paid", VIEW_PLAIN, NULL},
	{"Profit", "profit", VIEW_PLAIN, NULL},
	{"Refunded", "refunded", VIEW_PLAIN, NULL},
	{"In", "transferred_in", VIEW_PLAIN, NULL},
	{"Out", "transferred_out", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column figures_columns[] = {
	{"Bets", "bets", VIEW_PLAIN, NULL},
	{"Staked", "staked", VIEW_PLAIN, NULL},
	{"Payouts", "payouts", VIEW_PLAIN, NULL},
	{"Paid", "paid", VIEW_PLAIN, NULL},
	{"Corrections", "corrections", VIEW_PLAIN, NULL},
	{"Corrected", "corrected", VIEW_PLAIN, NULL},
	{"Profit", "profit", VIEW_PLAIN, NULL},
	{"Currency", "currency", VIEW_PLAIN, NULL},
	{"Bets refunded", "bets_refunded", VIEW_PLAIN, NULL},
	{"Refunded", "refunded", VIEW_PLAIN, NULL},
	{"Bets rejected", "bets_rejected", VIEW_PLAIN, NULL},
	{"Rejected", "rejected", VIEW_PLAIN, NULL},
	{"Transfers in", "transfers_in", VIEW_PLAIN, NULL},
	{"Transferred in", "transferred_in", VIEW_PLAIN, NULL},
	{"Transfers out", "transfers_out", VIEW_PLAIN, NULL},
	{"Transferred out", "transferred_out", VIEW_PLAIN, NULL},
	{"Adjustments", "adjustments", VIEW_PLAIN, NULL},
	{"Adjusted", "adjusted", VIEW_PLAIN, NULL},
	{"Stakes returned", "cancelled", VIEW_PLAIN, NULL},
	{"Callbacks", "callbacks", VIEW_PLAIN, NULL},
	{"Callbacks, success", "callbacks_success", VIEW_PLAIN, NULL},
	{"Callbacks, refused", "callbacks_refused", VIEW_PLAIN, NULL},
	{"Callbacks, unknown", "callbacks_unknown", VIEW_PLAIN, NULL},
	{"Callbacks, not sent", "callbacks_not_sent", VIEW_PLAIN, NULL},
	{"Callbacks, no attempt ended", "callbacks_waiting", VIEW_PLAIN, NULL},
	VIEW_END,
};

enum outcome days_before(struct page *page, const struct dealer *dealer, uint32_t last,
	struct day_row rows[DAYS_SHOWN], uint32_t *count)
{
	const uint32_t first = last < DAYS_SHOWN ? 0 : last - DAYS_SHOWN + 1;

	*count = last - first + 1;
	return days_read(&page->desk.session, dealer, first, *count, page->now_ms, rows);
}

static void write_credit_chart(struct html *html, const struct day_row *rows, uint32_t count)
{
	sum_t staked[DAYS_SHOWN], paid[DAYS_SHOWN], profit[DAYS_SHOWN];
	const struct chart_series series[] = {
		{"Staked", "one", CHART_BARS, staked},
		{"Paid with corrections", "three", CHART_BARS, paid},
		{"Profit", "line", CHART_LINE, profit},
	};
	char title[64];

	for (uint32_t i = 0; i < count; i++) {
		staked[i] = rows[i].staked;
		paid[i] = rows[i].paid + rows[i].corrected;
		profit[i] = rows[i].profit;
	}
	snprintf(title, sizeof(title), "Bets, %s", rows[0].currency);
	chart_write(html,
		&(struct chart){title, series, 3, count, rows[0].date, rows[count - 1].date, true});
}

static void write_callback_chart(struct html *html, const struct day_row *rows, uint32_t count)
{
	sum_t success[DAYS_SHOWN], refused[DAYS_SHOWN], other[DAYS_SHOWN];
	const struct chart_series series[] = {
		{"Success", "two", CHART_BARS, success},
		{"Refused", "three", CHART_BARS, refused},
		{"Unknown or not sent", "four", CHART_BARS, other},
	};

	for (uint32_t i = 0; i < count; i++) {
		success[i] = (sum_t)rows[i].callbacks_success;
		refused[i] = (sum_t)rows[i].callbacks_refused;
		other[i] = (sum_t)rows[i].callbacks_unknown + (sum_t)rows[i].callbacks_not_sent;
	}
	chart_write(html,
		&(struct chart){"Callbacks, by their last attempt", series, 3, count, rows[0].date,
			rows[count - 1].date, false});
}

void days_section(struct page *page, const struct dealer *dealer, const struct day_row *rows,
	uint32_t count)
{
	struct view view = {.fields = day_row_fields};
	struct page_address csv = page_address(page, "/days.csv");
	struct html *html = &page->html;

	if (!page->route->csv) {
		html_open(html, "section");
		html_element(html, "h2", "", "By day");
		days_begin_note(page, dealer, rows[0].number);
		write_credit_chart(html, rows, count);
		write_callback_chart(html, rows, count);
		/* On a phone each day is a card: unfolded they take most of the page. */
		html_open(html, "details");
		html_element(html, "summary", "", "The days as a table");
	}
	view_begin(&view, page, "The newest day first", days_columns);
	for (uint32_t i = count; i-- > 0;)
		view_row(&view, &rows[i]);
	view_end(&view, "No day.");
	if (page->route->csv)
		return;
	html_close(html); /* details */
	address_add(&csv, "casino", dealer->casino_id);
	address_add(&csv, "day", rows[count - 1].date);
	page_pager(page, NULL, "", &csv);
	html_close(html);
}

static const struct view_column recent_columns[] = {
	{"Day", "date", VIEW_PLAIN, NULL},
	{"Bets", "bets", VIEW_PLAIN, NULL},
	{"Transfers in", "transfers_in", VIEW_PLAIN, NULL},
	{"Transfers out", "transfers_out", VIEW_PLAIN, NULL},
	{"Callbacks", "callbacks", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* Adds up the numbers of the dealers' last days, which are @days. */
static void add_recent(const struct day_row *days, uint32_t count, struct day_row *rows)
{
	for (uint32_t i = 0; i < count * DAYS_RECENT; i++) {
		struct day_row *row = &rows[i % DAYS_RECENT];

		row->bets += days[i].bets;
		row->transfers_in += days[i].transfers_in;
		row->transfers_out += days[i].transfers_out;
		row->callbacks += days[i].callbacks;
		/* Of the dealer whose day is the latest. */
		if (strcmp(row->date, days[i].date) < 0)
			memcpy(row->date, days[i].date, sizeof(row->date));
	}
}

static void write_recent_chart(struct html *html, const struct day_row *rows)
{
	sum_t bets[DAYS_RECENT], transfers[DAYS_RECENT];
	const struct chart_series series[] = {
		{"Bets", "one", CHART_BARS, bets},
		{"Transfers", "two", CHART_BARS, transfers},
	};

	for (uint32_t i = 0; i < DAYS_RECENT; i++) {
		bets[i] = (sum_t)rows[i].bets;
		transfers[i] = (sum_t)rows[i].transfers_in + (sum_t)rows[i].transfers_out;
	}
	chart_write(html,
		&(struct chart){"Bets and transfers a day", series, 2, DAYS_RECENT, rows[0].date,
			rows[DAYS_RECENT - 1].date, false});
}

enum outcome days_recent(struct page *page, const char *const *ids, uint32_t count)
{
	struct view view = {.fields = day_row_fields};
	struct day_row rows[DAYS_RECENT], days[DAYS_DEALERS_MAX * DAYS_RECENT];
	struct html *html = &page->html;
	enum outcome code;

	if (!count)
		return OUTCOME_DONE;
	code = days_last(&page->desk.session, ids, count, DAYS_RECENT, page->now_ms, days);
	if (code != OUTCOME_DONE)
		return code;
	memset(rows, 0, sizeof(rows));
	add_recent(days, count, rows);
	html_open(html, "section");
	html_element(html, "h2", "", "Last days");
	write_recent_chart(html, rows);
	html_open(html, "details");
	html_element(html, "summary", "", "The days as a table");
	view_begin(&view, page, "Of the first dealers above, each in its own time zone",
		recent_columns);
	for (uint32_t i = DAYS_RECENT; i-- > 0;)
		view_row(&view, &rows[i]);
	view_end(&view, "No day.");
	html_close(html);
	html_close(html);
	return code;
}

void days_figures(struct page *page, const struct day_row *row)
{
	view_pairs(page, figures_columns, day_row_fields, row);
}

void days_begin_note(struct page *page, const struct dealer *dealer, uint32_t first)
{
	const uint32_t begin = dealer_day_first(dealer);
	char date[DATE_SIZE];

	if (first >= begin)
		return;
	statistics_date(begin, date);
	html_open(&page->html, "p");
	html_attribute(&page->html, "class", "note");
	html_printf(&page->html,
		"The sums begin on %s, because the ledger was upgraded, or the dealer's utc_offset was "
		"changed, on the day before. Earlier days are not complete.",
		date);
	html_close(&page->html);
}
