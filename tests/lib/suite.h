/*
 * suite - makes a suite of a list of tests.
 */
#ifndef TESTS_LIB_SUITE_H
#define TESTS_LIB_SUITE_H

#include <check.h>

/* Makes a suite with one case from the tests in the NULL-terminated list @tests. */
static inline Suite *suite_make(const char *name, const TTest *const *tests, double timeout_s)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, timeout_s);
	for (; *tests; tests++)
		tcase_add_test(tcase, *tests);
	suite_add_tcase(suite, tcase);
	return suite;
}

#endif
