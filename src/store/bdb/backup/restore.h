/*
 * restore - makes data from a backup.
 *
 * The restore compares each file with the manifest while it copies it. It then reads every record
 * of the log, and recovery redoes the whole log (DB_RECOVER_FATAL). Later logs of the same
 * environment may be added. The data is then as it was at their end. They must continue the log of
 * the backup: its last file must be the beginning of theirs.
 */
#ifndef STORE_BDB_BACKUP_RESTORE_H
#define STORE_BDB_BACKUP_RESTORE_H

#include "base/status.h"
#include "store/bdb/backup/manifest.h"

struct bdb_restore {
	const char *backup;    /* the directory of the backup; not writable by others */
	const char *directory; /* the new data directory: exists, empty. NULL: only verify */
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
	uint64_t logs;       /* number of log files, later logs included */
	bool rolled_forward; /* later logs were added and redone to their last record */
	uint64_t unreadable; /* bytes at the end of the last log that form no whole record */
};

/*
 * Restores the backup. Returns STATUS_NOT_FOUND if there is no backup, STATUS_CORRUPT if the
 * backup or a log is damaged, and STATUS_BUSY if it is being written. Returns STATUS_CONFIG if a
 * newer creditbridge wrote it, it is open to others, or the logs do not continue it. Also
 * STATUS_FULL, STATUS_IO and STATUS_NOMEM. All failures write a reason to @why. Copied files stay.
 * libdb may end the process (bdb.h).
 */
enum status bdb_restore(const struct bdb_restore *options, struct bdb_restored *restored, char *why,
	size_t why_size);

#endif
