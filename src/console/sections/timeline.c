#include "console/sections/timeline.h"

#include "admin/ahead.h"
#include "admin/list.h"
#include "admin/names.h"
#include "admin/requests/refused.h"
#include "base/text.h"
#include "console/sections/game.h"
#include "console/common/leads.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the text for the dealer. */
#define COPY_MAX 32768

void timeline_begin(struct timeline *timeline, struct page *page)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->page = page;
}

struct timeline_step *timeline_add(struct timeline *timeline, int64_t time_ms, const char *what,
	const char *format, ...)
{
	struct timeline_step *step = &timeline->steps[timeline->count];
	va_list arguments;

	memset(step, 0, sizeof(*step));
	step->time_ms = time_ms;
	step->place = timeline->count;
	snprintf(step->what, sizeof(step->what), "%s", what);
	va_start(arguments, format);
	vsnprintf(step->text, sizeof(step->text), format, arguments);
	va_end(arguments);
	/* The last place is of those that have no room. */
	if (timeline->count < TIMELINE_STEPS_MAX - 1)
		timeline->count++;
	else
		timeline->left_out = true;
	return step;
}

/* ---- callbacks */

static void add_outcome(struct timeline *timeline, const struct callback *callback,
	const struct attempt *attempt)
{
	static const char *const whats[CALLBACK_CLASS_COUNT] = {
		[CALLBACK_UNKNOWN] = "Outcome not known",
		[CALLBACK_SUCCESS] = "Dealer answered",
		[CALLBACK_REFUSED] = "Dealer refused",
		[CALLBACK_NOT_SENT] = "Not sent",
	};
	int64_t time_ms = attempt->time_ms + attempt->ms;
	struct timeline_step *step;
	char status[24] = "no HTTP status";

	/* The sender measured the duration: it must not seem to end after the callback did. */
	if (callback->ended_ms && time_ms > callback->ended_ms)
		time_ms = callback->ended_ms;
	if (attempt->http_status)
		snprintf(status, sizeof(status), "HTTP %" PRIu32, attempt->http_status);
	step = timeline_add(timeline, time_ms, whats[attempt->class],
		"%s after %" PRIu32 " ms (%s)%s%s%s%s", status, attempt->ms,
		callback_class_names[attempt->class], attempt->dealer_error_id[0] ? ", " : "",
		attempt->dealer_error_id, attempt->note[0] ? ": " : "", attempt->note);
	step->event = callback->event;
	if (attempt->class != CALLBACK_SUCCESS)
		step->attempt = attempt->number;
}

static enum outcome add_attempts(struct timeline *timeline, const struct callback *callback,
	const char *id)
{
	struct attempt attempt = {.event = callback->event};
	struct list list;
	unsigned int shown = 0;

	list_open(&list, &timeline->page->desk.session, RECORD_ATTEMPT, true, 1, &attempt);
	list.page = TIMELINE_ATTEMPTS_MAX;
	for (; shown < TIMELINE_ATTEMPTS_MAX && list_next(&list, &attempt); shown++) {
		timeline_add(timeline, attempt.time_ms, "Sent to the dealer",
			"%s, attempt %" PRIu32, id, attempt.number)
			->event = callback->event;
		if (attempt.ended)
			add_outcome(timeline, callback, &attempt);
	}
	timeline->left_out |= callback->attempts > shown;
	return list_end(&list, OUTCOME_DONE);
}

static void add_end(struct timeline *timeline, const struct callback *callback, const char *id)
{
	struct timeline_step *step;

	if (!callback->ended_ms)
		return;
	step = timeline_add(timeline, callback->ended_ms, "Callback ended", "%s is %s%s%s%s%s", id,
		callback_state_names[callback->state], callback->resolved_by[0] ? " by " : "",
		callback->resolved_by,
		callback->unknown_to_dealer ? ": the dealer does not know the bet" : "",
		callback->known_to_dealer ? ": the dealer had it already" : "");
	step->event = callback->event;
}

enum outcome timeline_callback(struct timeline *timeline, uint64_t event)
{
	struct session *session = &timeline->page->desk.session;
	struct callback callback = {.event = event};
	char id[CALLBACK_EVENT_ID_SIZE];
	struct timeline_step *step;
	enum outcome code;
	bool found;

	if (!event)
		return OUTCOME_DONE;
	code = list_fetch(session, RECORD_CALLBACK, &callback, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		return names_missing(session, "a callback");
	callback_event_id(callback.kind, event, id);
	step = timeline_add(timeline, callback.created_ms, "Callback made", "%s", id);
	step->event = event;
	step->body = true;
	code = add_attempts(timeline, &callback, id);
	add_end(timeline, &callback, id);
	return code;
}

/* ---- refused calls */

enum outcome timeline_refused(struct timeline *timeline, const char *caller, const char *reference)
{
	struct refused_list_cmd filter;
	struct refused_calls calls;
	struct refused_call call;
	unsigned int shown = 0;

