/*
 * check_statistics - walks rounds, bets and the sums that A4 reports, for `check`.
 *
 * It walks the four kinds side by side, in the order of player_id. While bets are placed, the
 * rows are not read at one point in time. It therefore rereads a player whose sums do not match
 * by itself: rounds and bets, then the sums, then rounds and bets again, then the corrections since.
 */
#include "check/check.h"

#include "admin/list.h"
#include "base/text.h"
#include "proof/statistics.h"

#include <string.h>

/* A walk and its next row. */
struct cursor {
	struct list list;
	union {
		struct round round;
		struct bet bet;
		struct lifetime lifetime;
		struct day day;
		char player_id[PLAYER_ID_SIZE]; /* every row begins with it */
	} row;
	bool pending; /* @row is the next row, not yet used */
};

_Static_assert(offsetof(struct round, player_id) == 0 && offsetof(struct bet, player_id) == 0 &&
		offsetof(struct lifetime, player_id) == 0 && offsetof(struct day, player_id) == 0,
	"a row does not begin with the player");

enum walk { ROUNDS, BETS, LIFETIMES, DAYS, WALK_COUNT };
static const enum record walk_records[WALK_COUNT] = {
	[ROUNDS] = RECORD_ROUND,
	[BETS] = RECORD_BET,
	[LIFETIMES] = RECORD_LIFETIME,
	[DAYS] = RECORD_DAY,
};

struct walks {
	struct check *check;
	struct cursor cursors[WALK_COUNT];
	struct proof_statistics proof;
	uint64_t bets;
	uint64_t sums; /* number of rows */
};

/* Opens walks of all players, or only of @player_id. */
static void walks_open(struct walks *walks, const char *player_id)
{
	for (unsigned int i = 0; i < WALK_COUNT; i++) {
		struct cursor *cursor = &walks->cursors[i];

		memset(&cursor->row, 0, sizeof(cursor->row));
		cursor->pending = false;
		if (player_id)
			text_copy(cursor->row.player_id, sizeof(cursor->row.player_id), player_id);
		list_open(&cursor->list, walks->check->session, walk_records[i], false,
			player_id ? 1 : 0, &cursor->row);
	}
}

/* Returns why the walks ended; OUTCOME_DONE: all reached their ends. */
static enum outcome walks_close(struct walks *walks)
{
	enum outcome code = OUTCOME_DONE;

	for (unsigned int i = 0; i < WALK_COUNT; i++)
		code = list_end(&walks->cursors[i].list, code);
	return code;
}

/* Returns the next row, which begins with its player_id; NULL: none is left. */
static const char *peek_row(struct cursor *cursor)
{
	if (!cursor->pending)
		cursor->pending = list_next(&cursor->list, &cursor->row);
	return cursor->pending ? cursor->row.player_id : NULL;
}

/* Returns true if the next row belongs to @player_id. */
static bool next_of(struct cursor *cursor, const char *player_id)
{
	const char *next = peek_row(cursor);

	return next && strcmp(next, player_id) == 0;
}

/* Returns the player of the next row in any walk; NULL: none is left. */
static const char *next_player(struct walks *walks)
{
	const char *first = NULL;

	for (unsigned int i = 0; i < WALK_COUNT; i++) {
		const char *next = peek_row(&walks->cursors[i]);

		if (next && (!first || strcmp(next, first) < 0))
			first = next;
	}
	return first;
}

/* Feeds the bets of @game_id. */
static void feed_game(struct walks *walks, const char *player_id, const char *game_id)
{
	struct cursor *bets = &walks->cursors[BETS];

	while (next_of(bets, player_id) && strcmp(bets->row.bet.game_id, game_id) == 0) {
		proof_statistics_bet(&walks->proof, &bets->row.bet);
		bets->pending = false;
		check_progress(walks->check, "bets of sums", ++walks->bets);
	}
}

/*
 * Feeds all rounds and bets of @player_id. Bets whose round was not read belong to an open round.
 */
