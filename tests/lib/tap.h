/*
 * tap - runs check suites and prints TAP on standard output, for tests/run.
 */
#ifndef TESTS_LIB_TAP_H
#define TESTS_LIB_TAP_H

#include <check.h>
#include <stdlib.h>

/* Runs the suites of the NULL-terminated list @makers. Returns main()'s exit code. */
static inline int tap_main(Suite *(*const makers[])(void))
{
	SRunner *runner = srunner_create(makers[0]());
	int failed;

	for (size_t i = 1; makers[i]; i++)
		srunner_add_suite(runner, makers[i]());
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
