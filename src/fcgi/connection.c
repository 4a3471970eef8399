#include "fcgi/connection.h"

#include "base/clock.h"
#include "base/fiber.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

/* How long a close waits for the web server to read the answer. */
#define LINGER_MS 1000
#define RESPONDER 1

/*
 * The functions that libfcgi calls for input and output, as declared in its fcgios.h. That header
 * cannot be included, because it includes the library's own configuration header.
 */
int OS_Read(int fd, char *data, size_t len);
int OS_Write(int fd, char *data, size_t len);
int OS_IpcClose(int fd, int shutdown);

/*
 * The connection that libfcgi works on, since its functions know only a descriptor. Set while the
 * thread is inside libfcgi. Not set while a fiber waits there, because other fibers then run.
 */
static _Thread_local struct fcgi_conn *current;

/* fiber_wait() from within libfcgi. */
static bool wait_for_socket(struct fcgi_conn *conn, short events, int64_t until_ms)
{
	bool ready;

	current = NULL;
	ready = fiber_wait(conn->fd, events, until_ms);
	current = conn;
	return ready;
}

/* Receives at most @len bytes. Returns 0 at the end of the stream or on failure. */
static size_t receive_bytes(struct fcgi_conn *conn, void *to, size_t len)
{
	int64_t until_ms = 0;
	ssize_t got;

	for (;;) {
		got = recv(conn->fd, to, len, MSG_DONTWAIT);
		if (got >= 0)
			return (size_t)got;
		if (errno == EINTR)
			continue;
		if (!until_ms)
			until_ms = clock_boot_ms() + conn->wait_ms;
		if (errno != EAGAIN || !wait_for_socket(conn, POLLIN, until_ms))
			return 0;
	}
}

/* Takes bytes that were received after the end of the previous request. */
static size_t take_leftover(struct fcgi_conn *conn, void *to, size_t len)
{
	size_t part = conn->len - conn->at < len ? conn->len - conn->at : len;

	memcpy(to, conn->rest + conn->at, part);
	conn->at += part;
	return part;
}

int OS_Read(int fd, char *data, size_t len)
{
	struct fcgi_conn *conn = current;
	bool resting = conn->at < conn->len;
	size_t got = 0, passed = 0;

	(void)fd;
	if (len > FCGI_IN_SIZE)
		len = FCGI_IN_SIZE;
	if (!conn->failed && !conn->guard.ended)
		got = resting ? take_leftover(conn, data, len) : receive_bytes(conn, data, len);
	if (got)
		passed = record_guard_pass(&conn->guard, data, got);
	if (!passed) {
		conn->failed = true;
		return 0;
	}
	if (resting) {
		conn->at -= got - passed;
	} else {
		conn->at = 0;
		conn->len = got - passed;
		memcpy(conn->rest, data + passed, conn->len);
	}
	return (int)passed;
}

int OS_Write(int fd, char *data, size_t len)
{
	struct fcgi_conn *conn = current;
	ssize_t sent;

	(void)fd;
	while (!conn->broken) {
		sent = send(conn->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent > 0)
			return (int)sent;
		if (errno == EAGAIN)
			conn->broken =
				!wait_for_socket(conn, POLLOUT, clock_boot_ms() + conn->wait_ms);
		else
			conn->broken = errno != EINTR;
	}
	errno = EPIPE;
	return -1;
}

/* The owner of the connection closes it. */
int OS_IpcClose(int fd, int shutdown)
{
	(void)fd;
	(void)shutdown;
	return 0;
}

void fcgi_conn_init(struct fcgi_conn *conn)
{
	conn->fd = -1;
	FCGX_InitRequest(&conn->request, -1, 0);
}

void fcgi_conn_free(struct fcgi_conn *conn)
{
	fcgi_conn_close(conn);
	fcgi_conn_end(conn);
	explicit_bzero(conn->rest, sizeof(conn->rest));
}

void fcgi_conn_open(struct fcgi_conn *conn, int fd, int64_t wait_ms)
{
	conn->fd = fd;
	conn->wait_ms = wait_ms;
	conn->failed = conn->broken = false;
	conn->stdin_ended = true;
	conn->at = conn->len = 0;
}

void fcgi_conn_close(struct fcgi_conn *conn)
{
	uint8_t trash[4096];
	int64_t until_ms;

	if (conn->fd < 0)
		return;
	/* close() with unread bytes resets the connection, and the answer is lost. */
	if (!conn->stdin_ended && !conn->broken && shutdown(conn->fd, SHUT_WR) == 0) {
		until_ms =
			clock_boot_ms() + (conn->wait_ms < LINGER_MS ? conn->wait_ms : LINGER_MS);
		while (clock_boot_ms() < until_ms && fiber_wait(conn->fd, POLLIN, until_ms) &&
			recv(conn->fd, trash, sizeof(trash), MSG_DONTWAIT) > 0)
			;
	}
	fiber_forget(conn->fd);
	close(conn->fd);
	conn->fd = -1;
}

