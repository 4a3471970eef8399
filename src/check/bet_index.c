/*
 * check_bet_index - compares the rows by which bets are found (domain/bet_index.h) with the bets, from which they
 * follow. The walk adds them to the sets of the proof; the searches run only if the sets differ.
 */
#include "check/check.h"

#include "admin/list.h"
#include "domain/bet_index.h"
#include "proof/links.h"

#include <inttypes.h>
#include <string.h>

enum outcome check_walk_bet_index(struct check *check)
{
	struct game_player by_game;
	struct player_bet by_time;
	struct list list;
	enum outcome code;

	list_open(&list, check->session, RECORD_GAME_PLAYER, false, 0, NULL);
	while (list_next(&list, &by_game)) {
		proof_game_player(&check->proof, &by_game, list.as_of);
		check_progress(check, "games", list.taken);
	}
	code = list_end(&list, OUTCOME_DONE);
	if (code != OUTCOME_DONE)
		return code;
	list_open(&list, check->session, RECORD_PLAYER_BET, false, 0, NULL);
	while (list_next(&list, &by_time)) {
		proof_player_bet(&check->proof, &by_time, list.as_of);
		check_progress(check, "bets by time", list.taken);
	}
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome find_by_game(struct check *check, const struct game_player *wanted)
{
	struct game_player row = *wanted;
	bool found;
	enum outcome code = list_fetch(check->session, RECORD_GAME_PLAYER, &row, &found, NULL);

	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		proof_problem(&check->proof, "round %s/%s is not found by its game",
			wanted->player_id, wanted->game_id);
	else if (row.transaction_id != wanted->transaction_id)
		proof_problem(&check->proof,
			"round %s/%s is found by its game with transaction %" PRIu64
			", its first bet has %" PRIu64,
			wanted->player_id, wanted->game_id, row.transaction_id,
			wanted->transaction_id);
	return OUTCOME_DONE;
}

static enum outcome find_by_time(struct check *check, const struct player_bet *wanted)
{
	struct player_bet row = *wanted;
	bool found;
	enum outcome code = list_fetch(check->session, RECORD_PLAYER_BET, &row, &found, NULL);

	if (code == OUTCOME_DONE && (!found || memcmp(&row, wanted, sizeof(row)) != 0))
		proof_problem(&check->proof, "bet %s/%s/%" PRIu32 " is not found by its time",
			wanted->player_id, wanted->game_id, wanted->bet_number);
	return code;
}

enum outcome check_index_of_bet(struct check *check, const struct bet *bet)
{
	const struct bet_index index = bet_index_of(bet);
	enum outcome code;

	if (!proof_bet_counts(&check->proof, bet->transaction_id))
		return OUTCOME_DONE;
	code = find_by_time(check, &index.by_time);
	return code == OUTCOME_DONE && index.is_first ? find_by_game(check, &index.by_game) : code;
}

/* Reports a row whose bet is not there. If it is there, the other direction compared them. */
static enum outcome find_bet_of(struct check *check, const char *player_id, const char *game_id,
	uint32_t number, uint64_t transaction_id, const char *what)
{
	struct bet bet;
	enum outcome code;
	bool found;

	if (!proof_bet_counts(&check->proof, transaction_id))
		return OUTCOME_DONE;
	code = check_find_bet(check, player_id, game_id, number, &bet, &found);
	if (code == OUTCOME_DONE && (!found || bet.transaction_id != transaction_id))
		proof_problem(&check->proof,
			"%s leads from transaction %" PRIu64 " to bet %s/%s/%" PRIu32
			", which is not there",
			what, transaction_id, player_id, game_id, number);
	return code;
}

enum outcome check_search_bet_index(struct check *check)
{
	struct game_player by_game;
	struct player_bet by_time;
	struct list list;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_GAME_PLAYER, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching games", &by_game))
		code = find_bet_of(check, by_game.player_id, by_game.game_id, 1,
			by_game.transaction_id, "a row of a game");
	code = list_end(&list, code);
	if (code != OUTCOME_DONE)
		return code;
	list_open(&list, check->session, RECORD_PLAYER_BET, false, 0, NULL);
	while (code == OUTCOME_DONE &&
		check_search(check, &list, "searching bets by time", &by_time))
		code = find_bet_of(check, by_time.player_id, by_time.game_id, by_time.bet_number,
			by_time.transaction_id, "a row of a player");
	return list_end(&list, code);
}
