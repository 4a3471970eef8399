/*
 * bets - walks the bets that a filter selects, the newest first.
 *
 * Bets are keyed by player and game; transactions by id. Without a player and states, bets_walk()
 * walks the transactions from the newest and fetches each bet. With one of them, it walks the
 * player's bets, or all bets, and sorts the newest that match.
 */
#ifndef ADMIN_BETS_H
#define ADMIN_BETS_H

#include "admin/filter.h"
#include "admin/session.h"

/* Sets the key of a bet, and all other members to 0. */
void bets_name(struct bet *bet, const char player_id[PLAYER_ID_SIZE],
	const char game_id[EXTERNAL_ID_SIZE], uint32_t number);

/*
 * The newest callback about a bet of a seamless wallet: its refund, or the last result or correction of its settled round, or
 * the bet itself.
 */
struct bet_callback {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	bool settled;   /* the round has it */
	uint64_t event; /* 0: transfer wallet, there is none */
	char state[16]; /* set by bet_callbacks_fill(): "" if there is none */
};

/* Returns what bet_callbacks_fill() needs of the bet. */
struct bet_callback bet_callback_of(const struct bet *bet);

/* Reads the states of @count callbacks, at most AHEAD_PART, with few commands. No ahead of the session may be open. */
enum outcome bet_callbacks_fill(struct session *session, struct bet_callback *callbacks,
	unsigned int count);

/* Maximum number of bets held in memory for sorting. */
#define BETS_SORTED_MAX 10000

struct bets_walk {
	struct session *session;
	struct filter *filter; /* its limit is reduced */
	uint32_t states;       /* a set of bits; UINT32_MAX: any */
	void (*visit)(void *context, const struct bet *bet, const char *user_id);
	void *context;
	bool cut; /* the result: more bets match than were sorted; the oldest are left out */
	struct player_name name;
};

enum outcome bets_walk(struct bets_walk *walk);

#endif
