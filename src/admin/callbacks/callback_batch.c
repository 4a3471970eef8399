#include "admin/callbacks/callback_batch.h"

#include "admin/list.h"
#include "base/clock.h"
#include "domain/delivery.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

enum outcome batch_add(struct callback_batch *batch, const char *word)
{
	struct batch_row row;

	memset(&row, 0, sizeof(row));
	if (!callback_event_read(word, &row.event, &row.kind))
		return session_usage(batch->session,
			"'%s' is not an event: its number, or the webhook-id "
			"as in betting-17",
			word);
	if (batch->count == BATCH_EVENTS_MAX)
		return session_usage(batch->session, "at most %d events at once", BATCH_EVENTS_MAX);
	batch->rows[batch->count++] = row;
	return OUTCOME_DONE;
}

void batch_fail_row(struct batch_row *row, const char *id, const char *detail)
{
	row->error_id = id;
	snprintf(row->error_detail, sizeof(row->error_detail), "%.*s",
		(int)sizeof(row->error_detail) - 1, detail);
}

/* Sets in @row the result that the ledger would return, by the ledger's own rule. */
static void predict_result(const struct callback_batch *batch, const struct callback *callback,
	struct batch_row *row)
{
	struct delivery delivery;
	struct delivery_terms terms = {.unknown_bet_ids = "", .duplicate_ids = ""};
	const struct moment now = clock_now();
	const char *why;

	memset(&delivery, 0, sizeof(delivery));
	delivery.callback = *callback;
	retry_policy_defaults(&terms.retry);
	terms.retry.refund_give_up_ms = (int64_t)batch->session->settings.refund_give_up_s * 1000;
	why = delivery_operate(&delivery, batch->action, "", &terms, &now);
	row->done = !why;
	row->used_up = delivery.callback.state == CALLBACK_PARKED;
	if (why)
		batch_fail_row(row, refusal_info(REFUSAL_NOT_ALLOWED_NOW)->id, why);
}

/* Looks up one event. */
static enum outcome find_event(struct callback_batch *batch, struct batch_row *row, bool dry_run)
{
	const struct refusal_info *unknown = refusal_info(REFUSAL_CALLBACK_NOT_FOUND);
	struct callback callback;
	enum outcome code;

	memset(&callback, 0, sizeof(callback));
	callback.event = row->event;
	code = list_fetch(batch->session, RECORD_CALLBACK, &callback, &row->found, NULL);
	if (!row->found || (row->kind != CALLBACK_KIND_COUNT && row->kind != callback.kind)) {
		row->found = false;
		row->kind = CALLBACK_KIND_COUNT;
		row->state = CALLBACK_STATE_COUNT;
		batch_fail_row(row, unknown->id, unknown->detail);
		return code;
	}
	row->kind = callback.kind;
	memcpy(row->casino_id, callback.casino_id, sizeof(row->casino_id));
	row->state = callback.state;
	row->attempts = callback.attempts;
	row->first_ms = callback.first_ms;
	if (dry_run)
		predict_result(batch, &callback, row);
	return code;
}

/* Returns true if the event of row @last is among the rows before it. */
static bool named_before(const struct callback_batch *batch, size_t last)
{
	for (size_t i = 0; i < last; i++) {
		if (batch->rows[i].event == batch->rows[last].event &&
			batch->rows[i].found == batch->rows[last].found)
			return true;
	}
	return false;
}

enum outcome batch_find(struct callback_batch *batch, bool dry_run)
{
	size_t count = batch->count;
	enum outcome code = OUTCOME_DONE;

	batch->count = 0;
	for (size_t i = 0; i < count && code == OUTCOME_DONE; i++) {
		struct batch_row *row = &batch->rows[batch->count];

		*row = batch->rows[i];
		code = find_event(batch, row, dry_run);
		if (named_before(batch, batch->count))
			continue;
		batch->count++;
		batch->found += row->found;
	}
	return code;
}

/* Applies the action to one event. Returns false if the remaining events need not be tried. */
static bool operate_event(struct callback_batch *batch, struct batch_row *row)
{
	struct callback_operate_cmd cmd = {.operator= batch->session->operator,
		.event = row->event,
		.action = batch->action};
	struct callback_operate_result result;
	struct failure failure;

	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id))) {
		batch->code = OUTCOME_FAILED;
		batch_fail_row(row, "failed",
			"the kernel gives no random numbers: allow the "
			"system call getrandom, and repeat this");
		return false;
	}
	batch->code =
		session_try(batch->session, COMMAND_CALLBACK_OPERATE, &cmd, &result, &failure);
	row->done = batch->code == OUTCOME_DONE;
	if (row->done || batch->code == OUTCOME_FAILED) {
		row->state = result.state;
		row->attempts = result.attempts;
		row->used_up = row->state == CALLBACK_PARKED;
	}
	if (!row->done)
		batch_fail_row(row, failure.id, failure.detail);
	/*
	 * A refusal concerns only this event. If the ledger cannot be reached, the rest need not
	 * be tried.
	 */
	return row->done || batch->code == OUTCOME_FAILED;
}

void batch_operate(struct callback_batch *batch)
{
	bool on = true;

	for (size_t i = 0; i < batch->count; i++) {
		struct batch_row *row = &batch->rows[i];

		if (row->found && on)
			on = operate_event(batch, row);
		else if (row->found)
			batch_fail_row(row, "not_tried", "the ledger failed before");
	}
}
