#include "store/bdb/env/log_prealloc.h"

#include "base/log.h"
#include "base/text.h"
#include "store/bdb/env/files.h"
#include "store/bdb/env/writeback.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The pause after a failed attempt. */
#define RETRY_S 10

/* The hooks of libdb have no context, so one lock serves all stores. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t taken;

static bool fill_with_zeros(int fd)
{
	static const uint8_t zeros[WRITEBACK_BYTES];

	for (uint64_t at = 0; at < BDB_LOG_FILE_SIZE; at += sizeof(zeros)) {
		if (!files_write(fd, zeros, sizeof(zeros), at))
			return false;
		writeback_start(fd);
	}
	return fdatasync(fd) == 0;
}

/* Creates the spare unless it exists. It gets its name when all of its bytes are on the disk. */
static bool make_next_log(const struct log_prealloc *prealloc)
{
	int directory = open(prealloc->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool made = false;
	uint64_t free_bytes;
	struct stat st;
	int fd;

	if (directory < 0)
		return false;
	if (fstatat(directory, LOG_PREALLOC_NAME, &st, 0) == 0) {
		close(directory);
		return true;
	}
	free_bytes = files_free_bytes(directory);
	fd = free_bytes > BDB_LOG_FILE_SIZE &&
			free_bytes - BDB_LOG_FILE_SIZE > prealloc->low_water_bytes
		? openat(directory, LOG_PREALLOC_MAKING_NAME,
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
		: -1;
	if (fd >= 0) {
		made = fill_with_zeros(fd) &&
			renameat(directory, LOG_PREALLOC_MAKING_NAME, directory,
				LOG_PREALLOC_NAME) == 0;
		if (!made) {
			log_line(LOG_LEVEL_WARNING, "log_not_made_ahead", "error=\"%s\"",
				strerror(errno));
			unlinkat(directory, LOG_PREALLOC_MAKING_NAME, 0);
		}
		close(fd);
	}
	close(directory);
	return made;
}

static void *log_prealloc_thread(void *context)
{
	struct log_prealloc *prealloc = context;
	struct timespec until;
	uint64_t seen;
	bool made;

	pthread_mutex_lock(&lock);
	while (!prealloc->stop) {
		seen = taken;
		pthread_mutex_unlock(&lock);
		made = make_next_log(prealloc);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += RETRY_S;
		pthread_mutex_lock(&lock);
		while (!prealloc->stop && seen == taken) {
			if (made)
				pthread_cond_wait(&changed, &lock);
			else if (pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until) ==
				ETIMEDOUT)
				break;
		}
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

bool log_prealloc_start(struct log_prealloc *prealloc, const char *directory,
	uint64_t low_water_bytes)
{
	sigset_t all, before;

	prealloc->stop = false;
	prealloc->low_water_bytes = low_water_bytes;
	if (!text_copy(prealloc->directory, sizeof(prealloc->directory), directory))
		return false;
	/* Only the main thread handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	prealloc->started =
		pthread_create(&prealloc->thread, NULL, log_prealloc_thread, prealloc) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return prealloc->started;
}

void log_prealloc_stop(struct log_prealloc *prealloc)
{
	if (!prealloc->started)
		return;
	pthread_mutex_lock(&lock);
	prealloc->stop = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(prealloc->thread, NULL);
	prealloc->started = false;
}

/*
 * Returns true if the file is a complete spare of this user. The ledger cannot continue with
 * another file.
 */
static bool is_complete_spare(const char *path)
{
	uint8_t block[4096], zeros[sizeof(block)] = {0};
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		st.st_size == BDB_LOG_FILE_SIZE &&
		files_read(fd, block, sizeof(block), 0) == sizeof(block) &&
		memcmp(block, zeros, sizeof(block)) == 0;
	close(fd);
	return is;
}

bool log_prealloc_take(const char *path)
{
	const char *slash = strrchr(path, '/');
	char from[PATH_MAX];
	bool is_taken;

	if (!slash || !files_log_number(slash + 1) ||
		(unsigned int)snprintf(from, sizeof(from), "%.*s/" LOG_PREALLOC_NAME,
			(int)(slash - path), path) >= sizeof(from))
		return false;
	is_taken = is_complete_spare(from);
	if (is_taken)
		is_taken = rename(from, path) == 0;
	else
		unlink(from);
	pthread_mutex_lock(&lock);
	taken++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return is_taken;
}
