/*
 * resolve_player - the player and the dealer that a command of group C is about.
 *
 * Group C names a player by player_id, or by casino_id and user_id; by player_id the row that
 * holds the name has to be loaded first.
 */
#ifndef LEDGER_ROWS_RESOLVE_PLAYER_H
#define LEDGER_ROWS_RESOLVE_PLAYER_H

#include "ledger/rows/context.h"

struct subject {
	const struct dealer *dealer; /* NULL: not known */
	const struct player *player; /* NULL: not known */
};

/*
 * Declares the player's rows, those of book_move() among them. False: some are still to be loaded
 * (keys() is called again then), or there is no such player_id. True: @key names the player's row,
 * which is loaded.
 */
bool subject_want(struct ws *ws, const struct player_ref *ref, struct player *key);

/*
 * Finds the rows. REFUSAL_DEALER_NOT_FOUND, REFUSAL_USER_NOT_FOUND: also of a player_id that comes
 * with the casino_id or user_id of another player.
 */
enum refusal subject_find(struct ws *ws, const struct player_ref *ref, struct subject *subject);

#endif
