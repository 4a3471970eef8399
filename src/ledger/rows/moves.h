/*
 * moves - the moves of dealers that are under way in this cell, in memory (domain/dealer_move.h).
 *
 * Each command on a dealer asks this book. It is filled from the rows at the start and follows each saved
 * batch. A batch sees the book as it was before: a call in the batch that begins a move is served, and
 * the rows of the dealer are read only after that batch.
 */
#ifndef LEDGER_ROWS_MOVES_H
#define LEDGER_ROWS_MOVES_H

#include "domain/dealer_move.h"
#include "link/verdict.h"

/* Moves that may be under way at a time. A step that begins one sees the count before its batch. */
#define MOVES_MAX 16
/* Moves that the book has room for: each command of a batch may begin one. */
#define MOVES_ROOM (MOVES_MAX + 256)

/* How soon a refused call may be repeated. */
#define MOVE_RETRY_S 5

struct live_move {
	char casino_id[CASINO_ID_SIZE];
	char id[MOVE_ID_SIZE];
	enum move_state state;
};

struct moves {
	uint32_t count;
	struct live_move list[MOVES_ROOM];
};

/*
 * Follows a row that was read or saved; @dropped: it was deleted. Returns false if more moves are under
 * way than the book has room for.
 */
bool moves_follow(struct moves *moves, const struct dealer_move *row, bool dropped);

/* Returns the move of the dealer that is under way, or NULL. @moves NULL: none is. */
const struct live_move *moves_find(const struct moves *moves, const char *casino_id);

/* Returns true if the rows of the dealer do not count here. @moves NULL: they do. */
bool moves_hide(const struct moves *moves, const char *casino_id);

/* Returns how many dealers are arriving. @moves NULL: none. */
uint32_t moves_arriving(const struct moves *moves);

/* Returns true if rows of some dealer do not count here. @moves NULL: none. */
bool moves_hide_any(const struct moves *moves);

/*
 * Returns true if a call on the dealer is refused because of its move, and sets @verdict: service_unavailable, so that
 * the call is repeated. @by_player: the call named the player only by player_id, and the caller asks another cell
 * if the player is not known. A cell that does not have the dealer now then answers user_not_found.
 */
bool moves_refuse(const struct moves *moves, const char *casino_id, bool by_player,
	struct verdict *verdict);

#endif
