#include "store/bdb/env/writeback.h"

#include "base/check.h"
#include "base/clock.h"
#include "store/bdb/env/fatal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#define LOT_MIN      8
#define REST_US      501               /* no other wait of libdb has this length */
#define RESTS_MAX_NS (500 * 1000000LL) /* of a checkpoint */

/* The state of this thread: the hooks of libdb have no context. */
static _Thread_local struct {
	bool in_checkpoint;
	int fd;         /* of the page that was written last; -1: none */
	uint64_t pages; /* writes of this checkpoint, including its own writes of the log */
	int64_t rested_ns;
} throttle;

/*
 * Serialises checkpoints. @last_pages: the pages of the last one that wrote any; unknown:
 * UINT64_MAX.
 */
static pthread_mutex_t checkpoint_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_pages = UINT64_MAX;

uint32_t writeback_lot(uint64_t pages)
{
	uint64_t lot = pages / WRITEBACK_RESTS;

	return lot < LOT_MIN ? LOT_MIN : lot > INT_MAX ? INT_MAX : (uint32_t)lot;
}

/*
 * Starts writing out. Returns false if the kernel could not start and may have dropped pages,
 * which no fdatasync reports. Later errors are left to the fdatasync: the flags that wait would
 * consume them.
 */
static bool start_writing_out(int fd)
{
	if (sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0)
		return true;
	/* The call is not supported or not possible now; the fdatasync writes everything. */
	return errno == ENOSYS || errno == EPERM || errno == EINVAL || errno == ENOMEM ||
		errno == EINTR;
}

/* Runs after the checkpoint of libdb wrote a group of pages. */
static void rest_after_lot(void)
{
	int64_t begin = clock_boot_ns();

	if (throttle.fd >= 0 && !start_writing_out(throttle.fd))
		bdb_die_of_disk("sync_file_range", errno);
	if (throttle.rested_ns >= RESTS_MAX_NS)
		return;
	clock_sleep_us(REST_US);
	throttle.rested_ns += clock_boot_ns() - begin;
}

int writeback_wait(unsigned long seconds, unsigned long microseconds)
{
	if (seconds == 0 && microseconds == REST_US) {
		if (throttle.in_checkpoint)
			rest_after_lot();
	} else if (throttle.in_checkpoint && seconds == 1 && microseconds == 0) {
		clock_sleep_us(REST_US);
	} else if (seconds || microseconds) {
		clock_sleep_us((int64_t)seconds * 1000000 + (int64_t)microseconds);
	} else {
		sched_yield();
	}
	return 0;
}

void writeback_checkpoint_begin(DB_ENV *env)
{
	CHECK(!throttle.in_checkpoint);
	throttle.in_checkpoint = true;
	throttle.fd = -1;
	throttle.pages = 0;
	throttle.rested_ns = 0;
	env->set_mp_max_write(env, (int)writeback_lot(last_pages), REST_US);
}

void writeback_checkpoint_end(DB_ENV *env)
{
	CHECK(throttle.in_checkpoint);
	throttle.in_checkpoint = false;
	env->set_mp_max_write(env, 0, 0);
	/* No checkpoint was due, or nothing was new. */
	if (!throttle.pages)
		return;
	/*
	 * A small checkpoint that is due by time often follows a large one that was due by the log.
	 * The next one may be large again.
	 */
	if (last_pages == UINT64_MAX || throttle.pages > last_pages / 2)
		last_pages = throttle.pages;
	else
		last_pages /= 2;
}

int writeback_checkpoint(DB_ENV *env, uint32_t kib, uint32_t flags, uint64_t *pages)
{
	int error;

	/*
	 * libdb would make a second checkpoint wait, too, but only after this function had set the
	 * number of pages between rests for the whole environment.
	 */
	pthread_mutex_lock(&checkpoint_lock);
	writeback_checkpoint_begin(env);
	error = env->txn_checkpoint(env, kib, 0, flags);
	writeback_checkpoint_end(env);
	*pages = throttle.pages;
	pthread_mutex_unlock(&checkpoint_lock);
	return error;
}

void writeback_wrote_page(int fd)
{
	if (!throttle.in_checkpoint)
		return;
	/* libdb holds locks here, sometimes that of the log. So the writing starts at the next rest. */
	throttle.fd = fd;
	throttle.pages++;
}

void writeback_start(int fd)
{
	start_writing_out(fd);
	clock_sleep_us(REST_US);
}
