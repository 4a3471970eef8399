/*
 * replays - starts and stops replays of parked callbacks, and makes some callbacks of one due.
 */
#include "ledger/commands/ops.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/counters.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/life.h"
#include "ledger/rows/moves.h"
#include "ledger/rows/replays.h"

#include <stdio.h>
#include <stdlib.h>

#define REPLAY_COUNTER "replay"
#define START_ACTION   "callback replay"
#define STOP_ACTION    "replay stop"
#define RETRY_ACTION   "callback retry"

static const struct replay *replay_find(struct ws *ws, uint64_t id)
{
	const struct replay key = replay_named(id);

	return ws_get(ws, RECORD_REPLAY, &key);
}

static void name_replay(uint64_t id, char object[OBJECT_SIZE])
{
	snprintf(object, OBJECT_SIZE, "replay %llu", (unsigned long long)id);
}

static void refuse_with(struct verdict *verdict, enum refusal refusal, const char *detail)
{
	verdict->refusal = refusal;
	text_copy(verdict->detail, sizeof(verdict->detail), detail);
}

/* ---- start */

void replay_start_keys(const void *arg, struct ws *ws)
{
	const struct replay_start_cmd *cmd = arg;
	const struct dealer dealer = dealer_named(cmd->filter.casino_id);

	audit_keys(ws, &cmd->operator);
	counter_want(ws, REPLAY_COUNTER);
	life_want(ws);
	ws_want(ws, RECORD_DEALER, &dealer);
}

/* Returns how many replays run, with those that this batch starts. */
static uint32_t count_running(const struct apply_context *context, const struct ws *ws)
{
	uint32_t count = context->replays ? context->replays->count : 0;

	for (const struct ws_row *row = ws->first; row; row = row->next) {
		if (row->record == RECORD_REPLAY && row->appended)
			count++;
	}
	return count;
}

static bool check_start(struct ws *ws, const struct apply_context *context,
	const struct replay_start_cmd *cmd, struct verdict *verdict)
{
	const struct replay_filter *filter = &cmd->filter;
	const struct dealer dealer = dealer_named(filter->casino_id);

	if (!ws_get(ws, RECORD_DEALER, &dealer))
		verdict->refusal = REFUSAL_DEALER_NOT_FOUND;
	else if (!cmd->expected || cmd->expected > REPLAY_CALLBACKS_MAX)
		refuse_with(verdict, REFUSAL_BAD_REQUEST,
			"a replay sends 1 to 10,000 callbacks: preview it first");
	else if (cmd->parked_later > TRANSACTION_ID_MAX)
		refuse_with(verdict, REFUSAL_BAD_REQUEST, "so many callbacks do not exist");
	else if (!replay_events_ok(&cmd->events))
		refuse_with(verdict, REFUSAL_BAD_REQUEST,
			"at most 64 events can be named, each once, in rising order");
	else if (!filter->first_event || filter->last_event < filter->first_event ||
		filter->last_event > counter_read(ws, LIFE_EVENTS))
		refuse_with(verdict, REFUSAL_BAD_REQUEST, "the range of events does not exist");
	else if (filter->parked_to_ms <= 0 || filter->parked_to_ms > context->now.wall_ms)
		refuse_with(verdict, REFUSAL_BAD_REQUEST,
			"the time of the preview is later than now: preview it again");
	else if (count_running(context, ws) >= REPLAYS_RUNNING_MAX)
		refuse_with(verdict, REFUSAL_NOT_ALLOWED_NOW,
			"16 replays run already: wait until one is done, or stop one");
	return verdict->refusal == REFUSAL_NONE;
}

/* Returns the number in the object of an earlier start with this operation id; 0: there was none. */
static uint64_t started_before(struct ws *ws, const struct operator* operator)
{
	struct operation key;
	const struct operation *done;

	memset(&key, 0, sizeof(key));
	text_copy(key.operation_id, sizeof(key.operation_id), operator->operation_id);
	done = ws_get(ws, RECORD_OPERATION, &key);
	return done && strcmp(done->action, START_ACTION) == 0
		? strtoull(done->object + sizeof("replay ") - 1, NULL, 10)
		: 0;
}

static void write_replay(struct ws *ws, const struct apply_context *context,
	const struct replay_start_cmd *cmd, uint64_t id)
{
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];
	struct replay row;

	memset(&row, 0, sizeof(row));
	row.id = id;
	row.filter = cmd->filter;
	row.events = cmd->events;
	row.time_ms = context->now.wall_ms;
	row.uid = cmd->operator.uid;
	audit_name(&cmd->operator, context, row.by);
	text_copy(row.reason, sizeof(row.reason), cmd->operator.reason);
	row.expected = cmd->expected;
	row.parked_later = cmd->parked_later;
	row.next_event = cmd->filter.first_event;
	name_replay(id, object);
	snprintf(detail, sizeof(detail), "casino_id=%s callbacks=%llu events=%llu-%llu%s",
		row.filter.casino_id, (unsigned long long)row.expected,
		(unsigned long long)row.filter.first_event,
		(unsigned long long)row.filter.last_event, row.events.len ? " marked" : "");
	ws_append(ws, RECORD_REPLAY, &row);
	audit_write(ws, context, &cmd->operator, START_ACTION, object, detail);
}

