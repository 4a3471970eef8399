/* pages/game - the pages of one bet, of one round, and of a transaction id, which leads to one of them. */
#include "admin/list.h"
#include "admin/stories.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "console/game.h"
#include "console/leads.h"
#include "console/routes.h"
#include "console/view.h"
#include "domain/wager.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bets that a page of a round shows. */
#define ROUND_BETS_SHOWN 64

static enum outcome no_transaction(struct page *page)
{
	char what[96];

	snprintf(what, sizeof(what), "There is no transaction %" PRIu64 ".", page->number);
	return page_error(page, 404, what, "Looked at all transactions of this installation.");
}

enum outcome page_transaction(struct page *page)
{
	struct transaction row;
	struct page_address to;
	enum outcome code;
	bool found;

	code = transaction_fetch(&page->desk.session, page->number, &row, &found);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		return no_transaction(page);
	if (row.kind == ENTRY_BET)
		to = lead_number(page, "/bets", row.transaction_id);
	else if (row.game_id[0])
		to = lead_round(page, row.player_id, row.game_id);
	else
		to = lead_request(page, row.scope, entry_owner(&row), row.request_transaction_id);
	return page_go(page, &to);
}

/* ---- bet */

static void lead_to_player_of(struct page *page, const void *row, struct page_address *to)
{
	*to = lead_player(page, ((const struct bet *)row)->player_id);
}

static void lead_to_round_of(struct page *page, const void *row, struct page_address *to)
{
	const struct bet *bet = row;

	*to = lead_round(page, bet->player_id, bet->game_id);
}

