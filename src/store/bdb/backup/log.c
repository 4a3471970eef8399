/* log - copies the log, or the rest of the log, into a backup. */
#include "store/bdb/backup/job.h"

#include "base/clock.h"
#include "base/text.h"
#include "store/bdb/env/files.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copy the log again if more than this was added meanwhile, at most this many times. */
#define LOG_REST   (256 * 1024)
#define LOG_PASSES 20
/*
 * If there is this much more log than tables, copy the tables again: replaying would not be
 * faster.
 */
#define LOG_SPARE (256 * 1024 * 1024)

/* Finds the end of the log on the disk. Everything before it stays unchanged. */
static bool find_log_end(struct backup_job *job, DB_LSN *end)
{
	DB_ENV *env = job->backup->env;
	DB_LOG_STAT *stat = NULL;
	int error = env->log_stat(env, &stat, 0);

	if (!error) {
		*end = (DB_LSN){stat->st_cur_file, stat->st_cur_offset};
		free(stat);
		error = env->log_flush(env, NULL);
	}
	return !error || backup_fail(job, "cannot read the log: %s", db_strerror(error));
}

/* Copies log file job->log from job->offset to @end. */
static bool copy_log_range(struct backup_job *job, int from, const char *name, uint64_t end)
{
	ssize_t len;

	while (job->offset < end) {
		uint64_t left = end - job->offset;

		len = files_read(from, job->chunk, left < BACKUP_CHUNK ? left : BACKUP_CHUNK,
			job->offset);
		if (len <= 0)
			return backup_fail(job, "cannot read %s/%s: %s", store_name(job->options),
				name, len ? strerror(errno) : "it ends too early");
		if (!files_write(job->log_fd, job->chunk, (size_t)len, job->offset))
			return backup_cannot_write(job, name);
		digest_add(&job->digest, job->chunk, (size_t)len);
		job->offset += (uint64_t)len;
		if (!backup_go_on(job, job->log_fd, (uint64_t)len))
			return false;
	}
	return true;
}

/* Copies log file job->log up to @end. 0: to the end of the file. */
static bool copy_log_file(struct backup_job *job, uint64_t end)
{
	char name[FILES_LOG_NAME_SIZE];
	uint64_t size;
	bool done;
	int from;

	files_log_name(job->log, name);
	from = backup_open_source(job, name, &size);
	if (from < 0)
		return false;
	if (job->log_fd < 0)
		job->log_fd = backup_open_copy(job, name, job->offset ? 0 : O_TRUNC);
	if (!job->digest.handle)
		digest_begin(&job->digest);
	done = job->log_fd >= 0 && copy_log_range(job, from, name, end ? end : size);
	close(from);
	return done;
}

/* Makes the copy of log file job->log durable and adds it to the new manifest. */
static bool finish_log_file(struct backup_job *job)
{
	char name[FILES_LOG_NAME_SIZE];
	int fd = job->log_fd;

	files_log_name(job->log, name);
	job->log_fd = -1;
	if (!backup_finish_copy(job, fd, name, job->offset, &job->digest))
		return false;
	digest_end(&job->digest);
	pthread_mutex_lock(&job->backup->mutex);
	job->backup->progress.logs++;
	pthread_mutex_unlock(&job->backup->mutex);
	return true;
}

/* Copies from the current position to the present end of the log. */
static bool copy_log_to_end(struct backup_job *job, uint64_t *copied)
{
	uint64_t stood = job->offset;
	int64_t now_ms = clock_wall_ms();
	DB_LSN end = {0, 0};

	*copied = 0;
	if (!find_log_end(job, &end))
		return false;
	for (; job->log < end.file; job->log++) {
		if (!copy_log_file(job, 0))
			return false;
		*copied += job->offset - stood;
		if (!finish_log_file(job))
			return false;
		job->offset = stood = 0;
	}
	if (!copy_log_file(job, end.offset))
		return false;
	*copied += job->offset - stood;
	job->new.complete_to_ms = (uint64_t)now_ms;
	job->new.last_log = end.file;
	job->new.last_offset = end.offset;
	return true;
}

bool backup_copy_log(struct backup_job *job)
{
	uint64_t copied = UINT64_MAX;

	for (unsigned int pass = 0; pass < LOG_PASSES && copied > LOG_REST; pass++) {
		if (!copy_log_to_end(job, &copied))
			return false;
	}
	return finish_log_file(job);
}

/* Returns true if all files of the old backup exist and are long enough. */
static bool old_files_exist(struct backup_job *job)
{
	struct stat st;

	for (uint64_t i = 0; i < job->old.file_count; i++) {
		const struct manifest_file *file = &job->old.files[i];

		if (fstatat(job->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(st.st_mode) || (uint64_t)st.st_size < file->bytes)
			return false;
	}
	return true;
}

/*
 * Returns true if the last log file of the old backup is the beginning of the current one. Both
 * then belong to one history, because a record holds times and transaction numbers that no other
 * history has. The digest continues from there.
 */
static bool old_log_continues(struct backup_job *job, const struct manifest_file *last)
{
	char digest[DIGEST_TEXT_SIZE];
	uint64_t at = 0, left;
	ssize_t len = 1;
	int fd = openat(job->home, last->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool same;

	if (fd < 0)
		return false;
	digest_begin(&job->digest);
	for (; at < last->bytes && len > 0; at += (uint64_t)len) {
		left = last->bytes - at;
		len = files_read(fd, job->chunk, left < BACKUP_CHUNK ? left : BACKUP_CHUNK, at);
		if (len > 0)
			digest_add(&job->digest, job->chunk, (size_t)len);
	}
	close(fd);
	same = len > 0 && digest_text(&job->digest, digest) && strcmp(digest, last->digest) == 0;
	if (!same)
		digest_end(&job->digest);
	return same;
}

/* Copies the old manifest to the new one, except for its last log file, which is longer now. */
static bool adopt_manifest(struct backup_job *job)
{
	const struct manifest *old = &job->old;

	text_copy(job->new.folder, sizeof(job->new.folder), old->folder);
	job->new.tables_ms = old->tables_ms;
	job->new.first_log = old->first_log;
	for (uint64_t i = 0; i + 1 < old->file_count; i++) {
		if (!manifest_add(&job->new, old->files[i].name, old->files[i].bytes,
			    old->files[i].digest))
			return false;
	}
	job->log = (uint32_t)old->last_log;
	job->offset = old->last_offset;
	return true;
}

bool backup_can_add(struct backup_job *job)
{
	const struct manifest *old = &job->old;

	if (!job->has_old || old->schema != STORE_SCHEMA ||
		manifest_bytes(old, true) > manifest_bytes(old, false) + LOG_SPARE)
		return false;
	job->folder =
		openat(job->target, old->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (job->folder >= 0 && old_files_exist(job) &&
		old_log_continues(job, &old->files[old->file_count - 1]) && adopt_manifest(job))
		return true;
	if (job->folder >= 0)
		close(job->folder);
	job->folder = -1;
	manifest_free(&job->new);
	digest_end(&job->digest);
	return false;
}
