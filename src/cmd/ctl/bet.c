/*
 * bet - implements `bet show` and `round show`. Finds the game by transaction id, or by player
 * and game.
 */
#include "cmd/ctl/ctl.h"

#include "admin/names.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "cmd/ctl/game.h"

#include <inttypes.h>
#include <string.h>

/* Finds a game by a transaction id: of a bet, or of a result (number 0). */
static enum outcome find_transaction(struct ctl *ctl, struct game_key *key)
{
	struct transaction row;
	uint64_t transaction_id;
	enum outcome code;
	bool found;

	if (!text_unsigned(ctl->args[0], TRANSACTION_ID_MAX, &transaction_id))
		return ctl_usage(ctl, "'%s' is not a transaction id; or a game must be given with "
				      "the player", ctl->args[0]);
	code = transaction_fetch(&ctl->session, transaction_id, &row, &found);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		return ctl_fail(ctl, OUTCOME_FAILED, "bet_not_found", "there is no transaction %s; "
			"see `creditbridgectl bet list` and `creditbridgectl transfer list`",
			ctl->args[0]);
	if (!row.game_id[0])
		return ctl_fail(ctl, OUTCOME_FAILED, "bet_not_found",
			"transaction %s is no bet and no result: see 'creditbridgectl transfer show "
			"--transaction %s'", ctl->args[0], ctl->args[0]);
	memcpy(key->player_id, row.player_id, sizeof(key->player_id));
	memcpy(key->game_id, row.game_id, sizeof(key->game_id));
	key->number = row.bet_number;
	return OUTCOME_DONE;
}

/* Finds a game by PLAYER GAME [N]. */
static enum outcome find_game(struct ctl *ctl, struct game_key *key)
{
	struct player player;
	uint64_t number = 0;
	enum outcome code;

	if (ctl->arg_count == 3 && (!text_unsigned(ctl->args[2], ROUND_NUMBERS_MAX, &number) || !number))
		return ctl_usage(ctl, "'%s' is not the number of a bet: 1, 2, 3 ...",
			ctl->args[2]);
	code = names_read_external_id(&ctl->session, "a game id", ctl->args[1], key->game_id);
	if (code == OUTCOME_DONE)
		code = names_player_word(&ctl->session, ctl->args[0], &player);
	if (code != OUTCOME_DONE)
		return code;
	memcpy(key->player_id, player.player_id, sizeof(key->player_id));
	key->number = (uint32_t)number;
	return OUTCOME_DONE;
}

enum outcome ctl_bet_show(struct ctl *ctl)
{
	const bool by_transaction = ctl->arg_count == 1;
	struct game_key key = {.number = 0};
	enum outcome code = by_transaction ? find_transaction(ctl, &key) : find_game(ctl, &key);

	if (code != OUTCOME_DONE)
		return code;
	/* The transaction id of a win identifies only the round. */
	if (by_transaction && !key.number)
		return game_show_round(ctl, &key);
	return game_show_bet(ctl, &key);
}

enum outcome ctl_round_show(struct ctl *ctl)
{
	struct game_key key = {.number = 0};
	enum outcome code =
		ctl->arg_count == 1 ? find_transaction(ctl, &key) : find_game(ctl, &key);

	return code == OUTCOME_DONE ? game_show_round(ctl, &key) : code;
}