	memset(&filter, 0, sizeof(filter));
	if (!text_copy(filter.request_transaction_id, sizeof(filter.request_transaction_id),
		    reference))
		return OUTCOME_DONE;
	refused_open(&calls, &timeline->page->desk.session, &filter);
	/* If a call proved no key, any sender on the network may have sent it. */
	for (unsigned int looked = 0;
		looked < PAGE_ROWS && shown < TIMELINE_REFUSED_MAX && refused_next(&calls, &call);
		looked++) {
		if (!call.proved || strcmp(call.caller, caller) != 0)
			continue;
		timeline_add(timeline, call.time_ms, "Call refused",
			"%s by %s was answered %d %s (request %s)", call.operation, call.caller,
			refusal_info(call.refusal)->code, refusal_info(call.refusal)->id,
			call.request_id);
		shown++;
	}
	return refused_end(&calls, OUTCOME_DONE);
}

/* ---- writing */

static int compare_steps(const void *a, const void *b)
{
	const struct timeline_step *left = a, *right = b;

	if (left->time_ms != right->time_ms)
		return left->time_ms < right->time_ms ? -1 : 1;
	return left->place < right->place ? -1 : left->place > right->place;
}

enum outcome timeline_answer(struct page *page, uint64_t event, uint32_t attempt)
{
	struct answer row = {.event = event, .number = attempt};
	struct html *html = &page->html;
	bool found;
	enum outcome code = list_fetch(&page->desk.session, RECORD_ANSWER, &row, &found, NULL);

	if (code != OUTCOME_DONE || !found)
		return code;
	html_open(html, "details");
	html_open(html, "summary");
	html_printf(html, "Answer to attempt %" PRIu32 " (%" PRIu32 " bytes%s%s)", attempt,
		row.length, row.content_type[0] ? ", " : "", row.content_type);
	html_close(html);
	page_pre(page, row.text, strlen(row.text), NULL);
	html_close(html);
	return OUTCOME_DONE;
}

static enum outcome write_step(struct page *page, const struct timeline_step *step)
{
	struct html *html = &page->html;
	struct page_address to;
	enum outcome code = OUTCOME_DONE;

	html_open(html, "li");
	page_time(page, step->time_ms);
	html_text(html, " ");
	html_element(html, "strong", "", step->what);
	html_text(html, " ");
	if (step->event) {
		to = lead_number(page, "/callbacks", step->event);
		page_link(page, &to, step->text);
	} else {
		html_foreign(html, step->text);
	}
	if (step->body)
		code = game_callback_body(page, step->event);
	if (code == OUTCOME_DONE && step->attempt)
		code = timeline_answer(page, step->event, step->attempt);
	html_close(html);
	return code;
}

/*
 * Makes the text for the dealer: the sentences, and the steps in UTC. The next step is left out: it is
 * a command for our operators.
 */
static void make_text(const struct timeline *timeline, const struct story *story,
	struct buffer *text)
{
	char time[TEXT_TIME_SIZE];

	buffer_printf(text, "%s %s\n", story->happened, story->owes);
	for (unsigned int i = 0; i < timeline->count; i++) {
		text_time(timeline->steps[i].time_ms, time);
		buffer_printf(text, "%s  %s: %s\n", time, timeline->steps[i].what,
			timeline->steps[i].text);
	}
	buffer_append(text, "", 1);
}

/* Writes the text for the dealer: folded, and with the script a button that copies it. */
static void write_text(struct page *page, const char *text)
{
	struct html *html = &page->html;

	html_open(html, "details");
	html_open(html, "summary");
	html_text(html, "As text for the dealer");
	html_close(html);
	page_pre(page, text, strlen(text), NULL);
	html_close(html);
	page_copy(page, text, "copy as text for the dealer");
}

/* Writes the steps. The answers that they show are read with few commands. */
static enum outcome write_steps(const struct timeline *timeline)
{
	struct page *page = timeline->page;
	struct ahead *ahead = ahead_new(&page->desk.session);
	struct answer row;
	enum outcome code;

	if (!ahead)
		return session_no_memory(&page->desk.session);
	memset(&row, 0, sizeof(row));
	for (unsigned int i = 0; i < timeline->count; i++) {
		row.event = timeline->steps[i].event;
		row.number = timeline->steps[i].attempt;
		if (row.number)
			ahead_want(ahead, RECORD_ANSWER, &row);
	}
	code = ahead_read(ahead);
	for (unsigned int i = 0; i < timeline->count && code == OUTCOME_DONE; i++)
		code = write_step(page, &timeline->steps[i]);
	ahead_free(ahead);
	return code;
}

enum outcome timeline_write(struct timeline *timeline, const struct story *story)
{
	struct page *page = timeline->page;
	struct html *html = &page->html;
	enum outcome code;
	struct buffer text;

	qsort(timeline->steps, timeline->count, sizeof(timeline->steps[0]), compare_steps);
	html_open(html, "section");
	html_element(html, "h2", "", "Timeline");
	html_open(html, "ol");
	html_attribute(html, "class", "timeline");
	code = write_steps(timeline);
	html_close(html);
	if (timeline->left_out)
		page_paragraph(page,
			"Not all attempts are here: the pages of the callbacks have them.");
	buffer_init(&text, COPY_MAX);
	make_text(timeline, story, &text);
	if (text.failed)
		page_paragraph(page, "The text for the dealer is too long to be made.");
	else
		write_text(page, (const char *)text.data);
	buffer_free(&text);
	html_close(html);
	return code;
}
