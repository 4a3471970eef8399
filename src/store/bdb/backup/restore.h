/*
 * restore - a backup becomes data again.
 *
 * Every file is compared with the manifest while it is copied, every record of the log is read, and
 * then recovery redoes the whole log (DB_RECOVER_FATAL). Later logs, of the environment that the
 * backup was taken from, may follow: then the data is as it was when they ended. They must continue
 * the backup's log: the last file of that is the beginning of theirs.
 */
#ifndef STORE_BDB_BACKUP_RESTORE_H
#define STORE_BDB_BACKUP_RESTORE_H

#include "base/status.h"
#include "store/bdb/backup/manifest.h"

struct bdb_restore {
	const char *backup;    /* the directory of the backup; closed to writing by others */
	const char *directory; /* where the data shall be: there, and empty. NULL: only look */
	const char *logs;      /* directory of later logs; NULL: none */
	uint32_t cache_mib;
	void (*progress)(void *context, uint64_t bytes, uint64_t bytes_all); /* NULL: none */
	void *context;
};

struct bdb_restored {
	char version[MANIFEST_TEXT];
	char installation[MANIFEST_TEXT];
	int64_t tables_ms;
	int64_t complete_to_ms;
	uint64_t tables;
	uint64_t logs;       /* files, with those that followed */
	bool rolled_forward; /* later logs followed, and each record to their end was redone */
	uint64_t unreadable; /* bytes at the end of the last log that are no whole record */
};

/*
 * Restores. STATUS_NOT_FOUND: there is no backup. STATUS_CORRUPT: it, or a log, is damaged.
 * STATUS_CONFIG: a newer creditbridge wrote it, it is open to others, or the logs do not follow it.
 * STATUS_BUSY: it is being written. STATUS_FULL, STATUS_IO, STATUS_NOMEM. All with a sentence in
 * @why. What was copied by then stays. libdb may end the process (bdb.h).
 */
enum status bdb_restore(const struct bdb_restore *options, struct bdb_restored *restored, char *why,
	size_t why_size);

#endif
