/*
 * bet - implements `bet show`, `round show` and `bet list`. Finds a game by transaction id, or by
 * player and game.
 */
#include "cmd/ctl/ctl.h"

#include "admin/bets.h"
#include "admin/names.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "cmd/ctl/game.h"
#include "cmd/ctl/output.h"

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
		return ctl_usage(ctl,
			"'%s' is not a transaction id; or a game must be given with "
			"the player",
			ctl->args[0]);
	code = transaction_fetch(&ctl->session, transaction_id, &row, &found);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		return ctl_fail(ctl, OUTCOME_FAILED, "bet_not_found",
			"there is no transaction %s; "
			"see `creditbridgectl bet list` and `creditbridgectl transfer list`",
			ctl->args[0]);
	if (!row.game_id[0])
		return ctl_fail(ctl, OUTCOME_FAILED, "bet_not_found",
			"transaction %s is no bet and no result: see 'creditbridgectl transfer show "
			"--transaction %s'",
			ctl->args[0], ctl->args[0]);
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

	if (ctl->arg_count == 3 &&
		(!text_unsigned(ctl->args[2], ROUND_NUMBERS_MAX, &number) || !number))
		return ctl_usage(ctl, "'%s' is not the number of a bet: 1, 2, 3 ...", ctl->args[2]);
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

/* ---- bet list */

#define VIEW_MAX 40

struct bet_row {
	struct bet bet; /* must be first: the view begins with its fields */
	char user_id[EXTERNAL_ID_SIZE];
};

static const struct field more_fields[] = {
	FIELD(FIELD_STR, bet_row, user_id),
	FIELD_END,
};

static const struct output_column list_columns[] = {
	{"TRANSACTION", "transaction_id", OUTPUT_PLAIN},
	{"PLACED", "accepted_ms", OUTPUT_PLAIN},
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"USER", "user_id", OUTPUT_PLAIN},
	{"GAME", "game_id", OUTPUT_PLAIN},
	{"NO", "number", OUTPUT_PLAIN},
	{"AMOUNT", "bet_amount", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"SINCE", "changed_ms", OUTPUT_PLAIN},
	{"DEALER'S ERROR", "dealer_error_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static void add_bet_row(void *context, const struct bet *bet, const char *user_id)
{
	struct bet_row row;

	memset(&row, 0, sizeof(row));
	row.bet = *bet;
	row.bet.user_bet = (struct bytes){.len = 0};
	text_copy(row.user_id, sizeof(row.user_id), user_id);
	output_list_add(context, &row);
}

enum outcome ctl_bet_list(struct ctl *ctl)
{
	static struct field view[VIEW_MAX];
	struct output_list out;
	struct filter filter;
	struct bets_walk walk = {.session = &ctl->session,
		.filter = &filter,
		.visit = add_bet_row,
		.context = &out};
	enum outcome code =
		ctl_choices(ctl, OPTION_STATE, bet_state_names, BET_STATE_COUNT, &walk.states);

	if (code == OUTCOME_DONE)
		code = ctl_filter(ctl, 50, &filter);
	if (code != OUTCOME_DONE)
		return code;
	output_view(view, VIEW_MAX, bet_fields, more_fields);
	output_list_open(&out, ctl, "bets", "bets", view, list_columns);
	code = bets_walk(&walk);
	if (walk.cut)
		ctl_tell("cut", "only the newest %d bets are listed", BETS_SORTED_MAX);
	return output_list_close(&out, code);
}
