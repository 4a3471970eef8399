/*
 * export - implements `export`: writes all rows of the ledger as lines of JSON.
 *
 * For a running ledger, the rows are read from a backup made for the export
 * (ledger/offline/export.h), so that all rows belong to one moment. With --offline, they are read
 * from the state of a ledger that does not run.
 */
#include "ledger/offline/export.h"

#include "admin/audit_note.h"
#include "admin/backup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/export_lines.h"
#include "cmd/ctl/offline.h"
#include "cmd/ctl/outfile.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/progress.h"
#include "wire/row_line.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>


struct exporting {
	struct ctl *ctl;
	struct outfile out;
	struct export_place place; /* of the backup */
	uint64_t bytes;            /* of the backup */
	struct export export;
	struct export_head head;
	struct export_tail tail;
	uint64_t last_transaction_id; /* of the exported rows ... */
	int64_t last_ms;              /* ... and its time; 0: there is none */
	enum record record; /* the record that is being written */
	struct buffer line;
	bool damaged; /* a row could not be written */
	struct progress progress;
};

static bool put_line(struct exporting *exporting, const char *name, const struct field *fields,
	const void *row)
{
	buffer_reset(&exporting->line);
	if (!row_line_put(&exporting->line, name, fields, row, exporting->head.keys))
		return false;
	outfile_put(&exporting->out, exporting->line.data, exporting->line.len);
	return true;
}

static bool put_row(void *context, const void *row)
{
	struct exporting *exporting = context;
	const struct record_info *info = &record_infos[exporting->record];
	const struct transaction *transaction = row;

	exporting->damaged = !put_line(exporting, info->name, info->fields, row);
	++*export_count(&exporting->tail.counts, exporting->record);
	if (++exporting->tail.rows % 4096 == 0)
		progress_show(&exporting->progress, "%" PRIu64 " rows", exporting->tail.rows);
	/* Transactions are read in the order of their ids, so the last value remains. */
	if (exporting->record == RECORD_TRANSACTION) {
		exporting->last_transaction_id = transaction->transaction_id;
		exporting->last_ms = transaction->time_ms;
	}
	return !exporting->damaged && !exporting->out.failed;
}

static bool note_counter(void *context, const void *row)
{
	struct exporting *exporting = context;
	const struct counter *counter = row;

	if (strcmp(counter->name, "transaction_id") == 0)
		exporting->head.last_transaction_id = counter->value;
	else if (strcmp(counter->name, "event") == 0)
		exporting->head.last_event = counter->value;
	return true;
}

static enum outcome write_head(struct exporting *exporting)
{
	struct export_head *head = &exporting->head;
	enum status status = export_walk(&exporting->export, RECORD_COUNTER, note_counter,
		exporting);

	if (status)
		return offline_fail(exporting->ctl, status, NULL);
	text_copy(head->format, sizeof(head->format), EXPORT_FORMAT);
	text_copy(head->program, sizeof(head->program), PACKAGE_VERSION);
	text_copy(head->installation, sizeof(head->installation), exporting->export.installation);
	head->version = EXPORT_VERSION;
	head->schema = export_schema;
	head->created_ms = clock_wall_ms();
	head->keys = exporting->ctl->options[OPTION_WITH_KEYS] != NULL;
	return put_line(exporting, EXPORT_HEAD, export_head_fields, head)
		? OUTCOME_DONE
		: ctl_no_memory(exporting->ctl);
}

static enum outcome write_rows(struct exporting *exporting)
{
	enum status status = STATUS_OK;

	for (unsigned int i = 0; i < RECORD_COUNT && !status; i++) {
		exporting->record = (enum record)i;
		status = export_walk(&exporting->export, exporting->record, put_row, exporting);
		/* outfile_close() reports a failed write. */
		if (exporting->out.failed)
			return OUTCOME_DONE;
		if (status || exporting->damaged)
			break;
	}
	progress_end(&exporting->progress);
	if (!status && !exporting->damaged)
		return OUTCOME_DONE;
	return ctl_fail(exporting->ctl, OUTCOME_FAILED, "damaged",
		"a row of %s cannot be read or written (%s)", record_infos[exporting->record].name,
		status ? status_text(status) : "out of memory, or it holds what it must not");
}

static enum outcome write_tail(struct exporting *exporting)
{
	outfile_digest(&exporting->out, exporting->tail.sha256);
	return put_line(exporting, EXPORT_TAIL, export_tail_fields, &exporting->tail)
		? OUTCOME_DONE
		: ctl_no_memory(exporting->ctl);
}

static enum outcome tell(struct exporting *exporting)
{
	const struct export_head *head = &exporting->head;
	struct output_json json;
	char time[32];

