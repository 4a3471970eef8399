/* pages/lists - the lists of transactions, callbacks and the audit, the newest row first. */
#include "admin/ahead.h"
#include "admin/bets.h"
#include "admin/callbacks/callbacks.h"
#include "admin/names.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/sections/ages.h"
#include "console/sections/replay_offer.h"
#include "console/pages/pages.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "domain/delivery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- transactions */

struct transaction_row {
	struct transaction entry; /* must be first */
	struct player_name name;
	char state[16];    /* of a bet; of a result, where its credit is */
	char callback[16]; /* of a bet of a seamless wallet: the state of its newest callback */
};

static const struct field transaction_more[] = {
	FIELD_AS("user_id", FIELD_STR, transaction_row, name.user_id),
	FIELD(FIELD_STR, transaction_row, state),
	FIELD(FIELD_STR, transaction_row, callback),
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
	{"Callback", "callback", VIEW_STATE, NULL},
	VIEW_END,
};

/* A bet without credit here has its amount and its state in its own row. */
static enum outcome complete_bet(struct page *page, struct transaction_row *row,
	struct bet_callback *callback)
{
	struct bet bet;
	enum outcome code;
	bool found;

	if (row->entry.kind != ENTRY_BET && row->entry.game_id[0] && !row->entry.entry_seq)
		text_copy(row->state, sizeof(row->state), "at the dealer");
	if (row->entry.kind != ENTRY_BET)
		return OUTCOME_DONE;
	bets_name(&bet, row->entry.player_id, row->entry.game_id, row->entry.bet_number);
	code = list_fetch(&page->desk.session, RECORD_BET, &bet, &found, NULL);
	if (code != OUTCOME_DONE || !found)
		return code;
	if (!row->entry.entry_seq) {
		row->entry.amount = -bet.bet_amount;
		text_copy(row->entry.request_transaction_id,
			sizeof(row->entry.request_transaction_id), bet.request_transaction_id);
	}
	text_copy(row->state, sizeof(row->state), bet_state_names[bet.state]);
	*callback = bet_callback_of(&bet);
	return OUTCOME_DONE;
}

/* Names the rows that complete_row() fetches. */
static void want_rows(struct ahead *ahead, const struct transaction *entry)
{
	struct player_name name;
	struct bet bet;

	memset(&name, 0, sizeof(name));
	memcpy(name.player_id, entry->player_id, sizeof(name.player_id));
	ahead_want(ahead, RECORD_PLAYER_NAME, &name);
	bets_name(&bet, entry->player_id, entry->game_id, entry->bet_number);
	if (entry->kind == ENTRY_BET)
		ahead_want(ahead, RECORD_BET, &bet);
}

static enum outcome complete_row(struct page *page, struct transaction_row *row,
	struct bet_callback *callback)
{
	enum outcome code = names_of(&page->desk.session, row->entry.player_id, &row->name);

	return code == OUTCOME_DONE ? complete_bet(page, row, callback) : code;
}

/* Rows that are completed together, with few commands. */
struct transaction_part {
	struct ahead ahead;
	unsigned int count;
	struct transaction_row rows[AHEAD_PART];
	struct bet_callback callbacks[AHEAD_PART]; /* of the rows that are bets; the others are 0 */
};

/* Completes the rows and shows them. The part is empty afterwards. */
static enum outcome show_transactions(struct page *page, struct view *view,
	struct transaction_part *part)
{
	enum outcome code;

	ahead_open(&part->ahead, &page->desk.session);
	for (unsigned int i = 0; i < part->count; i++)
		want_rows(&part->ahead, &part->rows[i].entry);
	code = ahead_read(&part->ahead);
	for (unsigned int i = 0; i < part->count && code == OUTCOME_DONE; i++)
		code = complete_row(page, &part->rows[i], &part->callbacks[i]);
	ahead_close(&part->ahead);
	if (code == OUTCOME_DONE)
		code = bet_callbacks_fill(&page->desk.session, part->callbacks, part->count);
	for (unsigned int i = 0; i < part->count && code == OUTCOME_DONE; i++) {
		text_copy(part->rows[i].callback, sizeof(part->rows[i].callback),
			part->callbacks[i].state);
		view_row(view, &part->rows[i]);
	}
	memset(part->rows, 0, sizeof(part->rows));
	memset(part->callbacks, 0, sizeof(part->callbacks));
	part->count = 0;
	return code;
}

/* Reads the rows that the filter selects. */
static enum outcome walk_transactions(struct page *page, const struct filter *filter,
	struct row_walk *walk, struct view *view, struct transaction_part *part)
{
	unsigned int kind = walk_choice(page, "kind", entry_kind_names, ENTRY_KIND_COUNT);
	struct transaction *entry = &part->rows[0].entry;
	enum outcome code = OUTCOME_DONE;
	enum filter_match match;

