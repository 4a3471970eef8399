#include "suites.h"

#include "console/page_rate.h"
#include "domain/desk_operator.h"

#include <stdio.h>

/* Returns how many of @most pages @name may open at @now_ms. */
static int opened(struct page_rate *limit, const char *name, int most, int64_t now_ms)
{
	int count = 0;

	for (int i = 0; i < most; i++)
		count += page_rate_take(limit, name, false, now_ms);
	return count;
}

START_TEST(pages_of_an_operator)
{
	struct page_rate *limit = page_rate_new(5);

	ck_assert_ptr_nonnull(limit);
	ck_assert_int_eq(opened(limit, "ann", 100, 1000), 5 * PAGE_RATE_SAVED_S);
	/* Those of another one count by themselves. */
	ck_assert_int_eq(opened(limit, "bob", 10, 1000), 10);
	ck_assert_int_eq(opened(limit, "ann", 10, 1199), 0);
	ck_assert_int_eq(opened(limit, "ann", 10, 1200), 1);
	ck_assert_int_eq(opened(limit, "ann", 20, 3200), 10);
	/* Another thread has read the clock earlier. */
	ck_assert_int_eq(opened(limit, "ann", 1, 1000), 0);
	ck_assert_int_eq(opened(limit, "ann", 20, 3400), 1);
	/* A long pause saves no more. */
	ck_assert_int_eq(opened(limit, "ann", 100, 3600000), 5 * PAGE_RATE_SAVED_S);
	page_rate_free(limit);
}
END_TEST

START_TEST(lists_as_csv)
{
	struct page_rate *limit = page_rate_new(5), *slow = page_rate_new(1);

	ck_assert(limit && slow);
	for (int i = 0; i < 5 * PAGE_RATE_SAVED_S / PAGE_RATE_CSV; i++)
		ck_assert(page_rate_take(limit, "ann", true, 1000));
	ck_assert(!page_rate_take(limit, "ann", true, 1000));
	ck_assert(!page_rate_take(limit, "ann", false, 1000));
	ck_assert(page_rate_take(limit, "ann", true, 5000));
	/* One is always possible after a pause. */
	ck_assert(page_rate_take(slow, "ann", true, 1000));
	ck_assert(!page_rate_take(slow, "ann", true, 12999));
	ck_assert(page_rate_take(slow, "ann", true, 13000));
	page_rate_free(limit);
	page_rate_free(slow);
}
END_TEST

START_TEST(more_names_than_operators)
{
	struct page_rate *limit = page_rate_new(1);
	char name[16];

	ck_assert_ptr_nonnull(limit);
	for (int i = 0; i <= DESK_OPERATORS_MAX; i++) {
		snprintf(name, sizeof(name), "op%d", i);
		ck_assert_int_eq(opened(limit, name, 100, 1000 + i), PAGE_RATE_SAVED_S);
	}
	/* The last one has the place of the first one; the others still count. */
	ck_assert_int_eq(opened(limit, "op1", 1, 1300), 0);
	ck_assert_int_eq(opened(limit, "op0", 100, 1301), PAGE_RATE_SAVED_S);
	page_rate_free(limit);
}
END_TEST

Suite *page_rate_suite(void)
{
	Suite *suite = suite_create("page rate");
	TCase *tcase = tcase_create("page rate");

	tcase_add_test(tcase, pages_of_an_operator);
	tcase_add_test(tcase, lists_as_csv);
	tcase_add_test(tcase, more_names_than_operators);
	suite_add_tcase(suite, tcase);
	return suite;
}
