/* duration - reads durations typed by people. */
#ifndef SWEEP_DURATION_H
#define SWEEP_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_MAX_MS (24 * INT64_C(3600000))

/*
 * Reads an integer with a unit, ms, s, m or h; the default is seconds. Returns false for other
 * text, for 0, and for more than a day.
 */
bool duration_parse(const char *text, int64_t *ms);

#endif
