#include "archive/import.h"

#include "archive/prove.h"
#include "base/text.h"
#include "domain/row_bounds.h"
#include "ledger/offline/export.h"
#include "ledger/offline/revived.h"
#include "ledger/rows/issued_keys.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX (1024 * 1024)

static enum outcome read_export_head(struct archive_import *importing)
{
	struct export_head *head = &importing->head;
	enum outcome code = import_lines_next(&importing->lines);

	if (code == OUTCOME_DONE &&
		(importing->lines.end || strcmp(importing->lines.line.name, EXPORT_HEAD) != 0))
		return import_lines_bad(&importing->lines, "it does not begin as an export");
	if (code == OUTCOME_DONE)
		code = import_lines_take(&importing->lines, export_head_fields, sizeof(*head), head,
			true);
	if (code != OUTCOME_DONE)
		return code;
	if (strcmp(head->format, EXPORT_FORMAT) != 0 || head->version != EXPORT_VERSION ||
		head->schema > export_schema)
		return import_lines_bad(&importing->lines,
			"it was written by a newer creditbridge: import it with that version");
	return OUTCOME_DONE;
}

/* Removes keys that have no secret. */
static void drop_keys(struct archive_import *importing, enum record record)
{
	struct dealer *dealer = &importing->row.dealer;
	struct client *client = &importing->row.client;

	if (record == RECORD_DEALER) {
		memset(dealer->keys, 0, sizeof(dealer->keys));
		memset(dealer->signing_key_id, 0, sizeof(dealer->signing_key_id));
		buffer_append(&importing->keyless_dealers, dealer->casino_id, CASINO_ID_SIZE);
	} else if (record == RECORD_CLIENT) {
		memset(client->keys, 0, sizeof(client->keys));
		if (!client->removed)
			buffer_append(&importing->keyless_clients, client->client_id,
				CASINO_ID_SIZE);
	} else if (record == RECORD_DESK_OPERATOR) {
		/* Without a secret the operator cannot sign in until `operator new-code`. */
		memset(importing->row.desk_operator.secret, 0,
			sizeof(importing->row.desk_operator.secret));
	}
}

/* Returns the kind of row called @name; RECORD_COUNT if there is none. */
static enum record find_record(const char *name)
{
	unsigned int i = 0;

	while (i < RECORD_COUNT && strcmp(record_infos[i].name, name) != 0)
		i++;
	return (enum record)i;
}

/*
 * Returns the version of the row in the line: the newest version all of whose members are
 * present. Older programs wrote fewer members.
 */
static uint8_t version_of(const struct import_lines *lines, enum record record)
{
	uint8_t version = record_version(record);

	while (version > 1 && !row_line_holds(&lines->line, record_fields_of(record, version)))
		version--;
	/* If no version matches, the error names the member that the newest version lacks. */
	return row_line_holds(&lines->line, record_fields_of(record, version))
		? version
		: record_version(record);
}

/* Refuses a key that two owners share. */
static enum outcome check_keys(struct archive_import *importing, enum record record)
{
	const struct dealer *dealer = &importing->row.dealer;
	const struct client *client = &importing->row.client;
	char why[ROW_BOUNDS_WHY_SIZE + 2 * CASINO_ID_SIZE];
	struct key_entry shared = {.digest = ""};
	bool added = true;

	if (record == RECORD_DEALER)
		added = key_book_add_keys(&importing->key_book, KEYRING_DEALERS, dealer->casino_id,
			dealer->keys, &shared);
	else if (record == RECORD_CLIENT)
		added = key_book_add_keys(&importing->key_book, KEYRING_CLIENTS, client->client_id,
			client->keys, &shared);
	if (!added)
		return session_no_memory(importing->session);
	if (!shared.digest[0])
		return OUTCOME_DONE;
	snprintf(why, sizeof(why),
		"%s %s has a key of %s %s; add new keys where the file was "
		"exported and retire this one, or export without --with-keys",
		record_infos[record].name,
		record == RECORD_DEALER ? dealer->casino_id : client->client_id,
		shared.of == KEYRING_CLIENTS ? "client" : "dealer", shared.owner);
	return import_lines_bad(&importing->lines, why);
}

