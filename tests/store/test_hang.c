/*
 * Tests a backup whose target hangs: the ledger's disk space and its exit do not depend on it.
 */
#include "base/clock.h"
#include "batch.h"
#include "preload.h"
#include "scratch.h"
#include "store/backup.h"
#include "store/bdb/env/writeback.h"
#include "store/exit.h"
#include "store/store.h"
#include "suites.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB       (1024 * 1024)
#define WAIT_MS   30000
#define LOW_WATER (64 * MIB)
/* More log files than a test writes. */
#define LOGS_MAX 1000
/* For each page: a checkpoint takes seconds, during which two files of the log are written. */
#define SLOW_MS 700
/* Longer than the interval at which the log files are examined. */
#define LOOK_MS 2500

static atomic_bool hangs;      /* writes below a directory "copy" hang */
static atomic_bool hanging;    /* a write hangs now */
static atomic_bool slow;       /* tables are written slowly, which makes a checkpoint slow */
static atomic_bool slowed;     /* a write was slow */
static atomic_bool slow_again; /* the next checkpoint made because space is low must be slow */
/* free bytes that the file system reports; below 0: the real number */
static atomic_long room = -1;
static char root[64];
static char directory[80];
static char target[80];

/* NOLINTBEGIN(bugprone-reserved-identifier): ld's names, --wrap */
ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset);
int __real_statvfs(const char *path, struct statvfs *vfs);
int __wrap_statvfs(const char *path, struct statvfs *vfs);
int __real_writeback_checkpoint(DB_ENV *env, uint32_t kib, uint32_t flags, uint64_t *pages);
int __wrap_writeback_checkpoint(DB_ENV *env, uint32_t kib, uint32_t flags, uint64_t *pages);

void hang_before_write(int fd)
{
	char path[PATH_MAX];

	if (!atomic_load(&slow))
		return;
	if (!path_of(fd, path) || strlen(path) < 3 || strcmp(path + strlen(path) - 3, ".db") != 0)
		return;
	atomic_store(&slowed, true);
	clock_sleep_ms(SLOW_MS);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset)
{
	char path[PATH_MAX];

	if (atomic_load(&hangs) && path_of(fd, path)) {
		while (atomic_load(&hangs) && strstr(path, "/copy/")) {
			atomic_store(&hanging, true);
			clock_sleep_ms(5);
		}
	}
	return __real_pwrite(fd, data, len, offset);
}

int __wrap_statvfs(const char *path, struct statvfs *vfs)
{
	int done = __real_statvfs(path, vfs);

	if (atomic_load(&room) >= 0)
		vfs->f_bavail = (fsblkcnt_t)atomic_load(&room) / vfs->f_frsize;
	return done;
}

int __wrap_writeback_checkpoint(DB_ENV *env, uint32_t kib, uint32_t flags, uint64_t *pages)
{
	if ((flags & DB_FORCE) && atomic_load(&slow_again)) {
		atomic_store(&slowed, false);
		atomic_store(&slow, true);
		atomic_store(&slow_again, false);
	}
	return __real_writeback_checkpoint(env, kib, flags, pages);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static bool is_there(unsigned int number)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/log.%010u", directory, number);
	return access(path, F_OK) == 0;
}

static unsigned int first_log(void)
{
	unsigned int number = 1;

	while (!is_there(number) && number < LOGS_MAX)
		number++;
	return number;
}

static unsigned int last_log(void)
{
	unsigned int number = first_log();

	while (is_there(number + 1))
		number++;
	return number;
}

static bool waited(bool (*for_it)(void))
{
	int64_t until = clock_boot_ms() + WAIT_MS;

	while (!for_it() && clock_boot_ms() < until)
		clock_sleep_ms(10);
	return for_it();
}

static bool is_hanging(void)
{
	return atomic_load(&hanging);
}

static bool is_slowed(void)
{
	return atomic_load(&slowed);
}

static bool is_slowed_again(void)
{
	return !atomic_load(&slow_again) && is_slowed();
}

static bool first_log_is_gone(void)
{
	return !is_there(1);
}

static bool one_log_is_left(void)
{
	return first_log() == last_log();
}

static void setup(void)
{
	scratch_make(root);
	snprintf(directory, sizeof(directory), "%s/data", root);
	snprintf(target, sizeof(target), "%s/copy", root);
	ck_assert_int_eq(mkdir(directory, 0700), 0);
}

static void teardown(void)
{
	scratch_remove(root);
}

/* A checkpoint begins in the last file of the log and ends two files later. */
static void save_while_it_is_slow(struct store *store, struct ws *ws, uint64_t *last_id)
{
	unsigned int log = last_log();

	while (last_log() < log + 2)
		batch_save(store, ws, last_id);
}

