/*
 * record.so - records everything that a program does to the files below a directory, in order, and
 * the answers that it sends meanwhile. Loaded with LD_PRELOAD.
 *
 *     RECORD_STATE  the directory
 *     RECORD_TRACE  file that the records are added to; RECORD_TRACE.lock holds struct shared
 *
 * A record is a struct record, its two paths and its data (powercut.py reads them). All processes
 * and threads share one lock: a change and its record are one step, so the order of the records is
 * that of the changes. A sync is two records, before and after: what was written between them may
 * be on the disk or not. An answer is recorded in one step with its send().
 *
 * The process that makes the record number die_at (0: none) kills itself there.
 *
 * The trace and the lock must not lie below RECORD_STATE. What the C library does on its own
 * account (stdio) is not seen: powercut.py compares what it rebuilds of all records with the files.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ON_OPEN     open_noting
#define ON_WRITE    write_noting
#define ON_WRITEV   writev_noting
#define ON_SYNC     sync_noting
#define ON_TRUNCATE truncate_noting
#define ON_ALLOCATE allocate_noting
#define ON_RENAME   rename_noting
#define ON_UNLINK   unlink_noting
#define ON_MKDIR    mkdir_noting
#define ON_MAP      map_noting
#include "../lib/preload.h"

#define MAGIC 0x31524243u /* "CBR1" */

enum kind {
	KIND_OPEN = 'o',   /* made, or cut off: offset 1 */
	KIND_WRITE = 'w',  /* at offset */
	KIND_SYNC = 's',   /* begins; of a file or a directory. offset: the thread */
	KIND_SYNCED = 'S', /* was done */
	KIND_RENAME = 'r',
	KIND_TRUNCATE = 't', /* to offset */
	KIND_ALLOCATE = 'a', /* at least offset bytes long */
	KIND_UNLINK = 'u',
	KIND_MKDIR = 'd',
	KIND_SEND = 'x',   /* inode: the socket's */
	KIND_MAPPED = 'm', /* shared and writable: what is written through it is not seen */
};

struct record {
	uint32_t magic;
	uint8_t kind;
	uint8_t spare;
	uint16_t path_len[2];
	uint16_t spare2;
	uint32_t data_len;
	uint64_t inode;
	int64_t offset;
};

struct shared {
	uint64_t records;
	uint64_t die_at;
	pthread_mutex_t lock;
};

static const char *state;
static size_t state_len;
static struct shared *shared;
static int trace = -1;

static void die(const char *why)
{
	fprintf(stderr, "record.so: %s: %s\n", why, strerror(errno));
	abort();
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("RECORD_TRACE");
	char name[PATH_MAX];
	pthread_mutexattr_t attributes;
	bool fresh;
	int fd;

	state = getenv("RECORD_STATE");
	if (!state || !path)
		return;
	state_len = strlen(state);
	snprintf(name, sizeof(name), "%s.lock", path);
	trace = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		0600);
	fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	fresh = fd >= 0;
	if (!fresh)
		fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0600);
	if (trace < 0 || fd < 0 || (fresh && syscall(SYS_ftruncate, fd, sizeof(*shared)) < 0))
		die(name);
	shared = (void *)syscall(SYS_mmap, NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (shared == MAP_FAILED)
		die(name);
	if (!fresh)
		return;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->lock, &attributes);
}

static void lock(void)
{
	int saved = errno;

	if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&shared->lock);
	errno = saved;
}

static void unlock(void)
{
	int saved = errno;

	pthread_mutex_unlock(&shared->lock);
	errno = saved;
}

/* Adds a record; the lock is held. */
static void note(enum kind kind, uint64_t inode, int64_t offset, const char *path,
	const char *path2, const void *data, size_t len)
{
	struct record record = {
		.magic = MAGIC,
		.kind = (uint8_t)kind,
		.path_len = {(uint16_t)(path ? strlen(path) : 0),
			(uint16_t)(path2 ? strlen(path2) : 0)},
		.data_len = (uint32_t)len,
		.inode = inode,
		.offset = offset,
	};
	struct iovec parts[] = {
		{&record, sizeof(record)},
		{(void *)(uintptr_t)path, record.path_len[0]},
		{(void *)(uintptr_t)path2, record.path_len[1]},
		{(void *)(uintptr_t)data, len},
	};
	size_t all = sizeof(record) + record.path_len[0] + record.path_len[1] + len;
	int saved = errno;

	if (syscall(SYS_writev, trace, parts, 4) != (ssize_t)all)
		die("the trace");
	errno = saved;
	if (++shared->records == shared->die_at)
		syscall(SYS_kill, getpid(), SIGKILL);
}

static bool below(const char *path)
{
	return shared && strncmp(path, state, state_len) == 0 &&
		(path[state_len] == '/' || !path[state_len]);
}