	if (!exporting->out.path)
		return OUTCOME_DONE;
	text_time(exporting->last_ms, time);
	if (!exporting->ctl->json) {
		printf("%s: %" PRIu64 " rows of installation %s, %s keys\n", exporting->out.path,
			exporting->tail.rows, head->installation, head->keys ? "with" : "without");
		printf("last transaction %" PRIu64 " at %s\nsha256 %s\n",
			exporting->last_transaction_id, time, exporting->tail.sha256);
	}
	output_json_open(&json, exporting->ctl);
	output_json_string(&json, "file", exporting->out.path);
	output_json_fields(&json, export_head_fields, head);
	output_json_fields(&json, export_tail_fields, &exporting->tail);
	output_json_number(&json, "last_ms", (uint64_t)exporting->last_ms);
	return output_json_close(&json);
}

/* Runs in the child, with the data open. */
static enum outcome write_all(struct exporting *exporting)
{
	enum outcome code = write_head(exporting);

	if (code == OUTCOME_DONE)
		code = write_rows(exporting);
	if (code == OUTCOME_DONE)
		code = write_tail(exporting);
	code = outfile_close(&exporting->out, code);
	return code == OUTCOME_DONE ? tell(exporting) : code;
}

/* Returns the text for the audit. */
static const char *keys_text(const struct ctl *ctl)
{
	return ctl->options[OPTION_WITH_KEYS] ? "keys=yes" : "keys=no";
}

static enum outcome open_data(struct exporting *exporting)
{
	struct ctl *ctl = exporting->ctl;
	char why[512] = "";
	enum status status;

	if (ctl->options[OPTION_OFFLINE])
		status = export_open_state(&exporting->export, &ctl->session.settings, &ctl->session.operator,
			keys_text(ctl), why, sizeof(why));
	else
		status = export_open_backup(&exporting->export, &ctl->session.settings, &exporting->place,
			exporting->bytes, why, sizeof(why));
	return status ? offline_fail(ctl, status, why) : OUTCOME_DONE;
}

static enum outcome work(void *context)
{
	struct exporting *exporting = context;
	enum outcome code;

	/*
	 * The store writes log messages for daemons; this command reports the failure
	 * itself.
	 */
	log_open("creditbridgectl", false, LOG_LEVEL_ERROR);
	buffer_init(&exporting->line, EXPORT_LINE_MAX);
	code = open_data(exporting);
	if (code == OUTCOME_DONE) {
		code = write_all(exporting);
		export_close(&exporting->export);
	} else {
		code = outfile_close(&exporting->out, code);
	}
	buffer_free(&exporting->line);
	return code;
}

/* Records in the audit who exports, before any row is read. */
static enum outcome note(struct exporting *exporting)
{
	struct operator *operator = &exporting->ctl->session.operator;
	enum outcome code = audit_note(&exporting->ctl->session, NOTE_EXPORT,
		exporting->out.path ? exporting->out.path : "standard output",
		keys_text(exporting->ctl));

	/* The backup is a separate operation. */
	if (code == OUTCOME_DONE &&
		!signature_random_id(operator->operation_id, sizeof(operator->operation_id)))
		return ctl_fail(exporting->ctl, OUTCOME_FAILED, "failed", "the kernel gives no "
			"random numbers: allow the system call getrandom, and repeat this");
	return code;
}

/* Makes the ledger create the backup that is read. */
static enum outcome prepare_backup(struct exporting *exporting)
{
	struct ctl *ctl = exporting->ctl;
	struct backup_result result;
	struct progress progress;
	enum outcome code = note(exporting);
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
	enum outcome code = session_settings(&ctl->session);

	if (code == OUTCOME_DONE)
		code = offline_check_stopped(ctl);
	return code == OUTCOME_DONE ? offline_become_owner(ctl, false, NULL) : code;
}

enum outcome ctl_export(struct ctl *ctl)
{
	static struct exporting exporting;
	const bool offline = ctl->options[OPTION_OFFLINE] != NULL;
	enum outcome code;
	bool ended = true;

	exporting.ctl = ctl;
	code = outfile_open(&exporting.out, ctl, ctl->arg_count ? ctl->args[0] : NULL, true);
	if (code != OUTCOME_DONE)
		return code;
	code = offline ? prepare_offline(ctl) : prepare_backup(&exporting);
	if (code == OUTCOME_DONE) {
		code = offline_run(ctl, work, &exporting, "the export is not complete", &ended);
		if (!offline)
			export_place_close(&exporting.place);
	}
	/* Otherwise the child closed or deleted the file. */
	return ended ? outfile_close(&exporting.out, code) : code;
}
