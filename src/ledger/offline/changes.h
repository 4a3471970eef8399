/*
 * changes - finds what operators changed after a backup that was restored.
 *
 * The restored rows of the audit are remembered. A change in the audit of the old state that is not
 * among them is lost. A change from the logs that were replayed is in force.
 */
#ifndef LEDGER_OFFLINE_CHANGES_H
#define LEDGER_OFFLINE_CHANGES_H

#include "base/buffer.h"
#include "base/settings.h"
#include "base/status.h"
#include "ledger/offline/revived.h"

struct changes {
	const int64_t
		*complete_to_ms; /* of the backup, if later logs are replayed; NULL: none are */
	void (*found)(void *context, const struct changed *changed);
	void *context;
	struct buffer restored; /* the number and time of each row, by their numbers */
};

/* Calls @found for each change that changed_is_listed(). */
void changes_init(struct changes *changes, const int64_t *complete_to_ms,
	void (*found)(void *context, const struct changed *changed), void *context);

/* Adds a restored row of the audit, in order. @changes is a struct changes. */
void changes_add_restored(void *changes, const struct audit *row);

/*
 * Reads the audit in @old, the db/ of the old state, and reports the changes that were not restored.
 * Returns STATUS_NOMEM, or the results of old_audit_walk().
 */
enum status changes_find_lost(struct changes *changes, const struct settings *settings,
	const char *old, char *why, size_t why_size);

void changes_free(struct changes *changes);

#endif
