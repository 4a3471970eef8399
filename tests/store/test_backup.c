/*
 * Tests backups of Berkeley DB: taken while rows are saved, restored, rolled forward, refused.
 */
#include "base/clock.h"
#include "scratch.h"
#include "store/backup.h"
#include "store/bdb/backup/manifest.h"
#include "store/bdb/env/files.h"
#include "store/bdb/env/page_checksum.h"
#include "store/store.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define BODY_BYTES 700
#define WAIT_MS    60000

static char root[64]; /* directory of one test; contains the following */
static char data[80];
static char copy[80];     /* the backup */
static char restored[80]; /* the state restored from it */
static struct store *store;
static struct ws ws;
static uint64_t rows; /* rows saved: events 1 to rows */

static struct store_options options_of(const char *directory)
{
	return (struct store_options){
		.directory = directory,
		.cache_mib = 1, /* a small cache, so that pages are written continuously */
		.checkpoint_kib = 256,
		.checkpoint_interval_ms = 100,
		.log_keep_mib = 64,
		.installation = "0123456789abcdef0123456789abcdef",
		.create = true,
	};
}

static void open_data(const char *directory)
{
	struct store_options options = options_of(directory);
	char why[256] = "";

	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
}

static void setup(void)
{
	scratch_make(root);
	snprintf(data, sizeof(data), "%s/data", root);
	snprintf(copy, sizeof(copy), "%s/copy", root);
	snprintf(restored, sizeof(restored), "%s/restored", root);
	ck_assert_int_eq(mkdir(data, 0700), 0);
	ck_assert_int_eq(mkdir(restored, 0700), 0);
	ws_init(&ws);
	rows = 0;
	open_data(data);
}

static void teardown(void)
{
	if (store)
		store->close(store);
	store = NULL;
	ws_free(&ws);
	scratch_remove(root);
}

static uint8_t letter(uint64_t event)
{
	return (uint8_t)('a' + event % 26);
}

/* Saves events that are spread over the table, so that all of its pages change. */
static void save_rows(unsigned int count)
{
	struct callback_body row = {.event = 0};
	uint8_t body[BODY_BYTES];

	ws_reset(&ws);
	while (count-- > 0) {
		memset(body, letter(++rows), sizeof(body));
		row.event = rows * UINT64_C(0x9e3779b97f4a7c15);
		row.body = (struct bytes){body, sizeof(body)};
		ws_append(&ws, RECORD_CALLBACK_BODY, &row);
	}
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
}

static bool row_is_there(uint64_t number)
{
	struct callback_body key = {.event = number * UINT64_C(0x9e3779b97f4a7c15)};
	const struct callback_body *row;

	ws_reset(&ws);
	ws_want(&ws, RECORD_CALLBACK_BODY, &key);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	row = ws_get(&ws, RECORD_CALLBACK_BODY, &key);
	if (!row)
		return false;
	ck_assert_uint_eq(row->body.len, BODY_BYTES);
	ck_assert_uint_eq(row->body.data[BODY_BYTES - 1], letter(number));
	return true;
}

static struct backup_progress progress_now(void)
{
	struct backup_progress progress;

	store->backup_progress(store, NULL, &progress);
	return progress;
}

static void begin(const char *directory, bool whole)
{
	const struct backup_options options = {directory, "id", whole};

	ck_assert_int_eq(store->backup(store, &options), STATUS_OK);
}

static struct backup_progress end(void)
{
	int64_t until = clock_boot_ms() + WAIT_MS;

	while (progress_now().state == BACKUP_RUNNING) {
		ck_assert_msg(clock_boot_ms() < until, "the backup does not end");
		clock_sleep_ms(5);
	}
	return progress_now();
}

static struct backup_progress back_up(bool whole)
{
	struct backup_progress progress;

	begin(copy, whole);
	progress = end();
	ck_assert_msg(progress.state == BACKUP_DONE, "%s", progress.why);
	return progress;
}

static void back_up_refused(const char *directory, const char *why)
{
	struct backup_progress progress;

	begin(directory, false);
	progress = end();
	ck_assert_int_eq(progress.state, BACKUP_FAILED);
	ck_assert_msg(strstr(progress.why, why), "%s", progress.why);
}

