/*
 * import - implements `import`: creates the state of a ledger that does not run from an export.
 */
#include "archive/import.h"

#include "base/log.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"
#include "cmd/ctl/common/times.h"
#include "cmd/ctl/data/offline.h"
#include "cmd/ctl/data/revived.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct importing {
	struct ctl *ctl;
	struct archive_import archive;
	struct progress progress;
};

/* Prints the commands that create keys for the @names, which are imported without keys. */
static void print_key_adds(const char *what, const struct buffer *names)
{
	for (size_t at = 0; at < names->len; at += CASINO_ID_SIZE)
		printf("  creditbridgectl %s key-add %s\n", what, (const char *)names->data + at);
}

static void print_import_text(const struct archive_import *archive)
{
	char written[32];

	times_text(archive->head.created_ms, written);
	printf("%s: %" PRIu64 " rows of installation %s, written %s\n",
		archive->dry_run ? "The file is whole" : "Imported", archive->rows,
		archive->head.installation, written);
	offline_print_last(archive->last_transaction_id, archive->last_ms, archive->life.first_id);
	if (archive->keyless_dealers.len || archive->keyless_clients.len) {
		printf("No keys are in it. When the ledger runs, and before callbacks are sent, "
		       "give new ones:\n");
		print_key_adds("dealer", &archive->keyless_dealers);
		print_key_adds("client", &archive->keyless_clients);
	}
	if (!archive->dry_run)
		offline_print_steps();
}

static void add_names(struct output_json *json, const char *name, const struct buffer *names)
{
	output_json_list_open(json, name);
	for (size_t at = 0; at < names->len; at += CASINO_ID_SIZE)
		output_json_item_string(json, (const char *)names->data + at);
	output_json_list_close(json);
}

static enum outcome print_import(struct ctl *ctl, const struct archive_import *archive)
{
	struct revived_lists lists = {.revived = archive->revived};
	struct output_json json, keyless;
	enum outcome code = OUTCOME_DONE;

	if (!ctl->json)
		print_import_text(archive);
	output_json_open(&keyless, ctl);
	add_names(&keyless, "dealers", &archive->keyless_dealers);
	add_names(&keyless, "clients", &archive->keyless_clients);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", ctl->session.settings.state_directory);
	output_json_bool(&json, "dry_run", archive->dry_run);
	output_json_string(&json, "installation", archive->import.installation);
	output_json_record(&json, "export", export_head_fields, &archive->head);
	output_json_fields(&json, export_tail_fields, &archive->tail);
	output_json_number(&json, "last_transaction_id", archive->last_transaction_id);
	output_json_number(&json, "last_ms", (uint64_t)archive->last_ms);
	output_json_number(&json, "raised_by", archive->life.raised_by);
	output_json_number(&json, "first_id", archive->life.first_id);
	offline_json_number(&json, archive->life.first_id);
	output_json_object(&json, "keys_missing", &keyless);
	if (!archive->dry_run)
		code = revived_show(ctl, &json, &lists, REVIVED_TITLE);
	return output_json_close(&json) == OUTCOME_DONE ? code : OUTCOME_FAILED;
}

static void show_import_progress(void *progress, const char *what, uint64_t rows)
{
	if (what)
		progress_show(progress, "%s: %" PRIu64, what, rows);
	else
		progress_show(progress, "%" PRIu64 " rows", rows);
}

/* Runs in the child. */
static enum outcome import_in_child(void *context)
{
	struct importing *importing = context;
	enum outcome code;

	/*
	 * The store writes log messages for daemons; this command reports the failure
	 * itself.
	 */
	log_open("creditbridgectl", false, LOG_LEVEL_ERROR);
	importing->progress = progress_begin(importing->ctl);
	code = archive_import_run(&importing->archive);
	progress_end(&importing->progress);
	return code == OUTCOME_DONE ? print_import(importing->ctl, &importing->archive) : code;
}

enum outcome ctl_import(struct ctl *ctl)
{
	static struct importing importing;
	struct archive_import *archive = &importing.archive;
	enum outcome code = session_settings(&ctl->session);

	memset(&importing, 0, sizeof(importing));
	importing.ctl = ctl;
	/* Open the file before root changes to a user that may not be able to read it. */
	if (code == OUTCOME_DONE)
		code = archive_import_open(archive, &ctl->session, ctl->args[0]);
	archive->dry_run = ctl->options[OPTION_DRY_RUN] != NULL;
	archive->accept_clock = ctl->options[OPTION_ACCEPT_CLOCK] != NULL;
	archive->progress = show_import_progress;
	archive->progress_context = &importing.progress;
	if (code == OUTCOME_DONE && !archive->dry_run)
		code = offline_check_stopped(ctl);
	if (code == OUTCOME_DONE && !archive->dry_run)
		code = offline_become_owner(ctl, true, NULL);
	if (code == OUTCOME_DONE)
		code = offline_run(ctl, import_in_child, &importing, "nothing was imported", NULL);
	archive_import_close(archive);
	return code;
}
