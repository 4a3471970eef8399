#include "console/common/walk.h"

#include "admin/names.h"
#include "admin/seek.h"
#include "base/clock.h"
#include "base/text.h"
#include "console/common/route.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WALK_PAGE 64 /* rows of one command, at most */

/*
 * If the filter ends in the past, returns the number after the last row before that end. Otherwise 0. A failure is that of
 * the list.
 */
static uint64_t newest_wanted(struct row_walk *walk, enum record record)
{
	const struct page *page = walk->page;
	uint64_t before;

	if (!walk->filter || walk->filter->until_ms > page->now_ms ||
		(record != RECORD_TRANSACTION && record != RECORD_CALLBACK))
		return 0;
	walk->list.code = seek_before(walk->list.session, record, walk->filter->until_ms, &before);
	return before + 1;
}

void walk_open(struct row_walk *walk, struct page *page, enum record record,
	const struct filter *filter)
{
	/* Every such row begins with its number. */
	union {
		struct transaction transaction;
		struct callback callback;
		struct audit audit;
		struct replay replay;
		uint64_t number;
	} row;
	uint64_t after;

	memset(walk, 0, sizeof(*walk));
	memset(&row, 0, sizeof(row));
	walk->page = page;
	walk->filter = filter;
	walk->rows = page->route->csv ? page->console->csv_rows : PAGE_ROWS;
	list_open(&walk->list, &page->desk.session, record, true, 0, NULL);
	walk->list.page = WALK_PAGE;
	if (filter && filter->casino_id[0] &&
		(record == RECORD_TRANSACTION || record == RECORD_CALLBACK))
		walk->list.casino_id = filter->casino_id;
	if (text_unsigned(params_get(&page->query, "after"), INT64_MAX, &after) && after)
		row.number = after;
	else
		row.number = newest_wanted(walk, record);
	if (row.number)
		list_behind(&walk->list, &row);
	walk->until_ms = clock_boot_ms() + PAGE_LOOK_MS;
}

/* Returns true if the ledger passes over rows of the list: a page of the list may be empty and not be the last. */
static bool passes_over(const struct list *list)
{
	return list->own || list->casino_id;
}

/* Returns true if the page has looked at as many rows as it may. */
static bool looked_enough(const struct row_walk *walk)
{
	const struct list *list = &walk->list;

	/* What the ledger has looked at is shown first. */
	if (passes_over(list) && (list->rest.len || !list->more))
		return false;
	if (walk->page->route->csv)
		return walk->looked >= PAGE_CSV_LOOK_MAX;
	return walk->looked >= PAGE_LOOK_MAX ||
		(walk->looked >= PAGE_LOOK_LEAST && !list->rest.len && list->more &&
			clock_boot_ms() >= walk->until_ms);
}

/*
 * Takes the last row that the ledger looked at, if it passed over rows after the last one that was returned. Returns false
 * if the list ends there: there are no older rows, or they are older than the filter asks for.
 */
static bool take_passed(struct row_walk *walk, void *row)
{
	if (!list_goes_on(&walk->list, row))
		return false;
	memcpy(&walk->last, row, sizeof(walk->last));
	walk->last_ms = walk->list.looked_ms;
	return !walk->filter || filter_time(walk->filter, walk->last_ms) != FILTER_END;
}

static bool take_next(struct row_walk *walk, void *row)
{
	const bool next = list_next(&walk->list, row);

	walk->looked = passes_over(&walk->list) ? walk->list.looked : walk->list.taken;
	return next;
}

bool walk_next(struct row_walk *walk, void *row)
{
	const uint64_t room = walk->rows - walk->shown;

	/* While every row is shown, the ledger looks no further than the last one that has room. */
	walk->list.page =
		passes_over(&walk->list) && walk->shown == walk->list.taken && room < WALK_PAGE
		? (uint32_t)room
		: WALK_PAGE;
	for (;;) {
		walk->stopped = walk->shown >= walk->rows;
		if (walk->stopped)
			return false;
		if (looked_enough(walk)) {
			walk->stopped = !passes_over(&walk->list) || take_passed(walk, row);
			return false;
		}
		if (take_next(walk, row))
			break;
		if (!passes_over(&walk->list) || !take_passed(walk, row))
			return false;
	}
	memcpy(&walk->last, row, sizeof(walk->last));
	return true;
}

enum outcome walk_end(struct row_walk *walk, enum outcome code)
{
	return list_end(&walk->list, code);
}

void walk_csv_end(struct view *view, bool stopped, uint64_t after)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, after);
	walk_csv_end_id(view, stopped ? text : "");
}

void walk_csv_end_id(struct view *view, const char *after)
{
	struct page_address query;
	char text[VIEW_TEXT_MAX];

	if (!after[0])
		return;
	/* As it must be in an address. */
	address_begin(&query, "", "");
	address_add(&query, "after", after);
	snprintf(text, sizeof(text),
		"This list stops here. There may be more rows: repeat it with %.400s.",
		query.len ? query.text + 1 : "");
	view_csv_stopped(view, text);
}

