#include "store/bdb/spare.h"

#include "base/text.h"
#include "store/bdb/env.h"
#include "store/bdb/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One that could not be made is tried again after this. */
#define RETRY_S 1

/* libdb's functions have no context: one lock for all spares there are. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t taken;

static bool fill(int fd)
{
	static const uint8_t zeros[256 * 1024];

	for (uint64_t at = 0; at < BDB_LOG_FILE_SIZE; at += sizeof(zeros)) {
		if (!files_write(fd, zeros, sizeof(zeros), at))
			return false;
	}
	return fdatasync(fd) == 0;
}

/* Makes it, unless it is there. It has its name when all of it is on the disk. */
static bool make(const struct spare *spare)
{
	int directory = open(spare->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool made = false;
	struct stat st;
	int fd;

	if (directory < 0)
		return false;
	if (fstatat(directory, SPARE_NAME, &st, 0) == 0) {
		close(directory);
		return true;
	}
	fd = files_free_bytes(directory) > spare->low_water_bytes + BDB_LOG_FILE_SIZE
		? openat(directory, SPARE_MAKING_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
		: -1;
	if (fd >= 0) {
		made = fill(fd);
		close(fd);
		made = made && renameat(directory, SPARE_MAKING_NAME, directory, SPARE_NAME) == 0;
		if (!made)
			unlinkat(directory, SPARE_MAKING_NAME, 0);
	}
	close(directory);
	return made;
}

static void *run(void *context)
{
	struct spare *spare = context;
	struct timespec until;
	uint64_t seen;
	bool made;

	pthread_mutex_lock(&lock);
	while (!spare->stop) {
		seen = taken;
		pthread_mutex_unlock(&lock);
		made = make(spare);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += RETRY_S;
		pthread_mutex_lock(&lock);
		while (!spare->stop && seen == taken) {
			if (made)
				pthread_cond_wait(&changed, &lock);
			else if (pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT)
				break;
		}
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

bool spare_start(struct spare *spare, const char *directory, uint64_t low_water_bytes)
{
	sigset_t all, before;

	spare->stop = false;
	spare->low_water_bytes = low_water_bytes;
	if (!text_copy(spare->directory, sizeof(spare->directory), directory))
		return false;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	spare->started = pthread_create(&spare->thread, NULL, run, spare) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return spare->started;
}

void spare_stop(struct spare *spare)
{
	if (!spare->started)
		return;
	pthread_mutex_lock(&lock);
	spare->stop = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(spare->thread, NULL);
	spare->started = false;
}

static bool is_clear(const uint8_t *data, size_t len)
{
	return len == 0 || (data[0] == 0 && memcmp(data, data + 1, len - 1) == 0);
}

static int clear_behind(int fd, uint64_t at)
{
	uint8_t data[64 * 1024];
	bool cleared = false;
	ssize_t len;

	while ((len = files_read(fd, data, sizeof(data), at)) > 0) {
		if (!is_clear(data, (size_t)len)) {
			memset(data, 0, (size_t)len);
			if (!files_write(fd, data, (size_t)len, at))
				return errno;
			cleared = true;
		}
		at += (uint64_t)len;
	}
	return len < 0 || (cleared && fdatasync(fd) < 0) ? errno : 0;
}

int spare_clear_end(DB_ENV *env, const char *directory)
{
	char path[PATH_MAX], name[FILES_LOG_NAME_SIZE];
	DB_LOG_STAT *stat = NULL;
	int error = env->log_stat(env, &stat, 0), fd;
	uint64_t end;

	if (error)
		return error;
	files_log_name(stat->st_cur_file, name);
	end = stat->st_cur_offset;
	free(stat);
	if ((unsigned int)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CLOEXEC);
	/* The first file of the log may not have been made. */
	if (fd < 0)
		return errno == ENOENT ? 0 : errno;
	error = clear_behind(fd, end);
	close(fd);
	return error;
}

bool spare_take(const char *path)
{
	const char *slash = strrchr(path, '/');
	char from[PATH_MAX];

	if (!slash || !files_log_number(slash + 1) ||
		(unsigned int)snprintf(from, sizeof(from), "%.*s/" SPARE_NAME, (int)(slash - path),
			path) >= sizeof(from) ||
		rename(from, path) < 0)
		return false;
	pthread_mutex_lock(&lock);
	taken++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return true;
}
