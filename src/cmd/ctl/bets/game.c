#include "cmd/ctl/bets/game.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/callbacks/stories.h"
#include "admin/transactions.h"
#include "cmd/ctl/callbacks/callback.h"
#include "cmd/ctl/callbacks/owed.h"
#include "cmd/ctl/common/output.h"
#include "domain/wager.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A growing list of numbers. */
struct numbers {
	uint64_t *all;
	size_t count;
	size_t room;
};

/* The rows of one game, in the order in which they are shown. */
struct game {
	struct ctl *ctl;
	struct output_json json;
	struct round round;
	struct buffer bytes; /* of the round */
	struct numbers events;
	struct numbers transactions;
	bool no_memory;
};

/* The columns of the round that are also shown with a bet. */
static const struct output_column whose_columns[] = {
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"user id", "user_id", OUTPUT_PLAIN},
	{"player id", "player_id", OUTPUT_PLAIN},
	{"wallet", "mode", OUTPUT_PLAIN},
	{"game id", "game_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column round_columns[] = {
	{"game server", "client_id", OUTPUT_PLAIN},
	{"bets placed", "bets", OUTPUT_PLAIN},
	{"state", "state", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column result_columns[] = {
	{"settled", "settled_ms", OUTPUT_PLAIN},
	{"result", "result", OUTPUT_PLAIN},
	{"bet amount", "bet_amount", OUTPUT_PLAIN},
	{"addition amount", "addition_amount", OUTPUT_PLAIN},
	{"payout amount", "payout_amount", OUTPUT_PLAIN},
	{"win amount", "win_amount", OUTPUT_PLAIN},
	{"transaction id", "transaction_id", OUTPUT_PLAIN},
	{"remark", "remark", OUTPUT_IF_ANY},
	{"user bet", "user_bet", OUTPUT_IF_ANY},
	{"game result", "game_result", OUTPUT_IF_ANY},
	{"user bet result", "user_bet_result", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Of a corrected round. */
static const struct output_column corrected_columns[] = {
	{"corrections", "revision", OUTPUT_PLAIN},
	{"result in force", "current_result", OUTPUT_PLAIN},
	{"payout in force", "current_payout", OUTPUT_PLAIN},
	{"not taken yet", "shortfall", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column correction_columns[] = {
	{"REVISION", "revision", OUTPUT_PLAIN},
	{"TRANSACTION", "transaction_id", OUTPUT_PLAIN},
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"RESULT", "result", OUTPUT_PLAIN},
	{"PAYOUT", "payout_amount", OUTPUT_PLAIN},
	{"BEFORE", "previous_payout", OUTPUT_PLAIN},
	{"SHORTFALL", "shortfall", OUTPUT_PLAIN},
	{"REASON", "reason", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column bet_columns[] = {
	{"bet amount", "bet_amount", OUTPUT_PLAIN},
	{"addition", "addition", OUTPUT_IF_ANY},
	{"placed", "accepted_ms", OUTPUT_PLAIN},
	{"state", "state", OUTPUT_PLAIN},
	{"since", "changed_ms", OUTPUT_PLAIN},
	{"cancelled", "cancelled", OUTPUT_IF_ANY},
	{"settled outside by", "resolved_by", OUTPUT_IF_ANY},
	{"remark", "remark", OUTPUT_IF_ANY},
	{"user bet", "user_bet", OUTPUT_IF_ANY},
	{"game server", "client_id", OUTPUT_PLAIN},
	{"its reference", "request_transaction_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column bets_columns[] = {
	{"BET", "number", OUTPUT_PLAIN},
	{"TRANSACTION", "transaction_id", OUTPUT_PLAIN},
	{"PLACED", "accepted_ms", OUTPUT_PLAIN},
	{"AMOUNT", "bet_amount", OUTPUT_PLAIN},
	{"ADDITION", "addition", OUTPUT_IF_ANY},
	{"STATE", "state", OUTPUT_PLAIN},
	{"ANSWER", "outcome", OUTPUT_PLAIN},
	{"DEALER'S ERROR", "dealer_error_id", OUTPUT_PLAIN},
	{"REFERENCE", "request_transaction_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column callback_columns[] = {
	{"EVENT", "event", OUTPUT_PLAIN},
	{"KIND", "kind", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"TRIES", "attempts", OUTPUT_PLAIN},
	{"LAST", "last", OUTPUT_PLAIN},
	{"MS", "last_ms", OUTPUT_IF_ANY},
	{"NEXT TRY", "next", OUTPUT_PLAIN},
	{"DEALER'S ERROR", "last_dealer_error_id", OUTPUT_PLAIN},
	{"NOTE", "last_note", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column entry_columns[] = {
	{"TRANSACTION", "transaction_id", OUTPUT_PLAIN},
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"KIND", "kind", OUTPUT_PLAIN},
	{"AMOUNT", "amount", OUTPUT_PLAIN},
	{"BEFORE", "before_balance", OUTPUT_PLAIN},
	{"AFTER", "current_balance", OUTPUT_PLAIN},
	{"SEQ", "entry_seq", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Fetches the round. Call game_close() even if this function fails. */
static enum outcome game_open(struct game *game, struct ctl *ctl, const struct game_key *key)
{
	enum outcome code;
	bool found;

	memset(game, 0, sizeof(*game));
	game->ctl = ctl;
	output_json_open(&game->json, ctl);
	memcpy(game->round.player_id, key->player_id, sizeof(game->round.player_id));
	memcpy(game->round.game_id, key->game_id, sizeof(game->round.game_id));
	code = list_fetch_bytes(&ctl->session, RECORD_ROUND, &game->round, &found, &game->bytes);
	if (code == OUTCOME_DONE && !found)
		return ctl_fail(ctl, OUTCOME_FAILED, "game_not_found",
			"the player has no game '%s'; see `creditbridgectl bet list`",
			key->game_id);
	return code;
}

/* Adds @number unless it is 0. */
static void add_number(struct game *game, struct numbers *numbers, uint64_t number)
{
	uint64_t *grown = numbers->all;

	if (!number)
		return;
	if (numbers->count == numbers->room) {
		numbers->room = numbers->room ? 2 * numbers->room : 64;
		grown = reallocarray(numbers->all, numbers->room, sizeof(*grown));
	}
	if (!grown) {
		numbers->room = numbers->count;
		game->no_memory = true;
		return;
	}
	numbers->all = grown;
	numbers->all[numbers->count++] = number;
}

/* Collects the numbers of the rows that are shown after the bet. */
static void add_bet(struct game *game, const struct bet *bet)
{
	add_number(game, &game->transactions, bet->transaction_id);
	add_number(game, &game->events, bet->event);
	add_number(game, &game->events, bet->refund_event);
}

static void add_result(struct game *game)
{
	add_number(game, &game->transactions, game->round.transaction_id);
	add_number(game, &game->events, game->round.event);
}

static enum outcome show_callbacks(struct game *game)
{
	struct output_list list;
	struct callback_row row;
	enum outcome code = OUTCOME_DONE;
	bool found;

	output_json_list_open(&game->json, "callbacks");
	if (game->events.count)
		output_title(game->ctl, "Callbacks");
	output_list_open(&list, game->ctl, NULL, NULL, callback_row_view(), callback_columns);
	for (size_t i = 0; i < game->events.count && code == OUTCOME_DONE; i++) {
		code = callback_row_fetch(&game->ctl->session, game->events.all[i], &row, &found);
		if (code == OUTCOME_DONE && !found)
			code = names_missing(&game->ctl->session, "a callback");
		if (code != OUTCOME_DONE)
			break;
		output_list_add(&list, &row);
		output_json_item(&game->json, callback_row_json(&row), &row);
	}
	output_json_list_close(&game->json);
	return output_list_close(&list, code);
}

/* Fetches the transaction @transaction_id, if it exists. */
static enum outcome find_movement(struct ctl *ctl, uint64_t transaction_id,
	struct transaction *entry, bool *found)
{
	enum outcome code = transaction_fetch(&ctl->session, transaction_id, entry, found);

	*found = *found && entry->entry_seq;
	return code;
}

static enum outcome show_movements(struct game *game)
{
	bool none = game->round.mode != WALLET_TRANSFER;
	struct output_list list;
	struct transaction entry;
	enum outcome code = OUTCOME_DONE;
	bool found;

	output_json_list_open(&game->json, "movements");
	if (!none)
		output_title(game->ctl, "Movements");
	output_list_open(&list, game->ctl, NULL, NULL, transaction_fields, entry_columns);
	for (size_t i = 0; !none && i < game->transactions.count && code == OUTCOME_DONE; i++) {
		code = find_movement(game->ctl, game->transactions.all[i], &entry, &found);
		if (code != OUTCOME_DONE || !found)
			continue;
		output_list_add(&list, &entry);
		output_json_item(&game->json, transaction_fields, &entry);
	}
	output_json_list_close(&game->json);
	return output_list_close(&list, code);
}

static enum outcome show_round(struct game *game, bool whose)
{
	struct output_pairs pairs;

	output_title(game->ctl, "Round");
	output_pairs_open(&pairs, game->ctl);
	if (whose)
		output_pairs_fields(&pairs, round_fields, whose_columns, &game->round);
	output_pairs_fields(&pairs, round_fields, round_columns, &game->round);
	if (game->round.state == ROUND_SETTLED)
		output_pairs_fields(&pairs, round_fields, result_columns, &game->round);
	if (game->round.revision)
		output_pairs_fields(&pairs, round_fields, corrected_columns, &game->round);
	output_json_record(&game->json, "round", round_fields, &game->round);
	return output_pairs_close(&pairs);
}

/* Shows the collected rows. Returns @code, or the failure of showing them. */
static enum outcome game_close(struct game *game, enum outcome code)
{
	if (code == OUTCOME_DONE && game->no_memory)
		code = ctl_no_memory(game->ctl);
	if (code == OUTCOME_DONE)
		code = show_callbacks(game);
	if (code == OUTCOME_DONE)
		code = show_movements(game);
	buffer_free(&game->bytes);
	free(game->events.all);
	free(game->transactions.all);
	if (code == OUTCOME_DONE)
		return output_json_close(&game->json);
	buffer_free(&game->json.text);
	return code;
}

/* Shows the corrections of the round, and collects their numbers. */
static enum outcome show_corrections(struct game *game)
{
	struct output_list out;
	struct correction row;
	struct list list;

	output_json_list_open(&game->json, "corrections");
	if (!game->round.revision) {
		output_json_list_close(&game->json);
		return OUTCOME_DONE;
	}
	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, game->round.player_id, sizeof(row.player_id));
	memcpy(row.game_id, game->round.game_id, sizeof(row.game_id));
	output_title(game->ctl, "Corrections");
	list_open(&list, &game->ctl->session, RECORD_CORRECTION, false, 2, &row);
	output_list_open(&out, game->ctl, NULL, NULL, correction_fields, correction_columns);
	while (list_next(&list, &row)) {
		add_number(game, &game->transactions, row.transaction_id);
		add_number(game, &game->events, row.event);
		output_json_item(&game->json, correction_fields, &row);
		output_list_add(&out, &row);
	}
	output_json_list_close(&game->json);
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

/* The table shows the answer. The stored outcome exists only for a rejected bet. */
static enum outcome show_bets(struct game *game)
{
	struct bet row;
	struct output_list out;
	struct list list;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, game->round.player_id, sizeof(row.player_id));
	memcpy(row.game_id, game->round.game_id, sizeof(row.game_id));
	output_title(game->ctl, "Bets");
	output_json_list_open(&game->json, "bets");
	list_open(&list, &game->ctl->session, RECORD_BET, false, 2, &row);
	output_list_open(&out, game->ctl, NULL, NULL, bet_fields, bets_columns);
	while (list_next(&list, &row)) {
		add_bet(game, &row);
		output_json_item(&game->json, bet_fields, &row);
		row.outcome = bet_refusal(&row);
		output_list_add(&out, &row);
	}
	output_json_list_close(&game->json);
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

enum outcome game_show_round(struct ctl *ctl, const struct game_key *key)
{
	struct game game;
	struct story story;
	enum outcome code = game_open(&game, ctl, key);

	if (code == OUTCOME_DONE)
		code = stories_round(&ctl->session, &game.round, false, &story);
	if (code == OUTCOME_DONE)
		owed_print_story(ctl, &story, &game.json);
	if (code == OUTCOME_DONE)
		code = show_round(&game, true);
	if (code == OUTCOME_DONE)
		code = show_bets(&game);
	add_result(&game);
	if (code == OUTCOME_DONE)
		code = show_corrections(&game);
	return game_close(&game, code);
}

/* Shows the answer that the game server received for the bet, and the reason. */
static void show_answer(struct game *game, struct output_pairs *pairs, const struct bet *bet)
{
	const struct refusal_info *info = refusal_info(bet_refusal(bet));
	/* A repeated request for this bet receives its final state. */
	const char *detail =
		bet->state == BET_REFUNDED && !bet->cancelled ? BET_REFUNDED_DETAIL : info->detail;
	char balance[MONEY_TEXT_MAX];
	struct output_json json;

	money_format(bet->balance, 2, balance);
	if (info->id[0])
		output_pairs_add(pairs, "answer to it", "%d %s: %s", info->code, info->id, detail);
	else if (bet->has_balance)
		output_pairs_add(pairs, "answer to it", "200 accepted, balance %s", balance);
	else
		output_pairs_add(pairs, "answer to it", "200 accepted");
	if (bet->dealer_error_id[0])
		output_pairs_add(pairs, "dealer's error", "%s: %s", bet->dealer_error_id,
			bet->dealer_error_detail);
	output_json_open(&json, game->ctl);
	output_json_number(&json, "code", (uint64_t)info->code);
	output_json_string(&json, "id", info->id);
	output_json_string(&json, "detail", detail);
	output_json_object(&game->json, "answer", &json);
}

static enum outcome show_bet(struct game *game, struct bet *bet)
{
	const bool counted = bet->state == BET_SETTLED;
	struct output_pairs pairs;

	output_title(game->ctl, "Bet");
	output_pairs_open(&pairs, game->ctl);
	output_pairs_add(&pairs, "transaction id", "%" PRIu64, bet->transaction_id);
	output_pairs_fields(&pairs, round_fields, whose_columns, &game->round);
	output_pairs_add(&pairs, "bet", "%" PRIu32 " of %" PRIu32, bet->number, game->round.bets);
	output_pairs_fields(&pairs, bet_fields, bet_columns, bet);
	output_json_record(&game->json, "bet", bet_fields, bet);
	show_answer(game, &pairs, bet);
	if (game->round.state == ROUND_SETTLED)
		output_pairs_add(&pairs, "in the round's sums", "%s", counted ? "yes" : "no");
	return output_pairs_close(&pairs);
}

enum outcome game_show_bet(struct ctl *ctl, const struct game_key *key)
{
	struct game game;
	struct buffer bytes;
	struct story story;
	struct bet bet;
	enum outcome code = game_open(&game, ctl, key);
	bool found = false;

	memset(&bet, 0, sizeof(bet));
	buffer_init(&bytes, 0);
	memcpy(bet.player_id, key->player_id, sizeof(bet.player_id));
	memcpy(bet.game_id, key->game_id, sizeof(bet.game_id));
	bet.number = key->number ? key->number : 1;
	if (code == OUTCOME_DONE && !key->number && game.round.bets > 1)
		code = ctl_usage(ctl,
			"the game has %u bets: give the number of one, or see "
			"'creditbridgectl round show'",
			(unsigned int)game.round.bets);
	if (code == OUTCOME_DONE)
		code = list_fetch_bytes(&ctl->session, RECORD_BET, &bet, &found, &bytes);
	if (code == OUTCOME_DONE && !found)
		code = ctl_fail(ctl, OUTCOME_FAILED, "bet_not_found",
			"the game has no bet %u: it has %u", (unsigned int)bet.number,
			(unsigned int)game.round.bets);
	if (code == OUTCOME_DONE)
		code = stories_bet(&ctl->session, &game.round, &bet, false, &story);
	if (code == OUTCOME_DONE)
		owed_print_story(ctl, &story, &game.json);
	if (code == OUTCOME_DONE)
		code = show_bet(&game, &bet);
	if (code == OUTCOME_DONE)
		code = show_round(&game, false);
	if (code == OUTCOME_DONE)
		add_bet(&game, &bet);
	add_result(&game);
	code = game_close(&game, code);
	buffer_free(&bytes);
	return code;
}