static char why[512];
static struct store_restored result;

static enum status restore_with(const char *logs)
{
	const struct store_restore options = {.backup = copy,
		.directory = restored,
		.logs = logs,
		.cache_mib = 8};

	why[0] = '\0';
	scratch_remove(restored);
	ck_assert_int_eq(mkdir(restored, 0700), 0);
	return store_restore(&options, &result, why, sizeof(why));
}

/* Restores the backup and opens the result. */
static void restore(const char *logs)
{
	enum status status = restore_with(logs);
	struct store_options options = options_of(restored);

	ck_assert_msg(status == STATUS_OK, "%s", why);
	if (store)
		store->close(store);
	store = NULL;
	options.create = false;
	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
}

static void restore_refused(const char *logs, enum status status, const char *text)
{
	ck_assert_int_eq(restore_with(logs), status);
	ck_assert_msg(strstr(why, text), "%s", why);
}

static char *path_in(const char *directory, const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void flip_byte(const char *path, long at)
{
	FILE *file = fopen(path, "r+");
	int byte;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
	byte = fgetc(file);
	ck_assert_int_eq(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
	fputc(byte ^ 1, file);
	fclose(file);
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	ck_assert_msg(stat(path, &st) == 0, "%s", path);
	return st;
}

START_TEST(a_backup_comes_back)
{
	struct backup_progress progress;

	save_rows(100);
	progress = back_up(false);
	ck_assert(!progress.added);
	ck_assert_uint_eq(progress.tables, RECORD_COUNT);
	ck_assert_uint_ge(progress.logs, 1);
	ck_assert_str_eq(progress.id, "id");
	ck_assert_uint_eq(stat_of(copy).st_mode & 0777, 0700);
	ck_assert_uint_eq(stat_of(path_in(copy, "manifest")).st_mode & 0777, 0600);
	ck_assert_uint_eq(stat_of(path_in(copy, "data.1/transaction.db")).st_mode & 0777, 0600);
	restore(NULL);
	ck_assert(!result.rolled_forward);
	ck_assert_str_eq(result.installation, "0123456789abcdef0123456789abcdef");
	ck_assert_int_eq(result.complete_to_ms, progress.complete_to_ms);
	for (uint64_t i = 1; i <= 100; i++)
		ck_assert(row_is_there(i));
}
END_TEST

/* Pages are written, split and evicted while they are copied, and the log grows. */
START_TEST(a_backup_at_work_is_consistent)
{
	static int64_t saved_ms[100000];
	struct backup_progress progress;
	uint64_t must = 0, there = 0;

	while (rows < 12000)
		save_rows(20);
	memset(saved_ms, 0, sizeof(saved_ms));
	begin(copy, false);
	while (progress_now().state == BACKUP_RUNNING && rows < 90000) {
		save_rows(5);
		saved_ms[rows] = clock_wall_ms();
	}
	progress = end();
	ck_assert_msg(progress.state == BACKUP_DONE, "%s", progress.why);
	for (uint64_t i = 12000; i <= rows; i++) {
		if (saved_ms[i] && saved_ms[i] < progress.complete_to_ms)
			must = i;
	}
	ck_assert_uint_gt(must, 12000);
	restore(NULL);
	for (uint64_t i = 1; i <= rows; i++) {
		bool found = row_is_there(i);

		ck_assert_msg(found || i > must, "row %lu of %lu is lost", (unsigned long)i,
			(unsigned long)must);
		/* There are no gaps: a batch is complete or missing. */
		ck_assert_msg(!found || there == i - 1, "row %lu without the one before",
			(unsigned long)i);
		there = found ? i : there;
	}
	save_rows(5);
}
END_TEST

START_TEST(a_second_backup_adds_log_alone)
{
	struct backup_progress first, second;
	struct stat before, after;

	while (rows < 3000)
		save_rows(20);
	first = back_up(false);
	before = stat_of(path_in(copy, "data.1/callback_body.db"));
	while (rows < 3500)
		save_rows(20);
	second = back_up(false);
	ck_assert(!first.added);
	ck_assert(second.added);
	ck_assert_uint_eq(second.tables, 0);
	ck_assert_uint_lt(second.bytes, first.bytes / 2);
	after = stat_of(path_in(copy, "data.1/callback_body.db"));
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	/* Also if nothing happened since, and after a restart of the ledger. */
	ck_assert(back_up(false).added);
	store->close(store);
	open_data(data);
	save_rows(20);
	ck_assert(back_up(false).added);
	restore(NULL);
	for (uint64_t i = 1; i <= rows; i++)
		ck_assert(row_is_there(i));
}
END_TEST

/* Waits until files that no manifest lists are removed after the backup. */
static void await_removal(const char *folder)
{
	int64_t until = clock_boot_ms() + WAIT_MS;

	while (access(path_in(copy, folder), F_OK) == 0) {
		ck_assert_msg(clock_boot_ms() < until, "%s stays", folder);
		clock_sleep_ms(5);
	}
}

START_TEST(a_whole_backup_takes_the_place_of_the_old)
{
	save_rows(100);
	back_up(false);
	save_rows(100);
	ck_assert(!back_up(true).added);
	await_removal("data.1");
	ck_assert_int_eq(access(path_in(copy, "data.2"), F_OK), 0);
	ck_assert(!back_up(true).added);
	await_removal("data.2");
	restore(NULL);
	ck_assert(row_is_there(200));
}
END_TEST

/* The log of another history is not continued, although its files have the same names. */
START_TEST(another_history_is_not_added_to)
{
	save_rows(100);
	back_up(false);
	store->close(store);
	scratch_remove(data);
	ck_assert_int_eq(mkdir(data, 0700), 0);
	open_data(data);
	rows = 1000;
	save_rows(200);
	ck_assert(!back_up(false).added);
	restore(NULL);
	ck_assert(!row_is_there(1));
	ck_assert(row_is_there(1200));
}
END_TEST

/* A backup with missing files is replaced by a new one. */
START_TEST(an_incomplete_backup_is_not_added_to)
{
	save_rows(100);
	back_up(false);
	ck_assert_int_eq(unlink(path_in(copy, "data.1/player.db")), 0);
	ck_assert(!back_up(false).added);
	restore(NULL);
	ck_assert(row_is_there(100));
}
END_TEST

START_TEST(places_are_refused)
{
	char inside[96], foreign[96];

	snprintf(inside, sizeof(inside), "%s/backup", data);
	back_up_refused(inside, "lies in the ledger's data");
	rmdir(inside);
	snprintf(foreign, sizeof(foreign), "%s/no/such", root);
	back_up_refused(foreign, "cannot create");
	snprintf(foreign, sizeof(foreign), "%s/foreign", root);
	ck_assert_int_eq(mkdir(foreign, 0700), 0);
	ck_assert_int_eq(mkdir(path_in(foreign, "photos"), 0700), 0);
	back_up_refused(foreign, "holds photos and no backup");
	ck_assert_int_eq(rmdir(path_in(foreign, "photos")), 0);
	ck_assert_int_eq(chmod(foreign, 0707), 0);
	back_up_refused(foreign, "is open to others");
	ck_assert_int_eq(chmod(foreign, 0750), 0);
	back_up_refused(foreign, "is open to others");
	ck_assert_int_eq(rmdir(foreign), 0);
	ck_assert_int_eq(symlink(root, foreign), 0);
	back_up_refused(foreign, "cannot open");
	ck_assert_int_eq(unlink(foreign), 0);
	ck_assert_int_eq(chmod(root, 0777), 0);
	back_up_refused(copy, "any user may change a directory above");
	ck_assert_int_eq(chmod(root, 0700), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(copy, 1, 1), 0);
		back_up_refused(copy, "belongs to uid 1");
	}
}
END_TEST

START_TEST(one_backup_at_a_time)
{
	const struct backup_options options = {copy, "other", false};
	struct backup_progress first;

	while (rows < 12000)
		save_rows(20);
	begin(copy, false);
	ck_assert_int_eq(store->backup(store, &options), STATUS_BUSY);
	ck_assert_int_eq(end().state, BACKUP_DONE);
	ck_assert_int_eq(store->backup(store, &options), STATUS_OK);
	ck_assert_int_eq(end().state, BACKUP_DONE);
	ck_assert_str_eq(progress_now().id, "other");
	/* The store reports the previous backup; an unknown id is not found. */
	store->backup_progress(store, "id", &first);
	ck_assert_int_eq(first.state, BACKUP_DONE);
	ck_assert_uint_eq(first.tables, RECORD_COUNT);
	store->backup_progress(store, "none", &first);
	ck_assert_int_eq(first.state, BACKUP_NONE);
}
END_TEST

START_TEST(another_installation_is_refused)
{
	struct store_options options = options_of(data);

	save_rows(100);
	back_up(false);
	store->close(store);
	options.installation = "ffffffffffffffffffffffffffffffff";
	ck_assert_int_eq(store_open(&options, &store, why, sizeof(why)), STATUS_OK);
	back_up_refused(copy, "holds the backup of another installation, 0123");
}
END_TEST

/* Closing the store ends a backup; the previous one is unchanged. */
START_TEST(a_stopped_backup_leaves_the_old)
{
	while (rows < 12000)
		save_rows(20);
	back_up(false);
	begin(copy, true);
	store->close(store);
	store = NULL;
	restore(NULL);
	ck_assert(row_is_there(12000));
}
END_TEST

/* A damaged page is not copied over an intact backup. */
START_TEST(a_damaged_page_ends_the_backup)
{
	save_rows(2000);
	back_up(false);
	store->close(store);
	flip_byte(path_in(data, "callback_body.db"), 5 * 4096 + 2000);
	open_data(data);
	begin(copy, true);
	ck_assert_int_eq(end().state, BACKUP_FAILED);
	ck_assert_ptr_nonnull(strstr(progress_now().why, "page 5 of "));
	ck_assert_ptr_nonnull(strstr(progress_now().why, "is damaged"));
	restore(NULL);
	ck_assert(row_is_there(2000));
}
END_TEST

static void kill_while(void (*work)(void), unsigned int after_ms)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		work();
		pause();
		_exit(0);
	}
	clock_sleep_ms(after_ms);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

