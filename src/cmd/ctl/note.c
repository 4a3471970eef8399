#include "cmd/ctl/note.h"

#include <stdio.h>

enum ctl_exit ctl_note_try(struct ctl *ctl, enum note_action action, const char *object,
	const char *detail, struct ctl_failure *failure)
{
	struct note_cmd cmd = {.operator = ctl->operator, .action = action};
	struct note_result result;

	snprintf(cmd.object, sizeof(cmd.object), "%s", object);
	snprintf(cmd.detail, sizeof(cmd.detail), "%s", detail);
	return ctl_try(ctl, COMMAND_NOTE, &cmd, &result, failure);
}

enum ctl_exit ctl_note(struct ctl *ctl, enum note_action action, const char *object,
	const char *detail)
{
	struct ctl_failure failure;
	enum ctl_exit code = ctl_note_try(ctl, action, object, detail, &failure);

	if (failure.id[0])
		ctl_fail(ctl, code, failure.id, "%s", failure.detail);
	return code;
}
