#include "suites.h"

#include "base/clock.h"
#include "base/fiber.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int ends[2];
static bool read_came, time_came;
static unsigned int breaths;

/* Always has work. */
static void breathe_on(void *unused)
{
	(void)unused;
	while (!read_came || !time_came) {
		breaths++;
		fiber_yield();
	}
}

static void wait_to_read(void *unused)
{
	(void)unused;
	while (!fiber_wait(ends[0], POLLIN, FIBER_FOREVER))
		;
	read_came = true;
}

static void wait_for_time(void *unused)
{
	(void)unused;
	ck_assert(!fiber_wait(-1, 0, clock_boot_ms() + 20));
	time_came = true;
}

/* Fibers that always have work leave time for external input. */
START_TEST(who_breathes_starves_nobody)
{
	struct fibers *fibers = fibers_new(4);

	ck_assert_ptr_nonnull(fibers);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "", 1), 1);
	ck_assert(fibers_add(fibers, breathe_on, NULL, false));
	ck_assert(fibers_add(fibers, breathe_on, NULL, false));
	ck_assert(fibers_add(fibers, wait_to_read, NULL, false));
	ck_assert(fibers_add(fibers, wait_for_time, NULL, false));
	ck_assert_msg(!fibers_add(fibers, breathe_on, NULL, false), "there is no room");
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert(fibers_run(fibers));
	ck_assert(read_came && time_came);
	ck_assert_uint_gt(breaths, 2);
	fibers_free(fibers);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static char order[64];

static void note(const char *what)
{
	ck_assert_uint_lt(strlen(order) + strlen(what), sizeof(order));
	strcat(order, what);
}

static struct fiber *gatherer;

static void gather_all(void *unused)
{
	(void)unused;
	gatherer = fiber_current();
	for (int turns = 0; turns < 2; turns++) {
		fiber_wait(-1, 0, FIBER_FOREVER);
		note("g");
	}
}

/* Adds work for the gathering fiber, and more after waiting. */
static void bring(void *name)
{
	note(name);
	fiber_wake_last(gatherer, false);
	fiber_wake_last(gatherer, false);
	fiber_yield();
	note(name);
	fiber_wake_last(gatherer, false);
}

/* Adds work when its descriptor becomes readable, without the others' knowledge. */
static void bring_when_told(void *name)
{
	char byte;

	while (!fiber_wait(ends[0], POLLIN, FIBER_FOREVER) || !fiber_was_notified(ends[0]))
		;
	note(name);
	fiber_wake_last(gatherer, false);
	/* fiber_wake() is not an event of the descriptor. */
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	ck_assert(!fiber_wait(ends[0], POLLIN, clock_boot_ms() + 5));
	ck_assert(!fiber_was_notified(ends[0]));
	/* A fiber that no longer waits for the descriptor must check it itself. */
	fiber_forget(ends[0]);
	ck_assert(fiber_was_notified(ends[0]));
}

/* One turn handles the work of all fibers, including those whose descriptor was ready. */
START_TEST(who_gathers_runs_behind_the_others)
{
	struct fibers *fibers = fibers_new(4);

	ck_assert_ptr_nonnull(fibers);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "", 1), 1);
	ck_assert(fibers_add(fibers, gather_all, NULL, false));
	ck_assert(fibers_add(fibers, bring_when_told, "t", false));
	ck_assert(fibers_add(fibers, bring, "a", false));
	ck_assert(fibers_add(fibers, bring, "b", false));
	ck_assert(fibers_run(fibers));
	ck_assert_str_eq(order, "abtgabg");
	fibers_free(fibers);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static unsigned int yields;

/* Replaces libc's function, which yields the CPU. */
int sched_yield(void);
int sched_yield(void)
{
	yields++;
	return 0;
}

/*
 * Requests a yield twice in its first turn of three. The second time the gatherer is already
 * queued.
 */
static void bring_patiently(void *unused)
{
	(void)unused;
	for (int turns = 0; turns < 3; turns++) {
		fiber_wake_last(gatherer, turns == 0);
		fiber_wake_last(gatherer, turns == 0);
		fiber_yield();
		fiber_yield();
		ck_assert_uint_eq(yields, 1);
	}
}

