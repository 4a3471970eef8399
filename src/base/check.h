/*
 * check - assertions that stay on in release builds.
 *
 * CHECK(condition) states an invariant of the program: only a bug of the program makes it false. The
 * process then logs event=check_failed with the condition and its place, and ends with SIGABRT.
 * Nothing that the bug corrupted is saved. The supervisor starts another engine, which recovers.
 *
 * Do not use it for anything that comes from outside: requests, configuration, memory that runs out,
 * or the content of the disk.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#define CHECK(condition)                                                                           \
	(__builtin_expect(!(condition), 0)                                                         \
			? check_failed(#condition, __FILE__, __LINE__, __func__)                   \
			: (void)0)

void check_failed(const char *condition, const char *file, int line, const char *function)
	__attribute__((noreturn, cold));

#endif
