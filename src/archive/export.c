#include "archive/export.h"

#include "base/clock.h"
#include "base/text.h"
#include "wire/row_line.h"

#include <string.h>

static bool put_export_line(struct archive_export *exporting, const char *name,
	const struct field *fields, const void *row)
{
	buffer_reset(&exporting->line);
	if (!row_line_put(&exporting->line, name, fields, row, exporting->head.keys))
		return false;
	digest_add(&exporting->digest, exporting->line.data, exporting->line.len);
	exporting->stopped |=
		!exporting->write(exporting->context, exporting->line.data, exporting->line.len);
	return true;
}

static bool put_export_row(void *context, const void *row)
{
	struct archive_export *exporting = context;
	const struct record_info *info = &record_infos[exporting->record];
	const struct transaction *transaction = row;

	exporting->damaged = !put_export_line(exporting, info->name, info->fields, row);
	++*export_count(&exporting->tail.counts, exporting->record);
	if (++exporting->tail.rows % 4096 == 0)
		exporting->progress(exporting->progress_context, exporting->tail.rows);
	/* Transactions are read in the order of their ids, so the last value remains. */
	if (exporting->record == RECORD_TRANSACTION) {
		exporting->last_transaction_id = transaction->transaction_id;
		exporting->last_ms = transaction->time_ms;
	}
	return !exporting->damaged && !exporting->stopped;
}

static bool read_counter(void *context, const void *row)
{
	struct archive_export *exporting = context;
	const struct counter *counter = row;

	if (strcmp(counter->name, "transaction_id") == 0)
		exporting->head.last_transaction_id = counter->value;
	else if (strcmp(counter->name, "event") == 0)
		exporting->head.last_event = counter->value;
	return true;
}

static enum outcome write_head(struct archive_export *exporting)
{
	struct export_head *head = &exporting->head;
	enum status status = export_walk(exporting->data, RECORD_COUNTER, read_counter, exporting);

	if (status)
		return session_fail_status(exporting->session, FAILURE_OF_DATA, status, NULL);
	text_copy(head->format, sizeof(head->format), EXPORT_FORMAT);
	text_copy(head->program, sizeof(head->program), PACKAGE_VERSION);
	text_copy(head->installation, sizeof(head->installation), exporting->data->installation);
	head->version = EXPORT_VERSION;
	head->schema = export_schema;
	head->created_ms = clock_wall_ms();
	head->keys = exporting->with_keys;
	return put_export_line(exporting, EXPORT_HEAD, export_head_fields, head)
		? OUTCOME_DONE
		: session_no_memory(exporting->session);
}

static enum outcome write_rows(struct archive_export *exporting)
{
	enum status status = STATUS_OK;

	for (unsigned int i = 0; i < RECORD_COUNT && !status; i++) {
		exporting->record = (enum record)i;
		status = export_walk(exporting->data, exporting->record, put_export_row, exporting);
		if (exporting->stopped)
			return OUTCOME_DONE;
		if (status || exporting->damaged)
			break;
	}
	if (!status && !exporting->damaged)
		return OUTCOME_DONE;
	return session_fail(exporting->session, OUTCOME_FAILED, "damaged",
		"a row of %s cannot be read or written (%s)", record_infos[exporting->record].name,
		status ? status_text(status) : "out of memory, or it holds what it must not");
}

static enum outcome write_tail(struct archive_export *exporting)
{
	if (!digest_text(&exporting->digest, exporting->tail.sha256))
		return session_no_memory(exporting->session);
	return put_export_line(exporting, EXPORT_TAIL, export_tail_fields, &exporting->tail)
		? OUTCOME_DONE
		: session_no_memory(exporting->session);
}

enum outcome archive_export_write(struct archive_export *exporting)
{
	enum outcome code;

	buffer_init(&exporting->line, EXPORT_LINE_MAX);
	digest_begin(&exporting->digest);
	code = write_head(exporting);
	if (code == OUTCOME_DONE)
		code = write_rows(exporting);
	if (code == OUTCOME_DONE && !exporting->stopped)
		code = write_tail(exporting);
	digest_end(&exporting->digest);
	buffer_free(&exporting->line);
	return code;
}
