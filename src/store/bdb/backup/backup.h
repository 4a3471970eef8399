/*
 * backup - copies the data to another directory while it is in use, in its own thread.
 *
 * The thread first copies the tables from the disk, then the log from the preceding checkpoint on.
 * Recovery of the copy redoes the changes that the tables lack (Berkeley DB's reference guide, hot
 * backup). The thread verifies the checksum of each page. A page that was being written is read
 * again; a damaged page ends the backup.
 *
 * A second backup into the same directory only adds to its log under three conditions. Both logs
 * belong to one history, no log between them is missing, and replaying costs less than copying the
 * tables again.
 *
 * The directory must be absent or owned by this user and closed to other users. If it is absent,
 * its parent must not be open to others. If it exists, it must be empty or hold a backup of the
 * same installation. It must not lie in the state directory.
 *
 * A failed backup leaves no manifest, or the previous one, whose backup is then still complete. On
 * the file system of the state the backup leaves room for the ledger.
 */
#ifndef STORE_BDB_BACKUP_BACKUP_H
#define STORE_BDB_BACKUP_BACKUP_H

#include "store/backup.h"
#include "store/bdb/env/maintain.h"
#include "store/figures.h"

#include <limits.h>

/* The number of backups remembered besides the last one. */
#define BACKUPS_PAST 16

struct bdb_backup {
	DB_ENV *env;
	struct bdb_maintain *maintain; /* keeps the logs meanwhile; has the options */
	const char *installation;
	pthread_t thread;
	pthread_t before; /* the previous thread, to be joined if ... */
	bool has_before;  /* ... there was one */
	pthread_mutex_t mutex;
	bool started;     /* there is a thread to be joined */
	atomic_bool stop; /* the backup must end */
	char directory[PATH_MAX];
	bool whole;
	struct backup_progress progress;           /* under mutex */
	struct backup_progress past[BACKUPS_PAST]; /* under mutex: earlier backups, a ring */
	unsigned int past_next;
	int64_t complete_to_ms; /* under mutex: of the last backup but for exports */
};

void bdb_backup_init(struct bdb_backup *backup, DB_ENV *env, struct bdb_maintain *maintain,
	const char *installation);
/* Implements backup() of store.h. */
enum status bdb_backup_start(struct bdb_backup *backup, const struct backup_options *options);
void bdb_backup_progress(struct bdb_backup *backup, const char *id,
	struct backup_progress *progress);
void bdb_backup_figures(struct bdb_backup *backup, struct store_figures *figures);
/*
 * Aborts a running backup and waits for its end. Returns false if it hangs because its target
 * hangs.
 */
bool bdb_backup_end(struct bdb_backup *backup);

#endif
