/*
 * callbacks - the end of an attempt, the queries and claims of the sweeper, the steps of the
 * operator.
 */
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/wagers/bets.h"
#include "ledger/outbox/metrics.h"
#include "ledger/outbox/outbox.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/keys.h"

#include <stdio.h>

void callback_end_keys(const void *arg, struct ws *ws)
{
	const struct callback_end_cmd *cmd = arg;

	if (cmd->kind != CALLBACK_BALANCE_INQUIRE)
		outbox_want(ws, cmd->event);
}

/* Answers with the present state, independent of its cause. */
static void end_answer(struct ws *ws, const struct delivery *delivery,
	struct callback_end_result *result)
{
	const struct callback *callback = &delivery->callback;
	struct bet key = bet_named(callback->player_id, callback->game_id, callback->bet_number);
	const struct correction *correction = outbox_correction(ws, callback);
	const struct bet *bet;

	result->state = callback->state;
	result->attempts = callback->attempts;
	result->next_ms = callback->state == CALLBACK_DUE ? delivery->due.due_ms : 0;
	result->shortfall = correction ? correction->shortfall : 0;
	if (callback->kind != CALLBACK_BETTING)
		return;
	bet = ws_get(ws, RECORD_BET, &key);
	if (bet)
		bet_answer(bet, &result->verdict, &result->bet);
}

void callback_end_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct callback_end_cmd *cmd = arg;
	struct callback_end_result *result = out;
	struct callback_outcome outcome = cmd->outcome;
	struct delivery delivery;

	if (cmd->kind == CALLBACK_BALANCE_INQUIRE) {
		/* No row shows whether this is a repetition; the permit does. Nothing is saved. */
		if (cmd->is_look && cmd->outcome.class != CALLBACK_SUCCESS &&
			cmd->outcome.class != CALLBACK_REFUSED)
			/*
			 * An operator looked, and the process that asks may have failed itself. Looks must
			 * not open the breaker, which refuses the players' bets.
			 */
			permits_give_uncounted(context->permits, cmd->casino_id, cmd->event,
				context->now.boot_ms);
		else if (permits_give(context->permits, cmd->casino_id, cmd->event,
				 cmd->outcome.class, context->now.boot_ms) &&
			!cmd->is_look)
			metrics_count(context->metrics, cmd->casino_id, cmd->kind, &cmd->outcome,
				context->now.boot_ms);
		result->state = CALLBACK_DELIVERED;
		return;
	}
	if (!outbox_find(ws, cmd->event, &delivery)) {
		result->verdict.refusal = REFUSAL_CALLBACK_NOT_FOUND;
		return;
	}
	outbox_check_answer(ws, &delivery, &outcome);
	result->late = !outbox_end(ws, context, &delivery, cmd->attempt, &outcome);
	if (!result->late)
		metrics_note(context->notes, &delivery.callback, &outcome, true);
	end_answer(ws, &delivery, result);
}

bool callback_end_concludes(const void *result)
{
	(void)result;
	return true;
}

/* The context of schedule_may(). */
struct room {
	struct permits *permits;
	int64_t now_ms;
};

static bool has_room(void *arg, const char *casino_id, uint32_t already)
{
	const struct room *room = arg;

	return permits_has_room(room->permits, casino_id, already, room->now_ms);
}

enum status callback_find_read(const void *arg, const struct read_context *context, void *out)
{
	const struct callback_find_cmd *cmd = arg;
	struct callback_find_result *result = out;
	struct room room = {context->permits, context->now.boot_ms};
	uint64_t events[CALLBACK_FIND_MAX];
	uint32_t most = cmd->most && cmd->most < CALLBACK_FIND_MAX ? cmd->most : CALLBACK_FIND_MAX;
	uint32_t count;

	if (cmd->sweeping)
		metrics_sweep(context->metrics, &context->now);
	count = schedule_claimable(context->schedule, room.now_ms, has_room, &room, events, most);
	for (uint32_t i = 0; i < count; i++) {
		const struct schedule_entry *entry = schedule_find(context->schedule, events[i]);
		struct due_entry row;

		memset(&row, 0, sizeof(row));
		row.event = entry->event;
		text_copy(row.casino_id, sizeof(row.casino_id),
			schedule_casino_of(context->schedule, entry->event));
		row.kind = entry->kind;
		row.takeover = entry->sending;
		row.overdue_ms = (uint64_t)(room.now_ms - entry->due_ms);
		pack_record(context->rows, due_entry_fields, &row);
	}
	if (context->rows->failed)
		return STATUS_NOMEM;
	result->waiting = context->schedule->count;
	result->count = count;
	result->entries = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return STATUS_OK;
}

/* The server holds the command back until there is something to claim. */
enum status callback_wait_read(const void *arg, const struct read_context *context, void *out)
{
	(void)arg;
	(void)context;
	(void)out;
	return STATUS_OK;
}

void callback_claim_keys(const void *arg, struct ws *ws)
{
	const struct callback_claim_cmd *cmd = arg;

	outbox_want_grant(ws, cmd->event);
}

/* Takes over an attempt whose sender disconnected: its outcome is unknown. */
static enum refusal take_over(struct ws *ws, const struct apply_context *context,
	struct delivery *delivery, struct callback_claim_result *result)
{
	struct callback_outcome outcome = {.class = CALLBACK_UNKNOWN};

