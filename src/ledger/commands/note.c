/* note - records in the trail an action of an operator outside the ledger. */
#include "ledger/rows/audit.h"

#include "ledger/commands/ops.h"

void note_keys(const void *arg, struct ws *ws)
{
	const struct note_cmd *cmd = arg;

	audit_keys(ws, &cmd->operator);
}

void note_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct note_cmd *cmd = arg;
	struct note_result *result = out;
	const char *action = note_action_names[cmd->action];

	if (audit_state(ws, &cmd->operator, action, cmd->object, &result->verdict) == AUDIT_NEW)
		audit_write(ws, context, &cmd->operator, action, cmd->object, cmd->detail);
}
