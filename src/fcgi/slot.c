#include "fcgi/slot.h"

#include "base/clock.h"
#include "base/fiber.h"
#include "base/log.h"
#include "fcgi/fiber_pool.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A kept connection that is idle so long is given up when another one waits. */
#define KEPT_IDLE_MS 500
/* After so many failures of accept() in a row the process ends, to be started anew. */
#define ACCEPT_FAILURES_MAX 10
#define ACCEPT_PAUSE_MS     100
/* The usher has others to refuse: it waits no longer for the rest of a request. */
#define USHER_READ_MS 200

/* Whether connections are still taken: who came before the stop finds no other process to talk to. */
static bool pool_accepts(struct pool *pool)
{
	return !pool_is_stopping(pool) || clock_boot_ms() < atomic_load(&pool->grace_end_ms);
}

/* wait_new() where there is no crew. */
static bool thread_wait_new(struct lane *lane)
{
	struct epoll_event event;

	if (epoll_wait(lane->epoll_fd, &event, 1, -1) >= 0 || errno == EINTR)
		return true;
	log_line(LOG_LEVEL_ERROR, "epoll", "error=\"%s\"", strerror(errno));
	pool_stop(lane->pool, END_FAILED);
	return false;
}

/* Waits until a connection may be there. False: the lane is to end. */
static bool wait_new(struct lane *lane)
{
	if (pool_is_stopping(lane->pool))
		return pool_accepts(lane->pool);
	if (!lane->crew)
		return thread_wait_new(lane);
	crew_wait_new(lane);
	return true;
}

/* True: a read would not wait. */
static bool is_readable(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, 0) > 0;
}

/* Waits for the kept connection or the stop, KEPT_IDLE_MS at most. False: neither came. */
static bool wait_said(struct lane *lane)
{
	struct pollfd fds[] = {{.fd = lane->conn.fd, .events = POLLIN},
		{.fd = lane->pool->stop_fd, .events = POLLIN}};

	return lane->crew ? crew_wait(lane, lane->conn.fd, clock_boot_ms() + KEPT_IDLE_MS)
			  : poll(fds, 2, KEPT_IDLE_MS) != 0;
}

/*
 * Waits for the next request on a connection that the web server keeps. When it stays idle and
 * another one waits it is given up: kept connections would else starve all others. False: it is.
 */
static bool wait_kept(struct lane *lane)
{
	struct waiting *waiting = &lane->pool->waiting;
	bool in_time, wanted = pool_is_stopping(lane->pool);
	bool readable = wanted && is_readable(lane->conn.fd);

	while (!readable && !wanted) {
		in_time = wait_said(lane);
		readable = is_readable(lane->conn.fd);
		wanted = pool_is_stopping(lane->pool) ||
			(!in_time && !waiting_has_idle(waiting) &&
				(waiting_any(waiting) || is_readable(lane->pool->doors.fd)));
	}
	return readable;
}

/* False: accepting failed for good. */
static bool accept_failed(struct lane *lane, int error)
{
	/* Another thread was faster, or the connection turned out to be closed. */
	if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
		return true;
	log_line(LOG_LEVEL_ERROR, "accept", "error=\"%s\"", strerror(error));
	if (++lane->failures == ACCEPT_FAILURES_MAX) {
		pool_stop(lane->pool, END_FAILED);
		return false;
	}
	fiber_wait(-1, 0, clock_boot_ms() + ACCEPT_PAUSE_MS);
	return true;
}

/* Accepts a connection. False: there is none, errno tells why. */
static bool accept_one(struct lane *lane)
{
	struct pool *pool = lane->pool;
	const int one = 1;
	int fd = doors_accept(&pool->doors);

	if (fd < 0)
		return false;
	lane->failures = 0;
	if (!pool->is_unix)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcgi_conn_open(&lane->conn, fd, FCGI_READ_MS);
	if (lane->crew)
		crew_wake_next(lane->crew);
	return true;
}

/* Waits for a connection, while the lane counts as idle. False: the lane is to end. */
static bool accept_next(struct lane *lane)
{
	struct pool *pool = lane->pool;
	/* Under load the next one is there already. */
	bool look = pool->crowded && !pool_is_stopping(pool);

	for (;;) {
		if (!look && !wait_new(lane))
			return false;
		look = false;
		if (accept_one(lane))
			return true;
		/* Nobody waits; a socket that was shut tells so by either. */
		if ((errno == EAGAIN || errno == EINVAL) && pool_is_stopping(pool))
			return false;
		if (!accept_failed(lane, errno))
			return false;
	}
}

