/*
 * http_exchange - one exchange on one libcurl handle; http.c runs them. There are two files because one would have
 * more than 800 lines: what libcurl calls during an exchange is here, and the pool of handles in http.c.
 */
#ifndef CALLBACK_HTTP_EXCHANGE_H
#define CALLBACK_HTTP_EXCHANGE_H

#include "callback/http.h"
#include "callback/http_sockets.h"

#include <curl/curl.h>

/* A handle and the state of its callbacks. It is reused for later exchanges. */
struct exchange {
	CURL *curl;
	const struct http_demands *demands;
	struct http_sockets *sockets;
	struct exchange *next; /* in one of the client's lists */
	struct exchange *prev;
	/* of the exchange under way */
	struct http_answer *answer; /* NULL: no exchange */
	struct curl_slist *headers;
	const uint8_t *body;
	size_t left;  /* of the body */
	size_t piece; /* size of a piece of a body that is sent slowly; 0: at once */
	uint32_t piece_ms;
	int64_t piece_due_ms; /* the next one */
	bool piece_awaited;   /* libcurl asked for it too early and waits to be resumed */
	bool (*fence)(void *closure);
	void *closure;
	int64_t begin_ms;
	int64_t deadline_ms;
	size_t header_bytes;
	bool header_ended; /* the header of the final response is complete */
	bool stale;        /* a kept connection was unusable; nothing was sent */
	bool leaving;      /* the request was released: a byte of it may have left */
	bool fenced;
	bool too_large;
	char refused[128]; /* reason why a connection or request was refused; "": none was */
	char error[CURL_ERROR_SIZE];
};

/*
 * Returns a new handle, or NULL if memory is exhausted. @demands and @sockets belong to the client.
 */
struct exchange *exchange_new(const struct http_demands *demands, struct http_sockets *sockets);
void exchange_free(struct exchange *exchange);

/*
 * Prepares the handle for @call. Returns false if the call is invalid; answer->error gets the
 * sentence.
 */
bool exchange_begin(struct exchange *exchange, const struct http_call *call,
	struct http_answer *answer);

/*
 * Returns true if nothing was sent because the kept connection was unusable. The handle is then
 * ready to try a new connection in the remaining time. At most once an exchange.
 */
bool exchange_again(struct exchange *exchange);

/*
 * Sends the next piece of a body if it is due and requested. Returns the time to it in
 * milliseconds, or INT64_MAX if none is requested.
 */
int64_t exchange_wake(struct exchange *exchange);

/* Sets the outcome in the answer, which is then done, and prepares the handle for reuse. */
void exchange_end(struct exchange *exchange, CURLcode code);

#endif
