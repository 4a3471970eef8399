/*
 * tap - runs check suites and prints TAP on standard output, for tests/run.
 */
#ifndef TESTS_LIB_TAP_H
#define TESTS_LIB_TAP_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The linker directs all calls of these functions to the __wrap_ ones (--wrap, configure.ac). */
void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);
void __real__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_code, int from,
	int to);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_code, int from,
	int to);

bool tap_is_in_half(void);

/* Returns true if $CB_HALF selects the case: "0" selects the first case, the third and so on, "1" the others. Unset or
   empty selects every case. */
__attribute__((weak)) bool tap_is_in_half(void)
{
	static unsigned int cases;
	const char *half = getenv("CB_HALF");

	return !half || !half[0] || cases++ % 2 == (half[0] == '1');
}

bool tap_is_left_out(const char *name);

/* Returns true if $CB_LEAVE_OUT, words separated by blanks, has the name of the case. */
__attribute__((weak)) bool tap_is_left_out(const char *name)
{
	const size_t len = strlen(name);
	const char *at = getenv("CB_LEAVE_OUT");

	for (; at && (at = strstr(at, name)); at += len) {
		if ((at == getenv("CB_LEAVE_OUT") || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	}
	return false;
}

/* Adds @test, unless $CB_CASE is set and is not a part of its name, it is left out, or the other half is
   wanted. Several files of a program may include this header, so the functions are weak. */
__attribute__((weak)) void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal,
	int exit_code, int from, int to)
{
	const char *wanted = getenv("CB_CASE");

	if ((!wanted || strstr(test->name, wanted)) && !tap_is_left_out(test->name) &&
		tap_is_in_half())
		__real__tcase_add_test(tcase, test, signal, exit_code, from, to);
}

#define TAP_POINTS 1024

/*
 * Called by each ck_assert() that holds. libcheck writes the place to a file each time, to say after which
 * one a test crashed: a system call for each of millions of assertions. Here a place is written when the
 * test comes to it for the first time. Threads that come there at the same time may both write it. Without a
 * process for each test it would say nothing, and a case that limits the size of files would break that file.
 */
__attribute__((weak)) void __wrap__mark_point(const char *file, int line)
{
	static _Atomic(const char *) files[TAP_POINTS];
	static _Atomic(int) lines[TAP_POINTS];
	const size_t at = (size_t)line % TAP_POINTS;
	const char *forks;

	if (files[at] == file && lines[at] == line)
		return;
	files[at] = file;
	lines[at] = line;
	forks = getenv("CK_FORK");
	if (!forks || strcmp(forks, "no") != 0)
		__real__mark_point(file, line);
}

/* Runs the suites of the NULL-terminated list @makers. Returns main()'s exit code. */
static inline int tap_main(Suite *(*const makers[])(void))
{
	SRunner *runner = srunner_create(makers[0]());
	int failed;

	/* The result of a case is known even if the suite is ended later. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 1; makers[i]; i++)
		srunner_add_suite(runner, makers[i]());
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
