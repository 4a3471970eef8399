#include "store/bdb/env.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SIZE       4096
#define MIB             (1024u * 1024u)
#define LOG_FILE_SIZE   (4 * MIB)
/* Holds all records of a batch of 256 commands, so that a commit is one write. */
#define LOG_BUFFER_SIZE (2 * MIB)

static void die_of_io(const char *where)
{
	log_line(LOG_LEVEL_ERROR, "disk_failed", "where=%s error=EIO action=halt", where);
	_exit(BDB_EXIT_IO);
}

enum status bdb_status(int error)
{
	switch (error) {
	case 0:
		return STATUS_OK;
	case EIO:
		die_of_io("libdb");
		return STATUS_IO;
	case ENOSPC:
	case EDQUOT:
		return STATUS_FULL;
	case ENOMEM:
		return STATUS_NOMEM;
	case DB_RUNRECOVERY:
	default:
		return STATUS_IO;
	}
}

/* In the place of libdb's fsync, which it would repeat on EIO (see bdb.h). */
static int sync_or_die(int fd)
{
	int done;

	do
		done = fdatasync(fd);
	while (done < 0 && errno == EINTR);
	if (done < 0 && errno == EIO)
		die_of_io("fdatasync");
	return done;
}

static void on_message(const DB_ENV *env, const char *prefix, const char *message)
{
	(void)env;
	(void)prefix;
	log_line(LOG_LEVEL_WARNING, "libdb", "message=\"%s\"", message);
}

static int open_tables(struct bdb_env *bdb)
{
	char file[64];
	int error;

	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		error = db_create(&bdb->tables[i], bdb->env, 0);
		if (error)
			return error;
		snprintf(file, sizeof(file), "%s.db", record_infos[i].name);
		error = bdb->tables[i]->set_pagesize(bdb->tables[i], PAGE_SIZE);
		if (!error)
			error = bdb->tables[i]->set_flags(bdb->tables[i], DB_CHKSUM);
		if (!error)
			error = bdb->tables[i]->open(bdb->tables[i], NULL, file, NULL, DB_BTREE,
				DB_CREATE | DB_AUTO_COMMIT | DB_THREAD, 0600);
		if (error)
			return error;
	}
	return 0;
}

static int open_env(struct bdb_env *bdb, const struct bdb_options *options)
{
	DB_ENV *env;
	int error = db_env_create(&bdb->env, 0);

	if (error)
		return error;
	env = bdb->env;
	env->set_errcall(env, on_message);
	error = env->set_cachesize(env, options->cache_mib / 1024,
		(options->cache_mib % 1024) * MIB, 1);
	if (!error)
		error = env->set_lg_max(env, LOG_FILE_SIZE);
	if (!error)
		error = env->set_lg_bsize(env, LOG_BUFFER_SIZE);
	if (!error)
		error = env->open(env, options->directory,
			DB_PRIVATE | DB_THREAD | DB_INIT_TXN | DB_INIT_LOG | DB_INIT_MPOOL |
				DB_CREATE | DB_RECOVER,
			0600);
	return error;
}

enum status bdb_env_open(struct bdb_env *bdb, const struct bdb_options *options, char *why,
	size_t why_size)
{
	int error;

	memset(bdb, 0, sizeof(*bdb));
	db_env_set_func_fsync(sync_or_die);
	error = open_env(bdb, options);
	if (!error)
		error = open_tables(bdb);
	if (!error)
		return STATUS_OK;
	snprintf(why, why_size, "cannot open the database in %s: %s", options->directory,
		db_strerror(error));
	bdb_env_close(bdb);
	return bdb_status(error);
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
