#include "ledger/offline/import.h"

#include "base/directory.h"
#include "base/text.h"
#include "ledger/offline/offline.h"
#include "state/directory.h"
#include "state/disk.h"
#include "state/halt.h"
#include "store/recount.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows are committed when they reach this many bytes. */
#define PENDING_MAX (4u * 1024 * 1024)

static enum status import_fail(struct import *import, enum status status, const char *why)
{
	snprintf(import->why, sizeof(import->why), "%s", why);
	return status;
}

static void name_data(const struct import *import, char directory[SETTINGS_PATH_MAX + 8])
{
	snprintf(directory, SETTINGS_PATH_MAX + 8, "%s/db", import->settings->state_directory);
}

static enum status open_data(struct import *import)
{
	char directory[SETTINGS_PATH_MAX + 8];
	const struct offline_options options = {.directory = directory,
		.create = true,
		.installation = import->installation};

	name_data(import, directory);
	import->ws = ws_new();
	if (!import->ws)
		return import_fail(import, STATUS_NOMEM, "out of memory");
	return offline_open(&import->store, import->settings, &options, import->why,
		sizeof(import->why));
}

enum status import_begin(struct import *import, const struct settings *settings,
	const char *installation)
{
	const char *state = settings->state_directory;
	char ignored[IMPORT_WHY_SIZE];
	enum status status;

	memset(import, 0, sizeof(*import));
	import->settings = settings;
	import->lock = -1;
	import->initialised =
		state_dir_check(state, import->installation, ignored, sizeof(ignored)) == STATUS_OK;
	if (!import->initialised)
		text_copy(import->installation, sizeof(import->installation), installation);
	status = state_dir_restore(state, &import->lock, import->why, sizeof(import->why));
	if (!status)
		status = open_data(import);
	if (status)
		import_abandon(import);
	return status;
}

/* Commits the pending rows. */
static enum status commit_rows(struct import *import)
{
	enum save_result saved = SAVE_FAULT;

	if (!ws_faulty(import->ws))
		saved = import->store->save(import->store, import->ws);
	else
		snprintf(import->why, sizeof(import->why), "%s", import->ws->fault_text);
	ws_reset(import->ws);
	import->pending = 0;
	switch (saved) {
	case SAVE_OK:
		return STATUS_OK;
	case SAVE_FULL:
		return import_fail(import, STATUS_FULL,
			"the disk is full: free space there, then "
			"repeat this");
	case SAVE_FAULT:
		return import->why[0] ? STATUS_CORRUPT
				      : import_fail(import, STATUS_CORRUPT,
						"a row occurs twice in "
						"the file: export it again");
	case SAVE_LOST:
		break;
	}
	return import_fail(import, STATUS_IO,
		"the data cannot be written: see the kernel's log for a "
		"failed disk");
}

static void note_counter(struct import *import, const struct counter *counter)
{
	if (strcmp(counter->name, LIFE_TRANSACTIONS) == 0)
		import->transaction_counter = counter->value;
	else if (strcmp(counter->name, LIFE_EVENTS) == 0)
		import->event_counter = counter->value;
	else if (strcmp(counter->name, "audit") == 0)
		import->audit_counter = counter->value;
	else if (strcmp(counter->name, "dealers") == 0)
		import->dealers_counter = counter->value;
}

static void note_row(struct import *import, enum record record, const void *row)
{
	const struct transaction *transaction = row;
	const struct callback *callback = row;
	const struct audit *audit = row;

	if (record == RECORD_COUNTER)
		note_counter(import, row);
	if (record == RECORD_TRANSACTION &&
		transaction->transaction_id > import->last_transaction_id) {
		import->last_transaction_id = transaction->transaction_id;
		import->last_ms = transaction->time_ms;
	}
	if (record == RECORD_CALLBACK && callback->event > import->last_event)
		import->last_event = callback->event;
	if (record == RECORD_AUDIT && audit->seq > import->last_audit)
		import->last_audit = audit->seq;
	import->dealers += record == RECORD_DEALER;
}

