#include "store/bdb/backup/backup.h"

#include "base/clock.h"
#include "base/directory.h"
#include "base/log.h"
#include "base/text.h"
#include "store/bdb/backup/job.h"
#include "store/bdb/env/files.h"
#include "store/bdb/env/logs.h"
#include "store/bdb/env/writeback.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/*
 * Written data is made durable in pieces of this size, so that commits of the ledger do not wait
 * for more.
 */
#define SYNC_BYTES (8 * 1024 * 1024)
/* The most time to notice a stop request; the thread checks after each piece that it writes. */
#define END_WAIT_S 5
/* The thread yields to the ledger's loop. */
#define NICENESS 10
/* In the data's directory: to when the last backup is complete, in ms since 1970. */
#define LAST_BACKUP      "last_backup"
#define LAST_BACKUP_SIZE 24

/* Returns the time to which the last backup is complete; 0 if there was none. */
static int64_t read_last_backup(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[LAST_BACKUP_SIZE];
	int64_t ms = 0;

	if (fd < 0)
		return 0;
	if (directory_get_file(fd, LAST_BACKUP, text, sizeof(text)))
		ms = strtoll(text, NULL, 10);
	close(fd);
	return ms > 0 ? ms : 0;
}

/* Saves the time for later engines. A failure to save does not fail the backup. */
static void save_last_backup(const struct backup_job *job, int64_t ms)
{
	char text[LAST_BACKUP_SIZE];

	snprintf(text, sizeof(text), "%" PRId64 "\n", ms);
	if (!directory_put_file(job->home, LAST_BACKUP, text))
		log_line(LOG_LEVEL_WARNING, "backup_not_noted",
			"file=%s/" LAST_BACKUP " error=\"%s\"", store_name(job->options),
			strerror(errno));
}

void bdb_backup_init(struct bdb_backup *backup, DB_ENV *env, struct bdb_maintain *maintain,
	const char *installation)
{
	memset(backup, 0, sizeof(*backup));
	backup->env = env;
	backup->maintain = maintain;
	backup->installation = installation;
	backup->complete_to_ms = read_last_backup(maintain->options.directory);
	pthread_mutex_init(&backup->mutex, NULL);
}

bool backup_fail(struct backup_job *job, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(job->why, sizeof(job->why), format, args);
	va_end(args);
	return false;
}

bool backup_go_on(struct backup_job *job, int fd, uint64_t bytes)
{
	struct bdb_backup *backup = job->backup;

	pthread_mutex_lock(&backup->mutex);
	backup->progress.bytes += bytes;
	pthread_mutex_unlock(&backup->mutex);
	if (atomic_load(&backup->stop))
		return backup_fail(job,
			"the ledger was stopped meanwhile: start it, and "
			"repeat the backup");
	job->unsynced += bytes;
	if (job->unsynced < SYNC_BYTES)
		return true;
	job->unsynced = 0;
	if (fdatasync(fd) < 0)
		return backup_fail(job, "cannot write the backup: %s", strerror(errno));
	/* Logs that are not removed during the backup need space, too. */
	if (files_free_bytes(job->home) < job->floor)
		return backup_fail(job,
			"the ledger's own file system is short of space: free "
			"space below state_directory, then repeat the backup");
	return true;
}

/* Starts a backup with the tables. The removal of logs is stopped by now. */
static bool copy_tables_anew(struct backup_job *job)
{
	uint64_t pages;
	uint32_t last;

	job->new.tables_ms = (uint64_t)clock_wall_ms();
	/* A checkpoint reduces the log to copy and redo. If it fails, more log is copied. */
	writeback_checkpoint(job->backup->env, 0, 0, &pages);
	if (!logs_needed(job->backup->env, &job->log, &last))
		return backup_fail(job, "cannot find which logs the backup needs");
	job->new.first_log = job->log;
	return backup_new_folder(job) && backup_copy_tables(job);
}

static bool write_manifest(struct backup_job *job)
{
	char why[BACKUP_WHY_SIZE];

	text_copy(job->new.version, sizeof(job->new.version), PACKAGE_VERSION);
	text_copy(job->new.installation, sizeof(job->new.installation), job->backup->installation);
	job->new.schema = STORE_SCHEMA;
	if (!directory_sync(job->folder))
		return backup_fail(job, "cannot write the backup: %s", strerror(errno));
	return manifest_write(&job->new, job->target, why, sizeof(why)) ||
		backup_fail(job, "%s", why);
}

/* Deletes the folder that no manifest names. */
static void remove_leftovers(struct backup_job *job, bool done)
{
	const char *keep = done ? job->new.folder : job->has_old ? job->old.folder : "";

	for (size_t i = 0; i < 2; i++) {
		if (strcmp(manifest_folders[i], keep) != 0)
			files_remove_folder(job->target, manifest_folders[i]);
	}
}

static bool copy_tables_and_log(struct backup_job *job)
{
	struct bdb_backup *backup = job->backup;
	bool added = !backup->whole && backup_can_add(job);

	pthread_mutex_lock(&backup->mutex);
	backup->progress.added = added;
	pthread_mutex_unlock(&backup->mutex);
	return (added || copy_tables_anew(job)) && backup_copy_log(job) && write_manifest(job);
}

