/* The only file that knows libfcgi. */
#include "web/fcgi.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

/* A kept connection that is idle so long is given up when another one waits. */
#define KEPT_IDLE_MS 500
/* After so many failures of accept() in a row the process ends, to be started anew. */
#define ACCEPT_FAILURES_MAX 10
#define ACCEPT_PAUSE_MS     100

/* Why the process ends. */
enum end {
	END_NONE,
	END_SIGNAL,
	END_ANEW,
	END_FAILED,
};

static const int exit_codes[] = {
	[END_NONE] = EXIT_FAILURE,
	[END_SIGNAL] = EXIT_SUCCESS,
	[END_ANEW] = EX_TEMPFAIL,
	[END_FAILED] = EXIT_FAILURE,
};

/* The process. */
struct pool {
	const struct fcgi_program *program;
	int listen_fd;
	int stop_fd; /* eventfd: readable for good once the process is to stop */
	bool exclusive; /* a Unix socket from which this process alone accepts */
	atomic_int end; /* enum end: why */
	_Atomic int64_t grace_end_ms;
};

struct thread {
	struct pool *pool;
	pthread_t id;
	int epoll_fd; /* listen_fd and stop_fd */
	void *worker; /* of pool->program */
	FCGX_Request fcgi;
	uint8_t body[HTTP_BODY_STORE];
};

static bool pool_is_stopping(struct pool *pool)
{
	return atomic_load(&pool->end) != END_NONE;
}

/* Tells every thread to stop. The first reason counts. */
static void pool_stop(struct pool *pool, enum end why)
{
	int none = END_NONE;
	uint64_t one = 1;

	if (pool_is_stopping(pool))
		return;
	atomic_store(&pool->grace_end_ms, clock_boot_ms() + FCGI_GRACE_MS);
	if (!atomic_compare_exchange_strong(&pool->end, &none, (int)why))
		return;
	/*
	 * A Unix socket refuses who comes from now on and still hands out who waits. The last look
	 * into the backlog is then really the last.
	 */
	if (pool->exclusive)
		shutdown(pool->listen_fd, SHUT_RD);
	if (write(pool->stop_fd, &one, sizeof(one)) < 0)
		log_line(LOG_LEVEL_ERROR, "stop", "error=\"%s\"", strerror(errno));
}

/* Waits until a connection can be accepted. False: the thread is to end. */
static bool wait_new(struct thread *thread)
{
	struct pool *pool = thread->pool;
	struct epoll_event events[2];
	bool stopping, waiting;
	int n;

	for (;;) {
		stopping = pool_is_stopping(pool);
		n = epoll_wait(thread->epoll_fd, events, 2, stopping ? 0 : -1);
		if (n < 0 && errno != EINTR) {
			log_line(LOG_LEVEL_ERROR, "epoll", "error=\"%s\"", strerror(errno));
			pool_stop(pool, END_FAILED);
			return false;
		}
		waiting = false;
		for (int i = 0; i < n; i++)
			waiting |= events[i].data.fd == pool->listen_fd;
		/* Who connected before the stop finds no other process to talk to. */
		if (waiting && (!stopping || clock_boot_ms() < atomic_load(&pool->grace_end_ms)))
			return true;
		if (stopping)
			return false;
	}
}

/*
 * Waits for the next request on a connection that the web server keeps. When it stays idle and
 * another one waits it is given up: kept connections would else starve all others. False: stop.
 */
static bool wait_kept(struct thread *thread)
{
	struct pool *pool = thread->pool;
	struct pollfd fds[3] = {
		{.fd = thread->fcgi.ipcFd, .events = POLLIN},
		{.fd = pool->stop_fd, .events = POLLIN},
		{.fd = pool->listen_fd, .events = POLLIN},
	};
	int n;

	do {
		n = poll(fds, 2, KEPT_IDLE_MS);
		if (n == 0)
			n = poll(fds, 3, -1);
	} while (n < 0 && errno == EINTR);
	if (fds[0].revents)
		return true;
	FCGX_Free(&thread->fcgi, 1);
	return wait_new(thread);
}

