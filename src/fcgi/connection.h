/*
 * connection - the requests of one connection of a web server, one after the other. libfcgi reads and
 * writes the records (FastCGI Specification 1.0, role Responder); where it would wait, fiber_wait()
 * does: in a fiber the others go on.
 *
 * libfcgi reads and writes by its functions OS_Read(), OS_Write() and OS_IpcClose(). This program
 * defines them, and so they are called in place of the library's own.
 */
#ifndef FCGI_CONNECTION_H
#define FCGI_CONNECTION_H

#include "base/buffer.h"
#include "fcgi/record_guard.h"
#include "fcgi/request.h"

#include <fcgiapp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The buffer of libfcgi's reader. */
#define FCGI_IN_SIZE 8192

struct fcgi_conn {
	int fd;           /* -1: none */
	int64_t wait_ms;  /* a web server that neither sends nor takes for so long is given up */
	bool failed;      /* no more is read: it fell silent, broke off or breaks the rules */
	bool broken;      /* nothing can be sent any more */
	bool stdin_ended; /* the request's body was read to its end */
	struct record_guard guard;
	FCGX_Request request;
	size_t at, len;   /* what came beyond the end of the request: rest[at] to rest[len - 1] */
	uint8_t rest[FCGI_IN_SIZE];
};

/*
 * Sets up libfcgi for the process, once, before its first thread. False: it cannot be used, with the
 * reason and the remedy in @why.
 */
bool fcgi_library_init(char *why, size_t size);

void fcgi_conn_init(struct fcgi_conn *conn);
void fcgi_conn_free(struct fcgi_conn *conn);

/* Takes a connection that was accepted, and gives up when it stands still for @wait_ms. */
void fcgi_conn_open(struct fcgi_conn *conn, int fd, int64_t wait_ms);
void fcgi_conn_close(struct fcgi_conn *conn);

/*
 * Reads the next request up to where its body begins, and its variables into @request. Their strings
 * are valid until fcgi_conn_end(). False: there is none; the connection is to be closed.
 */
bool fcgi_conn_request(struct fcgi_conn *conn, const struct http_format *format,
	struct http_request *request);

/*
 * The body, as struct http_source reads it. @conn is a struct fcgi_conn, and failed when the body
 * ended before its end was announced.
 */
size_t fcgi_conn_read(void *conn, void *to, size_t len);

/* Answers the request, if it can. False: the connection is to be closed. */
bool fcgi_conn_reply(struct fcgi_conn *conn, const struct buffer *head, const struct buffer *body);

/* Releases the request's memory. Without effect when there is no request. */
void fcgi_conn_end(struct fcgi_conn *conn);

#endif
