#include "store/bdb/backup/restore_log.h"

#include "store/bdb/env/env.h"
#include "store/bdb/env/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_CACHE_MIB 1

enum status restore_fail(struct restore_job *job, enum status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(job->why, job->why_size, format, args);
	va_end(args);
	return status;
}

/* Returns the greatest number of a log file in the directory; 0 if there is none. */
static uint32_t last_log_in(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *file;
	uint32_t last = 0, number;

	while (dir && (file = readdir(dir))) {
		number = files_log_number(file->d_name);
		last = number > last ? number : last;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return last;
}

/* Compares the first bytes of the log file with the last log file of the backup. */
static enum status compare_with_backup(struct restore_job *job, int from, const char *name)
{
	const struct manifest_file *file = &job->manifest.files[job->manifest.file_count - 1];
	char text[DIGEST_TEXT_SIZE];
	struct digest digest;
	enum status status;
	struct stat st;

	if (fstat(from, &st) < 0 || (uint64_t)st.st_size < file->bytes)
		return restore_fail(job, STATUS_CONFIG,
			"%s/%s ends before the backup does: it is "
			"older, or of another ledger",
			job->options->logs, name);
	digest_begin(&digest);
	status = restore_copy(job, from, -1, 0, file->bytes, &digest, name);
	if (!status && !digest_text(&digest, text))
		status = restore_fail(job, STATUS_NOMEM, "out of memory");
	else if (!status && strcmp(text, file->digest) != 0)
		status = restore_fail(job, STATUS_CONFIG,
			"%s/%s does not begin as the backup's "
			"does: it is of another ledger, or damaged",
			job->options->logs, name);
	digest_end(&digest);
	return status;
}

/* Copies one log file from @done bytes on. The backup has the bytes before. */
static enum status copy_later_log(struct restore_job *job, int logs, uint32_t number, uint64_t done)
{
	char name[FILES_LOG_NAME_SIZE];
	enum status status = STATUS_OK;
	struct stat st;
	int from, to = -1;

	files_log_name(number, name);
	from = openat(logs, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (from < 0 || fstat(from, &st) < 0) {
		status = restore_fail(job, STATUS_CONFIG, "%s/%s is needed: %s", job->options->logs,
			name, strerror(errno));
		goto out;
	}
	if (done)
		status = compare_with_backup(job, from, name);
	if (status || job->target < 0)
		goto out;
	to = restore_open_copy(job, name);
	if (to < 0)
		status = restore_cannot_write(job, name);
	else
		status = restore_copy(job, from, to, done, (uint64_t)st.st_size, NULL, name);
	if (!status && fsync(to) < 0)
		status = restore_cannot_write(job, name);
out:
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return status;
}

enum status restore_copy_logs(struct restore_job *job)
{
	const char *path = job->options->logs;
	int logs = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t first = job->last_log;
	enum status status = STATUS_OK;

	if (logs < 0)
		return restore_fail(job, STATUS_CONFIG, "cannot open %s: %s", path,
			strerror(errno));
	job->last_log = last_log_in(logs);
	if (job->last_log < first)
		status = restore_fail(job, STATUS_CONFIG,
			"%s holds no log that follows the backup, "
			"which ends in log.%010u",
			path, first);
	for (uint32_t number = first; number <= job->last_log && !status; number++)
		status = copy_later_log(job, logs, number,
			number == first ? job->manifest.last_offset : 0);
	job->restored->logs += job->last_log - first;
	close(logs);
	return status;
}

/* Finds the end of the log by reading every record. */
static enum status read_every_record(struct restore_job *job, DB_ENV *env, DB_LSN *end)
{
	DB_LOG_STAT *stat = NULL;
	DB_LOGC *cursor = NULL;
	DBT record = {.flags = DB_DBT_REALLOC};
	DB_LSN lsn = {0, 0};
	int error = env->log_cursor(env, &cursor, 0);

	if (!error)
		error = cursor->get(cursor, &lsn, &record, DB_FIRST);
	while (!error)
		error = cursor->get(cursor, &lsn, &record, DB_NEXT);
	free(record.data);
	if (cursor)
		cursor->close(cursor, 0);
	if (error != DB_NOTFOUND)
		return restore_fail(job, STATUS_CORRUPT,
			"the log is damaged after record "
			"%u/%u: %s; restore without --logs, or with undamaged logs",
			lsn.file, lsn.offset, db_strerror(error));
	error = env->log_stat(env, &stat, 0);
	if (error)
		return restore_fail(job, STATUS_IO, "cannot read the log: %s", db_strerror(error));
	*end = (DB_LSN){stat->st_cur_file, stat->st_cur_offset};
	free(stat);
	return STATUS_OK;
}

/* Returns the bytes of a log file after @offset, without the zeros at its end. */
static uint64_t bytes_after(struct restore_job *job, uint32_t number, uint64_t offset)
{
	char name[FILES_LOG_NAME_SIZE];
	uint64_t at = offset, last = offset;
	ssize_t len = 0;
	int fd;

	files_log_name(number, name);
	fd = openat(job->target, name, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (len = files_read(fd, job->chunk, RESTORE_CHUNK, at)) > 0) {
		for (ssize_t i = 0; i < len; i++)
			last = job->chunk[i] ? at + (uint64_t)i + 1 : last;
		at += (uint64_t)len;
	}
	if (fd >= 0)
		close(fd);
	return last - offset;
}

/* Checks that the log ends at the right place. */
static enum status check_log_end(struct restore_job *job, const DB_LSN *end)
{
	struct store_restored *restored = job->restored;

	for (uint32_t number = end->file; number <= job->last_log; number++)
		restored->unreadable +=
			bytes_after(job, number, number == end->file ? end->offset : 0);
	/* A file of zeros has no record yet, or its records were lost. */
	restored->rolled_forward =
		job->options->logs && end->file == job->last_log && !restored->unreadable;
	if (end->file < job->manifest.last_log ||
		(end->file == job->manifest.last_log && end->offset < job->manifest.last_offset))
		return restore_fail(job, STATUS_CORRUPT,
			"the log of the backup is damaged: it can "
			"be read up to %u/%u, and ends at %" PRIu64 "/%" PRIu64,
			end->file, end->offset, job->manifest.last_log, job->manifest.last_offset);
	return STATUS_OK;
}

enum status restore_read_log(struct restore_job *job)
{
	DB_ENV *env = NULL;
	DB_LSN end = {0, 0};
	enum status status;
	int error = bdb_env_make(&env, job->options->directory,
		DB_PRIVATE | DB_INIT_LOG | DB_CREATE, LOG_CACHE_MIB);

	if (error)
		status = restore_fail(job, STATUS_CORRUPT, "cannot read the log: %s",
			db_strerror(error));
	else
		status = read_every_record(job, env, &end);
	if (env)
		env->close(env, 0);
	return status ? status : check_log_end(job, &end);
}

enum status restore_recover(struct restore_job *job)
{
	DB_ENV *env = NULL;
	int error = bdb_env_make(&env, job->options->directory, BDB_ENV_FLAGS | DB_RECOVER_FATAL,
		job->options->cache_mib);
	int closed = 0;

	if (env)
		closed = env->close(env, 0);
	if (!error)
		error = closed;
	if (!error)
		return STATUS_OK;
	if (bdb_met_full())
		return restore_fail(job, STATUS_FULL, "cannot redo the log in %s: %s",
			job->options->directory, strerror(ENOSPC));
	return restore_fail(job, STATUS_CORRUPT, "cannot redo the log in %s: %s",
		job->options->directory, db_strerror(error));
}
