/*
 * Replaces functions of the C library in a library that is loaded with LD_PRELOAD. Before it
 * includes this header, the library defines, for each kind of call, the name of its own function:
 *     #define ON_SYNC sync_or_fail
 *     #include "../lib/preload.h"
 *     static int sync_or_fail(long number, int fd) ...
 * That function returns as the system call does: -1 with errno, or MAP_FAILED. An offset of -1 is
 * the current position of the file; @number is SYS_fsync or SYS_fdatasync. It must use syscall(),
 * because a call by name would recurse. Calls that the C library makes internally (stdio) are not
 * intercepted.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Writes the path of the file that is open as @fd to @path. */
static inline bool path_of(int fd, char path[PATH_MAX])
{
	char name[64];
	ssize_t len;
	int saved = errno;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	len = readlink(name, path, PATH_MAX - 1);
	errno = saved;
	if (len < 0)
		return false;
	path[len] = '\0';
	return true;
}

#ifdef ON_OPEN
static int ON_OPEN(int dir, const char *path, int flags, mode_t mode);

static int preload_open(int dir, const char *path, int flags, va_list args)
{
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(args, unsigned int) : 0;

	return ON_OPEN(dir, path, flags, mode);
}

#define PRELOAD_OPEN(name_, dir_, ...)                                                             \
	int name_(__VA_ARGS__, int flags, ...)                                                     \
	{                                                                                          \
		va_list args;                                                                      \
		int fd;                                                                            \
                                                                                                   \
		va_start(args, flags);                                                             \
		fd = preload_open(dir_, path, flags, args);                                        \
		va_end(args);                                                                      \
		return fd;                                                                         \
	}
PRELOAD_OPEN(open, AT_FDCWD, const char *path)
PRELOAD_OPEN(open64, AT_FDCWD, const char *path)
PRELOAD_OPEN(openat, dir, int dir, const char *path)
PRELOAD_OPEN(openat64, dir, int dir, const char *path)

int creat(const char *path, mode_t mode)
{
	return ON_OPEN(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}
#endif

#ifdef ON_WRITE
static ssize_t ON_WRITE(int fd, const void *data, size_t len, off_t offset);

ssize_t write(int fd, const void *data, size_t len)
{
	return ON_WRITE(fd, data, len, -1);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return ON_WRITE(fd, data, len, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset)
{
	return ON_WRITE(fd, data, len, offset);
}
#endif

#ifdef ON_WRITEV
static ssize_t ON_WRITEV(int fd, const struct iovec *parts, int count, off_t offset);

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return ON_WRITEV(fd, parts, count, -1);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	return ON_WRITEV(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
	return ON_WRITEV(fd, parts, count, offset);
}
#endif

#ifdef ON_SYNC
static int ON_SYNC(long number, int fd);

int fsync(int fd)
{
	return ON_SYNC(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return ON_SYNC(SYS_fdatasync, fd);
}
#endif

#ifdef ON_TRUNCATE
static int ON_TRUNCATE(int fd, off_t size);

int ftruncate(int fd, off_t size)
{
	return ON_TRUNCATE(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
	return ON_TRUNCATE(fd, size);
}
#endif

#ifdef ON_ALLOCATE
static int ON_ALLOCATE(int fd, int mode, off_t offset, off_t len);

int fallocate(int fd, int mode, off_t offset, off_t len)
{
	return ON_ALLOCATE(fd, mode, offset, len);
}

int posix_fallocate(int fd, off_t offset, off_t len)
{
	return ON_ALLOCATE(fd, 0, offset, len) < 0 ? errno : 0;
}

int posix_fallocate64(int fd, off64_t offset, off64_t len)
{
	return ON_ALLOCATE(fd, 0, offset, len) < 0 ? errno : 0;
}
#endif

#ifdef ON_RENAME
static int ON_RENAME(int from_dir, const char *from, int to_dir, const char *to);

int rename(const char *from, const char *to)
{
	return ON_RENAME(AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return ON_RENAME(from_dir, from, to_dir, to);
}
#endif

#ifdef ON_UNLINK
static int ON_UNLINK(int dir, const char *path, int flags);

int unlink(const char *path)
{
	return ON_UNLINK(AT_FDCWD, path, 0);
}

int unlinkat(int dir, const char *path, int flags)
{
	return ON_UNLINK(dir, path, flags);
}

int rmdir(const char *path)
{
	return ON_UNLINK(AT_FDCWD, path, AT_REMOVEDIR);
}
#endif

#ifdef ON_MKDIR
static int ON_MKDIR(int dir, const char *path, mode_t mode);

int mkdir(const char *path, mode_t mode)
{
	return ON_MKDIR(AT_FDCWD, path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return ON_MKDIR(dir, path, mode);
}
#endif

#ifdef ON_MAP
static void *ON_MAP(void *to, size_t len, int protection, int flags, int fd, off_t offset);

void *mmap(void *to, size_t len, int protection, int flags, int fd, off_t offset)
{
	return ON_MAP(to, len, protection, flags, fd, offset);
}

void *mmap64(void *to, size_t len, int protection, int flags, int fd, off64_t offset)
{
	return ON_MAP(to, len, protection, flags, fd, offset);
}
#endif
