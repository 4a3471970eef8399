/*
 * histogram - how often a value of which size was measured.
 *
 * A scale has the upper bounds, in rising order; place i counts the values up to bound i that are
 * above the bound before it, the place behind the last bound the rest. Sums wrap at 2^64.
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

/* The place of @value. */
unsigned int histogram_place_of(const struct histogram_scale *scale, uint64_t value);

void histogram_add(struct histogram *histogram, const struct histogram_scale *scale,
	uint64_t value);

/* How many values were added. */
uint64_t histogram_count(const struct histogram *histogram);

#endif
