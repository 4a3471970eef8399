/*
 * refused_calls - the commands on the refused calls that are kept on disk.
 *
 * They are no rows: both commands run as reads, after the batch was saved, and touch only the files
 * of refused/refused_log.h.
 */
#include "ledger/commands/ops.h"
#include "ledger/refused/refused_log.h"

enum status refused_keep_read(const void *arg, const struct read_context *context, void *out)
{
	const struct refused_keep_cmd *cmd = arg;

	refused_log_keep(context->refused_log, cmd->calls, context->storage_low, &context->now,
		out);
	return STATUS_OK;
}

enum status refused_list_read(const void *arg, const struct read_context *context, void *out)
{
	refused_log_list(context->refused_log, arg, context->rows, out);
	return context->rows->failed ? STATUS_NOMEM : STATUS_OK;
}
