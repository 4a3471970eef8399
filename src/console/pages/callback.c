/* pages/callback - one callback with its attempts, and what an operator may do with it. */
#include "admin/ahead.h"
#include "admin/callbacks/callbacks.h"
#include "admin/list.h"
#include "admin/names.h"
#include "admin/callbacks/stories.h"
#include "base/text.h"
#include "console/sections/game.h"
#include "console/common/form.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/sections/timeline.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "domain/delivery.h"
#include "wire/callback_body.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the command for curl: quoted, each byte of the body may be 4, and beside it are address and headers. */
#define CURL_MAX (4 * CALLBACK_BODY_MAX + 4096)

/* The actions that the page offers, and the states in which they apply. */
static const struct action {
	enum callback_action action;
	unsigned int states; /* 1 << enum callback_state */
	enum role least;     /* as in link/roles.def */
	const char *button;
	const char *done;
} actions[] = {
	{CALLBACK_RETRY, 1 << CALLBACK_DUE | 1 << CALLBACK_PARKED, ROLE_SUPPORT, "Retry now",
		"Done: it is due now. The sweeper sends it at its next turn."},
	{CALLBACK_HOLD, 1 << CALLBACK_DUE | 1 << CALLBACK_PARKED, ROLE_SUPPORT, "Hold",
		"Done: nothing is sent until it is released."},
	{CALLBACK_RELEASE, 1 << CALLBACK_HELD, ROLE_SUPPORT, "Release", "Done: it is released."},
	{CALLBACK_CANCEL, 1 << CALLBACK_DUE | 1 << CALLBACK_PARKED | 1 << CALLBACK_HELD,
		ROLE_FINANCE, "Cancel: never send it again",
		"Done: it is never sent again. You and the dealer must settle its amount by other means."},
};
#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static const struct view_column callback_columns[] = {
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_dealer},
	{"Player", "player_id", VIEW_PLAIN, lead_to_player},
	{"Game", "game_id", VIEW_PLAIN, lead_to_round},
	{"Kind", "kind", VIEW_PLAIN, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Tries", "attempts", VIEW_PLAIN, NULL},
	{"Made", "created_ms", VIEW_PLAIN, NULL},
	{"First due", "first_ms", VIEW_PLAIN, NULL},
	{"Ended", "ended_ms", VIEW_IF_ANY, NULL},
	{"One more by an operator", "once_more", VIEW_IF_ANY, NULL},
	{"Unknown to the dealer", "unknown_to_dealer", VIEW_IF_ANY, NULL},
	{"Known to the dealer", "known_to_dealer", VIEW_IF_ANY, NULL},
	{"Cancelled by", "resolved_by", VIEW_IF_ANY, NULL},
	VIEW_END,
};

struct attempt_view {
	struct attempt attempt; /* must be first */
	char outcome[32];
};

static const struct field attempt_more[] = {
	FIELD(FIELD_STR, attempt_view, outcome),
	FIELD_END,
};

