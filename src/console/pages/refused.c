/* pages/refused - the calls that were answered 4xx, as the ledger keeps them on disk. */
#include "admin/names.h"
#include "admin/requests/refused.h"
#include "base/pack.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/pages/pages.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "link/refused_calls.h"

#include <string.h>

/* Commands that one page sends at most; each reads a bounded part of the files. */
#define REFUSED_STEPS 8

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
static void read_filter(struct page *page, const struct filter *filter,
	struct refused_list_cmd *cmd)
{
	const struct params *query = &page->query;

	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd->casino_id, filter->casino_id, sizeof(cmd->casino_id));
	memcpy(cmd->user_id, filter->user_id, sizeof(cmd->user_id));
	cmd->since_ms = filter->since_ms;
	cmd->until_ms = filter->until_ms == INT64_MAX ? 0 : filter->until_ms;
	if (!text_copy(cmd->request_transaction_id, sizeof(cmd->request_transaction_id),
		    params_get(query, "reference")))
		text_copy(cmd->request_transaction_id, sizeof(cmd->request_transaction_id), "\x01");
	if (!text_copy(cmd->request_id, sizeof(cmd->request_id), params_get(query, "request")))
		text_copy(cmd->request_id, sizeof(cmd->request_id), "\x01");
	text_unsigned(params_get(query, "after"), INT64_MAX, &cmd->before);
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

static void write_form(struct page *page)
{
	static const struct page_filter_input inputs[] = {
		{"Dealer", "casino"},
		{"User", "user"},
		{"Reference", "reference"},
		{"Request id", "request"},
		{"Since", "since"},
		{"Until", "until"},
	};

	page_filter(page, inputs, sizeof(inputs) / sizeof(inputs[0]));
	page_button(page, "Show");
	html_close(&page->html);
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
	if (code != OUTCOME_DONE)
		return code;
	if (!page->route->csv) {
		page_begin(page, "Refused calls");
		write_form(page);
	}
	code = list_refused(page, &cmd, page->route->csv ? page->console->csv_rows / 10 : PAGE_ROWS,
		&result);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	if (!result.keeps)
		page_paragraph(page, "refused_keep_mib is 0: no refused call is kept on disk.");
	walk_links(page, cmd.before);
	page_paragraph(page,
		"A call with Proved \"no\" proved no key: any client of the web server may have "
		"written what it says. The link of its request id explains a call (role support).");
	return page_end(page);
}
