/* pages/player - one player: the balance, the sums, and what happened last. */
#include "admin/list.h"
#include "admin/names.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "console/leads.h"
#include "console/routes.h"
#include "console/view.h"
#include "console/walk.h"

#include <stdlib.h>
#include <string.h>

/* The player with the sums. */
struct player_facts {
	struct player player; /* must be first */
	struct dealer dealer;
	struct lifetime lifetime;
	bool held_here;
};

static void lead_to_facts_dealer(struct page *page, const void *row, struct page_address *to)
{
	*to = lead_dealer(page, ((const struct player *)row)->casino_id);
}

static const struct field player_facts_fields[] = {
	FIELD_AS("casino_id", FIELD_STR, player_facts, player.casino_id),
	FIELD_AS("user_id", FIELD_STR, player_facts, player.user_id),
	FIELD_AS("player_id", FIELD_STR, player_facts, player.player_id),
	FIELD_AS("balance", FIELD_MONEY, player_facts, player.balance),
	FIELD_AS("currency", FIELD_STR, player_facts, dealer.currency),
	FIELD(FIELD_BOOL, player_facts, held_here),
	FIELD_AS("suspended", FIELD_BOOL, player_facts, player.suspended),
	FIELD_AS("created_ms", FIELD_TIME_MS, player_facts, player.created_ms),
	FIELD_AS("bet_count", FIELD_U64, player_facts, lifetime.sums.bet_count),
	FIELD_AS("turnover", FIELD_SUM, player_facts, lifetime.sums.turnover),
	FIELD_AS("profit_loss", FIELD_SUM, player_facts, lifetime.sums.profit_loss),
	FIELD_END,
};

static const struct view_column facts_columns[] = {
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_facts_dealer},
	{"User id", "user_id", VIEW_ID, NULL},
	{"Player id", "player_id", VIEW_ID, NULL},
	{"Balance here", "balance", VIEW_PLAIN, NULL},
	{"Currency", "currency", VIEW_PLAIN, NULL},
	{"Credit is kept here", "held_here", VIEW_PLAIN, NULL},
	{"Suspended", "suspended", VIEW_IF_ANY, NULL},
	{"Registered", "created_ms", VIEW_PLAIN, NULL},
	{"Bets settled", "bet_count", VIEW_PLAIN, NULL},
	{"Turnover", "turnover", VIEW_PLAIN, NULL},
	{"Result", "profit_loss", VIEW_PLAIN, NULL},
	VIEW_END,
};

static void lead_to_movement(struct page *page, const void *row, struct page_address *to)
{
	*to = lead_number(page, "/transactions", ((const struct transaction *)row)->transaction_id);
}

static void lead_to_movement_game(struct page *page, const void *row, struct page_address *to)
{
	const struct transaction *entry = row;

	*to = lead_round(page, entry->player_id, entry->game_id);
}

static const struct view_column movement_columns[] = {
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"Transaction", "transaction_id", VIEW_PLAIN, lead_to_movement},
	{"What", "kind", VIEW_PLAIN, NULL},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"Before", "before_balance", VIEW_PLAIN, NULL},
	{"After", "current_balance", VIEW_PLAIN, NULL},
	{"Game", "game_id", VIEW_PLAIN, lead_to_movement_game},
	{"Reference", "request_transaction_id", VIEW_PLAIN, NULL},
	VIEW_END,
};

static void lead_to_player_bet(struct page *page, const void *row, struct page_address *to)
{
	*to = lead_number(page, "/bets", ((const struct bet *)row)->transaction_id);
}

static void lead_to_player_game(struct page *page, const void *row, struct page_address *to)
{
	const struct bet *bet = row;

	*to = lead_round(page, bet->player_id, bet->game_id);
}

