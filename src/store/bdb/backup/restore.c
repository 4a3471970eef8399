#include "store/backup.h"

#include "base/directory.h"
#include "base/text.h"
#include "store/bdb/backup/restore_log.h"
#include "store/bdb/env/files.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

enum status restore_copy(struct restore_job *job, int from, int to, uint64_t at, uint64_t end,
	struct digest *digest, const char *name)
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

enum status restore_cannot_write(struct restore_job *job, const char *name)
{
	return restore_fail(job, errno == ENOSPC || errno == EDQUOT ? STATUS_FULL : STATUS_IO,
		"cannot write %s/%s: %s", job->options->directory, name, strerror(errno));
}

int restore_open_copy(struct restore_job *job, const char *name)
{
	return openat(job->target, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
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