/* Makes an absolute path of a name in the directory @dir. True: it is below the state. */
static bool absolute(int dir, const char *name, char path[PATH_MAX])
{
	char base[PATH_MAX];
	bool known;

	if (!shared)
		return false;
	if (name[0] == '/') {
		known = (unsigned int)snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	} else {
		known = dir == AT_FDCWD ? getcwd(base, sizeof(base)) != NULL : path_of(dir, base);
		known = known &&
			(unsigned int)snprintf(path, PATH_MAX, "%s/%s", base, name) < PATH_MAX;
	}
	return known && below(path);
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Returns true if operations on @fd are recorded. */
static bool concerned(int fd)
{
	char path[PATH_MAX];

	return shared && path_of(fd, path) && below(path);
}

static int open_noting(int dir, const char *name, int flags, mode_t mode)
{
	char path[PATH_MAX];
	struct stat st;
	bool made;
	int fd;

	if (!(flags & (O_CREAT | O_TRUNC)) || !absolute(dir, name, path))
		return (int)syscall(SYS_openat, dir, name, flags, mode);
	lock();
	made = stat(path, &st) < 0;
	fd = (int)syscall(SYS_openat, dir, name, flags, mode);
	if (fd >= 0 && made)
		note(KIND_OPEN, inode_of(fd), 0, path, NULL, NULL, 0);
	else if (fd >= 0 && (flags & O_TRUNC))
		note(KIND_OPEN, inode_of(fd), 1, path, NULL, NULL, 0);
	unlock();
	return fd;
}

static ssize_t writev_noting(int fd, const struct iovec *parts, int count, off_t offset)
{
	bool told = concerned(fd);
	off_t at = offset;
	ssize_t done, left;

	if (told)
		lock();
	if (told && offset < 0)
		at = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END)
						   : lseek(fd, 0, SEEK_CUR);
	done = offset < 0 ? syscall(SYS_writev, fd, parts, count)
			  : syscall(SYS_pwritev, fd, parts, count, offset, 0L);
	left = done;
	for (int i = 0; told && left > 0; i++) {
		size_t len = parts[i].iov_len < (size_t)left ? parts[i].iov_len : (size_t)left;

		note(KIND_WRITE, inode_of(fd), at, NULL, NULL, parts[i].iov_base, len);
		at += (off_t)len;
		left -= (ssize_t)len;
	}
	if (told)
		unlock();
	return done;
}

static ssize_t write_noting(int fd, const void *data, size_t len, off_t offset)
{
	struct iovec part = {(void *)(uintptr_t)data, len};

	return writev_noting(fd, &part, 1, offset);
}

static int sync_noting(long number, int fd)
{
	bool told = concerned(fd);
	uint64_t inode = told ? inode_of(fd) : 0;
	pid_t thread = (pid_t)syscall(SYS_gettid);
	int done;

	if (told) {
		lock();
		note(KIND_SYNC, inode, thread, NULL, NULL, NULL, 0);
		unlock();
	}
	done = (int)syscall(number, fd);
	if (told && done == 0) {
		lock();
		note(KIND_SYNCED, inode, thread, NULL, NULL, NULL, 0);
		unlock();
	}
	return done;
}

static int truncate_noting(int fd, off_t size)
{
	bool told = concerned(fd);
	int done;

	if (told)
		lock();
	done = (int)syscall(SYS_ftruncate, fd, size);
	if (told && done == 0)
		note(KIND_TRUNCATE, inode_of(fd), size, NULL, NULL, NULL, 0);
	if (told)
		unlock();
	return done;
}

static int rename_noting(int from_dir, const char *from, int to_dir, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX];
	bool told = absolute(from_dir, from, old);
	int done;

	told = absolute(to_dir, to, new) || told;
	if (told)
		lock();
	done = (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
	if (told && done == 0)
		note(KIND_RENAME, 0, 0, old, new, NULL, 0);
	if (told)
		unlock();
	return done;
}

static int unlink_noting(int dir, const char *name, int flags)
{
	char path[PATH_MAX];
	bool told = absolute(dir, name, path);
	int done;

	if (told)
		lock();
	done = (int)syscall(SYS_unlinkat, dir, name, flags);
	if (told && done == 0)
		note(KIND_UNLINK, 0, 0, path, NULL, NULL, 0);
	if (told)
		unlock();
	return done;
}

static int mkdir_noting(int dir, const char *name, mode_t mode)
{
	char path[PATH_MAX];
	bool told = absolute(dir, name, path);
	struct stat st;
	int done;

	if (told)
		lock();
	done = (int)syscall(SYS_mkdirat, dir, name, mode);
	if (told && done == 0)
		note(KIND_MKDIR, stat(path, &st) == 0 ? st.st_ino : 0, 0, path, NULL, NULL, 0);
	if (told)
		unlock();
	return done;
}

static int allocate_noting(int fd, int mode, off_t offset, off_t len)
{
	bool told = concerned(fd);
	int done;

	if (told)
		lock();
	done = (int)syscall(SYS_fallocate, fd, mode, offset, len);
	if (told && done == 0)
		note(KIND_ALLOCATE, inode_of(fd), offset + len, NULL, NULL, NULL, 0);
	if (told)
		unlock();
	return done;
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	ssize_t done;

	if (!shared || !(flags & MSG_DONTWAIT))
		return syscall(SYS_sendto, fd, data, len, flags, NULL, 0);
	lock();
	done = syscall(SYS_sendto, fd, data, len, flags, NULL, 0);
	if (done > 0)
		note(KIND_SEND, inode_of(fd), 0, NULL, NULL, data, (size_t)done);
	unlock();
	return done;
}

static void *map_noting(void *to, size_t len, int protection, int flags, int fd, off_t offset)
{
	char path[PATH_MAX];

	if (fd >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE) && shared &&
		path_of(fd, path) && below(path)) {
		lock();
		note(KIND_MAPPED, inode_of(fd), 0, path, NULL, NULL, 0);
		unlock();
	}
	return (void *)syscall(SYS_mmap, to, len, protection, flags, fd, offset);
}
