#include "store/bdb/env/maintain.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "store/bdb/env/env.h"
#include "store/bdb/env/log_prealloc.h"
#include "store/bdb/env/logs.h"
#include "store/bdb/env/writeback.h"
#include "store/figures.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* The interval of checks of the amount of log since the last checkpoint. */
#define LOOK_MS    50
#define ARCHIVE_MS 2000
#define RETRY_MS   1000
/* The least value of checkpoint_kib. */
#define NEXT_KIB_MIN 64
#define MIB          (1024 * 1024)

/*
 * Returns true if old logs must be removed for lack of space. When space becomes low, logs for
 * roll-forward are removed. Logs that a running backup reads are removed when the ledger accepts
 * no more calls. Otherwise a backup whose target hangs would block the ledger for good.
 */
static bool is_short_of_space(const struct bdb_maintain *maintain)
{
	const uint64_t low_water = maintain->options.low_water_bytes;
	struct statvfs vfs;

	return statvfs(maintain->options.directory, &vfs) == 0 &&
		(uint64_t)vfs.f_bavail * vfs.f_frsize <
		(maintain->keep_logs ? low_water : 2 * low_water);
}

/*
 * Deletes the oldest logs that recovery does not need while all logs exceed the size kept for
 * roll-forward. A backup that misses one fails.
 */
static void remove_old_logs(struct bdb_maintain *maintain)
{
	uint64_t keep, sum = store_log_bytes(maintain->options.directory);
	char **unneeded = NULL;
	unsigned int removed = 0;
	struct stat st;
	bool wanting;
	int error = 0;

	pthread_mutex_lock(&maintain->logs);
	wanting = is_short_of_space(maintain);
	keep = wanting ? 0 : (uint64_t)maintain->options.log_keep_mib * MIB;
	if (sum > keep && (wanting || !maintain->keep_logs))
		error = maintain->env->log_archive(maintain->env, &unneeded, DB_ARCH_ABS);
	if (error)
		log_line(LOG_LEVEL_WARNING, "log_archive_failed", "error=\"%s\"",
			db_strerror(error));
	for (char **file = unneeded; file && *file && sum > keep; file++) {
		if (stat(*file, &st) != 0 || unlink(*file) != 0)
			continue;
		sum -= (uint64_t)st.st_size;
		removed++;
	}
	if (removed && wanting && (maintain->options.log_keep_mib || maintain->keep_logs))
		log_line(LOG_LEVEL_WARNING, "logs_removed",
			"files=%u reason=\"short of space: roll-forward begins later\"", removed);
	maintain->needed_log_removed |= removed && maintain->keep_logs;
	pthread_mutex_unlock(&maintain->logs);
	free(unneeded);
	atomic_store(&maintain->log_bytes, sum);
}

void bdb_maintain_keep_logs(struct bdb_maintain *maintain)
{
	pthread_mutex_lock(&maintain->logs);
	/* Only one backup runs at a time. */
	CHECK(!maintain->keep_logs);
	maintain->keep_logs = true;
	maintain->needed_log_removed = false;
	pthread_mutex_unlock(&maintain->logs);
}

bool bdb_maintain_release_logs(struct bdb_maintain *maintain)
{
	bool kept;

	pthread_mutex_lock(&maintain->logs);
	CHECK(maintain->keep_logs);
	maintain->keep_logs = false;
	kept = !maintain->needed_log_removed;
	pthread_mutex_unlock(&maintain->logs);
	return kept;
}

static void measure_tables(struct bdb_maintain *maintain)
{
	char path[PATH_MAX];
	struct stat st;

	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		if ((unsigned int)snprintf(path, sizeof(path), "%s/%s.db", maintain->directory,
			    record_infos[i].name) < sizeof(path) &&
			stat(path, &st) == 0)
			atomic_store(&maintain->table_bytes[i], (uint64_t)st.st_size);
	}
}

uint32_t maintain_next_kib(const struct store_options *options, uint32_t kib, uint64_t log_kib,
	uint64_t pages)
{
	uint64_t next;

	if (!options->checkpoint_pages)
		return options->checkpoint_kib;
	if (log_kib < kib && pages <= options->checkpoint_pages)
		return kib;
	next = log_kib * options->checkpoint_pages / (pages ? pages : 1);
	if (next > options->checkpoint_kib)
		return options->checkpoint_kib;
	return next < NEXT_KIB_MIN ? NEXT_KIB_MIN : (uint32_t)next;
}

