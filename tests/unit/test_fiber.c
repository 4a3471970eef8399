#include "suites.h"

#include "base/clock.h"
#include "base/fiber.h"

#include <poll.h>
#include <unistd.h>

static int ends[2];
static bool read_came, time_came;
static unsigned int breaths;

/* Always has something to do. */
static void breathe_on(void *unused)
{
	(void)unused;
	while (!read_came || !time_came) {
		breaths++;
		fiber_breathe();
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

/* Those that are never without work leave room for what comes from outside. */
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
	ck_assert(fibers_run(fibers));
	ck_assert(read_came && time_came);
	ck_assert_uint_gt(breaths, 2);
	fibers_free(fibers);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

Suite *fiber_suite(void)
{
	const TTest *const tests[] = {who_breathes_starves_nobody, NULL};

	return suite_make("fiber", tests, 60);
}
