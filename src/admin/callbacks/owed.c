#include "admin/callbacks/owed.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/callbacks/stories.h"

#include <string.h>

const struct field owed_sums_fields[] = {
	FIELD(FIELD_STR, owed_sums, casino_id),
	FIELD(FIELD_STR, owed_sums, currency),
	FIELD(FIELD_SUM, owed_sums, payouts),
	FIELD(FIELD_SUM, owed_sums, refunds),
	FIELD(FIELD_SUM, owed_sums, shortfall),
	FIELD_END,
};

struct owed {
	struct session *session;
	const struct filter *filter;
	owed_visit *visit;
	void *context;
	bool shortfall;          /* a dealer's total has one */
	struct player_name name; /* of the last row: rows of one player often follow each other */
};

static bool dealer_is_asked(const struct owed *owed, const char *casino_id)
{
	return !owed->filter->casino_id[0] || strcmp(owed->filter->casino_id, casino_id) == 0;
}

static void visit_row(const struct owed *owed, struct owed_row *row)
{
	if (row->story.debt != DEBT_NONE)
		owed->visit(owed->context, row);
}

static enum outcome visit_callback(struct owed *owed, const struct callback *callback)
{
	struct owed_row row;
	enum outcome code;
	bool found;

	if (!filter_names(owed->filter, callback->casino_id, callback->player_id,
		    callback->game_id))
		return OUTCOME_DONE;
	memset(&row, 0, sizeof(row));
	code = stories_callback(owed->session, callback, false, &row.story, &found);
	if (code == OUTCOME_DONE && found)
		code = names_of(owed->session, callback->player_id, &owed->name);
	if (code != OUTCOME_DONE || !found)
		return code;
	callback_event_id(callback->kind, callback->event, row.webhook_id);
	row.kind = callback->kind;
	row.state = callback->state;
	row.since_ms = callback->created_ms;
	memcpy(row.casino_id, callback->casino_id, sizeof(row.casino_id));
	memcpy(row.player_id, callback->player_id, sizeof(row.player_id));
	memcpy(row.game_id, callback->game_id, sizeof(row.game_id));
	memcpy(row.user_id, owed->name.user_id, sizeof(row.user_id));
	visit_row(owed, &row);
	return OUTCOME_DONE;
}

static enum outcome walk_due_callbacks(struct owed *owed)
{
	struct callback callback;
	struct list list;
	struct due due;
	enum outcome code = OUTCOME_DONE;
	bool found;

	list_open(&list, owed->session, RECORD_DUE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &due)) {
		if (!dealer_is_asked(owed, due.casino_id))
			continue;
		memset(&callback, 0, sizeof(callback));
		callback.event = due.event;
		code = list_fetch(owed->session, RECORD_CALLBACK, &callback, &found, NULL);
		/* The callback may have ended since. */
		if (code == OUTCOME_DONE && found &&
			(callback.state == CALLBACK_DUE || callback.state == CALLBACK_SENDING))
			code = visit_callback(owed, &callback);
	}
	return list_end(&list, code);
}

static enum outcome walk_parked_and_held(struct owed *owed, const char *casino_id)
{
	struct callback row;
	struct list list;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, owed->session, RECORD_CALLBACK, true, 0, NULL);
	list.aside_of = casino_id;
	while (code == OUTCOME_DONE && list_next(&list, &row))
		code = visit_callback(owed, &row);
	return list_end(&list, code);
}

/* Visits the parked and held callbacks of each dealer that has some. */
static enum outcome walk_dealers(struct owed *owed)
{
	struct list list;
	struct total row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, owed->session, RECORD_TOTAL, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if (!dealer_is_asked(owed, row.casino_id))
			continue;
		owed->shortfall |= row.shortfall > 0;
		if (row.parked + row.held)
			code = walk_parked_and_held(owed, row.casino_id);
	}
	return list_end(&list, code);
}

/* Visits the round of @correction, unless its open callback was visited. */
static enum outcome visit_shortfall(const struct owed *owed, const struct correction *correction)
{
	struct callback callback = {.event = 0};
	struct owed_row row;
	struct round round;
	enum outcome code;
	bool found, open = false;

	memset(&round, 0, sizeof(round));
	memcpy(round.player_id, correction->player_id, sizeof(round.player_id));
	memcpy(round.game_id, correction->game_id, sizeof(round.game_id));
	code = list_fetch(owed->session, RECORD_ROUND, &round, &found, NULL);
	if (code != OUTCOME_DONE || !found || round.shortfall <= 0)
		return code;
	callback.event = round.last_event;
	if (callback.event)
		code = list_fetch(owed->session, RECORD_CALLBACK, &callback, &open, NULL);
	open = open && callback.state != CALLBACK_DELIVERED && callback.state != CALLBACK_CANCELLED;
	memset(&row, 0, sizeof(row));
	if (code == OUTCOME_DONE && !open)
		code = stories_round(owed->session, &round, false, &row.story);
	if (code != OUTCOME_DONE || open)
		return code;
	row.kind = CALLBACK_BETTING_CORRECTION;
	row.state = CALLBACK_DELIVERED;
	row.since_ms = correction->time_ms;
	memcpy(row.casino_id, round.casino_id, sizeof(row.casino_id));
	memcpy(row.player_id, round.player_id, sizeof(row.player_id));
	memcpy(row.user_id, round.user_id, sizeof(row.user_id));
	memcpy(row.game_id, round.game_id, sizeof(row.game_id));
	visit_row(owed, &row);
	return OUTCOME_DONE;
}

static bool same_round(const struct correction *one, const struct correction *other)
{
	return strcmp(one->player_id, other->player_id) == 0 &&
		strcmp(one->game_id, other->game_id) == 0;
}

/* The corrections of one round follow each other. */
static enum outcome walk_shortfalls(const struct owed *owed)
{
	struct correction row, last = {.revision = 0};
	struct list list;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, owed->session, RECORD_CORRECTION, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if (row.shortfall <= 0 || same_round(&row, &last) ||
			!filter_names(owed->filter, row.casino_id, row.player_id, row.game_id))
			continue;
		last = row;
		code = visit_shortfall(owed, &row);
	}
	return list_end(&list, code);
}

enum outcome owed_walk(struct session *session, const struct filter *filter, owed_visit *visit,
	void *context)
{
	struct owed owed = {.session = session,
		.filter = filter,
		.visit = visit,
		.context = context};
	enum outcome code = walk_due_callbacks(&owed);

	if (code == OUTCOME_DONE)
		code = walk_dealers(&owed);
	if (code == OUTCOME_DONE && owed.shortfall)
		code = walk_shortfalls(&owed);
	return code;
}

enum outcome owed_sums_walk(struct session *session, const char *casino_id, owed_sums_visit *visit,
	void *context)
{
	struct owed_sums sums;
	struct dealer dealer;
	struct list list;
	struct total row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, session, RECORD_TOTAL, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if ((casino_id[0] && strcmp(casino_id, row.casino_id) != 0) ||
			(!row.owed_payouts && !row.owed_refunds && !row.shortfall))
			continue;
		code = names_dealer(session, row.casino_id, &dealer);
		if (code != OUTCOME_DONE)
			break;
		memset(&sums, 0, sizeof(sums));
		memcpy(sums.casino_id, row.casino_id, sizeof(sums.casino_id));
		memcpy(sums.currency, dealer.currency, sizeof(sums.currency));
		sums.payouts = row.owed_payouts;
		sums.refunds = row.owed_refunds;
		sums.shortfall = row.shortfall;
		visit(context, &sums);
	}
	return list_end(&list, code);
}
