#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool directory_sync(int fd)
{
	int done;

	do
		done = fsync(fd);
	while (done < 0 && errno == EINTR);
	return done == 0 || errno == EINVAL;
}

/* Syncs and closes. */
static bool sync_opened(int fd)
{
	bool synced = fd >= 0 && directory_sync(fd);
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return synced;
}

bool directory_sync_path(const char *path)
{
	return sync_opened(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool directory_sync_parent(int fd)
{
	int parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (parent < 0 && errno == EACCES)
		return syncfs(fd) == 0;
	return sync_opened(parent);
}

static bool write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t done = write(fd, data, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		data += done;
		len -= (size_t)done;
	}
	return true;
}

bool directory_put_file(int fd, const char *name, const char *text)
{
	char new_name[DIRECTORY_NAME_MAX + sizeof(DIRECTORY_NEW)];
	bool done;
	int file;

	snprintf(new_name, sizeof(new_name), "%s" DIRECTORY_NEW, name);
	file = openat(fd, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return false;
	done = write_all(file, text, strlen(text)) && fsync(file) == 0;
	if (close(file) < 0)
		done = false;
	return done && renameat(fd, new_name, fd, name) == 0 && directory_sync(fd);
}

bool directory_get_file(int fd, const char *name, char *text, size_t size)
{
	int file = openat(fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t len = 0;
	ssize_t got;
	int saved;

	if (file < 0)
		return false;
	do {
		got = read(file, text + len, size - 1 - len);
		if (got > 0)
			len += (size_t)got;
	} while ((got > 0 && len < size - 1) || (got < 0 && errno == EINTR));
	saved = errno;
	close(file);
	errno = saved;
	text[len] = '\0';
	return got >= 0;
}
