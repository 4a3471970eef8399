/* pages/game - the page of one round, and of a transaction id, which leads to a bet, a round or a transfer. */
#include "admin/ahead.h"
#include "admin/bets.h"
#include "admin/list.h"
#include "admin/callbacks/stories.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "console/sections/game.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/common/view.h"
#include "console/common/walk.h"
#include "domain/wager.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bets that a page of a round shows. */
#define ROUND_BETS_SHOWN 64

enum outcome game_no_transaction(struct page *page)
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
		return game_no_transaction(page);
	if (row.kind == ENTRY_BET)
		to = lead_number(page, "/bets", row.transaction_id);
	else if (row.game_id[0])
		to = lead_round(page, row.player_id, row.game_id);
	else
		to = lead_request(page, row.scope, entry_owner(&row), row.request_transaction_id);
	return page_go(page, &to);
}

static const struct view_column bets_columns[] = {
	{"No.", "number", VIEW_PLAIN, NULL},
	{"Transaction", "transaction_id", VIEW_PLAIN, lead_to_bet},
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

/*
 * Shows the bets with the numbers after *after up to @last, at most AHEAD_PART, and sets *after to @last. The rows are named by
 * their keys, so that the ledger does not read their objects, of which each may have 64 KiB.
 */
static enum outcome show_part(struct page *page, struct game_rows *game, struct view *view,
	uint32_t *after, uint32_t last)
{
	struct session *session = &page->desk.session;
	struct ahead *ahead = ahead_new(session);
	enum outcome code;
	struct bet row;
	bool found;

	if (!ahead)
		return session_no_memory(session);
	for (uint32_t number = *after + 1; number <= last; number++) {
		bets_name(&row, game->round.player_id, game->round.game_id, number);
		ahead_want(ahead, RECORD_BET, &row);
	}
	code = ahead_read(ahead);
	for (uint32_t number = *after + 1; number <= last && code == OUTCOME_DONE; number++) {
		bets_name(&row, game->round.player_id, game->round.game_id, number);
		code = list_fetch(session, RECORD_BET, &row, &found, NULL);
		if (code != OUTCOME_DONE || !found)
			continue;
		view_row(view, &row);
		if (game->event_count < GAME_EVENTS_MAX - 2)
			game_add_event(game, row.refund_event);
	}
	ahead_free(ahead);
	*after = last;
	return code;
}

/* Shows at most @rows bets that follow the number in the address. *after: the number of the last one. */
static enum outcome list_bets(struct page *page, struct game_rows *game, uint64_t rows,
	uint32_t *after)
{
	struct view view = {.fields = bet_fields};
	enum outcome code = OUTCOME_DONE;
	uint64_t begin = 0, part;

	text_unsigned(params_get(&page->query, "after"), ROUND_NUMBERS_MAX, &begin);
	*after = (uint32_t)begin;
	view_begin(&view, page, "Bets of the round", bets_columns);
	/* Each number up to round.bets has a row. */
	for (; code == OUTCOME_DONE && *after < game->round.bets && rows; rows -= part) {
		part = rows < AHEAD_PART ? rows : AHEAD_PART;
		if (part > game->round.bets - *after)
			part = game->round.bets - *after;
		code = show_part(page, game, &view, after, *after + (uint32_t)part);
	}
	view_end(&view, "There are no further bets.");
	walk_csv_end(&view, *after < game->round.bets, *after);
	return code;
}

static enum outcome show_bets(struct page *page, struct game_rows *game)
{
	const struct round *round = &game->round;
	const struct page_address list = lead_round(page, round->player_id, round->game_id);
	struct page_address csv = page_address(page, "/round.csv");
	struct html *html = &page->html;
	enum outcome code;
	uint32_t after;

	html_open(html, "section");
	html_element(html, "h2", "", "Bets");
	code = list_bets(page, game, ROUND_BETS_SHOWN, &after);
	address_add(&csv, "player", round->player_id);
	address_add(&csv, "game", round->game_id);
	page_pager_number(page, &list, after < round->bets ? after : 0, &csv);
	html_close(html);
	return code;
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
	places_player(page, game->round.casino_id, game->round.player_id, game->round.user_id);
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
	uint32_t after;

	if (strlen(player) < PLAYER_ID_SIZE && strlen(game_id) < EXTERNAL_ID_SIZE)
		code = game_fetch(page, player, game_id, &game, &found);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		return page_error(page, 404, "This player has no such game.",
			"Looked at the games of the player in the address.");
	if (page->route->csv)
		return list_bets(page, &game, page->console->csv_rows, &after);
	return show_round(page, &game);
}
