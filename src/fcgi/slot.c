#include "fcgi/slot.h"

#include "base/clock.h"
#include "base/fiber.h"
#include "base/log.h"
#include "fcgi/fiber_pool.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A kept connection that is idle for this time is closed if another one waits. */
#define KEPT_IDLE_MS 500
/* Failures of accept() in a row after which the process ends. */
#define ACCEPT_FAILURES_MAX 10
#define ACCEPT_PAUSE_MS     100
/* Limit for reading a request that the load shedder rejects, since others wait for a rejection. */
#define SHED_READ_MS 200

/* Whether connections are still accepted. Those queued before the stop have no other process. */
static bool pool_accepts(struct pool *pool)
{
	return !pool_is_stopping(pool) || clock_boot_ms() < atomic_load(&pool->grace_end_ms);
}

/* wait_connection() of a slot with a thread. */
static bool thread_wait_connection(struct slot *slot)
{
	struct epoll_event event;

	if (epoll_wait(slot->epoll_fd, &event, 1, -1) >= 0 || errno == EINTR)
		return true;
	log_line(LOG_LEVEL_ERROR, "epoll", "error=\"%s\"", strerror(errno));
	pool_stop(slot->pool, END_FAILED);
	return false;
}

/* Waits until a connection may have arrived. Returns false if the slot must end. */
static bool wait_connection(struct slot *slot)
{
	if (pool_is_stopping(slot->pool))
		return pool_accepts(slot->pool);
	if (!slot->fiber_pool)
		return thread_wait_connection(slot);
	fiber_pool_wait_connection(slot);
	return true;
}

/* Returns true if a read would not block. */
static bool is_readable(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, 0) > 0;
}

/* Waits for data on the kept connection, or for the stop. Returns false after KEPT_IDLE_MS. */
static bool wait_kept_readable(struct slot *slot)
{
	struct pollfd fds[] = {{.fd = slot->conn.fd, .events = POLLIN},
		{.fd = slot->pool->stop_fd, .events = POLLIN}};

	return slot->fiber_pool
		? fiber_pool_wait(slot, slot->conn.fd, clock_boot_ms() + KEPT_IDLE_MS)
		: poll(fds, 2, KEPT_IDLE_MS) != 0;
}

/*
 * Waits for the next request on a kept connection. Returns false if the connection must be
 * closed: it is idle and another one waits, or the pool stops. Otherwise kept connections would
 * starve all others.
 */
static bool wait_kept_request(struct slot *slot)
{
	struct admission *admission = &slot->pool->admission;
	bool in_time, wanted = pool_is_stopping(slot->pool);
	bool readable = wanted && is_readable(slot->conn.fd);

	while (!readable && !wanted) {
		in_time = wait_kept_readable(slot);
		readable = is_readable(slot->conn.fd);
		wanted = pool_is_stopping(slot->pool) ||
			(!in_time && !admission_has_idle(admission) &&
				(admission_has_queued(admission) ||
					is_readable(slot->pool->listeners.fd)));
	}
	return readable;
}

/* Handles a failed accept(). Returns false if the slot must end. */
static bool handle_accept_error(struct slot *slot, int error)
{
	/* Another thread was faster, or the client closed the connection. */
	if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
		return true;
	log_line(LOG_LEVEL_ERROR, "accept", "error=\"%s\"", strerror(error));
	if (++slot->failures == ACCEPT_FAILURES_MAX) {
		pool_stop(slot->pool, END_FAILED);
		return false;
	}
	fiber_wait(-1, 0, clock_boot_ms() + ACCEPT_PAUSE_MS);
	return true;
}

/* Accepts a connection. Returns false if there is none, see errno. */
static bool accept_connection(struct slot *slot)
{
	struct pool *pool = slot->pool;
	const int one = 1;
	int fd = listeners_accept(&pool->listeners);

	if (fd < 0)
		return false;
	slot->failures = 0;
	if (!pool->is_unix)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcgi_conn_open(&slot->conn, fd, FCGI_READ_MS);
	if (slot->fiber_pool)
		fiber_pool_wake_next(slot->fiber_pool);
	return true;
}

/* Waits for a connection; the slot counts as idle. Returns false if the slot must end. */
static bool wait_and_accept(struct slot *slot)
{
	struct pool *pool = slot->pool;
	/* Under load, the next connection is often queued already. */
	bool look = pool->many_slots && !pool_is_stopping(pool);

	for (;;) {
		if (!look && !wait_connection(slot))
			return false;
		look = false;
		if (accept_connection(slot))
			return true;
		/* No connection is queued. A socket that was shut down gives either error. */
		if ((errno == EAGAIN || errno == EINVAL) && pool_is_stopping(pool))
			return false;
		if (!handle_accept_error(slot, errno))
			return false;
	}
}

/* Waits for a connection with a request. Returns false if the slot must end. */
static bool slot_next_request(struct slot *slot)
{
	struct admission *admission = &slot->pool->admission;
	bool found;
	int fd;

	if (slot->conn.fd >= 0 && slot->conn.at < slot->conn.len)
		return true;
	if (slot->conn.fd >= 0) {
		if (wait_kept_request(slot))
			return true;
		fcgi_conn_close(&slot->conn);
	}
	if (!pool_accepts(slot->pool))
		return false;
	fd = admission_take(admission);
	if (fd >= 0) {
		fcgi_conn_open(&slot->conn, fd, FCGI_READ_MS);
		return true;
	}
	found = wait_and_accept(slot);
	admission_slot_busy(admission);
	if (slot->fiber_pool)
		fiber_pool_saturated(slot->fiber_pool);
	return found;
}