enum status import_put(struct import *import, enum record record, const void *row)
{
	const struct counter *counter = row;

	/* The data already has its own counter. */
	if (record == RECORD_COUNTER && strcmp(counter->name, "schema") == 0)
		return STATUS_OK;
	note_row(import, record, row);
	ws_append(import->ws, record, row);
	import->pending += record_weigh(record, row);
	return import->pending < PENDING_MAX && !ws_faulty(import->ws) ? STATUS_OK
								       : commit_rows(import);
}

/* If a counter is lower than its rows, the ledger would use an id again. */
static enum status check_counters(struct import *import)
{
	if (import->dealers != import->dealers_counter) {
		snprintf(import->why, sizeof(import->why),
			"the counter \"dealers\" is %" PRIu64 ", and there are %" PRIu64 " dealers",
			import->dealers_counter, import->dealers);
		return STATUS_CORRUPT;
	}
	/* Audit rows are never deleted, so the counter is the number of the last one. */
	if (import->last_audit != import->audit_counter) {
		snprintf(import->why, sizeof(import->why),
			"the counter \"audit\" is %" PRIu64
			", and the last row of the audit is number %" PRIu64,
			import->audit_counter, import->last_audit);
		return STATUS_CORRUPT;
	}
	if (import->last_transaction_id <= import->transaction_counter &&
		import->last_event <= import->event_counter)
		return STATUS_OK;
	snprintf(import->why, sizeof(import->why),
		"the counters are below the rows: "
		"transaction %" PRIu64 " of %" PRIu64 ", event %" PRIu64 " of %" PRIu64,
		import->last_transaction_id, import->transaction_counter, import->last_event,
		import->event_counter);
	return STATUS_CORRUPT;
}

static enum status write_trail(struct import *import, const struct import_options *options,
	struct life_begun *life)
{
	const struct offline_deed deed = {
		.operator= options->operator,
		.now = clock_now(),
		.action = "import",
		.object = options->object,
		.detail = "",
		.hold = true,
		.revived = options->revived,
		.context = options->context,
		.ledger_number = import->settings->ledger_number,
		.accept_clock = options->accept_clock,
	};
	struct offline_life begun;
	enum status status =
		offline_begin_life(import->store, &deed, &begun, import->why, sizeof(import->why));

	*life = begun.begun;
	return status;
}

static void close_data(struct import *import)
{
	if (import->store)
		import->store->close(import->store);
	import->store = NULL;
	ws_delete(import->ws);
	import->ws = NULL;
}

enum status import_settle(struct import *import, uint32_t schema)
{
	enum status status = commit_rows(import);

	if (!status && schema < STORE_SCHEMA)
		status = recount(import->store, schema, import->why, sizeof(import->why));
	return status ? status : check_counters(import);
}

enum status import_end(struct import *import, const struct import_options *options,
	struct life_begun *life)
{
	const char *state = import->settings->state_directory;
	char directory[SETTINGS_PATH_MAX + 8];
	enum status status = commit_rows(import);

	name_data(import, directory);
	if (!status)
		status = check_counters(import);
	if (!status)
		status = write_trail(import, options, life);
	if (!status && import->store->filled)
		status = import->store->filled(import->store);
	if (status)
		return status;
	close_data(import);
	if (!directory_sync_path(directory) || !disk_mark_set(state, DISK_CREATED))
		return import_fail(import, STATUS_IO,
			"cannot write to the state directory: see that "
			"its disk has room and is writable");
	status = state_dir_restored(state, import->installation, import->why, sizeof(import->why));
	if (status)
		return status;
	halt_clear(import->settings);
	close(import->lock);
	import->lock = -1;
	return STATUS_OK;
}

void import_abandon(struct import *import)
{
	char ignored[IMPORT_WHY_SIZE];

	close_data(import);
	if (import->lock < 0)
		return;
	state_dir_abandon(import->settings->state_directory,
		import->initialised ? import->installation : NULL, ignored, sizeof(ignored));
	close(import->lock);
	import->lock = -1;
}
