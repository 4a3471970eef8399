/*
 * import - implements `import`: creates the state of a ledger that does not run from an export.
 *
 * The file is read once. The state counts as uninitialised until the last line has been verified.
 * If verification or anything else fails, the state is emptied again.
 */
#include "ledger/offline/import.h"

#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/check.h"
#include "cmd/ctl/export_lines.h"
#include "cmd/ctl/import_lines.h"
#include "cmd/ctl/local.h"
#include "cmd/ctl/offline.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/progress.h"
#include "cmd/ctl/revived.h"
#include "domain/row_bounds.h"
#include "ledger/offline/export.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/rows/life.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX   (1024 * 1024)

/* A row of any kind. */
union any_row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

struct importing {
	struct ctl *ctl;
	bool dry_run;
	struct import_lines lines;
	struct import import;
	struct export_head head;
	struct export_tail tail;
	uint64_t rows;
	struct export_counts counts;
	struct key_book key_book;
	uint64_t last_transaction_id;
	int64_t last_ms;
	struct life_begun life;
	struct output_json keyless; /* lists of dealers and clients that need new keys, and ... */
	bool clients_begun;         /* ... its second list is open */
	struct buffer remedy;       /* ... the commands that create the keys */
	union any_row row;
	struct progress progress;
	struct revived_lists lists;
};

static enum outcome read_head(struct importing *importing)
{
	struct export_head *head = &importing->head;
	enum outcome code = import_lines_next(&importing->lines);

	if (code == OUTCOME_DONE && (importing->lines.end ||
					strcmp(importing->lines.line.name, EXPORT_HEAD) != 0))
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

/* Starts the list of clients, which follows the list of dealers as their rows do. */
static void begin_clients(struct importing *importing)
{
	if (importing->clients_begun)
		return;
	importing->clients_begun = true;
	output_json_list_close(&importing->keyless);
	output_json_list_open(&importing->keyless, "clients");
}

/* Records that @name, one of @what, was imported without keys. */
static void note_keyless(struct importing *importing, const char *what, const char *name)
{
	output_json_item_string(&importing->keyless, name);
	buffer_printf(&importing->remedy, "  creditbridgectl %s key-add %s\n", what, name);
}

/* Removes keys that have no secret. */
static void drop_keys(struct importing *importing, enum record record)
{
	struct dealer *dealer = &importing->row.dealer;
	struct client *client = &importing->row.client;

	if (record == RECORD_DEALER) {
		memset(dealer->keys, 0, sizeof(dealer->keys));
		memset(dealer->signing_key_id, 0, sizeof(dealer->signing_key_id));
		note_keyless(importing, "dealer", dealer->casino_id);
	} else if (record == RECORD_CLIENT) {
		memset(client->keys, 0, sizeof(client->keys));
		if (!client->removed)
			note_keyless(importing, "client", client->client_id);
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
static enum outcome check_keys(struct importing *importing, enum record record)
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
		return ctl_no_memory(importing->ctl);
	if (!shared.digest[0])
		return OUTCOME_DONE;
	snprintf(why, sizeof(why), "%s %s has a key of %s %s; add new keys where the file was "
		"exported and retire this one, or export without --with-keys",
		record_infos[record].name,
		record == RECORD_DEALER ? dealer->casino_id : client->client_id,
		shared.of == KEYRING_CLIENTS ? "client" : "dealer", shared.owner);
	return import_lines_bad(&importing->lines, why);
}

/* Refuses a row that no command of the ledger can create. */
static enum outcome check_bounds(struct importing *importing, enum record record)
{
	char why[ROW_BOUNDS_WHY_SIZE], name[ROW_BOUNDS_NAME_SIZE];
	char text[ROW_BOUNDS_WHY_SIZE + ROW_BOUNDS_NAME_SIZE + 80];

	if (row_bounds_check(record, &importing->row, importing->head.keys, why))
		return OUTCOME_DONE;
	row_bounds_name(record, &importing->row, name);
	snprintf(text, sizeof(text), "%s: %s; correct it where the file was exported, and export again",
		name, why);
	return import_lines_bad(&importing->lines, text);
}

static enum outcome put_row(struct importing *importing, enum record record)
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
		progress_show(&importing->progress, "%" PRIu64 " rows", importing->rows);
	if (!importing->dry_run)
		status = import_put(&importing->import, record, &importing->row);
	if (status == STATUS_CORRUPT)
		return import_lines_bad(lines, importing->import.why);
	return status ? offline_fail(importing->ctl, status, importing->import.why) : OUTCOME_DONE;
}

/* Verifies the last line, which contains the counts and the digest of the preceding lines. */
static enum outcome check_tail(struct importing *importing)
{
	struct import_lines *lines = &importing->lines;
	const struct export_tail *tail = &importing->tail;
	char digest[DIGEST_TEXT_SIZE];
	enum outcome code = import_lines_take(lines, export_tail_fields, sizeof(*tail),
		&importing->tail, true);

