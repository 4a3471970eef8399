/*
 * backup - implements `backup`: makes the ledger write a backup.
 */
#include "admin/backup.h"

#include "admin/place.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"
#include "cmd/ctl/common/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

/* Creates the directory; as root, for the user that runs the ledger. */
static enum outcome prepare_directory(struct ctl *ctl, char *path, size_t size)
{
	enum outcome code = session_settings(&ctl->session);
	struct stat st;

	if (code == OUTCOME_DONE)
		code = place_absolute(&ctl->session, ctl->args[0], path, size);
	if (code == OUTCOME_DONE && stat(ctl->session.settings.state_directory, &st) == 0)
		code = place_give(&ctl->session, path, st.st_uid);
	return code;
}

static enum outcome print_done(struct ctl *ctl, const char *path,
	const struct backup_result *result)
{
	const struct field *fields = output_result(COMMAND_BACKUP);
	char bytes[OUTPUT_TEXT_MAX], time[32];
	struct output_json json;

	output_value(field_find(fields, "bytes"), OUTPUT_BYTES, result, bytes);
	times_text(result->complete_to_ms, time);
	if (!ctl->json && result->added)
		printf("%s of log were added to the backup in %s.\n", bytes, path);
	else if (!ctl->json)
		printf("%" PRIu64 " tables and the log (%" PRIu64
		       " file%s), %s, were copied to %s.\n",
			result->tables, result->logs, result->logs == 1 ? "" : "s", bytes, path);
	if (!ctl->json)
		printf("It holds every movement that was acknowledged before %s.\n", time);
	output_json_open(&json, ctl);
	output_json_string(&json, "directory", path);
	output_json_fields(&json, fields, result);
	return output_json_close(&json);
}

enum outcome ctl_backup(struct ctl *ctl)
{
	struct backup_result result = {.stage = BACKUP_STAGE_NONE};
	struct progress progress;
	char path[BACKUP_PATH_SIZE];
	enum outcome code = prepare_directory(ctl, path, sizeof(path));

	if (code == OUTCOME_DONE) {
		progress = progress_begin(ctl);
		code = backup_make(&ctl->session, path, ctl->options[OPTION_WHOLE] != NULL, &result,
			progress_backup, &progress);
		progress_end(&progress);
	}
	return code == OUTCOME_DONE ? print_done(ctl, path, &result) : code;
}
