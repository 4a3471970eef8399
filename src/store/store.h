/*
 * store - the interface between the ledger's commands and the database.
 *
 * Code above this header does not know the database. A store keeps the row kinds of
 * domain/records.def, loads and saves working sets and reads ranges. Only one thread uses a store.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/status.h"
#include "store/ws.h"

/*
 * The version of the row encoding. Raise it when a change of records.h requires stored rows to
 * change.
 */
#define STORE_SCHEMA 2

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

struct store_figures {
	uint64_t log_bytes;
	uint64_t checkpoints;
	uint64_t table_bytes[RECORD_COUNT]; /* on the disk */
	int64_t backup_ms; /* complete_to_ms of the last backup, but for an export; 0: none */
};

#define BACKUP_ID_SIZE 24
#define BACKUP_WHY_SIZE 512

struct backup_options {
	const char *directory; /* absolute */
	const char *id;        /* of the request, to ask for its progress later */
	bool whole;            /* do not build upon an existing backup */
};

enum backup_state { BACKUP_NONE, BACKUP_RUNNING, BACKUP_DONE, BACKUP_FAILED, BACKUP_STATE_COUNT };

struct backup_progress {
	enum backup_state state; /* no such backup since the store was opened */
	char id[BACKUP_ID_SIZE];
	bool added;         /* only log was added to an existing backup */
	uint64_t bytes;     /* copied so far ... */
	uint64_t bytes_all; /* ... of about this many */
	uint64_t tables;    /* files copied */
	uint64_t logs;
	int64_t begun_ms;
	int64_t ended_ms;
	int64_t complete_to_ms; /* done: it holds every commit that was reported before */
	char why[BACKUP_WHY_SIZE]; /* failed: the reason */
};

struct store {
	/* Loads every row that is WS_WANTED. Returns STATUS_CORRUPT if a row does not decode. */
	enum status (*load)(struct store *store, struct ws *ws);
	/* Saves every dirty row in one durable transaction. */
	enum save_result (*save)(struct store *store, struct ws *ws);
	/* Visits the rows of a range as last saved. */
	enum status (*scan)(struct store *store, const struct store_range *range,
		store_visit *visit, void *context);
	void (*figures)(struct store *store, struct store_figures *figures);
	/*
	 * Starts a backup that runs in parallel and ends by itself. Returns STATUS_OK, STATUS_BUSY
	 * if one is running, or STATUS_NOMEM. NULL: this store has no backup.
	 */
	enum status (*backup)(struct store *store, const struct backup_options *options);
	/* Reports the progress of a recent backup with @id; NULL: of the last one. */
	void (*backup_progress)(struct store *store, const char *id,
		struct backup_progress *progress);
	uint64_t save_us; /* duration of the last save() that was SAVE_OK; 0: unknown */
	/* Writes a checkpoint, closes the store and frees it. */
	void (*close)(struct store *store);
};

#endif
