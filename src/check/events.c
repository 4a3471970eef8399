/*
 * check_events - walks every callback with its body, attempts, answers and due row, for `check`.
 *
 * It walks the five kinds side by side, in the order of event. It rereads an event with a fault
 * by itself, because an attempt may have begun or ended between the pages.
 */
#include "check/check.h"

#include "admin/list.h"
#include "admin/transactions.h"
#include "base/clock.h"
#include "base/text.h"
#include "proof/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum source {
	SOURCE_CALLBACK,
	SOURCE_BODY,
	SOURCE_ATTEMPT,
	SOURCE_ANSWER,
	SOURCE_DUE,
	SOURCE_COUNT
};

union event_row {
	uint64_t event; /* every row begins with it */
	struct callback callback;
	struct callback_body body;
	struct attempt attempt;
	struct answer answer;
	struct due due;
};

static void feed_callback(struct event_reading *reading, const union event_row *row)
{
	proof_event_callback(reading, &row->callback);
}

static void feed_body(struct event_reading *reading, const union event_row *row)
{
	proof_event_body(reading, &row->body);
}

static void feed_attempt(struct event_reading *reading, const union event_row *row)
{
	proof_event_attempt(reading, &row->attempt);
}

static void feed_answer(struct event_reading *reading, const union event_row *row)
{
	proof_event_answer(reading, &row->answer);
}

static void feed_due(struct event_reading *reading, const union event_row *row)
{
	proof_event_due(reading, &row->due);
}

static const struct source_info {
	enum record record;
	void (*feed)(struct event_reading *reading, const union event_row *row);
} infos[SOURCE_COUNT] = {
	[SOURCE_CALLBACK] = {RECORD_CALLBACK, feed_callback},
	[SOURCE_BODY] = {RECORD_CALLBACK_BODY, feed_body},
	[SOURCE_ATTEMPT] = {RECORD_ATTEMPT, feed_attempt},
	[SOURCE_ANSWER] = {RECORD_ANSWER, feed_answer},
	[SOURCE_DUE] = {RECORD_DUE, feed_due},
};

/* The five walks. */
struct callback_join {
	struct list lists[SOURCE_COUNT];
	union event_row rows[SOURCE_COUNT];
	bool has[SOURCE_COUNT];
	struct event_reading reading;
};

/* ---- rereads one event */

static enum outcome read_source(struct check *check, struct event_reading *reading,
	enum source source, uint64_t event)
{
	union event_row key, row;
	struct list list;

	memset(&key, 0, sizeof(key));
	key.event = event;
	list_open(&list, check->session, infos[source].record, false, 1, &key);
	while (list_next(&list, &row))
		infos[source].feed(reading, &row);
	return list_end(&list, OUTCOME_DONE);
}

/* Returns whether the callback is unchanged since the reading began. */
static bool callback_is_unchanged(const struct event_reading *reading, const struct callback *after,
	bool found)
{
	const struct callback *before = &reading->callback;

	return found == reading->there &&
		(!found ||
			(after->state == before->state && after->attempts == before->attempts &&
				after->ended_ms == before->ended_ms));
}

static enum outcome read_event(struct check *check, void *arg, struct proof_faults *faults,
	bool *stable)
{
	struct event_reading *reading = arg;
	struct callback after;
	enum outcome code = OUTCOME_DONE;
	bool found;

	memset(&after, 0, sizeof(after));
	after.event = reading->event;
	proof_event_begin(reading, &check->proof, after.event);
	for (int i = 0; code == OUTCOME_DONE && i < SOURCE_COUNT; i++)
		code = read_source(check, reading, (enum source)i, after.event);
	if (code == OUTCOME_DONE)
		code = list_fetch(check->session, RECORD_CALLBACK, &after, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	proof_event_end(reading);
	*faults = reading->faults;
	*stable = callback_is_unchanged(reading, &after, found);
	return OUTCOME_DONE;
}

/* ---- the walk */

/*
 * Records a betting-result or betting-correction that was sent more than three times: the audit must
 * contain the retries.
 */
static enum outcome note_resent(struct check *check, const struct callback *callback)
{
	struct check_resent *grown;

	if (!proof_is_result(callback->kind) || callback->attempts <= PROOF_RESULT_ATTEMPTS)
		return OUTCOME_DONE;
	grown = reallocarray(check->resent, check->resent_count + 1, sizeof(*grown));
	if (!grown)
		return session_no_memory(check->session);
	check->resent = grown;
	grown[check->resent_count++] = (struct check_resent){
		.event = callback->event,
		.kind = callback->kind,
		.attempts = callback->attempts,
	};
	return OUTCOME_DONE;
}

/* Looks up the adjustment that stands for the callback. Transactions never change. */
static enum outcome check_adjusted(struct check *check, const struct callback *callback)
{
	struct transaction entry;
	const char *fault;
	enum outcome code;
	bool found;

	if (!callback->adjusted_by)
		return OUTCOME_DONE;
	code = transaction_fetch(check->session, callback->adjusted_by, &entry, &found);
	if (code != OUTCOME_DONE)
		return code;
	fault = proof_event_adjusted(callback, found ? &entry : NULL);
	if (fault)
		proof_problem(&check->proof, "callback betting-result-%" PRIu64 " %s",
			callback->event, fault);
	return OUTCOME_DONE;
}

static void next_callback_rows(struct callback_join *join)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		if (!join->has[i])
			join->has[i] = list_next(&join->lists[i], &join->rows[i]);
	}
}

