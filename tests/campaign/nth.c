/*
 * nth.so - the n-th call of a kind fails, once or from then on. Loaded with LD_PRELOAD.
 *
 *     NTH_CONTROL  file that holds struct control; nthcall.py makes and writes it
 *
 * All processes that inherit it count together. While control.armed is 0 nothing is counted and
 * nothing fails. What the C library does on its own account (stdio) is not seen, so logs are whole.
 *
 * A call's place is its code (the return addresses) and its time (control.moment). If control.place
 * is set, only calls of that place are counted against n. If control.noting is set, the places of
 * all calls are listed after struct control in the file. Addresses are compared as they are: the
 * processes have no address space randomization then.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unwind.h>

#define ON_OPEN     open_or_fail
#define ON_WRITE    write_or_fail
#define ON_WRITEV   writev_or_fail
#define ON_SYNC     sync_or_fail
#define ON_TRUNCATE truncate_or_fail
#define ON_ALLOCATE allocate_or_fail
#define ON_RENAME   rename_or_fail
#include "../lib/preload.h"

enum call {
	CALL_READ,
	CALL_WRITE,
	CALL_SYNC,
	CALL_OPEN,
	CALL_RENAME,
	CALL_TRUNCATE,
	CALL_MALLOC,
	CALL_SEND,
	CALL_RECV,
	CALL_COUNT
};

enum { PLACES = 1 << 16, DEPTH_MAX = 64 };

struct control {
	_Atomic uint64_t armed;
	_Atomic uint64_t call; /* which fails */
	_Atomic uint64_t n;    /* counted from 1; 0: none fails */
	_Atomic uint64_t forever;
	_Atomic uint64_t error;
	_Atomic uint64_t struck; /* how often one failed */
	_Atomic uint64_t place;  /* of the call that fails; 0: any */
	_Atomic uint64_t met;    /* calls of that place */
	_Atomic uint64_t moment; /* of the script */
	_Atomic uint64_t noting;
	_Atomic uint64_t counts[CALL_COUNT];
	_Atomic uint64_t noted;
	_Atomic uint64_t places[PLACES]; /* the kind in the highest byte */
};

struct walk {
	uint64_t hash;
	int depth;
};

static struct control *control;

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("NTH_CONTROL");
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
	void *page;

	if (fd < 0)
		return;
	page = (void *)syscall(SYS_mmap, NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED,
		fd, 0);
	syscall(SYS_close, fd);
	if (page != MAP_FAILED)
		control = page;
}

/* FNV-1a, a word at a time. */
static void mix(struct walk *walk, uint64_t word)
{
	walk->hash = (walk->hash ^ word) * UINT64_C(0x100000001b3);
	walk->hash ^= walk->hash >> 29;
}

