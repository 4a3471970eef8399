#include "ledger/rows/moves.h"

#include "base/text.h"

#include <string.h>

bool moves_follow(struct moves *moves, const struct dealer_move *row, bool dropped)
{
	uint32_t at = 0;

	while (at < moves->count && strcmp(moves->list[at].casino_id, row->casino_id) != 0)
		at++;
	if (dropped || !move_is_live(row->state)) {
		if (at < moves->count)
			moves->list[at] = moves->list[--moves->count];
		return true;
	}
	if (at == MOVES_ROOM)
		return false;
	if (at == moves->count)
		moves->count++;
	text_copy(moves->list[at].casino_id, CASINO_ID_SIZE, row->casino_id);
	text_copy(moves->list[at].id, MOVE_ID_SIZE, row->id);
	moves->list[at].state = row->state;
	return true;
}

const struct live_move *moves_find(const struct moves *moves, const char *casino_id)
{
	for (uint32_t at = 0; moves && at < moves->count; at++) {
		if (strcmp(moves->list[at].casino_id, casino_id) == 0)
			return &moves->list[at];
	}
	return NULL;
}

bool moves_hide(const struct moves *moves, const char *casino_id)
{
	const struct live_move *move = moves_find(moves, casino_id);

	return move && move_hides_rows(move->state);
}

uint32_t moves_arriving(const struct moves *moves)
{
	uint32_t count = 0;

	for (uint32_t at = 0; moves && at < moves->count; at++)
		count += moves->list[at].state == MOVE_ARRIVING;
	return count;
}

bool moves_hide_any(const struct moves *moves)
{
	for (uint32_t at = 0; moves && at < moves->count; at++) {
		if (move_hides_rows(moves->list[at].state))
			return true;
	}
	return false;
}

bool moves_refuse(const struct moves *moves, const char *casino_id, bool by_player,
	struct verdict *verdict)
{
	const struct live_move *move = moves_find(moves, casino_id);

	if (!move)
		return false;
	if (by_player && !move_is_leaving(move->state)) {
		verdict->refusal = REFUSAL_USER_NOT_FOUND;
		return true;
	}
	verdict->refusal = REFUSAL_SERVICE_UNAVAILABLE;
	verdict->retry_after_s = MOVE_RETRY_S;
	text_copy(verdict->detail, sizeof(verdict->detail),
		"the dealer is being moved to another host; nothing was changed");
	return true;
}