static size_t stdin_read(void *context, void *to, size_t len)
{
	int got = FCGX_GetStr(to, (int)len, context);

	return got > 0 ? (size_t)got : 0;
}

/* Answers the request that was accepted. */
static void answer(struct thread *thread)
{
	struct http_source source = {.read = stdin_read, .context = thread->fcgi.in};
	struct fcgi_reply reply = {.cut = false};
	struct http_request request;
	bool drained;

	http_request_read(&request, thread->fcgi.envp);
	drained = http_body_read(&request, thread->body, &source);
	request.wall_ms = clock_wall_ms();
	request.boot_ms = clock_boot_ms();
	thread->pool->program->serve(thread->worker, &request, &reply);
	if (!reply.cut) {
		FCGX_PutStr((const char *)reply.head->data, (int)reply.head->len, thread->fcgi.out);
		FCGX_PutStr((const char *)reply.body->data, (int)reply.body->len, thread->fcgi.out);
		/* Not left to the next FCGX_Accept_r(): the reply would wait for the next request. */
		FCGX_Finish_r(&thread->fcgi);
	}
	if (reply.cut || !drained)
		FCGX_Free(&thread->fcgi, 1);
	if (reply.ended)
		pool_stop(thread->pool, END_ANEW);
}

/* False: accepting failed for good. */
static bool accept_failed(struct thread *thread, int error, unsigned int *failures)
{
	/* Another thread was faster, or the connection turned out to be closed. */
	if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
		return true;
	log_line(LOG_LEVEL_ERROR, "accept", "error=\"%s\"", strerror(error));
	if (++*failures == ACCEPT_FAILURES_MAX) {
		pool_stop(thread->pool, END_FAILED);
		return false;
	}
	clock_sleep_ms(ACCEPT_PAUSE_MS);
	return true;
}

static void *thread_main(void *context)
{
	struct thread *thread = context;
	unsigned int failures = 0;
	int rc;

	FCGX_InitRequest(&thread->fcgi, thread->pool->listen_fd, FCGI_FAIL_ACCEPT_ON_INTR);
	while (thread->fcgi.ipcFd >= 0 ? wait_kept(thread) : wait_new(thread)) {
		rc = FCGX_Accept_r(&thread->fcgi);
		if (rc < 0) {
			/* Nobody waits; a socket that was shut tells so by either. */
			if ((rc == -EAGAIN || rc == -EINVAL) && pool_is_stopping(thread->pool))
				break;
			if (!accept_failed(thread, -rc, &failures))
				break;
			continue;
		}
		failures = 0;
		answer(thread);
	}
	FCGX_Free(&thread->fcgi, 1);
	return NULL;
}

/* Makes what @thread needs. False: logged. */
static bool thread_init(struct thread *thread, struct pool *pool)
{
	struct epoll_event listening = {.events = EPOLLIN | EPOLLEXCLUSIVE};
	struct epoll_event stopping = {.events = EPOLLIN};

	listening.data.fd = pool->listen_fd;
	stopping.data.fd = pool->stop_fd;
	thread->pool = pool;
	thread->worker = pool->program->open(pool->program->context);
	thread->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (thread->worker && thread->epoll_fd >= 0 &&
		epoll_ctl(thread->epoll_fd, EPOLL_CTL_ADD, pool->listen_fd, &listening) == 0 &&
		epoll_ctl(thread->epoll_fd, EPOLL_CTL_ADD, pool->stop_fd, &stopping) == 0)
		return true;
	log_start_failed("error=\"%s\"", strerror(errno));
	if (thread->epoll_fd >= 0)
		close(thread->epoll_fd);
	if (thread->worker)
		pool->program->close(thread->worker);
	return false;
}

