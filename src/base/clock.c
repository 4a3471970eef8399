#include "base/clock.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

static int64_t read_ns(clockid_t clock)
{
	struct timespec now;

	/* Cannot fail: the kernel has this clock and the pointer is valid. */
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

/*
 * Returns the kernel's boot id as a number. Without /proc every start of the program counts as a
 * boot.
 */
static uint64_t read_boot(void)
{
	char id[40] = "";
	FILE *file = fopen(BOOT_ID_FILE, "re");
	uint64_t boot;

	if (file && !fgets(id, sizeof(id), file))
		id[0] = '\0';
	if (file)
		fclose(file);
	boot = id[0] ? (uint64_t)strtoul(id, NULL, 16) << 32 | text_hash(id)
		     : (uint64_t)read_ns(CLOCK_REALTIME);
	return boot ? boot : 1;
}

struct moment clock_now(void)
{
	static uint64_t boot;

	if (!boot)
		boot = read_boot();
	return (struct moment){clock_wall_ms(), clock_boot_ms(), boot};
}

int64_t clock_wall_ms(void)
{
	return read_ns(CLOCK_REALTIME) / NS_PER_MS;
}

int64_t clock_boot_ms(void)
{
	return read_ns(CLOCK_BOOTTIME) / NS_PER_MS;
}

int64_t clock_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

void clock_sleep_us(int64_t us)
{
	int64_t until = read_ns(CLOCK_MONOTONIC) + us * NS_PER_US;
	struct timespec at = {
		.tv_sec = (time_t)(until / NS_PER_S),
		.tv_nsec = (long)(until % NS_PER_S),
	};

	if (us <= 0)
		return;
	/* Use an absolute time, so that a signal does not prolong the sleep either. */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

void clock_sleep_ms(int64_t ms)
{
	clock_sleep_us(ms * (NS_PER_MS / NS_PER_US));
}