/* Refuses a row that no command of the ledger can create. */
static enum outcome check_bounds(struct archive_import *importing, enum record record)
{
	char why[ROW_BOUNDS_WHY_SIZE], name[ROW_BOUNDS_NAME_SIZE];
	char text[ROW_BOUNDS_WHY_SIZE + ROW_BOUNDS_NAME_SIZE + 80];

	if (row_bounds_check(record, &importing->row, importing->head.keys, why))
		return OUTCOME_DONE;
	row_bounds_name(record, &importing->row, name);
	snprintf(text, sizeof(text),
		"%s: %s; correct it where the file was exported, and export again", name, why);
	return import_lines_bad(&importing->lines, text);
}

static enum outcome put_import_row(struct archive_import *importing, enum record record)
{
	struct import_lines *lines = &importing->lines;
	const struct record_info *info = &record_infos[record];
	const struct transaction *transaction = &importing->row.transaction;
	const uint8_t version = version_of(lines, record);
	enum outcome code = import_lines_take(lines, record_fields_of(record, version), info->size,
		&importing->row, importing->head.keys);
	enum status status = STATUS_OK;

	if (code != OUTCOME_DONE)
		return code;
	record_complete(record, version, &importing->row);
	code = check_bounds(importing, record);
	if (code == OUTCOME_DONE && importing->head.keys)
		code = check_keys(importing, record);
	if (code != OUTCOME_DONE)
		return code;
	if (!importing->head.keys)
		drop_keys(importing, record);
	if (record == RECORD_TRANSACTION &&
		transaction->transaction_id > importing->last_transaction_id) {
		importing->last_transaction_id = transaction->transaction_id;
		importing->last_ms = transaction->time_ms;
	}
	++*export_count(&importing->counts, record);
	if (++importing->rows % 4096 == 0)
		importing->progress(importing->progress_context, NULL, importing->rows);
	if (!importing->dry_run)
		status = import_put(&importing->import, record, &importing->row);
	if (status == STATUS_CORRUPT)
		return import_lines_bad(lines, importing->import.why);
	return status ? session_fail_status(importing->session, FAILURE_OF_DATA, status,
				importing->import.why)
		      : OUTCOME_DONE;
}

/* Verifies the last line, which contains the counts and the digest of the preceding lines. */
static enum outcome check_tail(struct archive_import *importing)
{
	struct import_lines *lines = &importing->lines;
	const struct export_tail *tail = &importing->tail;
	char digest[DIGEST_TEXT_SIZE];
	enum outcome code = import_lines_take(lines, export_tail_fields_of(importing->head.schema),
		sizeof(*tail), &importing->tail, true);

	if (code != OUTCOME_DONE)
		return code;
	if (!digest_text(&lines->before, digest))
		return session_no_memory(importing->session);
	if (strcmp(digest, tail->sha256) != 0)
		return import_lines_bad(lines,
			"the SHA-256 is another one: the file is not as it was written");
	if (tail->rows != importing->rows ||
		memcmp(&tail->counts, &importing->counts, sizeof(tail->counts)) != 0)
		return import_lines_bad(lines, "it counts other rows than there are");
	code = import_lines_next(lines);
	if (code == OUTCOME_DONE && !lines->end)
		return import_lines_bad(lines, "something follows the end");
	return code;
}

static enum outcome read_rows(struct archive_import *importing)
{
	struct import_lines *lines = &importing->lines;
	enum record record, before = 0;
	enum outcome code;

	for (;;) {
		code = import_lines_next(lines);
		if (code != OUTCOME_DONE)
			return code;
		if (lines->end)
			return import_lines_bad(lines,
				"the file was cut off: its last line is missing");
		if (strcmp(lines->line.name, EXPORT_TAIL) == 0)
			return check_tail(importing);
		record = find_record(lines->line.name);
		if (record == RECORD_COUNT)
			return import_lines_bad(lines, "it is a record that is not known");
		if (record < before)
			return import_lines_bad(lines, "the records are out of order");
		before = record;
		code = put_import_row(importing, record);
		if (code != OUTCOME_DONE)
			return code;
	}
}

