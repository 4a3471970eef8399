/*
 * job - the data shared by the parts of a running backup. See backup.h.
 *
 * A function that returns false has written the reason to job->why.
 */
#ifndef STORE_BDB_BACKUP_JOB_H
#define STORE_BDB_BACKUP_JOB_H

#include "store/bdb/backup/backup.h"
#include "store/bdb/backup/manifest.h"

#define BACKUP_CHUNK (1024 * 1024)

struct backup_job {
	struct bdb_backup *backup;
	const struct store_options *options;
	int home;   /* directories: the data, ... */
	int target; /* ... where the backup is, ... */
	int folder; /* ... and the folder in it that is written */
	bool has_old;
	struct manifest old; /* the manifest in the target */
	struct manifest new;
	uint8_t *chunk;    /* BACKUP_CHUNK */
	uint64_t unsynced; /* bytes written but not yet durable */
	uint64_t floor;    /* least free bytes on the file system of the data */
	/* The copy of the log has reached @offset of log file @log. */
	uint32_t log;
	uint64_t offset;
	int log_fd;           /* its copy; -1: not open */
	struct digest digest; /* of the bytes copied so far */
	char why[BACKUP_WHY_SIZE];
};

/* Writes the reason for the failure to job->why. Returns false. */
bool backup_fail(struct backup_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Counts @bytes as copied to @fd. Returns true if the backup may continue. */
bool backup_go_on(struct backup_job *job, int fd, uint64_t bytes);

/* Opens the target directory, checks that it may be used and reads its manifest. */
bool backup_open_target(struct backup_job *job);
/*
 * Returns true if the backup serves an export. Its directory lies in the state directory and is
 * temporary. The caller need not hold the mutex of the backup.
 */
bool backup_is_for_export(const struct backup_job *job);

/* Creates the folder that the old manifest does not use, empty. */
bool backup_new_folder(struct backup_job *job);

/* Opens a file of the data and stores its size in @size. Returns -1 on failure. */
int backup_open_source(struct backup_job *job, const char *name, uint64_t *size);
/* Opens the copy for writing, with O_TRUNC or not. Returns -1 on failure. */
int backup_open_copy(struct backup_job *job, const char *name, int flags);
/* Makes a copy durable, closes it and adds it to the new manifest. */
bool backup_finish_copy(struct backup_job *job, int fd, const char *name, uint64_t bytes,
	const struct digest *digest);
/* Reports that the copy @name cannot be written, with errno. Returns false. */
bool backup_cannot_write(struct backup_job *job, const char *name);

/* Copies every table. */
bool backup_copy_tables(struct backup_job *job);

/*
 * Returns true if the log of the old backup continues in the current log; copying then starts at
 * its end. If false, no reason is written.
 */
bool backup_can_add(struct backup_job *job);

/* Copies the log to its end. */
bool backup_copy_log(struct backup_job *job);

#endif
