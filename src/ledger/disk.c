#include "ledger/disk.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BALLAST "ballast"
#define HALTED  "halted"

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
	int fd, error;

	name_file(path, state, BALLAST);
	if (!bytes || access(path, F_OK) == 0 ||
		disk_free_bytes(state) < bytes + 2 * low_water_bytes)
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

void disk_halt_mark(const char *state)
{
	char path[PATH_MAX];
	int fd;

	name_file(path, state, HALTED);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	else
		log_line(LOG_LEVEL_WARNING, "halt_mark_failed", "error=\"%s\"", strerror(errno));
}

void disk_halt_clear(const char *state)
{
	char path[PATH_MAX];

	name_file(path, state, HALTED);
	unlink(path);
}

bool disk_halt_marked(const char *state)
{
	char path[PATH_MAX];

	name_file(path, state, HALTED);
	return access(path, F_OK) == 0;
}
