#include "admin/callbacks/release.h"

#include "admin/callbacks/callback_subject.h"
#include "admin/callbacks/callbacks.h"
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
	held->failure.id = "";
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

static enum outcome visit_waiting(struct release *release, const struct callback_row *callback,
	release_visit *visit, void *context)
{
	struct callback_subject subject;
	struct waiting_row row;
	enum outcome code;

	memset(&row, 0, sizeof(row));
	callback_event_id(callback->callback.kind, callback->callback.event, row.webhook_id);
	row.created_ms = callback->callback.created_ms;
	memcpy(row.casino_id, callback->callback.casino_id, sizeof(row.casino_id));
	memcpy(row.user_id, callback->user_id, sizeof(row.user_id));
	memcpy(row.game_id, callback->callback.game_id, sizeof(row.game_id));
	row.attempts = callback->callback.attempts;
	code = callback_subject_fetch(release->session, &callback->callback, &subject);
	if (code != OUTCOME_DONE)
		return code;
	row.amount = subject.amount;
	row.transaction_id = subject.transaction_id;
	snprintf(row.bet, sizeof(row.bet), "%s", subject.state);
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

static struct dealer_put_cmd release_cmd(const struct session *session, const char *casino_id,
	int64_t held_ms, bool unreconciled)
{
	struct dealer_put_cmd cmd = {
		.operator= session->operator,
		.mask = UINT32_C(1) << DEALER_CALLBACKS_HELD,
		.dealer = {.callbacks_held_ms = held_ms},
	};

	cmd.unreconciled = unreconciled;
	snprintf(cmd.dealer.casino_id, sizeof(cmd.dealer.casino_id), "%s", casino_id);
	return cmd;
}

enum outcome release_set_held(struct session *session, const char *casino_id, int64_t held_ms,
	bool unreconciled, struct dealer_put_result *result)
{
	struct dealer_put_cmd cmd = release_cmd(session, casino_id, held_ms, unreconciled);

	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id)))
		return session_no_random(session);
	return session_do(session, COMMAND_DEALER_PUT, &cmd, result, NULL);
}

/* Releases one dealer, or sets its failure. */
static enum outcome lift_one(struct session *session, struct held_dealer *dealer, bool unreconciled)
{
	struct dealer_put_cmd cmd = release_cmd(session, dealer->casino_id, 0, unreconciled);
	struct dealer_put_result result;
	enum outcome code;

	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id))) {
		dealer->failure.id = "failed";
		snprintf(dealer->failure.detail, sizeof(dealer->failure.detail),
			"the kernel gives no random numbers");
		return OUTCOME_FAILED;
	}
	code = session_try(session, COMMAND_DEALER_PUT, &cmd, &result, &dealer->failure);
	dealer->released = code == OUTCOME_DONE;
	return code;
}

enum outcome release_lift(struct release *release, bool unreconciled)
{
	enum outcome code, first = OUTCOME_DONE;
	size_t released = 0;
	bool on = true;

	for (size_t i = 0; i < release->count && on; i++) {
		code = lift_one(release->session, &release->dealers[i], unreconciled);
		/* A refusal concerns only this dealer. */
		on = code == OUTCOME_DONE || code == OUTCOME_FAILED;
		released += code == OUTCOME_DONE;
		if (first == OUTCOME_DONE)
			first = code;
	}
	return first != OUTCOME_DONE && released ? OUTCOME_PARTLY : first;
}

size_t release_count_unreconciled(const struct release *release, const char **first,
	uint64_t *callbacks)
{
	size_t count = 0;

	*first = NULL;
	*callbacks = 0;
	for (size_t i = 0; i < release->count; i++) {
		if (!release->dealers[i].restored_ms)
			continue;
		if (!count++)
			*first = release->dealers[i].casino_id;
		*callbacks += release->dealers[i].callbacks;
	}
	return count;
}