static _Unwind_Reason_Code pass_frame(struct _Unwind_Context *frame, void *arg)
{
	struct walk *walk = arg;

	mix(walk, (uint64_t)_Unwind_GetIP(frame));
	return ++walk->depth < DEPTH_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Of the caller's call. The unwinder may make calls that are seen here: those have no place. */
static uint64_t place_of(enum call call)
{
	static _Thread_local bool inside;
	struct walk walk = {UINT64_C(0xcbf29ce484222325), 0};

	if (inside)
		return 0;
	inside = true;
	mix(&walk, atomic_load(&control->moment));
	_Unwind_Backtrace(pass_frame, &walk);
	inside = false;
	return walk.hash >> 8 | (uint64_t)(call + 1) << 56;
}

static void note(uint64_t place)
{
	uint64_t at = atomic_fetch_add(&control->noted, 1);

	if (at < PLACES)
		atomic_store(&control->places[at], place);
}

/* Whether it is the one that fails, or comes after it; @count: its number among all of its kind. */
static bool reached(uint64_t place, uint64_t count)
{
	uint64_t n = atomic_load(&control->n);
	bool forever = atomic_load(&control->forever);

	if (!n)
		return false;
	if (!atomic_load(&control->place))
		return count == n || (count > n && forever);
	if (atomic_load(&control->struck))
		return forever;
	return place == atomic_load(&control->place) && atomic_fetch_add(&control->met, 1) + 1 == n;
}

/* Counts a call. True: it fails, errno says how. */
static bool fails(enum call call)
{
	bool chosen, noting;
	uint64_t count, place = 0;

	if (!control || !atomic_load(&control->armed))
		return false;
	count = atomic_fetch_add(&control->counts[call], 1) + 1;
	chosen = atomic_load(&control->call) == call;
	noting = atomic_load(&control->noting);
	if (noting || (chosen && atomic_load(&control->place) && !atomic_load(&control->struck)))
		place = place_of(call); /* once: the frames of here are in it */
	if (noting)
		note(place);
	if (!chosen || !reached(place, count))
		return false;
	atomic_fetch_add(&control->struck, 1);
	errno = (int)atomic_load(&control->error);
	return true;
}

#define CALL(type_, name_, kind_, parameters_, number_, ...)                                       \
	type_ name_ parameters_                                                                    \
	{                                                                                          \
		return fails(kind_) ? (type_)-1 : (type_)syscall(number_, __VA_ARGS__);            \
	}

CALL(ssize_t, read, CALL_READ, (int fd, void *to, size_t len), SYS_read, fd, to, len)
CALL(ssize_t, pread, CALL_READ, (int fd, void *to, size_t len, off_t at), SYS_pread64, fd, to, len,
	at)
CALL(ssize_t, pread64, CALL_READ, (int fd, void *to, size_t len, off64_t at), SYS_pread64, fd, to,
	len, at)
CALL(ssize_t, readv, CALL_READ, (int fd, const struct iovec *parts, int count), SYS_readv, fd,
	parts, count)
CALL(ssize_t, send, CALL_SEND, (int fd, const void *data, size_t len, int flags), SYS_sendto, fd,
	data, len, flags, NULL, 0)
CALL(ssize_t, sendmsg, CALL_SEND, (int fd, const struct msghdr *message, int flags), SYS_sendmsg,
	fd, message, flags)
CALL(ssize_t, recv, CALL_RECV, (int fd, void *to, size_t len, int flags), SYS_recvfrom, fd, to, len,
	flags, NULL, NULL)
CALL(ssize_t, recvmsg, CALL_RECV, (int fd, struct msghdr *message, int flags), SYS_recvmsg, fd,
	message, flags)

/* glibc's own, below the names that are taken here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return fails(CALL_MALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(CALL_MALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(CALL_MALLOC) ? NULL : __libc_realloc(old, size);
}

/* glibc's own function allocates memory for its message. */
void __assert_fail(const char *assertion, const char *file, unsigned int line, const char *function)
{
	char text[256];
	int len = snprintf(text, sizeof(text), "%s:%u: %s: Assertion `%s' failed.\n", file, line,
		function, assertion);

	if (len > (int)sizeof(text) - 1)
		len = (int)sizeof(text) - 1;
	syscall(SYS_write, STDERR_FILENO, text, (size_t)len);
	abort();
}

static int open_or_fail(int dir, const char *path, int flags, mode_t mode)
{
	return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

static ssize_t write_or_fail(int fd, const void *data, size_t len, off_t offset)
{
	if (fails(CALL_WRITE))
		return -1;
	return offset < 0 ? syscall(SYS_write, fd, data, len)
			  : syscall(SYS_pwrite64, fd, data, len, offset);
}

static ssize_t writev_or_fail(int fd, const struct iovec *parts, int count, off_t offset)
{
	if (fails(CALL_WRITE))
		return -1;
	return offset < 0 ? syscall(SYS_writev, fd, parts, count)
			  : syscall(SYS_pwritev, fd, parts, count, offset, 0L);
}

static int sync_or_fail(long number, int fd)
{
	return fails(CALL_SYNC) ? -1 : (int)syscall(number, fd);
}

static int truncate_or_fail(int fd, off_t size)
{
	return fails(CALL_TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

static int allocate_or_fail(int fd, int mode, off_t offset, off_t len)
{
	return fails(CALL_TRUNCATE) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

static int rename_or_fail(int from_dir, const char *from, int to_dir, const char *to)
{
	return fails(CALL_RENAME) ? -1 : (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
}
