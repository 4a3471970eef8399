/*
 * Tests that background data is written to the disk in small portions.
 */
#include "store/bdb/env/writeback.h"

#include "base/clock.h"
#include "batch.h"
#include "preload.h"
#include "scratch.h"
#include "store/bdb/env/env.h"
#include "store/bdb/env/log_prealloc.h"
#include "store/bdb/env/maintain.h"
#include "store/store.h"
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCHES_MAX 500
#define ZEROS       (BDB_LOG_FILE_SIZE / WRITEBACK_BYTES) /* portions in a spare log file */

static char directory[64];
static atomic_uint of_tables, of_spares, of_others;
static atomic_int error_of_tables, error_of_spares;

static int count(atomic_uint *calls, atomic_int *error)
{
	atomic_fetch_add(calls, 1);
	return atomic_load(error);
}

/* Replaces libc's function, also for the service's own code: counts the portions, and fails. */
int sync_file_range(int fd, off64_t offset, off64_t len, unsigned int flags)
{
	char path[PATH_MAX] = "";
	int error = 0;

	path_of(fd, path);
	/* Waiting here would consume the error that fdatasync must report. */
	if (offset || len || flags != SYNC_FILE_RANGE_WRITE)
		atomic_fetch_add(&of_others, 1);
	else if (strstr(path, "/transaction.db"))
		error = count(&of_tables, &error_of_tables);
	else if (strstr(path, "/" LOG_PREALLOC_MAKING_NAME))
		error = count(&of_spares, &error_of_spares);
	if (error) {
		errno = error;
		return -1;
	}
	return (int)syscall(SYS_sync_file_range, fd, offset, len, flags);
}

START_TEST(a_checkpoint_rests_so_many_times)
{
	const uint64_t pages[] = {1200, 1201, 2000, 7000, 20000, 999999, 1000000000};

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		ck_assert_uint_ge(pages[i] / writeback_lot(pages[i]), WRITEBACK_RESTS);
		ck_assert_uint_le(pages[i] / writeback_lot(pages[i]), WRITEBACK_RESTS * 5 / 4);
	}
	ck_assert_uint_eq(writeback_lot(0), 8);
	ck_assert_uint_eq(writeback_lot(100), 8);
	/* libdb takes an int. */
	ck_assert_uint_eq(writeback_lot(UINT64_MAX), INT_MAX);
}
END_TEST

/* Returns the result of maintain_next_kib() for 16 MiB and 10,000 pages. */
static uint32_t next_kib(uint32_t kib, uint64_t log_kib, uint64_t pages)
{
	const struct store_options options = {.checkpoint_kib = 16384, .checkpoint_pages = 10000};

	return maintain_next_kib(&options, kib, log_kib, pages);
}

START_TEST(a_checkpoint_comes_by_log_or_by_pages)
{
	/* The same pages repeatedly: the log determines the interval. */
	ck_assert_uint_eq(next_kib(16384, 16384, 8000), 16384);
	ck_assert_uint_eq(next_kib(16384, 20000, 10000), 16384);
	/* Different pages each time: at half of it, by log or time. */
	ck_assert_uint_eq(next_kib(16384, 16384, 20000), 8192);
	ck_assert_uint_eq(next_kib(16384, 12288, 15000), 8192);
	ck_assert_uint_eq(next_kib(8192, 8192, 10000), 8192);
	/* Finally the same pages again. */
	ck_assert_uint_eq(next_kib(8192, 8192, 4000), 16384);
}
END_TEST

/*
 * A checkpoint that was made by time after the load ended has many pages and no log. It must not
 * have a lasting effect.
 */
START_TEST(a_checkpoint_after_little_log_tells_nothing)
{
	ck_assert_uint_eq(next_kib(16384, 1, 5000), 16384);
	ck_assert_uint_eq(next_kib(8192, 0, 1), 8192);
	/* Too many pages: it has an effect until the next checkpoint by log. */
	ck_assert_uint_eq(next_kib(16384, 1, 12000), 64);
	ck_assert_uint_eq(next_kib(64, 1, 50), 64);
	ck_assert_uint_eq(next_kib(64, 70, 50), 14000);
}
END_TEST

START_TEST(a_checkpoint_knows_no_pages_where_none_are_told)
{
	struct store_options options = {.checkpoint_kib = 1048576};

	ck_assert_uint_eq(maintain_next_kib(&options, 1048576, 1048576, 1000000), 1048576);
	/* No product overflows: 2 TiB of log. */
	options.checkpoint_pages = UINT32_MAX;
	options.checkpoint_kib = UINT32_MAX;
	ck_assert_uint_eq(maintain_next_kib(&options, 64, UINT64_C(1) << 31, UINT64_C(1) << 33),
		(UINT64_C(1) << 30) - 1);
}
END_TEST

