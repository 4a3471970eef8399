#include "fcgi/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "fcgi/fiber_pool.h"
#include "fcgi/signals.h"
#include "fcgi/slot.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

static const int exit_codes[] = {
	[END_NONE] = EXIT_FAILURE,
	[END_SIGNAL] = EXIT_SUCCESS,
	[END_ANEW] = EX_TEMPFAIL,
	[END_FAILED] = EXIT_FAILURE,
	[END_AGAIN] = FCGI_AGAIN,
};

/* A thread has one slot, or a fiber pool. */
struct thread {
	struct pool *pool;
	struct fiber_pool fiber_pool;
	struct slot slot;
	pthread_t id;
};

void pool_stop(struct pool *pool, enum end why)
{
	int none = END_NONE;
	uint64_t one = 1;

	if (pool_is_stopping(pool))
		return;
	/* The next pool serves the connections that are queued. */
	atomic_store(&pool->grace_end_ms, clock_boot_ms() + (why == END_AGAIN ? 0 : FCGI_GRACE_MS));
	if (!atomic_compare_exchange_strong(&pool->end, &none, (int)why))
		return;
	admission_close(&pool->admission);
	/*
	 * After the shutdown, a Unix socket rejects new connections but still returns queued
	 * ones. So the last check of the backlog is final.
	 */
	if (pool->exclusive && why != END_AGAIN)
		shutdown(pool->listeners.own.fd, SHUT_RD);
	if (write(pool->stop_fd, &one, sizeof(one)) < 0)
		log_line(LOG_LEVEL_ERROR, "stop", "error=\"%s\"", strerror(errno));
}

static bool has_fiber_pool(const struct thread *thread)
{
	return thread->pool->program->fibers;
}

static void *thread_main(void *context)
{
	struct thread *thread = context;

	if (has_fiber_pool(thread))
		fiber_pool_run(&thread->fiber_pool);
	else if (thread->slot.sheds_load)
		load_shedder_run(&thread->slot);
	else
		slot_run(&thread->slot);
	return NULL;
}

static void thread_free(struct thread *thread)
{
	if (has_fiber_pool(thread))
		fiber_pool_free(&thread->fiber_pool);
	else
		slot_free(&thread->slot);
}

/* Prepares and starts @thread. Returns false on failure, which was logged. */
static bool thread_start(struct thread *thread, struct pool *pool, bool sheds_load)
{
	bool ready;
	int error;

	thread->pool = pool;
	ready = has_fiber_pool(thread)
		? fiber_pool_init(&thread->fiber_pool, pool, pool->admission.slots)
		: slot_init(&thread->slot, pool, NULL, sheds_load);
	error = ready ? pthread_create(&thread->id, NULL, thread_main, thread) : errno;
	if (!error)
		return true;
	log_start_failed("error=\"cannot start a thread: %s\" remedy=\"lower --threads, or raise "
			 "the limits of processes and open files\"",
		strerror(error));
	thread_free(thread);
	return false;
}

/* Starts the threads, the load shedder last. Returns how many run; fewer than @count: logged. */
static unsigned int threads_start(struct thread *threads, unsigned int count, struct pool *pool)
{
	for (unsigned int i = 0; i < count; i++) {
		if (!thread_start(&threads[i], pool, i == pool->admission.slots))
			return i;
	}
	return count;
}

/* Waits for a signal, or for a thread that stopped the pool. */
static void pool_wait_for_stop(struct pool *pool)
{
	struct pollfd fds[2] = {{.fd = signals_open(), .events = POLLIN},
		{.fd = pool->stop_fd, .events = POLLIN}};
	int64_t until_ms = clock_boot_ms() + pool->program->again_ms, again_ms;
	int count;

	if (fds[0].fd < 0) {
		log_line(LOG_LEVEL_ERROR, "signalfd", "error=\"%s\"", strerror(errno));
		pool_stop(pool, END_FAILED);
		return;
	}
	do {
		again_ms = pool->program->again_ms ? until_ms - clock_boot_ms() : -1;
		count = poll(fds, 2, again_ms < -1 ? 0 : (int)again_ms);
	} while (count < 0 && errno == EINTR);
	if (fds[0].revents)
		pool_stop(pool, END_SIGNAL);
	else if (count == 0)
		pool_stop(pool, END_AGAIN);
	close(fds[0].fd);
}

/* Waits for the first @count threads. Returns false if one has not ended by @deadline_ms. */
static bool threads_join(struct thread *threads, unsigned int count, int64_t deadline_ms)
{
	struct timespec until;
	int64_t left_ms = deadline_ms - clock_boot_ms();

	clock_gettime(CLOCK_MONOTONIC, &until);
	if (left_ms > 0) {
		until.tv_sec += left_ms / 1000;
		until.tv_nsec += left_ms % 1000 * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	}
	for (unsigned int i = 0; i < count; i++) {
		if (pthread_clockjoin_np(threads[i].id, NULL, CLOCK_MONOTONIC, &until) != 0)
			return false;
		thread_free(&threads[i]);
	}
	return true;
}

int fcgi_run(const struct fcgi_program *program, int fd, unsigned int threads,
	const struct fcgi_socket *own)
{
	bool is_unix = socket_is_unix(fd);
	/* With one slot, the web server is mod_fcgid, which sends one request at a time. */
	struct pool pool = {.program = program,
		.stop_fd = -1,
		.is_unix = is_unix,
		.many_slots = threads > 1,
		.has_load_shedder = program->refuses_excess && is_unix && threads > 1,
		.exclusive = (program->exclusive || own) && is_unix};
	unsigned int all = program->fibers ? 1 : threads + pool.has_load_shedder;
	struct thread *list = calloc(all, sizeof(*list));
	unsigned int running;
	char why[256];

	listeners_init(&pool.listeners, fd);
	admission_init(&pool.admission, threads);
	pool.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* One connection can wake several threads. The later ones must not block in accept(). */
	if (!fcgi_library_init(why, sizeof(why))) {
		log_start_failed("error=\"%s\"", why);
		pool_stop(&pool, END_FAILED);
		goto out;
	}
	if (!list || pool.stop_fd < 0 || !socket_set_nonblocking(fd)) {
		log_start_failed(
			"error=\"cannot prepare the listening socket: %s\" remedy=\"raise the "
			"limits of memory and open files\"",
			strerror(errno));
		pool_stop(&pool, END_FAILED);
		goto out;
	}
	running = threads_start(list, all, &pool);
	if (running < all)
		pool_stop(&pool, END_FAILED);
	else
		pool_wait_for_stop(&pool);
	if (own)
		socket_unlink(own);
	if (atomic_load(&pool.end) != END_AGAIN)
		log_line(LOG_LEVEL_INFO, "stop", "threads=%u", running < all ? running : threads);
	/* A process that continues has time to finish its requests. */
	if (!threads_join(list, running,
		    clock_boot_ms() + FCGI_STOP_MS +
			    (atomic_load(&pool.end) == END_AGAIN ? FCGI_READ_MS : 0))) {
		/* The hanging thread still uses the memory, so it cannot be freed. */
		log_line(LOG_LEVEL_WARNING, "stop", "error=\"a request did not finish in time\"");
		_exit(exit_codes[atomic_load(&pool.end)]);
	}
out:
	if (pool.stop_fd >= 0)
		close(pool.stop_fd);
	admission_free(&pool.admission);
	if (program->shared_listener)
		shared_listener_free(program->shared_listener);
	listeners_free(&pool.listeners);
	free(list);
	return exit_codes[atomic_load(&pool.end)];
}
