/* pages/player - one player: the balance, the sums, and what happened last. */
#include "admin/ahead.h"
#include "admin/bets.h"
#include "admin/list.h"
#include "admin/names.h"
#include "admin/seek.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "console/sections/balance.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/pages/routes.h"
#include "console/pages/suspend.h"
#include "console/sections/player_days.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "domain/statistics.h"

#include <stdlib.h>
#include <string.h>

#define PLAYER_ROWS 64 /* of a table of the page */
/* Bets that the page looks at: each of its commands waits for the desk's share of the ledger. */
#define PLAYER_BETS 256

/* The player with the sums. */
struct player_facts {
	struct player player; /* must be first */
	struct dealer dealer;
	struct lifetime lifetime;
	char kept[16]; /* where the credit is */
};

static const struct field player_facts_fields[] = {
	FIELD_AS("casino_id", FIELD_STR, player_facts, player.casino_id),
	FIELD_AS("user_id", FIELD_STR, player_facts, player.user_id),
	FIELD_AS("player_id", FIELD_STR, player_facts, player.player_id),
	FIELD_AS("balance", FIELD_MONEY, player_facts, player.balance),
	FIELD_AS("currency", FIELD_STR, player_facts, dealer.currency),
	FIELD(FIELD_STR, player_facts, kept),
	FIELD_AS("suspended", FIELD_BOOL, player_facts, player.suspended),
	FIELD_AS("created_ms", FIELD_TIME_MS, player_facts, player.created_ms),
	FIELD_AS("bet_count", FIELD_U64, player_facts, lifetime.sums.bet_count),
	FIELD_AS("turnover", FIELD_SUM, player_facts, lifetime.sums.turnover),
	FIELD_AS("profit_loss", FIELD_SUM, player_facts, lifetime.sums.profit_loss),
	FIELD_END,
};

