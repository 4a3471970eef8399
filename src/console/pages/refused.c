/* pages/refused - the calls that were answered 4xx, as the ledger keeps them on disk. */
#include "admin/names.h"
#include "admin/requests/refused.h"
#include "base/pack.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/pages/pages.h"
#include "console/sections/refused_causes.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "link/refused_calls.h"

#include <inttypes.h>
#include <string.h>

/* A filter that no call passes. */
#define NO_CALL "\x01"

struct refused_view {
	struct refused_call call; /* must be first */
	uint32_t code;
};

static const struct field refused_more[] = {
	FIELD(FIELD_U32, refused_view, code),
	FIELD_AS("user", FIELD_STR, refused_view, call.user_id),
	FIELD_NAMED_AS("error", refused_view, call.refusal, refusal_ids, REFUSAL_COUNT),
	FIELD_END,
};

static void lead_to_key(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	const struct refused_call *call = source->row;

	if (call->proved)
		*to = lead_request(page, call->of == KEYRING_DEALERS ? SCOPE_DEALER : SCOPE_CLIENT,
			call->caller, call->request_transaction_id);
}

static void lead_to_explain(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	if (page->who.role < ROLE_SUPPORT)
		return;
	*to = page_address(page, "/explain");
	address_add(to, "request", view_source_text(source, "request_id"));
}

static const struct view_column refused_columns[] = {
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"Code", "code", VIEW_PLAIN, NULL},
	{"Error", "error", VIEW_STATE, NULL},
	{"Why", "why", VIEW_PLAIN, NULL},
	{"Detail", "detail", VIEW_PLAIN, NULL},
	{"Call", "operation", VIEW_PLAIN, NULL},
	{"Caller", "caller", VIEW_PLAIN, NULL},
	{"Proved", "proved", VIEW_PLAIN, NULL},
	{"User", "user", VIEW_PLAIN, NULL},
	{"Reference", "request_transaction_id", VIEW_PLAIN, lead_to_key},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"Explain", "request_id", VIEW_PLAIN, lead_to_explain},
	{"Address", "address", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* A filter of text that does not fit matches nothing. */
static void read_text(const struct page *page, const char *param, size_t size, char *text)
{
	if (!text_copy(text, size, params_get(&page->query, param)))
		text_copy(text, size, NO_CALL);
}

/* Reads the parameters "error" and "why". An unknown one matches nothing. */
static void read_cause(const struct page *page, struct refused_list_cmd *cmd)
{
	if (!refused_read_error(params_get(&page->query, "error"), cmd) ||
		!refused_read_why(params_get(&page->query, "why"), cmd))
		text_copy(cmd->request_id, sizeof(cmd->request_id), NO_CALL);
}

static void read_filter(const struct page *page, const struct filter *filter,
	struct refused_list_cmd *cmd)
{
	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd->casino_id, filter->casino_id, sizeof(cmd->casino_id));
	memcpy(cmd->user_id, filter->user_id, sizeof(cmd->user_id));
	cmd->since_ms = filter->since_ms;
	cmd->until_ms = filter->until_ms == INT64_MAX ? 0 : filter->until_ms;
	read_text(page, "client", sizeof(cmd->client_id), cmd->client_id);
	read_text(page, "reference", sizeof(cmd->request_transaction_id),
		cmd->request_transaction_id);
	read_text(page, "request", sizeof(cmd->request_id), cmd->request_id);
	read_cause(page, cmd);
	text_unsigned(params_get(&page->query, "after"), INT64_MAX, &cmd->before);
}

/* Reads calls until @cmd->limit of them are shown. Sets cmd->before to the next page; 0: none. */
static enum outcome list_refused(struct page *page, struct refused_list_cmd *cmd, uint64_t rows,
	struct refused_list_result *result)
{
	struct view view = {.fields = refused_call_fields, .more = refused_more};
	struct refused_view row;
	struct bytes rest;
	enum outcome code = OUTCOME_DONE;

	memset(&row, 0, sizeof(row));
	view_begin(&view, page, "Calls that were answered 4xx, the newest first", refused_columns);
	for (unsigned int step = 0; step < REFUSED_STEPS && view.rows < rows; step++) {
		cmd->limit = (uint32_t)(rows - view.rows < REFUSED_PAGE_MAX ? rows - view.rows
									    : REFUSED_PAGE_MAX);
		code = session_do(&page->desk.session, COMMAND_REFUSED_LIST, cmd, result, NULL);
		if (code != OUTCOME_DONE)
			break;
		rest = result->calls;
		while (rest.len && unpack_record(&rest, refused_call_fields, &row.call)) {
			row.code = (uint32_t)refusal_info(row.call.refusal)->code;
			view_row(&view, &row);
		}
		cmd->before = result->next;
		if (!result->next)
			break;
	}
	view_end(&view, "No refused call with this filter in what was looked at.");
	walk_csv_end(&view, result->next, result->next);
	return code;
}

