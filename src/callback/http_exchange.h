/*
 * http_exchange - one exchange on one of libcurl's handles; http.c runs them.
 */
#ifndef CALLBACK_HTTP_EXCHANGE_H
#define CALLBACK_HTTP_EXCHANGE_H

#include "callback/http.h"
#include "callback/http_sockets.h"

#include <curl/curl.h>

/* A handle and what its functions need; used again for one exchange after the other. */
struct exchange {
	CURL *curl;
	const struct http_demands *demands;
	struct http_sockets *sockets;
	struct exchange *next; /* in one of the client's lists */
	struct exchange *prev;
	/* of the exchange under way */
	struct http_answer *answer; /* NULL: none is */
	struct curl_slist *headers;
	const uint8_t *body;
	size_t left; /* of the body */
	size_t piece; /* of a body that leaves slowly; 0: at once */
	uint32_t piece_ms;
	int64_t piece_due_ms; /* the next one */
	bool piece_awaited;   /* libcurl asked for it too early, and waits to be woken */
	bool (*fence)(void *closure);
	void *closure;
	int64_t begin_ms;
	int64_t deadline_ms;
	size_t header_bytes;
	bool header_ended; /* of the final answer: its empty line arrived */
	bool stale;        /* a kept connection was not fit for use; nothing has left */
	bool leaving;      /* the request was let go: a byte of it may have left */
	bool fenced;
	bool too_large;
	char refused[128]; /* why a connection or a request was not allowed; "": all were */
	char error[CURL_ERROR_SIZE];
};

/* A new handle. @demands and @sockets are the client's. NULL: memory. */
struct exchange *exchange_new(const struct http_demands *demands, struct http_sockets *sockets);
void exchange_free(struct exchange *exchange);

/* Sets the handle up for @call. False: the call is not usable; the sentence is in answer->error. */
bool exchange_begin(struct exchange *exchange, const struct http_call *call,
	struct http_answer *answer);

/*
 * True: nothing has left, for the kept connection was not fit for use, and the handle is set up to
 * try a new one in what is left of the time. At most once an exchange.
 */
bool exchange_again(struct exchange *exchange);

/*
 * Lets the next piece of a body leave if it is due and waited for. Returns in how many milliseconds
 * it will be, INT64_MAX: none is waited for.
 */
int64_t exchange_wake(struct exchange *exchange);

/* Judges what came of it into the answer, which is done, and leaves the handle for another use. */
void exchange_end(struct exchange *exchange, CURLcode code);

#endif
