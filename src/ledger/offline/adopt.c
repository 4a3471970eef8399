#include "ledger/offline/adopt.h"

#include "base/text.h"
#include "ledger/offline/offline.h"
#include "state/directory.h"
#include "state/disk.h"
#include "state/halt.h"
#include "state/identity.h"
#include "state/lock.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ACTION "adopt"

static enum status begin_life(const struct adopt_options *options, struct adopt_result *result,
	char *why, size_t why_size)
{
	char directory[PATH_MAX];
	const struct offline_options atrest = {.directory = directory,
		.keep_logs = true,
		.accept_older = options->copied};
	const struct offline_deed deed = {
		.operator= options->operator,
		.now = options->now,
		.action = ACTION,
		.object = options->settings->state_directory,
		.detail = options->copied ? "copied" : "moved",
		.hold = options->copied,
		.revived = options->revived,
		.context = options->rows_context,
		.ledger_number = options->settings->ledger_number,
		.accept_clock = options->accept_clock,
	};
	struct store *store = NULL;
	struct offline_life life;
	enum status status;

	if ((unsigned int)snprintf(directory, sizeof(directory), "%s/db",
		    options->settings->state_directory) >= sizeof(directory)) {
		snprintf(why, why_size, "the path of state_directory is too long: shorten it");
		return STATUS_CONFIG;
	}
	halt_forget_cached(options->settings, directory);
	status = offline_open(&store, options->settings, &atrest, why, why_size);
	if (status)
		return status;
	status = offline_begin_life(store, &deed, &life, why, why_size);
	result->last_transaction_id = life.last_transaction_id;
	result->last_ms = life.last_ms;
	result->raised_by = life.begun.raised_by;
	result->first_id = life.begun.first_id;
	store->close(store);
	return status;
}

enum status adopt_run(const struct adopt_options *options, struct adopt_result *result, char *why,
	size_t why_size)
{
	const char *state = options->settings->state_directory;
	struct state_hold hold;
	enum status status = state_hold_take(&hold, state, NULL, 0, why, why_size);

	memset(result, 0, sizeof(*result));
	result->copied = options->copied;
	if (status)
		return status;
	text_copy(result->installation, sizeof(result->installation), hold.installation);
	/* Without data there are no ids; the first life begins with the first ledger. */
	if (disk_mark_is_set(state, DISK_CREATED))
		status = begin_life(options, result, why, why_size);
	/* Write the identity last: an interrupted adoption must be repeated. */
	if (!status && !state_identity_write(hold.directory, state, hold.installation)) {
		status = status_of_errno(errno);
		snprintf(why, why_size, "cannot write %s/" STATE_IDENTITY ": %s", state,
			status_text(status));
	}
	state_hold_release(&hold);
	return status;
}
