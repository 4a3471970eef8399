#include "suites.h"

#include "base/isolated.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

struct found {
	pid_t pid;
};

/* The process that ran the function last, whether or not it returned; in isolated_memory(). */
static pid_t *worker;

static void work(void *data)
{
	struct found *found = data;

	found->pid = *worker = getpid();
}

static void work_aborted(void *data)
{
	const struct rlimit none = {0, 0};

	work(data);
	setrlimit(RLIMIT_CORE, &none);
	abort();
}

static void work_exited(void *data)
{
	work(data);
	exit(0);
}

static void work_ended(void *data)
{
	work(data);
	/* Under perf(1) it is ignored. */
	signal(SIGUSR2, SIG_DFL);
	raise(SIGUSR2);
}

/* Runs @function in a child. Its data is copied back if, and only if, it returned. */
static enum status done_apart(void (*function)(void *data), char why[ISOLATED_WHY_MAX])
{
	struct found found = {0};
	enum status status;

	worker = isolated_memory(sizeof(*worker));
	ck_assert_ptr_nonnull(worker);
	ck_assert_int_eq(*worker, 0);
	status = isolated_run(function, &found, sizeof(found), why);
	ck_assert_int_gt(*worker, 0);
	ck_assert_int_ne(*worker, getpid());
	ck_assert_int_eq(found.pid, status == STATUS_OK ? *worker : 0);
	isolated_free(worker, sizeof(*worker));
	return status;
}

/* 1: SIGCHLD is ignored, and stays ignored. */
START_TEST(tells_the_end)
{
	char why[ISOLATED_WHY_MAX];

	signal(SIGCHLD, _i ? SIG_IGN : SIG_DFL);
	ck_assert_int_eq(done_apart(work, why), STATUS_OK);
	ck_assert_int_eq(done_apart(work_aborted, why), STATUS_NOMEM);
	ck_assert_str_eq(why, "out of memory");
	ck_assert_int_eq(done_apart(work_exited, why), STATUS_NOMEM);
	ck_assert_str_eq(why, "out of memory");
	ck_assert_int_eq(done_apart(work_ended, why), STATUS_NOMEM);
	ck_assert_str_eq(why, "the process for it was ended by signal 12");
	ck_assert(signal(SIGCHLD, SIG_DFL) == (_i ? SIG_IGN : SIG_DFL));
	isolated_free(NULL, 1);
}
END_TEST

/* exit() flushes stdio buffers: data in the caller's buffer must be written only once. */
START_TEST(a_buffer_is_written_once)
{
	FILE *file = tmpfile();
	char text[64], why[ISOLATED_WHY_MAX];

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs("once", file), 0);
	ck_assert_int_eq(done_apart(work_exited, why), STATUS_NOMEM);
	ck_assert_int_eq(fflush(file), 0);
	ck_assert_int_eq(pread(fileno(file), text, sizeof(text), 0), 4);
	fclose(file);
}
END_TEST

Suite *isolated_suite(void)
{
	Suite *suite = suite_create("isolated");
	TCase *tcase = tcase_create("isolated");

	tcase_add_loop_test(tcase, tells_the_end, 0, 2);
	tcase_add_test(tcase, a_buffer_is_written_once);
	suite_add_tcase(suite, tcase);
	return suite;
}
