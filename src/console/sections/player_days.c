#include "console/sections/player_days.h"

#include "admin/days.h"
#include "admin/list.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/common/route.h"
#include "console/common/view.h"
#include "console/html/chart.h"
#include "domain/statistics.h"

#include <stdio.h>
#include <string.h>

struct player_day {
	struct day day; /* must be first */
	char date[DATE_SIZE];
};

static const struct field player_day_fields[] = {
	FIELD(FIELD_STR, player_day, date),
	FIELD_AS("bet_count", FIELD_U64, player_day, day.sums.bet_count),
	FIELD_AS("turnover", FIELD_SUM, player_day, day.sums.turnover),
	FIELD_AS("profit_loss", FIELD_SUM, player_day, day.sums.profit_loss),
	FIELD_END,
};

static const struct view_column player_day_columns[] = {
	{"Day", "date", VIEW_PLAIN, NULL},
	{"Bets", "bet_count", VIEW_COUNT, NULL},
	{"Turnover", "turnover", VIEW_PLAIN, NULL},
	{"Result", "profit_loss", VIEW_PLAIN, NULL},
	VIEW_END,
};

/*
 * Reads the days up to @today, the oldest first. A day without a bet has no row, and its sums are 0. At most STATISTICS_DAYS
 * rows are read.
 */
static enum outcome read_days(struct page *page, const struct player *player, uint32_t today,
	struct player_day days[STATISTICS_DAYS])
{
	const uint32_t first = today < STATISTICS_DAYS ? 0 : today - STATISTICS_DAYS + 1;
	struct list list;
	struct day row;

	memset(days, 0, STATISTICS_DAYS * sizeof(days[0]));
	for (uint32_t i = 0; i < STATISTICS_DAYS; i++)
		statistics_date(first + i, days[i].date);
	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, player->player_id, sizeof(row.player_id));
	list_open(&list, &page->desk.session, RECORD_DAY, true, 1, &row);
	list.page = STATISTICS_DAYS;
	row.number = today + 1;
	list_behind(&list, &row);
	while (list_next(&list, &row) && row.number >= first)
		days[row.number - first].day = row;
	return list_end(&list, OUTCOME_DONE);
}

static bool write_chart(struct page *page, const struct player_day days[STATISTICS_DAYS],
	const char *currency)
{
	sum_t turnover[STATISTICS_DAYS], result[STATISTICS_DAYS];
	const struct chart_series series[] = {
		{"Turnover", "one", CHART_BARS, turnover},
		{"Result of the player", "line", CHART_LINE, result},
	};
	char title[64];

	for (uint32_t i = 0; i < STATISTICS_DAYS; i++) {
		turnover[i] = days[i].day.sums.turnover;
		result[i] = days[i].day.sums.profit_loss;
	}
	snprintf(title, sizeof(title), "Settled bets, %s", currency);
	return chart_write(&page->html,
		&(struct chart){title, series, 2, STATISTICS_DAYS, days[0].date,
			days[STATISTICS_DAYS - 1].date, true});
}

static void write_table(struct page *page, const struct player_day days[STATISTICS_DAYS])
{
	struct view view = {.fields = player_day_fields};

	view_begin(&view, page, "The newest day first", player_day_columns);
	for (uint32_t i = STATISTICS_DAYS; i-- > 0;)
		view_row(&view, &days[i]);
	view_end(&view, "No day.");
}

enum outcome player_days(struct page *page, const struct player *player,
	const struct dealer *dealer)
{
	struct player_day days[STATISTICS_DAYS];
	struct page_address csv = page_address(page, "/player/days.csv");
	struct html *html = &page->html;
	enum outcome code = read_days(page, player, days_today(dealer, page->now_ms), days);

	if (code == OUTCOME_DONE && page->route->csv)
		write_table(page, days);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	html_open(html, "section");
	html_element(html, "h2", "", "Last 30 days");
	if (!write_chart(page, days, dealer->currency))
		page_paragraph(page, "No bet of these days was settled.");
	html_open(html, "details");
	html_element(html, "summary", "", "The days as a table");
	write_table(page, days);
	html_close(html);
	html_element(html, "p", "note",
		"A bet counts on the day on which it was placed, in the dealer's time zone.");
	address_add(&csv, "id", player->player_id);
	page_pager(page, NULL, "", &csv);
	html_close(html);
	return code;
}
