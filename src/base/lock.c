#include "base/lock.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_MS 20

bool lock_wait(int fd, int wait_ms)
{
	int64_t until_ms = clock_boot_ms() + wait_ms;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || clock_boot_ms() >= until_ms)
			return false;
		clock_sleep_ms(POLL_MS);
	}
	return true;
}

/* Returns false and sets errno if the path is too long. */
static bool path_make(char path[PATH_MAX], const char *directory, const char *name)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/*
 * Gives the users of @like access to the lock file open at @fd. Without @like only its owner has
 * it.
 */
static bool share_with_users_of(int fd, const char *directory, const char *like)
{
	char path[PATH_MAX];
	struct stat own, model, folder;

	if (fstat(fd, &own) < 0)
		return false;
	/* Root must not change the owner of another file that has a second name here. */
	if (!S_ISREG(own.st_mode) || own.st_nlink != 1) {
		errno = EINVAL;
		return false;
	}
	if (geteuid() != 0 && geteuid() != own.st_uid)
		return true;
	if (stat(directory, &folder) < 0 || !path_make(path, directory, like))
		return false;
	if (geteuid() == 0 && fchown(fd, folder.st_uid, folder.st_gid) < 0)
		return false;
	if (stat(path, &model) < 0)
		return errno == ENOENT;
	return fchown(fd, (uid_t)-1, model.st_gid) == 0 && fchmod(fd, model.st_mode & 0666) == 0;
}

int lock_file_open(const char *directory, const char *name, const char *like)
{
	char path[PATH_MAX];
	int fd, saved;

	if (!path_make(path, directory, name))
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || share_with_users_of(fd, directory, like))
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}
