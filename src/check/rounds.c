/*
 * check_rounds - walks every round with its bets for `check`.
 *
 * It walks rounds and bets side by side, both in the order of player_id and game_id. It rereads a
 * round with a fault by itself, because a bet may have been placed, or the round settled, between
 * the pages.
 */
#include "check/check.h"

#include "admin/list.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Both walks. */
struct round_join {
	struct list rounds;
	struct list bets;
	struct round round;
	struct bet bet;
	bool has_round; /* @round is the next row, not yet used */
	bool has_bet;
	struct player_name name; /* of the rounds' player */
	struct round_reading reading;
};

static int compare_ids(const char *player_id, const char *game_id, const char *other_player,
	const char *other_game)
{
	int order = strcmp(player_id, other_player);

	return order ? order : strcmp(game_id, other_game);
}

/* ---- rows that a round names besides its bets */

static int compare_clients(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* A removed client still has a row, which is marked as removed. */
static enum outcome check_client(struct check *check, const struct round *round)
{
	struct client client;
	char(*grown)[CLIENT_ID_SIZE];
	enum outcome code;
	bool found;

	if (check->client_count &&
		bsearch(round->client_id, check->clients, check->client_count, CLIENT_ID_SIZE,
			compare_clients))
		return OUTCOME_DONE;
	memset(&client, 0, sizeof(client));
	memcpy(client.client_id, round->client_id, sizeof(client.client_id));
	code = list_fetch(check->session, RECORD_CLIENT, &client, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (!found) {
		proof_problem(&check->proof, "round %s/%s is of client %s, which does not exist",
			round->player_id, round->game_id, round->client_id);
		return OUTCOME_DONE;
	}
	grown = reallocarray(check->clients, check->client_count + 1, CLIENT_ID_SIZE);
	if (!grown)
		return session_no_memory(check->session);
	check->clients = grown;
	memcpy(grown[check->client_count++], round->client_id, CLIENT_ID_SIZE);
	qsort(grown, check->client_count, CLIENT_ID_SIZE, compare_clients);
	return OUTCOME_DONE;
}

static enum outcome check_player(struct check *check, struct round_join *join)
{
	const struct round *round = &join->reading.round;
	bool found;
	enum outcome code = check_find_name(check, round->player_id, &join->name, &found);

	if (code == OUTCOME_DONE && !found)
		proof_problem(&check->proof, "round %s/%s is of a player that does not exist",
			round->player_id, round->game_id);
	else if (code == OUTCOME_DONE &&
		(strcmp(join->name.casino_id, round->casino_id) != 0 ||
			strcmp(join->name.user_id, round->user_id) != 0))
		proof_problem(&check->proof,
			"round %s/%s is of user %s of %s, the player is user "
			"%s of %s",
			round->player_id, round->game_id, round->user_id, round->casino_id,
			join->name.user_id, join->name.casino_id);
	return code;
}

/* Counts the reading, which is correct or was reported, and checks the rows that it names. */
static enum outcome count_round_reading(struct check *check, struct round_join *join)
{
	struct round_reading *reading = &join->reading;
	enum outcome code = OUTCOME_DONE;
	struct bet key;

	proof_round_take(reading);
	check_progress(check, "rounds", check->proof.rounds);
	if (reading->there && reading->round.revision)
		code = check_corrected_round(check, &reading->round);
	if (code == OUTCOME_DONE && reading->there) {
		code = check_client(check, &reading->round);
		if (code == OUTCOME_DONE)
			code = check_player(check, join);
	}
	for (uint32_t i = 0; code == OUTCOME_DONE && i < reading->live_count; i++) {
		memset(&key, 0, sizeof(key));
		memcpy(key.player_id, reading->round.player_id, sizeof(key.player_id));
		memcpy(key.game_id, reading->round.game_id, sizeof(key.game_id));
		key.number = reading->live[i];
		code = check_bet(check, &key, reading->round.user_id, true);
	}
	return code;
}

/* Rereads the event counter if needed, because events may have been created since. */
static enum outcome end_reading(struct check *check, struct round_reading *reading)
{
	enum outcome code = OUTCOME_DONE;

	if (reading->event > check->event_given)
		code = check_count_events(check);
	if (code == OUTCOME_DONE)
		proof_round_end(reading, check->event_given);
	return code;
}

/* ---- rereads one round */

static enum outcome read_bets(struct check *check, struct round_reading *reading,
	const struct bet *key)
{
	struct list list;
	struct bet bet;

	list_open(&list, check->session, RECORD_BET, false, 2, key);
	while (list_next(&list, &bet)) {
		check->proof.read_ms = clock_wall_ms();
		proof_round_bet(reading, &bet, list.as_of);
	}
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome read_round(struct check *check, void *arg, struct proof_faults *faults,
	bool *stable)
{
	struct round_join *join = arg;
	struct round_reading *reading = &join->reading;
	struct round key = {.bets = 0}, round, after;
	struct bet bet_key = {.number = 0};
	struct list list;
	enum outcome code;
	bool found, still;

	memcpy(key.player_id, reading->round.player_id, sizeof(key.player_id));
	memcpy(key.game_id, reading->round.game_id, sizeof(key.game_id));
	memcpy(bet_key.player_id, key.player_id, sizeof(key.player_id));
	memcpy(bet_key.game_id, key.game_id, sizeof(key.game_id));
	after = key;
	list_open(&list, check->session, RECORD_ROUND, false, 2, &key);
	found = list_next(&list, &round);
	code = list.code;
	if (code == OUTCOME_DONE)
		proof_round_begin(reading, &check->proof, &key, found ? &round : NULL, list.as_of);
	list_close(&list);
	if (code == OUTCOME_DONE)
		code = read_bets(check, reading, &bet_key);
	if (code == OUTCOME_DONE)
		code = list_fetch(check->session, RECORD_ROUND, &after, &still, NULL);
	if (code == OUTCOME_DONE)
		code = end_reading(check, reading);
	if (code != OUTCOME_DONE)
		return code;
	*faults = reading->faults;
	*stable = found == still &&
		(!found ||
			(after.state == round.state && after.bets == round.bets &&
				after.staked == round.staked));
	return OUTCOME_DONE;
}

/* ---- the walk */

static void next_round_rows(struct round_join *join)
{
	if (!join->has_round)
		join->has_round = list_next(&join->rounds, &join->round);
	if (!join->has_bet)
		join->has_bet = list_next(&join->bets, &join->bet);
}

/* Reads the round that is next in either walk, as it is in the pages. */
static enum outcome join_round(struct check *check, struct round_join *join)
{
	struct round_reading *reading = &join->reading;
	struct round key = join->round;
	bool there = join->has_round;
	enum outcome code = OUTCOME_DONE;

	if (join->has_bet &&
		(!there ||
			compare_ids(join->bet.player_id, join->bet.game_id, key.player_id,
				key.game_id) < 0)) {
		memset(&key, 0, sizeof(key));
		memcpy(key.player_id, join->bet.player_id, sizeof(key.player_id));
		memcpy(key.game_id, join->bet.game_id, sizeof(key.game_id));
		there = false;
	}
	proof_round_begin(reading, &check->proof, &key, there ? &join->round : NULL,
		join->rounds.as_of);
	if (there)
		join->has_round = false;
	check->proof.read_ms = clock_wall_ms();
	while (join->has_bet &&
		compare_ids(join->bet.player_id, join->bet.game_id, key.player_id, key.game_id) ==
			0) {
		proof_round_bet(reading, &join->bet, join->bets.as_of);
		if (join->bet.cancelled)
			code = check_cancelled_bet(check, &join->bet);
		if (code != OUTCOME_DONE)
			return code;
		join->has_bet = list_next(&join->bets, &join->bet);
	}
	return join->bets.code == OUTCOME_DONE ? end_reading(check, reading) : join->bets.code;
}

static enum outcome next_round(struct check *check, struct round_join *join)
{
	enum outcome code = join_round(check, join);
	bool settled = true;

	if (code != OUTCOME_DONE || !join->reading.counts)
		return code;
	if (join->reading.faults.count)
		code = check_again(check, read_round, join, &settled);
	return code == OUTCOME_DONE && settled ? count_round_reading(check, join) : code;
}

enum outcome check_walk_rounds(struct check *check)
{
	struct round_join *join = calloc(1, sizeof(*join));
	enum outcome code = OUTCOME_DONE;

	if (!join)
		return session_no_memory(check->session);
	list_open(&join->rounds, check->session, RECORD_ROUND, false, 0, NULL);
	list_open(&join->bets, check->session, RECORD_BET, false, 0, NULL);
	next_round_rows(join);
	while (code == OUTCOME_DONE && (join->has_round || join->has_bet)) {
		code = next_round(check, join);
		next_round_rows(join);
	}
	if (code == OUTCOME_DONE)
		code = join->rounds.code != OUTCOME_DONE ? join->rounds.code : join->bets.code;
	list_close(&join->rounds);
	list_close(&join->bets);
	free(join);
	return code;
}
