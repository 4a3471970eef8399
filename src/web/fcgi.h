/*
 * fcgi - the FastCGI side of a worker process: threads, signals, requests in and replies out.
 *
 * SIGTERM, SIGINT and SIGUSR1 stop it: requests under way are finished and what already waits in
 * the backlog is served for FCGI_GRACE_MS; after FCGI_STOP_MS the process ends in any case (Apache
 * mod_fcgid kills after 8 s). A socket that is this process's alone refuses connections from then
 * on: the web server tries another process, where it would else find its connection reset.
 *
 * BUGS: libfcgi reads a request's first bytes without a timeout. A web server that connects and
 * falls silent holds a thread until it closes the connection or the process is stopped.
 */
#ifndef WEB_FCGI_H
#define WEB_FCGI_H

#include "base/buffer.h"
#include "web/http.h"
#include "web/socket.h"

#define FCGI_THREADS_MAX 256
#define FCGI_GRACE_MS    1000
#define FCGI_STOP_MS     7000

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
	void *(*open)(void *context); /* a new worker; NULL: failed, errno tells why */
	void (*close)(void *worker);
	void (*serve)(void *worker, const struct http_request *request, struct fcgi_reply *reply);
	/* No other process accepts from the socket, now or later: it may be shut when stopping. */
	bool exclusive;
};

/*
 * Blocks the signals that stop the process, for the caller and every thread to come, and ignores
 * SIGPIPE. Called first in main(), so that a signal that comes early is not lost.
 */
void fcgi_block_signals(void);

/*
 * Has @program serve requests from the listening socket @fd with @threads threads until stopped.
 * @own is the socket of socket_open() whose file is removed when stopping, or NULL. Returns what
 * the process is to exit with: 0 it was asked to stop, 75 a worker ended (the web server starts the
 * process anew), 1 the machine failed, which was logged. Does not return but exits so when a thread
 * hangs beyond FCGI_STOP_MS.
 */
int fcgi_run(const struct fcgi_program *program, int fd, unsigned int threads,
	const struct web_socket *own);

#endif
