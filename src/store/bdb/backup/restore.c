#include "store/backup.h"

#include "base/directory.h"
#include "base/text.h"
#include "store/bdb/backup/manifest.h"
#include "store/bdb/env/env.h"
#include "store/bdb/env/files.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESTORE_CHUNK    (1024 * 1024)
#define RESTORE_WHY_SIZE 512
#define LOG_CACHE_MIB    1

/* What the parts of a restore share. */
struct restore_job {
	const struct store_restore *options;
	struct store_restored *restored;
	struct manifest manifest;
	int backup;
	int folder;        /* of the backup */
	int target;        /* -1: the backup is only verified */
	uint32_t last_log; /* number of the last log file copied */
	uint8_t *chunk;    /* RESTORE_CHUNK */
	uint64_t bytes;
	uint64_t bytes_all;
	char *why;
	size_t why_size;
};

/* Writes the reason for the failure to job->why. Returns @status. */
static enum status __attribute__((format(printf, 3, 4)))
restore_fail(struct restore_job *job, enum status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(job->why, job->why_size, format, args);
	va_end(args);
	return status;
}

/* Reports that @name cannot be written, with errno. */
static enum status restore_cannot_write(struct restore_job *job, const char *name)
{
	return restore_fail(job, errno == ENOSPC || errno == EDQUOT ? STATUS_FULL : STATUS_IO,
		"cannot write %s/%s: %s", job->options->directory, name, strerror(errno));
}

