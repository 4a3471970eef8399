/* pages/operators - the operators, and their sessions of now. Only creditbridgectl changes an
 * operator. */
#include "admin/list.h"
#include "base/text.h"
#include "console/pages/pages.h"
#include "console/common/view.h"

#include <string.h>

/* Operators on one page. Each costs a question for its sessions. */
#define OPERATORS_SHOWN 32

struct operator_view {
	struct desk_operator operator; /* must be first */
	uint32_t sessions;
	int64_t since_ms; /* when the oldest session was opened; 0: there is none */
	int64_t seen_ms;
	char address[DESK_ADDRESS_SIZE]; /* of the session that was seen last */
	int64_t locked_ms;               /* locked until then; 0: not locked now */
};

static const struct field operator_more[] = {
	FIELD(FIELD_U32, operator_view, sessions),
	FIELD(FIELD_TIME_MS, operator_view, since_ms),
	FIELD(FIELD_TIME_MS, operator_view, seen_ms),
	FIELD(FIELD_STR, operator_view, address),
	FIELD(FIELD_TIME_MS, operator_view, locked_ms),
	FIELD_END,
};

static const struct view_column operator_columns[] = {
	{"Operator", "name", VIEW_PLAIN, NULL},
	{"Login", "login", VIEW_PLAIN, NULL},
	{"Role", "role", VIEW_PLAIN, NULL},
	{"Sessions", "sessions", VIEW_PLAIN, NULL},
	{"Signed in since", "since_ms", VIEW_IF_ANY, NULL},
	{"Last seen", "seen_ms", VIEW_IF_ANY, NULL},
	{"Signed in from", "address", VIEW_IF_ANY, NULL},
	{"Last sign-in", "signed_in_ms", VIEW_IF_ANY, NULL},
	{"Locked until", "locked_ms", VIEW_IF_ANY, NULL},
	{"Suspended", "suspended", VIEW_IF_ANY, NULL},
	VIEW_END,
};

/* Asks for the sessions of the operator. */
static enum outcome fill_sessions(struct page *page, struct operator_view *row)
{
	struct session_count_result result;
	struct session_count_cmd cmd;
	enum outcome code;

	memset(&cmd, 0, sizeof(cmd));
	text_copy(cmd.name, sizeof(cmd.name), row->operator.name);
	code = session_do(&page->desk.session, COMMAND_SESSION_COUNT, &cmd, &result, NULL);
	if (code != OUTCOME_DONE)
		return code;
	row->sessions = result.sessions;
	row->since_ms = result.sessions ? page->now_ms - (int64_t)result.oldest_s * 1000 : 0;
	row->seen_ms = result.sessions ? page->now_ms - (int64_t)result.seen_s * 1000 : 0;
	text_copy(row->address, sizeof(row->address), result.address);
	row->locked_ms =
		row->operator.locked_until_ms> page->now_ms ? row->operator.locked_until_ms : 0;
	return OUTCOME_DONE;
}

/* Shows the operators after @last, and sets @last to the last one; "": there are no more. */
static enum outcome list_operators(struct page *page, char last[DESK_NAME_SIZE])
{
	const uint64_t most = page->route->csv ? DESK_OPERATORS_MAX : OPERATORS_SHOWN;
	struct view view = {.fields = desk_operator_fields, .more = operator_more};
	struct operator_view row;
	enum outcome code = OUTCOME_DONE;
	struct list list;
	bool more = true;

	memset(&row, 0, sizeof(row));
	list_open(&list, &page->desk.session, RECORD_DESK_OPERATOR, false, 0, NULL);
	list.page = OPERATORS_SHOWN + 1;
	text_copy(row.operator.name, sizeof(row.operator.name), last);
	if (last[0])
		list_behind(&list, &row.operator);
	view_begin(&view, page, "Operators, by their name", operator_columns);
	while (code == OUTCOME_DONE && (more = list_next(&list, &row.operator)) &&
		view.rows < most) {
		code = fill_sessions(page, &row);
		view_row(&view, &row);
		text_copy(last, DESK_NAME_SIZE, row.operator.name);
	}
	view_end(&view, "No operator yet: creditbridgectl operator add.");
	if (!more)
		last[0] = '\0';
	return list_end(&list, code);
}

static void write_commands(struct page *page)
{
	static const char *const commands[] = {
		"creditbridgectl operator add NAME --login LOGIN --role ROLE",
		"creditbridgectl operator set NAME --role ROLE",
		"creditbridgectl operator suspend NAME",
		"creditbridgectl operator resume NAME",
		"creditbridgectl operator unlock NAME",
		"creditbridgectl operator new-code NAME",
		"creditbridgectl operator sign-out NAME",
	};

	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "To change an operator, at a shell as root");
	html_open(&page->html, "ul");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		html_open(&page->html, "li");
		page_id(page, page_remedy(page, commands[i]));
		html_close(&page->html);
	}
	html_close(&page->html);
	html_close(&page->html);
}

enum outcome page_operators(struct page *page)
{
	const struct page_address list = page_address(page, "/operators");
	const struct page_address csv = page_address(page, "/operators.csv");
	char last[DESK_NAME_SIZE];
	enum outcome code;

	if (!text_copy(last, sizeof(last), params_get(&page->query, "after")))
		last[0] = '\0';
	if (!page->route->csv)
		page_begin(page, "Operators");
	code = list_operators(page, last);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	page_pager(page, &list, last, &csv);
	write_commands(page);
	return page_end(page);
}
