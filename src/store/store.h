/*
 * store - the interface between the ledger's commands and the database.
 *
 * Code above this header does not know the database. A store keeps the row kinds of
 * domain/records.def, loads and saves working sets and reads ranges. Only one thread uses a store.
 * Any function here may end the process when the disk fails (exit.h).
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/status.h"
#include "store/figures.h"
#include "store/claim.h"
#include "store/options.h"
#include "store/ws.h"

/*
 * The version of the row encoding. Raise it when a change of records.h requires stored rows to
 * change.
 */
#define STORE_SCHEMA 6

enum save_result {
	SAVE_OK,    /* durable */
	SAVE_FULL,  /* no space: nothing was changed, the store remains usable */
	SAVE_FAULT, /* an appended row already exists: nothing was changed */
	SAVE_LOST,  /* outcome unknown or the store is broken: the process must end */
};

/* A range of rows of one kind. */
struct store_range {
	enum record record;
	bool reverse;
	struct bytes prefix; /* the packed beginning of the key; empty: all rows */
	struct bytes after;  /* start after this packed key; empty: at the end of the range */
};

/*
 * Called for each row of a range, with its packed key. Returns false to stop. The row is valid
 * only during the call.
 */
typedef bool store_visit(void *context, struct bytes key, const void *row);

struct backup_options;
struct backup_progress;

struct store {
	/* Loads every row that is WS_WANTED. Returns STATUS_CORRUPT if a row does not decode. */
	enum status (*load)(struct store *store, struct ws *ws);
	/* Saves every dirty row in one durable transaction. */
	enum save_result (*save)(struct store *store, struct ws *ws);
	/* Visits the rows of a range as last saved. */
	enum status (*scan)(struct store *store, const struct store_range *range,
		store_visit *visit, void *context);
	/*
	 * Returns which part of the rows of a kind, in millionths, have smaller packed keys than @key. It is an estimate,
	 * and reads few pages. NULL: not known.
	 */
	uint32_t (*part_before)(struct store *store, enum record record, struct bytes key);
	void (*figures)(struct store *store, struct store_figures *figures);
	/*
	 * Starts a backup that runs in parallel and ends by itself. Returns STATUS_OK, STATUS_BUSY
	 * if one is running, or STATUS_NOMEM. See backup.h. NULL: this store has no backup.
	 */
	enum status (*backup)(struct store *store, const struct backup_options *options);
	/* Reports the progress of a recent backup with @id; NULL: of the last one. */
	void (*backup_progress)(struct store *store, const char *id,
		struct backup_progress *progress);
	/*
	 * Proves that no other ledger serves the data: unless a commit that began at most
	 * @oldest_ms ago was acknowledged, makes one without rows. Returns STATUS_OK, or STATUS_IO
	 * as load() does. Rows that were read before it returned were right. NULL: no other ledger
	 * can serve this data.
	 */
	enum status (*vouch)(struct store *store, int64_t oldest_ms);
	int64_t vouched_ms;     /* boot time when the last acknowledged commit began */
	uint32_t read_lease_ms; /* vouch() before an answer that is not of a commit */
	bool lost;              /* a commit had an unknown outcome: every later call fails */
	bool fenced;     /* another ledger claimed the data: this one has served its last answer */
	uint64_t epoch;  /* of the claim, which no other one has; 0: the data is of one host */
	int64_t wall_ms; /* the newest time that an earlier claim wrote; 0: none, or of this host */
	/*
	 * Ends the filling of new data (store_options.fill): from then on a ledger may serve it.
	 * NULL: nothing is to be done.
	 */
	enum status (*filled)(struct store *store);
	uint64_t save_us; /* duration of the last save() that was SAVE_OK; 0: unknown */
	/*
	 * Makes the next start short, closes the store and frees it. Ends the process with
	 * STORE_EXIT_LOST if the target of a backup hangs. If that target hangs in the kernel, as a
	 * hard NFS mount does, the process cannot end until the target responds.
	 */
	void (*close)(struct store *store);
};

/*
 * Opens the store and recovers its data. Returns STATUS_OK, STATUS_FULL if recovery found no space,
 * STATUS_BUSY if options->claim was not the newest (claim.h), or STATUS_CONFIG if a newer schema wrote
 * the data. Also STATUS_IO, STATUS_NOMEM and
 * STATUS_CORRUPT. Each failure has a reason in @why. The caller closes *store with its close().
 */
enum status store_open(const struct store_options *options, struct store **store, char *why,
	size_t why_size);

/*
 * Reads the schema version of the data of @options: older, current or newer. Recovers the data and
 * changes nothing else; store_open() raises an older version. Returns the results of store_open().
 */
enum status store_read_schema(const struct store_options *options, uint64_t *schema, char *why,
	size_t why_size);

#endif
