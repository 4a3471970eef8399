/* note - records an operator's action outside the ledger in the audit. */
#include "base/text.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/audit.h"

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
	const bool of_console = cmd->action >= NOTE_RECON;

	if (of_console && (!context->operator_name || !context->operator_name[0])) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		text_copy(result->verdict.detail, sizeof(result->verdict.detail),
			"only the web console notes this");
		return;
	}
	if (audit_state(ws, &cmd->operator, action, cmd->object, &result->verdict) == AUDIT_NEW)
		audit_write(ws, context, &cmd->operator, action, cmd->object, cmd->detail);
}