	if (!outbox_is_left(context, delivery))
		return REFUSAL_NOT_ALLOWED_NOW;
	snprintf(outcome.note, sizeof(outcome.note), "the sender disconnected");
	result->taken_over =
		outbox_end(ws, context, delivery, delivery->callback.attempts, &outcome);
	if (result->taken_over)
		metrics_note(context->notes, &delivery->callback, &outcome, false);
	return REFUSAL_NONE;
}

static enum refusal claim_callback(struct ws *ws, const struct apply_context *context,
	const struct callback_claim_cmd *cmd, struct delivery *delivery,
	struct callback_claim_result *result)
{
	struct dealer key = dealer_named(delivery->callback.casino_id);
	const struct dealer *dealer = ws_get(ws, RECORD_DEALER, &key);

	if (!dealer)
		return REFUSAL_DEALER_NOT_FOUND;
	if (outbox_grant_again(ws, context, dealer, cmd->event, cmd->sender, &result->send))
		return REFUSAL_NONE;
	if (delivery->callback.state == CALLBACK_SENDING)
		return take_over(ws, context, delivery, result);
	if (delivery->callback.state != CALLBACK_DUE || !outbox_is_due(context, delivery))
		return REFUSAL_NOT_ALLOWED_NOW;
	if (!outbox_begin(ws, context, dealer, cmd->event, cmd->sender, &result->send))
		return REFUSAL_DEALER_BUSY;
	return REFUSAL_NONE;
}

void callback_claim_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct callback_claim_cmd *cmd = arg;
	struct callback_claim_result *result = out;
	struct delivery delivery;

	if (!outbox_find(ws, cmd->event, &delivery)) {
		result->verdict.refusal = REFUSAL_CALLBACK_NOT_FOUND;
		return;
	}
	text_copy(result->casino_id, sizeof(result->casino_id), delivery.callback.casino_id);
	result->kind = delivery.callback.kind;
	result->verdict.refusal = claim_callback(ws, context, cmd, &delivery, result);
	outbox_find(ws, cmd->event, &delivery);
	result->state = delivery.callback.state;
	result->attempts = delivery.callback.attempts;
	if (result->taken_over && delivery.callback.state == CALLBACK_DUE)
		result->next_ms = delivery.due.due_ms;
}

bool callback_claim_concludes(const void *result)
{
	return ((const struct callback_claim_result *)result)->taken_over;
}

void callback_operate_keys(const void *arg, struct ws *ws)
{
	const struct callback_operate_cmd *cmd = arg;

	audit_keys(ws, &cmd->operator);
	outbox_want(ws, cmd->event);
}

/* Names the adjustment that stands for the callback, or else copies @why. */
static void describe_refusal(const struct delivery *delivery, enum callback_action action,
	const char *why, struct verdict *verdict)
{
	const struct callback *callback = &delivery->callback;

	if (callback->adjusted_by && !callback_has_ended(callback->state) &&
		(action == CALLBACK_RETRY || action == CALLBACK_RELEASE))
		snprintf(verdict->detail, sizeof(verdict->detail),
			"an adjustment (transaction %llu) was made in its place: cancel the callback",
			(unsigned long long)callback->adjusted_by);
	else
		text_copy(verdict->detail, sizeof(verdict->detail), why);
}

static void operate_callback(struct ws *ws, const struct apply_context *context,
	const struct callback_operate_cmd *cmd, struct delivery *delivery,
	struct callback_operate_result *result)
{
	char action[ACTION_SIZE], object[OBJECT_SIZE], detail[DETAIL_SIZE], by[SUDO_USER_SIZE];
	enum callback_state was = delivery->callback.state;
	const char *why;

	snprintf(action, sizeof(action), "callback %s", callback_action_names[cmd->action]);
	callback_event_id(delivery->callback.kind, cmd->event, object);
	if (audit_state(ws, &cmd->operator, action, object, &result->verdict) != AUDIT_NEW)
		return;
	audit_name(&cmd->operator, context, by);
	why = outbox_operate(ws, context, delivery, cmd->action, by);
	if (why) {
		result->verdict.refusal = REFUSAL_NOT_ALLOWED_NOW;
		describe_refusal(delivery, cmd->action, why, &result->verdict);
		return;
	}
	snprintf(detail, sizeof(detail), "casino_id=%s was=%s is=%s attempts=%u",
		delivery->callback.casino_id, callback_state_names[was],
		callback_state_names[delivery->callback.state], delivery->callback.attempts);
	audit_write(ws, context, &cmd->operator, action, object, detail);
}

void callback_operate_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct callback_operate_cmd *cmd = arg;
	struct callback_operate_result *result = out;
	struct delivery delivery;

	if (!outbox_find(ws, cmd->event, &delivery)) {
		result->verdict.refusal = REFUSAL_CALLBACK_NOT_FOUND;
		return;
	}
	operate_callback(ws, context, cmd, &delivery, result);
	result->kind = delivery.callback.kind;
	text_copy(result->casino_id, sizeof(result->casino_id), delivery.callback.casino_id);
	result->state = delivery.callback.state;
	result->attempts = delivery.callback.attempts;
}
