#include "domain/bet_index.h"

#include "base/text.h"

#include <string.h>

const struct field game_player_fields[] = {
	FIELD(FIELD_STR, game_player, game_id),
	FIELD(FIELD_STR, game_player, player_id),
	FIELD(FIELD_U64, game_player, transaction_id),
	FIELD_END,
};

const struct field player_bet_fields[] = {
	FIELD(FIELD_STR, player_bet, player_id),
	FIELD(FIELD_U64, player_bet, transaction_id),
	FIELD(FIELD_STR, player_bet, game_id),
	FIELD(FIELD_U32, player_bet, bet_number),
	FIELD_END,
};

static struct bet_index index_of(const char *player_id, const char *game_id, uint32_t number,
	uint64_t transaction_id)
{
	struct bet_index index;

	memset(&index, 0, sizeof(index));
	text_copy(index.by_time.player_id, sizeof(index.by_time.player_id), player_id);
	text_copy(index.by_time.game_id, sizeof(index.by_time.game_id), game_id);
	index.by_time.transaction_id = transaction_id;
	index.by_time.bet_number = number;
	text_copy(index.by_game.player_id, sizeof(index.by_game.player_id), player_id);
	text_copy(index.by_game.game_id, sizeof(index.by_game.game_id), game_id);
	index.by_game.transaction_id = transaction_id;
	index.is_first = number == 1;
	return index;
}

struct bet_index bet_index_of(const struct bet *bet)
{
	return index_of(bet->player_id, bet->game_id, bet->number, bet->transaction_id);
}

bool bet_index_of_transaction(const struct transaction *row, struct bet_index *index)
{
	if (row->kind != ENTRY_BET)
		return false;
	*index = index_of(row->player_id, row->game_id, row->bet_number, row->transaction_id);
	return true;
}
