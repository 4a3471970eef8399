/* The transaction ids of exams (conformance/exam.h). */
#include "conformance/exam.h"

#include "suite.h"

#include <tap.h>

/* Many more than an exam sends. */
#define IDS_OF_AN_EXAM 4096
#define BEGIN_MS       INT64_C(1800000000000)

/* The inquiries that the ledger numbers are 1 apart in data of old versions, and 16 in others. */
START_TEST(exams_of_one_second_share_no_id)
{
	const uint64_t stride = _i ? 16 : 1;

	for (uint64_t a = 0; a < 250; a++)
		for (uint64_t b = a + 1; b < 250; b++) {
			uint64_t one = exam_last_id_before(BEGIN_MS, a * stride);
			uint64_t other = exam_last_id_before(BEGIN_MS + 999, b * stride);

			ck_assert_uint_ge(one > other ? one - other : other - one, IDS_OF_AN_EXAM);
		}
}
END_TEST

START_TEST(ids_rise_by_the_second)
{
	ck_assert_uint_gt(exam_last_id_before(BEGIN_MS, 0),
		exam_last_id_before(BEGIN_MS - 1, 250) + IDS_OF_AN_EXAM - 1);
	ck_assert_uint_ge(exam_last_id_before(0, 0), UINT64_C(1) << 52);
	/* Numbers of JSON are exact below 2^53: until the year 2106. */
	ck_assert_uint_lt(exam_last_id_before(INT64_C(4294967295999), UINT64_MAX) + IDS_OF_AN_EXAM,
		UINT64_C(1) << 53);
}
END_TEST

static Suite *exam_ids_suite(void)
{
	const TTest *const tests[] = {ids_rise_by_the_second, NULL};
	Suite *suite = suite_make("exam_ids", tests, 20);
	TCase *tcase = tcase_create("strides");

	tcase_add_loop_test(tcase, exams_of_one_second_share_no_id, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(void) = {exam_ids_suite, NULL};

	return tap_main(makers);
}
