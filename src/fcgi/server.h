/*
 * server - the FastCGI side of a worker process: threads, signals, requests in and replies out.
 *
 * SIGTERM, SIGINT and SIGUSR1 stop it: requests under way are finished and what already waits in
 * the backlog is served for FCGI_GRACE_MS; after FCGI_STOP_MS the process ends in any case (Apache
 * mod_fcgid kills after 8 s). A socket that is this process's alone refuses connections from then
 * on: the web server tries another process, where it would else find its connection reset.
 *
 * A web server that falls silent in the middle of a request, or takes no more of an answer, is given
 * up after FCGI_READ_MS.
 */
#ifndef FCGI_SERVER_H
#define FCGI_SERVER_H

#include "base/buffer.h"
#include "base/fiber.h"
#include "fcgi/request.h"
#include "fcgi/shared_listener.h"
#include "fcgi/socket.h"

#define FCGI_THREADS_MAX 256
#define FCGI_GRACE_MS    1000
#define FCGI_STOP_MS     7000
#define FCGI_READ_MS     20000
/* No exit code: see fcgi_program.again_ms. */
#define FCGI_AGAIN (-1)
/* More fibers than requests are served, at most. */
#define FCGI_BACKGROUND_FIBERS_MAX 16

/* What goes back to a request; the buffers are the worker's, until its next request. */
struct fcgi_reply {
	const struct buffer *head; /* Status and headers, with the empty line */
	const struct buffer *body;
	bool cut;   /* the connection is closed in place of a reply */
	bool ended; /* the process is to end, to be started anew */
};

/* Whose requests these are: each thread answers with a worker of its own. */
struct fcgi_program {
	void *context;
	const struct http_format *format; /* of its requests */
	void *(*open)(void *context); /* a new worker; NULL: failed, errno tells why */
	void (*close)(void *worker);
	void (*serve)(void *worker, const struct http_request *request, struct fcgi_reply *reply);
	/* NULL, or called when the answer has left and the request's body is still there. */
	void (*after)(void *worker);
	/* No other process accepts from the socket, now or later: it may be shut when stopping. */
	bool exclusive;
	/* serve() answers what is http_request.excess: then whoever waits too long is (admission.h). */
	bool refuses_excess;
	/*
	 * NULL: each request under way has a thread. Else they are fibers of a single one; this is
	 * called before, to add servants. False: errno tells.
	 */
	bool (*fibers)(void *context, struct fibers *fibers);
	/*
	 * Not 0: fcgi_run() returns FCGI_AGAIN after so long, with @fd as it was, and connections that
	 * wait there still waiting.
	 */
	int64_t again_ms;
	struct shared_listener *shared_listener; /* NULL, or whose followers' sockets are served, too, by fibers */
};

/*
 * Has @program serve requests from the listening socket @fd with @threads threads until stopped.
 * @own is the socket of socket_open() whose file is removed when stopping, or NULL. Returns what
 * the process is to exit with: 0 it was asked to stop, 75 a worker ended (the web server starts the
 * process anew), 1 the machine failed, which was logged. Does not return but exits so when a thread
 * hangs beyond FCGI_STOP_MS.
 */
int fcgi_run(const struct fcgi_program *program, int fd, unsigned int threads,
	const struct fcgi_socket *own);

#endif