static int restore_open_copy(struct restore_job *job, const char *name)
{
	return openat(job->target, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Copies the bytes from @at to @end. @to -1 or @digest NULL: omitted. */
static enum status restore_copy(struct restore_job *job, int from, int to, uint64_t at,
	uint64_t end, struct digest *digest, const char *name)
{
	ssize_t len;

	while (at < end) {
		uint64_t left = end - at;

		len = files_read(from, job->chunk, left < RESTORE_CHUNK ? left : RESTORE_CHUNK, at);
		if (len < 0)
			return restore_fail(job, STATUS_IO, "cannot read %s: %s", name,
				strerror(errno));
		if (len == 0)
			return restore_fail(job, STATUS_CORRUPT,
				"%s is too short: restore "
				"another backup",
				name);
		if (digest)
			digest_add(digest, job->chunk, (size_t)len);
		if (to >= 0 && !files_write(to, job->chunk, (size_t)len, at))
			return restore_cannot_write(job, name);
		at += (uint64_t)len;
		job->bytes += (uint64_t)len;
		if (job->options->progress)
			job->options->progress(job->options->context, job->bytes, job->bytes_all);
	}
	return STATUS_OK;
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

/* Copies the logs that continue the log of the backup. */
static enum status restore_copy_logs(struct restore_job *job)
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

/* Reads every record of the copied log and checks that it ends at the right place. */
static enum status restore_read_log(struct restore_job *job)
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

/* Redoes the whole log. */
static enum status restore_recover(struct restore_job *job)
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

/* Opens and locks the directory of the backup. */
static enum status open_backup(struct restore_job *job, int *backup)
{
	const char *path = job->options->backup;
	struct stat st;

	*backup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*backup < 0 || fstat(*backup, &st) < 0)
		return restore_fail(job, STATUS_NOT_FOUND, "cannot open %s: %s", path,
			strerror(errno));
	if (st.st_mode & 0022)
		return restore_fail(job, STATUS_CONFIG,
			"%s has mode %04o, so others may have "
			"changed it; if they did not, `chmod 0700 %s`",
			path, (unsigned int)st.st_mode & 07777, path);
	if (flock(*backup, LOCK_SH | LOCK_NB) < 0)
		return restore_fail(job, STATUS_BUSY,
			"a ledger is writing %s: wait until that "
			"backup is done",
			path);
	return STATUS_OK;
}

/* Reads the manifest and opens the folder that it names. */
static enum status read_backup(struct restore_job *job)
{
	const char *path = job->options->backup;
	char why[RESTORE_WHY_SIZE] = "";
	enum status status;
	int backup;

	/* The directory stays open, because its descriptor holds the lock. */
	status = open_backup(job, &backup);
	job->backup = backup;
	if (status)
		return status;
	status = manifest_read(&job->manifest, backup, why, sizeof(why));
	if (status == STATUS_NOT_FOUND)
		return restore_fail(job, status,
			"%s holds no complete backup, because it has "
			"no manifest: give another directory",
			path);
	if (status)
		return restore_fail(job, status, "%s: %s", path, why);
	if (job->manifest.schema > STORE_SCHEMA)
		return restore_fail(job, STATUS_CONFIG,
			"%s was written by a newer creditbridge "
			"(schema %" PRIu64 "; this one knows up to %d): install that version",
			path, job->manifest.schema, STORE_SCHEMA);
	job->folder = openat(backup, job->manifest.folder,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (job->folder < 0)
		return restore_fail(job, STATUS_CORRUPT, "%s/%s: %s", path, job->manifest.folder,
			strerror(errno));
	return STATUS_OK;
}

/* Copies a file and compares it with the manifest. @to -1: only compares. */
static enum status restore_checked(struct restore_job *job, const struct manifest_file *file,
	int from, int to)
{
	char digest_found[DIGEST_TEXT_SIZE];
	struct digest digest;
	enum status status;

	digest_begin(&digest);
	status = restore_copy(job, from, to, 0, file->bytes, &digest, file->name);
	if (!status && !digest_text(&digest, digest_found))
		status = restore_fail(job, STATUS_NOMEM, "out of memory");
	else if (!status && strcmp(digest_found, file->digest) != 0)
		status = restore_fail(job, STATUS_CORRUPT,
			"%s/%s/%s is damaged, because its "
			"SHA-256 is not the manifest's: restore another backup",
			job->options->backup, job->manifest.folder, file->name);
	if (!status && to >= 0 && fsync(to) < 0)
		status = restore_cannot_write(job, file->name);
	digest_end(&digest);
	return status;
}

static enum status restore_file(struct restore_job *job, const struct manifest_file *file)
{
	int from = openat(job->folder, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), to = -1;
	enum status status;

	if (from < 0)
		return restore_fail(job, STATUS_CORRUPT, "%s/%s/%s: %s", job->options->backup,
			job->manifest.folder, file->name, strerror(errno));
	if (job->target >= 0)
		to = restore_open_copy(job, file->name);
	if (job->target >= 0 && to < 0)
		status = restore_cannot_write(job, file->name);
	else
		status = restore_checked(job, file, from, to);
	if (to >= 0)
		close(to);
	close(from);
	return status;
}

static enum status restore_files(struct restore_job *job)
{
	enum status status = STATUS_OK;

	job->bytes_all =
		manifest_bytes(&job->manifest, false) + manifest_bytes(&job->manifest, true);
	if (job->target >= 0 && files_free_bytes(job->target) < job->bytes_all)
		return restore_fail(job, STATUS_FULL,
			"%s has room for %" PRIu64 " MiB, and %" PRIu64 " MiB are needed",
			job->options->directory, files_free_bytes(job->target) >> 20,
			job->bytes_all >> 20);
	for (uint64_t i = 0; i < job->manifest.file_count && !status; i++) {
		status = restore_file(job, &job->manifest.files[i]);
		if (files_log_number(job->manifest.files[i].name))
			job->restored->logs++;
		else
			job->restored->tables++;
	}
	return status;
}

static enum status restore_data(struct restore_job *job)
{
	const struct store_restore *options = job->options;
	enum status status = read_backup(job);

	if (status)
		return status;
	text_copy(job->restored->version, MANIFEST_TEXT, job->manifest.version);
	text_copy(job->restored->installation, MANIFEST_TEXT, job->manifest.installation);
	job->restored->tables_ms = (int64_t)job->manifest.tables_ms;
	job->restored->complete_to_ms = (int64_t)job->manifest.complete_to_ms;
	job->last_log = (uint32_t)job->manifest.last_log;
	if (options->directory) {
		job->target = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (job->target < 0)
			return restore_fail(job, STATUS_IO, "cannot open %s: %s",
				options->directory, strerror(errno));
	}
	job->chunk = malloc(RESTORE_CHUNK);
	if (!job->chunk)
		return restore_fail(job, STATUS_NOMEM, "out of memory");
	status = restore_files(job);
	if (!status && options->logs)
		status = restore_copy_logs(job);
	if (status || !options->directory)
		return status;
	if (!directory_sync(job->target))
		return restore_cannot_write(job, "");
	status = restore_read_log(job);
	return status ? status : restore_recover(job);
}

enum status store_restore(const struct store_restore *options, struct store_restored *restored,
	char *why, size_t why_size)
{
	struct restore_job job = {
		.options = options,
		.restored = restored,
		.backup = -1,
		.folder = -1,
		.target = -1,
		.why = why,
		.why_size = why_size,
	};
	enum status status;

	memset(restored, 0, sizeof(*restored));
	status = restore_data(&job);
	if (job.target >= 0)
		close(job.target);
	if (job.folder >= 0)
		close(job.folder);
	if (job.backup >= 0)
		close(job.backup);
	manifest_free(&job.manifest);
	free(job.chunk);
	return status;
}