static const struct view_column attempt_columns[] = {
	{"Try", "number", VIEW_PLAIN, NULL},
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"Outcome", "outcome", VIEW_STATE, NULL},
	{"HTTP", "http_status", VIEW_IF_ANY, NULL},
	{"Ms", "ms", VIEW_PLAIN, NULL},
	{"Next try", "next_ms", VIEW_PLAIN, NULL},
	{"Dealer's error", "dealer_error_id", VIEW_PLAIN, NULL},
	{"Note", "note", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* Writes links to older attempts (@after 0: there are none) and to all of them as CSV. */
static void write_attempt_links(struct page *page, uint64_t event, uint32_t after)
{
	const struct page_address list = lead_number(page, "/callbacks", event);
	struct page_address csv = list;

	snprintf(csv.text + csv.len, sizeof(csv.text) - csv.len, "/attempts.csv");
	page_pager_number(page, &list, after, &csv);
}

/* Shows what the dealer answered to these attempts, with few commands. */
static enum outcome show_answers(struct page *page, uint64_t event, const uint32_t *answered,
	uint32_t count)
{
	struct ahead *ahead = ahead_new(&page->desk.session);
	struct answer row = {.event = event};
	enum outcome code;

	if (!ahead)
		return session_no_memory(&page->desk.session);
	for (uint32_t i = 0; i < count; i++) {
		row.number = answered[i];
		ahead_want(ahead, RECORD_ANSWER, &row);
	}
	code = ahead_read(ahead);
	for (uint32_t i = 0; i < count && code == OUTCOME_DONE; i++)
		code = timeline_answer(page, event, answered[i]);
	ahead_free(ahead);
	return code;
}

/* ---- the newest attempt as a command */

static void append_header(struct buffer *out, const char *name, const char *value)
{
	/* The longest value is a webhook-id. */
	char line[CALLBACK_EVENT_ID_SIZE + 64];

	snprintf(line, sizeof(line), "%s: %s", name, value);
	buffer_append_str(out, " \\\n  -H ");
	buffer_append_shell_word(out, line, strlen(line));
}

/*
 * Writes what the attempt sent as a command for curl. The console knows no key, so SIGNATURE stands in place of each
 * signature.
 */
static void append_curl(struct buffer *out, const struct callback *callback,
	const struct attempt *attempt, const struct dealer *dealer, struct bytes body)
{
	char url[CALLBACK_URL_SIZE], id[CALLBACK_EVENT_ID_SIZE], seconds[24];
	struct callback_target target;

	callback_target_for(dealer, callback, &target);
	callback_target_url(&target, url);
	callback_event_id(callback->kind, callback->event, id);
	snprintf(seconds, sizeof(seconds), "%" PRId64, attempt->time_ms / 1000);
	buffer_append_str(out, "curl -X POST ");
	buffer_append_shell_word(out, url, strlen(url));
	append_header(out, "Content-Type", "application/json");
	append_header(out, "webhook-id", id);
	append_header(out, "webhook-timestamp", seconds);
	append_header(out, "x-casino-signature", "SIGNATURE");
	append_header(out, "webhook-signature", "SIGNATURE");
	buffer_append_str(out, " \\\n  --data-binary ");
	buffer_append_shell_word(out, body.data, body.len);
	buffer_append(out, "", 1);
}

/* Offers the command, folded, with a button that copies it; nothing if the body is not known. */
static enum outcome show_curl(struct page *page, const struct callback *callback,
	const struct attempt *attempt)
{
	struct callback_body row = {.event = callback->event};
	struct buffer bytes, text;
	struct dealer dealer;
	enum outcome code;
	bool found;

	code = list_fetch_bytes(&page->desk.session, RECORD_CALLBACK_BODY, &row, &found, &bytes);
	if (code == OUTCOME_DONE)
		code = names_dealer(&page->desk.session, callback->casino_id, &dealer);
	buffer_init(&text, CURL_MAX);
	if (code == OUTCOME_DONE && found && dealer.url[0])
		append_curl(&text, callback, attempt, &dealer, row.body);
	if (text.len && !text.failed) {
		html_open(&page->html, "details");
		html_open(&page->html, "summary");
		html_printf(&page->html, "Attempt %" PRIu32 " as a curl command", attempt->number);
		html_close(&page->html);
		page_paragraph(page,
			"For the dealer's integrator. The URL is that of the dealer's settings now. Put a "
			"signature of the body in place of SIGNATURE: the console knows no key.");
		page_pre(page, text.data, text.len - 1, "Command");
		html_close(&page->html);
		page_copy(page, (const char *)text.data, "copy as curl command");
	}
	buffer_free(&text);
	buffer_free(&bytes);
	return code;
}

static enum outcome show_attempts(struct page *page, const struct callback *callback)
{
	struct view view = {.fields = attempt_fields, .more = attempt_more};
	const uint64_t rows = page->route->csv ? page->console->csv_rows : PAGE_ROWS;
	uint32_t answered[PAGE_ROWS], count = 0;
	enum outcome code = OUTCOME_DONE;
	struct attempt newest = {.number = 0};
	struct attempt_view row;
	struct list list;
	uint64_t after = 0;
	bool stopped;

	memset(&row, 0, sizeof(row));
	row.attempt.event = callback->event;
	list_open(&list, &page->desk.session, RECORD_ATTEMPT, true, 1, &row.attempt);
	list.page = page->route->csv ? 0 : PAGE_ROWS;
	if (text_unsigned(params_get(&page->query, "after"), UINT32_MAX, &after) && after) {
		row.attempt.number = (uint32_t)after;
		list_behind(&list, &row.attempt);
	}
	view_begin(&view, page, "Attempts, the newest first", attempt_columns);
	while (view.rows < rows && list_next(&list, &row.attempt)) {
		snprintf(row.outcome, sizeof(row.outcome), "%s",
			row.attempt.ended ? callback_class_names[row.attempt.class] : "under way");
		view_row(&view, &row);
		if (!newest.number)
			newest = row.attempt;
		if (row.attempt.ended && row.attempt.class != CALLBACK_SUCCESS && !page->route->csv)
			answered[count++] = row.attempt.number;
	}
	view_end(&view, after ? "There are no older attempts." : "None yet.");
	code = list_end(&list, code);
	/* Attempts are numbered from 1. */
	stopped = view.rows == rows && row.attempt.number > 1;
	walk_csv_end(&view, stopped, row.attempt.number);
	if (page->route->csv)
		return code;
	write_attempt_links(page, callback->event, stopped ? row.attempt.number : 0);
	if (code == OUTCOME_DONE)
		code = show_answers(page, callback->event, answered, count);
	return code == OUTCOME_DONE && newest.number ? show_curl(page, callback, &newest) : code;
}

static bool is_possible(const struct page *page, const struct action *action,
	const struct callback *callback)
{
	return action->states & 1u << callback->state && page->who.role >= action->least &&
		callback->kind != CALLBACK_BETTING;
}

/* Writes the buttons of one form; none if no action is possible. Only the form of CALLBACK_CANCEL has a code. */
static void write_action_form(struct page *page, const struct callback *callback, bool cancels,
	bool again)
{
	struct html *html = &page->html;
	struct page_address act = lead_number(page, "/callbacks", callback->event);
	unsigned int possible = 0;
	bool opened;

	for (size_t i = 0; i < ACTIONS; i++)
		possible += (actions[i].action == CALLBACK_CANCEL) == cancels &&
			is_possible(page, &actions[i], callback);
	if (!possible)
		return;
	snprintf(act.text + act.len, sizeof(act.text) - act.len, "/act");
	opened = form_open(page, &act, cancels, again);
	for (size_t i = 0; i < ACTIONS && opened; i++) {
		if ((actions[i].action == CALLBACK_CANCEL) != cancels ||
			!is_possible(page, &actions[i], callback))
			continue;
		html_open(html, "button");
		html_attribute(html, "name", "action");
		html_attribute(html, "value", callback_action_names[actions[i].action]);
		html_text(html, actions[i].button);
		html_close(html);
	}
	html_close(html);
}

/*
 * Writes the forms. To cancel has a form of its own: Enter in a form sends its first button, and must not send again what
 * is to be cancelled. @failed: why an action was not done; NULL: none failed.
 */
static void write_actions(struct page *page, const struct callback *callback, const char *failed)
{
	/* Retry in a list leads here. */
	html_open(&page->html, "div");
	html_attribute(&page->html, "id", "act");
	form_failed(page, failed);
	write_action_form(page, callback, false, false);
	write_action_form(page, callback, true, failed != NULL);
	html_close(&page->html);
}

static void write_done(struct page *page)
{
	const char *done = params_get(&page->query, "done");

	for (size_t i = 0; i < ACTIONS; i++) {
		if (strcmp(callback_action_names[actions[i].action], done) == 0)
			html_element(&page->html, "p", "done", actions[i].done);
	}
}

static enum outcome show_callback(struct page *page, const struct callback *callback,
	const char *failed)
{
	char id[CALLBACK_EVENT_ID_SIZE];
	struct story story;
	bool found = false;
	enum outcome code = stories_callback(&page->desk.session, callback, false, &story, &found);

	if (code != OUTCOME_DONE)
		return code;
	callback_event_id(callback->kind, callback->event, id);
	places_section(page, "/callbacks");
	page_begin_id(page, "Callback", id);
	write_done(page);
	if (found)
		game_story(page, &story);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Message");
	view_pairs(page, callback_columns, callback_fields, callback);
	code = game_callback_body(page, callback->event);
	write_actions(page, callback, failed);
	html_close(&page->html);
	if (code == OUTCOME_DONE)
		code = show_attempts(page, callback);
	return code == OUTCOME_DONE ? page_end(page) : code;
}

static enum outcome csv_of_attempts(struct page *page, const struct callback *callback)
{
	snprintf(page->file_name, sizeof(page->file_name), "callback-%" PRIu64 "-attempts.csv",
		callback->event);
	return show_attempts(page, callback);
}

/* Shows the callback of the address. @failed: as in write_actions() */
static enum outcome fetch_and_show(struct page *page, const char *failed)
{
	struct callback row;
	struct dealer dealer;
	enum outcome code;
	char what[96];
	bool found;

	memset(&row, 0, sizeof(row));
	row.event = page->number;
	code = list_fetch(&page->desk.session, RECORD_CALLBACK, &row, &found, NULL);
	if (code == OUTCOME_DONE && found)
		code = names_dealer(&page->desk.session, row.casino_id, &dealer);
	if (code != OUTCOME_DONE)
		return code;
	if (found && page->route->csv)
		return csv_of_attempts(page, &row);
	if (found) {
		page_dealer_zone(page, dealer.utc_offset_min);
		return show_callback(page, &row, failed);
	}
	snprintf(what, sizeof(what), "There is no callback %" PRIu64 ".", page->number);
	return page_error(page, 404, what, "Looked at all callbacks of this installation.");
}

enum outcome page_callback(struct page *page)
{
	return fetch_and_show(page, NULL);
}

/* Shows the page again, with the form as it was filled. */
static enum outcome show_again(struct page *page, const void *subject, const char *failed)
{
	(void)subject;
	return fetch_and_show(page, failed);
}

enum outcome page_callback_action(struct page *page)
{
	struct callback_operate_cmd cmd = {.event = page->number};
	struct callback_operate_result result;
	struct form_command command = {
		.command = COMMAND_CALLBACK_OPERATE,
		.cmd = &cmd,
		.result = &result,
		.by = &cmd.operator,
		.show = show_again,
	};
	struct page_address to = lead_number(page, "/callbacks", page->number);
	const char *name = params_get(&page->form, "action");
	enum outcome code;
	size_t at = 0;

	while (at < ACTIONS && strcmp(callback_action_names[actions[at].action], name) != 0)
		at++;
	if (at == ACTIONS)
		return page_error(page, 400, "The form names no action.", "Nothing was done.");
	if (!page_may(page, actions[at].least))
		return OUTCOME_DONE;
	cmd.action = actions[at].action;
	command.has_code = cmd.action == CALLBACK_CANCEL;
	if (!form_send(page, &command, &code))
		return code;
	address_add(&to, "done", name);
	return page_go(page, &to);
}