/* Begins the address of this page with its filter, with @suffix after the path. */
static struct page_address same_page(const struct page *page, const char *suffix)
{
	struct page_address address = page_address(page, page->route->path);

	if (suffix[0]) {
		snprintf(address.text + address.len, sizeof(address.text) - address.len, "%s",
			suffix);
		address.len = strlen(address.text);
	}
	for (unsigned int i = 0; i < page->query.count; i++) {
		if (strcmp(page->query.list[i].name, "after") != 0 &&
			text_is_name(page->query.list[i].name, 32))
			address_add(&address, page->query.list[i].name, page->query.list[i].value);
	}
	return address;
}

void walk_links(struct page *page, uint64_t after)
{
	const struct page_address list = same_page(page, ""), csv = same_page(page, ".csv");

	page_pager_number(page, &list, after, &csv);
}

void walk_foot(const struct row_walk *walk)
{
	struct page *page = walk->page;
	struct html *html = &page->html;

	if (page->route->csv)
		return;
	html_open(html, "p");
	html_attribute(html, "class", "note");
	html_printf(html, "Looked at %" PRIu64 " rows", walk->looked);
	if (walk->stopped && walk->last_ms) {
		html_text(html, ", back to ");
		page_time(page, walk->last_ms);
		html_text(html, ". There may be older ones.");
	} else {
		html_text(html, walk->stopped ? "." : ". No older row fits the filter.");
	}
	html_close(html);
	walk_links(page, walk->stopped ? walk->last : 0);
}

/* Sets filter->player_id from the parameters. A player that does not exist has the id "-". */
static enum outcome filter_player(struct page *page, struct filter *filter)
{
	const char *player = params_get(&page->query, "player");
	struct player row;
	enum outcome code;
	bool found;

	if (player[0] && !text_copy(filter->player_id, sizeof(filter->player_id), player))
		text_copy(filter->player_id, sizeof(filter->player_id), "-");
	if (!filter->user_id[0])
		return OUTCOME_DONE;
	if (!filter->casino_id[0])
		return session_usage(&page->desk.session,
			"A user id belongs to a dealer: give the dealer, too.");
	memset(&row, 0, sizeof(row));
	memcpy(row.casino_id, filter->casino_id, sizeof(row.casino_id));
	memcpy(row.user_id, filter->user_id, sizeof(row.user_id));
	code = list_fetch(&page->desk.session, RECORD_PLAYER, &row, &found, NULL);
	text_copy(filter->player_id, sizeof(filter->player_id), found ? row.player_id : "-");
	return code;
}

static enum outcome filter_times(struct page *page, struct filter *filter)
{
	const char *since = params_get(&page->query, "since");
	const char *until = params_get(&page->query, "until");

	filter->until_ms = INT64_MAX;
	if (since[0] && !zone_read(&page->zone, since, page->now_ms, false, &filter->since_ms))
		return session_usage(&page->desk.session, "'%s' is no time: %s", since, ZONE_FORMS);
	if (until[0] && !zone_read(&page->zone, until, page->now_ms, true, &filter->until_ms))
		return session_usage(&page->desk.session, "'%s' is no time: %s", until, ZONE_FORMS);
	return OUTCOME_DONE;
}

enum outcome walk_filter(struct page *page, struct filter *filter)
{
	struct session *session = &page->desk.session;
	const char *casino = params_get(&page->query, "casino");
	const char *user = params_get(&page->query, "user");
	const char *game = params_get(&page->query, "game");
	enum outcome code = OUTCOME_DONE;

	memset(filter, 0, sizeof(*filter));
	if (casino[0])
		code = names_read_casino_id(session, casino, filter->casino_id);
	if (code == OUTCOME_DONE && user[0])
		code = names_read_external_id(session, "A user id", user, filter->user_id);
	if (code == OUTCOME_DONE && game[0])
		code = names_read_external_id(session, "A game id", game, filter->game_id);
	if (code == OUTCOME_DONE)
		code = filter_times(page, filter);
	return code == OUTCOME_DONE ? filter_player(page, filter) : code;
}

void walk_form(struct page *page)
{
	static const struct page_filter_input inputs[] = {
		{"Dealer", "casino"},
		{"User", "user"},
		{"Game", "game"},
		{"Since", "since"},
		{"Until", "until"},
	};

	page_filter(page, inputs, sizeof(inputs) / sizeof(inputs[0]));
}

unsigned int walk_choice(const struct page *page, const char *param, const char *const *names,
	unsigned int count)
{
	const char *value = params_get(&page->query, param);

	for (unsigned int i = 0; i < count; i++) {
		if (strcmp(names[i], value) == 0)
			return i;
	}
	return count;
}
