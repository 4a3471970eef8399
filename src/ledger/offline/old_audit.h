/*
 * old_audit - the trail of a state that was put away, or of one that is damaged.
 *
 * Only the trail and the log are needed. They are copied to a place of their own, where the log is
 * redone: the old state is not changed, since it may be needed for its log. What else is damaged
 * there does no harm.
 */
#ifndef LEDGER_OFFLINE_OLD_AUDIT_H
#define LEDGER_OFFLINE_OLD_AUDIT_H

#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"

/* Where a restore finds it, in @data, the db/ of a state. */
bool old_audit_is_there(const char *data);

/*
 * Gives @visit each row of the trail in @data, in their order. The copy lies in the state directory of
 * @settings. STATUS_FULL, STATUS_BUSY, STATUS_CORRUPT, STATUS_IO, STATUS_NOMEM: with a sentence in
 * @why. libdb may end the process (store/bdb/bdb.h).
 */
enum status old_audit_walk(const struct settings *settings, const char *data,
	void (*visit)(void *context, const struct audit *row), void *context, char *why,
	size_t why_size);

#endif