	if (code != OUTCOME_DONE)
		return code;
	if (!digest_text(&lines->before, digest))
		return ctl_no_memory(importing->ctl);
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

static enum outcome read_rows(struct importing *importing)
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
		if (record >= RECORD_CLIENT)
			begin_clients(importing);
		before = record;
		code = put_row(importing, record);
		if (code != OUTCOME_DONE)
			return code;
	}
}

/* Checks the rows like `check`, before a ledger may start with them. */
static enum outcome prove(struct importing *importing)
{
	struct import *import = &importing->import;
	struct ctl *ctl = importing->ctl;
	struct check_found found;
	struct local local;
	enum outcome code;

	local_begin(&local, ctl, import->store, import->transaction_counter);
	code = check_prove(ctl, &found);
	local_end(&local, ctl);
	if (code != OUTCOME_DONE || !found.problems)
		return code;
	if (found.problems > 1)
		return ctl_fail(ctl, OUTCOME_FAILED, "bad_file",
			"%s: the rows do not agree: %s; and %" PRIu64 " more problems; run "
			"`creditbridgectl check` where it was exported", importing->lines.path,
			found.first, found.problems - 1);
	return ctl_fail(ctl, OUTCOME_FAILED, "bad_file",
		"%s: the rows do not agree: %s; run `creditbridgectl check` where it was exported",
		importing->lines.path, found.first);
}

static void note_revived(void *context, enum record record, const void *row)
{
	struct importing *importing = context;
	struct revived one;

	if (revived_fill(&one, record, row))
		buffer_append(&importing->lists.revived, &one, sizeof(one));
}

static enum outcome finish(struct importing *importing)
{
	struct import *import = &importing->import;
	char object[OBJECT_SIZE];
	const struct import_options options = {
		.operator = &importing->ctl->session.operator,
		.object = object,
		.accept_clock = importing->ctl->options[OPTION_ACCEPT_CLOCK] != NULL,
		.revived = note_revived,
		.context = importing,
	};
	enum status status;
	enum outcome code;

	if (importing->dry_run)
		return OUTCOME_DONE;
	status = import_settle(import);
	if (status == STATUS_CORRUPT)
		return import_lines_bad(&importing->lines, import->why);
	if (status)
		return offline_fail(importing->ctl, status, import->why);
	code = prove(importing);
	if (code != OUTCOME_DONE)
		return code;
	snprintf(object, sizeof(object), "installation %s", importing->head.installation);
	status = import_end(import, &options, &importing->life);
	if (status == STATUS_CORRUPT)
		return import_lines_bad(&importing->lines, import->why);
	return status ? offline_fail(importing->ctl, status, import->why) : OUTCOME_DONE;
}

static void print_text(struct importing *importing)
{
	char written[32];

	text_time(importing->head.created_ms, written);
	printf("%s: %" PRIu64 " rows of installation %s, written %s\n",
		importing->dry_run ? "The file is whole" : "Imported", importing->rows,
		importing->head.installation, written);
	offline_print_last(importing->last_transaction_id, importing->last_ms,
		importing->life.first_id);
	if (importing->remedy.len)
		printf("No keys are in it. When the ledger runs, and before callbacks are sent, "
		       "give new ones:\n%.*s", (int)importing->remedy.len,
			(const char *)importing->remedy.data);
	if (!importing->dry_run)
		offline_print_steps();
}

