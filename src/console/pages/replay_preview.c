/* pages/replay_preview - what a replay would send, and its start. */
#include "admin/ahead.h"
#include "admin/list.h"
#include "admin/callbacks/replays.h"
#include "base/pack.h"
#include "base/text.h"
#include "console/common/form.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "domain/money.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Commands that one page sends to count: enough for REPLAY_CALLBACKS_MAX, if few others are among them. With more
 * callbacks than that, the oldest are left out.
 */
#define PREVIEW_COMMANDS 32
_Static_assert(PREVIEW_COMMANDS *REPLAY_LOOK_MAX >= REPLAY_CALLBACKS_MAX,
	"one page previews the largest replay");
#define SELECTION_MAX 2048

/*
 * What was previewed. The form carries it in hex, so that what is sent is what was shown; the ledger checks
 * it.
 */
static const struct field selection_fields[] = {
	FIELD_SUB(replay_start_cmd, filter, replay_filter, replay_filter_fields),
	FIELD(FIELD_BYTES, replay_start_cmd, events),
	FIELD(FIELD_U64, replay_start_cmd, expected),
	FIELD(FIELD_U64, replay_start_cmd, parked_later),
	FIELD_END,
};

static bool write_selection(struct page *page, const struct replay_start_cmd *cmd)
{
	static const char hex[] = "0123456789abcdef";
	char text[2 * SELECTION_MAX + 1];
	struct buffer packed;
	bool made;

	buffer_init(&packed, SELECTION_MAX);
	made = pack_record(&packed, selection_fields, cmd);
	for (size_t i = 0; made && i < packed.len; i++) {
		text[2 * i] = hex[packed.data[i] >> 4];
		text[2 * i + 1] = hex[packed.data[i] & 15];
	}
	text[made ? 2 * packed.len : 0] = '\0';
	buffer_free(&packed);
	page_hidden(page, "selection", text);
	return made;
}

/* Reads the selection into @cmd, whose events point into @store. */
static bool read_selection(const struct page *page, struct replay_start_cmd *cmd,
	uint8_t store[SELECTION_MAX])
{
	static const char hex[] = "0123456789abcdef";
	const char *text = params_get(&page->form, "selection");
	const size_t len = strlen(text);
	struct bytes in = {store, (uint32_t)(len / 2)};

	if (!len || len % 2 || len / 2 > SELECTION_MAX || strspn(text, hex) != len)
		return false;
	for (size_t i = 0; i < len / 2; i++)
		store[i] = (uint8_t)((strchr(hex, text[2 * i]) - hex) << 4 |
			(strchr(hex, text[2 * i + 1]) - hex));
	return unpack_record(&in, selection_fields, cmd) && !in.len;
}

/* Writes the form that starts the replay. @failed: why it was not started; NULL: it was not tried. */
static void write_form(struct page *page, const struct replay_start_cmd *cmd, const char *failed)
{
	const struct page_address action = page_address(page, "/replays/start");
	char text[64], count[VIEW_COUNT_SIZE];

	form_failed(page, failed);
	if (form_open(page, &action, true, failed != NULL) && write_selection(page, cmd)) {
		snprintf(text, sizeof(text), "Send these %s again",
			view_count(cmd->expected, count));
		page_button(page, text);
	}
	html_close(&page->html);
}

/* ---- the preview */

static const struct view_column first_columns[] = {
	{"Made", "created_ms", VIEW_PLAIN, NULL},
	{"Event", "event", VIEW_PLAIN, lead_to_callback},
	{"Kind", "kind", VIEW_PLAIN, NULL},
	{"Game", "game_id", VIEW_PLAIN, NULL},
	{"Tries", "attempts", VIEW_PLAIN, NULL},
	{"Last", "last_class", VIEW_STATE, NULL},
	{"HTTP", "last_http_status", VIEW_IF_ANY, NULL},
	VIEW_END,
};

static enum outcome write_first(struct page *page, const struct replay_preview *preview)
{
	struct view view = {.fields = callback_fields};
	struct ahead *ahead = ahead_new(&page->desk.session);
	struct callback row;
	enum outcome code;
	bool found;

