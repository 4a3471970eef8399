/* copy - copies the tables into a backup. */
#include "store/bdb/backup/job.h"

#include "base/clock.h"
#include "base/text.h"
#include "store/bdb/env/files.h"
#include "store/bdb/env/page_checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number of retries for a page that is being written, with a millisecond between. */
#define PAGE_TRIES 200
/* Space for the log that is copied after the tables. */
#define LOG_ROOM (16 * 1024 * 1024)

int backup_open_source(struct backup_job *job, const char *name, uint64_t *size)
{
	int fd = openat(job->home, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		*size = (uint64_t)st.st_size;
		return fd;
	}
	backup_fail(job, "cannot read %s/%s: %s", store_name(job->options), name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

bool backup_cannot_write(struct backup_job *job, const char *name)
{
	return backup_fail(job, "cannot write %s/%s/%s: %s", job->backup->directory,
		job->new.folder, name, strerror(errno));
}

int backup_open_copy(struct backup_job *job, const char *name, int flags)
{
	int fd = openat(job->folder, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags,
		0600);

	if (fd < 0)
		backup_cannot_write(job, name);
	return fd;
}

bool backup_finish_copy(struct backup_job *job, int fd, const char *name, uint64_t bytes,
	const struct digest *digest)
{
	char text[DIGEST_TEXT_SIZE];
	bool synced = fsync(fd) == 0;

	if (close(fd) < 0 || !synced)
		return backup_cannot_write(job, name);
	job->unsynced = 0;
	if (!digest_text(digest, text) || !manifest_add(&job->new, name, bytes, text))
		return backup_fail(job, "out of memory");
	return true;
}

/*
 * Reads a page that was being written or is damaged until it is whole. libdb writes pages
 * meanwhile, and a read may see half of a write.
 */
static bool read_page_again(struct backup_job *job, int fd, const char *name, uint8_t *page,
	uint64_t number)
{
	for (unsigned int tries = 0; tries < PAGE_TRIES; tries++) {
		clock_sleep_ms(1);
		if (files_read(fd, page, PAGE_BYTES, number * PAGE_BYTES) == PAGE_BYTES &&
			page_checksum_ok(page, number))
			return true;
	}
	return backup_fail(job,
		"page %" PRIu64 " of %s/%s is damaged: keep the backup that there "
		"is, and restore it",
		number, store_name(job->options), name);
}

/*
 * Reads whole pages at @offset into the chunk. Returns the number of bytes, or -1 with the reason
 * in job->why.
 */
static ssize_t read_pages(struct backup_job *job, int fd, const char *name, uint64_t offset,
	uint64_t size)
{
	uint64_t left = size - offset;
	ssize_t len = files_read(fd, job->chunk, left < BACKUP_CHUNK ? left : BACKUP_CHUNK, offset);

	if (len < 0) {
		backup_fail(job, "cannot read %s/%s: %s", store_name(job->options), name,
			strerror(errno));
		return -1;
	}
	/* Bytes after the last whole page are not written yet; the log has them. */
	len -= len % PAGE_BYTES;
	for (ssize_t at = 0; at < len; at += PAGE_BYTES) {
		uint64_t number = (offset + (uint64_t)at) / PAGE_BYTES;

		if (!page_checksum_ok(job->chunk + at, number) &&
			!read_page_again(job, fd, name, job->chunk + at, number))
			return -1;
	}
	return len;
}

static bool copy_pages(struct backup_job *job, int from, int to, const char *name, uint64_t size,
	struct digest *digest, uint64_t *bytes)
{
	ssize_t len;

	for (*bytes = 0; *bytes < size; *bytes += (uint64_t)len) {
		len = read_pages(job, from, name, *bytes, size);
		if (len < 0)
			return false;
		if (len == 0)
			break;
		if (!files_write(to, job->chunk, (size_t)len, *bytes))
			return backup_cannot_write(job, name);
		digest_add(digest, job->chunk, (size_t)len);
		if (!backup_go_on(job, to, (uint64_t)len))
			return false;
	}
	return true;
}

/* Copies a table up to its present size. The log has later additions. */
static bool copy_table(struct backup_job *job, const char *name)
{
	struct digest digest;
	uint64_t size, bytes;
	int from = backup_open_source(job, name, &size), to;
	bool done = false;

	if (from < 0)
		return false;
	to = backup_open_copy(job, name, O_TRUNC);
	digest_begin(&digest);
	if (to >= 0 && copy_pages(job, from, to, name, size, &digest, &bytes))
		done = backup_finish_copy(job, to, name, bytes, &digest);
	else if (to >= 0)
		close(to);
	digest_end(&digest);
	close(from);
	return done;
}

/* Estimates the bytes to copy and checks that they fit. */
static bool check_backup_room(struct backup_job *job)
{
	struct bdb_backup *backup = job->backup;
	uint64_t all = 0, room;
	char name[64];
	struct stat st;

	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		snprintf(name, sizeof(name), "%s.db", record_infos[i].name);
		if (fstatat(job->home, name, &st, 0) == 0)
			all += (uint64_t)st.st_size;
	}
	pthread_mutex_lock(&backup->mutex);
	backup->progress.bytes_all = all;
	pthread_mutex_unlock(&backup->mutex);
	room = files_free_bytes(job->folder);
	if (room < all + LOG_ROOM)
		return backup_fail(job,
			"%s has room for %" PRIu64 " MiB, and about %" PRIu64 " MiB are needed",
			backup->directory, room >> 20, (all + LOG_ROOM) >> 20);
	return true;
}

bool backup_copy_tables(struct backup_job *job)
{
	char name[64];

	if (!check_backup_room(job))
		return false;
	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		snprintf(name, sizeof(name), "%s.db", record_infos[i].name);
		if (!copy_table(job, name))
			return false;
		pthread_mutex_lock(&job->backup->mutex);
		job->backup->progress.tables++;
		pthread_mutex_unlock(&job->backup->mutex);
	}
	return true;
}