/* Is woken during the first fiber's yield and also requests one: that yield counts for both. */
static void bring_meanwhile(void *unused)
{
	(void)unused;
	fiber_wait(ends[0], POLLIN, FIBER_FOREVER);
	fiber_wake_last(gatherer, true);
}

static void gather_three(void *unused)
{
	(void)unused;
	gatherer = fiber_current();
	for (int turns = 0; turns < 3; turns++)
		fiber_wait(-1, 0, FIBER_FOREVER);
}

/* One yield serves all fibers that request it at the same time, and only these. */
START_TEST(who_is_patient_yields_once)
{
	struct fibers *fibers = fibers_new(3);

	yields = 0;
	ck_assert_ptr_nonnull(fibers);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "", 1), 1);
	ck_assert(fibers_add(fibers, gather_three, NULL, false));
	ck_assert(fibers_add(fibers, bring_meanwhile, NULL, false));
	ck_assert(fibers_add(fibers, bring_patiently, NULL, false));
	ck_assert(fibers_run(fibers));
	ck_assert_uint_eq(yields, 1);
	fibers_free(fibers);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static struct fiber *bringer;

/* The two wake each other until another fiber runs. */
static void answer_at_once(void *unused)
{
	(void)unused;
	gatherer = fiber_current();
	while (!time_came || !read_came) {
		fiber_wake(bringer);
		fiber_wait(-1, 0, FIBER_FOREVER);
	}
	fiber_wake(bringer);
}

static void ask_again(void *unused)
{
	(void)unused;
	bringer = fiber_current();
	while (!time_came || !read_came) {
		ck_assert_uint_lt(++breaths, 100000000);
		fiber_wake_last(gatherer, true);
		fiber_wait(-1, 0, FIBER_FOREVER);
	}
	fiber_wake(gatherer);
}

static void breathe_once(void *unused)
{
	(void)unused;
	fiber_yield();
	fiber_yield();
	read_came = true;
}

/*
 * The gatherer wakes others again and again. Timeouts still occur, and a yielding fiber
 * continues.
 */
START_TEST(who_gathers_stops_no_time)
{
	struct fibers *fibers = fibers_new(4);

	gatherer = bringer = NULL;
	time_came = read_came = false;
	ck_assert_ptr_nonnull(fibers);
	ck_assert(fibers_add(fibers, ask_again, NULL, false));
	ck_assert(fibers_add(fibers, answer_at_once, NULL, false));
	ck_assert(fibers_add(fibers, wait_for_time, NULL, false));
	ck_assert(fibers_add(fibers, breathe_once, NULL, false));
	ck_assert(fibers_run(fibers));
	ck_assert(time_came && read_came);
	fibers_free(fibers);
}
END_TEST

static double deep(unsigned int steps, double x)
{
	char weight[256];

	memset(weight, (int)steps, sizeof(weight));
	fiber_yield();
	return steps ? deep(steps - 1, x) + weight[steps % sizeof(weight)] : x;
}

/*
 * @result: a double, computed from values that deep() keeps in registers and on the stack across
 * its waits.
 */
static void go_deep(void *result)
{
	double *x = result;

	*x = deep(100, *x);
}

/* Each fiber continues where it was, with its own stack and the thread's signal mask. */
START_TEST(each_goes_on_with_its_own)
{
	struct fibers *fibers = fibers_new(3);
	double results[] = {0.5, 1.25, 3};
	sigset_t blocked, after;

	ck_assert_ptr_nonnull(fibers);
	for (size_t i = 0; i < 3; i++)
		ck_assert(fibers_add(fibers, go_deep, &results[i], false));
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
	ck_assert(fibers_run(fibers));
	ck_assert(results[0] == 5050.5 && results[1] == 5051.25 && results[2] == 5053);
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	ck_assert_int_eq(sigismember(&after, SIGUSR1), 1);
	fibers_free(fibers);
}
END_TEST

Suite *fiber_suite(void)
{
	const TTest *const tests[] = {who_breathes_starves_nobody,
		who_gathers_runs_behind_the_others, who_is_patient_yields_once,
		who_gathers_stops_no_time, each_goes_on_with_its_own, NULL};

	return suite_make("fiber", tests, 60);
}
