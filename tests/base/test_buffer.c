#include "suites.h"

#include "base/buffer.h"

#include <string.h>

START_TEST(appends_up_to_the_bound)
{
	struct buffer b;
	char big[600];

	memset(big, 'x', sizeof(big));
	buffer_init(&b, 1000);
	ck_assert(buffer_append(&b, big, 600));
	ck_assert(buffer_append(&b, big, 400));
	ck_assert_uint_eq(b.len, 1000);
	ck_assert(buffer_append(&b, big, 0));
	ck_assert(!buffer_append(&b, big, 1));
	ck_assert(b.failed);
	ck_assert_uint_eq(b.len, 1000);
	/* The failure is sticky: a writer checks once at the end. */
	buffer_consume(&b, 500);
	ck_assert(!buffer_append(&b, big, 1));
	buffer_reset(&b);
	ck_assert(buffer_append(&b, "ab", 2));
	ck_assert_uint_eq(b.len, 2);
	buffer_free(&b);
	ck_assert_ptr_null(b.data);
	ck_assert_uint_eq(b.max, 1000);
}
END_TEST

START_TEST(refuses_a_length_that_wraps)
{
	struct buffer b;

	buffer_init(&b, SIZE_MAX);
	ck_assert(buffer_append_str(&b, "abc"));
	ck_assert_ptr_null(buffer_reserve(&b, SIZE_MAX - 1));
	ck_assert(b.failed);
	ck_assert_uint_eq(b.len, 3);
	buffer_free(&b);
}
END_TEST

START_TEST(prints_and_consumes)
{
	struct buffer b;

	buffer_init(&b, 64);
	ck_assert(buffer_append_str(&b, "one "));
	ck_assert(buffer_printf(&b, "%d %s", 2, "three"));
	ck_assert_uint_eq(b.len, 11);
	ck_assert_mem_eq(b.data, "one 2 three", 11);
	buffer_consume(&b, 4);
	ck_assert_uint_eq(b.len, 7);
	ck_assert_mem_eq(b.data, "2 three", 7);
	buffer_consume(&b, 100);
	ck_assert_uint_eq(b.len, 0);
	ck_assert(!buffer_printf(&b, "%80d", 1));
	ck_assert(b.failed);
	buffer_free(&b);
}
END_TEST

/* Tests text that fits into the existing memory, fits exactly, or does not fit. */
START_TEST(prints_across_the_end_of_its_memory)
{
	struct buffer b;

	for (int width = 1; width < 600; width++) {
		buffer_init(&b, 1000);
		ck_assert(buffer_append_str(&b, "one "));
		ck_assert(buffer_printf(&b, "%*d", width, 7));
		ck_assert(buffer_printf(&b, "%s", "end"));
		ck_assert_uint_eq(b.len, 4 + (size_t)width + 3);
		ck_assert_mem_eq(b.data, "one ", 4);
		ck_assert_mem_eq(b.data + 3 + width, "7end", 4);
		buffer_free(&b);
	}
}
END_TEST

START_TEST(appends_numbers)
{
	struct buffer b;

	buffer_init(&b, 22);
	ck_assert(buffer_append_number(&b, 0));
	ck_assert(buffer_append_number(&b, UINT64_MAX));
	ck_assert_uint_eq(b.len, 21);
	ck_assert_mem_eq(b.data, "018446744073709551615", 21);
	ck_assert(!buffer_append_number(&b, 10));
	ck_assert_uint_eq(b.len, 21);
	ck_assert(b.failed);
	buffer_free(&b);
}
END_TEST

Suite *buffer_suite(void)
{
	const TTest *const tests[] = {appends_up_to_the_bound, refuses_a_length_that_wraps,
		prints_and_consumes, prints_across_the_end_of_its_memory, appends_numbers, NULL};

	return suite_make("buffer", tests, 10);
}
