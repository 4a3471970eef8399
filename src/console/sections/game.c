#include "console/sections/game.h"

#include "admin/callbacks/callbacks.h"
#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/common/route.h"
#include "console/common/view.h"
#include "wire/rewrite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of JSON with an indent. */
#define INDENTED_MAX (512 * 1024)

enum outcome game_fetch(struct page *page, const char *player_id, const char *game_id,
	struct game_rows *game, bool *found)
{
	struct session *session = &page->desk.session;
	enum outcome code;

	memset(game, 0, sizeof(*game));
	snprintf(game->round.player_id, sizeof(game->round.player_id), "%s", player_id);
	snprintf(game->round.game_id, sizeof(game->round.game_id), "%s", game_id);
	code = list_fetch(session, RECORD_ROUND, &game->round, found, NULL);
	if (code == OUTCOME_DONE && *found)
		code = names_dealer(session, game->round.casino_id, &game->dealer);
	if (code == OUTCOME_DONE && *found)
		page_dealer_zone(page, game->dealer.utc_offset_min);
	return code;
}

void game_add_event(struct game_rows *game, uint64_t event)
{
	if (event && game->event_count < GAME_EVENTS_MAX)
		game->events[game->event_count++] = event;
}

/* Leads to the page where the callback can be sent again, held or cancelled. */
static void link_callback(struct page *page, const char *event_id)
{
	const char *number = strrchr(event_id, '-');
	struct page_address to;
	uint64_t event;

	if (!number || !text_unsigned(number + 1, TRANSACTION_ID_MAX, &event) || !event)
		return;
	if (strcmp(page->route->path, "/callbacks/#") == 0 && page->number == event)
		return;
	to = lead_number(page, "/callbacks", event);
	html_open(&page->html, "p");
	html_text(&page->html, "To retry, hold or cancel it, open callback ");
	page_link(page, &to, event_id);
	html_text(&page->html, ".");
	html_close(&page->html);
}

void game_story(struct page *page, const struct story *story)
{
	struct html *html = &page->html;
	const char *next = page_remedy(page, story->next);
	char all[3 * STORY_TEXT_MAX];

	snprintf(all, sizeof(all), "%s %s %s", story->happened, story->owes, next);
	html_open(html, "section");
	html_attribute(html, "class", story->debt == DEBT_NONE ? "story" : "story owed");
	html_attribute(html, "aria-label", "What happened");
	html_element(html, "p", "happened", story->happened);
	html_element(html, "p", "owes", story->owes);
	if (story->next[0])
		html_element(html, "p", "next", next);
	if (story->debt != DEBT_NONE && story->event[0])
		link_callback(page, story->event);
	page_copy(page, all, "copy these sentences");
	html_close(html);
}

static const struct view_column round_columns[] = {
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_dealer},
	{"User", "user_id", VIEW_PLAIN, lead_to_player},
	{"Player id", "player_id", VIEW_ID, NULL},
	{"Wallet", "mode", VIEW_PLAIN, NULL},
	{"Game", "game_id", VIEW_ID, NULL},
	{"Game server", "client_id", VIEW_PLAIN, NULL},
	{"Bets placed", "bets", VIEW_PLAIN, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Settled", "settled_ms", VIEW_IF_ANY, NULL},
	{"Result", "result", VIEW_PLAIN, NULL},
	{"Bet amount", "bet_amount", VIEW_PLAIN, NULL},
	{"Addition amount", "addition_amount", VIEW_IF_ANY, NULL},
	{"Payout amount", "payout_amount", VIEW_PLAIN, NULL},
	{"Win amount", "win_amount", VIEW_PLAIN, NULL},
	{"Corrections", "revision", VIEW_IF_ANY, NULL},
	{"Result in force", "current_result", VIEW_PLAIN, NULL},
	{"Payout in force", "current_payout", VIEW_PLAIN, NULL},
	{"Not taken yet", "shortfall", VIEW_IF_ANY, NULL},
	{"Remark", "remark", VIEW_IF_ANY, NULL},
	VIEW_END,
};

/* Writes JSON with an indent; nothing if the text is none. */
static void write_indented(struct page *page, struct bytes bytes)
{
	static const struct rewrite_form form = {.layout = LAYOUT_INDENT_2};
	struct buffer text;

	buffer_init(&text, INDENTED_MAX);
	if (rewrite_may(bytes) && rewrite_json(bytes, &form, &text))
		page_pre(page, text.data, text.len, "The same JSON with an indent");
	buffer_free(&text);
}

