/*
 * import - rows become the state of a ledger that does not run (api.md, What an operator may
 * change).
 *
 * The state counts as not initialised until import_end(): no ledger starts on a part of the rows.
 * Interrupted, it can be imported or restored to again.
 *
 * libdb may end the process (store/bdb/bdb.h) in every function here.
 */
#ifndef LEDGER_OFFLINE_IMPORT_H
#define LEDGER_OFFLINE_IMPORT_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"
#include "link/verdict.h"
#include "state/directory.h"

#define IMPORT_WHY_SIZE 512

struct life_begun;
struct store;
struct ws;

struct import {
	const struct settings *settings;
	char installation[STATE_INSTALLATION_MAX]; /* that the state has, or gets */
	bool initialised; /* it had it before */
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
	char why[IMPORT_WHY_SIZE]; /* a sentence, when something fails */
};

/*
 * Begins an import into the state directory, which is absent, empty, or was initialised and never
 * started on. @installation: its id, if it has none yet (32 hex characters). STATUS_BUSY: a ledger
 * has it; STATUS_CONFIG: it is not empty. Others as of bdb_open().
 */
enum status import_begin(struct import *import, const struct settings *settings,
	const char *installation);

/*
 * Adds a row. STATUS_CORRUPT: there was one with its key, or what is written disagrees; STATUS_FULL;
 * STATUS_NOMEM; STATUS_IO.
 */
enum status import_put(struct import *import, enum record record, const void *row);

/*
 * All rows were put: stores the last of them, and compares the counters with the rows.
 * STATUS_CORRUPT: they do not agree. import->store has all rows then.
 */
enum status import_settle(struct import *import);

struct import_options {
	const struct operator *operator; /* for the trail */
	const char *object;              /* likewise */
	bool accept_clock;               /* although the clock is before the newest row */
	/* As of struct atrest_deed; NULL: none. */
	void (*revived)(void *context, enum record record, const void *row);
	void *context;
};

/*
 * All rows were put: begins a new life (ledger/rows/life.h), notes the import in the trail and makes the
 * state one that a ledger starts on. *life: the ids of the new life.
 * STATUS_CORRUPT: the rows do not
 * agree with the counters. STATUS_CONFIG: the clock of the host cannot be right. After a failure the
 * import is to be abandoned.
 */
enum status import_end(struct import *import, const struct import_options *options,
	struct life_begun *life);

/* Takes everything back: the state is as it was before. */
void import_abandon(struct import *import);

#endif