	while (code == OUTCOME_DONE && walk_next(walk, entry)) {
		match = filter_time(filter, entry->time_ms);
		walk->last_ms = entry->time_ms;
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP || (kind != ENTRY_KIND_COUNT && entry->kind != kind) ||
			!filter_names(filter, entry->casino_id, entry->player_id, entry->game_id))
			continue;
		walk->shown++;
		if (++part->count == AHEAD_PART)
			code = show_transactions(page, view, part);
		entry = &part->rows[part->count].entry;
	}
	if (code == OUTCOME_DONE)
		code = walk->list.code;
	return code == OUTCOME_DONE ? show_transactions(page, view, part) : code;
}

static enum outcome list_transactions(struct page *page, const struct filter *filter,
	struct row_walk *walk)
{
	struct view view = {.fields = transaction_fields, .more = transaction_more};
	struct transaction_part *part = calloc(1, sizeof(*part));
	enum outcome code;

	if (!part)
		return session_no_memory(&page->desk.session);
	view_begin(&view, page, "Transactions, the newest first", transaction_columns);
	code = walk_transactions(page, filter, walk, &view, part);
	free(part);
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
	walk_open(&walk, page, RECORD_TRANSACTION, &filter);
	code = walk_end(&walk, list_transactions(page, &filter, &walk));
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_foot(&walk);
	return page_end(page);
}

/* ---- callbacks */

/* A row of the list. */
struct callback_line {
	struct callback_row row; /* must be first */
	char retry[8];           /* "Retry" if the operator may send it again */
};

static const struct field callback_more[] = {
	FIELD(FIELD_STR, callback_row, user_id),
	FIELD(FIELD_MONEY, callback_row, amount),
	FIELD(FIELD_STR, callback_row, last),
	FIELD(FIELD_STR, callback_row, next),
	FIELD(FIELD_STR, callback_row, last_note),
	FIELD(FIELD_STR, callback_line, retry),
	FIELD_END,
};

/* Leads to the form on the page of the callback, which asks for the reason. */
static void lead_to_retry(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	*to = lead_number(page, "/callbacks", view_source_number(source, "event"));
	snprintf(to->text + to->len, sizeof(to->text) - to->len, "#act");
}

static const struct view_column callback_columns[] = {
	{"Mark", "event", VIEW_MARK, NULL},
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
	{"Retry", "retry", VIEW_PLAIN, lead_to_retry},
	VIEW_END,
};
#define CALLBACK_COLUMNS (sizeof(callback_columns) / sizeof(callback_columns[0]))
#define RETRY_AT         (CALLBACK_COLUMNS - 2) /* the last column; VIEW_END follows */

/* The column Retry is of the roles that may: a CSV has none. */
static bool may_retry(const struct page *page)
{
	return !page->route->csv && page->who.role >= ROLE_SUPPORT;
}

/* As the form of the callback's page offers it. */
static bool is_retried(const struct callback *callback)
{
	return callback->kind != CALLBACK_BETTING &&
		(callback->state == CALLBACK_DUE || callback->state == CALLBACK_PARKED);
}

/* Returns the wanted states, a set of bits. "waits" is every state that is not an end. */
static uint32_t wanted_states(const struct page *page)
{
	const char *wanted = params_get(&page->query, "state");
	uint32_t states = 0;

	for (unsigned int state = 0; state < CALLBACK_STATE_COUNT; state++) {
		if (!wanted[0] || strcmp(callback_state_names[state], wanted) == 0 ||
			(strcmp(wanted, "waits") == 0 && !callback_has_ended(state)))
			states |= UINT32_C(1) << state;
	}
	return states;
}

/* What the last attempt may be chosen by: its class, or the dealer's HTTP status. */
static const char *const last_names[] = {"success", "refused", "unknown", "not_sent", "4xx", "5xx"};

/* Returns true if the last attempt that ended is the one in the parameter "last". A wrong value selects nothing. */
static bool last_fits(const struct page *page, const struct callback *callback)
{
	const char *wanted = params_get(&page->query, "last");

	if (!wanted[0])
		return true;
	if (!callback_attempts_ended(callback))
		return false;
	if (strcmp(wanted + 1, "xx") == 0)
		return callback->last_http_status / 100 == (uint32_t)(wanted[0] - '0');
	return strcmp(wanted, callback_class_names[callback->last_class]) == 0;
}

/* Rows that are completed together, with few commands. */
struct callback_part {
	unsigned int count;
	struct callback_row rows[AHEAD_PART];
};