static const struct view_column bet_columns[] = {
	{"Placed", "accepted_ms", VIEW_PLAIN, NULL},
	{"Bet", "transaction_id", VIEW_PLAIN, lead_to_player_bet},
	{"Amount", "bet_amount", VIEW_PLAIN, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Game", "game_id", VIEW_PLAIN, lead_to_player_game},
	{"Game server", "client_id", VIEW_PLAIN, NULL},
	{"Reference", "request_transaction_id", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* Walks the chain of the player's transactions from the one in the address, or from the last. */
static enum outcome show_movements(struct page *page, const struct player *player)
{
	struct view view = {.fields = transaction_fields};
	const uint64_t most = page->route->csv ? PAGE_CSV_ROWS : PAGE_ROWS;
	struct transaction row;
	enum outcome code = OUTCOME_DONE;
	uint64_t at = player->entry_transaction_id, after;
	bool found = true;

	if (text_unsigned(params_get(&page->query, "after"), TRANSACTION_ID_MAX, &after) && after)
		at = after;
	view_begin(&view, page, "Transactions that moved credit here, the newest first",
		movement_columns);
	while (at && view.rows < most && code == OUTCOME_DONE) {
		code = transaction_fetch(&page->desk.session, at, &row, &found);
		/* The address may name the transaction of another player. */
		if (code != OUTCOME_DONE || !found || strcmp(row.player_id, player->player_id) != 0)
			break;
		view_row(&view, &row);
		at = row.previous;
	}
	view_end(&view, "No credit of this player has moved here.");
	if (!page->route->csv && code == OUTCOME_DONE)
		walk_links(page, found ? at : 0);
	return code;
}

static int compare_newer(const void *a, const void *b)
{
	uint64_t left = ((const struct bet *)a)->transaction_id;
	uint64_t right = ((const struct bet *)b)->transaction_id;

	return (left < right) - (left > right);
}

/*
 * Shows the newest of the player's bets. The bets are stored by game, so the page reads up to
 * PAGE_LOOK_MAX of them.
 */
static enum outcome show_bets(struct page *page, const struct player *player)
{
	struct view view = {.fields = bet_fields};
	struct bet *bets = calloc(PAGE_LOOK_MAX, sizeof(*bets));
	struct list list;
	struct bet row;
	size_t count = 0;
	enum outcome code;

	if (!bets)
		return session_no_memory(&page->desk.session);
	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, player->player_id, sizeof(row.player_id));
	list_open(&list, &page->desk.session, RECORD_BET, false, 1, &row);
	while (count < PAGE_LOOK_MAX && list_next(&list, &bets[count]))
		count++;
	qsort(bets, count, sizeof(*bets), compare_newer);
	code = list_end(&list, OUTCOME_DONE);
	view_begin(&view, page, "Bets, the newest first", bet_columns);
	for (size_t i = 0; i < count && i < PAGE_ROWS; i++)
		view_row(&view, &bets[i]);
	view_end(&view, "This player has never placed a bet.");
	if (count == PAGE_LOOK_MAX)
		page_paragraph(page,
			"This player has 1,024 bets or more. Those above are the newest of the "
			"first 1,024 in the order of their games. See Transactions for all.");
	free(bets);
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
	facts->held_here = facts->dealer.mode == WALLET_TRANSFER;
	return code;
}

enum outcome page_player(struct page *page)
{
	struct player_facts facts;
	enum outcome code;

	memset(&facts, 0, sizeof(facts));
	code = fetch_facts(page, &facts);
	if (code == OUTCOME_FAILED)
		return page_error(page, 404, page->desk.session.failure.detail,
			"Looked at player ids, and at the user id of the dealer before the slash.");
	if (code != OUTCOME_DONE)
		return code;
	page_dealer_zone(page, facts.dealer.utc_offset_min);
	if (page->route->csv)
		return show_movements(page, &facts.player);
	page_begin_id(page, "Player", facts.player.user_id);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Account");
	view_pairs(page, facts_columns, player_facts_fields, &facts);
	html_close(&page->html);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Credit");
	code = show_movements(page, &facts.player);
	html_close(&page->html);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Bets");
	if (code == OUTCOME_DONE)
		code = show_bets(page, &facts.player);
	html_close(&page->html);
	return code == OUTCOME_DONE ? page_end(page) : code;
}
