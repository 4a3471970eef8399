#include "store/bdb/env.h"

#include "base/directory.h"
#include "base/log.h"
#include "store/bdb/files.h"
#include "store/bdb/memory.h"
#include "store/bdb/pace.h"
#include "store/bdb/page.h"
#include "store/bdb/spare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB             (1024u * 1024u)
/* Holds all records of a batch of 256 commands, so that a commit is one write. */
#define LOG_BUFFER_SIZE (2 * MIB)

/* libdb reports each page that it cannot write: more than this tells nothing new. */
#define MESSAGES_MAX 50

/* A write found the disk full: libdb may report that as DB_RUNRECOVERY. */
static atomic_bool met_full;
/* libdb found a page whose checksum is wrong; it says so in words and then only DB_RUNRECOVERY. */
static atomic_bool met_damage;
static atomic_uint messages;
static atomic_bool ends_with_libdb;

void bdb_die_of_disk(const char *where, int error)
{
	log_line(LOG_LEVEL_ERROR, "disk_failed", "where=%s error=\"%s\" action=halt", where,
		strerror(error));
	_exit(BDB_EXIT_IO);
}

bool bdb_met_full(void)
{
	return atomic_load(&met_full);
}

bool bdb_met_damage(void)
{
	return atomic_load(&met_damage);
}

void bdb_end_with_libdb(bool ends)
{
	atomic_store(&ends_with_libdb, ends);
}

/* libdb gave up: it fails every call from now on, reads too. */
static void die_of_libdb(int error)
{
	log_line(LOG_LEVEL_ERROR, "database_failed", "error=\"%s\" action=%s", db_strerror(error),
		bdb_met_damage() ? "halt" : "restart");
	_exit(bdb_met_damage()       ? BDB_EXIT_DAMAGED
			: bdb_met_full() ? BDB_EXIT_FULL
					 : BDB_EXIT_LOST);
}

enum status bdb_status(int error)
{
	switch (error) {
	case 0:
		return STATUS_OK;
	case EIO:
		bdb_die_of_disk("libdb", error);
	case ENOSPC:
	case EDQUOT:
		return STATUS_FULL;
	case ENOMEM:
		return STATUS_NOMEM;
	case DB_RUNRECOVERY:
		if (atomic_load(&ends_with_libdb))
			die_of_libdb(error);
		return STATUS_IO;
	default:
		return STATUS_IO;
	}
}

/*
 * In the place of libdb's fsync, which it would repeat on EIO (see bdb.h). Whatever the error, what
 * was to be synced may be lost although a second fsync succeeds.
 */
static int sync_or_die(int fd)
{
	int done;

	do
		done = fdatasync(fd);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		bdb_die_of_disk("fdatasync", errno);
	return done;
}

/* True: @fd is a file of the log. */
static bool is_log(int fd)
{
	char name[64], path[PATH_MAX];
	const char *base;
	ssize_t len;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	len = readlink(name, path, sizeof(path) - 1);
	if (len < 0)
		return true;
	path[len] = '\0';
	base = strrchr(path, '/');
	return base && strncmp(base, "/log.", 5) == 0;
}

/*
 * A write found the disk full. A page that cannot be written stays in the cache and is in the log.
 * A log that cannot be written ends the process: libdb 5.3 was seen to go on after it with commits
 * that returned success and lay in its buffer alone. Recovery tells what is on the disk.
 */
static void meet_full(int fd)
{
	int error = errno;

	atomic_store(&met_full, true);
	if (is_log(fd)) {
		log_line(LOG_LEVEL_ERROR, "log_full", "error=\"%s\" action=restart",
			strerror(error));
		_exit(BDB_EXIT_FULL);
	}
	errno = error;
}

/*
 * In the place of libdb's writes, whose errors do not always get through to the caller. libdb takes
 * a short write of a function that is not its own for an error, and what errno held for its cause.
 * @offset -1: where the file stands. Returns @len, or -1.
 */
static ssize_t write_all(int fd, const uint8_t *data, size_t len, off_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = offset < 0 ? write(fd, data + done, len - done)
			       : pwrite(fd, data + done, len - done, offset + (off_t)done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			errno = ENOSPC;
		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		if (errno == EIO)
			bdb_die_of_disk("write", errno);
		if (errno == ENOSPC || errno == EDQUOT)
			meet_full(fd);
		return -1;
	}
	pace_wrote_page(fd);
	return (ssize_t)len;
}

