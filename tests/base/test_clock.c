#include "suites.h"

#include "base/clock.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static void on_alarm(int number)
{
	(void)number;
}

START_TEST(clocks_agree)
{
	int64_t wall = clock_wall_ms(), boot = clock_boot_ms(), ns = clock_boot_ns();

	ck_assert_int_le(wall / 1000 - (int64_t)time(NULL), 1);
	ck_assert_int_ge(wall / 1000 - (int64_t)time(NULL), -1);
	ck_assert_int_gt(boot, 0);
	ck_assert_int_le(boot, ns / 1000000);
	ck_assert_int_le(ns, clock_boot_ns());
}
END_TEST

START_TEST(signals_do_not_cut_a_sleep)
{
	const struct itimerval every = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action;
	int64_t start = clock_boot_ms();

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm;
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
	clock_sleep_ms(120);
	ck_assert_int_ge(clock_boot_ms() - start, 119);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	start = clock_boot_ms();
	clock_sleep_ms(0);
	clock_sleep_ms(-5);
	ck_assert_int_lt(clock_boot_ms() - start, 1000);
}
END_TEST

Suite *clock_suite(void)
{
	const TTest *const tests[] = {clocks_agree, signals_do_not_cut_a_sleep, NULL};

	return suite_make("clock", tests, 10);
}
