/*
 * maintain - checkpoints, removal of old logs and measuring, in a thread of their own.
 *
 * A checkpoint in the ledger's loop would stall every caller for as long as the pages take to be
 * written. Of libdb the thread calls checkpoints, the log's archive and statistics, which are safe
 * beside the writer because the environment is opened with DB_THREAD.
 */
#ifndef STORE_BDB_ENV_MAINTAIN_H
#define STORE_BDB_ENV_MAINTAIN_H

#include "domain/records.h"
#include "store/bdb/env/fatal.h"
#include "store/bdb/env/options.h"

#include <db.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

struct bdb_maintain {
	DB_ENV *env;
	struct bdb_options options; /* its directory is the copy below */
	char directory[PATH_MAX];
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	pthread_mutex_t logs; /* held while some are removed */
	bool keep_logs;       /* under it: a backup reads them ... */
	bool kept_went;       /* ... and for want of space some were removed */
	bool started;
	bool stop; /* under mutex */
	uint64_t last_checkpoint; /* its place in the log, in bytes from the first file on */
	uint32_t next_kib;        /* the next one is made after so much log */
	atomic_uint_fast64_t checkpoints;
	atomic_uint_fast64_t log_bytes;
	atomic_uint_fast64_t table_bytes[RECORD_COUNT];
};

/*
 * After how much log the next checkpoint is to be made, by the one before it, which wrote @pages after
 * @log_kib: checkpoint_kib of @options, or less where it would write more than their checkpoint_pages. A
 * recovery reads, changes and writes as many, which takes longer than the log does: where they are few, since
 * the same ones change again and again, they are written less often. Pages that a small cache gave up before
 * the checkpoint do not count.
 *
 * @kib: what was told the last time. It stays where this one tells nothing: the log of one that came by
 * time may be short, and its pages those of the checkpoint before, which they came too late for.
 */
uint32_t maintain_next_kib(const struct bdb_options *options, uint32_t kib, uint64_t log_kib,
	uint64_t pages);

/* Starts the thread. False: it could not be made. */
bool bdb_maintain_start(struct bdb_maintain *maintain, DB_ENV *env,
	const struct bdb_options *options);
/*
 * From now on no log is removed, unless less than low_water_bytes are free, until they are let go.
 * False: some were removed meanwhile.
 */
void bdb_maintain_keep_logs(struct bdb_maintain *maintain);
bool bdb_maintain_let_logs_go(struct bdb_maintain *maintain);
/* Ends the thread and waits for it. */
void bdb_maintain_stop(struct bdb_maintain *maintain);

#endif