static void thread_free(struct thread *thread)
{
	thread->pool->program->close(thread->worker);
	close(thread->epoll_fd);
	explicit_bzero(thread->body, sizeof(thread->body));
}

static void signals_stopping(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGUSR1);
}

/* Never runs: the signals stay blocked. It is there to be found (see fcgi_block_signals). */
static void signal_ignore(int number)
{
	(void)number;
}

void fcgi_block_signals(void)
{
	struct sigaction action = {.sa_handler = signal_ignore, .sa_flags = SA_RESTART};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t set;

	/*
	 * libfcgi takes SIGPIPE, SIGUSR1 and SIGTERM for itself where it finds no handler; its
	 * handlers interrupt reads, which it then takes for the end of a body.
	 */
	signals_stopping(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

/* Waits for a signal, or for a thread that stopped the pool. */
static void pool_wait(struct pool *pool)
{
	struct pollfd fds[2] = {{.fd = -1, .events = POLLIN},
		{.fd = pool->stop_fd, .events = POLLIN}};
	sigset_t set;

	signals_stopping(&set);
	fds[0].fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fds[0].fd < 0) {
		log_line(LOG_LEVEL_ERROR, "signalfd", "error=\"%s\"", strerror(errno));
		pool_stop(pool, END_FAILED);
		return;
	}
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[0].revents)
		pool_stop(pool, END_SIGNAL);
	close(fds[0].fd);
}

/* Waits for the first @count threads to end. False: one did not until @deadline_ms. */
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

/* Starts the threads. Returns how many run; fewer than @count: logged. */
static unsigned int threads_start(struct thread *threads, unsigned int count, struct pool *pool)
{
	int error;

	for (unsigned int i = 0; i < count; i++) {
		if (!thread_init(&threads[i], pool))
			return i;
		error = pthread_create(&threads[i].id, NULL, thread_main, &threads[i]);
		if (error) {
			log_start_failed("error=\"%s\"", strerror(error));
			thread_free(&threads[i]);
			return i;
		}
	}
	return count;
}

/* Several threads are woken for one connection: the late ones must not hang in accept(). */
static bool fd_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static bool fd_is_unix(int fd)
{
	int domain = AF_UNSPEC;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

int fcgi_run(const struct fcgi_program *program, int fd, unsigned int threads,
	const struct web_socket *own)
{
	struct pool pool = {.program = program, .listen_fd = fd, .stop_fd = -1,
		.exclusive = (program->exclusive || own) && fd_is_unix(fd)};
	struct thread *list = calloc(threads, sizeof(*list));
	unsigned int running;

	/* An environment that a caller of a setgid program may have chosen. */
	unsetenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT");
	unsetenv("LIBFCGI_IS_AF_UNIX_KEEPER_POLL_TIMEOUT");
	pool.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!list || pool.stop_fd < 0 || !fd_set_nonblocking(fd) || FCGX_Init() != 0) {
		log_start_failed("error=\"%s\"", strerror(errno));
		pool_stop(&pool, END_FAILED);
		goto out;
	}
	running = threads_start(list, threads, &pool);
	if (running < threads)
		pool_stop(&pool, END_FAILED);
	else
		pool_wait(&pool);
	if (own)
		socket_unlink(own);
	log_line(LOG_LEVEL_INFO, "stop", "threads=%u", running);
	if (!threads_join(list, running,
		    atomic_load(&pool.grace_end_ms) - FCGI_GRACE_MS + FCGI_STOP_MS)) {
		/* Memory in use by the thread that hangs cannot be taken from it. */
		log_line(LOG_LEVEL_WARNING, "stop", "error=\"a request did not finish in time\"");
		_exit(exit_codes[atomic_load(&pool.end)]);
	}
out:
	if (pool.stop_fd >= 0)
		close(pool.stop_fd);
	free(list);
	return exit_codes[atomic_load(&pool.end)];
}
