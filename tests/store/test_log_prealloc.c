/*
 * Tests log files that are created in advance, and the bytes after the log's end.
 */
#include "batch.h"
#include "scratch.h"
#include "store/bdb/env/env.h"
#include "store/bdb/env/log_prealloc.h"
#include "store/store.h"
#include "suites.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];
static char path[128];
static struct store_options options;
static struct store *store;
static struct ws ws;
static uint64_t last_id;

static const char *path_of(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void open_store(void)
{
	char why[256] = "";

	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	ws_init(&ws);
}

static void close_store(void)
{
	ws_free(&ws);
	store->close(store);
}

static void begin(uint64_t low_water_bytes)
{
	scratch_make(directory);
	last_id = 0;
	options = (struct store_options){
		.directory = directory,
		.cache_mib = 8,
		.checkpoint_kib = 8192,
		.checkpoint_interval_ms = 1000,
		.log_keep_mib = 64,
		.low_water_bytes = low_water_bytes,
		.prepare_log = true,
		.create = true,
	};
	open_store();
}

static void end(void)
{
	close_store();
	scratch_remove(directory);
}

static void check_rows(void)
{
	struct transaction row;

	for (uint64_t id = 1; id <= last_id; id += BATCH_ROWS / 2) {
		memset(&row, 0, sizeof(row));
		row.transaction_id = id;
		ws_reset(&ws);
		ws_want(&ws, RECORD_TRANSACTION, &row);
		ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
		ck_assert_ptr_nonnull(ws_get(&ws, RECORD_TRANSACTION, &row));
	}
}

/* Fills some more log files, and checks that all rows can be read again. */
static void fill_and_check(void)
{
	for (int i = 0; i < 20; i++)
		batch_save(store, &ws, &last_id);
	close_store();
	open_store();
	check_rows();
}

/* Returns the file's inode number; 0 if it does not exist. */
static ino_t inode_of(const char *name)
{
	struct stat info;

	return stat(path_of(name), &info) == 0 ? info.st_ino : 0;
}

static bool appears(const char *name)
{
	for (int tries = 0; !inode_of(name) && tries < 1000; tries++)
		poll(NULL, 0, 10);
	return inode_of(name) != 0;
}

/*
 * Returns true if the log has a file after its first. When space is low, older files may be
 * deleted.
 */
static bool log_went_on(void)
{
	return inode_of("log.0000000002") || inode_of("log.0000000003");
}

static off_t size_of(const char *name)
{
	struct stat info;

	ck_assert_int_eq(stat(path_of(name), &info), 0);
	return info.st_size;
}

static void put(const char *name, int flags, uint8_t byte, size_t len)
{
	static uint8_t data[BDB_LOG_FILE_SIZE];
	int fd = open(path_of(name), O_WRONLY | flags, 0600);

	ck_assert_int_ge(fd, 0);
	memset(data, byte, len);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

START_TEST(the_spare_becomes_the_next_file)
{
	ino_t spare;

	begin(0);
	ck_assert(appears(LOG_PREALLOC_NAME));
	ck_assert_int_eq(size_of(LOG_PREALLOC_NAME), BDB_LOG_FILE_SIZE);
	spare = inode_of(LOG_PREALLOC_NAME);
	for (int i = 0; !inode_of("log.0000000002"); i++) {
		ck_assert_int_lt(i, 100);
		batch_save(store, &ws, &last_id);
	}
	ck_assert_uint_eq(inode_of("log.0000000002"), spare);
	ck_assert_int_eq(size_of("log.0000000002"), BDB_LOG_FILE_SIZE);
	ck_assert(appears(LOG_PREALLOC_NAME));
	ck_assert_uint_ne(inode_of(LOG_PREALLOC_NAME), spare);
	ck_assert_uint_eq(inode_of(LOG_PREALLOC_MAKING_NAME), 0);
	close_store();
	open_store();
	check_rows();
	end();
}
END_TEST

/* A file whose creation was interrupted by a kill is created again. */
START_TEST(half_a_spare_is_none)
{
	begin(0);
	ck_assert(appears(LOG_PREALLOC_NAME));
	close_store();
	ck_assert_int_eq(unlink(path_of(LOG_PREALLOC_NAME)), 0);
	put(LOG_PREALLOC_MAKING_NAME, O_CREAT, 0xff, BDB_LOG_FILE_SIZE);
	open_store();
	ck_assert(appears(LOG_PREALLOC_NAME));
	ck_assert_uint_eq(inode_of(LOG_PREALLOC_MAKING_NAME), 0);
	fill_and_check();
	end();
}
END_TEST

START_TEST(without_space_there_is_none)
{
	begin(UINT64_MAX);
	fill_and_check();
	ck_assert(log_went_on());
	ck_assert_uint_eq(inode_of(LOG_PREALLOC_NAME), 0);
	end();
}
END_TEST

/* A file from a copy that was made by hand. */
START_TEST(what_is_no_spare_is_not_taken)
{
	begin(UINT64_MAX);
	if (_i == 0)
		put(LOG_PREALLOC_NAME, O_CREAT, 0, 4096);
	else if (_i == 1)
		put(LOG_PREALLOC_NAME, O_CREAT, 0xff, BDB_LOG_FILE_SIZE);
	else
		ck_assert_int_eq(symlink("/dev/zero", path_of(LOG_PREALLOC_NAME)), 0);
	fill_and_check();
	ck_assert(log_went_on());
	ck_assert_uint_eq(inode_of(LOG_PREALLOC_NAME), 0);
	end();
}
END_TEST

/* The process was killed between the rename and the first record. */
START_TEST(a_file_without_a_record_is_none)
{
	begin(0);
	batch_save(store, &ws, &last_id);
	close_store();
	put("log.0000000002", O_CREAT, 0, BDB_LOG_FILE_SIZE);
	open_store();
	check_rows();
	fill_and_check();
	end();
}
END_TEST

/* Records that were never synced may follow a missing one; libdb clears them. */
START_TEST(what_lies_behind_the_end_is_cleared)
{
	static uint8_t tail[BDB_LOG_FILE_SIZE];
	int fd;

	begin(0);
	batch_save(store, &ws, &last_id);
	close_store();
	put("log.0000000001", O_APPEND, 0xaa, 100000);
	open_store();
	/* Recovery wrote its checkpoint after the end. */
	fd = open(path_of("log.0000000001"), O_RDONLY);
	ck_assert_int_eq(pread(fd, tail, 90000, size_of("log.0000000001") - 90000), 90000);
	close(fd);
	for (unsigned int i = 0; i < 90000; i++)
		ck_assert_uint_eq(tail[i], 0);
	fill_and_check();
	end();
}
END_TEST

Suite *log_prealloc_suite(void)
{
	const TTest *const tests[] = {the_spare_becomes_the_next_file, half_a_spare_is_none,
		without_space_there_is_none, a_file_without_a_record_is_none,
		what_lies_behind_the_end_is_cleared, NULL};
	Suite *suite = suite_create("log_prealloc");
	TCase *tcase = tcase_create("log_prealloc");

	tcase_set_timeout(tcase, 30);
	for (size_t i = 0; tests[i]; i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_loop_test(tcase, what_is_no_spare_is_not_taken, 0, 3);
	suite_add_tcase(suite, tcase);
	return suite;
}
