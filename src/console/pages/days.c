/* pages/days - the sums of a dealer's day, and yesterday of all dealers. */
#include "console/sections/days.h"

#include "admin/names.h"
#include "base/text.h"
#include "console/sections/dealers.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/common/walk.h"
#include "console/pages/pages.h"
#include "link/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Dealers on one page, and in one CSV: each takes two reads. */
#define DEALERS_SHOWN 16

/* ---- yesterday of all dealers */

struct dealers_shown {
	char ids[DEALERS_SHOWN][CASINO_ID_SIZE];
	unsigned int count;
	bool more;
};

static bool note_dealer(void *context, const struct dealer_metrics *dealer)
{
	struct dealers_shown *shown = context;

	shown->more = shown->count == DEALERS_SHOWN;
	if (!shown->more)
		text_copy(shown->ids[shown->count++], CASINO_ID_SIZE, dealer->casino_id);
	return !shown->more;
}

/* Reads yesterday of a dealer; a new dealer has no earlier day than today. */
static enum outcome read_yesterday(struct page *page, const char *casino_id, struct day_row *row)
{
	struct session *session = &page->desk.session;
	struct dealer dealer;
	enum outcome code = names_dealer(session, casino_id, &dealer);
	uint32_t today;

	if (code != OUTCOME_DONE)
		return code;
	today = days_today(&dealer, page->now_ms);
	return days_read(session, &dealer, today ? today - 1 : 0, 1, page->now_ms, row);
}

static enum outcome page_of_dealers(struct page *page)
{
	struct dealers_shown shown = {.more = false};
	const struct page_address list = page_address(page, "/days");
	const struct page_address csv = page_address(page, "/days.csv");
	struct view view = {.fields = day_row_fields};
	struct day_row row;
	const char *last;
	enum outcome code =
		dealers_walk(page, params_get(&page->query, "after"), NULL, note_dealer, &shown);

	if (code != OUTCOME_DONE)
		return code;
	last = shown.more ? shown.ids[shown.count - 1] : "";
	if (!page->route->csv)
		page_begin(page, "Days");
	view_begin(&view, page, "Yesterday of each dealer, in its own time zone",
		days_dealers_columns);
	for (unsigned int i = 0; i < shown.count && code == OUTCOME_DONE; i++) {
		code = read_yesterday(page, shown.ids[i], &row);
		if (code == OUTCOME_DONE)
			view_row(&view, &row);
	}
	view_end(&view, "No dealer yet: creditbridgectl dealer add.");
	walk_csv_end_id(&view, last);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	page_pager(page, &list, last, &csv);
	return page_end(page);
}

/* ---- a day of one dealer */

/* Reads the parameter "day"; without one, takes @number. Returns false for any other text. */
static bool read_day(const struct page *page, uint32_t *number)
{
	const char *text = params_get(&page->query, "day");
	const struct zone utc = zone_offset(0);
	char date[DATE_SIZE];
	int64_t time_ms;

	if (!text[0])
		return true;
	if (strlen(text) != DATE_SIZE - 1 || !zone_read(&utc, text, page->now_ms, false, &time_ms))
		return false;
	*number = statistics_day(time_ms, 0);
	statistics_date(*number, date);
	return strcmp(date, text) == 0;
}

static void write_pager(struct page *page, const struct dealer *dealer, uint32_t number,
	uint32_t today)
{
	struct html *html = &page->html;
	struct page_address to;
	char date[DATE_SIZE];

	html_open(html, "p");
	html_attribute(html, "class", "pager");
	statistics_date(number - 1, date);
	to = lead_day(page, dealer->casino_id, date);
	if (number)
		page_link(page, &to, "Previous day");
	html_text(html, " ");
	statistics_date(number + 1, date);
	to = lead_day(page, dealer->casino_id, date);
	if (number < today)
		page_link(page, &to, "Next day");
	html_text(html, " ");
	to = lead_dealer(page, dealer->casino_id);
	page_link(page, &to, "Dealer");
	html_close(html);
}

/* The form that makes the recon file of the day (pages/jobs.c), for the roles that may. */
static void write_recon(struct page *page, const struct dealer *dealer, const char *date)
{
	const struct page_address to = page_address(page, "/dealer/recon");
	struct html *html = &page->html;

	html_open(html, "section");
	html_element(html, "h2", "", "Recon file");
	page_paragraph(page,
		"The file has each movement, bet and callback of the day, with the same sums.");
	if (page->who.role >= job_infos[JOB_RECON].least) {
		page_form(page, &to);
		page_hidden(page, "id", dealer->casino_id);
		page_hidden(page, "date", date);
		page_button_again(page, "Recon file (CSV)");
		html_close(html);
	} else {
		page_paragraph(page, "Operators with the role finance have a button for it here.");
	}
	html_close(html);
}

static void write_day(struct page *page, const struct dealer *dealer, const struct day_row *rows,
	uint32_t count, uint32_t today)
{
	const struct day_row *row = &rows[count - 1];
	const int32_t offset = dealer->utc_offset_min, minutes = offset < 0 ? -offset : offset;
	struct html *html = &page->html;
	char title[64];

	snprintf(title, sizeof(title), "Day %s of", row->date);
	places_section(page, "/days");
	page_begin_id(page, title, dealer->casino_id);
	write_pager(page, dealer, row->number, today);
	html_open(html, "section");
	html_element(html, "h2", "", "Sums");
	html_open(html, "p");
	html_printf(html, "The dealer's day, UTC%c%02d:%02d, %s.", offset < 0 ? '-' : '+',
		minutes / 60, minutes % 60, row->over ? "over" : "not over yet");
	html_close(html);
	days_begin_note(page, dealer, row->number);
	days_figures(page, row);
	html_close(html);
	write_recon(page, dealer, row->date);
	days_section(page, dealer, rows, count);
}

enum outcome page_days(struct page *page)
{
	const char *casino_id = params_get(&page->query, "casino");
	struct day_row rows[DAYS_SHOWN];
	struct dealer dealer;
	uint32_t number, today, count;
	enum outcome code;

	if (!casino_id[0])
		return page_of_dealers(page);
	code = names_dealer(&page->desk.session, casino_id, &dealer);
	if (code == OUTCOME_USAGE)
		return dealers_none(page);
	if (code != OUTCOME_DONE)
		return code;
	number = today = days_today(&dealer, page->now_ms);
	if (!read_day(page, &number) || number > today)
		return page_error(page, 404, "There is no such day.",
			"A day is YYYY-MM-DD, today at the latest in the dealer's time zone.");
	code = days_before(page, &dealer, number, rows, &count);
	if (code != OUTCOME_DONE)
		return code;
	if (page->route->csv) {
		days_section(page, &dealer, rows, count);
		return OUTCOME_DONE;
	}
	write_day(page, &dealer, rows, count, today);
	return page_end(page);
}