static const struct view_column bet_columns[] = {
	{"Transaction", "transaction_id", VIEW_PLAIN, NULL},
	{"Dealer", "casino_id", VIEW_PLAIN, NULL},
	{"Player", "player_id", VIEW_PLAIN, lead_to_player_of},
	{"Game", "game_id", VIEW_PLAIN, lead_to_round_of},
	{"Bet of the round", "number", VIEW_PLAIN, NULL},
	{"Amount", "bet_amount", VIEW_PLAIN, NULL},
	{"Addition", "addition", VIEW_IF_ANY, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Placed", "accepted_ms", VIEW_PLAIN, NULL},
	{"In this state since", "changed_ms", VIEW_PLAIN, NULL},
	{"Wallet", "mode", VIEW_PLAIN, NULL},
	{"Game server", "client_id", VIEW_PLAIN, NULL},
	{"Its reference", "request_transaction_id", VIEW_ID, NULL},
	{"Dealer's error", "dealer_error_id", VIEW_IF_ANY, NULL},
	{"Dealer's text", "dealer_error_detail", VIEW_IF_ANY, NULL},
	{"Balance at the dealer", "balance", VIEW_IF_ANY, NULL},
	{"Cancelled", "cancelled", VIEW_IF_ANY, NULL},
	{"Settled outside by", "resolved_by", VIEW_IF_ANY, NULL},
	{"Remark", "remark", VIEW_IF_ANY, NULL},
	VIEW_END,
};

/* Writes the answer that the game server got for the bet. */
static void write_answer(struct page *page, const struct bet *bet)
{
	const struct refusal_info *info = refusal_info(bet_refusal(bet));

	html_open(&page->html, "p");
	if (info->id[0])
		html_printf(&page->html, "A repeated request for this bet is answered %d %s.",
			info->code, info->id);
	else
		html_text(&page->html,
			"A repeated request for this bet is answered 200: it counts.");
	html_close(&page->html);
}

/* Fetches the bet of page->number with its round. *found: whether both exist. */
static enum outcome fetch_bet(struct page *page, struct game_rows *game, struct bet *bet,
	struct buffer *bytes, bool *found)
{
	struct session *session = &page->desk.session;
	struct transaction row;
	enum outcome code = transaction_fetch(session, page->number, &row, found);

	*found = code == OUTCOME_DONE && *found && row.kind == ENTRY_BET;
	if (*found)
		code = game_fetch(page, row.player_id, row.game_id, game, found);
	memset(bet, 0, sizeof(*bet));
	buffer_init(bytes, 0);
	if (code != OUTCOME_DONE || !*found)
		return code;
	memcpy(bet->player_id, row.player_id, sizeof(bet->player_id));
	memcpy(bet->game_id, row.game_id, sizeof(bet->game_id));
	bet->number = row.bet_number;
	return list_fetch_bytes(session, RECORD_BET, bet, found, bytes);
}

static enum outcome show_bet(struct page *page, struct game_rows *game, const struct bet *bet)
{
	struct story story;
	char number[24];
	enum outcome code = stories_bet(&page->desk.session, &game->round, bet, false, &story);

	if (code != OUTCOME_DONE)
		return code;
	snprintf(number, sizeof(number), "%" PRIu64, bet->transaction_id);
	page_begin_id(page, "Bet", number);
	game_story(page, &story);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Bet");
	view_pairs(page, bet_columns, bet_fields, bet);
	write_answer(page, bet);
	game_bytes(page, "user_bet, as the game server sent it", bet->user_bet);
	if (bet->dropped)
		page_paragraph(page, "Retention dropped the objects of this bet.");
	html_close(&page->html);
	game_round(page, game);
	game_add_event(game, bet->event);
	game_add_event(game, bet->refund_event);
	if (bet->state == BET_SETTLED)
		game_add_event(game, game->round.event);
	if (bet->state == BET_SETTLED && game->round.last_event != game->round.event)
		game_add_event(game, game->round.last_event);
	code = game_callbacks(page, game);
	return code == OUTCOME_DONE ? page_end(page) : code;
}

enum outcome page_bet(struct page *page)
{
	struct game_rows game;
	struct buffer bytes;
	struct bet bet;
	bool found = false;
	enum outcome code = fetch_bet(page, &game, &bet, &bytes, &found);

	if (code == OUTCOME_DONE)
		code = found ? show_bet(page, &game, &bet) : no_transaction(page);
	buffer_free(&bytes);
	return code;
}

/* ---- round */

static void lead_to_bet_of(struct page *page, const void *row, struct page_address *to)
{
	*to = lead_number(page, "/bets", ((const struct bet *)row)->transaction_id);
}

static const struct view_column bets_columns[] = {
	{"No.", "number", VIEW_PLAIN, NULL},
	{"Transaction", "transaction_id", VIEW_PLAIN, lead_to_bet_of},
	{"Placed", "accepted_ms", VIEW_PLAIN, NULL},
	{"Amount", "bet_amount", VIEW_PLAIN, NULL},
	{"Addition", "addition", VIEW_IF_ANY, NULL},
	{"State", "state", VIEW_STATE, NULL},
	{"Dealer's error", "dealer_error_id", VIEW_PLAIN, NULL},
	{"Reference", "request_transaction_id", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column correction_columns[] = {
	{"Revision", "revision", VIEW_PLAIN, NULL},
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"Transaction", "transaction_id", VIEW_PLAIN, NULL},
	{"Result", "result", VIEW_PLAIN, NULL},
	{"Payout", "payout_amount", VIEW_PLAIN, NULL},
	{"Before", "previous_payout", VIEW_PLAIN, NULL},
	{"Shortfall", "shortfall", VIEW_IF_ANY, NULL},
	{"Reason", "reason", VIEW_PLAIN, NULL},
	VIEW_END,
};

static enum outcome show_bets(struct page *page, struct game_rows *game)
{
	struct view view = {.fields = bet_fields};
	struct list list;
	struct bet row;
	uint64_t after = 0;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, game->round.player_id, sizeof(row.player_id));
	memcpy(row.game_id, game->round.game_id, sizeof(row.game_id));
	text_unsigned(params_get(&page->query, "after"), ROUND_NUMBERS_MAX, &after);
	list_open(&list, &page->desk.session, RECORD_BET, false, 2, &row);
	list.page = ROUND_BETS_SHOWN;
	row.number = (uint32_t)after;
	if (after)
		list_behind(&list, &row);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Bets");
	view_begin(&view, page, "Bets of the round", bets_columns);
	while (view.rows < ROUND_BETS_SHOWN && list_next(&list, &row)) {
		view_row(&view, &row);
		after = row.number;
		if (game->event_count < GAME_EVENTS_MAX - 2)
			game_add_event(game, row.refund_event);
	}
	view_end(&view, "There are no further bets.");
	if (view.rows == ROUND_BETS_SHOWN && after < game->round.bets) {
		struct page_address next =
			lead_round(page, game->round.player_id, game->round.game_id);

		address_add_number(&next, "after", after);
		page_link(page, &next, "Further bets");
	}
	html_close(&page->html);
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome show_corrections(struct page *page, struct game_rows *game)
{
	struct view view = {.fields = correction_fields};
	struct correction row;
	struct list list;

	if (!game->round.revision)
		return OUTCOME_DONE;
	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, game->round.player_id, sizeof(row.player_id));
	memcpy(row.game_id, game->round.game_id, sizeof(row.game_id));
	list_open(&list, &page->desk.session, RECORD_CORRECTION, false, 2, &row);
	view_begin(&view, page, "Corrections", correction_columns);
	while (view.rows < ROUND_CORRECTIONS_MAX && list_next(&list, &row)) {
		view_row(&view, &row);
		game_add_event(game, row.event);
	}
	view_end(&view, "None.");
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome show_round(struct page *page, struct game_rows *game)
{
	struct story story;
	enum outcome code = stories_round(&page->desk.session, &game->round, false, &story);

	if (code != OUTCOME_DONE)
		return code;
	page_begin_id(page, "Round", game->round.game_id);
	game_story(page, &story);
	game_round(page, game);
	game_add_event(game, game->round.event);
	code = show_bets(page, game);
	if (code == OUTCOME_DONE)
		code = show_corrections(page, game);
	if (code == OUTCOME_DONE)
		code = game_callbacks(page, game);
	return code == OUTCOME_DONE ? page_end(page) : code;
}

enum outcome page_round(struct page *page)
{
	const char *player = params_get(&page->query, "player");
	const char *game_id = params_get(&page->query, "game");
	struct game_rows game;
	bool found = false;
	enum outcome code = OUTCOME_DONE;

	if (strlen(player) < PLAYER_ID_SIZE && strlen(game_id) < EXTERNAL_ID_SIZE)
		code = game_fetch(page, player, game_id, &game, &found);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		return page_error(page, 404, "This player has no such game.",
			"Looked at the games of the player in the address.");
	return show_round(page, &game);
}
