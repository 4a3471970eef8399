/* pages/transfer - one request key: a transfer or an adjustment, what it moved, or why it was refused. */
#include "admin/list.h"
#include "admin/names.h"
#include "admin/callbacks/stories.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "console/sections/game.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/sections/timeline.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "domain/money.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct view_column request_columns[] = {
	{"Reference", "request_transaction_id", VIEW_ID, NULL},
	{"Of", "scope", VIEW_PLAIN, NULL},
	{"Owner", "owner", VIEW_PLAIN, NULL},
	{"What", "kind", VIEW_PLAIN, NULL},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"The whole balance", "all", VIEW_IF_ANY, NULL},
	{"Refused", "outcome", VIEW_STATE, NULL},
	{"Player", "player_id", VIEW_PLAIN, lead_to_player},
	{"Transaction", "transaction_id", VIEW_IF_ANY, NULL},
	{"Balance after it", "current_balance", VIEW_PLAIN, NULL},
	{"Recorded", "time_ms", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column movement_columns[] = {
	{"Transaction", "transaction_id", VIEW_PLAIN, NULL},
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"What", "kind", VIEW_PLAIN, NULL},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"Before", "before_balance", VIEW_PLAIN, NULL},
	{"After", "current_balance", VIEW_PLAIN, NULL},
	{"Number of the player", "entry_seq", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* Reads the key in the address. Returns false if it cannot be one. */
static bool read_key(const struct page *page, struct request *row)
{
	unsigned int scope = walk_choice(page, "of", request_scope_names, SCOPE_COUNT);

	memset(row, 0, sizeof(*row));
	if (scope == SCOPE_COUNT)
		return false;
	row->scope = (enum request_scope)scope;
	return text_copy(row->owner, sizeof(row->owner), params_get(&page->query, "owner")) &&
		text_copy(row->request_transaction_id, sizeof(row->request_transaction_id),
			params_get(&page->query, "reference"));
}

/* A bet and a result have a page of their own. */
static bool go_to_game(struct page *page, const struct request *row)
{
	struct page_address to;

	if (!row->game_id[0] || !row->player_id[0])
		return false;
	if (row->kind == ENTRY_BET && row->transaction_id)
		to = lead_number(page, "/bets", row->transaction_id);
	else
		to = lead_round(page, row->player_id, row->game_id);
	page_go(page, &to);
	return true;
}

/* Fetches the rows that the key names. */
static enum outcome fetch_rows(struct page *page, const struct request *row,
	struct player_name *name, struct transaction *entry)
{
	struct session *session = &page->desk.session;
	struct dealer dealer;
	enum outcome code = OUTCOME_DONE;

	memset(name, 0, sizeof(*name));
	memset(entry, 0, sizeof(*entry));
	if (row->player_id[0])
		code = names_of(session, row->player_id, name);
	else if (row->scope == SCOPE_DEALER)
		text_copy(name->casino_id, sizeof(name->casino_id), row->owner);
	if (code == OUTCOME_DONE && name->casino_id[0]) {
		code = names_dealer(session, name->casino_id, &dealer);
		if (code == OUTCOME_DONE)
			page_dealer_zone(page, dealer.utc_offset_min);
	}
	if (code == OUTCOME_DONE && row->transaction_id)
		code = movement_fetch(session, row->transaction_id, entry);
	return code;
}

/* What the call asked for, and what was recorded. */
static void add_steps(struct timeline *timeline, const struct request *row,
	const struct transaction *entry)
{
	const struct refusal_info *info = refusal_info(row->outcome);
	char amount[MONEY_TEXT_MAX], before[MONEY_TEXT_MAX], after[MONEY_TEXT_MAX];

	money_format(row->amount, 2, amount);
	timeline_add(timeline, row->time_ms, "Call", "%s %s asks for %s%s, reference %s",
		row->scope == SCOPE_OPERATOR ? "operator" : "dealer", row->owner,
		entry_kind_names[row->kind], row->all ? " of the whole balance" : "",
		row->request_transaction_id);
	if (entry->transaction_id) {
		money_format(entry->before_balance, 2, before);
		money_format(entry->current_balance, 2, after);
		timeline_add(timeline, entry->time_ms, "Recorded",
			"transaction %" PRIu64 ": %s, balance %s before, %s after",
			entry->transaction_id, amount, before, after);
		timeline_add(timeline, row->time_ms, "Answered", "200");
	} else {
		timeline_add(timeline, row->time_ms, "Recorded and answered",
			"%d %s: %s, nothing moved", info->code, info->id, amount);
	}
}

static enum outcome write_timeline(struct page *page, const struct request *row,
	const struct transaction *entry, const struct story *story)
{
	struct timeline *timeline = malloc(sizeof(*timeline));
	enum outcome code;

	if (!timeline)
		return session_no_memory(&page->desk.session);
	timeline_begin(timeline, page);
	add_steps(timeline, row, entry);
	code = timeline_refused(timeline, row->owner, row->request_transaction_id);
	if (code == OUTCOME_DONE)
		code = timeline_write(timeline, story);
	free(timeline);
	return code;
}

static void show_way(struct page *page, const struct player_name *name)
{
	if (name->player_id[0])
		places_player(page, name->casino_id, name->player_id, name->user_id);
	else if (name->casino_id[0])
		places_dealer(page, name->casino_id);
	else
		places_section(page, "/transactions");
}

static enum outcome show_request(struct page *page, const struct request *row)
{
	struct transaction entry;
	struct player_name name;
	struct story story;
	enum outcome code = fetch_rows(page, row, &name, &entry);

	if (code != OUTCOME_DONE)
		return code;
	show_way(page, &name);
	page_begin_id(page, row->kind == ENTRY_ADJUST ? "Adjustment" : "Transfer",
		row->request_transaction_id);
	if (!request_is_batch(row)) {
		stories_request(row, entry.transaction_id ? &entry : NULL, &name, &story);
		game_story(page, &story);
		code = write_timeline(page, row, &entry, &story);
	}
	if (code != OUTCOME_DONE)
		return code;
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Request");
	view_pairs(page, request_columns, request_fields, row);
	html_close(&page->html);
	if (entry.transaction_id) {
		html_open(&page->html, "section");
		html_element(&page->html, "h2", "", "Movement");
		view_pairs(page, movement_columns, transaction_fields, &entry);
		html_close(&page->html);
	}
	return page_end(page);
}

enum outcome page_transfer(struct page *page)
{
	struct request row;
	enum outcome code = OUTCOME_DONE;
	bool found = false;

	if (read_key(page, &row))
		code = list_fetch(&page->desk.session, RECORD_REQUEST, &row, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		return page_error(page, 404, "This reference was never used.",
			"Looked at the references of the owner in the address. A call that was "
			"refused without a record is on the page of refused calls.");
	return go_to_game(page, &row) ? OUTCOME_DONE : show_request(page, &row);
}
