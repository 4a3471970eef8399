#include "admin/backup.h"

#include "base/clock.h"
#include "base/text.h"

#include <string.h>

#define POLL_FIRST_MS 5
#define POLL_MAX_MS   200

static enum outcome ask_backup(struct session *session, const struct backup_cmd *cmd,
	struct backup_result *result)
{
	struct failure failure;
	enum outcome code = session_try(session, COMMAND_BACKUP, cmd, result, &failure);

	if (code == OUTCOME_DONE || !failure.id[0])
		return code;
	/* Another backup is running. */
	if (strcmp(failure.id, "not_allowed_now") == 0)
		code = OUTCOME_BUSY;
	return session_fail(session, code, failure.id, "%s", failure.detail);
}

enum outcome backup_make(struct session *session, const char *directory, bool whole,
	struct backup_result *result, backup_progress *progress, void *context)
{
	struct backup_cmd cmd = {.operator= session->operator, .start = true, .whole = whole};
	int64_t pause_ms = POLL_FIRST_MS;
	enum outcome code;

	if (!text_copy(cmd.directory, sizeof(cmd.directory), directory))
		return session_usage(session, "DIRECTORY '%s' is longer than %zu bytes", directory,
			sizeof(cmd.directory) - 1);
	code = ask_backup(session, &cmd, result);
	cmd.start = false;
	while (code == OUTCOME_DONE && result->stage == BACKUP_STAGE_RUNNING) {
		progress(context, result);
		clock_sleep_ms(pause_ms);
		pause_ms = pause_ms < POLL_MAX_MS ? 2 * pause_ms : POLL_MAX_MS;
		/*
		 * The backup is almost complete: poll often, so that little is written after its
		 * end.
		 */
		if (result->bytes >= result->bytes_all)
			pause_ms = POLL_FIRST_MS;
		code = ask_backup(session, &cmd, result);
	}
	if (code != OUTCOME_DONE)
		return code;
	if (result->stage == BACKUP_STAGE_NONE)
		return session_fail(session, OUTCOME_FAILED, "backup_failed",
			"the ledger was started again before the backup was done: repeat it");
	if (result->stage == BACKUP_STAGE_FAILED)
		return session_fail(session, OUTCOME_FAILED, "backup_failed", "%s", result->why);
	return OUTCOME_DONE;
}
