/*
 * import - writes rows as the state of a ledger that does not run (contract,
 * "Lives of an installation").
 *
 * The state counts as not initialised until import_end(), so no ledger starts on a part of the
 * rows. After an interruption, an import or a restore to the state is possible again.
 *
 * The store may end the process (store/exit.h) in every function here.
 */
#ifndef LEDGER_OFFLINE_IMPORT_H
#define LEDGER_OFFLINE_IMPORT_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"
#include "link/verdict.h"
#include "state/identity.h"

#define IMPORT_WHY_SIZE 512

struct life_begun;
struct store;
struct ws;

struct import {
	const struct settings *settings;
	char installation[STATE_INSTALLATION_MAX]; /* the id that the state has or gets */
	bool initialised;                          /* it was initialised before */
	int lock;
	struct store *store;
	struct ws *ws;
	size_t pending; /* bytes of the rows in ws */
	/* of all rows */
	uint64_t transaction_counter;
	uint64_t event_counter;
	uint64_t audit_counter;
	uint64_t dealers_counter;
	uint64_t last_transaction_id; /* 0: there is none */
	int64_t last_ms;              /* its time */
	uint64_t last_event;
	uint64_t last_audit;
	uint64_t dealers;
	char why[IMPORT_WHY_SIZE]; /* the reason of a failure */
};

/*
 * Begins an import into the state directory. The directory is absent, empty, or initialised
 * without a ledger started on it. @installation is its id if it has none yet (32 hex characters).
 * Returns STATUS_BUSY if a ledger holds it, STATUS_CONFIG if it is not empty, otherwise the
 * results of store_open().
 */
enum status import_begin(struct import *import, const struct settings *settings,
	const char *installation);

/*
 * Adds a row. Returns STATUS_CORRUPT if a row with its key exists or the data disagrees; also
 * STATUS_FULL, STATUS_NOMEM and STATUS_IO.
 */
enum status import_put(struct import *import, enum record record, const void *row);

/*
 * Stores the remaining rows after all were put, and compares the counters with the rows. Computes
 * the sums that an export of an older @schema lacks. Returns STATUS_CORRUPT if the rows disagree.
 * Afterwards import->store has all rows.
 */
enum status import_settle(struct import *import, uint32_t schema);

struct import_options {
	const struct operator* operator; /* for the audit */
	const char *object;              /* likewise */
	bool accept_clock;               /* accept a clock before the newest row */
	/* As of struct offline_deed; NULL: none. */
	void (*revived)(void *context, enum record record, const void *row);
	void *context;
};

/*
 * After all rows were put: begins a new life (ledger/rows/life.h), records the import in the audit
 * and completes the state, so that a ledger can start on it. *life receives the ids of the new
 * life. Returns STATUS_CORRUPT if the rows disagree with the counters. Returns STATUS_CONFIG if
 * the clock of the host cannot be right. After a failure the caller calls import_abandon().
 */
enum status import_end(struct import *import, const struct import_options *options,
	struct life_begun *life);

/* Undoes the import: the state is as it was before. */
void import_abandon(struct import *import);

#endif
