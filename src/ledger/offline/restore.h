/*
 * restore - a backup becomes the state of a ledger that does not run (api.md, What an operator may
 * change).
 *
 * A new life begins, whatever was restored: no logs can prove to be the last ones (ledger/rows/life.h).
 * Interrupted, it leaves a state
 * that no ledger starts on and that can be restored to again.
 */
#ifndef LEDGER_OFFLINE_RESTORE_H
#define LEDGER_OFFLINE_RESTORE_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"
#include "link/verdict.h"

struct restore_options {
	const struct settings *settings;  /* whose state_directory it becomes */
	const char *backup;
	const char *logs; /* directory of later logs; NULL: none */
	bool look_only;   /* the backup is checked, and nothing is restored */
	bool accept_clock; /* although the clock is before the newest row (ledger/rows/life.h) */
	const struct operator *operator;  /* for the trail */
	struct moment now;
	/* As of struct atrest_deed; NULL: none. */
	void (*revived)(void *context, enum record record, const void *row);
	/* Is given each row of the trail that was restored, in their order; NULL: none. */
	void (*audit)(void *context, const struct audit *row);
	void *rows_context; /* of both */
	void (*progress)(void *context, uint64_t bytes, uint64_t bytes_all); /* NULL: none */
	void *context;
};

struct restore_result {
	char installation[48];
	char version[48]; /* that wrote it */
	int64_t complete_to_ms; /* what the backup alone holds */
	uint64_t tables;
	uint64_t logs;
	bool rolled_forward;
	uint64_t unreadable;      /* bytes at the log's end that are no whole record */
	/* Not when it was only looked at: */
	uint64_t last_transaction_id; /* of the last movement, bet or result that it holds, ... */
	int64_t last_ms;              /* ... and its time; 0: it holds none */
	uint64_t raised_by;           /* how far the transaction ids went up, to ... */
	uint64_t first_id;            /* ... the first id of the new life, also of events */
};

/*
 * Restores. STATUS_BUSY: a ledger runs on the state, or the backup is being written. Others as of
 * bdb_restore() and state_dir_restore(), all with a sentence in @why. libdb may end the process
 * (store/bdb/bdb.h).
 */
enum status restore_run(const struct restore_options *options, struct restore_result *result,
	char *why, size_t why_size);

#endif
