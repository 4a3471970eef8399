/*
 * histogram - counts measured values by size.
 *
 * A scale has upper bounds in rising order. Slot i counts the values up to bound i that exceed the
 * bound before it. The slot after the last bound counts all larger values. Sums wrap at 2^64.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include "base/field.h"

#define HISTOGRAM_PLACES 16

struct histogram_scale {
	unsigned int count; /* of bounds, below HISTOGRAM_PLACES */
	uint64_t bounds[HISTOGRAM_PLACES - 1];
};

/* Durations in microseconds, from 0.25 ms to 5 s. */
extern const struct histogram_scale histogram_durations_us;
/* Numbers of things, from 1 to 256. */
extern const struct histogram_scale histogram_sizes;

struct histogram_place {
	uint64_t count;
};
struct histogram {
	struct histogram_place places[HISTOGRAM_PLACES];
	uint64_t sum; /* of the values */
};
extern const struct field histogram_place_fields[];
extern const struct field histogram_fields[];

/* Returns the slot of @value. */
unsigned int histogram_place_of(const struct histogram_scale *scale, uint64_t value);

void histogram_add(struct histogram *histogram, const struct histogram_scale *scale,
	uint64_t value);

/* Returns the number of values added. */
uint64_t histogram_count(const struct histogram *histogram);

#endif
