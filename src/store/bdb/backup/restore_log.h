/*
 * restore_log - restores the log, and declares the data shared by the parts of a restore. See
 * store/backup.h.
 */
#ifndef STORE_BDB_BACKUP_RESTORE_LOG_H
#define STORE_BDB_BACKUP_RESTORE_LOG_H

#include "store/backup.h"
#include "store/bdb/backup/manifest.h"

#define RESTORE_CHUNK    (1024 * 1024)
#define RESTORE_WHY_SIZE 512

struct restore_job {
	const struct store_restore *options;
	struct store_restored *restored;
	struct manifest manifest;
	int backup;
	int folder;        /* of the backup */
	int target;        /* -1: the backup is only verified */
	uint32_t last_log; /* number of the last log file copied */
	uint8_t *chunk;    /* RESTORE_CHUNK */
	uint64_t bytes;
	uint64_t bytes_all;
	char *why;
	size_t why_size;
};

/* Writes the reason for the failure to job->why. Returns @status. */
enum status restore_fail(struct restore_job *job, enum status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports that @name cannot be written, with errno. */
enum status restore_cannot_write(struct restore_job *job, const char *name);

int restore_open_copy(struct restore_job *job, const char *name);
/* Copies the bytes from @at to @end. @to -1 or @digest NULL: omitted. */
enum status restore_copy(struct restore_job *job, int from, int to, uint64_t at, uint64_t end,
	struct digest *digest, const char *name);

/* Copies the logs that continue the log of the backup. */
enum status restore_copy_logs(struct restore_job *job);

/* Reads every record of the copied log and checks that it ends at the right place. */
enum status restore_read_log(struct restore_job *job);

/* Redoes the whole log. */
enum status restore_recover(struct restore_job *job);

#endif