/*
 * Opens a store that makes a checkpoint after 4 MiB of log. That is 10 batches and about 900
 * pages.
 */
static struct store *open_scratch(const char *home, uint32_t checkpoint_pages)
{
	const struct store_options options = {
		.directory = home,
		.cache_mib = 64,
		.checkpoint_kib = 4096,
		.checkpoint_interval_ms = 3600000,
		.checkpoint_pages = checkpoint_pages,
		.log_keep_mib = 64,
		.create = true,
	};
	struct store *store;
	char why[256] = "";

	ck_assert_int_eq(mkdir(home, 0700), 0);
	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	return store;
}

/* Returns whether there are more than @known checkpoints within @wait_ms. */
static bool more_checkpoints(struct store *store, uint64_t known, int64_t wait_ms)
{
	const int64_t end_ms = clock_boot_ms() + wait_ms;
	struct store_figures figures;

	do {
		poll(NULL, 0, 10);
		store->figures(store, &figures);
	} while (figures.checkpoints <= known && clock_boot_ms() < end_ms);
	return figures.checkpoints > known;
}

/*
 * Makes two checkpoints by 4 MiB of log each. Returns whether @batches of 400 KiB of log then
 * cause another; waits @wait_ms for each. On a slow machine, some pages are written before a
 * checkpoint counts them, so that the same number of pages takes more log.
 */
static bool little_log_is_enough(uint32_t checkpoint_pages, int batches, int64_t wait_ms)
{
	struct store *store;
	uint64_t last_id = 0;
	char home[96];
	struct ws ws;
	bool enough = false;
	int left = 60;

	snprintf(home, sizeof(home), "%s/%u", directory, checkpoint_pages);
	store = open_scratch(home, checkpoint_pages);
	ws_init(&ws);
	for (uint64_t known = 0; known < 2; known++)
		while (left-- > 0 && !more_checkpoints(store, known, 100))
			batch_save(store, &ws, &last_id);
	ck_assert_int_gt(left, 0);
	for (int saved = 0; saved < batches && !enough; saved++) {
		batch_save(store, &ws, &last_id);
		enough = more_checkpoints(store, 2, wait_ms);
	}
	ws_free(&ws);
	store->close(store);
	return enough;
}

/* The second checkpoint determines how many pages a given amount of log produces. */
START_TEST(a_checkpoint_comes_as_the_last_ones_pages_tell)
{
	ck_assert(little_log_is_enough(100, 8, 2500));
	ck_assert(!little_log_is_enough(0, 2, 250));
	/* As if the option were not set. */
	ck_assert(!little_log_is_enough(1000000, 2, 250));
}
END_TEST

/* Saves batches, with checkpoints, until @enough pages of a table were written. */
static void save_until(unsigned int enough)
{
	char home[96], why[256] = "";
	struct store_options options = {
		.directory = home,
		.cache_mib = 64,
		.checkpoint_kib = 4096,
		.checkpoint_interval_ms = 100,
		.log_keep_mib = 64,
		.prepare_log = true,
		.create = true,
	};
	unsigned int tables, spares, others;
	struct store *store;
	uint64_t last_id = 0;
	struct ws ws;

	snprintf(home, sizeof(home), "%s/%d", directory, (int)getpid());
	ck_assert_int_eq(mkdir(home, 0700), 0);
	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	ws_init(&ws);
	/* A batch fills some tens of pages, and the first checkpoint does not pause. */
	for (int i = 0; i < BATCHES_MAX && atomic_load(&of_tables) < enough; i++)
		batch_save(store, &ws, &last_id);
	for (int i = 0; i < 1000 && atomic_load(&of_spares) < ZEROS; i++)
		poll(NULL, 0, 10);
	ws_free(&ws);
	store->close(store);
	/* Read before the assertions, because they print their expressions. */
	tables = atomic_load(&of_tables);
	spares = atomic_load(&of_spares);
	others = atomic_load(&of_others);
	ck_assert_uint_ge(tables, enough);
	ck_assert_uint_ge(spares, ZEROS);
	ck_assert_uint_eq(others, 0);
}

START_TEST(pages_and_zeros_are_handed_over_while_they_are_written)
{
	save_until(50);
}
END_TEST

/* A kernel without the call, a filter of system calls, or too little memory: no data is lost. */
START_TEST(handing_over_may_be_refused)
{
	const int errors[] = {ENOSYS, EPERM, EINVAL, ENOMEM, EINTR};

	atomic_store(&error_of_tables, errors[_i]);
	atomic_store(&error_of_spares, errors[_i]);
	save_until(2);
}
END_TEST

