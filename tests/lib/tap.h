/*
 * tap - runs check suites and prints TAP on standard output, for tests/run.
 */
#ifndef TESTS_LIB_TAP_H
#define TESTS_LIB_TAP_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The linker directs all calls of _tcase_add_test() to the second (--wrap, configure.ac). */
void __real__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_code, int from,
	int to);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_code, int from,
	int to);

/* Adds @test, unless $CB_CASE is set and is not a part of its name. Several files of a program may
   include this header, so the function is weak. */
__attribute__((weak)) void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal,
	int exit_code, int from, int to)
{
	const char *wanted = getenv("CB_CASE");

	if (!wanted || strstr(test->name, wanted))
		__real__tcase_add_test(tcase, test, signal, exit_code, from, to);
}

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
