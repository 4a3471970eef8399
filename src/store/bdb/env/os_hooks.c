#include "store/bdb/env/os_hooks.h"

#include "base/directory.h"
#include "base/log.h"
#include "store/bdb/env/fatal.h"
#include "store/bdb/env/log_prealloc.h"
#include "store/bdb/env/writeback.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Replaces the fsync of libdb, which would repeat it on EIO (fatal.h). After any error the data may
 * be lost even if a second fsync succeeds.
 */
int os_hooks_sync(int fd)
{
	int done;

	do
		done = fdatasync(fd);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		bdb_die_of_disk("fdatasync", errno);
	return done;
}

static bool is_log_path(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && strncmp(base, "/log.", 5) == 0;
}

/* Returns true if @fd is a log file. */
static bool is_log(int fd)
{
	char name[64], path[PATH_MAX];
	ssize_t len;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	len = readlink(name, path, sizeof(path) - 1);
	if (len < 0)
		return true;
	path[len] = '\0';
	return is_log_path(path);
}

/*
 * Ends the process because the log cannot be written or its next file cannot be made. libdb 5.3
 * would continue with commits that return success but exist only in its buffer. Recovery finds the
 * state of the disk.
 */
static void __attribute__((noreturn)) die_of_log(const char *where, int error)
{
	if (error == EIO)
		bdb_die_of_disk(where, error);
	log_line(LOG_LEVEL_ERROR, bdb_met_full() ? "log_full" : "log_failed",
		"where=%s error=\"%s\" action=restart", where, strerror(error));
	store_end_process(bdb_met_full() ? STORE_EXIT_FULL : STORE_EXIT_LOST);
}

/*
 * Replaces the writes of libdb, whose errors do not always reach the caller. libdb treats a short
 * write of a replaced function as an error, with the old errno as its cause. @offset -1 is the
 * current position. Returns @len, or -1.
 */
static ssize_t write_whole(int fd, const uint8_t *data, size_t len, off_t offset)
{
	size_t done = 0;
	ssize_t n;
	int error;

	while (done < len) {
		n = offset < 0 ? write(fd, data + done, len - done)
			       : pwrite(fd, data + done, len - done, offset + (off_t)done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			errno = ENOSPC;
		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		error = errno;
		if (error == EIO)
			bdb_die_of_disk("write", error);
		bdb_note_full(error);
		/* A page that cannot be written stays in the cache and is in the log. */
		if (is_log(fd))
			die_of_log("write", error);
		errno = error;
		return -1;
	}
	writeback_wrote_page(fd);
	return (ssize_t)len;
}

static ssize_t write_checked(int fd, const void *data, size_t len)
{
	return write_whole(fd, data, len, -1);
}

static ssize_t pwrite_checked(int fd, const void *data, size_t len, off_t offset)
{
	return write_whole(fd, data, len, offset);
}

/*
 * A new name is durable only when its directory was synced, which libdb leaves to the file system.
 * On some, a log file that was synced is lost with every commit in it.
 */
void os_hooks_sync_directory(int fd)
{
	if (!directory_sync(fd))
		bdb_die_of_disk("fsync of the directory", errno);
}

static int sync_directory_of(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int fd;

	if (!slash || (size_t)(slash - path) >= sizeof(directory)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = '\0';
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	os_hooks_sync_directory(fd);
	close(fd);
	return 0;
}

/*
 * Removes a name that could not be synced. Otherwise it would never be synced, because it would
 * not be new again.
 */
static void unlink_unsynced_name(const char *path)
{
	if (unlink(path) < 0)
		bdb_die_of_disk("unlink", errno);
}

static int create_durable(const char *path, int flags, mode_t mode)
{
	bool is_spare = is_log_path(path) && log_prealloc_take(path);
	int fd = open(path, flags, mode), error;

	if (fd >= 0 && !sync_directory_of(path))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || is_spare)
		unlink_unsynced_name(path);
	bdb_note_full(error);
	/* Before the store is open, the error fails the recovery. */
	if (is_log_path(path) && error != EINTR && bdb_ends_with_libdb())
		die_of_log("open", error);
	errno = error;
	return -1;
}

/* Replaces open and rename of libdb: a name that they create is durable when they return. */
static int open_durable(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = (mode_t)va_arg(args, int);
	va_end(args);
	if (flags & O_CREAT && access(path, F_OK) < 0 && errno == ENOENT)
		return create_durable(path, flags, mode);
	return open(path, flags, mode);
}

static int rename_durable(const char *from, const char *to)
{
	return rename(from, to) < 0 ? -1 : sync_directory_of(to);
}

void os_hooks_install(void)
{
	db_env_set_func_fsync(os_hooks_sync);
	db_env_set_func_open(open_durable);
	db_env_set_func_rename(rename_durable);
	db_env_set_func_write(write_checked);
	db_env_set_func_pwrite(pwrite_checked);
	db_env_set_func_yield(writeback_wait);
}