START_TEST(a_spare_that_cannot_be_handed_over_ends_nothing)
{
	atomic_store(&error_of_spares, EIO);
	save_until(2);
}
END_TEST

/* The kernel may have dropped the page, so the checkpoint must not be written. */
START_TEST(a_page_that_cannot_be_handed_over_ends_the_process)
{
	const int errors[] = {EIO, ENOSPC, EROFS};

	atomic_store(&error_of_tables, errors[_i]);
	save_until(UINT_MAX);
}
END_TEST

/* Returns the portion with which a checkpoint begins; it then writes @pages. */
static int lot_of(DB_ENV *env, unsigned int pages)
{
	db_timeout_t rest_us;
	int lot, after;

	writeback_checkpoint_begin(env);
	ck_assert_int_eq(env->get_mp_max_write(env, &lot, &rest_us), 0);
	while (pages--)
		writeback_wrote_page(STDOUT_FILENO);
	writeback_checkpoint_end(env);
	ck_assert_int_eq(env->get_mp_max_write(env, &after, &rest_us), 0);
	ck_assert_int_eq(after, 0);
	return lot;
}

START_TEST(the_lot_is_of_the_last_checkpoints)
{
	DB_ENV *env;

	ck_assert_int_eq(db_env_create(&env, 0), 0);
	ck_assert_int_eq(lot_of(env, 0), INT_MAX);
	ck_assert_int_eq(lot_of(env, 6000), INT_MAX);
	/* Most are not due when the function asks for them. */
	ck_assert_int_eq(lot_of(env, 0), 40);
	ck_assert_int_eq(lot_of(env, 0), 40);
	ck_assert_int_eq(lot_of(env, 10), 40);
	ck_assert_int_eq(lot_of(env, 10), 20);
	ck_assert_int_eq(lot_of(env, 4500), 10);
	ck_assert_int_eq(lot_of(env, 4500), 30);
	env->close(env, 0);
}
END_TEST

static int64_t waited_ms(unsigned long seconds, unsigned long microseconds)
{
	int64_t begin = clock_boot_ms();

	ck_assert_int_eq(writeback_wait(seconds, microseconds), 0);
	return clock_boot_ms() - begin;
}

START_TEST(a_checkpoint_comes_back_at_once_to_a_page_in_use)
{
	DB_ENV *env;

	ck_assert_int_eq(db_env_create(&env, 0), 0);
	writeback_checkpoint_begin(env);
	/* One of three attempts is quick, even if the machine is slow. */
	ck_assert(waited_ms(1, 0) < 500 || waited_ms(1, 0) < 500 || waited_ms(1, 0) < 500);
	writeback_checkpoint_end(env);
	/* All other waits are unchanged. */
	ck_assert_int_ge(waited_ms(1, 0), 1000);
	ck_assert_int_ge(waited_ms(0, 20000), 20);
	waited_ms(0, 0);
	env->close(env, 0);
}
END_TEST

/* Needed around the processes of the tests, some of which exit early. */
static void make_directory(void)
{
	scratch_make(directory);
}

static void remove_directory(void)
{
	scratch_remove(directory);
}

Suite *writeback_suite(void)
{
	Suite *suite = suite_create("writeback");
	TCase *tcase = tcase_create("writeback");

	tcase_set_timeout(tcase, 60);
	tcase_add_unchecked_fixture(tcase, make_directory, remove_directory);
	tcase_add_test(tcase, a_checkpoint_rests_so_many_times);
	tcase_add_test(tcase, a_checkpoint_comes_by_log_or_by_pages);
	tcase_add_test(tcase, a_checkpoint_after_little_log_tells_nothing);
	tcase_add_test(tcase, a_checkpoint_knows_no_pages_where_none_are_told);
	tcase_add_test(tcase, a_checkpoint_comes_as_the_last_ones_pages_tell);
	tcase_add_test(tcase, the_lot_is_of_the_last_checkpoints);
	tcase_add_test(tcase, a_checkpoint_comes_back_at_once_to_a_page_in_use);
	tcase_add_test(tcase, pages_and_zeros_are_handed_over_while_they_are_written);
	tcase_add_loop_test(tcase, handing_over_may_be_refused, 0, 5);
	tcase_add_test(tcase, a_spare_that_cannot_be_handed_over_ends_nothing);
	tcase_add_loop_exit_test(tcase, a_page_that_cannot_be_handed_over_ends_the_process,
		STORE_EXIT_IO, 0, 3);
	suite_add_tcase(suite, tcase);
	return suite;
}