static void feed_bets(struct walks *walks, const char *player_id)
{
	struct cursor *rounds = &walks->cursors[ROUNDS], *bets = &walks->cursors[BETS];
	char game_id[EXTERNAL_ID_SIZE];

	for (;;) {
		bool has_round = next_of(rounds, player_id), has_bet = next_of(bets, player_id);

		if (!has_round && !has_bet)
			return;
		if (has_round &&
			(!has_bet ||
				strcmp(rounds->row.round.game_id, bets->row.bet.game_id) <= 0)) {
			proof_statistics_round(&walks->proof, &rounds->row.round);
			text_copy(game_id, sizeof(game_id), rounds->row.round.game_id);
			rounds->pending = false;
		} else {
			proof_statistics_round(&walks->proof, NULL);
			text_copy(game_id, sizeof(game_id), bets->row.bet.game_id);
		}
		feed_game(walks, player_id, game_id);
	}
}

/* Feeds the sums of @player_id. */
static void feed_sums(struct walks *walks, const char *player_id)
{
	struct cursor *lifetimes = &walks->cursors[LIFETIMES], *days = &walks->cursors[DAYS];

	if (next_of(lifetimes, player_id)) {
		proof_statistics_lifetime(&walks->proof, &lifetimes->row.lifetime);
		lifetimes->pending = false;
		walks->sums++;
	}
	for (; next_of(days, player_id); days->pending = false, walks->sums++)
		proof_statistics_day(&walks->proof, &days->row.day);
}

static void report_statistics_problem(void *closure, const char *problem)
{
	struct check *check = closure;

	proof_problem(&check->proof, "%s", problem);
}

/* Feeds the corrections of @player_id with transactions after @as_of. */
static enum outcome feed_corrections(struct walks *walks, const char *player_id, uint64_t as_of)
{
	struct correction row;
	struct list list;

	memset(&row, 0, sizeof(row));
	text_copy(row.player_id, sizeof(row.player_id), player_id);
	list_open(&list, walks->check->session, RECORD_CORRECTION, false, 1, &row);
	while (list_next(&list, &row)) {
		if (row.transaction_id > as_of)
			proof_statistics_correction(&walks->proof, &row);
	}
	return list_end(&list, OUTCOME_DONE);
}

/*
 * Rereads a player whose sums did not match, to find out whether they are wrong or a bet was in
 * progress.
 */
static enum outcome look_again(struct check *check, const char *player_id)
{
	struct walks walks = {.check = check};
	enum outcome code;
	uint64_t as_of;

	proof_statistics_init(&walks.proof, report_statistics_problem, check);
	proof_statistics_begin(&walks.proof, player_id);
	walks_open(&walks, player_id);
	peek_row(&walks.cursors[ROUNDS]);
	as_of = walks.cursors[ROUNDS].list.as_of;
	feed_bets(&walks, player_id);
	feed_sums(&walks, player_id);
	code = walks_close(&walks);
	if (code == OUTCOME_DONE) {
		proof_statistics_again(&walks.proof);
		walks_open(&walks, player_id);
		feed_bets(&walks, player_id);
		code = walks_close(&walks);
	}
	if (code == OUTCOME_DONE)
		code = feed_corrections(&walks, player_id, as_of);
	/* An incomplete walk proves nothing. */
	if (code == OUTCOME_DONE && !proof_statistics_end(&walks.proof))
		code = session_no_memory(check->session);
	proof_statistics_free(&walks.proof);
	return code;
}

enum outcome check_walk_statistics(struct check *check)
{
	struct walks walks = {.check = check};
	char player_id[PLAYER_ID_SIZE];
	enum outcome code = OUTCOME_DONE, ended;
	const char *next;

	proof_statistics_init(&walks.proof, NULL, NULL);
	walks_open(&walks, NULL);
	while (code == OUTCOME_DONE && !check_knows_enough(check) && (next = next_player(&walks))) {
		text_copy(player_id, sizeof(player_id), next);
		proof_statistics_begin(&walks.proof, player_id);
		feed_bets(&walks, player_id);
		feed_sums(&walks, player_id);
		if (!proof_statistics_end(&walks.proof))
			code = session_no_memory(check->session);
		else if (walks.proof.differences)
			code = look_again(check, player_id);
	}
	check->sums = walks.sums;
	ended = walks_close(&walks);
	proof_statistics_free(&walks.proof);
	return code == OUTCOME_DONE ? ended : code;
}
