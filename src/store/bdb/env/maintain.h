/*
 * maintain - checkpoints, removal of old logs and measurements, in one thread.
 *
 * A checkpoint in the loop of the ledger would stall every caller until its pages are written. The
 * thread calls the checkpoints, log archive and statistics of libdb. These are safe in parallel to
 * the writer because the environment is opened with DB_THREAD.
 */
#ifndef STORE_BDB_ENV_MAINTAIN_H
#define STORE_BDB_ENV_MAINTAIN_H

#include "domain/records.h"
#include "store/bdb/env/fatal.h"
#include "store/options.h"

#include <db.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

struct bdb_maintain {
	DB_ENV *env;
	struct store_options options; /* its directory is the copy below */
	char directory[PATH_MAX];
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	pthread_mutex_t logs;    /* held while some are removed */
	bool keep_logs;          /* under it: a running backup reads them ... */
	bool needed_log_removed; /* ... and some were removed for lack of space */
	bool started;
	bool stop;                /* under mutex */
	uint64_t last_checkpoint; /* its place in the log, in bytes from the first file on */
	uint32_t next_kib;        /* the next one is made after so much log */
	atomic_uint_fast64_t checkpoints;
	atomic_uint_fast64_t log_bytes;
	atomic_uint_fast64_t table_bytes[RECORD_COUNT];
};

/*
 * Returns the amount of log (KiB) until the next checkpoint. The last one wrote @pages after
 * @log_kib. The result is checkpoint_kib of @options, or less if a checkpoint would write more
 * than checkpoint_pages.
 *
 * A recovery reads, changes and writes the same pages, which takes longer than reading the log. If
 * few pages change again and again, they are written less often. Pages that a small cache wrote
 * before the checkpoint do not count.
 *
 * @kib is the previous result. It is returned again if this checkpoint gives no information. The
 * log of a checkpoint that was due by time may be short, and its pages may belong to the previous
 * checkpoint.
 */
uint32_t maintain_next_kib(const struct store_options *options, uint32_t kib, uint64_t log_kib,
	uint64_t pages);

/* Starts the thread. Returns false if it could not be created. */
bool bdb_maintain_start(struct bdb_maintain *maintain, DB_ENV *env,
	const struct store_options *options);
/*
 * bdb_maintain_keep_logs() stops the removal of logs, except while less than low_water_bytes are
 * free. bdb_maintain_release_logs() ends this and returns false if logs were removed meanwhile.
 */
void bdb_maintain_keep_logs(struct bdb_maintain *maintain);
bool bdb_maintain_release_logs(struct bdb_maintain *maintain);
/* Stops the thread and waits for its end. */
void bdb_maintain_stop(struct bdb_maintain *maintain);

#endif
