#include "admin/audit_note.h"

#include <stdio.h>

enum outcome audit_note_try(struct session *session, enum note_action action, const char *object,
	const char *detail, struct failure *failure)
{
	struct note_cmd cmd = {.operator= session->operator, .action = action };
	struct note_result result;

	snprintf(cmd.object, sizeof(cmd.object), "%s", object);
	snprintf(cmd.detail, sizeof(cmd.detail), "%s", detail);
	return session_try(session, COMMAND_NOTE, &cmd, &result, failure);
}

enum outcome audit_note(struct session *session, enum note_action action, const char *object,
	const char *detail)
{
	struct failure failure;
	enum outcome code = audit_note_try(session, action, object, detail, &failure);

	if (failure.id[0])
		session_fail(session, code, failure.id, "%s", failure.detail);
	return code;
}