static void backup_in_child(void)
{
	open_data(data);
	begin(copy, true);
	end();
}

/* Whenever the process is killed, the manifest is correct, and the next backup succeeds. */
START_TEST(a_killed_backup_harms_nothing)
{
	unsigned int before = 0, after = 0;

	while (rows < 6000)
		save_rows(20);
	store->close(store);
	store = NULL;
	for (unsigned int i = 0; i < 12; i++) {
		kill_while(backup_in_child, 10 + 25 * i);
		if (access(path_in(copy, "manifest"), F_OK) != 0) {
			before++;
			restore_refused(NULL, STATUS_NOT_FOUND, "");
			continue;
		}
		after++;
		restore(NULL);
		ck_assert(row_is_there(1) && row_is_there(6000));
		store->close(store);
		store = NULL;
	}
	open_data(data);
	back_up(false);
	restore(NULL);
	ck_assert(row_is_there(6000));
	printf("# killed before the first manifest %u times, after it %u\n", before, after);
}
END_TEST

static void restore_in_child(void)
{
	restore_with(NULL);
}

START_TEST(a_killed_restore_can_be_repeated)
{
	while (rows < 6000)
		save_rows(20);
	back_up(false);
	for (unsigned int i = 0; i < 8; i++)
		kill_while(restore_in_child, 5 + 15 * i);
	restore(NULL);
	ck_assert(row_is_there(6000));
}
END_TEST