static ssize_t write_noting(int fd, const void *data, size_t len)
{
	return write_all(fd, data, len, -1);
}

static ssize_t pwrite_noting(int fd, const void *data, size_t len, off_t offset)
{
	return write_all(fd, data, len, offset);
}

/*
 * A new name is on the disk only when its directory was synced, which libdb leaves to the file
 * system: some lose a log file that was synced, and every commit in it.
 */
static void sync_names(int fd)
{
	if (!directory_sync(fd))
		bdb_die_of_disk("fsync of the directory", errno);
}

static int sync_directory_of(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int fd;

	if (!slash || (size_t)(slash - path) >= sizeof(directory)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = '\0';
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	sync_names(fd);
	close(fd);
	return 0;
}

/* In the place of libdb's open and rename: a name that they make is on the disk when they return. */
static int open_durable(const char *path, int flags, ...)
{
	bool made = flags & O_CREAT && access(path, F_OK) < 0 && errno == ENOENT;
	mode_t mode = 0;
	va_list args;
	int fd;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = (mode_t)va_arg(args, int);
	va_end(args);
	if (made)
		spare_take(path);
	fd = open(path, flags, mode);
	if (fd >= 0 && made && sync_directory_of(path) < 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static int rename_durable(const char *from, const char *to)
{
	return rename(from, to) < 0 ? -1 : sync_directory_of(to);
}

/*
 * Syncs the end of the log that is there, and the names in the directory. What a process wrote and did
 * not come to sync before it was killed is read like all else by recovery, which brings pages to the
 * disk that rest on it: after a power cut in that moment they would lie there without their log. And a
 * log file whose name was not synced is found here, so that nobody makes it again and syncs its name
 * then. libdb syncs a log file before it makes the next, so that all but the last were; the last two
 * are synced, in case the last has no record yet. Syncing each costs a flush of the disk's cache a file.
 */
static int sync_logs(const char *directory)
{
	DIR *dir = opendir(directory);
	char name[FILES_LOG_NAME_SIZE];
	const struct dirent *file;
	uint32_t last[2] = {0, 0}, number; /* the last but one, the last */
	int error, fd;

	/* libdb tells why it cannot be read. */
	if (!dir)
		return 0;
	while ((errno = 0, file = readdir(dir))) {
		number = files_log_number(file->d_name);
		if (number > last[1]) {
			last[0] = last[1];
			last[1] = number;
		} else if (number > last[0]) {
			last[0] = number;
		}
	}
	error = errno;
	for (int i = 0; !error && i < 2; i++) {
		if (!last[i])
			continue;
		files_log_name(last[i], name);
		fd = openat(dirfd(dir), name, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || sync_or_die(fd) < 0)
			error = errno;
		if (fd >= 0)
			close(fd);
	}
	if (!error)
		sync_names(dirfd(dir));
	closedir(dir);
	return error;
}

static void on_message(const DB_ENV *env, const char *prefix, const char *message)
{
	unsigned int count = atomic_fetch_add(&messages, 1);

	(void)env;
	(void)prefix;
	if (strstr(message, "checksum error") || strstr(message, "Checksum failure"))
		atomic_store(&met_damage, true);
	if (count < MESSAGES_MAX)
		log_line(LOG_LEVEL_WARNING, "libdb", "message=\"%s\"", message);
	else if (count == MESSAGES_MAX)
		log_line(LOG_LEVEL_WARNING, "libdb", "message=\"further messages are left out\"");
}

/* Bytes by bytes, as libdb orders keys; it does so one by one. The order on the disk is the same. */
static int compare_keys(DB *table, const DBT *a, const DBT *b)
{
	u_int32_t len = a->size < b->size ? a->size : b->size;
	int difference = len ? memcmp(a->data, b->data, len) : 0;

	(void)table;
	return difference ? difference : (a->size > b->size) - (a->size < b->size);
}

/* How many bytes of @b tell it from the smaller @a: what the pages above the leaves need to hold. */
static size_t key_prefix(DB *table, const DBT *a, const DBT *b)
{
	u_int32_t len = a->size < b->size ? a->size : b->size;
	const uint8_t *left = a->data, *right = b->data;
	u_int32_t same = 0;

	(void)table;
	while (same < len && left[same] == right[same])
		same++;
	/* The longer one differs in its length. */
	return same < len || a->size < b->size ? same + 1 : b->size;
}

/* One thread uses the handle (store.h): without DB_THREAD it costs no mutexes. */
static int open_table(struct bdb_env *bdb, enum record record, bool create)
{
	char file[64];
	DB *table;
	int error = db_create(&bdb->tables[record], bdb->env, 0);

	if (error)
		return error;
	table = bdb->tables[record];
	snprintf(file, sizeof(file), "%s.db", record_infos[record].name);
	error = table->set_pagesize(table, PAGE_BYTES);
	if (!error)
		error = table->set_flags(table, DB_CHKSUM);
	if (!error)
		error = table->set_bt_compare(table, compare_keys);
	if (!error)
		error = table->set_bt_prefix(table, key_prefix);
	if (!error)
		error = table->open(table, NULL, file, NULL, DB_BTREE,
			DB_AUTO_COMMIT | (create ? DB_CREATE : 0u), 0600);
	return error;
}

static int make(DB_ENV **made, uint32_t cache_mib)
{
	int error = db_env_create(made, 0);
	DB_ENV *env = *made;

	if (error)
		return error;
	env->set_errcall(env, on_message);
	error = env->set_cachesize(env, cache_mib / 1024, (cache_mib % 1024) * MIB, 1);
	if (!error)
		error = env->set_lg_max(env, BDB_LOG_FILE_SIZE);
	if (!error)
		error = env->set_lg_bsize(env, LOG_BUFFER_SIZE);
	return error;
}

int bdb_env_make(DB_ENV **made, const char *directory, uint32_t flags, uint32_t cache_mib)
{
	int error;

	db_env_set_func_fsync(sync_or_die);
	db_env_set_func_open(open_durable);
	db_env_set_func_rename(rename_durable);
	db_env_set_func_write(write_noting);
	db_env_set_func_pwrite(pwrite_noting);
	db_env_set_func_yield(pace_wait);
	memory_must_suffice(true);
	error = make(made, cache_mib);
	if (!error)
		error = (*made)->open(*made, directory, flags, 0600);
	memory_must_suffice(false);
	return error;
}

/* Closes everything and tells what @error means. @record: the table, or RECORD_COUNT. */
static enum status give_up(struct bdb_env *bdb, const struct bdb_options *options, int error,
	enum record record, char *why, size_t why_size)
{
	bdb_env_close(bdb);
	if (error == ENOENT && record != RECORD_COUNT && !options->create) {
		snprintf(why, why_size,
			"%s/%s.db is missing: the data is not complete; mount or restore it",
			options->directory, record_infos[record].name);
		return STATUS_CONFIG;
	}
	snprintf(why, why_size, "cannot open the database in %s: %s", options->directory,
		bdb_met_full() ? strerror(ENOSPC) : db_strerror(error));
	if (bdb_met_full())
		return STATUS_FULL;
	return bdb_met_damage() ? STATUS_CORRUPT : bdb_status(error);
}

enum status bdb_env_open(struct bdb_env *bdb, const struct bdb_options *options, char *why,
	size_t why_size)
{
	int error;

	memset(bdb, 0, sizeof(*bdb));
	error = sync_logs(options->directory);
	if (!error)
		error = bdb_env_make(&bdb->env, options->directory, BDB_ENV_FLAGS | DB_RECOVER,
			options->cache_mib);
	if (error)
		return give_up(bdb, options, error, RECORD_COUNT, why, why_size);
	error = open_table(bdb, RECORD_COUNTER, options->create);
	if (error)
		return give_up(bdb, options, error, RECORD_COUNTER, why, why_size);
	return STATUS_OK;
}

enum status bdb_env_open_tables(struct bdb_env *bdb, const struct bdb_options *options, char *why,
	size_t why_size)
{
	int error;

	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		if (i == RECORD_COUNTER)
			continue;
		error = open_table(bdb, (enum record)i, options->create);
		if (error)
			return give_up(bdb, options, error, (enum record)i, why, why_size);
	}
	return STATUS_OK;
}

void bdb_env_close(struct bdb_env *bdb)
{
	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		if (bdb->tables[i])
			bdb->tables[i]->close(bdb->tables[i], 0);
		bdb->tables[i] = NULL;
	}
	if (bdb->env)
		bdb->env->close(bdb->env, 0);
	bdb->env = NULL;
}
