/* pages/replays - the list of replays, and one with its progress and its stop. */
#include "admin/list.h"
#include "admin/callbacks/replays.h"
#include "base/text.h"
#include "console/common/form.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/common/view.h"
#include "console/common/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void lead_to_replay(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	*to = lead_number(page, "/replays", view_source_number(source, "id"));
}

static const struct view_column list_columns[] = {
	{"Started", "time_ms", VIEW_PLAIN, NULL},
	{"Replay", "id", VIEW_PLAIN, lead_to_replay},
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_dealer},
	{"State", "state", VIEW_STATE, NULL},
	{"Callbacks", "expected", VIEW_COUNT, NULL},
	{"Made due", "made_due", VIEW_COUNT, NULL},
	{"Delivered", "delivered", VIEW_COUNT, NULL},
	{"Parked again", "parked_again", VIEW_COUNT, NULL},
	{"By", "by", VIEW_PLAIN, NULL},
	{"Reason", "reason", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column one_columns[] = {
	{"State", "state", VIEW_STATE, NULL},
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_dealer},
	{"Player", "player_id", VIEW_IF_ANY, NULL},
	{"Game", "game_id", VIEW_IF_ANY, NULL},
	{"Events from", "first_event", VIEW_PLAIN, NULL},
	{"to", "last_event", VIEW_PLAIN, NULL},
	{"Started", "time_ms", VIEW_PLAIN, NULL},
	{"By", "by", VIEW_PLAIN, NULL},
	{"Reason", "reason", VIEW_PLAIN, NULL},
	{"Ended", "ended_ms", VIEW_IF_ANY, NULL},
	{"Stopped by", "stopped_by", VIEW_IF_ANY, NULL},
	{"Callbacks in the preview", "expected", VIEW_COUNT, NULL},
	{"Made due", "made_due", VIEW_COUNT, NULL},
	{"Delivered", "delivered", VIEW_COUNT, NULL},
	{"Parked again", "parked_again", VIEW_COUNT, NULL},
	{"On their way", "on_its_way", VIEW_COUNT, NULL},
	{"Held or cancelled meanwhile", "withdrawn", VIEW_IF_ANY, NULL},
	{"Left out: an adjustment stands for them", "left_out", VIEW_IF_ANY, NULL},
	{"Left out: parked while the clock was ahead", "parked_later", VIEW_IF_ANY, NULL},
	VIEW_END,
};

enum outcome page_replays(struct page *page)
{
	struct view view = {.fields = replay_row_fields};
	struct replay_row row;
	struct row_walk walk;
	enum outcome code;

	if (!page->route->csv)
		page_begin(page, "Replays");
	memset(&row, 0, sizeof(row));
	view_begin(&view, page, "Replays of callbacks, the newest first", list_columns);
	walk_open(&walk, page, RECORD_REPLAY, NULL);
	while (walk_next(&walk, &row.replay)) {
		walk.last_ms = row.replay.time_ms;
		view_row(&view, &row);
		walk.shown++;
	}
	walk_csv_end(&view, walk.stopped, walk.last);
	view_end(&view, "No replay was started yet. The list of callbacks of a dealer offers one.");
	code = walk_end(&walk, OUTCOME_DONE);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_foot(&walk);
	return page_end(page);
}

/* ---- one replay */

static void write_bar(struct page *page, const struct replay *replay)
{
	struct html *html = &page->html;
	char number[24];

	html_open(html, "progress");
	snprintf(number, sizeof(number), "%" PRIu64, replay->expected);
	html_attribute(html, "max", number);
	snprintf(number, sizeof(number), "%" PRIu64,
		replay->delivered + replay->parked_again + replay->withdrawn);
	html_attribute(html, "value", number);
	html_attribute(html, "aria-label", "Callbacks of this replay that were sent");
	html_close(html);
}

static void write_stop(struct page *page, const struct replay *replay, const char *failed)
{
	struct page_address act = lead_number(page, "/replays", replay->id);

	form_failed(page, failed);
	if (replay->state != REPLAY_RUNNING || page->who.role < ROLE_SUPPORT)
		return;
	snprintf(act.text + act.len, sizeof(act.text) - act.len, "/stop");
	if (form_open(page, &act, false, failed != NULL))
		page_button(page, "Stop");
	html_close(&page->html);
}

/* Shows the replay of the address. @failed: why it was not stopped; NULL: it was not tried. */
static enum outcome show_replay(struct page *page, const void *subject, const char *failed)
{
	char what[64];
	struct replay_row row;
	struct html *html = &page->html;
	enum outcome code;
	bool found;

	(void)subject;
	code = replays_fetch(&page->desk.session, page->number, &row.replay, &found);
	if (code != OUTCOME_DONE)
		return code;
	snprintf(what, sizeof(what), found ? "Replay %" PRIu64 : "There is no replay %" PRIu64 ".",
		page->number);
	if (!found)
		return page_error(page, 404, what, "Looked at all replays of this installation.");
	replays_complete(&row);
	places_section(page, "/replays");
	page_begin(page, what);
	html_open(html, "section");
	/* The address of a form that was sent has no page that the script could read again. */
	if ((row.replay.state == REPLAY_RUNNING || row.on_its_way) && !page->post)
		html_attribute(html, "data-refresh", "3");
	page_paragraph(page, row.progress);
	write_bar(page, &row.replay);
	view_pairs(page, one_columns, replay_row_fields, &row);
	if (row.replay.state == REPLAY_RUNNING)
		page_paragraph(page,
			"The ledger does the steps: closing this page stops nothing. At most 100 "
			"callbacks are on their way at a time; while the breaker of the dealer is "
			"open, they wait.");
	else if (row.on_its_way)
		page_paragraph(page,
			row.replay.state == REPLAY_DONE
				? "The ledger has made all of them due. Some are still being sent or "
				  "wait for their turn."
				: "Some that were made due before the end are still being sent or wait "
				  "for their turn.");
	html_close(html);
	write_stop(page, &row.replay, failed);
	return page_end(page);
}

enum outcome page_replay(struct page *page)
{
	return show_replay(page, NULL, NULL);
}

enum outcome page_replay_stop(struct page *page)
{
	struct replay_stop_cmd cmd = {.id = page->number};
	struct replay_stop_result result;
	const struct form_command command = {.command = COMMAND_REPLAY_STOP,
		.cmd = &cmd,
		.result = &result,
		.by = &cmd.operator,
		.show = show_replay };
	const struct page_address to = lead_number(page, "/replays", page->number);
	enum outcome code;

	return form_send(page, &command, &code) ? page_go(page, &to) : code;
}