/* http_request_hurries() of this slot. A caller sends nothing more, so readable means closed. */
static bool slot_hurries(void *context)
{
	struct slot *slot = context;

	return pool_is_stopping(slot->pool) || is_readable(slot->conn.fd);
}

/* Sends the answer, in parts if it has several. Returns false if the connection must be closed. */
static bool send_reply(struct slot *slot, struct fcgi_reply *reply)
{
	static const struct buffer nothing;
	struct fcgi_conn *conn = &slot->conn;

	if (reply->cut || !reply->more)
		return !reply->cut && fcgi_conn_reply(conn, reply->head, reply->body);
	if (!fcgi_conn_part(conn, reply->head))
		return false;
	do {
		if (!fcgi_conn_part(conn, reply->body))
			return false;
	} while (reply->more(slot->worker, reply));
	return !reply->cut && fcgi_conn_reply(conn, &nothing, &nothing);
}

/* Reads a request and answers it. */
static void serve_request(struct slot *slot)
{
	const struct fcgi_program *program = slot->pool->program;
	struct fcgi_conn *conn = &slot->conn;
	struct http_source source = {.read = fcgi_conn_read, .context = conn};
	struct fcgi_reply reply = {.cut = false};
	struct http_request request;
	bool kept;

	if (!fcgi_conn_request(conn, program->format, &request)) {
		fcgi_conn_close(conn);
		return;
	}
	kept = http_body_read(&request, slot->body, &source);
	/*
	 * A body that ended too early is a fault of the connection, not of the caller, so no
	 * refusal fits. The caller repeats the call. The load shedder rejects it in any case.
	 */
	if (conn->failed && !slot->sheds_load) {
		fcgi_conn_close(conn);
		fcgi_conn_end(conn);
		return;
	}
	request.excess = slot->sheds_load;
	request.wall_ms = clock_wall_ms();
	request.boot_ms = clock_boot_ms();
	request.hurries = slot_hurries;
	request.hurries_context = slot;
	program->serve(slot->worker, &request, &reply);
	if (!send_reply(slot, &reply) || !kept)
		fcgi_conn_close(conn);
	if (program->after)
		program->after(slot->worker);
	fcgi_conn_end(conn);
	if (reply.ended)
		pool_stop(slot->pool, END_ANEW);
}

/* Rejects the request on @fd as excess. A connection without a request is closed. */
static void shed_connection(struct slot *shedder, int fd)
{
	if (!is_readable(fd)) {
		close(fd);
		return;
	}
	fcgi_conn_open(&shedder->conn, fd, SHED_READ_MS);
	serve_request(shedder);
	fcgi_conn_close(&shedder->conn);
}

void load_shedder_run(void *context)
{
	struct slot *shedder = context;
	struct admission *admission = &shedder->pool->admission;
	int fd;

	while (shedder->fiber_pool ? fiber_pool_wait_saturated(shedder)
				   : admission_wait_saturated(admission)) {
		fiber_wait(-1, 0, clock_boot_ms() + ADMISSION_TICK_MS);
		admission_accept(admission, &shedder->pool->listeners, clock_boot_ms());
		while ((fd = admission_take_excess(admission, clock_boot_ms())) >= 0)
			shed_connection(shedder, fd);
	}
}

void slot_run(void *context)
{
	struct slot *slot = context;

	while (slot_next_request(slot)) {
		serve_request(slot);
		fiber_yield();
	}
	fcgi_conn_close(&slot->conn);
}

/* Makes the epoll of a slot with a thread. Returns false if that fails, see errno. */
static bool slot_epoll_init(struct slot *slot)
{
	/* A connection wakes one idle thread; the stop wakes all. */
	struct epoll_event listening = {.events = EPOLLIN | EPOLLEXCLUSIVE};
	struct epoll_event stopping = {.events = EPOLLIN};

	slot->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return slot->epoll_fd >= 0 &&
		epoll_ctl(slot->epoll_fd, EPOLL_CTL_ADD, slot->pool->listeners.fd, &listening) ==
		0 &&
		epoll_ctl(slot->epoll_fd, EPOLL_CTL_ADD, slot->pool->stop_fd, &stopping) == 0;
}

bool slot_init(struct slot *slot, struct pool *pool, struct fiber_pool *fiber_pool, bool sheds_load)
{
	slot->pool = pool;
	slot->fiber_pool = fiber_pool;
	slot->sheds_load = sheds_load;
	slot->epoll_fd = -1;
	fcgi_conn_init(&slot->conn);
	slot->body = malloc(pool->program->format->body_max + 1);
	slot->worker = slot->body ? pool->program->open(pool->program->context) : NULL;
	return slot->worker && (fiber_pool || sheds_load || slot_epoll_init(slot));
}

void slot_free(struct slot *slot)
{
	if (slot->epoll_fd >= 0)
		close(slot->epoll_fd);
	if (slot->worker)
		slot->pool->program->close(slot->worker);
	fcgi_conn_free(&slot->conn);
	if (slot->body)
		explicit_bzero(slot->body, slot->pool->program->format->body_max + 1);
	free(slot->body);
	slot->body = NULL;
}
