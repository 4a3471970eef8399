/*
 * When the log switches to its next file, that file fails: acknowledged rows must survive.
 */
#include "preload.h"
#include "scratch.h"
#include "store/exit.h"
#include "store/store.h"
#include "store/ws.h"
#include "suites.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define SECOND      "/log.0000000002"
#define BATCHES_MAX 100
/* Large rows, so that few of them fill a file of the log. */
#define BATCH_ROWS  20
#define BODY_LEN    20000
#define EXIT_FAILED 1 /* a save was refused */
#define EXIT_NEVER  2 /* no save was refused, and the process did not exit */

enum call { CALL_OPEN, CALL_OPEN_DIRECTORY, CALL_WRITE };

static const struct {
	enum call call;
	int error;
	bool ends;
	int exits;
} cases[] = {
	{CALL_OPEN, ENOSPC, true, STORE_EXIT_FULL},
	{CALL_OPEN, EDQUOT, true, STORE_EXIT_FULL},
	{CALL_OPEN, EMFILE, true, STORE_EXIT_LOST},
	{CALL_OPEN, EACCES, true, STORE_EXIT_LOST},
	{CALL_OPEN, EROFS, true, STORE_EXIT_LOST},
	{CALL_OPEN, EIO, true, STORE_EXIT_IO},
	{CALL_OPEN_DIRECTORY, EMFILE, true, STORE_EXIT_LOST},
	{CALL_OPEN, ENOSPC, false, EXIT_FAILED},
	{CALL_OPEN, EMFILE, false, EXIT_FAILED},
	{CALL_OPEN_DIRECTORY, EMFILE, false, EXIT_FAILED},
	{CALL_WRITE, ENOSPC, true, STORE_EXIT_FULL},
	{CALL_WRITE, EROFS, true, STORE_EXIT_LOST},
	{CALL_WRITE, EUCLEAN, false, STORE_EXIT_LOST},
	{CALL_WRITE, EIO, true, STORE_EXIT_IO},
};

/* Set in the process that saves; NULL: nothing fails. */
static bool armed;
static enum call fails;
static int fails_with;
static char directory[64];

/* NOLINTBEGIN(bugprone-reserved-identifier): ld's names, --wrap */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);

static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = (mode_t)va_arg(args, int);
	va_end(args);
	if (armed &&
		((fails == CALL_OPEN && flags & O_CREAT && ends_with(path, SECOND)) ||
			(fails == CALL_OPEN_DIRECTORY && flags & O_DIRECTORY))) {
		errno = fails_with;
		return -1;
	}
	return __real_open(path, flags, mode);
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	char path[PATH_MAX];

	hang_before_write(fd);
	if (armed && fails == CALL_WRITE && path_of(fd, path) && ends_with(path, SECOND)) {
		errno = fails_with;
		return -1;
	}
	return __real_write(fd, data, len);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static struct store *opened(bool create, bool ends)
{
	const struct store_options options = {.directory = directory,
		.cache_mib = 8,
		.checkpoint_kib = 1048576,
		.checkpoint_interval_ms = 3600000,
		.create = create,
		.ends = ends};
	struct store *store = NULL;
	char why[256] = "";

	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	return store;
}

static void batch_fill(struct ws *ws, uint64_t *last_id)
{
	static uint8_t body[BODY_LEN];
	struct callback_body row = {.body = {body, sizeof(body)}};

	ws_reset(ws);
	for (unsigned int i = 0; i < BATCH_ROWS; i++) {
		row.event = ++*last_id;
		ws_append(ws, RECORD_CALLBACK_BODY, &row);
	}
}

/* Saves until a save fails. Sets @acknowledged to the last row reported as durable. */
static int save_until_it_fails(bool ends, uint64_t *acknowledged)
{
	/* The process exits with the store open, as if it was killed. */
	static struct store *store;
	static struct ws ws;
	uint64_t last_id = 0;

	store = opened(true, ends);
	ws_init(&ws);
	armed = true;
	for (unsigned int i = 0; i < BATCHES_MAX; i++) {
		batch_fill(&ws, &last_id);
		if (store->save(store, &ws) != SAVE_OK)
			return EXIT_FAILED;
		*acknowledged = last_id;
	}
	return EXIT_NEVER;
}

static uint64_t rows_there(uint64_t last_id)
{
	struct store *store = opened(false, false);
	struct callback_body row = {.event = 1};
	uint64_t there = 0;
	struct ws ws;

	ws_init(&ws);
	for (; row.event <= last_id; row.event++) {
		ws_reset(&ws);
		ws_want(&ws, RECORD_CALLBACK_BODY, &row);
		ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
		there += ws_get(&ws, RECORD_CALLBACK_BODY, &row) != NULL;
	}
	ws_free(&ws);
	store->close(store);
	return there;
}

START_TEST(what_was_acknowledged_is_there)
{
	uint64_t *acknowledged = mmap(NULL, sizeof(*acknowledged), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	ck_assert(acknowledged != MAP_FAILED);
	scratch_make(directory);
	fails = cases[_i].call;
	fails_with = cases[_i].error;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(save_until_it_fails(cases[_i].ends, acknowledged));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), cases[_i].exits);
	ck_assert_uint_gt(*acknowledged, 0);
	ck_assert_uint_eq(rows_there(*acknowledged), *acknowledged);
	scratch_remove(directory);
	munmap(acknowledged, sizeof(*acknowledged));
}
END_TEST

Suite *log_suite(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");

	tcase_add_loop_test(tcase, what_was_acknowledged_is_there, 0,
		(int)(sizeof(cases) / sizeof(*cases)));
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
