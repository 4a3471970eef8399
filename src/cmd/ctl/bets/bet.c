/*
 * bet - implements `bet show`, `round show` and `bet list`. Finds a game by transaction id, or by
 * player and game.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/bets.h"
#include "admin/list.h"
#include "admin/names.h"
#include "admin/callbacks/stories.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "cmd/ctl/bets/game.h"
#include "cmd/ctl/common/output.h"

#include <inttypes.h>
#include <stdio.h>
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
	/* The number of a correction is its revision. */
	key->number = row.kind == ENTRY_CORRECTION ? 0 : row.bet_number;
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
	enum story_debt debt;
	money_t owed;
	char standing[64]; /* the state for people: "settled, 25.00 not delivered" */
};

static const struct field more_fields[] = {
	FIELD(FIELD_STR, bet_row, user_id),
	FIELD_NAMED(bet_row, debt, story_debt_names, DEBT_COUNT),
	FIELD(FIELD_MONEY, bet_row, owed),
	FIELD_END,
};

static const struct field text_fields[] = {
	FIELD(FIELD_STR, bet_row, standing),
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
	{"STATE", "standing", OUTPUT_PLAIN},
	{"SINCE", "changed_ms", OUTPUT_PLAIN},
	{"DEALER'S ERROR", "dealer_error_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* The list that is printed, and the round of the last row: rows of one round follow each other. */
struct bet_list {
	struct ctl *ctl;
	struct output_list out;
	struct round round;
	struct story story; /* of that round */
	enum outcome code;
};

/* Writes "settled, 25.00 not delivered". */
static void describe_standing(struct bet_row *row)
{
	static const char *const missing[DEBT_COUNT] = {
		[DEBT_DEALER] = "not delivered",
		[DEBT_DEALER_PERHAPS] = "not delivered",
		[DEBT_DEALER_PLATFORM] = "not delivered, adjusted",
		[DEBT_PLAYER_DEALER] = "not taken back",
		[DEBT_PLAYER_PLATFORM] = "not taken back",
	};
	const char *state = bet_state_names[row->bet.state];
	char amount[MONEY_TEXT_MAX];

	money_format(row->owed, 2, amount);
	if (row->debt == DEBT_NONE)
		text_copy(row->standing, sizeof(row->standing), state);
	else
		snprintf(row->standing, sizeof(row->standing), "%s, %s %s", state, amount,
			missing[row->debt]);
}

/* Fetches the round of @bet, and its story if the round is settled. */
static enum outcome fetch_round(struct bet_list *list, const struct bet *bet)
{
	struct round *round = &list->round;
	enum outcome code;
	bool found;

	if (strcmp(round->player_id, bet->player_id) == 0 &&
		strcmp(round->game_id, bet->game_id) == 0)
		return OUTCOME_DONE;
	memset(round, 0, sizeof(*round));
	memcpy(round->player_id, bet->player_id, sizeof(round->player_id));
	memcpy(round->game_id, bet->game_id, sizeof(round->game_id));
	code = list_fetch(&list->ctl->session, RECORD_ROUND, round, &found, NULL);
	if (code == OUTCOME_DONE && !found)
		code = names_missing(&list->ctl->session, "a round");
	if (code == OUTCOME_DONE && round->state == ROUND_SETTLED)
		code = stories_round(&list->ctl->session, round, true, &list->story);
	return code;
}

/* Fetches what is owed for the bet. Only a bet that was settled or refunded can have a debt. */
static enum outcome fetch_debt(struct bet_list *list, struct bet_row *row)
{
	const struct bet *bet = &row->bet;
	struct story story;
	enum outcome code;

	if (bet->state != BET_SETTLED && !bet->refund_event)
		return OUTCOME_DONE;
	code = fetch_round(list, bet);
	story = list->story;
	if (code == OUTCOME_DONE && bet->state != BET_SETTLED)
		code = stories_bet(&list->ctl->session, &list->round, bet, true, &story);
	if (code != OUTCOME_DONE)
		return code;
	row->debt = story.debt;
	row->owed = story.owed;
	return OUTCOME_DONE;
}

static void add_bet_row(void *context, const struct bet *bet, const char *user_id)
{
	struct bet_list *list = context;
	struct bet_row row;

	memset(&row, 0, sizeof(row));
	row.bet = *bet;
	row.bet.user_bet = (struct bytes){.len = 0};
	text_copy(row.user_id, sizeof(row.user_id), user_id);
	if (list->code == OUTCOME_DONE)
		list->code = fetch_debt(list, &row);
	describe_standing(&row);
	if (list->code == OUTCOME_DONE)
		output_list_add(&list->out, &row);
}

enum outcome ctl_bet_list(struct ctl *ctl)
{
	static struct field json[VIEW_MAX], view[VIEW_MAX];
	struct bet_list list = {.ctl = ctl};
	struct filter filter;
	struct bets_walk walk = {.session = &ctl->session,
		.filter = &filter,
		.visit = add_bet_row,
		.context = &list};
	enum outcome code =
		ctl_choices(ctl, OPTION_STATE, bet_state_names, BET_STATE_COUNT, &walk.states);

	if (code == OUTCOME_DONE)
		code = ctl_filter(ctl, 50, &filter);
	if (code != OUTCOME_DONE)
		return code;
	output_view(json, VIEW_MAX, bet_fields, more_fields);
	output_view(view, VIEW_MAX, json, text_fields);
	output_list_open(&list.out, ctl, "bets", "bets", view, list_columns);
	list.out.json = json;
	code = bets_walk(&walk);
	if (code == OUTCOME_DONE)
		code = list.code;
	if (walk.cut)
		ctl_tell("cut", "only the newest %d bets are listed", BETS_SORTED_MAX);
	return output_list_close(&list.out, code);
}
