#include "admin/bets.h"

#include "admin/ahead.h"
#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void bets_name(struct bet *bet, const char player_id[PLAYER_ID_SIZE],
	const char game_id[EXTERNAL_ID_SIZE], uint32_t number)
{
	memset(bet, 0, sizeof(*bet));
	memcpy(bet->player_id, player_id, sizeof(bet->player_id));
	memcpy(bet->game_id, game_id, sizeof(bet->game_id));
	bet->number = number;
}

static struct round round_key(const struct bet_callback *callback)
{
	struct round round;

	memset(&round, 0, sizeof(round));
	memcpy(round.player_id, callback->player_id, sizeof(round.player_id));
	memcpy(round.game_id, callback->game_id, sizeof(round.game_id));
	return round;
}

struct bet_callback bet_callback_of(const struct bet *bet)
{
	struct bet_callback callback;

	memset(&callback, 0, sizeof(callback));
	memcpy(callback.player_id, bet->player_id, sizeof(callback.player_id));
	memcpy(callback.game_id, bet->game_id, sizeof(callback.game_id));
	callback.event = bet->refund_event ? bet->refund_event : bet->event;
	callback.settled = bet->event && !bet->refund_event && bet->state == BET_SETTLED;
	return callback;
}

/* Sets the events of the settled ones from their rounds. */
static enum outcome find_results(struct ahead *ahead, struct bet_callback *callbacks,
	unsigned int count)
{
	enum outcome code;
	struct round round;
	bool found;

	for (unsigned int i = 0; i < count; i++) {
		round = round_key(&callbacks[i]);
		if (callbacks[i].settled)
			ahead_want(ahead, RECORD_ROUND, &round);
	}
	code = ahead_read(ahead);
	for (unsigned int i = 0; i < count && code == OUTCOME_DONE; i++) {
		round = round_key(&callbacks[i]);
		if (!callbacks[i].settled)
			continue;
		code = list_fetch(ahead->session, RECORD_ROUND, &round, &found, NULL);
		if (code == OUTCOME_DONE && found)
			callbacks[i].event = round.last_event ? round.last_event : round.event;
	}
	return code;
}

static enum outcome find_states(struct ahead *ahead, struct bet_callback *callbacks,
	unsigned int count)
{
	struct callback row;
	enum outcome code;
	bool found;

	memset(&row, 0, sizeof(row));
	for (unsigned int i = 0; i < count; i++) {
		row.event = callbacks[i].event;
		if (row.event)
			ahead_want(ahead, RECORD_CALLBACK, &row);
	}
	code = ahead_read(ahead);
	for (unsigned int i = 0; i < count && code == OUTCOME_DONE; i++) {
		row.event = callbacks[i].event;
		if (!row.event)
			continue;
		code = list_fetch(ahead->session, RECORD_CALLBACK, &row, &found, NULL);
		if (code == OUTCOME_DONE && found)
			text_copy(callbacks[i].state, sizeof(callbacks[i].state),
				callback_state_names[row.state]);
	}
	return code;
}

enum outcome bet_callbacks_fill(struct session *session, struct bet_callback *callbacks,
	unsigned int count)
{
	struct ahead *ahead = ahead_new(session);
	enum outcome code;

	if (!ahead)
		return session_no_memory(session);
	code = find_results(ahead, callbacks, count);
	ahead_close(ahead);
	ahead_open(ahead, session);
	if (code == OUTCOME_DONE)
		code = find_states(ahead, callbacks, count);
	ahead_free(ahead);
	return code;
}

static enum outcome visit_bet(struct bets_walk *walk, const struct bet *bet)
{
	enum outcome code = names_of(walk->session, bet->player_id, &walk->name);

	if (code == OUTCOME_DONE)
		walk->visit(walk->context, bet, walk->name.user_id);
	return code;
}

static enum outcome walk_transactions(struct bets_walk *walk)
{
	struct filter *filter = walk->filter;
	struct list list;
	struct transaction row;
	struct bet bet;
	enum filter_match match;
	enum outcome code = OUTCOME_DONE;
	bool found;