START_TEST(damage_is_refused)
{
	char name[64];
	struct stat st;

	restore_refused(NULL, STATUS_NOT_FOUND, "cannot open");
	save_rows(100);
	back_up(false);
	flip_byte(path_in(copy, "data.1/request.db"), 100);
	restore_refused(NULL, STATUS_CORRUPT, "data.1/request.db is damaged");
	flip_byte(path_in(copy, "data.1/request.db"), 100);
	snprintf(name, sizeof(name), "data.1/log.%010u", 1u);
	flip_byte(path_in(copy, name), -2);
	restore_refused(NULL, STATUS_CORRUPT, "is damaged");
	flip_byte(path_in(copy, name), -2);
	st = stat_of(path_in(copy, "data.1/player.db"));
	ck_assert_int_eq(truncate(path_in(copy, "data.1/player.db"), st.st_size - 1), 0);
	restore_refused(NULL, STATUS_CORRUPT, "too short");
	ck_assert_int_eq(unlink(path_in(copy, "data.1/player.db")), 0);
	restore_refused(NULL, STATUS_CORRUPT, "player.db: No such file");
	back_up(true);
	ck_assert_int_eq(chmod(copy, 0722), 0);
	restore_refused(NULL, STATUS_CONFIG, "others may have changed it");
	ck_assert_int_eq(chmod(copy, 0700), 0);
	ck_assert_int_eq(unlink(path_in(copy, "manifest")), 0);
	restore_refused(NULL, STATUS_NOT_FOUND, "it has no manifest");
}
END_TEST