void replay_start_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct replay_start_cmd *cmd = arg;
	struct replay_start_result *result = out;
	uint64_t id = started_before(ws, &cmd->operator);
	char object[OBJECT_SIZE];
	enum audit_state state;

	if (!id)
		id = counter_read(ws, REPLAY_COUNTER) + 1;
	name_replay(id, object);
	state = audit_state(ws, &cmd->operator, START_ACTION, object, &result->verdict);
	if (state == AUDIT_OTHER ||
		(state == AUDIT_NEW && !check_start(ws, context, cmd, &result->verdict)))
		return;
	result->id = id;
	if (state == AUDIT_NEW)
		write_replay(ws, context, cmd, counter_next(ws, REPLAY_COUNTER));
}

/* ---- stop */

void replay_stop_keys(const void *arg, struct ws *ws)
{
	const struct replay_stop_cmd *cmd = arg;
	const struct replay key = replay_named(cmd->id);

	audit_keys(ws, &cmd->operator);
	ws_want(ws, RECORD_REPLAY, &key);
}

static void stop_replay(struct ws *ws, const struct apply_context *context,
	const struct replay_stop_cmd *cmd, struct replay *row)
{
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];

	name_replay(row->id, object);
	snprintf(detail, sizeof(detail), "casino_id=%s was=%s made_due=%llu of=%llu",
		row->filter.casino_id, replay_state_names[row->state],
		(unsigned long long)row->made_due, (unsigned long long)row->expected);
	audit_write(ws, context, &cmd->operator, STOP_ACTION, object, detail);
	if (row->state != REPLAY_RUNNING)
		return;
	row->state = REPLAY_STOPPED;
	row->ended_ms = context->now.wall_ms;
	audit_name(&cmd->operator, context, row->stopped_by);
	ws_put(ws, RECORD_REPLAY, row);
}

void replay_stop_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct replay_stop_cmd *cmd = arg;
	struct replay_stop_result *result = out;
	const struct replay *stored = replay_find(ws, cmd->id);
	char object[OBJECT_SIZE];
	struct replay row;
	enum audit_state state;

	if (!stored) {
		refuse_with(&result->verdict, REFUSAL_CALLBACK_NOT_FOUND,
			"there is no such replay; see `creditbridgectl replay list`");
		return;
	}
	name_replay(cmd->id, object);
	state = audit_state(ws, &cmd->operator, STOP_ACTION, object, &result->verdict);
	if (state == AUDIT_OTHER)
		return;
	row = *stored;
	if (state == AUDIT_NEW)
		stop_replay(ws, context, cmd, &row);
	result->state = row.state;
	result->made_due = row.made_due;
	result->on_its_way = replay_on_its_way(&row);
}

/* ---- a step */

void replay_step_keys(const void *arg, struct ws *ws)
{
	const struct replay_step_cmd *cmd = arg;
	const struct replay key = replay_named(cmd->id);
	struct operator operator;

	ws_want(ws, RECORD_REPLAY, &key);
	for (uint32_t i = 0; i < replay_event_count(&cmd->events); i++) {
		const uint64_t event = replay_event_at(&cmd->events, i);

		outbox_want(ws, event);
		replay_operator(cmd->id, event, &operator);
		audit_keys(ws, &operator);
	}
}

/* Makes the callback due, with the audit row of a retry, by which `check` allows the attempt. */
static bool retry_callback(struct ws *ws, const struct apply_context *context,
	const struct replay *row, struct delivery *delivery)
{
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];
	struct operator operator;
	struct verdict verdict = {.refusal = REFUSAL_NONE};

	replay_operator(row->id, delivery->callback.event, &operator);
	operator.uid = row->uid;
	text_copy(operator.reason, sizeof(operator.reason), row->reason);
	callback_event_id(delivery->callback.kind, delivery->callback.event, object);
	if (audit_state(ws, &operator, RETRY_ACTION, object, &verdict) != AUDIT_NEW)
		return false;
	delivery->callback.replay = row->id;
	if (outbox_operate(ws, context, delivery, CALLBACK_RETRY, row->by))
		return false;
	snprintf(detail, sizeof(detail), "casino_id=%s was=parked is=due attempts=%u replay=%llu",
		row->filter.casino_id, delivery->callback.attempts, (unsigned long long)row->id);
	audit_write(ws, context, &operator, RETRY_ACTION, object, detail);
	return true;
}

void replay_step_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct replay_step_cmd *cmd = arg;
	struct replay_step_result *result = out;
	const struct replay *stored = replay_find(ws, cmd->id);
	struct delivery delivery;
	struct replay row;

	if (!stored || stored->state != REPLAY_RUNNING || stored->next_event != cmd->from ||
		cmd->to < cmd->from || moves_find(context->moves, stored->filter.casino_id))
		return;
	row = *stored;
	for (uint32_t i = 0; i < replay_event_count(&cmd->events); i++) {
		const uint64_t event = replay_event_at(&cmd->events, i);
		enum replay_fit fit = outbox_find(ws, event, &delivery)
			? replay_fits(&row.filter, &row.events, &delivery.callback)
			: REPLAY_FITS_NOT;

		if (fit == REPLAY_FITS && retry_callback(ws, context, &row, &delivery))
			result->made_due++;
		else if (fit != REPLAY_FITS_NOT && fit != REPLAY_IS_LATER)
			row.left_out++;
	}
	row.made_due += result->made_due;
	row.next_event = cmd->to;
	if (cmd->ends || cmd->fails) {
		row.state = cmd->fails ? REPLAY_FAILED : REPLAY_DONE;
		row.ended_ms = context->now.wall_ms;
	}
	ws_put(ws, RECORD_REPLAY, &row);
}
