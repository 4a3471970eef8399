/*
 * shim.so - a disk that fails on command. Loaded with LD_PRELOAD.
 *
 *     FAULT_STATE    directory: only files below it are concerned
 *     FAULT_CONTROL  file: while it exists, its lines say which calls fail
 *
 * A line of the control file is "CALL ERROR [GROW]": CALL is sync (fsync, fdatasync), directory
 * (the same of only directories), top (of only FAULT_STATE itself), table (of only tables) or write
 * (write, pwrite, writev, pwritev, posix_fallocate), ERROR is EIO, EROFS, ENOSPC or EINVAL, or
 * SLOW: a sync takes 50 ms, that of top 3 s; LATE: a sync takes 0.5 s. With GROW only what needs a
 * new block of the file fails, as on a full disk: a write stores what fits into the blocks that are
 * there. ERROR may also be DELAY MILLISECONDS, of sync and write.
 *
 * The file is read at every call, by the system calls themselves: what is interposed here is not
 * used here. FAULT_CONTROL itself must not lie below FAULT_STATE.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ON_WRITE    write_or_fail
#define ON_WRITEV   writev_or_fail
#define ON_SYNC     sync_or_fail
#define ON_ALLOCATE allocate_or_fail
#include "../lib/preload.h"

#define BLOCK 4096

struct fault {
	int error; /* 0: none */
	bool grow;
	bool slow;
	long delay_ms;
};

/* Whether @call on @fd may fail: it is open on FAULT_STATE or what is below. */
static bool concerned(const char *call, int fd)
{
	const char *state = getenv("FAULT_STATE");
	char path[PATH_MAX];
	size_t len;

	if (!state || !path_of(fd, path) || strncmp(path, state, strlen(state)) != 0)
		return false;
	len = strlen(path);
	if (strcmp(call, "top") == 0)
		return len == strlen(state);
	if (strcmp(call, "table") == 0 && strcmp(path + len - 3, ".db") != 0)
		return false;
	return len == strlen(state) || path[strlen(state)] == '/';
}

static long delay_of(const char *line, bool slow)
{
	const char *delay = strstr(line, "DELAY ");

	return delay ? atol(delay + strlen("DELAY ")) : slow ? 50 : strstr(line, "LATE") ? 500 : 0;
}

static void wait_ms(long ms)
{
	const struct timespec span = {ms / 1000, ms % 1000 * 1000000};

	if (ms)
		nanosleep(&span, NULL);
}

static struct fault fault_parse(char *text, const char *call)
{
	struct fault fault = {0};
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t len = strlen(call);

		if (strncmp(line, call, len) != 0 || line[len] != ' ')
			continue;
		fault.slow = strstr(line, "SLOW") != NULL;
		fault.delay_ms = delay_of(line, fault.slow);
		fault.error = fault.delay_ms     ? 0
			: strstr(line, "ENOSPC") ? ENOSPC
			: strstr(line, "EROFS")  ? EROFS
			: strstr(line, "EINVAL") ? EINVAL
						 : EIO;
		fault.grow = strstr(line, "GROW") != NULL;
	}
	return fault;
}

/* Returns the fault that @call on @fd must get now. */
static struct fault fault_find(const char *call, int fd)
{
	const char *control = getenv("FAULT_CONTROL");
	struct fault fault = {0};
	int saved = errno, from;
	char text[256];
	ssize_t len;

	if (!control)
		return fault;
	from = open(control, O_RDONLY | O_CLOEXEC);
	if (from >= 0) {
		len = read(from, text, sizeof(text) - 1);
		close(from);
		if (len > 0 && concerned(call, fd)) {
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
	struct stat st;

	wait_ms(fault.delay_ms);
	if (fault_find("top", fd).slow)
		wait_ms(3000);
	if (!fault.error)
		fault = fault_find("table", fd);
	if (!fault.error && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		fault = fault_find("directory", fd);
	if (!fault.error)
		fault = fault_find("top", fd);
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

	wait_ms(fault.delay_ms);
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

static int allocate_or_fail(int fd, int mode, off_t offset, off_t len)
{
	struct fault fault = fault_find("write", fd);

	if (!fault.error)
		return (int)syscall(SYS_fallocate, fd, mode, offset, len);
	errno = fault.error;
	return -1;
}
