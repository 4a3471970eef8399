/*
 * restore - makes a backup the state of a ledger that does not run (contract,
 * "Lives of an installation").
 *
 * Each restore begins a new life, because no logs can prove that they are the last ones
 * (ledger/rows/life.h). An interrupted restore leaves a state that no ledger starts on. It can be
 * restored to again.
 */
#ifndef LEDGER_OFFLINE_RESTORE_H
#define LEDGER_OFFLINE_RESTORE_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"
#include "link/verdict.h"

struct store;

struct restore_options {
	const struct settings *settings; /* the restore writes to its state_directory */
	const char *backup;
	const char *logs;  /* directory of later logs; NULL: none */
	bool look_only;    /* only check the backup; restore nothing */
	bool accept_clock; /* accept a clock before the newest row (ledger/rows/life.h) */
	const struct operator* operator; /* for the audit */
	struct moment now;
	/* As of struct offline_deed; NULL: none. */
	void (*revived)(void *context, enum record record, const void *row);
	void *rows_context; /* of revived */
	/* Called for each restored row of the audit, in order; NULL: none. */
	void (*audit)(void *context, const struct audit *row);
	void *audit_context;
	/*
	 * Proves the restored rows before a ledger may start with them. Any other result than STATUS_OK, with
	 * a reason in @why, ends the restore. After STATUS_CORRUPT, which refuses the rows, the state is empty;
	 * after another result it stays as after an interrupted restore. NULL: none.
	 */
	enum status (*prove)(void *context, struct store *store, char *why, size_t why_size);
	void *prove_context;
	void (*progress)(void *context, uint64_t bytes, uint64_t bytes_all); /* NULL: none */
	void *context;
};

struct restore_result {
	char installation[48];
	char version[48];       /* of the creditbridge that wrote the backup */
	int64_t complete_to_ms; /* of the backup, without later logs */
	uint64_t tables;
	uint64_t logs;
	bool rolled_forward;
	uint64_t unreadable; /* bytes at the end of the log that form no whole record */
	/* Not set if the backup was only checked: */
	uint64_t last_transaction_id; /* the last transaction, bet or result in the data, ... */
	int64_t last_ms;              /* ... and its time; 0: it holds none */
	uint64_t raised_by;           /* the increase of the transaction ids to ... */
	uint64_t first_id;            /* ... the first id of the new life, also of events */
};

/*
 * Restores the backup. Returns STATUS_BUSY if a ledger runs on the state or the backup is being
 * written. Otherwise returns the results of store_restore() and state_dir_restore(), with a reason
 * in @why. The store may end the process (store/exit.h).
 */
enum status restore_run(const struct restore_options *options, struct restore_result *result,
	char *why, size_t why_size);

#endif