void game_bytes(struct page *page, const char *title, struct bytes bytes)
{
	struct html *html = &page->html;

	if (!bytes.len)
		return;
	html_open(html, "details");
	html_open(html, "summary");
	html_printf(html, "%s (%" PRIu32 " bytes)", title, bytes.len);
	html_close(html);
	html_open(html, "div");
	html_attribute(html, "class", "beside");
	page_pre(page, bytes.data, bytes.len, NULL);
	write_indented(page, bytes);
	html_close(html);
	html_close(html);
}

enum outcome game_callback_body(struct page *page, uint64_t event)
{
	struct callback_body row = {.event = event};
	struct buffer bytes;
	enum outcome code;
	bool found;

	code = list_fetch_bytes(&page->desk.session, RECORD_CALLBACK_BODY, &row, &found, &bytes);
	if (code == OUTCOME_DONE && found)
		game_bytes(page, "Body of each attempt", row.body);
	else if (code == OUTCOME_DONE)
		page_paragraph(page, "Its body was dropped by retention.");
	buffer_free(&bytes);
	return code;
}

void game_round(struct page *page, const struct game_rows *game)
{
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Round");
	view_pairs(page, round_columns, round_fields, &game->round);
	html_close(&page->html);
}

static const struct field callback_row_more[] = {
	FIELD(FIELD_MONEY, callback_row, amount),
	FIELD(FIELD_STR, callback_row, last),
	FIELD(FIELD_STR, callback_row, next),
	FIELD(FIELD_STR, callback_row, last_dealer_error_id),
	FIELD(FIELD_STR, callback_row, last_note),
	FIELD_END,
};

static const struct view_column callback_columns[] = {
	{"Event", "event", VIEW_PLAIN, lead_to_callback},
	{"Made", "created_ms", VIEW_PLAIN, NULL},
	{"Kind", "kind", VIEW_PLAIN, NULL},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Tries", "attempts", VIEW_PLAIN, NULL},
	{"Last", "last", VIEW_PLAIN, NULL},
	{"Next", "next", VIEW_PLAIN, NULL},
	{"Dealer's error", "last_dealer_error_id", VIEW_PLAIN, NULL},
	{"Note", "last_note", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* Fetches the callbacks of the round, with few commands. */
static enum outcome fetch_callbacks(struct session *session, const struct game_rows *game,
	struct callback_row *rows)
{
	struct ahead *ahead = ahead_new(session);
	enum outcome code;
	bool found;

	if (!ahead)
		return session_no_memory(session);
	for (unsigned int i = 0; i < game->event_count; i++) {
		rows[i].callback.event = game->events[i];
		ahead_want(ahead, RECORD_CALLBACK, &rows[i].callback);
	}
	code = ahead_read(ahead);
	for (unsigned int i = 0; i < game->event_count && code == OUTCOME_DONE; i++) {
		code = list_fetch(session, RECORD_CALLBACK, &rows[i].callback, &found, NULL);
		if (code == OUTCOME_DONE && !found)
			code = names_missing(session, "a callback");
	}
	ahead_free(ahead);
	return code;
}

enum outcome game_callbacks(struct page *page, const struct game_rows *game)
{
	struct view view = {.fields = callback_fields, .more = callback_row_more};
	struct callback_row *rows = calloc(GAME_EVENTS_MAX, sizeof(*rows));
	enum outcome code;

	_Static_assert(GAME_EVENTS_MAX <= AHEAD_PART, "the callbacks are read together");
	if (!rows)
		return session_no_memory(&page->desk.session);
	code = fetch_callbacks(&page->desk.session, game, rows);
	if (code == OUTCOME_DONE)
		code = callback_rows_fill(&page->desk.session, rows, game->event_count);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Callbacks");
	view_begin(&view, page, "Messages to the dealer", callback_columns);
	for (unsigned int i = 0; i < game->event_count && code == OUTCOME_DONE; i++)
		view_row(&view, &rows[i]);
	view_end(&view, "None: the credit is kept here, or nothing was sent yet.");
	html_close(&page->html);
	free(rows);
	return code;
}
