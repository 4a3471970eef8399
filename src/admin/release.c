#include "admin/release.h"

#include "admin/callbacks.h"
#include "admin/list.h"
#include "admin/names.h"
#include "wire/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool release_init(struct release *release, struct session *session)
{
	*release = (struct release){.session = session};
	release->dealers = calloc(DEALERS_MAX, sizeof(*release->dealers));
	return release->dealers != NULL;
}

void release_free(struct release *release)
{
	free(release->dealers);
}

static int compare_names(const void *name, const void *dealer)
{
	return strcmp(name, ((const struct held_dealer *)dealer)->casino_id);
}

static struct held_dealer *find_held(const struct release *release, const char *casino_id)
{
	return bsearch(casino_id, release->dealers, release->count, sizeof(release->dealers[0]),
		compare_names);
}

static void add_held_dealer(struct release *release, const struct dealer *dealer)
{
	struct held_dealer *held = &release->dealers[release->count];

	if (!dealer->callbacks_held_ms || release->count == DEALERS_MAX)
		return;
	memset(held, 0, sizeof(*held));
	memcpy(held->casino_id, dealer->casino_id, sizeof(held->casino_id));
	held->callbacks_held_ms = dealer->callbacks_held_ms;
	held->restored_ms = dealer->restored_ms;
	held->restored_to_ms = dealer->restored_to_ms;
	release->count++;
}

enum outcome release_find_dealers(struct release *release, const char *casino_id)
{
	struct dealer dealer;
	struct list list;
	enum outcome code;

	if (!casino_id) {
		list_open(&list, release->session, RECORD_DEALER, false, 0, NULL);
		while (list_next(&list, &dealer))
			add_held_dealer(release, &dealer);
		return list_end(&list, OUTCOME_DONE);
	}
	code = names_dealer(release->session, casino_id, &dealer);
	if (code != OUTCOME_DONE)
		return code;
	add_held_dealer(release, &dealer);
	return release->count ? OUTCOME_DONE
			      : session_fail(release->session, OUTCOME_FAILED, "not_held",
					"the callbacks of dealer %s are not held, so there is "
					"nothing to release",
					dealer.casino_id);
}

/* Fills in the amount that the callback asks the dealer to move, and the state of its bet. */
static enum outcome fill_money(struct session *session, const struct callback *callback,
	struct waiting_row *row)
{
	struct bet bet;
	struct round round;
	bool found = false;
	enum outcome code;

	if (callback->bet_number) {
		memset(&bet, 0, sizeof(bet));
		memcpy(bet.player_id, callback->player_id, sizeof(bet.player_id));
		memcpy(bet.game_id, callback->game_id, sizeof(bet.game_id));
		bet.number = callback->bet_number;
		code = list_fetch(session, RECORD_BET, &bet, &found, NULL);
		row->amount = bet.bet_amount;
		row->transaction_id = bet.transaction_id;
		if (found)
			snprintf(row->bet, sizeof(row->bet), "%s", bet_state_names[bet.state]);
	} else {
		memset(&round, 0, sizeof(round));
		memcpy(round.player_id, callback->player_id, sizeof(round.player_id));
		memcpy(round.game_id, callback->game_id, sizeof(round.game_id));
		code = list_fetch(session, RECORD_ROUND, &round, &found, NULL);
		row->amount = round.payout_amount;
		row->transaction_id = round.transaction_id;
		if (found)
			snprintf(row->bet, sizeof(row->bet), "%s",
				round_result_names[round.result]);
	}
	return code;
}

static enum outcome visit_waiting(struct release *release, const struct callback_row *callback,
	release_visit *visit, void *context)
{
	struct waiting_row row;
	enum outcome code;

	memset(&row, 0, sizeof(row));
	callback_event_id(callback->callback.kind, callback->callback.event, row.webhook_id);
	row.created_ms = callback->callback.created_ms;
	memcpy(row.casino_id, callback->callback.casino_id, sizeof(row.casino_id));
	memcpy(row.user_id, callback->user_id, sizeof(row.user_id));
	memcpy(row.game_id, callback->callback.game_id, sizeof(row.game_id));
	row.attempts = callback->callback.attempts;
	code = fill_money(release->session, &callback->callback, &row);
	if (code != OUTCOME_DONE)
		return code;
	visit(context, &row);
	return OUTCOME_DONE;
}

enum outcome release_walk(struct release *release, uint64_t limit, release_visit *visit,
	void *context)
{
	struct callback_row callback;
	struct held_dealer *held;
	struct list list;
	struct due due;
	bool found;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, release->session, RECORD_DUE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &due)) {
		held = find_held(release, due.casino_id);
		if (!held)
			continue;
		held->callbacks++;
		if (release->callbacks++ >= limit)
			continue;
		code = callback_row_fetch(release->session, due.event, &callback, &found);
		/* The callback may have ended meanwhile: an operator can cancel it. */
		if (code == OUTCOME_DONE && found)
			code = visit_waiting(release, &callback, visit, context);
	}
	return list_end(&list, code);
}

enum outcome release_set_held(struct session *session, const char *casino_id, int64_t held_ms,
	bool unreconciled, struct dealer_put_result *result)
{
	struct dealer_put_cmd cmd = {
		.operator= session->operator,
		.mask = UINT32_C(1) << DEALER_CALLBACKS_HELD,
		.dealer = {.callbacks_held_ms = held_ms},
	};

	cmd.unreconciled = unreconciled;
	snprintf(cmd.dealer.casino_id, sizeof(cmd.dealer.casino_id), "%s", casino_id);
	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id)))
		return session_no_random(session);
	return session_do(session, COMMAND_DEALER_PUT, &cmd, result, NULL);
}

enum outcome release_lift(struct release *release, bool unreconciled)
{
	struct dealer_put_result result;
	enum outcome code = OUTCOME_DONE;

	for (size_t i = 0; i < release->count && code == OUTCOME_DONE; i++) {
		code = release_set_held(release->session, release->dealers[i].casino_id, 0,
			unreconciled, &result);
		release->dealers[i].released = code == OUTCOME_DONE;
	}
	return code;
}

const char *release_find_unreconciled(const struct release *release)
{
	for (size_t i = 0; i < release->count; i++) {
		if (release->dealers[i].restored_ms)
			return release->dealers[i].casino_id;
	}
	return NULL;
}