static const struct view_column facts_columns[] = {
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_dealer},
	{"User id", "user_id", VIEW_ID, NULL},
	{"Player id", "player_id", VIEW_ID, NULL},
	{"Credit is kept", "kept", VIEW_PLAIN, NULL},
	{"Balance here", "balance", VIEW_PLAIN, NULL},
	{"Currency", "currency", VIEW_PLAIN, NULL},
	{"Suspended", "suspended", VIEW_IF_ANY, NULL},
	{"Registered", "created_ms", VIEW_PLAIN, NULL},
	{"Bets accepted", "bet_count", VIEW_COUNT, NULL},
	{"Turnover", "turnover", VIEW_PLAIN, NULL},
	{"Result", "profit_loss", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column movement_columns[] = {
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"Transaction", "transaction_id", VIEW_PLAIN, lead_to_transaction},
	{"What", "kind", VIEW_PLAIN, NULL},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"Before", "before_balance", VIEW_PLAIN, NULL},
	{"After", "current_balance", VIEW_PLAIN, NULL},
	{"Game", "game_id", VIEW_PLAIN, lead_to_round},
	{"Reference", "request_transaction_id", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column bet_columns[] = {
	{"Placed", "accepted_ms", VIEW_PLAIN, NULL},
	{"Bet", "transaction_id", VIEW_PLAIN, lead_to_bet},
	{"Amount", "bet_amount", VIEW_PLAIN, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Game", "game_id", VIEW_PLAIN, lead_to_round},
	{"Game server", "client_id", VIEW_PLAIN, NULL},
	{"Reference", "request_transaction_id", VIEW_PLAIN, NULL},
	{"Callback", "callback", VIEW_STATE, NULL},
	VIEW_END,
};

/* A row of the table of bets. */
struct bet_line {
	struct bet bet; /* must be first */
	struct bet_callback callback;
};

static const struct field bet_more[] = {
	FIELD_AS("callback", FIELD_STR, bet_line, callback.state),
	FIELD_END,
};

/* What the query selects of the player's transactions and bets. */
struct selection {
	unsigned int kind;  /* of transactions; ENTRY_KIND_COUNT: each */
	unsigned int state; /* of bets; BET_STATE_COUNT: each */
	struct filter day;  /* its times */
};

static enum outcome read_selection(struct page *page, struct selection *selection)
{
	const char *day = params_get(&page->query, "day");
	struct filter *times = &selection->day;

	memset(selection, 0, sizeof(*selection));
	selection->kind = walk_choice(page, "kind", entry_kind_names, ENTRY_KIND_COUNT);
	selection->state = walk_choice(page, "state", bet_state_names, BET_STATE_COUNT);
	times->until_ms = INT64_MAX;
	if (!day[0])
		return OUTCOME_DONE;
	if (strlen(day) != sizeof("2026-01-31") - 1 ||
		!zone_read(&page->zone, day, page->now_ms, false, &times->since_ms))
		return session_usage(&page->desk.session, "'%s' is no day: YYYY-MM-DD", day);
	times->until_ms = times->since_ms + STATISTICS_DAY_MS;
	return OUTCOME_DONE;
}

static void write_selection(struct page *page)
{
	static const struct page_filter_input inputs[] = {{"Day (YYYY-MM-DD)", "day"}};

	page_filter(page, inputs, 1);
	page_hidden(page, "id", params_get(&page->query, "id"));
	page_select(page, "What moved credit", "kind", entry_kind_names, ENTRY_SEAL,
		params_get(&page->query, "kind"));
	page_select(page, "State of bets", "state", bet_state_names, BET_STATE_COUNT,
		params_get(&page->query, "state"));
	page_button(page, "Show");
	html_close(&page->html);
}

/*
 * The list of all transactions finds a day by halving. The chain of a player can only be walked from its end.
 */
static void write_day_link(struct page *page, const struct player *player, const struct filter *day)
{
	struct page_address to = page_address(page, "/transactions");

	address_add(&to, "casino", player->casino_id);
	address_add(&to, "user", player->user_id);
	address_add_number(&to, "since", (uint64_t)day->since_ms);
	address_add_number(&to, "until", (uint64_t)day->until_ms);
	html_open(&page->html, "p");
	page_link(page, &to, "All transactions of this player on that day");
	html_close(&page->html);
}

/* Shows the player's transactions after the one in the address, or from the last. */
static enum outcome show_movements(struct page *page, const struct player *player,
	const struct selection *selection)
{
	struct view view = {.fields = transaction_fields};
	struct row_walk walk = {.page = page,
		.rows = page->route->csv ? page->console->csv_rows : PLAYER_ROWS};
	const uint64_t looks = page->route->csv ? PAGE_CSV_LOOK_MAX : PAGE_LOOK_MAX;
	struct movements movements;
	struct transaction row;
	enum outcome code = OUTCOME_DONE;
	uint64_t after;

	movements_open(&movements, &page->desk.session, player);
	if (text_unsigned(params_get(&page->query, "after"), TRANSACTION_ID_MAX, &after) && after)
		code = movements_behind(&movements, after);
	if (code != OUTCOME_DONE)
		return movements_end(&movements, code);
	view_begin(&view, page, "Transactions that moved credit here, the newest first",
		movement_columns);
	for (;;) {
		enum filter_match match;

		walk.stopped = view.rows >= walk.rows || walk.looked >= looks;
		if (walk.stopped || !movements_next(&movements, &row))
			break;
		walk.looked++;
		walk.last = row.transaction_id;
		walk.last_ms = row.time_ms;
		match = filter_time(&selection->day, row.time_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_TAKE &&
			(selection->kind == ENTRY_KIND_COUNT || row.kind == selection->kind))
			view_row(&view, &row);
	}
	/* The first transaction of a player has no earlier one. */
	walk.stopped = walk.stopped && (!walk.looked || row.previous);
	view_end(&view,
		player->entry_seq ? "No transaction with this filter in those that were looked at."
				  : "No credit of this player has moved here.");
	walk_csv_end(&view, walk.stopped, walk.last);
	code = movements_end(&movements, code);
	if (code == OUTCOME_DONE)
		walk_foot(&walk);
	return code;
}

/* The newest bets of a player. */
struct bet_walk {
	struct page *page;
	const struct selection *selection;
	struct view view;
	struct ahead ahead;
	struct player_bet found[AHEAD_PART]; /* the next ones, which are read together */
	unsigned int count;
	/* Of them, those that are selected. */
	struct bet bets[AHEAD_PART];
	struct bet_callback callbacks[AHEAD_PART];
	unsigned int selected;
	unsigned int looked;
	unsigned int shown;
	bool over; /* all further bets are of earlier days, or enough were shown */
};

/* Reads a bet, and keeps it if it is selected. */
static enum outcome take_player_bet(struct bet_walk *walk, const struct player_bet *found)
{
	enum filter_match match;
	enum outcome code;
	struct bet bet;
	bool there;

	bets_name(&bet, found->player_id, found->game_id, found->bet_number);
	code = list_fetch(&walk->page->desk.session, RECORD_BET, &bet, &there, NULL);
	if (code != OUTCOME_DONE || !there)
		return code;
	match = filter_time(&walk->selection->day, bet.accepted_ms);
	if (match == FILTER_TAKE &&
		(walk->selection->state == BET_STATE_COUNT ||
			bet.state == walk->selection->state)) {
		walk->callbacks[walk->selected] = bet_callback_of(&bet);
		walk->bets[walk->selected++] = bet;
		walk->shown++;
	}
	walk->over = match == FILTER_END || walk->shown == PLAYER_ROWS;
	return OUTCOME_DONE;
}

/* Reads the bets that were found, and shows those that are selected. */
static enum outcome show_found(struct bet_walk *walk)
{
	enum outcome code;
	struct bet key;

	ahead_open(&walk->ahead, &walk->page->desk.session);
	for (unsigned int i = 0; i < walk->count; i++) {
		bets_name(&key, walk->found[i].player_id, walk->found[i].game_id,
			walk->found[i].bet_number);
		ahead_want(&walk->ahead, RECORD_BET, &key);
	}
	code = ahead_read(&walk->ahead);
	for (unsigned int i = 0; i < walk->count && code == OUTCOME_DONE && !walk->over; i++)
		code = take_player_bet(walk, &walk->found[i]);
	ahead_close(&walk->ahead);
	if (code == OUTCOME_DONE && walk->selected)
		code = bet_callbacks_fill(&walk->page->desk.session, walk->callbacks,
			walk->selected);
	for (unsigned int i = 0; i < walk->selected && code == OUTCOME_DONE; i++) {
		const struct bet_line line = {.bet = walk->bets[i], .callback = walk->callbacks[i]};

		view_row(&walk->view, &line);
	}
	walk->selected = walk->count = 0;
	return code;
}

static enum outcome walk_bets(struct bet_walk *walk, const char *player_id)
{
	enum outcome code = OUTCOME_DONE;
	struct player_bet key;
	struct list list;
	uint64_t before = 0;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), player_id);
	list_open(&list, &walk->page->desk.session, RECORD_PLAYER_BET, true, 1, &key);
	if (walk->selection->day.until_ms < walk->page->now_ms) {
		code = seek_before(&walk->page->desk.session, RECORD_TRANSACTION,
			walk->selection->day.until_ms, &before);
		/* Before the first transaction there is no bet: the list begins, and ends, at 1. */
		key.transaction_id = before + 1;
		list_behind(&list, &key);
	}
	while (code == OUTCOME_DONE && !walk->over && walk->looked < PLAYER_BETS &&
		list_next(&list, &walk->found[walk->count])) {
		walk->looked++;
		if (++walk->count == AHEAD_PART)
			code = show_found(walk);
	}
	code = list_end(&list, code);
	return code == OUTCOME_DONE && walk->count ? show_found(walk) : code;
}

