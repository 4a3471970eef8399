/*
 * connection - reads and answers the requests of one connection of a web server, one after the
 * other.
 *
 * libfcgi reads and writes the records (FastCGI Specification 1.0, role Responder). Where it
 * would block, fiber_wait() runs other fibers.
 *
 * libfcgi does its input and output by the functions OS_Read(), OS_Write() and OS_IpcClose().
 * This program defines functions of these names, which are called in place of the library's own.
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

/* Bytes of libfcgi's input buffer. */
#define FCGI_IN_SIZE 8192

struct fcgi_conn {
	int fd;           /* -1: none */
	int64_t wait_ms;  /* limit of one wait for the web server, in milliseconds */
	bool failed;      /* input ended: timeout, end of file, error or protocol violation */
	bool broken;      /* output failed: nothing more is sent */
	bool stdin_ended; /* the body was read to its end */
	struct record_guard guard;
	FCGX_Request request;
	size_t at, len; /* bytes received after the end of the request: rest[at] to rest[len - 1] */
	uint8_t rest[FCGI_IN_SIZE];
};

/*
 * Sets up libfcgi. Called once in a process, before its first thread. Returns false if libfcgi
 * cannot be used; @why then has the reason and the remedy.
 */
bool fcgi_library_init(char *why, size_t size);

void fcgi_conn_init(struct fcgi_conn *conn);
void fcgi_conn_free(struct fcgi_conn *conn);

/* Takes over the accepted socket @fd. A wait for the web server fails after @wait_ms. */
void fcgi_conn_open(struct fcgi_conn *conn, int fd, int64_t wait_ms);
void fcgi_conn_close(struct fcgi_conn *conn);

/*
 * Reads the next request up to the beginning of its body. Stores the variables that @format names
 * in @request; the strings are valid until fcgi_conn_end(). Returns false if there is no request;
 * the caller then closes the connection.
 */
bool fcgi_conn_request(struct fcgi_conn *conn, const struct http_format *format,
	struct http_request *request);

/*
 * Reads the body for struct http_source. @conn is a struct fcgi_conn. If the body ends too early,
 * conn->failed is set.
 */
size_t fcgi_conn_read(void *conn, void *to, size_t len);

/* Sends the answer. Returns false if the connection must be closed. */
bool fcgi_conn_reply(struct fcgi_conn *conn, const struct buffer *head, const struct buffer *body);
/* Sends a part of an answer that fcgi_conn_reply() will end. Returns false if the client has gone. */
bool fcgi_conn_part(struct fcgi_conn *conn, const struct buffer *part);

/* Releases the memory of the request. Has no effect if there is none. */
void fcgi_conn_end(struct fcgi_conn *conn);

#endif
