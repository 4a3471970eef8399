/* A5: the result of a player's game, with its bets. */
#include "web/handlers/handlers.h"

#include "base/pack.h"
#include "base/text.h"
#include "domain/wager.h"
#include "wire/render.h"

#include <string.h>

/* The answer of A5 (contract, "Status of a game"), of an open game and of a settled one. */
struct game {
	struct round round;
	enum game_status status;
	money_t win_amount; /* by the payout in force */
	struct bytes bets;  /* as JSON */
	struct bytes corrections;
};
#define HEAD                                                                                       \
	FIELD_AS("user_id", FIELD_STR, game, round.user_id),                                       \
		FIELD_AS("player_id", FIELD_STR, game, round.player_id),                           \
		FIELD_AS("game_id", FIELD_STR, game, round.game_id),                               \
		FIELD_NAMED(game, status, game_status_names, GAME_STATUS_COUNT)

static const struct field open_fields[] = {
	HEAD,
	FIELD(FIELD_JSON, game, bets),
	FIELD_END,
};
/* Of a settled game: the result and the payout in force. */
#define RESULT                                                                                     \
	HEAD,                                                                                      \
		FIELD_NAMED_AS("result", game, round.current_result, round_result_names,           \
			ROUND_RESULT_COUNT),                                                       \
		FIELD_AS("bet_amount", FIELD_MONEY, game, round.bet_amount),                       \
		FIELD_AS("addition_amount", FIELD_MONEY, game, round.addition_amount),             \
		FIELD(FIELD_MONEY, game, win_amount),                                              \
		FIELD_AS("payout_amount", FIELD_MONEY, game, round.current_payout),                \
		FIELD_AS("timestamp", FIELD_TIME_MS, game, round.settled_ms),                      \
		FIELD_AS("user_bet", FIELD_JSON, game, round.user_bet),                            \
		FIELD_AS("game_result", FIELD_JSON, game, round.game_result),                      \
		FIELD_AS("user_bet_result", FIELD_JSON, game, round.user_bet_result),              \
		FIELD(FIELD_JSON, game, bets)
static const struct field settled_fields[] = {
	RESULT,
	FIELD_END,
};
static const struct field corrected_fields[] = {
	RESULT,
	FIELD_AS("revision", FIELD_U32, game, round.revision),
	FIELD(FIELD_JSON, game, corrections),
	FIELD_END,
};
static const struct field bet_shown_fields[] = {
	FIELD(FIELD_U64, bet, transaction_id),
	FIELD(FIELD_MONEY, bet, bet_amount),
	FIELD(FIELD_BOOL, bet, addition),
	FIELD_AS("timestamp", FIELD_TIME_MS, bet, accepted_ms),
	FIELD_NAMED(bet, state, bet_state_names, BET_STATE_COUNT),
	FIELD(FIELD_STR, bet, remark),
	FIELD(FIELD_JSON, bet, user_bet),
	FIELD_END,
};

/* The bets of a game that were read. */
struct game_reading {
	uint32_t states[BET_STATE_COUNT]; /* number of bets in each state */
	struct buffer bets;               /* as JSON, without the closing bracket */
	struct buffer corrections;        /* as JSON, of the last page */
};

static void game_reading_restart(struct game_reading *reading)
{
	memset(reading->states, 0, sizeof(reading->states));
	buffer_reset(&reading->bets);
	buffer_append_str(&reading->bets, "[");
}

/* Adds the bets of a page. */
static enum status game_reading_add(struct game_reading *reading,
	const struct result_inquire_result *page)
{
	struct bytes rows = page->bets;
	struct bet bet;

	for (uint32_t i = 0; i < page->count; i++) {
		if (!unpack_record(&rows, bet_fields, &bet))
			return STATUS_CORRUPT;
		reading->states[bet.state]++;
		/* As sent to the dealer (B2). The object of an old bet may have been dropped. */
		if (!bet.user_bet.len)
			bet.user_bet = (struct bytes){(const uint8_t *)"{}", 2};
		if (reading->bets.len > 1)
			buffer_append_str(&reading->bets, ",");
		render_record(&reading->bets, bet_shown_fields, &bet);
	}
	return reading->bets.failed ? STATUS_NOMEM : STATUS_OK;
}