/* Completes the rows and shows them. The part is empty afterwards. */
static enum outcome show_callbacks(struct page *page, struct view *view, struct callback_part *part)
{
	enum outcome code = callback_rows_fill(&page->desk.session, part->rows, part->count);

	for (unsigned int i = 0; i < part->count && code == OUTCOME_DONE; i++) {
		struct callback_line line = {.row = part->rows[i]};

		if (may_retry(page) && is_retried(&line.row.callback))
			text_copy(line.retry, sizeof(line.retry), "Retry");
		view_row(view, &line);
	}
	memset(part, 0, sizeof(*part));
	return code;
}

/* Reads the rows that the filter selects. */
static enum outcome walk_callbacks(struct page *page, const struct filter *filter,
	struct row_walk *walk, struct view *view, struct callback_part *part)
{
	unsigned int kind = walk_choice(page, "kind", callback_kind_names, CALLBACK_KIND_COUNT);
	const uint32_t states = wanted_states(page);
	struct callback *callback = &part->rows[0].callback;
	enum outcome code = OUTCOME_DONE;
	enum filter_match match;

	while (code == OUTCOME_DONE && walk_next(walk, callback)) {
		walk->last_ms = callback->created_ms;
		match = filter_time(filter, callback->created_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP ||
			(kind != CALLBACK_KIND_COUNT && callback->kind != kind) ||
			!(states & UINT32_C(1) << callback->state) || !last_fits(page, callback) ||
			!filter_names(filter, callback->casino_id, callback->player_id,
				callback->game_id))
			continue;
		walk->shown++;
		if (++part->count == AHEAD_PART)
			code = show_callbacks(page, view, part);
		callback = &part->rows[part->count].callback;
	}
	if (code == OUTCOME_DONE)
		code = walk->list.code;
	return code == OUTCOME_DONE ? show_callbacks(page, view, part) : code;
}

static enum outcome list_callbacks(struct page *page, const struct filter *filter,
	struct row_walk *walk)
{
	struct view view = {.fields = callback_fields, .more = callback_more};
	struct view_column columns[CALLBACK_COLUMNS];
	struct callback_part *part = calloc(1, sizeof(*part));
	enum outcome code;

	if (!part)
		return session_no_memory(&page->desk.session);
	memcpy(columns, callback_columns, sizeof(columns));
	if (!may_retry(page))
		columns[RETRY_AT] = (struct view_column)VIEW_END;
	/* Only a list that offers a replay has marks. */
	view_begin(&view, page, "Callbacks, the newest first",
		columns + !replay_offer_may(page, filter));
	code = walk_callbacks(page, filter, walk, &view, part);
	free(part);
	view_end(&view, "No callback with this filter in the rows that were looked at.");
	walk_csv_end(&view, walk->stopped, walk->last);
	return code;
}

/* The ages of what waits, below the newest rows. The dealer of the filter counts, and nothing else of it. */
static enum outcome write_ages(struct page *page, const struct filter *filter)
{
	struct ages_of of;
	enum outcome code;

	if (params_get(&page->query, "after")[0])
		return OUTCOME_DONE;
	code = ages_read_of(page, filter->casino_id, &of);
	if (code == OUTCOME_DONE)
		code = ages_count(page, &of, 1, page->console->ages_rows);
	if (code == OUTCOME_DONE)
		ages_section(page, &of, 1, page->console->ages_rows, "");
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
		page_select(page, "Last attempt", "last", last_names,
			sizeof(last_names) / sizeof(last_names[0]),
			params_get(&page->query, "last"));
		page_button(page, "Show");
		html_close(&page->html);
	}
	offers = replay_offer_may(page, &filter);
	if (offers)
		replay_offer_open(page);
	walk_open(&walk, page, RECORD_CALLBACK, &filter);
	callbacks_narrow(&walk.list, filter.casino_id, wanted_states(page));
	code = walk_end(&walk, list_callbacks(page, &filter, &walk));
	if (code == OUTCOME_DONE && offers)
		code = replay_offer_close(page, &filter, &walk);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_foot(&walk);
	code = write_ages(page, &filter);
	return code == OUTCOME_DONE ? page_end(page) : code;
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
	const char *operator= params_get(&page->query, "operator");

	return (!action[0] || strstr(row->action, action)) &&
		(!object[0] || strstr(row->object, object)) &&
		(!operator[0] || strcmp(row->operator, operator) == 0);
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
		{"Operator", "operator"},
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
	walk_open(&walk, page, RECORD_AUDIT, &filter);
	walk.list.own = own;
	list_audit(page, &filter, &walk);
	code = walk_end(&walk, OUTCOME_DONE);
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	walk_foot(&walk);
	return page_end(page);
}
