/*
 * audit_note - records in the audit what an operator does outside the ledger.
 */
#ifndef ADMIN_AUDIT_NOTE_H
#define ADMIN_AUDIT_NOTE_H

#include "admin/session.h"

/*
 * Records @action on @object in the audit, before the action, so that no action is unrecorded.
 * Truncates text that does not fit. Reports a failure.
 */
enum outcome audit_note(struct session *session, enum note_action action, const char *object,
	const char *detail);

/* As audit_note(), but a failure is only in @failure (see session_try()). */
enum outcome audit_note_try(struct session *session, enum note_action action, const char *object,
	const char *detail, struct failure *failure);

#endif