	if (!ahead)
		return session_no_memory(&page->desk.session);
	for (unsigned int i = 0; i < preview->first_count; i++) {
		memset(&row, 0, sizeof(row));
		row.event = preview->first[i];
		ahead_want(ahead, RECORD_CALLBACK, &row);
	}
	code = ahead_read(ahead);
	view_begin(&view, page, "The newest of them", first_columns);
	for (unsigned int i = 0; i < preview->first_count && code == OUTCOME_DONE; i++) {
		memset(&row, 0, sizeof(row));
		row.event = preview->first[i];
		code = list_fetch(&page->desk.session, RECORD_CALLBACK, &row, &found, NULL);
		if (code == OUTCOME_DONE && found)
			view_row(&view, &row);
	}
	view_end(&view, "None.");
	ahead_free(ahead);
	return code;
}

static void write_sums(struct page *page, const struct replay_preview *preview)
{
	struct html *html = &page->html;
	char digits[SUM_TEXT_MAX], amount[VIEW_TEXT_MAX], count[VIEW_COUNT_SIZE];

	html_open(html, "ul");
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		if (!preview->sums[i].count)
			continue;
		sum_format(preview->sums[i].amount, 2, digits);
		view_group_digits(digits, amount);
		html_open(html, "li");
		html_printf(html, "%s of %s, together %s",
			view_count(preview->sums[i].count, count), callback_kind_names[i], amount);
		html_close(html);
	}
	html_close(html);
}

/* Writes a time and how long ago it was. */
static void write_age(struct page *page, int64_t time_ms)
{
	char age[TEXT_DURATION_SIZE];

	/* The clock may have been set back. */
	text_duration(page->now_ms > time_ms ? (uint64_t)(page->now_ms - time_ms) : 0, age);
	page_time(page, time_ms);
	html_printf(&page->html, " (%s ago)", age);
}

/* Writes how old the callbacks are, and how long the replay takes at the ledger's rate. */
static void write_times(struct page *page, const struct replay_preview *preview)
{
	struct html *html = &page->html;
	const uint64_t s = preview->rate ? (preview->count + preview->rate - 1) / preview->rate : 0;
	char duration[TEXT_DURATION_SIZE];

	if (!preview->count)
		return;
	html_open(html, "p");
	html_text(html, "The oldest was made at ");
	write_age(page, preview->oldest_ms);
	html_text(html, ", the newest at ");
	write_age(page, preview->newest_ms);
	html_text(html, ". ");
	if (preview->rate) {
		text_duration(s * 1000, duration);
		html_printf(html,
			"The ledger sends at most %" PRIu32
			" a second of one dealer, so the replay takes at least %s. It takes longer if "
			"the dealer answers slowly, and it waits for an earlier replay of the dealer.",
			preview->rate, duration);
	}
	html_close(html);
}

static void write_not_sent(struct html *html, uint64_t number, const char *why)
{
	char count[VIEW_COUNT_SIZE];

	if (!number)
		return;
	html_open(html, "li");
	html_printf(html, "%s are not sent: %s", view_count(number, count), why);
	html_close(html);
}

/* Writes what is not sent or waits, and why. */
static void write_left_out(struct page *page, const struct replay_preview *preview)
{
	struct html *html = &page->html;

	html_open(html, "ul");
	write_not_sent(html, preview->held, "they are held until they are released.");
	write_not_sent(html, preview->adjusted, "an adjustment was made in their place.");
	write_not_sent(html, preview->parked_later,
		"they were parked while the clock was ahead. Each can be sent by itself.");
	if (preview->more) {
		html_open(html, "li");
		html_text(html, "Callbacks made before ");
		page_time(page, preview->looked_to_ms);
		html_text(html,
			" were not looked at and are not sent. A second replay can send them.");
		html_close(html);
	}
	if (!preview->has_url)
		html_element(html, "li", "", "The dealer has no URL: they wait until it has one.");
	if (preview->dealer_is_held)
		html_element(html, "li", "",
			page_remedy(page,
				"The dealer is held: they wait for `creditbridgectl release`."));
	html_open(html, "li");
	html_printf(html, "The breaker of the dealer is %s.", breaker_names[preview->breaker]);
	html_close(html);
	html_element(html, "li", "",
		"Each gets one attempt more. A dealer that took one before must not take it twice.");
	html_close(html);
}