/* Opens a store with a backup that hangs, and with newer log files. */
static struct store *open_hanging(void)
{
	const struct store_options options = {.directory = directory,
		.cache_mib = 8,
		.checkpoint_kib = 1024,
		.checkpoint_interval_ms = 100,
		.low_water_bytes = LOW_WATER,
		.create = true};
	const struct backup_options backup = {target, "id", true};
	struct store *store = NULL;
	uint64_t last_id = 0;
	char why[256] = "";
	struct ws ws;

	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	ws_init(&ws);
	batch_save(store, &ws, &last_id);
	atomic_store(&hangs, true);
	ck_assert_int_eq(store->backup(store, &backup), STATUS_OK);
	ck_assert(waited(is_hanging));
	atomic_store(&slow, true);
	batch_save(store, &ws, &last_id);
	ck_assert(waited(is_slowed));
	save_while_it_is_slow(store, &ws, &last_id);
	atomic_store(&slow, false);
	ws_free(&ws);
	return store;
}

static enum backup_state state_of(struct store *store, struct backup_progress *progress)
{
	store->backup_progress(store, NULL, progress);
	return progress->state;
}

START_TEST(short_of_space_it_keeps_no_log)
{
	struct store *store = open_hanging();
	struct backup_progress progress;
	int64_t until;

	clock_sleep_ms(LOOK_MS);
	ck_assert(is_there(1));
	/* Commands are still accepted: a backup is most needed in this state. */
	atomic_store(&room, LOW_WATER + MIB);
	clock_sleep_ms(LOOK_MS);
	ck_assert(is_there(1));
	atomic_store(&room, LOW_WATER - MIB);
	ck_assert(waited(first_log_is_gone));
	/* The backup continues and misses a log file: it fails. */
	atomic_store(&room, -1);
	atomic_store(&hangs, false);
	until = clock_boot_ms() + WAIT_MS;
	while (state_of(store, &progress) == BACKUP_RUNNING && clock_boot_ms() < until)
		clock_sleep_ms(10);
	ck_assert_int_eq(progress.state, BACKUP_FAILED);
	ck_assert_msg(strstr(progress.why, "ran short of space"), "%s", progress.why);
	store->close(store);
}
END_TEST

/* The repeated checkpoint is itself slow, and commands are accepted until it ends. */
START_TEST(short_of_space_a_slow_repetition_keeps_no_log)
{
	const struct store_options options = {.directory = directory,
		.cache_mib = 16,
		.checkpoint_kib = 1024,
		.checkpoint_interval_ms = 5000,
		.low_water_bytes = LOW_WATER,
		.create = true};
	struct store_figures before, figures;
	struct store *store = NULL;
	uint64_t last_id = 0;
	char why[256] = "";
	struct ws ws;

	atomic_store(&room, 4 * LOW_WATER);
	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	ws_init(&ws);
	atomic_store(&slow, true);
	batch_save(store, &ws, &last_id);
	ck_assert(waited(is_slowed));
	save_while_it_is_slow(store, &ws, &last_id);
	atomic_store(&slow, false);
	/* Enough space: no checkpoint is made because of it. */
	clock_sleep_ms(LOOK_MS);
	ck_assert(is_there(1));
	atomic_store(&slow_again, true);
	atomic_store(&room, LOW_WATER + MIB);
	ck_assert(waited(is_slowed_again));
	save_while_it_is_slow(store, &ws, &last_id);
	atomic_store(&slow, false);
	ck_assert_msg(waited(one_log_is_left), "%u to %u", first_log(), last_log());
	/* It ends then, although space is still low. */
	clock_sleep_ms(LOOK_MS);
	store->figures(store, &before);
	clock_sleep_ms(LOOK_MS);
	store->figures(store, &figures);
	ck_assert_uint_eq(figures.checkpoints, before.checkpoints);
	ws_free(&ws);
	store->close(store);
}
END_TEST

/* The process exits, because recovery does the work of the close. */
START_TEST(a_close_does_not_wait_for_ever)
{
	int64_t begun_ms = clock_boot_ms();
	pid_t pid = fork();
	struct store *store;
	int status = 0;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		store = open_hanging();
		store->close(store);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), STORE_EXIT_LOST);
	ck_assert_int_lt(clock_boot_ms() - begun_ms, WAIT_MS);
}
END_TEST

Suite *hang_suite(void)
{
	Suite *suite = suite_create("hang");
	TCase *tcase = tcase_create("hang");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, short_of_space_it_keeps_no_log);
	tcase_add_test(tcase, short_of_space_a_slow_repetition_keeps_no_log);
	tcase_add_test(tcase, a_close_does_not_wait_for_ever);
	suite_add_tcase(suite, tcase);
	return suite;
}
