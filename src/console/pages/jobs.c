/* pages/jobs - why a call was refused, whether a dealer answers, and a dealer's day as a file. */
#include "base/text.h"
#include "console/common/job.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/sections/dealers.h"
#include "console/sections/refused_request.h"

#include <stdio.h>
#include <string.h>

/* Bytes of an answer that is shown as text, or of an explanation with the request that it explains. */
#define TEXT_MAX (320 * 1024)

/* Writes what a command wrote, with a button that copies it. */
static void write_text(struct page *page, struct buffer *text, const char *button)
{
	struct html *html = &page->html;

	html_open(html, "section");
	page_pre(page, text->data, text->len, NULL);
	/* Without the script the button does nothing, so the script shows it. */
	if (buffer_append(text, "", 1)) {
		html_open(html, "p");
		page_copy(page, (const char *)text->data, button);
		html_close(html);
	}
	html_close(html);
}

/* Writes the explanation, then the headers and the body, and a button that copies all of it. */
static enum outcome write_explanation(struct page *page, const char *id, struct buffer *text)
{
	struct page_address list = page_address(page, "/refused");
	struct html *html = &page->html;
	enum outcome code;

	places_section(page, "/refused");
	page_begin_id(page, "Why was this call refused?", id);
	html_open(html, "section");
	page_pre(page, text->data, text->len, NULL);
	html_close(html);
	code = refused_request_write(page, id, text);
	if (code != OUTCOME_DONE)
		return code;
	if (buffer_append(text, "", 1)) {
		html_open(html, "p");
		page_copy(page, (const char *)text->data, "copy for the integrator");
		html_close(html);
	}
	page_link(page, &list, "Refused calls");
	return page_end(page);
}

enum outcome page_explain(struct page *page)
{
	struct job_request request = {.job = JOB_EXPLAIN};
	const char *id = params_get(&page->query, "request");
	enum outcome code = OUTCOME_DONE;
	struct buffer text;
	struct job_end end;

	if (!text_is_name(id, sizeof(request.request) - 1) || id[0] == '-')
		return page_error(page, 400, "This is no request id that can be explained.",
			"A request id has 1 to 64 of A-Z a-z 0-9 . _ - and does not begin with a minus. It "
			"stands in the list of the refused calls and in the header X-Request-Id.");
	text_copy(request.request, sizeof(request.request), id);
	buffer_init(&text, TEXT_MAX);
	if (job_collect(page, &request, &text, &end)) {
		if (end.exit_code != 0)
			job_failed(page, &end);
		else
			code = write_explanation(page, id, &text);
	}
	buffer_free(&text);
	return code;
}

/* Reads the dealer of the form. Returns false after an error page. */
static bool read_dealer(struct page *page, struct job_request *request)
{
	const char *id = params_get(&page->form, "id");

	if (text_is_name(id, sizeof(request->casino_id) - 1) && id[0] != '-' &&
		text_copy(request->casino_id, sizeof(request->casino_id), id))
		return true;
	dealers_none(page);
	return false;
}

enum outcome page_ping(struct page *page)
{
	struct job_request request = {.job = JOB_PING};
	struct page_address back;
	struct buffer text;
	struct job_end end;

	if (!read_dealer(page, &request))
		return OUTCOME_DONE;
	buffer_init(&text, TEXT_MAX);
	if (job_collect(page, &request, &text, &end)) {
		if (!text.len) {
			job_failed(page, &end);
		} else {
			back = lead_dealer(page, request.casino_id);
			places_dealer(page, request.casino_id);
			page_begin_id(page, "Ping of dealer", request.casino_id);
			if (end.exit_code)
				page_error_line(page, end.detail);
			else
				html_element(&page->html, "p", "done",
					"The dealer answered as it must.");
			write_text(page, &text, "copy for the integrator");
			page_link(page, &back, "Back to the dealer");
			page_end(page);
		}
	}
	buffer_free(&text);
	return OUTCOME_DONE;
}

enum outcome page_recon(struct page *page)
{
	struct job_request request = {.job = JOB_RECON};
	const char *date = params_get(&page->form, "date");
	char name[128];

	if (!read_dealer(page, &request))
		return OUTCOME_DONE;
	if (!job_date_is(date))
		return page_error(page, 400, "This is no day.",
			"A day is YYYY-MM-DD, such as 2026-11-26.");
	text_copy(request.date, sizeof(request.date), date);
	snprintf(name, sizeof(name), "recon-%s-%s.csv", request.casino_id, request.date);
	return job_download(page, &request, name);
}
