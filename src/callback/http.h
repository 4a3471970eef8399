/*
 * http - bounded HTTP exchanges, many at a time, each of them once.
 *
 * No redirect is followed, no proxy, cookie or .netrc is taken from the environment, nothing is
 * decompressed, the answer is bounded, and an exchange ends by its total timeout whatever the peer
 * does. Nothing is repeated: libcurl sends a POST again by itself on a reused connection that died,
 * so the body is given by a read function that cannot rewind, and right before a request would
 * leave for the second time it is stopped (api.md, B).
 *
 * libcurl is known to http.c, http_exchange.c and http_url.c alone. The program must ignore SIGPIPE.
 */
#ifndef CALLBACK_HTTP_H
#define CALLBACK_HTTP_H

#include "base/buffer.h"
#include "base/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER_MAX        65536 /* bytes of an answer's body */
#define HTTP_ANSWER_HEADER_MAX 16384 /* bytes of all header lines, interim answers' too */
#define HTTP_REQUEST_HEADERS   16
#define HTTP_ERROR_SIZE        256
#define HTTP_EXCHANGES_MAX     256 /* under way at a time */
#define HTTP_PIECES            5   /* of a body that leaves slowly */

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
	uint32_t connect_timeout_ms; /* name, connection and TLS */
	uint32_t total_timeout_ms;   /* of the whole call */
	/*
	 * Asked when a connection stands, new or reused, right before the first byte of the request
	 * leaves. False: it does not leave. NULL: always true.
	 */
	bool (*fence)(void *closure);
	void *closure;
	/* 0: the body leaves at once. Else in HTTP_PIECES pieces, as many milliseconds apart. */
	uint32_t piece_ms;
	bool last; /* the peer is told to close the connection behind it; it is not used again */
};

enum http_outcome {
	HTTP_ANSWERED,  /* status, headers and the whole body arrived */
	HTTP_CUT,       /* at least one byte of the request may have left; no whole answer came */
	HTTP_TOO_LARGE, /* as HTTP_CUT: the answer passed its bounds */
	HTTP_NOT_SENT,  /* not one byte of the request left this machine */
	HTTP_FENCED,    /* as HTTP_NOT_SENT: the call's fence said no */
	HTTP_FAILED,    /* as HTTP_NOT_SENT: memory, or a URL or header that is not usable */
};

/* Why there is no answer, where that has a remedy of its own. */
enum http_fault {
	HTTP_FAULT_OTHER,
	HTTP_FAULT_NAME,           /* the host has no address */
	HTTP_FAULT_CONNECT,        /* the host refuses connections or is not reached */
	HTTP_FAULT_TLS,            /* the peer does not do TLS as this machine does */
	HTTP_FAULT_CERTIFICATE,    /* an unknown issuer; with some TLS libraries also expired */
	HTTP_FAULT_CERTIFICATE_NAME, /* the certificate is another host's */
	HTTP_FAULT_CERTIFICATE_DATE, /* the certificate has expired, or is not valid yet */
	HTTP_FAULT_COUNT
};

/* Returns what to do about @fault, as a phrase; "" if there is nothing general to do. */
const char *http_fault_remedy(enum http_fault fault);

struct http_answer {
	enum http_outcome outcome;
	enum http_fault fault; /* unless HTTP_ANSWERED */
	int code;              /* HTTP status; 0: none arrived */
	bool timed_out;
	int64_t ms;            /* from http_begin() to the end */
	struct buffer headers; /* "Name: value\n" lines of the final answer */
	struct buffer body;
	char error[HTTP_ERROR_SIZE]; /* what happened, unless HTTP_ANSWERED; holds no secret */
	void *owner;                 /* for the caller's use */
	/* http's own */
	bool done;
	struct http_answer *next;
};

/* What a client demands of its peers. Zeroed: any address, the system's certificates. */
struct http_demands {
	/*
	 * Connect only to public addresses (base/network.h) and those in the @network_count
	 * @networks, which must outlive the client. Checked on the address that is connected to,
	 * and again before each request.
	 */
	bool public_only;
	const struct network *networks;
	unsigned int network_count;
	const char *ca_file; /* PEM; NULL: the system's */
};

/*
 * A client keeps connections open between its exchanges. One thread. NULL: memory. Freeing it ends
 * what is under way; those answers are never done.
 */
struct http_client;
struct http_client *http_client_new(void);
void http_client_free(struct http_client *client);
/* Keeps @count connections open at most, the ones used last; without this HTTP_EXCHANGES_MAX. */
void http_client_keep(struct http_client *client, unsigned int count);
/* @demands are copied. False: memory. */
bool http_client_demand(struct http_client *client, const struct http_demands *demands);

/* Prepares @answer, without memory, and gives its memory back. @owner is kept by neither. */
void http_answer_init(struct http_answer *answer);
void http_answer_free(struct http_answer *answer);

/*
 * Begins an exchange. @call's memory and @answer must stay until http_take() returned @answer, as
 * it always will, also when nothing could be begun.
 */
void http_begin(struct http_client *client, const struct http_call *call,
	struct http_answer *answer);

/* Works until an exchange is done, none is under way, or @timeout_ms have passed. */
void http_run(struct http_client *client, uint32_t timeout_ms);

/* Returns the answer of an exchange that is done, each once; NULL: there is none. */
struct http_answer *http_take(struct http_client *client);

/* Does one exchange, and what else is under way meanwhile. Returns its outcome. */
enum http_outcome http_exchange(struct http_client *client, const struct http_call *call,
	struct http_answer *answer);

/*
 * Copies the value of header @name (in any case) to @value. False: it is not there, or too long
 * for @size bytes.
 */
bool http_answer_header(const struct http_answer *answer, const char *name, char *value,
	size_t size);

/* True: every header @name there is, or none, has exactly this @value (both in any case). */
bool http_answer_only(const struct http_answer *answer, const char *name, const char *value);

/*
 * True: @url can be a dealer's base URL: https (or http with @allow_http), a host, no user info,
 * no query, no fragment. Else a sentence is in @why.
 */
bool http_url_check(const char *url, bool allow_http, char *why, size_t why_size);

/* Copies the name or address that @url names, of IPv6 without brackets. False: none that fits. */
bool http_url_host(const char *url, char *host, size_t size);

#endif
