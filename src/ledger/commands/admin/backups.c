/*
 * backups - starts a backup and reports its progress. The store runs it in parallel.
 *
 * The start is recorded in the audit. If the disk is too full to write, the backup starts without
 * a record. read() answers the command that starts it, too, because only read() has the store.
 */
#include "base/log.h"
#include "base/text.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/audit.h"
#include "store/backup.h"

#include <stdio.h>
#include <string.h>

#define ACTION "backup"

static const enum backup_stage stages[BACKUP_STATE_COUNT] = {
	[BACKUP_NONE] = BACKUP_STAGE_NONE,
	[BACKUP_RUNNING] = BACKUP_STAGE_RUNNING,
	[BACKUP_DONE] = BACKUP_STAGE_DONE,
	[BACKUP_FAILED] = BACKUP_STAGE_FAILED,
};

void backup_keys(const void *arg, struct ws *ws)
{
	const struct backup_cmd *cmd = arg;

	if (cmd->start)
		audit_keys(ws, &cmd->operator);
}

void backup_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct backup_cmd *cmd = arg;
	struct backup_result *result = out;
	char object[OBJECT_SIZE];

	if (!cmd->start)
		return;
	/* A longer name is cut: the log has it whole. */
	snprintf(object, sizeof(object), "%.*s", OBJECT_SIZE - 1, cmd->directory);
	if (audit_state(ws, &cmd->operator, ACTION, object, &result->verdict) == AUDIT_NEW)
		audit_write(ws, context, &cmd->operator, ACTION, object,
			cmd->whole ? "whole=yes" : "whole=no");
}

static void refuse_backup(struct backup_result *result, const char *detail)
{
	result->verdict.refusal = REFUSAL_NOT_ALLOWED_NOW;
	text_copy(result->verdict.detail, sizeof(result->verdict.detail), detail);
}

/* Begins it, unless the same command did before. */
static enum status begin_backup(struct store *store, const struct backup_cmd *cmd,
	struct backup_result *result)
{
	const struct backup_options options = {
		.directory = cmd->directory,
		.id = cmd->operator.operation_id,
		.whole = cmd->whole,
	};
	struct backup_progress progress;
	enum status status;

	if (cmd->directory[0] != '/' || !options.id[0]) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return STATUS_OK;
	}
	store->backup_progress(store, options.id, &progress);
	if (progress.state != BACKUP_NONE)
		return STATUS_OK;
	status = store->backup(store, &options);
	if (status == STATUS_BUSY) {
		refuse_backup(result, "another backup is under way: wait until it is done");
		return STATUS_OK;
	}
	log_line(LOG_LEVEL_INFO, "backup_asked", "directory=%s uid=%u login_uid=%u", cmd->directory,
		cmd->operator.uid, cmd->operator.login_uid);
	return status;
}

enum status backup_read(const void *arg, const struct read_context *context, void *out)
{
	const struct backup_cmd *cmd = arg;
	struct backup_result *result = out;
	struct store *store = context->store;
	struct backup_progress progress;
	enum status status;

	if (!store->backup) {
		refuse_backup(result,
			"the store is PostgreSQL: take backups with its tools, such as pgBackRest "
			"or pg_basebackup");
		return STATUS_OK;
	}
	status = cmd->start ? begin_backup(store, cmd, result) : STATUS_OK;
	if (status || result->verdict.refusal)
		return status;
	store->backup_progress(store, cmd->operator.operation_id, &progress);
	result->stage = stages[progress.state];
	result->added = progress.added;
	result->bytes = progress.bytes;
	result->bytes_all = progress.bytes_all;
	result->tables = progress.tables;
	result->logs = progress.logs;
	result->begun_ms = progress.begun_ms;
	result->ended_ms = progress.ended_ms;
	result->complete_to_ms = progress.complete_to_ms;
	text_copy(result->why, sizeof(result->why), progress.why);
	return STATUS_OK;
}
