/*
 * backup - copies the data to another directory while it is in use, in a thread of its own.
 *
 * The tables are copied as they lie on the disk, then the log from the checkpoint before on: so
 * recovery of the copy redoes what the tables lack (Berkeley DB's reference guide, hot backup).
 * Each page's checksum is looked at: one that was being written is read again, one that is damaged
 * ends the backup. A second backup into the same directory only adds to its log, as long as both
 * logs are of one history, none is missing between them and replaying it costs less than copying
 * the tables again.
 *
 * What a directory must be: absent (its parent is not open to others), or this user's, closed to
 * everybody else, and empty or holding a backup of the same installation. It may not lie in the
 * state. A backup that fails leaves no manifest, or the one of the backup before, which then is
 * whole still. On the file system of the state itself it leaves room for the ledger.
 */
#ifndef STORE_BDB_BACKUP_BACKUP_H
#define STORE_BDB_BACKUP_BACKUP_H

#include "store/bdb/env/maintain.h"
#include "store/store.h"

#include <limits.h>

/* How many backups are remembered beside the last. */
#define BACKUPS_PAST 16

struct bdb_backup {
	DB_ENV *env;
	struct bdb_maintain *maintain; /* keeps the logs meanwhile; has the options */
	const char *installation;
	pthread_t thread;
	pthread_t before;        /* the thread's to be joined, if ... */
	bool has_before;         /* ... there was one */
	pthread_mutex_t mutex;
	bool started;            /* there is a thread to be joined */
	atomic_bool stop;        /* it is to end */
	char directory[PATH_MAX];
	bool whole;
	struct backup_progress progress; /* under mutex */
	struct backup_progress past[BACKUPS_PAST]; /* likewise: of those before, round and round */
	unsigned int past_next;
	int64_t complete_to_ms;          /* likewise: of the last one to stay that was done */
};

void bdb_backup_init(struct bdb_backup *backup, DB_ENV *env, struct bdb_maintain *maintain,
	const char *installation);
/* As store.h's backup(). */
enum status bdb_backup_start(struct bdb_backup *backup, const struct backup_options *options);
void bdb_backup_progress(struct bdb_backup *backup, const char *id,
	struct backup_progress *progress);
void bdb_backup_figures(struct bdb_backup *backup, struct store_figures *figures);
/* Ends what is under way, unfinished, and waits for it. False: its target hangs, and so does it. */
bool bdb_backup_end(struct bdb_backup *backup);

#endif
