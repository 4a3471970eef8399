#include "cmd/ctl/callback_batch.h"

#include "admin/list.h"
#include "base/clock.h"
#include "cmd/ctl/callback_row.h"
#include "cmd/ctl/secret.h"
#include "domain/delivery.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (BATCH_EVENTS_MAX * 40)

static enum outcome too_many(struct batch *batch)
{
	return ctl_usage(batch->ctl, "at most %d events at once", BATCH_EVENTS_MAX);
}

static enum outcome add_word(struct batch *batch, const char *word)
{
	struct batch_row row;

	memset(&row, 0, sizeof(row));
	if (!callback_event_read(word, &row.event, &row.kind))
		return ctl_usage(batch->ctl, "'%s' is not an event: its number, or the webhook-id "
					     "as in betting-17", word);
	if (batch->count == BATCH_EVENTS_MAX)
		return too_many(batch);
	batch->rows[batch->count++] = row;
	return OUTCOME_DONE;
}

/* Reads events, separated by white space, from standard input. */
static enum outcome read_stdin(struct batch *batch)
{
	struct buffer text;
	char *word, *rest = NULL;
	enum outcome code;

	buffer_init(&text, TEXT_MAX);
	code = secret_read_file(batch->ctl, "-", &text);
	if (code == OUTCOME_DONE && !buffer_append(&text, "", 1))
		code = too_many(batch);
	word = code == OUTCOME_DONE ? strtok_r((char *)text.data, " \t\r\n", &rest) : NULL;
	for (; word && code == OUTCOME_DONE; word = strtok_r(NULL, " \t\r\n", &rest))
		code = add_word(batch, word);
	buffer_free(&text);
	return code;
}

enum outcome batch_read(struct batch *batch)
{
	struct ctl *ctl = batch->ctl;
	enum outcome code = OUTCOME_DONE;
	bool taken = false;

	for (unsigned int i = 0; i < ctl->arg_count && code == OUTCOME_DONE; i++) {
		if (strcmp(ctl->args[i], "-") != 0) {
			code = add_word(batch, ctl->args[i]);
		} else if (!taken) {
			code = read_stdin(batch);
			taken = true;
		}
	}
	if (code == OUTCOME_DONE && !batch->count)
		code = ctl_usage(ctl, "standard input holds no event: give event numbers or "
			"webhook-ids, one a line");
	return code;
}

void batch_fail_row(struct batch_row *row, const char *id, const char *detail)
{
	row->error_id = id;
	snprintf(row->error_detail, sizeof(row->error_detail), "%s", detail);
}

/* Sets in @row the result that the ledger would return, by the ledger's own rule. */
static void rehearse(const struct batch *batch, const struct callback *callback,
	struct batch_row *row)
{
	struct delivery delivery;
	struct delivery_terms terms = {.unknown_bet_ids = ""};
	const struct moment now = clock_now();
	const char *why;

	memset(&delivery, 0, sizeof(delivery));
	delivery.callback = *callback;
	retry_policy_defaults(&terms.retry);
	terms.retry.refund_give_up_ms = (int64_t)batch->ctl->session.settings.refund_give_up_s * 1000;
	why = delivery_operate(&delivery, batch->action, "", &terms, &now);
	row->done = !why;
	row->used_up = delivery.callback.state == CALLBACK_PARKED;
	if (why)
		batch_fail_row(row, refusal_info(REFUSAL_NOT_ALLOWED_NOW)->id, why);
}

/* Looks up one event. */
static enum outcome find_event(struct batch *batch, struct batch_row *row, bool dry_run)
{
	const struct refusal_info *unknown = refusal_info(REFUSAL_CALLBACK_NOT_FOUND);
	struct callback callback;
	enum outcome code;

	memset(&callback, 0, sizeof(callback));
	callback.event = row->event;
	code = list_fetch(&batch->ctl->session, RECORD_CALLBACK, &callback, &row->found, NULL);
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
		rehearse(batch, &callback, row);
	return code;
}

/* Returns true if the event of row @last is among the rows before it. */
static bool named_before(const struct batch *batch, size_t last)
{
	for (size_t i = 0; i < last; i++) {
		if (batch->rows[i].event == batch->rows[last].event &&
			batch->rows[i].found == batch->rows[last].found)
			return true;
	}
	return false;
}

enum outcome batch_find(struct batch *batch, bool dry_run)
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
