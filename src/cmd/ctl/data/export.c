/*
 * export - implements `export`: writes all rows of the ledger as lines of JSON.
 *
 * For a running ledger, the rows are read from a backup made for the export, or from a snapshot where
 * the store has them (ledger/offline/export.h), so that all rows belong to one moment. With
 * --offline, they are read from the state of a ledger that does not run.
 */
#include "archive/export.h"

#include "admin/audit_note.h"
#include "admin/backup.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ctl/common/outfile.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"
#include "cmd/ctl/common/times.h"
#include "cmd/ctl/data/offline.h"
#include "store/servers.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>

struct exporting {
	struct ctl *ctl;
	struct outfile out;
	struct export_place place; /* of the backup */
	uint64_t bytes;            /* of the backup */
	struct export data;
	struct archive_export archive;
	struct progress progress;
};

static bool write_export_line(void *context, const void *data, size_t len)
{
	struct outfile *out = context;

	outfile_put(out, data, len);
	return !out->failed;
}

static void show_export_progress(void *progress, uint64_t rows)
{
	progress_show(progress, "%" PRIu64 " rows", rows);
}

static enum outcome print_export(struct exporting *exporting)
{
	const struct archive_export *archive = &exporting->archive;
	const struct export_head *head = &archive->head;
	struct output_json json;
	char time[32];

	if (!exporting->out.path)
		return OUTCOME_DONE;
	times_text(archive->last_ms, time);
	if (!exporting->ctl->json) {
		printf("%s: %" PRIu64 " rows of installation %s, %s keys\n", exporting->out.path,
			archive->tail.rows, head->installation, head->keys ? "with" : "without");
		printf("last transaction %" PRIu64 " at %s\nsha256 %s\n",
			archive->last_transaction_id, time, archive->tail.sha256);
	}
	output_json_open(&json, exporting->ctl);
	output_json_string(&json, "file", exporting->out.path);
	output_json_fields(&json, export_head_fields, head);
	output_json_fields(&json, export_tail_fields, &archive->tail);
	output_json_number(&json, "last_ms", (uint64_t)archive->last_ms);
	return output_json_close(&json);
}

/* Runs in the child, with the data open. */
static enum outcome write_file(struct exporting *exporting)
{
	struct archive_export *archive = &exporting->archive;
	enum outcome code;

	archive->session = &exporting->ctl->session;
	archive->data = &exporting->data;
	archive->with_keys = exporting->ctl->options[OPTION_WITH_KEYS] != NULL;
	archive->write = write_export_line;
	archive->context = &exporting->out;
	archive->progress = show_export_progress;
	archive->progress_context = &exporting->progress;
	exporting->progress = progress_begin(exporting->ctl);
	code = archive_export_write(archive);
	progress_end(&exporting->progress);
	code = outfile_close(&exporting->out, code);
	return code == OUTCOME_DONE ? print_export(exporting) : code;
}

/* Returns the text for the audit. */
static const char *keys_text(const struct ctl *ctl)
{
	return ctl->options[OPTION_WITH_KEYS] ? "keys=yes" : "keys=no";
}

static enum outcome open_export_data(struct exporting *exporting)
{
	struct ctl *ctl = exporting->ctl;
	char why[512] = "";
	enum status status;

	if (ctl->options[OPTION_OFFLINE])
		status = export_open_state(&exporting->data, &ctl->session.settings,
			&ctl->session.operator, keys_text(ctl), why, sizeof(why));
	else if (store_has_snapshot(&ctl->session.settings))
		status = export_open_snapshot(&exporting->data, &ctl->session.settings, why,
			sizeof(why));
	else
		status = export_open_backup(&exporting->data, &ctl->session.settings,
			&exporting->place, exporting->bytes, why, sizeof(why));
	return status ? offline_fail(ctl, status, why) : OUTCOME_DONE;
}

static enum outcome export_in_child(void *context)
{
	struct exporting *exporting = context;
	enum outcome code;

	/*
	 * The store writes log messages for daemons; this command reports the failure
	 * itself.
	 */
	log_open("creditbridgectl", false, LOG_LEVEL_ERROR);
	code = open_export_data(exporting);
	if (code == OUTCOME_DONE) {
		code = write_file(exporting);
		export_close(&exporting->data);
	} else {
		code = outfile_close(&exporting->out, code);
	}
	return code;
}

/* Records the export and its operator in the audit, before any row is read. */
static enum outcome record_export(struct exporting *exporting)
{
	struct operator* operator= & exporting->ctl->session.operator;
	enum outcome code = audit_note(&exporting->ctl->session, NOTE_EXPORT,
		exporting->out.path ? exporting->out.path : "standard output",
		keys_text(exporting->ctl));

	/* The backup is a separate operation. */
	if (code == OUTCOME_DONE &&
		!signature_random_id(operator->operation_id, sizeof(operator->operation_id)))
		return session_no_random(&exporting->ctl->session);
	return code;
}

/* Becomes the ledger's user, because the database servers know that user. */
static enum outcome prepare_snapshot(struct exporting *exporting)
{
	enum outcome code = record_export(exporting);

	return code == OUTCOME_DONE ? session_drop_root(&exporting->ctl->session) : code;
}

/* Makes the ledger create the backup that is read. */
static enum outcome prepare_backup(struct exporting *exporting)
{
	struct ctl *ctl = exporting->ctl;
	struct backup_result result;
	struct progress progress;
	enum outcome code = record_export(exporting);
	enum status status;
	char why[512] = "";

	if (code != OUTCOME_DONE)
		return code;
	status = export_place_open(&exporting->place, ctl->session.settings.state_directory, why,
		sizeof(why));
	if (status)
		return offline_fail(ctl, status, why);
	progress = progress_begin(ctl);
	code = backup_make(&ctl->session, exporting->place.backup, true, &result, progress_backup,
		&progress);
	progress_end(&progress);
	if (code == OUTCOME_DONE)
		exporting->bytes = result.bytes;
	else
		export_place_close(&exporting->place);
	return code;
}

static enum outcome prepare_offline(struct ctl *ctl)
{
	enum outcome code = offline_check_stopped(ctl);

	return code == OUTCOME_DONE ? offline_become_owner(ctl, false, NULL) : code;
}

enum outcome ctl_export(struct ctl *ctl)
{
	static struct exporting exporting;
	const bool offline = ctl->options[OPTION_OFFLINE] != NULL;
	enum outcome code = session_settings(&ctl->session);
	bool ended = true, snapshot;

	if (code != OUTCOME_DONE)
		return code;
	exporting.ctl = ctl;
	snapshot = !offline && store_has_snapshot(&ctl->session.settings);
	code = outfile_open(&exporting.out, ctl, ctl->arg_count ? ctl->args[0] : NULL, true);
	if (code != OUTCOME_DONE)
		return code;
	code = offline     ? prepare_offline(ctl)
		: snapshot ? prepare_snapshot(&exporting)
			   : prepare_backup(&exporting);
	if (code == OUTCOME_DONE) {
		code = offline_run(ctl, export_in_child, &exporting, "the export is not complete",
			&ended);
		if (!offline && !snapshot)
			export_place_close(&exporting.place);
	}
	/* Otherwise the child closed or deleted the file. */
	return ended ? outfile_close(&exporting.out, code) : code;
}