static const struct page_filter_input filter_inputs[] = {
	{"Dealer", "casino"},
	{"Game server", "client"},
	{"User", "user"},
	{"Reference", "reference"},
	{"Request id", "request"},
	{"Since", "since"},
	{"Until", "until"},
	{"Error", "error"},
};
#define FILTER_INPUTS (sizeof(filter_inputs) / sizeof(filter_inputs[0]))

static void write_form(struct page *page)
{
	const char *whys[REFUSED_WHY_COUNT];

	refused_why_words(whys);
	page_filter(page, filter_inputs, FILTER_INPUTS);
	page_select(page, "Why", "why", whys, REFUSED_WHY_COUNT, params_get(&page->query, "why"));
	page_button(page, "Show");
	html_close(&page->html);
}

/* Writes what is kept, since when, and how many calls are not. */
static void write_kept(struct page *page, const struct refused_list_result *kept)
{
	struct html *html = &page->html;
	char left_out[VIEW_COUNT_SIZE];

	if (!kept->keeps) {
		page_paragraph(page, "refused_keep_mib is 0: no refused call is kept on disk.");
		return;
	}
	html_open(html, "p");
	if (kept->since_ms) {
		html_text(html, "Calls are kept since ");
		page_time(page, kept->since_ms);
		html_printf(html, ", %" PRIu64 " KiB on disk.", (kept->bytes + 1023) / 1024);
	} else {
		html_text(html,
			kept->bytes ? "The time of the oldest call is not known yet: the files "
				      "are being read since the ledger's start."
				    : "No refused call is kept.");
	}
	if (kept->left_out) {
		html_printf(html, " %s call%s left out since ",
			view_count(kept->left_out, left_out),
			kept->left_out == 1 ? " was" : "s were");
		page_time(page, kept->started_ms);
		html_text(html,
			", when the ledger's engine was started: under a flood, each sender has "
			"its share of a second.");
	} else {
		html_text(html, " None was left out since ");
		page_time(page, kept->started_ms);
		html_text(html, ", when the ledger's engine was started.");
	}
	html_close(html);
}

/* Writes what is kept, and on the first page of a list the counts of its causes. */
static enum outcome write_causes(struct page *page, const struct refused_list_cmd *filter)
{
	struct page_address list = page_address(page, "/refused");
	struct refused_causes causes;
	enum outcome code;

	if (params_get(&page->query, "after")[0])
		return OUTCOME_DONE;
	for (size_t i = 0; i < FILTER_INPUTS; i++) {
		if (strcmp(filter_inputs[i].name, "error") != 0)
			address_add(&list, filter_inputs[i].name,
				params_get(&page->query, filter_inputs[i].name));
	}
	code = refused_count_causes(&page->desk.session, filter, REFUSED_STEPS, &causes);
	if (code != OUTCOME_DONE)
		return code;
	write_kept(page, &causes.last);
	refused_causes_write(page, &causes, &list);
	return OUTCOME_DONE;
}

enum outcome page_refused(struct page *page)
{
	struct refused_list_result result;
	struct refused_list_cmd cmd;
	struct filter filter;
	enum outcome code = walk_filter(page, &filter);

	memset(&result, 0, sizeof(result));
	if (code != OUTCOME_DONE)
		return code;
	read_filter(page, &filter, &cmd);
	if (filter.user_id[0])
		code = refused_add_player(&page->desk.session, &cmd);
	if (code == OUTCOME_DONE && !page->route->csv) {
		page_begin(page, "Refused calls");
		write_form(page);
		code = write_causes(page, &cmd);
	}
	if (code == OUTCOME_DONE)
		code = list_refused(page, &cmd,
			page->route->csv ? page->console->csv_rows / 10 : PAGE_ROWS, &result);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_links(page, cmd.before);
	page_paragraph(page,
		"A call with Proved \"no\" proved no key: any client of the web server may have "
		"written what it says. The link of its request id explains a call (role support).");
	return page_end(page);
}