/* Any changed byte of the manifest is detected. */
START_TEST(a_damaged_manifest_is_refused)
{
	struct stat st;

	save_rows(10);
	back_up(false);
	st = stat_of(path_in(copy, "manifest"));
	for (long at = 0; at < st.st_size; at += at < 300 ? 1 : 97) {
		flip_byte(path_in(copy, "manifest"), at);
		restore_refused(NULL, STATUS_CORRUPT, "the manifest is damaged");
		flip_byte(path_in(copy, "manifest"), at);
	}
	ck_assert_int_eq(truncate(path_in(copy, "manifest"), st.st_size - 70), 0);
	restore_refused(NULL, STATUS_CORRUPT, "the manifest is damaged");
	ck_assert_int_eq(truncate(path_in(copy, "manifest"), 0), 0);
	restore_refused(NULL, STATUS_CORRUPT, "the manifest is damaged");
	back_up_refused(copy, "the manifest is damaged; move it away");
}
END_TEST

/* Changes the backup's manifest with @change and writes it. */
static void change_manifest(void (*change)(struct manifest *manifest))
{
	int directory = open(copy, O_RDONLY | O_DIRECTORY);
	struct manifest manifest;

	ck_assert_int_eq(manifest_read(&manifest, directory, why, sizeof(why)), STATUS_OK);
	change(&manifest);
	ck_assert(manifest_write(&manifest, directory, why, sizeof(why)));
	manifest_free(&manifest);
	close(directory);
}

static void make_newer(struct manifest *manifest)
{
	manifest->schema++;
}

static void make_gap(struct manifest *manifest)
{
	manifest->last_log++;
}

static void lead_outside(struct manifest *manifest)
{
	strcpy(manifest->files[0].name, "../../etc.db");
}

START_TEST(a_foreign_manifest_is_refused)
{
	save_rows(10);
	back_up(false);
	change_manifest(make_newer);
	restore_refused(NULL, STATUS_CONFIG, "written by a newer creditbridge (schema 7");
	back_up(true);
	change_manifest(make_gap);
	restore_refused(NULL, STATUS_CORRUPT, "the manifest is damaged");
	ck_assert_int_eq(unlink(path_in(copy, "manifest")), 0);
	back_up(true);
	change_manifest(lead_outside);
	restore_refused(NULL, STATUS_CORRUPT, "the manifest is damaged");
}
END_TEST

START_TEST(it_is_rolled_forward)
{
	while (rows < 2000)
		save_rows(20);
	back_up(false);
	/* Fill more than one log file. */
	while (rows < 14000)
		save_rows(20);
	restore(data);
	ck_assert_msg(result.rolled_forward, "unreadable %lu", (unsigned long)result.unreadable);
	ck_assert_uint_ge(result.logs, 3);
	for (uint64_t i = 1; i <= rows; i++)
		ck_assert(row_is_there(i));
}
END_TEST

