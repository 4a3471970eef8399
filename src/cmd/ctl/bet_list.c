/*
 * bet_list - implements `bet list`: the newest bets first.
 *
 * Bets are keyed by player and game; transactions by id. Without --user and --state, the command
 * walks the transactions from the newest and fetches each bet. With one of them, it walks the
 * player's bets, or all bets, and keeps the newest that match.
 */
#include "cmd/ctl/ctl.h"

#include "admin/list.h"
#include "admin/names.h"
#include "cmd/ctl/filter.h"
#include "cmd/ctl/output.h"

#include <stdlib.h>
#include <string.h>

#define VIEW_MAX 40
/* Maximum number of bets held in memory for sorting. */
#define KEPT_MAX 10000

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

struct walk {
	struct ctl *ctl;
	struct filter filter;
	uint32_t states;
	struct output_list out;
	struct player_name name;
};

static enum outcome print_bet(struct walk *walk, const struct bet *bet)
{
	struct bet_row row;
	enum outcome code = names_of(&walk->ctl->session, bet->player_id, &walk->name);

	if (code != OUTCOME_DONE)
		return code;
	memset(&row, 0, sizeof(row));
	row.bet = *bet;
	row.bet.user_bet = (struct bytes){.len = 0};
	memcpy(row.user_id, walk->name.user_id, sizeof(row.user_id));
	output_list_add(&walk->out, &row);
	return OUTCOME_DONE;
}

static enum outcome walk_transactions(struct walk *walk)
{
	struct filter *filter = &walk->filter;
	struct list list;
	struct transaction row;
	struct bet bet;
	enum filter_match match;
	enum outcome code = OUTCOME_DONE;
	bool found;

	list_open(&list, &walk->ctl->session, RECORD_TRANSACTION, true, 0, NULL);
	while (code == OUTCOME_DONE && filter->limit && list_next(&list, &row)) {
		match = filter_time(filter, row.time_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP || !row.bet_number ||
			!filter_names(filter, row.casino_id, row.player_id, row.game_id))
			continue;
		memset(&bet, 0, sizeof(bet));
		memcpy(bet.player_id, row.player_id, sizeof(bet.player_id));
		memcpy(bet.game_id, row.game_id, sizeof(bet.game_id));
		bet.number = row.bet_number;
		code = list_fetch(&walk->ctl->session, RECORD_BET, &bet, &found, NULL);
		if (code == OUTCOME_DONE)
			code = found ? print_bet(walk, &bet)
				     : names_missing(&walk->ctl->session, "a bet");
		filter->limit--;
	}
	return list_end(&list, code);
}

/* The newest bets seen so far, as a heap. The root is the oldest of them. */
struct kept {
	struct bet *bets;
	size_t count;
	size_t max;
};

static void swap(struct bet *a, struct bet *b)
{
	struct bet c = *a;

	*a = *b;
	*b = c;
}

static void sink(struct kept *kept, size_t at)
{
	for (;;) {
		size_t oldest = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < kept->count; child++) {
			if (kept->bets[child].transaction_id < kept->bets[oldest].transaction_id)
				oldest = child;
		}
		if (oldest == at)
			return;
		swap(&kept->bets[at], &kept->bets[oldest]);
		at = oldest;
	}
}

static void keep(struct kept *kept, const struct bet *bet)
{
	size_t at = kept->count;

	if (at == kept->max) {
		if (bet->transaction_id > kept->bets[0].transaction_id) {
			kept->bets[0] = *bet;
			sink(kept, 0);
		}
		return;
	}
	kept->bets[kept->count++] = *bet;
	for (; at && kept->bets[at].transaction_id < kept->bets[(at - 1) / 2].transaction_id;
		at = (at - 1) / 2)
		swap(&kept->bets[at], &kept->bets[(at - 1) / 2]);
}

static int newer_first(const void *a, const void *b)
{
	uint64_t left = ((const struct bet *)a)->transaction_id,
		 right = ((const struct bet *)b)->transaction_id;

	return (left < right) - (left > right);
}

static enum outcome gather(struct walk *walk, struct kept *kept)
{
	const struct filter *filter = &walk->filter;
	struct list list;
	struct bet row;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, filter->player_id, sizeof(row.player_id));
	list_open(&list, &walk->ctl->session, RECORD_BET, false, filter->player_id[0] ? 1 : 0, &row);
	while (list_next(&list, &row)) {
		if (walk->states & UINT32_C(1) << row.state &&
			row.accepted_ms >= filter->since_ms && row.accepted_ms < filter->until_ms &&
			filter_names(filter, row.casino_id, row.player_id, row.game_id))
			keep(kept, &row);
	}
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome walk_bets(struct walk *walk)
{
	struct kept kept = {.max = KEPT_MAX};
	enum outcome code;

	if (walk->filter.limit < kept.max)
		kept.max = (size_t)walk->filter.limit;
	kept.bets = calloc(kept.max, sizeof(*kept.bets));
	if (!kept.bets)
		return ctl_no_memory(walk->ctl);
	code = gather(walk, &kept);
	qsort(kept.bets, kept.count, sizeof(*kept.bets), newer_first);
	for (size_t i = 0; i < kept.count && code == OUTCOME_DONE; i++)
		code = print_bet(walk, &kept.bets[i]);
	if (code == OUTCOME_DONE && kept.count == KEPT_MAX && walk->filter.limit > KEPT_MAX)
		ctl_tell("cut", "only the newest %d bets are listed", KEPT_MAX);
	free(kept.bets);
	return code;
}

enum outcome ctl_bet_list(struct ctl *ctl)
{
	static struct field view[VIEW_MAX];
	struct walk walk = {.ctl = ctl};
	enum outcome code = ctl_choices(ctl, OPTION_STATE, bet_state_names, BET_STATE_COUNT,
		&walk.states);

	if (code == OUTCOME_DONE)
		code = filter_read(ctl, 50, &walk.filter);
	if (code != OUTCOME_DONE)
		return code;
	output_view(view, VIEW_MAX, bet_fields, more_fields);
	output_list_open(&walk.out, ctl, "bets", "bets", view, list_columns);
	code = ctl->options[OPTION_STATE] || walk.filter.player_id[0] ? walk_bets(&walk)
								      : walk_transactions(&walk);
	return output_list_close(&walk.out, code);
}
