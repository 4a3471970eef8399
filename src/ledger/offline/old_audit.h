/*
 * old_audit - reads the audit of a state that was put away or is damaged.
 *
 * It needs only the audit and the log. It copies them to a separate directory and redoes the log
 * there. The old state stays unchanged, because its log may still be needed. Damage in other files
 * does no harm.
 */
#ifndef LEDGER_OFFLINE_OLD_AUDIT_H
#define LEDGER_OFFLINE_OLD_AUDIT_H

#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"

/* Returns true if @data, the db/ of a state, contains the audit. */
bool old_audit_is_there(const char *data);

/*
 * Calls @visit for each row of the audit in @data, in order. The copy lies in the state directory
 * of @settings. Returns STATUS_FULL, STATUS_BUSY, STATUS_CORRUPT, STATUS_IO or STATUS_NOMEM, with
 * a reason in @why. The store may end the process (store/exit.h).
 */
enum status old_audit_walk(const struct settings *settings, const char *data,
	void (*visit)(void *context, const struct audit *row), void *context, char *why,
	size_t why_size);

#endif
