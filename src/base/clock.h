/*
 * clock - the only place that reads the time. Everything else is given it.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* One instant, on both clocks. */
struct moment {
	int64_t wall_ms; /* as clock_wall_ms() */
	int64_t boot_ms; /* as clock_boot_ms() */
	uint64_t boot;   /* which boot that counts from; never 0 */
};

/* Now. */
struct moment clock_now(void);

/* Unix time in milliseconds. */
int64_t clock_wall_ms(void);

/* Milliseconds since boot (CLOCK_BOOTTIME): never jumps, counts sleep; for deadlines and leases. */
int64_t clock_boot_ms(void);

/* Nanoseconds since boot, for measuring. */
int64_t clock_boot_ns(void);

/* Sleeps for @ms milliseconds, or @us microseconds, not cut short by signals handled elsewhere. */
void clock_sleep_ms(int64_t ms);
void clock_sleep_us(int64_t us);

#endif
