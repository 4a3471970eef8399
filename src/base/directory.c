#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
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