/* Returns why a walk ended before its last row. */
static enum outcome walks_code(const struct callback_join *join)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		if (join->lists[i].code != OUTCOME_DONE)
			return join->lists[i].code;
	}
	return OUTCOME_DONE;
}

/* Returns the lowest event that is next in any walk; UINT64_MAX: none. */
static uint64_t next_event(const struct callback_join *join)
{
	uint64_t event = UINT64_MAX;

	for (int i = 0; i < SOURCE_COUNT; i++) {
		if (join->has[i] && join->rows[i].event < event)
			event = join->rows[i].event;
	}
	return event;
}

static enum outcome join_event(struct check *check, struct callback_join *join, uint64_t event)
{
	struct event_reading *reading = &join->reading;
	enum outcome code;
	bool settled = true;

	proof_event_begin(reading, &check->proof, event);
	for (int i = 0; i < SOURCE_COUNT; i++) {
		while (join->has[i] && join->rows[i].event == event) {
			infos[i].feed(reading, &join->rows[i]);
			join->has[i] = list_next(&join->lists[i], &join->rows[i]);
		}
	}
	code = walks_code(join);
	if (code != OUTCOME_DONE)
		return code;
	proof_event_end(reading);
	if (reading->faults.count)
		code = check_again(check, read_event, reading, &settled);
	if (code != OUTCOME_DONE || !settled)
		return code;
	check->proof.read_ms = clock_wall_ms();
	proof_event_take(reading);
	check_progress(check, "callbacks", check->proof.callbacks);
	if (!reading->there)
		return OUTCOME_DONE;
	code = check_adjusted(check, &reading->callback);
	if (code == OUTCOME_DONE)
		code = check_owed_payout(check, &reading->callback);
	if (code == OUTCOME_DONE)
		code = check_aside(check, &reading->callback);
	return code == OUTCOME_DONE ? note_resent(check, &reading->callback) : code;
}

/* Returns the last event that any dealer's sums can count. */
static uint64_t last_event(const struct check *check)
{
	uint64_t last = check->point.event;

	for (size_t i = 0; i < check->proof.dealer_count; i++) {
		if (check->proof.dealers[i].moment.event_until > last)
			last = check->proof.dealers[i].moment.event_until;
	}
	return last;
}

static enum outcome walk_events(struct check *check)
{
	struct callback_join *join = calloc(1, sizeof(*join));
	uint64_t last = last_event(check);
	enum outcome code = OUTCOME_DONE;

	if (!join)
		return session_no_memory(check->session);
	for (int i = 0; i < SOURCE_COUNT; i++)
		list_open(&join->lists[i], check->session, infos[i].record, false, 0, NULL);
	for (next_callback_rows(join); code == OUTCOME_DONE && next_event(join) <= last;
		next_callback_rows(join))
		code = join_event(check, join, next_event(join));
	if (code == OUTCOME_DONE)
		code = walks_code(join);
	for (int i = 0; i < SOURCE_COUNT; i++)
		list_close(&join->lists[i]);
	free(join);
	return code;
}

/* Checks the last row of each kind: no row may have an event above the counter. */
static enum outcome check_last_event(struct check *check)
{
	struct list list;
	union event_row row;
	uint64_t last;
	enum outcome code = OUTCOME_DONE;

