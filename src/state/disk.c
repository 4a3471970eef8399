#include "state/disk.h"

#include "base/directory.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BALLAST "ballast"

static void name_file(char path[PATH_MAX], const char *state, const char *file)
{
	if ((unsigned int)snprintf(path, PATH_MAX, "%s/%s", state, file) >= PATH_MAX)
		path[0] = '\0';
}

uint64_t disk_free_bytes(const char *path)
{
	struct statvfs vfs;

	if (statvfs(path, &vfs) < 0)
		return UINT64_MAX;
	return (uint64_t)vfs.f_bavail * vfs.f_frsize;
}

void disk_ballast_make(const char *state, uint64_t bytes, uint64_t low_water_bytes)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, error;

	name_file(path, state, BALLAST);
	if (stat(path, &st) == 0) {
		if ((uint64_t)st.st_size == bytes)
			return;
		/* Another size: the setting was changed, or a crash interrupted the creation. */
		unlink(path);
	}
	if (!bytes || disk_free_bytes(state) < bytes + 2 * low_water_bytes)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	error = posix_fallocate(fd, 0, (off_t)bytes);
	close(fd);
	if (error) {
		log_line(LOG_LEVEL_WARNING, "ballast_failed", "error=\"%s\"", strerror(error));
		unlink(path);
	}
}

bool disk_ballast_drop(const char *state)
{
	char path[PATH_MAX];

	name_file(path, state, BALLAST);
	return unlink(path) == 0;
}

static const char *const mark_names[] = {
	[DISK_CREATED] = "created",
	[DISK_HALTED] = "halted",
};

void disk_mark_path(char path[PATH_MAX], const char *state, enum disk_mark mark)
{
	name_file(path, state, mark_names[mark]);
}

bool disk_mark_set(const char *state, enum disk_mark mark)
{
	char path[PATH_MAX];
	int fd;

	disk_mark_path(path, state, mark);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && directory_sync_path(state))
		return true;
	log_line(LOG_LEVEL_WARNING, "mark_failed", "file=%s error=\"%s\"", path, strerror(errno));
	return false;
}

void disk_mark_clear(const char *state, enum disk_mark mark)
{
	char path[PATH_MAX];

	disk_mark_path(path, state, mark);
	unlink(path);
}

bool disk_mark_is_set(const char *state, enum disk_mark mark)
{
	char path[PATH_MAX];

	disk_mark_path(path, state, mark);
	return access(path, F_OK) == 0;
}

void disk_forget_cached(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *file;
	int fd;

	while (dir && (file = readdir(dir))) {
		fd = openat(dirfd(dir), file->d_name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
	if (dir)
		closedir(dir);
}
