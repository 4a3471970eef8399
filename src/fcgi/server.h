/*
 * server - runs a program as a FastCGI server: threads, signals, requests in, replies out.
 *
 * SIGTERM, SIGINT and SIGUSR1 stop the process. It finishes the requests under way and serves
 * queued connections for FCGI_GRACE_MS. It ends after FCGI_STOP_MS in any case, since Apache
 * mod_fcgid kills a worker after 8 s. If no other process has the listening socket, a stopping
 * process shuts it down. The web server then tries another process, in place of finding its
 * connection reset.
 *
 * A web server that neither sends nor receives for FCGI_READ_MS within a request is disconnected.
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
/* Not an exit code: see fcgi_program.again_ms. */
#define FCGI_AGAIN (-1)
/* Fibers of this library besides those that serve requests: they stop, and lead other processes. */
#define FCGI_BACKGROUND_FIBERS 2

/*
 * The answer to a request. The buffers belong to the worker and stay valid until its next
 * request.
 */
struct fcgi_reply {
	const struct buffer *head; /* Status and headers, with the empty line */
	const struct buffer *body;
	bool cut; /* close the connection without an answer */
	/*
	 * NULL, or called after @head and @body were sent: sets @body to the next part. Returns false
	 * after the last one. If it sets @cut, the connection is closed in place of the end of the
	 * answer, so that the client knows that it is not complete. Called no more if the client
	 * has gone.
	 */
	bool (*more)(void *worker, struct fcgi_reply *reply);
	bool ended; /* the process must end; the web server starts another */
};

/* The program that answers requests. Each thread or fiber has a worker of its own. */
struct fcgi_program {
	void *context;
	const struct http_format *format; /* of its requests */
	void *(*open)(void *context);     /* makes a worker; NULL: failed, see errno */
	void (*close)(void *worker);
	void (*serve)(void *worker, const struct http_request *request, struct fcgi_reply *reply);
	/* NULL, or called after the answer was sent. The request's body is still valid. */
	void (*after)(void *worker);
	/* No other process accepts from the socket. A stopping process may shut it down. */
	bool exclusive;
	/*
	 * serve() answers requests with http_request.excess. The load shedder is used
	 * (fcgi/admission.h).
	 */
	bool refuses_excess;
	/*
	 * NULL: each request under way has a thread. Otherwise all are fibers of one thread;
	 * called first, this adds the program's background fibers. It returns false if that
	 * fails, see errno.
	 */
	bool (*fibers)(void *context, struct fibers *fibers);
	unsigned int background_fibers; /* the most that fibers() adds */
	/*
	 * Not 0: fcgi_run() returns FCGI_AGAIN after this many milliseconds. @fd and its queued
	 * connections are untouched.
	 */
	int64_t again_ms;
	/* NULL, or the shared listener, for a program with fibers. */
	struct shared_listener *shared_listener;
};

/*
 * Serves requests with @program until the process is stopped. @fd is the listening socket.
 * @threads is the number of requests that are served at a time. @own is the socket of
 * socket_open(), whose file is removed at the stop, or NULL.
 *
 * Returns the exit code of the process: 0 if it was asked to stop; 75 if a worker asked for a new
 * process; 1 after a failure, which was logged. If a thread hangs beyond FCGI_STOP_MS, the
 * function exits with that code itself.
 */
int fcgi_run(const struct fcgi_program *program, int fd, unsigned int threads,
	const struct fcgi_socket *own);

#endif
