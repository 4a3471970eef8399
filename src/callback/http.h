/*
 * http - one bounded HTTP exchange. The only file that includes curl.h.
 *
 * No redirect is followed, no proxy, cookie or .netrc is taken from the environment, the answer is
 * bounded, and the exchange ends by its total timeout whatever the peer does. Nothing is repeated:
 * the body is given to libcurl by a read function that cannot rewind, so that libcurl does not send
 * a POST again by itself on a reused connection that died (api.md, B).
 */
#ifndef CALLBACK_HTTP_H
#define CALLBACK_HTTP_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER_MAX        65536 /* bytes of an answer's body */
#define HTTP_ANSWER_HEADER_MAX 16384 /* bytes of an answer's header lines that are kept */
#define HTTP_REQUEST_HEADERS   16
#define HTTP_ERROR_SIZE        256

struct http_header {
	const char *name;
	const char *value;
};

/* Everything is the caller's and must stay valid during the exchange. */
struct http_call {
	const char *method; /* any, also GET with a body */
	const char *url;
	const struct http_header *headers;
	unsigned int header_count; /* at most HTTP_REQUEST_HEADERS */
	const void *body;          /* NULL: no body */
	size_t body_len;
	uint32_t connect_timeout_ms;
	uint32_t total_timeout_ms; /* of the whole call */
};

enum http_outcome {
	HTTP_ANSWERED,  /* status, headers and the whole body arrived */
	HTTP_CUT,       /* at least one byte of the request may have left; no whole answer came */
	HTTP_TOO_LARGE, /* as HTTP_CUT: the answer's body passed HTTP_ANSWER_MAX */
	HTTP_NOT_SENT,  /* not one byte of the request left this machine */
	HTTP_FAILED,    /* as HTTP_NOT_SENT: memory, or a URL or header that is not usable */
};

struct http_answer {
	enum http_outcome outcome;
	int code;              /* HTTP status; 0: none arrived */
	bool timed_out;
	struct buffer headers; /* "Name: value\n" lines of the final answer */
	struct buffer body;
	char error[HTTP_ERROR_SIZE]; /* what happened, unless HTTP_ANSWERED; holds no secret */
};

/*
 * A client keeps connections open between its exchanges. One exchange at a time, one thread.
 * NULL: memory.
 */
struct http_client;
struct http_client *http_client_new(void);
void http_client_free(struct http_client *client);

/* Prepares @answer, without memory, and gives its memory back. */
void http_answer_init(struct http_answer *answer);
void http_answer_free(struct http_answer *answer);

/* Does one exchange. @answer is overwritten; returns its outcome. */
enum http_outcome http_exchange(struct http_client *client, const struct http_call *call,
	struct http_answer *answer);

/*
 * Copies the value of header @name (in any case) to @value. False: it is not there, or too long
 * for @size bytes.
 */
bool http_answer_header(const struct http_answer *answer, const char *name, char *value,
	size_t size);

/*
 * True: @url can be a dealer's base URL: https (or http with @allow_http), a host, no user info,
 * no query, no fragment. Else a sentence is in @why.
 */
bool http_url_check(const char *url, bool allow_http, char *why, size_t why_size);

#endif