START_TEST(logs_that_do_not_follow_are_refused)
{
	char other[96], name[64];
	struct store_options options;

	save_rows(100);
	back_up(false);
	snprintf(other, sizeof(other), "%s/other", root);
	restore_refused(other, STATUS_CONFIG, "cannot open");
	ck_assert_int_eq(mkdir(other, 0700), 0);
	restore_refused(other, STATUS_CONFIG, "holds no log that follows");
	/* A log file of another ledger. */
	store->close(store);
	options = options_of(other);
	ck_assert_int_eq(store_open(&options, &store, why, sizeof(why)), STATUS_OK);
	save_rows(500);
	restore_refused(other, STATUS_CONFIG, "does not begin as the backup's");
	/* A log file that is too short. */
	store->close(store);
	ck_assert_int_eq(truncate(path_in(other, "log.0000000001"), 2000), 0);
	restore_refused(other, STATUS_CONFIG, "ends before the backup does");
	/* A missing log file. */
	store = NULL;
	open_data(data);
	while (rows < 14000)
		save_rows(20);
	store->close(store);
	store = NULL;
	snprintf(name, sizeof(name), "log.%010u", 2u);
	ck_assert_int_eq(unlink(path_in(data, name)), 0);
	restore_refused(data, STATUS_CONFIG, "log.0000000002 is needed");
}
END_TEST

/* An empty log file may be a lost one: its ids may have been assigned. */
START_TEST(an_empty_last_file_is_no_roll_forward)
{
	const off_t sizes[] = {0, 4 * 1024 * 1024};
	int fd;

	save_rows(100);
	back_up(false);
	save_rows(100);
	store->close(store);
	store = NULL;
	fd = open(path_in(data, "log.0000000002"), O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizes[_i]), 0);
	close(fd);
	restore(data);
	ck_assert(!result.rolled_forward);
	ck_assert_uint_eq(result.unreadable, 0);
	ck_assert(row_is_there(200));
}
END_TEST

/* An incomplete record at the end of the log is reported and counts as not rolled forward. */
START_TEST(a_torn_end_is_told)
{
	FILE *log;

	save_rows(100);
	back_up(false);
	save_rows(100);
	store->close(store);
	store = NULL;
	log = fopen(path_in(data, "log.0000000001"), "a");
	ck_assert_ptr_nonnull(log);
	for (int i = 0; i < 1000; i++)
		fputc('x', log);
	fclose(log);
	restore(data);
	ck_assert(!result.rolled_forward);
	ck_assert_uint_ge(result.unreadable, 1000);
	ck_assert(row_is_there(200));
}
END_TEST

/* Pages of every table, as libdb wrote them. */
START_TEST(pages_are_told_from_damaged_ones)
{
	uint8_t page[PAGE_BYTES];
	unsigned int pages = 0, number;
	struct dirent *entry;
	FILE *file;
	DIR *dir;

	save_rows(3000);
	store->close(store);
	store = NULL;
	dir = opendir(data);
	while ((entry = readdir(dir))) {
		if (!files_is_data(entry->d_name) || files_log_number(entry->d_name))
			continue;
		file = fopen(path_in(data, entry->d_name), "r");
		for (number = 0; fread(page, PAGE_BYTES, 1, file) == 1; number++, pages++) {
			ck_assert_msg(page_checksum_ok(page, number), "page %u of %s", number,
				entry->d_name);
			page[300] ^= 4;
			ck_assert(!page_checksum_ok(page, number));
		}
		fclose(file);
	}
	closedir(dir);
	ck_assert_uint_gt(pages, 500);
}
END_TEST

static Suite *backup_suite(void)
{
	const TTest *const tests[] = {a_backup_comes_back, a_backup_at_work_is_consistent,
		a_second_backup_adds_log_alone, a_whole_backup_takes_the_place_of_the_old,
		another_history_is_not_added_to, an_incomplete_backup_is_not_added_to,
		places_are_refused, one_backup_at_a_time, another_installation_is_refused,
		a_stopped_backup_leaves_the_old, a_killed_backup_harms_nothing,
		a_killed_restore_can_be_repeated, damage_is_refused, a_damaged_manifest_is_refused,
		a_foreign_manifest_is_refused, it_is_rolled_forward,
		logs_that_do_not_follow_are_refused, a_torn_end_is_told,
		pages_are_told_from_damaged_ones, a_damaged_page_ends_the_backup, NULL};
	Suite *suite = suite_create("backup");
	TCase *tcase = tcase_create("bdb");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, setup, teardown);
	for (const TTest *const *test = tests; *test; test++)
		tcase_add_test(tcase, *test);
	tcase_add_loop_test(tcase, an_empty_last_file_is_no_roll_forward, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return tap_main((Suite *(*const[])(void)){backup_suite, NULL});
}