/* Waits for a connection with a request to come. False: the lane is to end. */
static bool lane_next(struct lane *lane)
{
	struct waiting *waiting = &lane->pool->waiting;
	bool found;
	int fd;

	if (lane->conn.fd >= 0 && lane->conn.at < lane->conn.len)
		return true;
	if (lane->conn.fd >= 0) {
		if (wait_kept(lane))
			return true;
		fcgi_conn_close(&lane->conn);
	}
	if (!pool_accepts(lane->pool))
		return false;
	fd = waiting_take(waiting);
	if (fd >= 0) {
		fcgi_conn_open(&lane->conn, fd, FCGI_READ_MS);
		return true;
	}
	found = accept_next(lane);
	waiting_busy(waiting);
	if (lane->crew)
		crew_press(lane->crew);
	return found;
}

/* Reads the request that comes, and answers it. */
static void answer(struct lane *lane)
{
	const struct fcgi_program *program = lane->pool->program;
	struct fcgi_conn *conn = &lane->conn;
	struct http_source source = {.read = fcgi_conn_read, .context = conn};
	struct fcgi_reply reply = {.cut = false};
	struct http_request request;
	bool kept;

	if (!fcgi_conn_request(conn, &request)) {
		fcgi_conn_close(conn);
		return;
	}
	kept = http_body_read(&request, lane->body, &source);
	/*
	 * A body that broke off tells of the way here, not of the caller: no refusal is true of it.
	 * Who is not answered asks again. The usher refuses whatever it is.
	 */
	if (conn->failed && !lane->usher) {
		fcgi_conn_close(conn);
		fcgi_conn_end(conn);
		return;
	}
	request.excess = lane->usher;
	request.wall_ms = clock_wall_ms();
	request.boot_ms = clock_boot_ms();
	program->serve(lane->worker, &request, &reply);
	if (reply.cut || !fcgi_conn_reply(conn, reply.head, reply.body) || !kept)
		fcgi_conn_close(conn);
	if (program->after)
		program->after(lane->worker);
	fcgi_conn_end(conn);
	if (reply.ended)
		pool_stop(lane->pool, END_ANEW);
}

/* Answers on @fd that it is too much. Whoever has sent nothing yet is cut off. */
static void refuse(struct lane *usher, int fd)
{
	if (!is_readable(fd)) {
		close(fd);
		return;
	}
	fcgi_conn_open(&usher->conn, fd, USHER_READ_MS);
	answer(usher);
	fcgi_conn_close(&usher->conn);
}

void usher_run(void *context)
{
	struct lane *usher = context;
	struct waiting *waiting = &usher->pool->waiting;
	int fd;

	while (usher->crew ? crew_wait_press(usher) : waiting_press(waiting)) {
		fiber_wait(-1, 0, clock_boot_ms() + WAITING_TICK_MS);
		waiting_gather(waiting, &usher->pool->doors, clock_boot_ms());
		while ((fd = waiting_excess(waiting, clock_boot_ms())) >= 0)
			refuse(usher, fd);
	}
}

void lane_run(void *context)
{
	struct lane *lane = context;

	while (lane_next(lane)) {
		answer(lane);
		fiber_breathe();
	}
	fcgi_conn_close(&lane->conn);
}

/* What a thread's lane waits by. False: errno tells. */
static bool epoll_init(struct lane *lane)
{
	/* A connection wakes one thread of those that are idle, the stop all. */
	struct epoll_event listening = {.events = EPOLLIN | EPOLLEXCLUSIVE};
	struct epoll_event stopping = {.events = EPOLLIN};

	lane->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return lane->epoll_fd >= 0 &&
		epoll_ctl(lane->epoll_fd, EPOLL_CTL_ADD, lane->pool->doors.fd, &listening) == 0 &&
		epoll_ctl(lane->epoll_fd, EPOLL_CTL_ADD, lane->pool->stop_fd, &stopping) == 0;
}

bool lane_init(struct lane *lane, struct pool *pool, struct crew *crew, bool usher)
{
	lane->pool = pool;
	lane->crew = crew;
	lane->usher = usher;
	lane->epoll_fd = -1;
	fcgi_conn_init(&lane->conn);
	lane->worker = pool->program->open(pool->program->context);
	return lane->worker && (crew || usher || epoll_init(lane));
}

void lane_free(struct lane *lane)
{
	if (lane->epoll_fd >= 0)
		close(lane->epoll_fd);
	if (lane->worker)
		lane->pool->program->close(lane->worker);
	fcgi_conn_free(&lane->conn);
	explicit_bzero(lane->body, sizeof(lane->body));
}