/* Counts a checkpoint if libdb wrote one; libdb writes none if nothing is new. */
static void count_checkpoint(struct bdb_maintain *maintain, uint64_t pages)
{
	DB_TXN_STAT *stat = NULL;
	uint64_t last;

	if (maintain->env->txn_stat(maintain->env, &stat, 0) != 0)
		return;
	last = (uint64_t)stat->st_last_ckp.file * BDB_LOG_FILE_SIZE + stat->st_last_ckp.offset;
	free(stat);
	if (last == maintain->last_checkpoint)
		return;
	atomic_fetch_add(&maintain->checkpoints, 1);
	if (maintain->last_checkpoint)
		maintain->next_kib = maintain_next_kib(&maintain->options, maintain->next_kib,
			(last - maintain->last_checkpoint) / 1024, pages);
	maintain->last_checkpoint = last;
}

/*
 * Writes a checkpoint if @kib of log were written since the last. 0: if there is any log, or with
 * DB_FORCE in @flags in any case. Returns false if it failed.
 */
static bool write_checkpoint(struct bdb_maintain *maintain, uint32_t kib, uint32_t flags)
{
	uint64_t pages;
	int error = writeback_checkpoint(maintain->env, kib, flags, &pages);

	if (error)
		log_line(LOG_LEVEL_ERROR, "checkpoint_failed", "error=\"%s\"", db_strerror(error));
	else
		count_checkpoint(maintain, pages);
	return bdb_status(error) == STATUS_OK;
}

/*
 * Frees log when space is low. Recovery needs the log that was written during a checkpoint until
 * the next one, and libdb writes none if nothing is new. If the ledger accepts no calls, that log
 * would stay and use the space needed to continue. Therefore, while space is low, each check
 * writes a new checkpoint if recovery needs more than the last log file. This also applies while
 * calls are accepted.
 */
static bool checkpoint_for_space(struct bdb_maintain *maintain)
{
	uint32_t first, last;
	bool wanting;

	pthread_mutex_lock(&maintain->logs);
	wanting = is_short_of_space(maintain) && logs_needed(maintain->env, &first, &last) &&
		first < last;
	pthread_mutex_unlock(&maintain->logs);
	return wanting && write_checkpoint(maintain, 0, DB_FORCE);
}

/* Sleeps for LOOK_MS or until the thread must stop. Returns true if it must. */
static bool wait_or_stop(struct bdb_maintain *maintain)
{
	struct timespec until;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_mutex_lock(&maintain->mutex);
	if (!maintain->stop)
		pthread_cond_timedwait(&maintain->wake, &maintain->mutex, &until);
	stop = maintain->stop;
	pthread_mutex_unlock(&maintain->mutex);
	return stop;
}

static void *maintain_thread(void *context)
{
	struct bdb_maintain *maintain = context;
	int64_t now, checkpoint_ms = clock_boot_ms(), failed_ms = 0, archive_ms = 0;
	uint64_t last;
	bool due, written;

	measure_tables(maintain);
	while (!wait_or_stop(maintain)) {
		now = clock_boot_ms();
		due = now - checkpoint_ms >= maintain->options.checkpoint_interval_ms;
		/* A checkpoint that fails for lack of space is retried, but not at each check. */
		if (!failed_ms || now - failed_ms >= RETRY_MS) {
			last = maintain->last_checkpoint;
			written = write_checkpoint(maintain, due ? 0 : maintain->next_kib, 0);
			failed_ms = written ? 0 : now;
			/* A checkpoint that failed remains due. */
			if (!failed_ms && (due || maintain->last_checkpoint != last))
				checkpoint_ms = now;
		}
		if (now - archive_ms >= ARCHIVE_MS) {
			remove_old_logs(maintain);
			if (checkpoint_for_space(maintain))
				remove_old_logs(maintain);
			measure_tables(maintain);
			archive_ms = now;
		}
	}
	return NULL;
}

bool bdb_maintain_start(struct bdb_maintain *maintain, DB_ENV *env,
	const struct store_options *options)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;
	int error;

	maintain->env = env;
	maintain->options = *options;
	maintain->options.directory = maintain->directory;
	maintain->next_kib = options->checkpoint_kib;
	if (!text_copy(maintain->directory, sizeof(maintain->directory), options->directory))
		return false;
	maintain->stop = false;
	pthread_mutex_init(&maintain->mutex, NULL);
	pthread_mutex_init(&maintain->logs, NULL);
	/* Use the monotonic clock: a wall clock that is set back would delay checkpoints. */
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&maintain->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* Only the main thread handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&maintain->thread, NULL, maintain_thread, maintain);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	maintain->started = error == 0;
	return maintain->started;
}

void bdb_maintain_stop(struct bdb_maintain *maintain)
{
	if (!maintain->started)
		return;
	pthread_mutex_lock(&maintain->mutex);
	maintain->stop = true;
	pthread_cond_signal(&maintain->wake);
	pthread_mutex_unlock(&maintain->mutex);
	pthread_join(maintain->thread, NULL);
	pthread_mutex_destroy(&maintain->mutex);
	pthread_mutex_destroy(&maintain->logs);
	pthread_cond_destroy(&maintain->wake);
	maintain->started = false;
}
