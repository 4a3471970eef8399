/*
 * clock - the only place that reads the time. Everything else is given it.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Unix time in milliseconds. */
int64_t clock_wall_ms(void);

/* Milliseconds since boot (CLOCK_BOOTTIME): never jumps, counts sleep; for deadlines and leases. */
int64_t clock_boot_ms(void);

/* Nanoseconds since boot, for measuring. */
int64_t clock_boot_ns(void);

/* Sleeps for @ms milliseconds, not cut short by signals handled elsewhere. */
void clock_sleep_ms(int64_t ms);

#endif
