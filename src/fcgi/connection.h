/*
 * connection - the FastCGI protocol on one connection of a web server: the requests of one after the
 * other, as records in and out (FastCGI Specification 1.0, role Responder). It waits by fiber_wait():
 * in a fiber the others go on.
 */
#ifndef FCGI_CONNECTION_H
#define FCGI_CONNECTION_H

#include "base/buffer.h"
#include "fcgi/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So long may the variables of a request be, in all: more than any of the servers hands over. */
#define FCGI_PARAMS_MAX (1024 * 1024)
#define FCGI_IN_SIZE    16384
#define FCGI_OUT_SIZE   65536

struct fcgi_conn {
	int fd;      /* -1: none */
	int64_t wait_ms; /* a web server that neither sends nor takes for so long is given up */
	bool keep;   /* the web server keeps the connection after this request */
	bool failed; /* no more is read: it fell silent, broke off or breaks the rules */
	bool broken; /* nothing can be sent any more */
	bool in_body;       /* the request's body began to come ... */
	bool stdin_ended;   /* ... and was read to its end */
	unsigned int begins; /* so often the request was begun */
	uint16_t id; /* of the request; 0: none */
	uint8_t type;       /* of the record that is being read ... */
	size_t content;     /* ... and what is still to come of it ... */
	size_t padding;     /* ... and after it */
	size_t at, len;     /* what was received and not taken: in[at] to in[len - 1] */
	struct buffer params;
	struct buffer out;
	uint8_t in[FCGI_IN_SIZE];
};

void fcgi_conn_init(struct fcgi_conn *conn);
void fcgi_conn_free(struct fcgi_conn *conn);

/* Takes a connection that was accepted, and gives up when it stands still for @wait_ms. */
void fcgi_conn_open(struct fcgi_conn *conn, int fd, int64_t wait_ms);
void fcgi_conn_close(struct fcgi_conn *conn);

/*
 * Reads the next request up to where its body begins, and its variables into @request, whose strings
 * then point into @conn. A request that begins anew before its body is the one that it is then.
 * False: there is none; the connection is to be closed.
 */
bool fcgi_conn_request(struct fcgi_conn *conn, struct http_request *request);

/*
 * The body, as struct http_source reads it. @conn is a struct fcgi_conn, and failed when the body
 * ended before its end was told.
 */
size_t fcgi_conn_read(void *conn, void *to, size_t len);

/* Answers the request and ends it, if it can. False: the connection is to be closed. */
bool fcgi_conn_reply(struct fcgi_conn *conn, const struct buffer *head, const struct buffer *body);

#endif
