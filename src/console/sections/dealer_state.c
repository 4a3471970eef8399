#include "console/sections/dealer_state.h"

#include "admin/breaker.h"
#include "console/common/leads.h"
#include "console/common/view.h"

#include <inttypes.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)

static const struct view_column opening_columns[] = {
	{"Opened", "opened_ms", VIEW_PLAIN, NULL},
	{"Closed", "closed_ms", VIEW_PLAIN, NULL},
	{"Failed test calls", "tests", VIEW_COUNT, NULL},
	VIEW_END,
};

/* The attempts of one kind, by their class. */
struct attempts_row {
	enum callback_kind kind;
	uint64_t success, refused, unknown, not_sent;
};

static const struct field attempts_fields[] = {
	FIELD_NAMED(attempts_row, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_U64, attempts_row, success),
	FIELD(FIELD_U64, attempts_row, refused),
	FIELD(FIELD_U64, attempts_row, unknown),
	FIELD(FIELD_U64, attempts_row, not_sent),
	FIELD_END,
};

static const struct view_column attempts_columns[] = {
	{"Kind", "kind", VIEW_PLAIN, NULL},
	{"Success", "success", VIEW_COUNT, NULL},
	{"Refused", "refused", VIEW_COUNT, NULL},
	{"Unknown", "unknown", VIEW_COUNT, NULL},
	{"Not sent", "not_sent", VIEW_COUNT, NULL},
	VIEW_END,
};

/* Writes the state, since when, and when the next call may be sent. */
static void write_breaker(struct page *page, const struct dealer_state_result *state)
{
	const struct breaker_opening *last = &state->openings[0];
	const bool closed = state->dealer.breaker == BREAKER_CLOSED;
	struct html *html = &page->html;

	html_open(html, "p");
	html_open(html, "span");
	html_attribute(html, "class", "state");
	html_attribute(html, "data-state", breaker_names[state->dealer.breaker]);
	html_text(html, breaker_names[state->dealer.breaker]);
	html_close(html);
	if (state->opened) {
		html_text(html, closed ? " since " : ": it opened at ");
		page_time(page, closed ? last->closed_ms : last->opened_ms);
	}
	if (state->dealer.breaker == BREAKER_OPEN) {
		html_text(html, ". Nothing is sent before the test call, which is admitted at ");
		page_time(page, state->next_ms);
	} else if (state->dealer.breaker == BREAKER_HALF_OPEN) {
		html_text(html,
			". One test call is admitted: it closes the breaker or opens it again");
	}
	html_text(html, ".");
	html_close(html);
}

/* Writes how often the breaker opened. */
static void write_openings(struct page *page, const struct dealer_state_result *state)
{
	struct view view = {.fields = breaker_opening_fields};
	struct html *html = &page->html;
	bool more;
	const unsigned int today = breaker_openings_since(state, page->now_ms - DAY_MS, &more);

	html_open(html, "p");
	html_attribute(html, "class", "note");
	if (state->opened)
		html_printf(html, "Opened %s%u time%s in 24 hours, %" PRIu32 " since ",
			more ? "at least " : "", today, today == 1 ? "" : "s", state->opened);
	else
		html_text(html, "It has not opened since ");
	page_time(page, state->started_ms);
	html_text(html, ", when the ledger's engine was started.");
	html_close(html);
	if (!state->opened)
		return;
	view_begin(&view, page, "Openings, the newest first", opening_columns);
	for (unsigned int i = 0; i < BREAKER_OPENINGS && state->openings[i].opened_ms; i++)
		view_row(&view, &state->openings[i]);
	view_end(&view, "None.");
}

/* Writes the last call that counted against the dealer, with what the sender noted. */
static enum outcome write_last_error(struct page *page, const struct dealer_state_result *state)
{
	struct page_address to = lead_number(page, "/callbacks", state->bad_event);
	struct html *html = &page->html;
	struct attempt attempt;
	bool found;
	enum outcome code;

	if (!state->bad_ms)
		return OUTCOME_DONE;
	code = breaker_last_error(&page->desk.session, state, &attempt, &found);
	if (code != OUTCOME_DONE)
		return code;
	html_open(html, "p");
	html_text(html, "Last error: ");
	page_time(page, state->bad_ms);
	html_printf(html, ", %s", callback_class_names[state->bad_class]);
	if (found && attempt.http_status)
		html_printf(html, ", HTTP status %" PRIu32, attempt.http_status);
	if (found && attempt.note[0]) {
		html_text(html, ", ");
		html_foreign(html, attempt.note);
	}
	html_text(html, ". ");
	if (found)
		page_link(page, &to, "Its callback");
	else
		html_text(html, "It was an inquiry of a balance, or its attempt is not kept.");
	html_close(html);
	return OUTCOME_DONE;
}

static void write_attempts(struct page *page, const struct dealer_metrics *dealer)
{
	struct view view = {.fields = attempts_fields};
	struct dealer_metrics figures = *dealer;

	html_element(&page->html, "h2", "", "Attempts");
	view_begin(&view, page, "Ended attempts since creditbridge-ledger was started",
		attempts_columns);
	for (unsigned int kind = 0; kind < CALLBACK_KIND_COUNT; kind++) {
		const struct attempts_row row = {
			.kind = kind,
			.success = *dealer_attempts(&figures, kind, CALLBACK_SUCCESS),
			.refused = *dealer_attempts(&figures, kind, CALLBACK_REFUSED),
			.unknown = *dealer_attempts(&figures, kind, CALLBACK_UNKNOWN),
			.not_sent = *dealer_attempts(&figures, kind, CALLBACK_NOT_SENT),
		};

		if (row.success || row.refused || row.unknown || row.not_sent)
			view_row(&view, &row);
	}
	view_end(&view, "None.");
}

enum outcome dealer_state_write(struct page *page, const struct dealer_state_result *state)
{
	struct html *html = &page->html;
	enum outcome code;

	if (!state->dealer.called && !state->opened)
		return OUTCOME_DONE;
	html_open(html, "section");
	html_element(html, "h2", "", "Breaker");
	write_breaker(page, state);
	code = write_last_error(page, state);
	if (code != OUTCOME_DONE)
		return code;
	write_openings(page, state);
	html_close(html);
	html_open(html, "section");
	write_attempts(page, &state->dealer);
	html_close(html);
	return OUTCOME_DONE;
}
