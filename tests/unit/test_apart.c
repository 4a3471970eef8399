#include "suites.h"

#include "base/apart.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct found {
	pid_t pid;
	bool done;
};

static void work(void *data)
{
	struct found *found = data;

	found->pid = getpid();
	found->done = true;
}

static void work_aborted(void *data)
{
	work(data);
	abort();
}

static void work_exited(void *data)
{
	work(data);
	exit(2);
}

START_TEST(another_process_does_it)
{
	struct found *found = apart_memory(sizeof(*found));
	int end = -1;

	ck_assert_ptr_nonnull(found);
	ck_assert(!found->done);
	ck_assert_int_eq(apart_run(work, found, &end), 0);
	ck_assert_int_eq(end, 0);
	ck_assert(found->done);
	ck_assert_int_gt(found->pid, 0);
	ck_assert_int_ne(found->pid, getpid());
	apart_free(found, sizeof(*found));
	apart_free(NULL, 1);
}
END_TEST

START_TEST(its_end_is_told)
{
	struct found *found = apart_memory(sizeof(*found));
	int end = 0;

	ck_assert_int_eq(apart_run(work_aborted, found, &end), 0);
	ck_assert(WIFSIGNALED(end) && WTERMSIG(end) == SIGABRT);
	ck_assert_int_eq(apart_run(work_exited, found, &end), 0);
	ck_assert(WIFEXITED(end) && WEXITSTATUS(end) == 2);
	apart_free(found, sizeof(*found));
}
END_TEST

START_TEST(nobody_need_hear_of_children)
{
	struct found *found = apart_memory(sizeof(*found));
	int end = -1;

	signal(SIGCHLD, SIG_IGN);
	ck_assert_int_eq(apart_run(work, found, &end), 0);
	ck_assert_int_eq(end, 0);
	ck_assert(found->done);
	signal(SIGCHLD, SIG_DFL);
	apart_free(found, sizeof(*found));
}
END_TEST

/* exit() flushes what it finds: what the caller had in a buffer is written once. */
START_TEST(a_buffer_is_written_once)
{
	struct found *found = apart_memory(sizeof(*found));
	FILE *file = tmpfile();
	char text[64];
	int end;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs("once", file), 0);
	ck_assert_int_eq(apart_run(work_exited, found, &end), 0);
	ck_assert_int_eq(fflush(file), 0);
	ck_assert_int_eq(pread(fileno(file), text, sizeof(text), 0), 4);
	fclose(file);
	apart_free(found, sizeof(*found));
}
END_TEST

Suite *apart_suite(void)
{
	Suite *suite = suite_create("apart");
	TCase *tcase = tcase_create("apart");

	tcase_add_test(tcase, another_process_does_it);
	tcase_add_test(tcase, its_end_is_told);
	tcase_add_test(tcase, nobody_need_hear_of_children);
	tcase_add_test(tcase, a_buffer_is_written_once);
	suite_add_tcase(suite, tcase);
	return suite;
}
