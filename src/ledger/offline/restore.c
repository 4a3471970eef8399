#include "ledger/offline/restore.h"

#include "base/text.h"
#include "ledger/offline/offline.h"
#include "state/directory.h"
#include "state/disk.h"
#include "state/halt.h"
#include "store/backup.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ACTION "restore"

static bool pass_audit(void *context, struct bytes key, const void *row)
{
	const struct restore_options *options = context;

	(void)key;
	options->audit(options->audit_context, row);
	return true;
}

/* Passes the restored audit to the caller. */
static enum status walk_audit(struct store *store, const struct restore_options *options, char *why,
	size_t why_size)
{
	const struct store_range range = {.record = RECORD_AUDIT};
	struct restore_options context = *options;
	enum status status =
		options->audit ? store->scan(store, &range, pass_audit, &context) : STATUS_OK;

	if (status)
		snprintf(why, why_size, "cannot read the audit that was restored: %s",
			status_text(status));
	return status;
}

/*
 * Opens the restored data as a ledger does, records the restore in the audit and begins a new
 * life. Sets *refused if the proof found rows that do not agree.
 */
static enum status finish_restore(const struct restore_options *options,
	struct restore_result *result, const char *directory, bool *refused, char *why,
	size_t why_size)
{
	const struct offline_options atrest = {.directory = directory, .keep_logs = true};
	char detail[DETAIL_SIZE];
	const struct offline_deed deed = {
		.operator= options->operator,
		.now = options->now,
		.action = ACTION,
		.object = options->backup,
		.detail = detail,
		.hold = true,
		.complete_to_ms = result->complete_to_ms,
		.revived = options->revived,
		.context = options->rows_context,
		.ledger_number = options->settings->ledger_number,
		.accept_clock = options->accept_clock,
	};
	struct store *store = NULL;
	struct offline_life life;
	enum status status = offline_open(&store, options->settings, &atrest, why, why_size);

	if (status)
		return status;
	status = walk_audit(store, options, why, why_size);
	if (!status && options->prove) {
		status = options->prove(options->prove_context, store, why, why_size);
		*refused = status == STATUS_CORRUPT;
	}
	snprintf(detail, sizeof(detail), "complete_to_ms=%" PRId64 " rolled_forward=%s",
		result->complete_to_ms, result->rolled_forward ? "yes" : "no");
	if (!status) {
		status = offline_begin_life(store, &deed, &life, why, why_size);
		result->last_transaction_id = life.last_transaction_id;
		result->last_ms = life.last_ms;
		result->raised_by = life.begun.raised_by;
		result->first_id = life.begun.first_id;
	}
	store->close(store);
	return status;
}

/* Restores into the prepared state directory. */
static enum status fill_state(const struct restore_options *options, struct store_restore *restore,
	struct restore_result *result, bool *refused, char *why, size_t why_size)
{
	const char *state = options->settings->state_directory;
	struct store_restored restored;
	enum status status = store_restore(restore, &restored, why, why_size);

	text_copy(result->installation, sizeof(result->installation), restored.installation);
	text_copy(result->version, sizeof(result->version), restored.version);
	result->complete_to_ms = restored.complete_to_ms;
	result->tables = restored.tables;
	result->logs = restored.logs;
	result->rolled_forward = restored.rolled_forward;
	result->unreadable = restored.unreadable;
	if (status || options->look_only)
		return status;
	status = finish_restore(options, result, restore->directory, refused, why, why_size);
	if (status)
		return status;
	if (!disk_mark_set(state, DISK_CREATED)) {
		snprintf(why, why_size, "cannot write to %s: %s", state, strerror(errno));
		return STATUS_IO;
	}
	status = state_dir_restored(state, result->installation, why, why_size);
	/* The mark concerned the replaced data or its disk. */
	if (!status)
		halt_clear(options->settings);
	return status;
}

enum status restore_run(const struct restore_options *options, struct restore_result *result,
	char *why, size_t why_size)
{
	char directory[PATH_MAX], ignored[256];
	bool refused = false;
	struct store_restore restore = {
		.backup = options->backup,
		.directory = options->look_only ? NULL : directory,
		.logs = options->logs,
		.cache_mib = options->settings->ledger_cache_mib,
		.progress = options->progress,
		.context = options->context,
	};
	enum status status;
	int lock = -1;

	memset(result, 0, sizeof(*result));
	if ((unsigned int)snprintf(directory, sizeof(directory), "%s/db",
		    options->settings->state_directory) >= sizeof(directory)) {
		snprintf(why, why_size, "the path of state_directory is too long: shorten it");
		return STATUS_CONFIG;
	}
	if (!options->look_only) {
		status =
			state_dir_restore(options->settings->state_directory, &lock, why, why_size);
		if (status)
			return status;
	}
	status = fill_state(options, &restore, result, &refused, why, why_size);
	/* Otherwise all rows and keys would stay, although nothing was restored. */
	if (refused)
		state_dir_abandon(options->settings->state_directory, NULL, ignored,
			sizeof(ignored));
	if (lock >= 0)
		close(lock);
	return status;
}