static void close_job(struct backup_job *job)
{
	const int fds[] = {job->log_fd, job->folder, job->target, job->home};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	digest_end(&job->digest);
	manifest_free(&job->old);
	manifest_free(&job->new);
	free(job->chunk);
}

static void report_end(struct backup_job *job, bool done)
{
	struct bdb_backup *backup = job->backup;
	struct backup_progress *progress = &backup->progress;
	const bool stays = done && !backup_is_for_export(job);

	if (stays)
		save_last_backup(job, (int64_t)job->new.complete_to_ms);
	pthread_mutex_lock(&backup->mutex);
	progress->ended_ms = clock_wall_ms();
	if (done)
		progress->complete_to_ms = (int64_t)job->new.complete_to_ms;
	else
		text_copy(progress->why, sizeof(progress->why), job->why);
	progress->state = done ? BACKUP_DONE : BACKUP_FAILED;
	if (stays)
		backup->complete_to_ms = progress->complete_to_ms;
	if (done)
		log_line(LOG_LEVEL_INFO, "backup_done", "directory=%s added=%d bytes=%" PRIu64,
			backup->directory, progress->added, progress->bytes);
	else
		log_line(LOG_LEVEL_ERROR, "backup_failed", "directory=%s reason=\"%s\"",
			backup->directory, job->why);
	pthread_mutex_unlock(&backup->mutex);
}

static void *backup_thread(void *context)
{
	struct bdb_backup *backup = context;
	struct backup_job job = {
		.backup = backup,
		.options = &backup->maintain->options,
		.target = -1,
		.folder = -1,
		.log_fd = -1,
	};
	bool opened = false, done = false;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
	/* The previous backup may still be deleting files. */
	if (backup->has_before)
		pthread_join(backup->before, NULL);
	job.home = open(job.options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	job.chunk = malloc(BACKUP_CHUNK);
	if (job.home < 0 || !job.chunk) {
		backup_fail(&job, "cannot read %s: %s", store_name(job.options), strerror(errno));
	} else if (backup_open_target(&job)) {
		bdb_maintain_keep_logs(backup->maintain);
		done = copy_tables_and_log(&job);
		if (!bdb_maintain_release_logs(backup->maintain) && !done)
			backup_fail(&job,
				"the ledger ran short of space and removed logs that "
				"the backup needs: free space below state_directory, then "
				"repeat it");
		opened = true;
		/* A backup that is reported as done may be restored at once. */
		flock(job.target, LOCK_UN);
	}
	report_end(&job, done);
	/* This can take long. No manifest names the deleted files. */
	if (opened)
		remove_leftovers(&job, done);
	close_job(&job);
	return NULL;
}

enum status bdb_backup_start(struct bdb_backup *backup, const struct backup_options *options)
{
	struct backup_progress progress;
	sigset_t all, before;
	int error;

	bdb_backup_progress(backup, NULL, &progress);
	if (progress.state == BACKUP_RUNNING)
		return STATUS_BUSY;
	if (!text_copy(backup->directory, sizeof(backup->directory), options->directory))
		return STATUS_NOMEM;
	backup->whole = options->whole;
	atomic_store(&backup->stop, false);
	memset(&progress, 0, sizeof(progress));
	progress.state = BACKUP_RUNNING;
	progress.begun_ms = clock_wall_ms();
	text_copy(progress.id, sizeof(progress.id), options->id);
	pthread_mutex_lock(&backup->mutex);
	backup->past[backup->past_next++ % BACKUPS_PAST] = backup->progress;
	backup->progress = progress;
	pthread_mutex_unlock(&backup->mutex);
	log_line(LOG_LEVEL_INFO, "backup_begun", "directory=%s", backup->directory);
	backup->before = backup->thread;
	backup->has_before = backup->started;
	/* Only the main thread handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&backup->thread, NULL, backup_thread, backup);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error) {
		backup->started = true;
		return STATUS_OK;
	}
	backup->thread = backup->before;
	backup->progress.state = BACKUP_FAILED;
	return STATUS_NOMEM;
}

void bdb_backup_progress(struct bdb_backup *backup, const char *id,
	struct backup_progress *progress)
{
	const struct backup_progress *found = &backup->progress;

	pthread_mutex_lock(&backup->mutex);
	for (unsigned int i = 0; id && i < BACKUPS_PAST && strcmp(found->id, id) != 0; i++)
		found = &backup->past[i];
	if (!id || strcmp(found->id, id) == 0)
		*progress = *found;
	else
		memset(progress, 0, sizeof(*progress));
	pthread_mutex_unlock(&backup->mutex);
}

void bdb_backup_figures(struct bdb_backup *backup, struct store_figures *figures)
{
	pthread_mutex_lock(&backup->mutex);
	figures->backup_ms = backup->complete_to_ms;
	pthread_mutex_unlock(&backup->mutex);
}

bool bdb_backup_end(struct bdb_backup *backup)
{
	struct timespec until;

	if (!backup->started)
		return true;
	atomic_store(&backup->stop, true);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_WAIT_S;
	if (pthread_clockjoin_np(backup->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return false;
	backup->started = false;
	return true;
}
