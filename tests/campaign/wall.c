/*
 * wall.so - sets the wall clock of a program, and no other clock. Loaded with LD_PRELOAD.
 *
 *     WALL_CLOCK  file of 8 bytes: how many nanoseconds the clock is ahead. It is mapped, so that a
 *                 change is a jump, at once, for every process that has it
 *     WALL_SPARES  a program that keeps the real one: lighttpd restarts itself, and with it the
 *                 workers, when the clock jumps
 *
 * libfaketime 0.9.10, which is what Debian 12 has, is not used: where it leaves CLOCK_MONOTONIC as it
 * is, waits until a time of that clock (clock_nanosleep(), pthread_cond_timedwait()) still end at
 * once, so that what it shows is not a jump of the wall clock.
 *
 * Waits until a time of the wall clock are not changed; the programs have none. Nor are the times of
 * files, nor what the C library asks for itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

static const _Atomic int64_t *ahead_ns;
static int (*next_clock_gettime)(clockid_t clock, struct timespec *now);

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("WALL_CLOCK"), *spared = getenv("WALL_SPARES");
	void *next = dlsym(RTLD_NEXT, "clock_gettime");
	int fd;
	void *page;

	/* ISO C has no conversion of an object's pointer into a function's. */
	*(void **)&next_clock_gettime = next;
	if (!path || (spared && strcmp(program_invocation_short_name, spared) == 0))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	page = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*ahead_ns), PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED) {
		perror("wall.so");
		abort();
	}
	ahead_ns = page;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int failed;
	int64_t ns;

	/* Other libraries may ask before this one is set up. */
	failed = next_clock_gettime ? next_clock_gettime(clock, now)
				    : (int)syscall(SYS_clock_gettime, clock, now);
	if (failed || !ahead_ns || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
		return failed;
	ns = (int64_t)now->tv_sec * NS_PER_S + now->tv_nsec + atomic_load(ahead_ns);
	now->tv_sec = (time_t)(ns / NS_PER_S);
	now->tv_nsec = (long)(ns % NS_PER_S);
	return 0;
}

int timespec_get(struct timespec *now, int base)
{
	return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec exact;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = (suseconds_t)(exact.tv_nsec / 1000);
	return 0;
}

time_t time(time_t *to)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (to)
		*to = now.tv_sec;
	return now.tv_sec;
}