	list_open(&list, walk->session, RECORD_TRANSACTION, true, 0, NULL);
	row.transaction_id = filter->after;
	if (filter->after)
		list_behind(&list, &row);
	while (code == OUTCOME_DONE && filter->limit && list_next(&list, &row)) {
		match = filter_time(filter, row.time_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP || row.kind != ENTRY_BET ||
			!filter_names(filter, row.casino_id, row.player_id, row.game_id))
			continue;
		bets_name(&bet, row.player_id, row.game_id, row.bet_number);
		code = list_fetch(walk->session, RECORD_BET, &bet, &found, NULL);
		if (code == OUTCOME_DONE)
			code = found ? visit_bet(walk, &bet)
				     : names_missing(walk->session, "a bet");
		filter->limit--;
	}
	return list_end(&list, code);
}

/* The newest bets seen so far, as a heap. The root is the oldest of them. */
struct kept_bets {
	struct bet *bets;
	size_t count;
	size_t max;
};

static void swap_bets(struct bet *a, struct bet *b)
{
	struct bet c = *a;

	*a = *b;
	*b = c;
}

static void sink_bet(struct kept_bets *kept, size_t at)
{
	for (;;) {
		size_t oldest = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < kept->count;
			child++) {
			if (kept->bets[child].transaction_id < kept->bets[oldest].transaction_id)
				oldest = child;
		}
		if (oldest == at)
			return;
		swap_bets(&kept->bets[at], &kept->bets[oldest]);
		at = oldest;
	}
}

static void keep_newest(struct kept_bets *kept, const struct bet *bet)
{
	size_t at = kept->count;

	if (at == kept->max) {
		if (bet->transaction_id > kept->bets[0].transaction_id) {
			kept->bets[0] = *bet;
			sink_bet(kept, 0);
		}
		return;
	}
	kept->bets[kept->count++] = *bet;
	for (; at && kept->bets[at].transaction_id < kept->bets[(at - 1) / 2].transaction_id;
		at = (at - 1) / 2)
		swap_bets(&kept->bets[at], &kept->bets[(at - 1) / 2]);
}

static int newer_first(const void *a, const void *b)
{
	uint64_t left = ((const struct bet *)a)->transaction_id,
		 right = ((const struct bet *)b)->transaction_id;

	return (left < right) - (left > right);
}

static enum outcome collect_bets(struct bets_walk *walk, struct kept_bets *kept)
{
	const struct filter *filter = walk->filter;
	struct list list;
	struct bet row;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, filter->player_id, sizeof(row.player_id));
	list_open(&list, walk->session, RECORD_BET, false, filter->player_id[0] ? 1 : 0, &row);
	while (list_next(&list, &row)) {
		if (walk->states & UINT32_C(1) << row.state &&
			(!filter->after || row.transaction_id < filter->after) &&
			row.accepted_ms >= filter->since_ms && row.accepted_ms < filter->until_ms &&
			filter_names(filter, row.casino_id, row.player_id, row.game_id))
			keep_newest(kept, &row);
	}
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome walk_bets(struct bets_walk *walk)
{
	struct kept_bets kept = {.max = BETS_SORTED_MAX};
	enum outcome code;

	if (walk->filter->limit < kept.max)
		kept.max = (size_t)walk->filter->limit;
	kept.bets = calloc(kept.max, sizeof(*kept.bets));
	if (!kept.bets)
		return session_no_memory(walk->session);
	code = collect_bets(walk, &kept);
	qsort(kept.bets, kept.count, sizeof(*kept.bets), newer_first);
	for (size_t i = 0; i < kept.count && code == OUTCOME_DONE; i++)
		code = visit_bet(walk, &kept.bets[i]);
	walk->cut = code == OUTCOME_DONE && kept.count == BETS_SORTED_MAX &&
		walk->filter->limit > BETS_SORTED_MAX;
	free(kept.bets);
	return code;
}

enum outcome bets_walk(struct bets_walk *walk)
{
	return walk->states != UINT32_MAX || walk->filter->player_id[0] ? walk_bets(walk)
									: walk_transactions(walk);
}
