/*
 * backup - backups of a store that is in use, and the making of data from a backup.
 *
 * A backup is started by backup() of struct store (store.h). The other functions work on
 * directories; no store need be open. They may end the process (exit.h).
 */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "base/status.h"
#include "domain/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKUP_ID_SIZE  24
#define BACKUP_WHY_SIZE 512

struct backup_options {
	const char *directory; /* absolute */
	const char *id;        /* of the request, to ask for its progress later */
	bool whole;            /* do not build upon an existing backup */
};

enum backup_state { BACKUP_NONE, BACKUP_RUNNING, BACKUP_DONE, BACKUP_FAILED, BACKUP_STATE_COUNT };

struct backup_progress {
	enum backup_state state; /* BACKUP_NONE: no such backup since the store was opened */
	char id[BACKUP_ID_SIZE];
	bool added;         /* only log was added to an existing backup */
	uint64_t bytes;     /* copied so far ... */
	uint64_t bytes_all; /* ... of about this many */
	uint64_t tables;    /* files copied */
	uint64_t logs;
	int64_t begun_ms;
	int64_t ended_ms;
	int64_t complete_to_ms;    /* done: it holds every commit that was reported before */
	char why[BACKUP_WHY_SIZE]; /* failed: the reason */
};

/*
 * A restore compares each file with the manifest of the backup while it copies the file. It then
 * redoes the whole log. Later logs of the same data may be added. They must continue the log of
 * the backup. The data is then as it was at their end.
 */
struct store_restore {
	const char *backup;    /* the directory of the backup; not writable by others */
	const char *directory; /* the new data directory: exists, empty. NULL: only verify */
	const char *logs;      /* directory of later logs; NULL: none */
	uint32_t cache_mib;
	void (*progress)(void *context, uint64_t bytes, uint64_t bytes_all); /* NULL: none */
	void *context;
};

#define RESTORED_TEXT 48

struct store_restored {
	char version[RESTORED_TEXT];      /* of the creditbridge that wrote the backup */
	char installation[RESTORED_TEXT]; /* "-": none */
	int64_t tables_ms;                /* when the copying of the tables began */
	int64_t complete_to_ms;           /* of the backup, without later logs */
	uint64_t tables;
	uint64_t logs;       /* number of log files, later logs included */
	bool rolled_forward; /* later logs were added and redone to their last record */
	uint64_t unreadable; /* bytes at the end of the last log that form no whole record */
};

/*
 * Restores the backup. Returns STATUS_NOT_FOUND if there is no backup, STATUS_CORRUPT if the
 * backup or a log is damaged, and STATUS_BUSY if it is being written. Returns STATUS_CONFIG if a
 * newer creditbridge wrote it, it is open to others, or the logs do not continue it. Also
 * STATUS_FULL, STATUS_IO and STATUS_NOMEM. All failures write a reason to @why. Copied files stay.
 */
enum status store_restore(const struct store_restore *options, struct store_restored *restored,
	char *why, size_t why_size);

/* Returns true if the data directory @data has a readable table of @record. */
bool store_has_table(const char *data, enum record record);

/*
 * Copies the table of @record and the log from the data directory @from to the empty directory
 * @to. store_open() with store_options.create then recovers that table there. @from stays
 * unchanged; a store may have it open. Damage in other tables of @from does no harm. Returns
 * STATUS_FULL, STATUS_IO or STATUS_NOMEM, with a reason in @why.
 */
enum status store_copy_table(enum record record, const char *from, const char *to, char *why,
	size_t why_size);

#endif
