/*
 * check_asides - compares the rows of callbacks that are parked or held (domain/aside.h) with the callbacks, from
 * which they follow.
 */
#include "check/check.h"

#include "admin/list.h"
#include "domain/aside.h"

#include <inttypes.h>
#include <string.h>

/* A row and the callback that it names. */
struct aside_reading {
	struct aside key;
	struct aside row;
	struct callback callback;
	bool has_row;
	bool has_callback;
};

static enum outcome read_callback(struct check *check, const struct aside_reading *reading,
	struct callback *callback, bool *found)
{
	memset(callback, 0, sizeof(*callback));
	callback->event = reading->key.event;
	return list_fetch(check->session, RECORD_CALLBACK, callback, found, NULL);
}

static enum outcome read_both(struct check *check, struct aside_reading *reading)
{
	enum outcome code =
		read_callback(check, reading, &reading->callback, &reading->has_callback);

	reading->row = reading->key;
	if (code == OUTCOME_DONE)
		code = list_fetch(check->session, RECORD_ASIDE, &reading->row, &reading->has_row,
			NULL);
	return code;
}

/* Returns what is wrong; NULL: nothing. */
static const char *fault_of(const struct aside_reading *reading)
{
	const struct callback *callback = &reading->callback;
	const bool is_aside = reading->has_callback && callback_is_aside(callback->state) &&
		strcmp(callback->casino_id, reading->key.casino_id) == 0;
	struct aside made;

	if (!is_aside)
		return reading->has_row ? "has a row aside, and is neither parked nor held" : NULL;
	if (!reading->has_row)
		return "is parked or held, and has no row aside";
	made = aside_of(callback);
	return made.held == reading->row.held ? NULL : "has a row aside of another state";
}

static enum outcome read_again(struct check *check, void *arg, struct proof_faults *faults,
	bool *stable)
{
	struct aside_reading *reading = arg;
	struct callback after;
	const char *fault;
	enum outcome code = read_both(check, reading);
	bool found;

	if (code == OUTCOME_DONE)
		code = read_callback(check, reading, &after, &found);
	if (code != OUTCOME_DONE)
		return code;
	fault = fault_of(reading);
	if (fault)
		proof_fault(faults, "callback %" PRIu64 " of dealer %s %s", reading->key.event,
			reading->key.casino_id, fault);
	*stable = found == reading->has_callback &&
		(!found || memcmp(&after, &reading->callback, sizeof(after)) == 0);
	return OUTCOME_DONE;
}

/* Reads again if the first reading has a fault: the callback may have changed meanwhile. */
static enum outcome settle_aside(struct check *check, struct aside_reading *reading)
{
	bool settled;

	return fault_of(reading) ? check_again(check, read_again, reading, &settled) : OUTCOME_DONE;
}

enum outcome check_aside(struct check *check, const struct callback *callback)
{
	struct aside_reading reading;
	enum outcome code;

	if (!callback_is_aside(callback->state))
		return OUTCOME_DONE;
	memset(&reading, 0, sizeof(reading));
	reading.callback = *callback;
	reading.has_callback = true;
	reading.key = reading.row = aside_of(callback);
	code = list_fetch(check->session, RECORD_ASIDE, &reading.row, &reading.has_row, NULL);
	return code == OUTCOME_DONE ? settle_aside(check, &reading) : code;
}

enum outcome check_walk_asides(struct check *check)
{
	struct aside_reading reading;
	struct list list;
	enum outcome code = OUTCOME_DONE;

	memset(&reading, 0, sizeof(reading));
	list_open(&list, check->session, RECORD_ASIDE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &reading.row)) {
		reading.key = reading.row;
		reading.has_row = true;
		code = read_callback(check, &reading, &reading.callback, &reading.has_callback);
		if (code == OUTCOME_DONE)
			code = settle_aside(check, &reading);
	}
	return list_end(&list, code);
}
