#include "console/sections/refused_causes.h"

#include "base/text.h"
#include "console/common/view.h"
#include "explain/explain.h"

/* A cause, and the list to which it leads. */
struct cause_row {
	struct refused_cause cause; /* must be first */
	char explained[32];
	const struct page_address *list;
};

static const struct field cause_more[] = {
	FIELD(FIELD_STR, cause_row, explained),
	FIELD_END,
};

/* In place of a cause that the counts cannot have. */
static const char *const not_known[EXPLAIN_KNOWN_COUNT] = {
	[EXPLAIN_NEEDS_BODY] = "not known without the body",
	[EXPLAIN_NEEDS_CALL] = "explain each call",
};

static void lead_to_calls(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	const struct cause_row *row = source->row;

	(void)page;
	*to = *row->list;
	address_add(to, "error", refusal_ids[row->cause.refusal]);
	address_add(to, "why",
		row->cause.why == REFUSED_WHY_NONE ? REFUSED_WHY_IS_NONE
						   : refused_why_names[row->cause.why]);
}

static const struct view_column cause_columns[] = {
	{"Error", "refusal", VIEW_PLAIN, lead_to_calls},
	{"Why", "why", VIEW_PLAIN, NULL},
	{"Cause", "explained", VIEW_PLAIN, NULL},
	{"Calls", "calls", VIEW_COUNT, NULL},
	{"Of them proved", "proved", VIEW_COUNT, NULL},
	{"Newest", "newest_ms", VIEW_PLAIN, NULL},
	VIEW_END,
};

static void write_bound(struct page *page, const struct refused_causes *causes)
{
	struct html *html = &page->html;
	char calls[VIEW_COUNT_SIZE];

	if (!causes->calls && !causes->more)
		return;
	html_open(html, "p");
	html_attribute(html, "class", "note");
	html_printf(html, "%s call%s counted", view_count(causes->calls, calls),
		causes->calls == 1 ? "" : "s");
	if (causes->more) {
		html_text(html, ", back to ");
		page_time(page, causes->looked_ms);
		html_text(html, ". Older ones were not counted");
	}
	html_text(html, ".");
	html_close(html);
}

void refused_causes_write(struct page *page, const struct refused_causes *causes,
	const struct page_address *list)
{
	struct view view = {.fields = refused_cause_fields, .more = cause_more};
	struct cause_row row = {.list = list};
	bool needs_body = false;
	enum explain_known known;
	enum explain_cause cause;

	view_begin(&view, page, "By cause, the most frequent first", cause_columns);
	for (uint32_t i = 0; i < causes->count; i++) {
		row.cause = causes->list[i];
		known = explain_counted(&row.cause, &cause);
		text_copy(row.explained, sizeof(row.explained),
			known == EXPLAIN_KNOWN ? explain_causes[cause].id : not_known[known]);
		needs_body |= known == EXPLAIN_NEEDS_BODY;
		view_row(&view, &row);
	}
	view_end(&view, "No refused call in what was looked at.");
	write_bound(page, causes);
	if (needs_body)
		page_paragraph(page,
			"Bodies and signatures are not kept on disk. Where the cause needs them, open the "
			"newest call soon: the ledger has those of the newest 1,000 calls that were "
			"answered 400, 401 or user_not_found in memory.");
}