	for (int i = 0; code == OUTCOME_DONE && i < SOURCE_COUNT; i++) {
		list_open(&list, check->session, infos[i].record, true, 0, NULL);
		list.page = 1;
		last = list_next(&list, &row) ? row.event : 0;
		code = list_end(&list, OUTCOME_DONE);
		if (code == OUTCOME_DONE)
			code = check_count_events(check);
		if (code == OUTCOME_DONE && last > check->event_given)
			proof_problem(&check->proof,
				"%s %" PRIu64
				" is of an event that was never given out: the last is %" PRIu64,
				record_infos[infos[i].record].name, last, check->event_given);
	}
	return code;
}

/* ---- the audit */

static int compare_resent(const void *a, const void *b)
{
	const struct check_resent *one = a, *other = b;

	return one->event < other->event ? -1 : one->event > other->event;
}

/* Returns how many attempts after the third the row of the audit allows. */
static uint32_t allowed_by(const struct audit *audit)
{
	static const char mark[] = "attempts=";
	uint64_t attempts;

	if (strcmp(audit->action, "callback retry") == 0 ||
		strcmp(audit->action, "callback resend") == 0)
		return 1;
	/* The retries before the move are in the audit of the cell that the dealer left. */
	if (strcmp(audit->action, CALLBACK_MOVED_ACTION) == 0 &&
		strncmp(audit->detail, mark, sizeof(mark) - 1) == 0 &&
		text_unsigned(audit->detail + sizeof(mark) - 1, UINT32_MAX, &attempts) &&
		attempts > PROOF_RESULT_ATTEMPTS)
		return (uint32_t)attempts - PROOF_RESULT_ATTEMPTS;
	return 0;
}

static void count_retry(struct check *check, const struct audit *audit)
{
	struct check_resent key = {.event = 0}, *resent;
	char object[CALLBACK_EVENT_ID_SIZE];
	const char *digits = strrchr(audit->object, '-');
	const uint32_t allowed = allowed_by(audit);

	if (!allowed || !digits || !text_unsigned(digits + 1, UINT64_MAX, &key.event))
		return;
	resent = bsearch(&key, check->resent, check->resent_count, sizeof(key), compare_resent);
	if (!resent)
		return;
	callback_event_id(resent->kind, resent->event, object);
	if (strcmp(audit->object, object) == 0)
		resent->retries += allowed;
}

/* Walks the audit. Each retry and each resend allows at most one more attempt. */
static enum outcome walk_audit_rows(struct check *check)
{
	char id[CALLBACK_EVENT_ID_SIZE];
	struct list list;
	struct audit row;
	enum outcome code;

	if (!check->resent_count)
		return OUTCOME_DONE;
	list_open(&list, check->session, RECORD_AUDIT, false, 0, NULL);
	while (list_next(&list, &row))
		count_retry(check, &row);
	code = list_end(&list, OUTCOME_DONE);
	for (size_t i = 0; code == OUTCOME_DONE && i < check->resent_count; i++) {
		const struct check_resent *resent = &check->resent[i];

		callback_event_id(resent->kind, resent->event, id);
		if (resent->attempts > PROOF_RESULT_ATTEMPTS + resent->retries)
			proof_problem(&check->proof,
				"callback %s was sent %" PRIu32 " times, with %" PRIu32
				" retries by operators and the dealer",
				id, resent->attempts, resent->retries);
	}
	return code;
}

/*
 * Checks the dealers' counts of parked and held callbacks, unless an operator or a replay is changing them.
 */
static enum outcome check_waiting_callbacks(struct check *check)
{
	struct list list;
	struct total row;
	uint64_t audit = check->audit;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_TOTAL, false, 0, NULL);
	while (code == OUTCOME_DONE && audit == check->audit && list_next(&list, &row)) {
		/*
		 * The counter is read after the row. If it is unchanged, no operator acted before
		 * the row was read.
		 */
		code = check_counter(check, "audit", &audit);
		if (code == OUTCOME_DONE && audit == check->audit)
			proof_waiting(&check->proof, &row);
	}
	check->waiting_left_out = audit != check->audit;
	return list_end(&list, code);
}

enum outcome check_walk_events(struct check *check)
{
	enum outcome code = walk_events(check);

	if (code == OUTCOME_DONE)
		code = check_waiting_callbacks(check);
	if (code == OUTCOME_DONE)
		code = check_last_event(check);
	return code == OUTCOME_DONE ? walk_audit_rows(check) : code;
}
