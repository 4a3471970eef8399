/* pages/players - the players of a dealer whose user id begins with a text, in the order of their ids. */
#include "console/pages/players.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "console/pages/pages.h"
#include "console/sections/dealers.h"

#include <string.h>

static const struct view_column player_columns[] = {
	{"User id", "user_id", VIEW_PLAIN, lead_to_player},
	{"Player", "player_id", VIEW_PLAIN, NULL},
	{"Balance here", "balance", VIEW_PLAIN, NULL},
	{"Suspended", "suspended", VIEW_IF_ANY, NULL},
	{"Registered", "created_ms", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* Shows players after the parameter "after". @last gets the last one that is shown if there are more; otherwise "". */
static enum outcome list_players(struct page *page, const struct dealer *dealer,
	char last[EXTERNAL_ID_SIZE])
{
	const uint64_t rows = page->route->csv ? page->console->csv_rows : PAGE_ROWS;
	struct view view = {.fields = player_fields};
	struct player row;
	const char *begins = params_get(&page->query, "begins");
	/* A longer text begins no user id. */
	const bool fits = strlen(begins) < EXTERNAL_ID_SIZE;
	struct list list;
	bool more = false;

	memset(&row, 0, sizeof(row));
	memcpy(row.casino_id, dealer->casino_id, sizeof(row.casino_id));
	list_open(&list, &page->desk.session, RECORD_PLAYER, false, 1, &row);
	if (fits)
		list_beginning(&list, begins);
	/* A text that is too long is no user id: the list begins at its start. */
	if (text_copy(row.user_id, sizeof(row.user_id), params_get(&page->query, "after")) &&
		row.user_id[0])
		list_behind(&list, &row);
	list.page = page->route->csv ? 0 : PAGE_ROWS + 1;
	view_begin(&view, page, "Players, by their user id", player_columns);
	while (fits && list_next(&list, &row)) {
		more = view.rows == rows;
		if (more)
			break;
		view_row(&view, &row);
		text_copy(last, EXTERNAL_ID_SIZE, row.user_id);
	}
	view_end(&view, "No player of this dealer has a user id that begins so.");
	if (!more)
		last[0] = '\0';
	walk_csv_end_id(&view, last);
	return list_end(&list, OUTCOME_DONE);
}

void players_form(struct page *page, const struct dealer *dealer, const char *note)
{
	const struct page_address to = page_address(page, "/players");
	struct html *html = &page->html;

	html_open(html, "form");
	html_attribute(html, "method", "get");
	html_attribute(html, "class", "filter");
	html_exact(html, "action", to.text);
	page_hidden(page, "casino", dealer->casino_id);
	html_text(html, note);
	page_input(page, "The user id begins with", "begins", params_get(&page->query, "begins"));
	page_button(page, "Show");
	html_close(html);
}

/* Begins the address of the list of these players. */
static struct page_address list_address(const struct page *page, const char *path,
	const struct dealer *dealer)
{
	struct page_address to = page_address(page, path);

	address_add(&to, "casino", dealer->casino_id);
	address_add(&to, "begins", params_get(&page->query, "begins"));
	return to;
}

static void write_pager(struct page *page, const struct dealer *dealer, const char *last)
{
	const struct page_address list = list_address(page, "/players", dealer);
	const struct page_address csv = list_address(page, "/players.csv", dealer);

	page_pager(page, &list, last, &csv);
}

enum outcome page_players(struct page *page)
{
	char last[EXTERNAL_ID_SIZE] = "";
	struct dealer dealer;
	enum outcome code =
		names_dealer(&page->desk.session, params_get(&page->query, "casino"), &dealer);

	if (code == OUTCOME_USAGE)
		return dealers_none(page);
	if (code != OUTCOME_DONE)
		return code;
	page_dealer_zone(page, dealer.utc_offset_min);
	if (!page->route->csv) {
		places_dealer(page, dealer.casino_id);
		page_begin_id(page, "Players of dealer", dealer.casino_id);
		players_form(page, &dealer, "");
	}
	code = list_players(page, &dealer, last);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	write_pager(page, &dealer, last);
	return page_end(page);
}
