#include "console/sections/refused_request.h"

#include "admin/requests/refused.h"
#include "base/text.h"
#include "link/refused_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEX_LINE 16
/* Commands that look for a newer call of the same id. */
#define NEWER_STEPS 8
/* Bytes of the headers as text: each stored part has its bound, and a byte takes 4 at most. */
#define HEADERS_MAX (8 * 1024)
/* Bytes of the lines of REFUSED_HEX_MAX bytes. */
#define HEX_MAX (REFUSED_HEX_MAX / HEX_LINE * 96)

static bool is_shown(uint8_t byte)
{
	return byte >= ' ' && byte < 0x7f;
}

void refused_request_hex(struct buffer *out, struct bytes bytes)
{
	const uint32_t len = bytes.len < REFUSED_HEX_MAX ? bytes.len : REFUSED_HEX_MAX;

	for (uint32_t at = 0; at < len; at += HEX_LINE) {
		const uint32_t end = len - at < HEX_LINE ? len - at : HEX_LINE;

		buffer_printf(out, "%08" PRIx32 " ", at);
		for (uint32_t i = 0; i < HEX_LINE; i++) {
			if (i < end)
				buffer_printf(out, " %02x", bytes.data[at + i]);
			else
				buffer_append_str(out, "   ");
		}
		buffer_append_str(out, "  |");
		for (uint32_t i = 0; i < end; i++)
			buffer_printf(out, "%c",
				is_shown(bytes.data[at + i]) ? bytes.data[at + i] : '.');
		buffer_append_str(out, "|\n");
	}
}

/* Appends what a stranger sent: each byte that is no character of ASCII as \xHH. */
static void append_sent(struct buffer *out, struct bytes bytes)
{
	for (uint32_t i = 0; i < bytes.len; i++)
		buffer_printf(out, is_shown(bytes.data[i]) ? "%c" : "\\x%02x", bytes.data[i]);
}

/* The headers of each mount. */
static const struct {
	const char *caller, *signature;
} header_names[KEYRING_OF_COUNT] = {
	[KEYRING_DEALERS] = {"X-Casino-Id", "X-Casino-Signature"},
	[KEYRING_CLIENTS] = {"X-Client-Id", "X-Client-Signature"},
};

static void append_headers(struct buffer *out, const struct refused_request *request)
{
	buffer_printf(out, "%s %s", request->method, request->path);
	if (request->query.len) {
		buffer_append_str(out, "?");
		append_sent(out, request->query);
	}
	buffer_printf(out, "\nX-Request-Id: %s\n%s: ", request->request_id,
		header_names[request->of].caller);
	append_sent(out, request->caller);
	buffer_printf(out, " (sent %" PRIu32 " time%s)\n", request->caller_count,
		request->caller_count == 1 ? "" : "s");
	buffer_printf(out, "%s: sent %" PRIu32 " time%s; its value is not shown\n",
		header_names[request->of].signature, request->signature_count,
		request->signature_count == 1 ? "" : "s");
	buffer_printf(out, "%" PRIu32 " bytes of the body arrived%s\n", request->body_len,
		request->body_broken ? ", which is not its Content-Length" : "");
}

static void open_details(struct page *page, const char *summary)
{
	html_open(&page->html, "details");
	html_element(&page->html, "summary", "", summary);
}

static void write_body(struct page *page, const struct refused_request *request,
	const struct buffer *hex)
{
	char text[96];

	snprintf(text, sizeof(text), "Body (%" PRIu32 " byte%s)", request->body_len,
		request->body_len == 1 ? "" : "s");
	open_details(page, text);
	if (request->body.len < request->body_len) {
		snprintf(text, sizeof(text), "The first %" PRIu32 " bytes are kept.",
			request->body.len);
		page_paragraph(page, text);
	}
	if (request->body.len) {
		page_pre(page, request->body.data, request->body.len, "Body as text");
		page_pre(page, hex->data, hex->len, "Body in hex");
	}
	if (request->body.len > REFUSED_HEX_MAX) {
		snprintf(text, sizeof(text), "The first %d bytes are shown in hex.",
			REFUSED_HEX_MAX);
		page_paragraph(page, text);
	}
	html_close(&page->html);
}

static void write_request(struct page *page, const struct refused_request *request,
	struct buffer *copied)
{
	struct buffer headers, hex;

	buffer_init(&headers, HEADERS_MAX);
	buffer_init(&hex, HEX_MAX);
	append_headers(&headers, request);
	refused_request_hex(&hex, request->body);
	open_details(page, "Headers");
	page_pre(page, headers.data, headers.len, "Headers");
	html_close(&page->html);
	write_body(page, request, &hex);
	buffer_append_str(copied, "\n");
	buffer_append(copied, headers.data, headers.len);
	buffer_append_str(copied, "\n");
	buffer_append(copied, hex.data, hex.len);
	buffer_free(&headers);
	buffer_free(&hex);
}

/* Finds the newest call with this id, if the ledger's memory has it. Otherwise found->matches is 0. */
static enum outcome find_newest(struct page *page, const char *id,
	struct refused_find_result *found)
{
	struct session *session = &page->desk.session;
	struct refused_find_cmd cmd = {.request_id = ""};
	bool newer = true;
	enum outcome code;

	text_copy(cmd.request_id, sizeof(cmd.request_id), id);
	code = session_do(session, COMMAND_REFUSED_FIND, &cmd, found, NULL);
	if (code != OUTCOME_DONE || !found->matches)
		return code;
	/* The newest one may be another caller's, and only on disk. */
	code = refused_is_newer(session, id, found->request.time_ms, NEWER_STEPS, &newer);
	/* The bytes of the answer were valid only until the next command, so ask again. */
	if (code == OUTCOME_DONE)
		code = session_do(session, COMMAND_REFUSED_FIND, &cmd, found, NULL);
	if (newer)
		found->matches = 0;
	return code;
}

static void write_found(struct page *page, const struct refused_find_result *found,
	struct buffer *copied)
{
	char text[128];

	html_open(&page->html, "p");
	html_text(&page->html, "It was refused at ");
	page_time(page, found->request.time_ms);
	html_text(&page->html, ".");
	html_close(&page->html);
	if (found->matches > 1) {
		snprintf(text, sizeof(text),
			"%" PRIu32 " refused calls have this request id: this is the newest.",
			found->matches);
		page_paragraph(page, text);
	}
	write_request(page, &found->request, copied);
}

enum outcome refused_request_write(struct page *page, const char *request_id, struct buffer *copied)
{
	struct refused_find_result found;
	struct html *html = &page->html;
	const enum outcome code = find_newest(page, request_id, &found);

	if (code != OUTCOME_DONE)
		return code;
	html_open(html, "section");
	html_element(html, "h2", "", "The request");
	if (found.matches) {
		write_found(page, &found, copied);
	} else {
		html_open(html, "p");
		html_text(html,
			"Its headers and its body are not kept. The ledger has those of the newest calls "
			"that were answered 400, 401 or user_not_found, in memory, since ");
		page_time(page, found.since_ms ? found.since_ms : found.started_ms);
		html_text(html, ".");
		html_close(html);
	}
	html_close(html);
	return OUTCOME_DONE;
}
