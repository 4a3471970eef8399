/*
 * shim.so - a disk that fails when it is told to. Loaded with LD_PRELOAD.
 *
 *     FAULT_STATE    directory: only files below it are concerned
 *     FAULT_CONTROL  file: while it exists, its lines say what fails
 *
 * A line of the control file is "CALL ERROR [GROW]": CALL is sync (fsync, fdatasync) or write
 * (write, pwrite, writev, pwritev, posix_fallocate), ERROR is EIO or ENOSPC. With GROW only what
 * needs a new block of the file fails, as on a full disk: a write stores what fits into the blocks
 * that are there.
 *
 * The file is read at every call, by the system calls themselves: what is interposed here is not
 * used here. FAULT_CONTROL itself must not lie below FAULT_STATE.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK 4096

struct fault {
	int error; /* 0: none */
	bool grow;
};

/* Whether @fd is open on a file below FAULT_STATE. */
static bool concerned(int fd)
{
	const char *state = getenv("FAULT_STATE");
	char link[64], path[PATH_MAX];
	ssize_t len;

	if (!state)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return false;
	path[len] = '\0';
	return strncmp(path, state, strlen(state)) == 0 && path[strlen(state)] == '/';
}

static struct fault fault_parse(char *text, const char *call)
{
	struct fault fault = {0, false};
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t len = strlen(call);

		if (strncmp(line, call, len) != 0 || line[len] != ' ')
			continue;
		fault.error = strstr(line, "ENOSPC") ? ENOSPC : EIO;
		fault.grow = strstr(line, "GROW") != NULL;
	}
	return fault;
}

/* What is to happen to @call on @fd now. */
static struct fault fault_find(const char *call, int fd)
{
	const char *control = getenv("FAULT_CONTROL");
	struct fault fault = {0, false};
	int saved = errno, from;
	char text[256];
	ssize_t len;

	if (!control)
		return fault;
	from = open(control, O_RDONLY | O_CLOEXEC);
	if (from >= 0) {
		len = read(from, text, sizeof(text) - 1);
		close(from);
		if (len > 0 && concerned(fd)) {
			text[len] = '\0';
			fault = fault_parse(text, call);
		}
	}
	errno = saved;
	return fault;
}

static int sync_or_fail(long number, int fd)
{
	struct fault fault = fault_find("sync", fd);

	if (!fault.error)
		return (int)syscall(number, fd);
	errno = fault.error;
	return -1;
}

/* How many of @len bytes fit into the blocks that the file has. */
static size_t room_for(int fd, size_t len, off_t offset)
{
	struct stat st;
	off_t end;

	if (offset < 0)
		offset = lseek(fd, 0, SEEK_CUR);
	if (offset < 0 || fstat(fd, &st) < 0)
		return 0;
	end = (st.st_size + BLOCK - 1) / BLOCK * BLOCK;
	if (offset >= end)
		return 0;
	return (size_t)(end - offset) < len ? (size_t)(end - offset) : len;
}

/* @offset -1: where the file stands. */
static ssize_t write_or_fail(int fd, const void *data, size_t len, off_t offset)
{
	struct fault fault = fault_find("write", fd);

	if (fault.error) {
		len = fault.grow ? room_for(fd, len, offset) : 0;
		if (!len) {
			errno = fault.error;
			return -1;
		}
	}
	return offset < 0 ? syscall(SYS_write, fd, data, len)
			  : syscall(SYS_pwrite64, fd, data, len, offset);
}

static ssize_t writev_or_fail(int fd, const struct iovec *parts, int count, off_t offset)
{
	struct fault fault = fault_find("write", fd);

	if (fault.error) {
		errno = fault.error;
		return -1;
	}
	return offset < 0 ? syscall(SYS_writev, fd, parts, count)
			  : syscall(SYS_pwritev, fd, parts, count, offset, 0L);
}

int fsync(int fd)
{
	return sync_or_fail(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return sync_or_fail(SYS_fdatasync, fd);
}

ssize_t write(int fd, const void *data, size_t len)
{
	return write_or_fail(fd, data, len, -1);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return write_or_fail(fd, data, len, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset)
{
	return write_or_fail(fd, data, len, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return writev_or_fail(fd, parts, count, -1);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	return writev_or_fail(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
	return writev_or_fail(fd, parts, count, offset);
}

int posix_fallocate(int fd, off_t offset, off_t len)
{
	int (*real)(int, off_t, off_t);
	struct fault fault = fault_find("write", fd);

	if (fault.error)
		return fault.error;
	*(void **)&real = dlsym(RTLD_NEXT, "posix_fallocate");
	return real(fd, offset, len);
}
