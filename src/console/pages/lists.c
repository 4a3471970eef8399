/* pages/lists - the lists of transactions, callbacks and the audit, the newest row first. */
#include "admin/callbacks.h"
#include "admin/names.h"
#include "base/text.h"
#include "console/leads.h"
#include "console/replay_offer.h"
#include "console/routes.h"
#include "console/view.h"
#include "console/walk.h"

#include <string.h>

/* ---- transactions */

struct transaction_row {
	struct transaction entry; /* must be first */
	struct player_name name;
	char state[16]; /* of a bet; of a result, where its credit is */
};

static const struct field transaction_more[] = {
	FIELD_AS("user_id", FIELD_STR, transaction_row, name.user_id),
	FIELD(FIELD_STR, transaction_row, state),
	FIELD_END,
};

static const struct view_column transaction_columns[] = {
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"Transaction", "transaction_id", VIEW_PLAIN, lead_to_transaction},
	{"What", "kind", VIEW_PLAIN, NULL},
	{"Dealer", "casino_id", VIEW_PLAIN, NULL},
	{"User", "user_id", VIEW_PLAIN, lead_to_player},
	{"Game", "game_id", VIEW_PLAIN, lead_to_round},
	{"Amount", "amount", VIEW_IF_ANY, NULL},
	{"After", "current_balance", VIEW_IF_ANY, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Reference", "request_transaction_id", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* A bet without credit here has its amount and its state in its own row. */
static enum outcome complete_bet(struct page *page, struct transaction_row *row)
{
	struct bet bet;
	enum outcome code;
	bool found;

	if (row->entry.kind != ENTRY_BET && row->entry.game_id[0] && !row->entry.entry_seq)
		text_copy(row->state, sizeof(row->state), "at the dealer");
	if (row->entry.kind != ENTRY_BET)
		return OUTCOME_DONE;
	memset(&bet, 0, sizeof(bet));
	memcpy(bet.player_id, row->entry.player_id, sizeof(bet.player_id));
	memcpy(bet.game_id, row->entry.game_id, sizeof(bet.game_id));
	bet.number = row->entry.bet_number;
	code = list_fetch(&page->desk.session, RECORD_BET, &bet, &found, NULL);
	if (code != OUTCOME_DONE || !found)
		return code;
	if (!row->entry.entry_seq) {
		row->entry.amount = -bet.bet_amount;
		text_copy(row->entry.request_transaction_id,
			sizeof(row->entry.request_transaction_id), bet.request_transaction_id);
	}
	text_copy(row->state, sizeof(row->state), bet_state_names[bet.state]);
	return OUTCOME_DONE;
}

static enum outcome list_transactions(struct page *page, const struct filter *filter,
	struct row_walk *walk)
{
	unsigned int kind = walk_choice(page, "kind", entry_kind_names, ENTRY_KIND_COUNT);
	struct view view = {.fields = transaction_fields, .more = transaction_more};
	struct transaction_row row;
	enum outcome code = OUTCOME_DONE;
	enum filter_match match;

	memset(&row, 0, sizeof(row));
	view_begin(&view, page, "Transactions, the newest first", transaction_columns);
	while (code == OUTCOME_DONE && walk_next(walk, &row.entry)) {
		match = filter_time(filter, row.entry.time_ms);
		walk->last_ms = row.entry.time_ms;
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP || (kind != ENTRY_KIND_COUNT && row.entry.kind != kind) ||
			!filter_names(filter, row.entry.casino_id, row.entry.player_id,
				row.entry.game_id))
			continue;
		row.state[0] = '\0';
		code = names_of(&page->desk.session, row.entry.player_id, &row.name);
		if (code == OUTCOME_DONE)
			code = complete_bet(page, &row);
		view_row(&view, &row);
		walk->shown++;
	}
	view_end(&view, "No transaction with this filter in the rows that were looked at.");
	walk_csv_end(&view, walk->stopped, walk->last);
	return code;
}

enum outcome page_transactions(struct page *page)
{
	struct filter filter;
	struct row_walk walk;
	enum outcome code = walk_filter(page, &filter);

	if (code != OUTCOME_DONE)
		return code;
	if (!page->route->csv) {
		page_begin(page, "Transactions");
		walk_form(page);
		page_select(page, "What", "kind", entry_kind_names, ENTRY_SEAL,
			params_get(&page->query, "kind"));
		page_button(page, "Show");
		html_close(&page->html);
	}
	walk_open(&walk, page, RECORD_TRANSACTION);
	code = walk_end(&walk, list_transactions(page, &filter, &walk));
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_foot(&walk);
	return page_end(page);
}

/* ---- callbacks */

static const struct field callback_more[] = {
	FIELD(FIELD_STR, callback_row, user_id),
	FIELD(FIELD_MONEY, callback_row, amount),
	FIELD(FIELD_STR, callback_row, last),
	FIELD(FIELD_STR, callback_row, next),
	FIELD(FIELD_STR, callback_row, last_note),
	FIELD_END,
};