/* Renders the corrections of the page. */
static enum status read_corrections(struct game_reading *reading,
	const struct result_inquire_result *page)
{
	struct bytes rows = page->corrections;
	struct correction_entry entry;

	buffer_reset(&reading->corrections);
	buffer_append_str(&reading->corrections, "[");
	for (uint32_t i = 0; i < page->correction_count; i++) {
		if (!unpack_record(&rows, correction_entry_fields, &entry))
			return STATUS_CORRUPT;
		if (i)
			buffer_append_str(&reading->corrections, ",");
		if (!render_record(&reading->corrections, correction_entry_fields, &entry))
			return STATUS_NOMEM;
	}
	return buffer_append_str(&reading->corrections, "]") ? STATUS_OK : STATUS_NOMEM;
}

/*
 * Reads all bets of the game. *page is the last answer: the round, or the refusal. If the game is
 * settled or corrected between two pages, it is read anew. If a bet moves between pages,
 * its status is that of one of them.
 */
static enum status game_reading_run(struct game_reading *reading, struct web_request *web,
	struct result_inquire_cmd *cmd, struct result_inquire_result *page)
{
	enum round_state began = ROUND_OPEN;
	uint32_t revision = 0;
	enum status status;

	/* A page holds at least one bet. */
	for (unsigned int pages = 0; pages < 2 * ROUND_BETS_MAX; pages++) {
		status = link_call(web->link, COMMAND_RESULT_INQUIRE, cmd, page, web->deadline_ms);
		if (status != STATUS_OK || page->verdict.refusal != REFUSAL_NONE)
			return status;
		if (!cmd->after_bet) {
			began = page->round.state;
			revision = page->round.revision;
			game_reading_restart(reading);
		} else if (page->round.state != began || page->round.revision != revision) {
			cmd->after_bet = 0;
			continue;
		}
		status = game_reading_add(reading, page);
		if (status == STATUS_OK && !page->more)
			return read_corrections(reading, page);
		if (status != STATUS_OK)
			return status;
		cmd->after_bet = page->last_bet;
	}
	return STATUS_FAULT;
}

/* Replies with the game that was read. */
static void game_reply(struct web_request *web, struct game_reading *reading,
	const struct round *round)
{
	struct game game = {.round = *round};

	/* Count a refunded bet that the answer leaves out. */
	if (round->refunded && !reading->states[BET_REFUNDING])
		reading->states[BET_REFUNDED] += !reading->states[BET_REFUNDED];
	game.status = round_status(round, reading->states);
	if (game.status == GAME_NOT_FOUND) {
		reply_refuse(web->reply, REFUSAL_GAME_NOT_FOUND, NULL);
		return;
	}
	if (!buffer_append_str(&reading->bets, "]")) {
		reply_fail(web->reply, STATUS_NOMEM, CALL_READS);
		return;
	}
	game.bets = (struct bytes){reading->bets.data, (uint32_t)reading->bets.len};
	game.corrections =
		(struct bytes){reading->corrections.data, (uint32_t)reading->corrections.len};
	game.win_amount = round->win_amount + (round->current_payout - round->payout_amount);
	reply_success_large(web->reply,
		round->state != ROUND_SETTLED ? open_fields
			: round->revision     ? corrected_fields
					      : settled_fields,
		&game);
}

void handle_inquire(struct web_request *web)
{
	const struct inquire_body *body = &web->body.inquire;
	struct result_inquire_cmd cmd = {.after_bet = 0};
	struct result_inquire_result page;
	struct game_reading reading;
	enum status status;

	text_copy(cmd.casino_id, sizeof(cmd.casino_id), web->caller->caller_id);
	text_copy(cmd.user_id, sizeof(cmd.user_id), body->user_id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), body->game_id);
	memset(&page, 0, sizeof(page));
	buffer_init(&reading.bets, REPLY_LARGE_MAX);
	buffer_init(&reading.corrections, REPLY_LARGE_MAX);
	status = game_reading_run(&reading, web, &cmd, &page);
	if (status == STATUS_OK && page.verdict.refusal == REFUSAL_NONE)
		game_reply(web, &reading, &page.round);
	else
		web_request_answer(web, status, CALL_READS, &page.verdict, NULL, NULL);
	buffer_free(&reading.bets);
	buffer_free(&reading.corrections);
}
