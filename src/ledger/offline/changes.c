#include "ledger/offline/changes.h"

#include "ledger/offline/old_audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct restored_deed {
	uint64_t seq;
	int64_t time_ms;
};

void changes_init(struct changes *changes, const int64_t *complete_to_ms,
	void (*found)(void *context, const struct changed *changed), void *context)
{
	*changes = (struct changes){.complete_to_ms = complete_to_ms,
		.found = found,
		.context = context};
	buffer_init(&changes->restored, SIZE_MAX / 4);
}

void changes_free(struct changes *changes)
{
	buffer_free(&changes->restored);
}

static void report_change(struct changes *changes, const struct audit *row, bool in_force)
{
	struct changed changed;

	memset(&changed, 0, sizeof(changed));
	changed.in_force = in_force;
	changed.deed = *row;
	changes->found(changes->context, &changed);
}

void changes_add_restored(void *context, const struct audit *row)
{
	struct changes *changes = context;
	const struct restored_deed deed = {row->seq, row->time_ms};

	buffer_append(&changes->restored, &deed, sizeof(deed));
	/* Rows newer than the backup are from the log files. */
	if (changes->complete_to_ms && row->time_ms >= *changes->complete_to_ms &&
		changed_is_listed(row))
		report_change(changes, row, true);
}

static int compare_deeds(const void *one, const void *other)
{
	const struct restored_deed *a = one, *b = other;

	return (a->seq > b->seq) - (a->seq < b->seq);
}

/* Receives a row of the old state's audit. */
static void compare_old_row(void *context, const struct audit *row)
{
	struct changes *changes = context;
	const struct restored_deed key = {row->seq, row->time_ms};
	const struct buffer *restored = &changes->restored;
	const struct restored_deed *deed = restored->len
		? bsearch(&key, restored->data, restored->len / sizeof(key), sizeof(key),
			  compare_deeds)
		: NULL;

	/*
	 * If the times differ, the same number belongs to another incarnation and names another
	 * action.
	 */
	if ((!deed || deed->time_ms != row->time_ms) && changed_is_listed(row))
		report_change(changes, row, false);
}

enum status changes_find_lost(struct changes *changes, const struct settings *settings,
	const char *old, char *why, size_t why_size)
{
	if (changes->restored.failed) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	return old_audit_walk(settings, old, compare_old_row, changes, why, why_size);
}