static const struct view_column callback_columns[] = {
	{"", "event", VIEW_MARK, NULL},
	{"Made", "created_ms", VIEW_PLAIN, NULL},
	{"Event", "event", VIEW_PLAIN, lead_to_callback},
	{"Kind", "kind", VIEW_PLAIN, NULL},
	{"Dealer", "casino_id", VIEW_PLAIN, NULL},
	{"User", "user_id", VIEW_PLAIN, lead_to_player},
	{"Game", "game_id", VIEW_PLAIN, lead_to_round},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Tries", "attempts", VIEW_PLAIN, NULL},
	{"Last", "last", VIEW_PLAIN, NULL},
	{"Next", "next", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* Returns true if the state is the wanted one. "waits" is every state that is not an end. */
static bool is_wanted_state(const struct page *page, enum callback_state state)
{
	const char *wanted = params_get(&page->query, "state");

	if (strcmp(wanted, "waits") == 0)
		return state == CALLBACK_DUE || state == CALLBACK_SENDING ||
			state == CALLBACK_PARKED || state == CALLBACK_HELD;
	return !wanted[0] || strcmp(callback_state_names[state], wanted) == 0;
}

static enum outcome list_callbacks(struct page *page, const struct filter *filter,
	struct row_walk *walk)
{
	unsigned int kind = walk_choice(page, "kind", callback_kind_names, CALLBACK_KIND_COUNT);
	struct view view = {.fields = callback_fields, .more = callback_more};
	struct callback_row row;
	enum outcome code = OUTCOME_DONE;
	enum filter_match match;

	memset(&row, 0, sizeof(row));
	/* Only a list that offers a replay has marks. */
	view_begin(&view, page, "Callbacks, the newest first",
		callback_columns + !replay_offer_may(page, filter));
	while (code == OUTCOME_DONE && walk_next(walk, &row.callback)) {
		const struct callback *callback = &row.callback;

		walk->last_ms = callback->created_ms;
		match = filter_time(filter, callback->created_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP ||
			(kind != CALLBACK_KIND_COUNT && callback->kind != kind) ||
			!is_wanted_state(page, callback->state) ||
			!filter_names(filter, callback->casino_id, callback->player_id,
				callback->game_id))
			continue;
		code = callback_row_fill(&page->desk.session, &row);
		view_row(&view, &row);
		walk->shown++;
	}
	view_end(&view, "No callback with this filter in the rows that were looked at.");
	walk_csv_end(&view, walk->stopped, walk->last);
	return code;
}

enum outcome page_callbacks(struct page *page)
{
	static const char *const states[] = {"waits", "due", "sending", "delivered", "parked",
		"held", "cancelled", "failed"};
	struct filter filter;
	struct row_walk walk;
	bool offers;
	enum outcome code = walk_filter(page, &filter);

	if (code != OUTCOME_DONE)
		return code;
	if (!page->route->csv) {
		page_begin(page, "Callbacks");
		walk_form(page);
		page_select(page, "Kind", "kind", callback_kind_names, CALLBACK_KIND_COUNT,
			params_get(&page->query, "kind"));
		page_select(page, "State", "state", states, sizeof(states) / sizeof(states[0]),
			params_get(&page->query, "state"));
		page_button(page, "Show");
		html_close(&page->html);
	}
	offers = replay_offer_may(page, &filter);
	if (offers)
		replay_offer_open(page);
	walk_open(&walk, page, RECORD_CALLBACK);
	code = walk_end(&walk, list_callbacks(page, &filter, &walk));
	if (code == OUTCOME_DONE && offers)
		code = replay_offer_close(page, &filter, &walk);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_foot(&walk);
	return page_end(page);
}

/* ---- audit */

static const struct view_column audit_columns[] = {
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"No.", "seq", VIEW_PLAIN, NULL},
	{"Action", "action", VIEW_PLAIN, NULL},
	{"Object", "object", VIEW_PLAIN, NULL},
	{"Detail", "detail", VIEW_PLAIN, NULL},
	{"Reason", "reason", VIEW_PLAIN, NULL},
	{"Operator", "operator", VIEW_PLAIN, NULL},
	{"Uid", "uid", VIEW_PLAIN, NULL},
	{"Sudo", "sudo_user", VIEW_PLAIN, NULL},
	VIEW_END,
};

static bool audit_fits(const struct page *page, const struct audit *row)
{
	const char *action = params_get(&page->query, "action");
	const char *object = params_get(&page->query, "object");

	return (!action[0] || strstr(row->action, action)) &&
		(!object[0] || strstr(row->object, object));
}

static void list_audit(struct page *page, const struct filter *filter, struct row_walk *walk)
{
	struct view view = {.fields = audit_fields};
	enum filter_match match;
	struct audit row;

	memset(&row, 0, sizeof(row));
	view_begin(&view, page, "What operators did, the newest first", audit_columns);
	while (walk_next(walk, &row)) {
		walk->last_ms = row.time_ms;
		match = filter_time(filter, row.time_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP || !audit_fits(page, &row))
			continue;
		view_row(&view, &row);
		walk->shown++;
	}
	view_end(&view, "No action with this filter in the rows that were looked at.");
	walk_csv_end(&view, walk->stopped, walk->last);
}

enum outcome page_audit(struct page *page)
{
	static const struct page_filter_input inputs[] = {
		{"Action", "action"},
		{"Object", "object"},
		{"Since", "since"},
		{"Until", "until"},
	};
	/* The whole audit needs the role finance (link/roles.def). */
	const bool own = page->who.role < ROLE_FINANCE;
	struct filter filter;
	struct row_walk walk;
	enum outcome code = walk_filter(page, &filter);

	if (code != OUTCOME_DONE)
		return code;
	if (!page->route->csv) {
		page_begin(page, own ? "Your own rows of the audit" : "Audit");
		page_filter(page, inputs, sizeof(inputs) / sizeof(inputs[0]));
		page_button(page, "Show");
		html_close(&page->html);
	}
	walk_open(&walk, page, RECORD_AUDIT);
	walk.list.own = own;
	list_audit(page, &filter, &walk);
	code = walk_end(&walk, OUTCOME_DONE);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_foot(&walk);
	return page_end(page);
}
