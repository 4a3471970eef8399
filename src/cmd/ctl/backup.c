/*
 * backup - implements `backup`: requests a backup from the ledger and waits until it is complete.
 */
#include "cmd/ctl/backup.h"

#include "admin/place.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_FIRST_MS 5
#define POLL_MAX_MS   200

/* Creates the directory; as root, for the user that runs the ledger. */
static enum outcome prepare(struct ctl *ctl, char *path, size_t size)
{
	enum outcome code = session_settings(&ctl->session);
	struct stat st;

	if (code == OUTCOME_DONE)
		code = place_absolute(&ctl->session, ctl->args[0], path, size);
	if (code == OUTCOME_DONE && stat(ctl->session.settings.state_directory, &st) == 0)
		code = place_give(&ctl->session, path, st.st_uid);
	return code;
}

static enum outcome ask(struct ctl *ctl, const struct backup_cmd *cmd,
	struct backup_result *result)
{
	struct failure failure;
	enum outcome code = session_try(&ctl->session, COMMAND_BACKUP, cmd, result, &failure);

	if (code == OUTCOME_DONE || !failure.id[0])
		return code;
	/* Another backup is running. */
	if (strcmp(failure.id, "not_allowed_now") == 0)
		code = OUTCOME_BUSY;
	return ctl_fail(ctl, code, failure.id, "%s", failure.detail);
}

static void show_progress(struct progress *progress, const struct backup_result *result)
{
	if (result->bytes_all > result->bytes)
		progress_show(progress, "%" PRIu64 " of about %" PRIu64 " MiB", result->bytes >> 20,
			result->bytes_all >> 20);
	else
		progress_show(progress, "%" PRIu64 " MiB", result->bytes >> 20);
}

static enum outcome print_done(struct ctl *ctl, const char *path,
	const struct backup_result *result)
{
	const struct field *fields = output_result(COMMAND_BACKUP);
	char bytes[OUTPUT_TEXT_MAX], time[32];
	struct output_json json;

	output_value(field_find(fields, "bytes"), OUTPUT_BYTES, result, bytes);
	text_time(result->complete_to_ms, time);
	if (!ctl->json && result->added)
		printf("%s of log were added to the backup in %s.\n", bytes, path);
	else if (!ctl->json)
		printf("%" PRIu64 " tables and the log (%" PRIu64 " file%s), %s, were copied to %s.\n",
			result->tables, result->logs, result->logs == 1 ? "" : "s", bytes, path);
	if (!ctl->json)
		printf("It holds every movement that was acknowledged before %s.\n", time);
	output_json_open(&json, ctl);
	output_json_string(&json, "directory", path);
	output_json_fields(&json, fields, result);
	return output_json_close(&json);
}

enum outcome backup_make(struct ctl *ctl, const char *directory, bool whole,
	struct backup_result *result)
{
	struct backup_cmd cmd = {.operator = ctl->session.operator, .start = true, .whole = whole};
	struct progress progress = progress_begin(ctl);
	int64_t pause_ms = POLL_FIRST_MS;
	enum outcome code;

	if (!text_copy(cmd.directory, sizeof(cmd.directory), directory))
		return ctl_usage(ctl, "DIRECTORY '%s' is longer than %zu bytes", directory,
			sizeof(cmd.directory) - 1);
	code = ask(ctl, &cmd, result);
	cmd.start = false;
	while (code == OUTCOME_DONE && result->stage == BACKUP_STAGE_RUNNING) {
		show_progress(&progress, result);
		clock_sleep_ms(pause_ms);
		pause_ms = pause_ms < POLL_MAX_MS ? 2 * pause_ms : POLL_MAX_MS;
		/*
		 * The backup is almost complete: poll often, so that little is written after its
		 * end.
		 */
		if (result->bytes >= result->bytes_all)
			pause_ms = POLL_FIRST_MS;
		code = ask(ctl, &cmd, result);
	}
	progress_end(&progress);
	if (code != OUTCOME_DONE)
		return code;
	if (result->stage == BACKUP_STAGE_NONE)
		return ctl_fail(ctl, OUTCOME_FAILED, "backup_failed",
			"the ledger was started again before the backup was done: repeat it");
	if (result->stage == BACKUP_STAGE_FAILED)
		return ctl_fail(ctl, OUTCOME_FAILED, "backup_failed", "%s", result->why);
	return OUTCOME_DONE;
}

enum outcome ctl_backup(struct ctl *ctl)
{
	struct backup_result result = {.stage = BACKUP_STAGE_NONE};
	char path[BACKUP_PATH_SIZE];
	enum outcome code = prepare(ctl, path, sizeof(path));

	if (code == OUTCOME_DONE)
		code = backup_make(ctl, path, ctl->options[OPTION_WHOLE] != NULL, &result);
	return code == OUTCOME_DONE ? print_done(ctl, path, &result) : code;
}
