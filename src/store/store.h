/*
 * store - the seam between the ledger's commands and whatever keeps the rows.
 *
 * Nothing above this header knows which store it is. A store keeps the row kinds of
 * domain/records.def, loads and saves working sets and reads ranges. It is used by one thread.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/status.h"
#include "store/ws.h"

/* Of the rows as they are encoded: raised when records.h changes in a way stored rows must follow. */
#define STORE_SCHEMA 2

enum save_result {
	SAVE_OK,    /* durable */
	SAVE_FULL,  /* no space: nothing was changed, the store goes on */
	SAVE_FAULT, /* an appended row exists already: nothing was changed, the store goes on */
	SAVE_LOST,  /* outcome unknown, or the store is broken: the process has to end */
};

/* A range of rows of one kind. */
struct store_range {
	enum record record;
	bool reverse;
	struct bytes prefix; /* the packed beginning of the key; empty: all rows */
	struct bytes after;  /* begin behind this packed key; empty: from the range's end */
};

/*
 * Is given each row of a range, with its packed key. Returns false to stop. The row is valid
 * during the call only.
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
	const char *id;        /* of the request: tells whose progress is told */
	bool whole;            /* nothing of a backup that is there is built upon */
};

enum backup_state { BACKUP_NONE, BACKUP_RUNNING, BACKUP_DONE, BACKUP_FAILED, BACKUP_STATE_COUNT };

struct backup_progress {
	enum backup_state state; /* BACKUP_NONE: it was not begun since the store was opened */
	char id[BACKUP_ID_SIZE];
	bool added;         /* only log was added to the backup that was there */
	uint64_t bytes;     /* copied so far ... */
	uint64_t bytes_all; /* ... of about so many */
	uint64_t tables;    /* files copied */
	uint64_t logs;
	int64_t begun_ms;
	int64_t ended_ms;
	int64_t complete_to_ms; /* done: it holds every commit that was reported before */
	char why[BACKUP_WHY_SIZE]; /* failed: a sentence */
};

struct store {
	/* Loads every row that is WS_WANTED. STATUS_CORRUPT: a row does not decode. */
	enum status (*load)(struct store *store, struct ws *ws);
	/* Saves every dirty row in one durable transaction. */
	enum save_result (*save)(struct store *store, struct ws *ws);
	/* Visits the rows of a range as they were last saved. */
	enum status (*scan)(struct store *store, const struct store_range *range,
		store_visit *visit, void *context);
	void (*figures)(struct store *store, struct store_figures *figures);
	/*
	 * Begins a backup beside all other work; it ends by itself. STATUS_OK; STATUS_BUSY: one is
	 * under way; STATUS_NOMEM. NULL: this store has no backup.
	 */
	enum status (*backup)(struct store *store, const struct backup_options *options);
	/* Of the backup that was begun with @id, one of the last few; NULL: of the last one. */
	void (*backup_progress)(struct store *store, const char *id,
		struct backup_progress *progress);
	uint64_t save_us; /* what the last save() that was SAVE_OK took; 0: it does not tell */
	/* Ends the store: checkpoint, close, free. */
	void (*close)(struct store *store);
};

#endif
