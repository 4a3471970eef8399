/*
 * job - what the parts of a backup under way share. See backup.h.
 *
 * A function that returns false has said why in job->why.
 */
#ifndef STORE_BDB_BACKUP_JOB_H
#define STORE_BDB_BACKUP_JOB_H

#include "store/bdb/backup/backup.h"
#include "store/bdb/backup/manifest.h"

#define BACKUP_CHUNK (1024 * 1024)

struct backup_job {
	struct bdb_backup *backup;
	const struct bdb_options *options;
	int home;   /* directories: the data, ... */
	int target; /* ... where the backup is, ... */
	int folder; /* ... and the folder in it that is written */
	bool has_old;
	struct manifest old; /* as it is there */
	struct manifest new;
	uint8_t *chunk;    /* BACKUP_CHUNK */
	uint64_t unsynced; /* bytes written and not made durable */
	uint64_t floor;    /* of free bytes where the data is */
	/* The copying of the log stands at @offset of log file @log. */
	uint32_t log;
	uint64_t offset;
	int log_fd; /* its copy; -1: not open */
	struct digest digest; /* of what was copied of it */
	char why[BACKUP_WHY_SIZE];
};

/* Says why the backup cannot go on. Returns false. */
bool backup_fail(struct backup_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True: nothing stands against going on. Counts @bytes as copied to @fd. */
bool backup_go_on(struct backup_job *job, int fd, uint64_t bytes);

/* Opens what the backup is written to and checks that it may be; reads the manifest there. */
bool backup_open_target(struct backup_job *job);
/*
 * What is to be exported is kept in the state directory while that goes on: no backup to stay. The
 * mutex of the backup need not be held.
 */
bool backup_is_for_export(const struct backup_job *job);

/* Makes the folder that is not the old manifest's, empty. */
bool backup_new_folder(struct backup_job *job);

/* Opens a file of the data and tells its size. -1: it cannot be. */
int backup_open_source(struct backup_job *job, const char *name, uint64_t *size);
/* Opens its copy for writing, with O_TRUNC or not. -1: it cannot be. */
int backup_open_copy(struct backup_job *job, const char *name, int flags);
/* Makes a copy durable, closes it and adds it to the new manifest. */
bool backup_finish_copy(struct backup_job *job, int fd, const char *name, uint64_t bytes,
	const struct digest *digest);
/* Says that the copy @name cannot be written, because of errno. Returns false. */
bool backup_cannot_write(struct backup_job *job, const char *name);

/* Copies every table. */
bool backup_copy_tables(struct backup_job *job);

/*
 * Tells whether the old backup can be built upon: its log continues in ours. Then the copying of
 * the log stands at its end. False: it cannot; no reason is given.
 */
bool backup_can_add(struct backup_job *job);

/* Copies the log to its end. */
bool backup_copy_log(struct backup_job *job);

#endif
