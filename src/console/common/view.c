#include "console/common/view.h"

#include "base/text.h"
#include "console/common/route.h"
#include "domain/money.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct field *find_member(const struct field *fields, const struct field *more,
	const char *member)
{
	const struct field *field = more ? field_find(more, member) : NULL;

	return field ? field : field_find(fields, member);
}

const char *view_source_text(const struct view_source *source, const char *member)
{
	const struct field *field = find_member(source->fields, source->more, member);

	return field && field->type == FIELD_STR ? (const char *)source->row + field->offset : "";
}

uint64_t view_source_number(const struct view_source *source, const char *member)
{
	const struct field *field = find_member(source->fields, source->more, member);

	return field ? field_load_number((const uint8_t *)source->row + field->offset, field->size)
		     : 0;
}

void view_group_digits(const char *digits, char text[VIEW_TEXT_MAX])
{
	size_t whole = strcspn(digits, "."), sign = digits[0] == '-', out = 0;

	for (size_t i = 0; digits[i]; i++) {
		if (i > sign && i < whole && (whole - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = digits[i];
	}
	text[out] = '\0';
}

const char *view_count(uint64_t number, char text[VIEW_COUNT_SIZE])
{
	char digits[VIEW_COUNT_SIZE], grouped[VIEW_TEXT_MAX];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	view_group_digits(digits, grouped);
	text_copy(text, VIEW_COUNT_SIZE, grouped);
	return text;
}

static void write_money(const struct field *field, const void *member, bool csv,
	char text[VIEW_TEXT_MAX])
{
	char digits[SUM_TEXT_MAX];
	sum_t sum;

	if (field->type == FIELD_SUM)
		memcpy(&sum, member, sizeof(sum));
	if (field->type == FIELD_SUM)
		sum_format(sum, 2, digits);
	else
		money_format((money_t)field_load_number(member, field->size), 2, digits);
	if (csv)
		snprintf(text, VIEW_TEXT_MAX, "%s", digits);
	else
		view_group_digits(digits, text);
}

static bool is_money(const struct field *field)
{
	return field->type == FIELD_MONEY || field->type == FIELD_SUM;
}

void view_value(const struct page *page, const struct field *field, const void *row, bool csv,
	char text[VIEW_TEXT_MAX])
{
	const void *member = (const uint8_t *)row + field->offset;
	char time[TEXT_TIME_SIZE];
	uint64_t number;

	text[0] = '\0';
	if (field->type == FIELD_STR) {
		snprintf(text, VIEW_TEXT_MAX, "%s", (const char *)member);
		return;
	}
	if (is_money(field)) {
		write_money(field, member, csv, text);
		return;
	}
	switch (field->type) {
	case FIELD_BOOL:
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_I32:
	case FIELD_U64:
	case FIELD_ENUM:
	case FIELD_TIME_MS:
		break;
	default: /* secrets, bytes and groups are never shown */
		return;
	}
	number = field_load_number(member, field->size);
	if (field->type == FIELD_BOOL)
		snprintf(text, VIEW_TEXT_MAX, "%s", number ? "yes" : "no");
	else if (field->type == FIELD_ENUM)
		snprintf(text, VIEW_TEXT_MAX, "%s",
			number < field->count ? field->names[number] : "?");
	else if (field->type == FIELD_I32)
		snprintf(text, VIEW_TEXT_MAX, "%" PRId32, (int32_t)(uint32_t)number);
	else if (field->type != FIELD_TIME_MS)
		snprintf(text, VIEW_TEXT_MAX, "%" PRIu64, number);
	else if (csv && number)
		text_time((int64_t)number, text);
	else if (number) {
		zone_time_short(&page->zone, (int64_t)number, time);
		snprintf(text, VIEW_TEXT_MAX, "%s", time);
	}
}

/* Returns true if the member has the value 0, false or "". */
static bool is_nothing(const struct field *field, const void *row)
{
	static const uint8_t zeros[64];
	const uint8_t *member = (const uint8_t *)row + field->offset;

	return field->type == FIELD_STR
		? !member[0]
		: memcmp(member, zeros,
			  field->size < sizeof(zeros) ? field->size : sizeof(zeros)) == 0;
}

void view_csv_field(struct buffer *out, const char *text, bool is_number)
{
	buffer_append_str(out, "\"");
	if (!is_number && text[0] && strchr("=+-@\t\r", text[0]))
		buffer_append_str(out, "'");
	for (; *text; text++) {
		if (*text == '"')
			buffer_append_str(out, "\"");
		buffer_append(out, text, 1);
	}
	buffer_append_str(out, "\"");
}

static bool is_number(const struct field *field)
{
	/* A number that leads to a page is an id; it is not aligned as an amount. */
	return is_money(field) || (field->type >= FIELD_U8 && field->type <= FIELD_I32);
}

static void begin_csv(const struct view *view)
{
	const struct view_column *columns = view->columns;

	view->page->content_type = "text/csv; charset=utf-8; header=present";
	for (unsigned int i = 0; columns[i].member; i++) {
		buffer_append_str(&view->page->body, i ? "," : "");
		view_csv_field(&view->page->body, columns[i].member, false);
	}
	buffer_append_str(&view->page->body, "\r\n");
}

static void begin_table(const struct view *view, const char *caption)
{
	struct html *html = &view->page->html;
	const struct view_column *columns = view->columns;

	html_open(html, "div");
	html_attribute(html, "class", "wide");
	html_open(html, "table");
	html_element(html, "caption", "", caption);
	html_open(html, "thead");
	html_open(html, "tr");
	for (unsigned int i = 0; columns[i].member; i++) {
		const struct field *field =
			find_member(view->fields, view->more, columns[i].member);

		html_open(html, "th");
		html_attribute(html, "scope", "col");
		if (field && is_number(field))
			html_attribute(html, "class", "number");
		html_text(html, columns[i].heading);
		html_close(html);
	}
	html_close(html);
	html_close(html);
	html_open(html, "tbody");
}

void view_begin(struct view *view, struct page *page, const char *caption,
	const struct view_column *columns)
{
	view->page = page;
	view->columns = columns;
	view->rows = 0;
	if (page->route->csv)
		begin_csv(view);
	else
		begin_table(view, caption);
}

static void write_state(struct html *html, const char *text)
{
	html_open(html, "span");
	html_attribute(html, "class", "state");
	html_exact(html, "data-state", text);
	html_text(html, text);
	html_close(html);
}

static void write_mark(struct html *html, const char *text)
{
	char label[VIEW_TEXT_MAX + 8];

	snprintf(label, sizeof(label), "Mark %s", text);
	html_open(html, "input");
	html_attribute(html, "type", "checkbox");
	html_attribute(html, "name", "mark");
	html_exact(html, "value", text);
	html_attribute(html, "aria-label", label);
	html_close(html);
}

/* Writes the value of a column to the page. */
static void write_value(struct page *page, const struct view_column *column,
	const struct field *field, const struct view_source *source)
{
	struct page_address to = {.len = 0};
	const void *row = source->row;
	char text[VIEW_TEXT_MAX], digits[VIEW_TEXT_MAX];

	if (column->how == VIEW_IF_ANY && is_nothing(field, row))
		return;
	view_value(page, field, row, false, text);
	if (column->how == VIEW_COUNT) {
		memcpy(digits, text, sizeof(digits));
		view_group_digits(digits, text);
	}
	if (column->lead)
		column->lead(page, source, &to);
	if (to.len && text[0])
		page_link(page, &to, text);
	else if (field->type == FIELD_TIME_MS)
		page_time(page,
			(int64_t)field_load_number((const uint8_t *)row + field->offset,
				field->size));
	else if (column->how == VIEW_MARK)
		write_mark(&page->html, text);
	else if (column->how == VIEW_STATE)
		write_state(&page->html, text);
	else if (field->type == FIELD_STR)
		html_foreign(&page->html, text);
	else
		html_text(&page->html, text);
}

static void row_csv(const struct view *view, const void *row)
{
	char text[VIEW_TEXT_MAX];

	for (unsigned int i = 0; view->columns[i].member; i++) {
		const struct field *field =
			find_member(view->fields, view->more, view->columns[i].member);

		buffer_append_str(&view->page->body, i ? "," : "");
		text[0] = '\0';
		if (field)
			view_value(view->page, field, row, true, text);
		view_csv_field(&view->page->body, text, field && field->type != FIELD_STR);
	}
	buffer_append_str(&view->page->body, "\r\n");
}

void view_row(struct view *view, const void *row)
{
	const struct view_source source = {view->fields, view->more, row};
	struct html *html = &view->page->html;

	view->rows++;
	if (view->page->route->csv) {
		row_csv(view, row);
		return;
	}
	html_open(html, "tr");
	for (unsigned int i = 0; view->columns[i].member; i++) {
		const struct view_column *column = &view->columns[i];
		const struct field *field = find_member(view->fields, view->more, column->member);

		html_open(html, "td");
		html_attribute(html, "data-label", column->heading);
		if (field && is_number(field))
			html_attribute(html, "class", "number");
		if (field)
			write_value(view->page, column, field, &source);
		html_close(html);
	}
	html_close(html);
}

void view_end(struct view *view, const char *empty)
{
	struct html *html = &view->page->html;

	if (view->page->route->csv)
		return;
	if (!view->rows) {
		unsigned int count = 0;
		char span[12];

		while (view->columns[count].member)
			count++;
		snprintf(span, sizeof(span), "%u", count);
		html_open(html, "tr");
		html_open(html, "td");
		html_attribute(html, "class", "empty");
		html_attribute(html, "colspan", span);
		html_text(html, page_remedy(view->page, empty));
		html_close(html);
		html_close(html);
	}
	html_close(html); /* tbody */
	html_close(html);
	html_close(html);
}

void view_csv_stopped(struct view *view, const char *text)
{
	struct buffer *body = &view->page->body;

	if (!view->page->route->csv)
		return;
	view_csv_field(body, text, false);
	for (unsigned int i = 1; view->columns[i].member; i++)
		buffer_append_str(body, ",\"\"");
	buffer_append_str(body, "\r\n");
}

void view_pairs(struct page *page, const struct view_column *columns, const struct field *fields,
	const void *row)
{
	const struct view_source source = {fields, NULL, row};
	struct html *html = &page->html;

	html_open(html, "dl");
	for (unsigned int i = 0; columns[i].member; i++) {
		const struct field *field = field_find(fields, columns[i].member);

		if (!field || (columns[i].how == VIEW_IF_ANY && is_nothing(field, row)))
			continue;
		html_open(html, "div");
		html_element(html, "dt", "", columns[i].heading);
		html_open(html, "dd");
		if (columns[i].how == VIEW_ID)
			page_id(page, (const char *)row + field->offset);
		else
			write_value(page, &columns[i], field, &source);
		html_close(html);
		html_close(html);
	}
	html_close(html);
}