static enum outcome tell(struct importing *importing)
{
	struct output_json json;
	enum outcome code = OUTCOME_DONE;

	if (importing->remedy.failed)
		return ctl_no_memory(importing->ctl);
	if (!importing->ctl->json)
		print_text(importing);
	output_json_open(&json, importing->ctl);
	output_json_string(&json, "state_directory", importing->ctl->session.settings.state_directory);
	output_json_bool(&json, "dry_run", importing->dry_run);
	output_json_string(&json, "installation", importing->import.installation);
	output_json_record(&json, "export", export_head_fields, &importing->head);
	output_json_fields(&json, export_tail_fields, &importing->tail);
	output_json_number(&json, "last_transaction_id", importing->last_transaction_id);
	output_json_number(&json, "last_ms", (uint64_t)importing->last_ms);
	output_json_number(&json, "raised_by", importing->life.raised_by);
	output_json_number(&json, "first_id", importing->life.first_id);
	output_json_object(&json, "keys_missing", &importing->keyless);
	if (!importing->dry_run)
		code = revived_show(importing->ctl, &json, &importing->lists);
	return output_json_close(&json) == OUTCOME_DONE ? code : OUTCOME_FAILED;
}

static enum outcome begin(struct importing *importing)
{
	char random[KEY_SECRET_SIZE], installation[STATE_INSTALLATION_MAX];
	enum status status;

	if (importing->dry_run)
		return OUTCOME_DONE;
	if (!signature_new_secret(random))
		return ctl_fail(importing->ctl, OUTCOME_FAILED, "failed", "the kernel gives no "
			"random numbers: allow the system call getrandom, and repeat this");
	text_copy_len(installation, sizeof(installation), random, sizeof(installation) - 1);
	status = import_begin(&importing->import, &importing->ctl->session.settings, installation);
	return status ? offline_fail(importing->ctl, status, importing->import.why) : OUTCOME_DONE;
}

/* Reads all lines. Call after begin(). */
static enum outcome take_all(struct importing *importing)
{
	enum outcome code = read_rows(importing);

	progress_end(&importing->progress);
	if (code == OUTCOME_DONE)
		code = finish(importing);
	if (code != OUTCOME_DONE && !importing->dry_run)
		import_abandon(&importing->import);
	begin_clients(importing);
	output_json_list_close(&importing->keyless);
	return code == OUTCOME_DONE ? tell(importing) : code;
}

/* Runs in the child. */
static enum outcome work(void *context)
{
	struct importing *importing = context;
	enum outcome code;

	/*
	 * The store writes log messages for daemons; this command reports the failure
	 * itself.
	 */
	log_open("creditbridgectl", false, LOG_LEVEL_ERROR);
	buffer_init(&importing->remedy, NAMES_MAX);
	revived_begin(&importing->lists);
	output_json_open(&importing->keyless, importing->ctl);
	output_json_list_open(&importing->keyless, "dealers");
	code = read_head(importing);
	if (code == OUTCOME_DONE)
		code = begin(importing);
	if (code == OUTCOME_DONE)
		code = take_all(importing);
	buffer_free(&importing->keyless.text);
	buffer_free(&importing->remedy);
	revived_end(&importing->lists);
	key_book_free(&importing->key_book);
	return code;
}

enum outcome ctl_import(struct ctl *ctl)
{
	static struct importing importing;
	enum outcome code = session_settings(&ctl->session);

	memset(&importing, 0, sizeof(importing));
	importing.ctl = ctl;
	importing.dry_run = ctl->options[OPTION_DRY_RUN] != NULL;
	/* Open the file before root changes to a user that may not be able to read it. */
	if (code == OUTCOME_DONE)
		code = import_lines_open(&importing.lines, ctl, ctl->args[0]);
	if (code == OUTCOME_DONE && !importing.dry_run)
		code = offline_check_stopped(ctl);
	if (code == OUTCOME_DONE && !importing.dry_run)
		code = offline_become_owner(ctl, true, NULL);
	if (code == OUTCOME_DONE)
		code = offline_run(ctl, work, &importing, "nothing was imported", NULL);
	import_lines_close(&importing.lines);
	return code;
}
