#include "base/histogram.h"

const struct histogram_scale histogram_durations_us = {
	14,
	{250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000,
		5000000},
};

const struct histogram_scale histogram_sizes = {9, {1, 2, 4, 8, 16, 32, 64, 128, 256}};

const struct field histogram_place_fields[] = {
	FIELD(FIELD_U64, histogram_place, count),
	FIELD_END,
};

const struct field histogram_fields[] = {
	FIELD_SUB(histogram, places, histogram_place, histogram_place_fields),
	FIELD(FIELD_U64, histogram, sum),
	FIELD_END,
};

unsigned int histogram_place_of(const struct histogram_scale *scale, uint64_t value)
{
	unsigned int place = 0;

	while (place < scale->count && value > scale->bounds[place])
		place++;
	return place;
}

void histogram_add(struct histogram *histogram, const struct histogram_scale *scale, uint64_t value)
{
	histogram->places[histogram_place_of(scale, value)].count++;
	histogram->sum += value;
}

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < HISTOGRAM_PLACES; i++)
		count += histogram->places[i].count;
	return count;
}
