/* clock - the only module that reads the time. All others get the time from their callers. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* One instant, on both clocks. */
struct moment {
	int64_t wall_ms; /* as clock_wall_ms() */
	int64_t boot_ms; /* as clock_boot_ms() */
	uint64_t boot;   /* identifies the boot of boot_ms; never 0 */
};

/* Now. */
struct moment clock_now(void);

/* Unix time in milliseconds. */
int64_t clock_wall_ms(void);

/*
 * Milliseconds since boot (CLOCK_BOOTTIME). Never jumps and includes suspension. Use it for
 * deadlines and leases.
 */
int64_t clock_boot_ms(void);

/* Nanoseconds since boot, for measurements. */
int64_t clock_boot_ns(void);

/*
 * Sleeps for @ms milliseconds or @us microseconds. A signal that is handled does not shorten the
 * sleep.
 */
void clock_sleep_ms(int64_t ms);
void clock_sleep_us(int64_t us);

#endif
