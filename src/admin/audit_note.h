/*
 * audit_note - the trail of what an operator does outside the ledger.
 */
#ifndef ADMIN_AUDIT_NOTE_H
#define ADMIN_AUDIT_NOTE_H

#include "admin/session.h"

/*
 * Notes in the audit that @action is done to @object; what does not fit is cut. Before the deed, so
 * that none is without a trail. A failure is reported.
 */
enum outcome audit_note(struct session *session, enum note_action action, const char *object,
	const char *detail);

/* The same; a failure is told in @failure alone (ctl_try). */
enum outcome audit_note_try(struct session *session, enum note_action action, const char *object,
	const char *detail, struct failure *failure);

#endif