/* Writes where the bets are that the page does not show. @looked: what it has looked at; "": it shows as many as it may. */
static void write_older_bets(struct page *page, const struct player *player,
	const struct filter *day, const char *looked)
{
	struct page_address to = page_address(page, "/transactions");
	struct html *html = &page->html;

	address_add(&to, "casino", player->casino_id);
	address_add(&to, "user", player->user_id);
	address_add(&to, "kind", "bet");
	if (day->since_ms) {
		address_add_number(&to, "since", (uint64_t)day->since_ms);
		address_add_number(&to, "until", (uint64_t)day->until_ms);
	}
	html_open(html, "p");
	html_text(html, looked);
	html_text(html, day->since_ms ? "All bets of the day are under " : "Older bets are under ");
	page_link(page, &to, "Transactions");
	html_text(html, ".");
	html_close(html);
}

/* Shows the newest bets of the player, looking at PLAYER_BETS of them. */
static enum outcome show_bets(struct page *page, const struct player *player,
	const struct selection *selection)
{
	struct bet_walk *walk = calloc(1, sizeof(*walk));
	enum outcome code;

	if (!walk)
		return session_no_memory(&page->desk.session);
	walk->page = page;
	walk->selection = selection;
	walk->view.fields = bet_fields;
	walk->view.more = bet_more;
	view_begin(&walk->view, page, "Bets, the newest first", bet_columns);
	code = walk_bets(walk, player->player_id);
	view_end(&walk->view,
		selection->state != BET_STATE_COUNT ? "No bet with this state."
			: selection->day.since_ms   ? "No bet of that day."
						    : "This player has never placed a bet.");
	if (walk->shown == PLAYER_ROWS)
		write_older_bets(page, player, &selection->day, "");
	else if (!walk->over && walk->looked == PLAYER_BETS)
		write_older_bets(page, player, &selection->day,
			selection->day.since_ms
				? "Only the newest 256 bets up to that day were looked at. "
				: "Only the newest 256 bets were looked at. ");
	free(walk);
	return code;
}

