/* parts - the parts of a page: forms, ids, times. */
#include "admin/cell_text.h"
#include "base/text.h"
#include "console/common/page.h"
#include "console/common/route.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void page_form(struct page *page, const struct page_address *action)
{
	struct html *html = &page->html;

	html_open(html, "form");
	html_attribute(html, "method", "post");
	html_exact(html, "action", action->text);
	if (!page->token[0])
		return;
	page_hidden(page, "token", page->token);
}

void page_hidden(struct page *page, const char *name, const char *value)
{
	struct html *html = &page->html;

	html_open(html, "input");
	html_attribute(html, "type", "hidden");
	html_exact(html, "name", name);
	html_exact(html, "value", value);
	html_close(html);
}

void page_input(struct page *page, const char *label, const char *name, const char *value)
{
	struct html *html = &page->html;

	html_open(html, "label");
	html_text(html, label);
	html_text(html, " ");
	html_open(html, "input");
	html_attribute(html, "name", name);
	html_attribute(html, "maxlength", "256");
	html_exact(html, "value", value);
	html_close(html);
	html_close(html);
}

void page_filter(struct page *page, const struct page_filter_input *inputs, size_t count)
{
	const struct page_address address = page_address(page, page->route->path);
	struct html *html = &page->html;

	html_open(html, "form");
	html_attribute(html, "method", "get");
	html_attribute(html, "class", "filter");
	html_exact(html, "action", address.text);
	for (size_t i = 0; i < count; i++)
		page_input(page, inputs[i].label, inputs[i].name,
			params_get(&page->query, inputs[i].name));
}

void page_select(struct page *page, const char *label, const char *name, const char *const *names,
	unsigned int count, const char *value)
{
	struct html *html = &page->html;

	html_open(html, "label");
	html_text(html, label);
	html_text(html, " ");
	html_open(html, "select");
	html_attribute(html, "name", name);
	html_open(html, "option");
	html_attribute(html, "value", "");
	html_text(html, "any");
	html_close(html);
	for (unsigned int i = 0; i < count; i++) {
		html_open(html, "option");
		html_attribute(html, "value", names[i]);
		if (strcmp(names[i], value) == 0)
			html_flag(html, "selected");
		html_text(html, names[i]);
		html_close(html);
	}
	html_close(html);
	html_close(html);
}

void page_button(struct page *page, const char *text)
{
	html_open(&page->html, "button");
	html_text(&page->html, text);
	html_close(&page->html);
}

void page_button_again(struct page *page, const char *text)
{
	html_open(&page->html, "button");
	html_attribute(&page->html, "data-again", "yes");
	html_text(&page->html, text);
	html_close(&page->html);
}

void page_pager(struct page *page, const struct page_address *list, const char *after,
	const struct page_address *csv)
{
	struct html *html = &page->html;
	struct page_address next;

	html_open(html, "p");
	html_attribute(html, "class", "pager");
	if (after[0]) {
		next = *list;
		address_add(&next, "after", after);
		html_open(html, "a");
		html_attribute(html, "rel", "next");
		html_exact(html, "href", next.text);
		html_text(html, "Further rows");
		html_close(html);
		html_text(html, " ");
	}
	page_link(page, csv, "CSV");
	html_close(html);
}

void page_pager_number(struct page *page, const struct page_address *list, uint64_t after,
	const struct page_address *csv)
{
	char text[24] = "";

	if (after)
		snprintf(text, sizeof(text), "%" PRIu64, after);
	page_pager(page, list, text, csv);
}

void page_id(struct page *page, const char *id)
{
	struct html *html = &page->html;

	html_open(html, "span");
	html_attribute(html, "class", "id");
	html_foreign(html, id);
	html_close(html);
	html_text(html, " ");
	page_copy(page, id, "copy");
}

void page_copy(struct page *page, const char *copied, const char *text)
{
	struct html *html = &page->html;

	html_open(html, "button");
	html_attribute(html, "type", "button");
	html_attribute(html, "class", "copy");
	html_exact(html, "data-copy", copied);
	html_flag(html, "hidden");
	html_text(html, text);
	html_close(html);
}

void page_paragraph(struct page *page, const char *text)
{
	html_element(&page->html, "p", "", page_remedy(page, text));
}

void page_error_line(struct page *page, const char *text)
{
	html_element(&page->html, "p", "error", page_remedy(page, text));
}

const char *page_remedy(struct page *page, const char *text)
{
	if (!page->console->remedy_cell[0])
		return text;
	cell_text_write(page->console->remedy_cell, text, page->remedy, sizeof(page->remedy));
	return page->remedy;
}

void page_pre(struct page *page, const void *text, size_t len, const char *label)
{
	struct html *html = &page->html;

	html_open(html, "pre");
	/* The keyboard scrolls only what has the focus. */
	html_attribute(html, "tabindex", "0");
	if (label)
		html_attribute(html, "aria-label", label);
	html_lines(html, text, len);
	html_close(html);
}

void page_time(struct page *page, int64_t time_ms)
{
	char shown[TEXT_TIME_SIZE], exact[TEXT_TIME_SIZE];

	if (!time_ms) {
		html_text(&page->html, "-");
		return;
	}
	text_time(time_ms, exact);
	zone_time_short(&page->zone, time_ms, shown);
	html_open(&page->html, "time");
	html_attribute(&page->html, "datetime", exact);
	html_text(&page->html, shown);
	html_close(&page->html);
}

bool page_read_offset(const char *text, struct zone *zone)
{
	int32_t minutes;

	if (strlen(text) != sizeof("+00:00") - 1 || text[3] != ':' ||
		!zone_read_offset(text, &minutes) || minutes > 14 * 60 || minutes < -14 * 60)
		return false;
	*zone = zone_offset(minutes);
	return true;
}

void page_dealer_zone(struct page *page, int32_t utc_offset_min)
{
	if (page->choice == CHOICE_DEALER)
		page->zone = zone_offset(utc_offset_min);
}