/* Reads the marks of the query in rising order. Returns false if one is no event. */
static bool read_marks(const struct page *page, struct buffer *events)
{
	uint64_t marks[PARAMS_MAX], event;
	unsigned int count = 0;

	for (unsigned int i = 0; i < page->query.count; i++) {
		unsigned int at = count;

		if (strcmp(page->query.list[i].name, "mark") != 0)
			continue;
		if (!text_unsigned(page->query.list[i].value, TRANSACTION_ID_MAX, &event) || !event)
			return false;
		for (; at && marks[at - 1] > event; at--)
			marks[at] = marks[at - 1];
		marks[at] = event;
		count++;
	}
	for (unsigned int i = 0; i < count; i++) {
		if (!i || marks[i] != marks[i - 1])
			replay_event_add(events, marks[i]);
	}
	return !events->failed;
}

static enum outcome show_preview(struct page *page, struct replay_preview *preview)
{
	struct replay_start_cmd cmd = {.expected = 0};
	struct html *html = &page->html;
	char text[128], count[VIEW_COUNT_SIZE];
	enum outcome code = replays_preview(&page->desk.session, preview, PREVIEW_COMMANDS);

	if (code != OUTCOME_DONE)
		return code;
	cmd.filter = preview->filter;
	cmd.events = preview->events;
	cmd.expected = preview->count;
	cmd.parked_later = preview->parked_later;
	places_section(page, "/replays");
	page_begin_id(page, "Preview of a replay:", preview->filter.casino_id);
	snprintf(text, sizeof(text), "Callbacks that are sent again: %s, up to event %" PRIu64 ".",
		view_count(preview->count, count), preview->filter.last_event);
	html_open(html, "section");
	page_paragraph(page, preview->count ? text : "No parked callback with this filter.");
	write_sums(page, preview);
	write_times(page, preview);
	write_left_out(page, preview);
	html_close(html);
	if (preview->count) {
		write_form(page, &cmd, NULL);
		code = write_first(page, preview);
	}
	return code == OUTCOME_DONE ? page_end(page) : code;
}

enum outcome page_replay_preview(struct page *page)
{
	const unsigned int kind =
		walk_choice(page, "kind", callback_kind_names, CALLBACK_KIND_COUNT);
	const bool marked = strcmp(params_get(&page->query, "which"), "marked") == 0;
	struct replay_preview preview;
	struct buffer events;
	struct filter filter;
	enum outcome code = walk_filter(page, &filter);

	if (code != OUTCOME_DONE)
		return code;
	if (!filter.casino_id[0])
		return page_error(page, 400, "A replay is of one dealer.",
			"Go back, and choose the dealer in the filter.");
	memset(&preview, 0, sizeof(preview));
	replays_filter(&filter, kind < CALLBACK_KIND_COUNT ? 1u << kind : 0, &preview.filter);
	buffer_init(&events, REPLAY_MARKED_MAX * REPLAY_EVENT_BYTES);
	if (marked && (!read_marks(page, &events) || !events.len)) {
		code = page_error(page, 400, "No callback is marked.",
			"Go back, and mark at least one row.");
	} else {
		preview.events = (struct bytes){events.data, (uint32_t)events.len};
		code = show_preview(page, &preview);
	}
	buffer_free(&events);
	return code;
}

/* ---- the start */

/* Shows the form again, with what failed. */
static enum outcome show_again(struct page *page, const void *subject, const char *failed)
{
	const struct replay_start_cmd *cmd = subject;

	places_section(page, "/replays");
	page_begin_id(page, "Replay:", cmd->filter.casino_id);
	write_form(page, cmd, failed);
	return page_end(page);
}

enum outcome page_replay_start(struct page *page)
{
	struct replay_start_cmd cmd = {.expected = 0};
	struct replay_start_result result;
	const struct form_command command = {.command = COMMAND_REPLAY_START,
		.has_code = true,
		.cmd = &cmd,
		.result = &result,
		.by = &cmd.operator,
		.show = show_again,
		.subject = &cmd};
	uint8_t store[SELECTION_MAX];
	struct page_address to;
	enum outcome code;

	if (!read_selection(page, &cmd, store))
		return page_error(page, 400, "The form is not complete.", "Nothing was done.");
	if (!form_send(page, &command, &code)) {
		if (code == OUTCOME_DONE || !page->desk.session.failure.id ||
			!page->desk.session.failure.id[0])
			return code;
		return page_error(page,
			code == OUTCOME_UNREACHABLE || code == OUTCOME_BUSY ? 503 : 409,
			page->desk.session.failure.detail,
			"If it was sent all the same, it is in the list of replays.");
	}
	to = lead_number(page, "/replays", result.id);
	return page_go(page, &to);
}
