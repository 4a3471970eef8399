/* pages/bet - one bet: the sentence of what is owed, what happened in the order of time, and its facts. */
#include "admin/list.h"
#include "admin/callbacks/stories.h"
#include "admin/transactions.h"
#include "console/sections/game.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/sections/timeline.h"
#include "console/common/view.h"
#include "domain/money.h"
#include "domain/wager.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Corrections that the timeline shows: the first ones. */
#define CORRECTIONS_SHOWN 16

static const struct view_column bet_columns[] = {
	{"Transaction", "transaction_id", VIEW_PLAIN, NULL},
	{"Dealer", "casino_id", VIEW_PLAIN, NULL},
	{"Player", "player_id", VIEW_PLAIN, lead_to_player},
	{"Game", "game_id", VIEW_PLAIN, lead_to_round},
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

/* The call of the game server, the row, and the state in which it is now. */
static void add_bet(struct timeline *timeline, const struct bet *bet)
{
	char amount[MONEY_TEXT_MAX];

	money_format(bet->bet_amount, 2, amount);
	timeline_add(timeline, bet->accepted_ms, "Call of the game server",
		"%s places a bet of %s, reference %s", bet->client_id, amount,
		bet->request_transaction_id);
	timeline_add(timeline, bet->accepted_ms, "Recorded",
		"bet %" PRIu64 ", number %" PRIu32 " of its round%s", bet->transaction_id,
		bet->number, bet->addition ? ", an addition" : "");
	if (!bet->event)
		timeline_add(timeline, bet->accepted_ms, "Answered", "200 to the game server");
}

/* What the game server got when the dealer had answered, and what became of the bet. */
static enum outcome add_answer(struct timeline *timeline, const struct bet *bet)
{
	struct callback betting = {.event = bet->event};
	const struct refusal_info *info;
	bool found = false;
	enum outcome code = OUTCOME_DONE;

	if (bet->event)
		code = list_fetch(&timeline->page->desk.session, RECORD_CALLBACK, &betting, &found,
			NULL);
	if (found && betting.ended_ms && bet->state != BET_REJECTED &&
		betting.state == CALLBACK_DELIVERED) {
		timeline_add(timeline, betting.ended_ms, "Answered", "200 to the game server");
	} else if (found && betting.ended_ms) {
		info = refusal_info(
			bet->state == BET_REJECTED ? bet->outcome : REFUSAL_DEALER_TIMEOUT);
		timeline_add(timeline, betting.ended_ms, "Answered", "%d %s to the game server",
			info->code, info->id);
	}
	if (bet->state != BET_ACCEPTED && bet->state != BET_PENDING)
		timeline_add(timeline, bet->changed_ms, "State", "the bet is %s%s%s%s",
			bet_state_names[bet->state],
			bet->cancelled ? ", cancelled by a game server" : "",
			bet->resolved_by[0] ? ", settled outside by " : "", bet->resolved_by);
	return code;
}

static enum outcome add_corrections(struct timeline *timeline, const struct round *round)
{
	struct correction row;
	struct list list;
	enum outcome code = OUTCOME_DONE;
	char payout[MONEY_TEXT_MAX];

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, round->player_id, sizeof(row.player_id));
	memcpy(row.game_id, round->game_id, sizeof(row.game_id));
	list_open(&list, &timeline->page->desk.session, RECORD_CORRECTION, false, 2, &row);
	for (uint32_t i = 0;
		i < CORRECTIONS_SHOWN && code == OUTCOME_DONE && list_next(&list, &row); i++) {
		money_format(row.payout_amount, 2, payout);
		timeline_add(timeline, row.time_ms, "Corrected",
			"revision %" PRIu32 ": %s, payout %s%s%s", row.revision,
			round_result_names[row.result], payout, row.reason[0] ? ": " : "",
			row.reason);
		code = timeline_callback(timeline, row.event);
	}
	timeline->left_out |= round->revision > CORRECTIONS_SHOWN;
	return list_end(&list, code);
}

/* The end of the round, for a bet that is part of it. */
static enum outcome add_round(struct timeline *timeline, const struct round *round)
{
	char payout[MONEY_TEXT_MAX];
	enum outcome code;

	money_format(round->payout_amount, 2, payout);
	timeline_add(timeline, round->settled_ms, "Settled", "the round is %s, payout %s",
		round_result_names[round->result], payout);
	code = timeline_callback(timeline, round->event);
	return code == OUTCOME_DONE ? add_corrections(timeline, round) : code;
}

static enum outcome write_timeline(struct page *page, const struct game_rows *game,
	const struct bet *bet, const struct story *story)
{
	struct timeline *timeline = malloc(sizeof(*timeline));
	enum outcome code;

	if (!timeline)
		return session_no_memory(&page->desk.session);
	timeline_begin(timeline, page);
	add_bet(timeline, bet);
	code = timeline_callback(timeline, bet->event);
	if (code == OUTCOME_DONE)
		code = add_answer(timeline, bet);
	if (code == OUTCOME_DONE)
		code = timeline_callback(timeline, bet->refund_event);
	if (code == OUTCOME_DONE && bet->state == BET_SETTLED)
		code = add_round(timeline, &game->round);
	if (code == OUTCOME_DONE)
		code = timeline_refused(timeline, bet->client_id, bet->request_transaction_id);
	if (code == OUTCOME_DONE)
		code = timeline_write(timeline, story);
	free(timeline);
	return code;
}

static enum outcome show_bet(struct page *page, const struct game_rows *game, const struct bet *bet)
{
	struct story story;
	char number[24];
	enum outcome code = stories_bet(&page->desk.session, &game->round, bet, false, &story);

	if (code != OUTCOME_DONE)
		return code;
	snprintf(number, sizeof(number), "%" PRIu64, bet->transaction_id);
	places_round(page, &game->round);
	page_begin_id(page, "Bet", number);
	game_story(page, &story);
	code = write_timeline(page, game, bet, &story);
	if (code != OUTCOME_DONE)
		return code;
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Bet");
	view_pairs(page, bet_columns, bet_fields, bet);
	write_answer(page, bet);
	game_bytes(page, "user_bet, as the game server sent it", bet->user_bet);
	if (bet->dropped)
		page_paragraph(page, "Retention dropped the objects of this bet.");
	html_close(&page->html);
	game_round(page, game);
	return page_end(page);
}

enum outcome page_bet(struct page *page)
{
	struct game_rows game;
	struct buffer bytes;
	struct bet bet;
	bool found = false;
	enum outcome code = fetch_bet(page, &game, &bet, &bytes, &found);

	if (code == OUTCOME_DONE)
		code = found ? show_bet(page, &game, &bet) : game_no_transaction(page);
	buffer_free(&bytes);
	return code;
}
