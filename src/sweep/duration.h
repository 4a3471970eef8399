/*
 * duration - lengths of time as people write them.
 */
#ifndef SWEEP_DURATION_H
#define SWEEP_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_MAX_MS (24 * INT64_C(3600000))

/*
 * Reads a whole number and its unit, ms, s, m or h; without a unit these are seconds. False: it is
 * neither, or not above 0 and at most a day.
 */
bool duration_parse(const char *text, int64_t *ms);

#endif