static enum outcome fetch_facts(struct page *page, struct player_facts *facts)
{
	struct session *session = &page->desk.session;
	struct player *player = &facts->player;
	const char *id = params_get(&page->query, "id");
	enum outcome code = names_player_word(session, id, player);
	bool found;

	if (code == OUTCOME_DONE)
		code = names_dealer(session, player->casino_id, &facts->dealer);
	memcpy(facts->lifetime.player_id, player->player_id, sizeof(facts->lifetime.player_id));
	if (code == OUTCOME_DONE)
		code = list_fetch(session, RECORD_LIFETIME, &facts->lifetime, &found, NULL);
	text_copy(facts->kept, sizeof(facts->kept),
		facts->dealer.mode == WALLET_TRANSFER ? "here" : "at the dealer");
	return code;
}

static enum outcome no_player(struct page *page)
{
	return page_error(page, 404, page->desk.session.failure.detail,
		"Looked at player ids, and at the user id of the dealer before the slash.");
}

enum outcome page_player_days(struct page *page)
{
	struct player_facts facts;
	enum outcome code;

	memset(&facts, 0, sizeof(facts));
	code = fetch_facts(page, &facts);
	if (code == OUTCOME_FAILED)
		return no_player(page);
	return code == OUTCOME_DONE ? player_days(page, &facts.player, &facts.dealer) : code;
}

enum outcome page_player(struct page *page)
{
	struct balance balance = {.asked_ms = 0};
	struct selection selection;
	struct player_facts facts;
	enum outcome code;

	memset(&facts, 0, sizeof(facts));
	code = fetch_facts(page, &facts);
	if (code == OUTCOME_FAILED)
		return no_player(page);
	if (code != OUTCOME_DONE)
		return code;
	page_dealer_zone(page, facts.dealer.utc_offset_min);
	code = read_selection(page, &selection);
	if (code != OUTCOME_DONE)
		return code;
	if (page->route->csv)
		return show_movements(page, &facts.player, &selection);
	if (page->post && !balance_ask(page, &facts.player, &balance))
		return OUTCOME_DONE;
	places_dealer(page, facts.player.casino_id);
	page_begin_id(page, "Player", facts.player.user_id);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Account");
	view_pairs(page, facts_columns, player_facts_fields, &facts);
	if (facts.dealer.mode != WALLET_TRANSFER)
		balance_write(page, &facts.player, &balance);
	html_close(&page->html);
	code = player_days(page, &facts.player, &facts.dealer);
	write_selection(page);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Credit");
	if (selection.day.until_ms < page->now_ms)
		write_day_link(page, &facts.player, &selection.day);
	else if (code == OUTCOME_DONE)
		code = show_movements(page, &facts.player, &selection);
	html_close(&page->html);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Bets");
	if (code == OUTCOME_DONE)
		code = show_bets(page, &facts.player, &selection);
	html_close(&page->html);
	suspend_player_form(page, &facts.player);
	return code == OUTCOME_DONE ? page_end(page) : code;
}

enum outcome page_player_balance(struct page *page)
{
	/* The answer stands on the player's page, whose links and filter lead to itself. */
	page->route = routes_find("/player", &page->number);
	return page_player(page);
}