/* Checks the rows like `check`, before a ledger may start with them. */
static enum outcome prove_rows(struct archive_import *importing)
{
	struct session *session = importing->session;
	struct check_found found;
	enum outcome code = archive_prove(session, importing->import.store, &found,
		importing->progress, importing->progress_context);

	if (code != OUTCOME_DONE || !found.problems)
		return code;
	if (found.problems > 1)
		return session_fail(session, OUTCOME_FAILED, "bad_file",
			"%s: the rows do not agree: %s; and %" PRIu64 " more problems; run "
			"`creditbridgectl check` where it was exported",
			importing->lines.path, found.first, found.problems - 1);
	return session_fail(session, OUTCOME_FAILED, "bad_file",
		"%s: the rows do not agree: %s; run `creditbridgectl check` where it was exported",
		importing->lines.path, found.first);
}

static void add_revived(void *context, enum record record, const void *row)
{
	struct archive_import *importing = context;
	struct revived one;

	if (revived_fill(&one, record, row))
		buffer_append(&importing->revived, &one, sizeof(one));
}

static enum outcome complete_import(struct archive_import *importing)
{
	struct import *import = &importing->import;
	char object[OBJECT_SIZE];
	const struct import_options options = {
		.operator= & importing->session->operator,
		.object = object,
		.accept_clock = importing->accept_clock,
		.revived = add_revived,
		.context = importing,
	};
	enum status status;
	enum outcome code;

	if (importing->dry_run)
		return OUTCOME_DONE;
	status = import_settle(import, importing->head.schema);
	if (status == STATUS_CORRUPT)
		return import_lines_bad(&importing->lines, import->why);
	if (status)
		return session_fail_status(importing->session, FAILURE_OF_DATA, status,
			import->why);
	code = prove_rows(importing);
	if (code != OUTCOME_DONE)
		return code;
	snprintf(object, sizeof(object), "installation %s", importing->head.installation);
	status = import_end(import, &options, &importing->life);
	if (status == STATUS_CORRUPT)
		return import_lines_bad(&importing->lines, import->why);
	return status
		? session_fail_status(importing->session, FAILURE_OF_DATA, status, import->why)
		: OUTCOME_DONE;
}

static enum outcome begin_import(struct archive_import *importing)
{
	char random[KEY_SECRET_SIZE], installation[STATE_INSTALLATION_MAX];
	enum status status;

	if (importing->dry_run)
		return OUTCOME_DONE;
	if (!signature_new_secret(random))
		return session_no_random(importing->session);
	text_copy_len(installation, sizeof(installation), random, sizeof(installation) - 1);
	status = import_begin(&importing->import, &importing->session->settings, installation);
	return status ? session_fail_status(importing->session, FAILURE_OF_DATA, status,
				importing->import.why)
		      : OUTCOME_DONE;
}

/* Reads all lines. Call after begin_import(). */
static enum outcome read_all(struct archive_import *importing)
{
	enum outcome code = read_rows(importing);

	if (code == OUTCOME_DONE)
		code = complete_import(importing);
	if (code != OUTCOME_DONE && !importing->dry_run)
		import_abandon(&importing->import);
	if (code == OUTCOME_DONE &&
		(importing->keyless_dealers.failed || importing->keyless_clients.failed))
		return session_no_memory(importing->session);
	return code;
}

enum outcome archive_import_open(struct archive_import *importing, struct session *session,
	const char *path)
{
	memset(importing, 0, sizeof(*importing));
	importing->session = session;
	buffer_init(&importing->keyless_dealers, NAMES_MAX);
	buffer_init(&importing->keyless_clients, NAMES_MAX);
	buffer_init(&importing->revived, SIZE_MAX / 4);
	return import_lines_open(&importing->lines, session, path);
}

enum outcome archive_import_run(struct archive_import *importing)
{
	enum outcome code = read_export_head(importing);

	if (code == OUTCOME_DONE)
		code = begin_import(importing);
	return code == OUTCOME_DONE ? read_all(importing) : code;
}

void archive_import_close(struct archive_import *importing)
{
	import_lines_close(&importing->lines);
	buffer_free(&importing->keyless_dealers);
	buffer_free(&importing->keyless_clients);
	buffer_free(&importing->revived);
	key_book_free(&importing->key_book);
}
