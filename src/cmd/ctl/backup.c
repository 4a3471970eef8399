/*
 * backup - backup: asks the ledger for one and waits for its end.
 */
#include "cmd/ctl/backup.h"

#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_FIRST_MS 5
#define POLL_MAX_MS   200

/* As root the directory is made for the user that the ledger runs as. */
static enum ctl_exit prepare(struct ctl *ctl, char *path, size_t size)
{
	enum ctl_exit code = ctl_settings(ctl);
	struct stat st;

	if (code == CTL_DONE)
		code = place_absolute(ctl, ctl->args[0], path, size);
	if (code == CTL_DONE && stat(ctl->settings.state_directory, &st) == 0)
		code = place_give(ctl, path, st.st_uid);
	return code;
}

static enum ctl_exit ask(struct ctl *ctl, const struct backup_cmd *cmd,
	struct backup_result *result)
{
	struct ctl_failure failure;
	enum ctl_exit code = ctl_try(ctl, COMMAND_BACKUP, cmd, result, &failure);

	if (code == CTL_DONE || !failure.id[0])
		return code;
	/* Another backup is under way. */
	if (strcmp(failure.id, "not_allowed_now") == 0)
		code = CTL_BUSY;
	return ctl_fail(ctl, code, failure.id, "%s", failure.detail);
}

static void show_progress(const struct ctl *ctl, const struct backup_result *result)
{
	if (ctl->json || !isatty(STDERR_FILENO))
		return;
	if (result->stage != BACKUP_STAGE_RUNNING)
		fprintf(stderr, "\r\033[K");
	else if (result->bytes_all > result->bytes)
		fprintf(stderr, "\r\033[K%" PRIu64 " of about %" PRIu64 " MiB", result->bytes >> 20,
			result->bytes_all >> 20);
	else
		fprintf(stderr, "\r\033[K%" PRIu64 " MiB", result->bytes >> 20);
	fflush(stderr);
}

static enum ctl_exit print_done(struct ctl *ctl, const char *path,
	const struct backup_result *result)
{
	const struct field *fields = output_result(COMMAND_BACKUP);
	char bytes[OUTPUT_TEXT_MAX], time[32];
	struct output_json json;

	output_value(field_find(fields, "bytes"), OUTPUT_BYTES, result, bytes);
	output_time(result->complete_to_ms, time);
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

enum ctl_exit backup_make(struct ctl *ctl, const char *directory, bool whole,
	struct backup_result *result)
{
	struct backup_cmd cmd = {.operator = ctl->operator, .start = true, .whole = whole};
	int64_t pause_ms = POLL_FIRST_MS;
	enum ctl_exit code;

	if (!text_copy(cmd.directory, sizeof(cmd.directory), directory))
		return ctl_usage(ctl, "DIRECTORY '%s' is longer than %zu bytes", directory,
			sizeof(cmd.directory) - 1);
	code = ask(ctl, &cmd, result);
	cmd.start = false;
	while (code == CTL_DONE && result->stage == BACKUP_STAGE_RUNNING) {
		show_progress(ctl, result);
		clock_sleep_ms(pause_ms);
		pause_ms = pause_ms < POLL_MAX_MS ? 2 * pause_ms : POLL_MAX_MS;
		/* Near the end: the less passes until that is known, the less is not in the backup. */
		if (result->bytes >= result->bytes_all)
			pause_ms = POLL_FIRST_MS;
		code = ask(ctl, &cmd, result);
	}
	if (code != CTL_DONE)
		return code;
	show_progress(ctl, result);
	if (result->stage == BACKUP_STAGE_NONE)
		return ctl_fail(ctl, CTL_FAILED, "backup_failed",
			"the ledger was started again before the backup was done: repeat it");
	if (result->stage == BACKUP_STAGE_FAILED)
		return ctl_fail(ctl, CTL_FAILED, "backup_failed", "%s", result->why);
	return CTL_DONE;
}

enum ctl_exit ctl_backup(struct ctl *ctl)
{
	struct backup_result result = {.stage = BACKUP_STAGE_NONE};
	char path[BACKUP_PATH_SIZE];
	enum ctl_exit code = prepare(ctl, path, sizeof(path));

	if (code == CTL_DONE)
		code = backup_make(ctl, path, ctl->options[OPTION_WHOLE] != NULL, &result);
	return code == CTL_DONE ? print_done(ctl, path, &result) : code;
}