/* Lets libfcgi read up to the beginning of the request's body. */
static bool read_head(struct fcgi_conn *conn)
{
	FCGX_Request *request = &conn->request;
	int error;

	record_guard_begin(&conn->guard);
	conn->stdin_ended = false;
	request->ipcFd = conn->fd;
	/*
	 * Without it, FCGX_Accept_r() treats the connection as closed after the previous request.
	 */
	request->keepConnection = 1;
	current = conn;
	error = FCGX_Accept_r(request);
	current = NULL;
	/* Only the error shows that the variables ended too early. */
	return !error && request->role == RESPONDER && FCGX_GetError(request->in) == 0;
}

bool fcgi_conn_request(struct fcgi_conn *conn, const struct http_format *format,
	struct http_request *request)
{
	const char *mark;

	fcgi_conn_end(conn);
	if (!read_head(conn)) {
		conn->failed = true;
		fcgi_conn_end(conn);
		return false;
	}
	http_request_begin(request, format);
	for (char **variable = conn->request.envp; *variable; variable++) {
		/* A name with a NUL in it ends there. No variable of a program has one. */
		mark = strchr(*variable, '=');
		if (!mark)
			continue;
		http_request_variable(request, *variable, (size_t)(mark - *variable), mark + 1);
	}
	http_request_route(request);
	return true;
}

size_t fcgi_conn_read(void *context, void *to, size_t len)
{
	struct fcgi_conn *conn = context;
	int got;

	if (conn->failed || conn->stdin_ended)
		return 0;
	current = conn;
	got = FCGX_GetStr(to, (int)len, conn->request.in);
	current = NULL;
	/* Only the error shows that the body ended too early. */
	if (FCGX_GetError(conn->request.in) != 0)
		conn->failed = true;
	else
		conn->stdin_ended = (size_t)got < len;
	return got > 0 ? (size_t)got : 0;
}

static void put_buffer(struct fcgi_conn *conn, const struct buffer *text)
{
	if (text->len)
		FCGX_PutStr((const char *)text->data, (int)text->len, conn->request.out);
}

bool fcgi_conn_part(struct fcgi_conn *conn, const struct buffer *part)
{
	current = conn;
	put_buffer(conn, part);
	if (FCGX_FFlush(conn->request.out) != 0)
		conn->broken = true;
	current = NULL;
	return !conn->broken;
}

bool fcgi_conn_reply(struct fcgi_conn *conn, const struct buffer *head, const struct buffer *body)
{
	FCGX_Request *request = &conn->request;

	current = conn;
	put_buffer(conn, head);
	put_buffer(conn, body);
	/* Close the error stream first, so that the end of the request leaves with the answer. */
	FCGX_FClose(request->err);
	if (FCGX_FClose(request->out) != 0)
		conn->broken = true;
	current = NULL;
	return !conn->broken && request->keepConnection && !conn->failed;
}

void fcgi_conn_end(struct fcgi_conn *conn)
{
	current = conn;
	FCGX_Free(&conn->request, 0);
	current = NULL;
	conn->request.ipcFd = -1;
}

/*
 * Returns true if libfcgi calls the OS_Read() above. A libfcgi linked with -Bsymbolic calls its
 * own.
 */
static bool os_functions_are_called(int fd)
{
	struct fcgi_conn probe = {.failed = true};

	fcgi_conn_init(&probe);
	probe.request.ipcFd = fd;
	probe.request.keepConnection = 1;
	probe.failed = false;
	probe.guard.ended = true;
	current = &probe;
	FCGX_Accept_r(&probe.request);
	current = NULL;
	return probe.failed;
}

/*
 * libfcgi aborts if an allocation fails. The worker then exits; the web server starts another. A
 * worker holds no state.
 */
static void on_abort(int number)
{
	if (current)
		_exit(EX_TEMPFAIL);
	/* Another cause: the default action is set again by now, and follows when this returns. */
	raise(number);
}

bool fcgi_library_init(char *why, size_t size)
{
	static const int signals[] = {SIGPIPE, SIGUSR1, SIGTERM};
	struct sigaction kept[3];
	struct sigaction aborting = {.sa_handler = on_abort, .sa_flags = (int)SA_RESETHAND};
	int error, fd;
	bool called;

	/* FCGX_Init() installs handlers for these. */
	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], NULL, &kept[i]);
	error = FCGX_Init();
	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], &kept[i], NULL);
	if (error) {
		snprintf(why, size, "libfcgi cannot be set up: %s",
			strerror(error > 0 ? error : ENOMEM));
		return false;
	}
	/* If libfcgi reads by itself, it finds the end of this file at once, and closes it. */
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		snprintf(why, size, "cannot open /dev/null: %s", strerror(errno));
		return false;
	}
	/* The test allocates, too. */
	sigaction(SIGABRT, &aborting, NULL);
	called = os_functions_are_called(fd);
	if (close(fd) == 0 && called)
		return true;
	snprintf(why, size,
		"libfcgi does not call this program's OS_Read(), because it was linked with "
		"-Bsymbolic: install the distribution's libfcgi0ldbl");
	return false;
}
