#include "store/bdb/env/env.h"

#include "base/log.h"
#include "store/bdb/env/files.h"
#include "store/bdb/env/log_prealloc.h"
#include "store/bdb/env/oom.h"
#include "store/bdb/env/os_hooks.h"
#include "store/bdb/env/page_checksum.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB (1024u * 1024u)
/*
 * Holds all records of a batch of 256 transfers, so that a commit is one write. Bodies may need
 * more.
 */
#define LOG_BUFFER_SIZE (2 * MIB)

/* libdb reports each page that it cannot write; further messages add no information. */
#define MESSAGES_MAX 50

static atomic_uint messages;

/*
 * Syncs the end of the existing log and the names in its directory.
 *
 * If a process was killed before it synced its last writes, recovery reads them like all others
 * and writes pages that depend on them. After a power failure at that moment these pages would
 * exist without their log. If the name of a log file was not synced, recovery finds the file here
 * and never creates it again, so libdb would not sync its name.
 *
 * libdb syncs a log file before it creates the next, so only the last one may be unsynced. The
 * last two are synced, in case the last has no record yet. Syncing every file would flush the
 * cache of the disk once for each.
 */
static int sync_logs(const char *directory)
{
	DIR *dir = opendir(directory);
	char name[FILES_LOG_NAME_SIZE];
	const struct dirent *file;
	uint32_t last[2] = {0, 0}, number; /* the last but one, the last */
	int error, fd;

	/* libdb reports a missing directory. */
	if (!dir)
		return errno == ENOENT ? 0 : errno;
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
		if (fd < 0 || os_hooks_sync(fd) < 0)
			error = errno;
		if (fd >= 0)
			close(fd);
	}
	if (!error)
		os_hooks_sync_directory(dirfd(dir));
	closedir(dir);
	return error;
}

static void log_libdb_message(const DB_ENV *env, const char *prefix, const char *message)
{
	unsigned int count = atomic_fetch_add(&messages, 1);

	(void)env;
	(void)prefix;
	if (strstr(message, "checksum error") || strstr(message, "Checksum failure"))
		bdb_note_damage();
	if (count < MESSAGES_MAX)
		log_line(LOG_LEVEL_WARNING, "libdb", "message=\"%s\"", message);
	else if (count == MESSAGES_MAX)
		log_line(LOG_LEVEL_WARNING, "libdb", "message=\"further messages are left out\"");
}

/* Compares keys in the order of libdb, but not byte by byte. The order on the disk is the same. */
static int compare_keys(DB *table, const DBT *a, const DBT *b)
{
	u_int32_t len = a->size < b->size ? a->size : b->size;
	int difference = len ? memcmp(a->data, b->data, len) : 0;

	(void)table;
	return difference ? difference : (a->size > b->size) - (a->size < b->size);
}

/*
 * Returns how many bytes of @b distinguish it from the smaller @a: the internal pages store only
 * these.
 */
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

static int env_create(DB_ENV **made, uint32_t cache_mib)
{
	int error = db_env_create(made, 0);
	DB_ENV *env = *made;

	if (error)
		return error;
	env->set_errcall(env, log_libdb_message);
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

	os_hooks_install();
	oom_ends_process(true);
	error = env_create(made, cache_mib);
	if (!error)
		error = (*made)->open(*made, directory, flags, 0600);
	oom_ends_process(false);
	return error;
}

/* Closes everything and maps @error. @record: the table, or RECORD_COUNT. */
static enum status open_failed(struct bdb_env *bdb, const struct store_options *options, int error,
	enum record record, char *why, size_t why_size)
{
	bdb_env_close(bdb);
	if (error == ENOENT && record != RECORD_COUNT && !options->create) {
		snprintf(why, why_size,
			"%s/%s.db is missing: the data is not complete; mount or restore it",
			store_name(options), record_infos[record].name);
		return STATUS_CONFIG;
	}
	snprintf(why, why_size, "cannot open the database in %s: %s", store_name(options),
		bdb_met_full() ? strerror(ENOSPC) : db_strerror(error));
	if (bdb_met_full())
		return STATUS_FULL;
	return bdb_met_damage() ? STATUS_CORRUPT : bdb_status(error);
}

enum status bdb_env_open(struct bdb_env *bdb, const struct store_options *options, char *why,
	size_t why_size)
{
	int error;

	memset(bdb, 0, sizeof(*bdb));
	bdb_before_halt(options->before_halt);
	error = sync_logs(options->directory);
	if (!error)
		error = bdb_env_make(&bdb->env, options->directory, BDB_ENV_FLAGS | DB_RECOVER,
			options->cache_mib);
	if (error)
		return open_failed(bdb, options, error, RECORD_COUNT, why, why_size);
	error = open_table(bdb, RECORD_COUNTER, options->create);
	if (error)
		return open_failed(bdb, options, error, RECORD_COUNTER, why, why_size);
	return STATUS_OK;
}

enum status bdb_env_open_tables(struct bdb_env *bdb, const struct store_options *options,
	uint64_t schema, char *why, size_t why_size)
{
	int error;

	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		if (i == RECORD_COUNTER)
			continue;
		error = open_table(bdb, (enum record)i,
			options->create || schema < record_since((enum record)i));
		if (error)
			return open_failed(bdb, options, error, (enum record)i, why, why_size);
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
