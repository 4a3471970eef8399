#include "suites.h"

#include "base/histogram.h"

#include <string.h>

START_TEST(a_value_has_one_place)
{
	const struct histogram_scale *scale = &histogram_sizes;

	ck_assert_uint_eq(histogram_place_of(scale, 0), 0);
	ck_assert_uint_eq(histogram_place_of(scale, 1), 0);
	ck_assert_uint_eq(histogram_place_of(scale, 2), 1);
	ck_assert_uint_eq(histogram_place_of(scale, 3), 2);
	ck_assert_uint_eq(histogram_place_of(scale, 4), 2);
	ck_assert_uint_eq(histogram_place_of(scale, 256), 8);
	ck_assert_uint_eq(histogram_place_of(scale, 257), 9);
	ck_assert_uint_eq(histogram_place_of(scale, UINT64_MAX), 9);
}
END_TEST

START_TEST(scales_rise_and_fit)
{
	const struct histogram_scale *const scales[] = {&histogram_durations_us, &histogram_sizes};

	for (unsigned int i = 0; i < 2; i++) {
		/* There is one more slot than bounds, for larger values. */
		ck_assert_uint_lt(scales[i]->count, HISTOGRAM_PLACES);
		for (unsigned int n = 1; n < scales[i]->count; n++)
			ck_assert_uint_lt(scales[i]->bounds[n - 1], scales[i]->bounds[n]);
	}
}
END_TEST

START_TEST(values_are_counted_and_summed)
{
	struct histogram histogram;

	memset(&histogram, 0, sizeof(histogram));
	ck_assert_uint_eq(histogram_count(&histogram), 0);
	histogram_add(&histogram, &histogram_durations_us, 250);
	histogram_add(&histogram, &histogram_durations_us, 251);
	histogram_add(&histogram, &histogram_durations_us, 60000000);
	ck_assert_uint_eq(histogram.places[0].count, 1);
	ck_assert_uint_eq(histogram.places[1].count, 1);
	ck_assert_uint_eq(histogram.places[14].count, 1);
	ck_assert_uint_eq(histogram.sum, 60000501);
	ck_assert_uint_eq(histogram_count(&histogram), 3);
}
END_TEST

Suite *histogram_suite(void)
{
	const TTest *const tests[] = {a_value_has_one_place, scales_rise_and_fit,
		values_are_counted_and_summed, NULL};

	return suite_make("histogram", tests, 10);
}
