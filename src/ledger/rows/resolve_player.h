/*
 * resolve_player - finds the player and the dealer of a command of group C.
 *
 * Group C names a player by player_id, or by casino_id and user_id. For a player_id, the row that
 * maps the name must be loaded first.
 */
#ifndef LEDGER_ROWS_RESOLVE_PLAYER_H
#define LEDGER_ROWS_RESOLVE_PLAYER_H

#include "ledger/rows/context.h"

struct resolved_player {
	const struct dealer *dealer; /* NULL: not known */
	const struct player *player; /* NULL: not known */
};

/*
 * Declares the rows of the player, including those of post_move(). Returns true if the row of the
 * player is loaded; @key then names it. Returns false if rows are still to be loaded (keys() is
 * then called again) or there is no such player_id.
 */
bool resolve_player_want(struct ws *ws, const struct player_ref *ref, struct player *key);

/*
 * Finds the rows. Returns REFUSAL_DEALER_NOT_FOUND or REFUSAL_USER_NOT_FOUND, also if the
 * casino_id or user_id given belongs to another player than the player_id.
 */
enum refusal resolve_player(struct ws *ws, const struct player_ref *ref,
	struct resolved_player *subject);

#endif
