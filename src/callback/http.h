/*
 * http - HTTP exchanges with limits, many at a time, each sent once.
 *
 * No redirect is followed. No proxy, cookie or .netrc is read from the environment. Nothing is
 * decompressed, and the response is limited in size. An exchange ends at its total timeout,
 * whatever the peer does.
 *
 * Nothing is repeated. libcurl repeats a POST by itself if a reused connection dies. So the body is
 * read by a function that cannot rewind, and a request is stopped before it leaves a second time
 * (contract, "Attempts").
 *
 * Only http.c, http_exchange.c and http_url.c use libcurl (curl_library.h loads it). The program must ignore SIGPIPE.
 */
#ifndef CALLBACK_HTTP_H
#define CALLBACK_HTTP_H

#include "base/buffer.h"
#include "base/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER_MAX 65536 /* limit of a response body, in bytes */
/* limit of all header lines, in bytes, with those of interim responses */
#define HTTP_ANSWER_HEADER_MAX 16384
#define HTTP_REQUEST_HEADERS   16
#define HTTP_ERROR_SIZE        256
#define HTTP_EXCHANGES_MAX     256 /* limit of concurrent exchanges */
#define HTTP_PIECES            5   /* pieces of a body that is sent slowly */

struct http_header {
	const char *name;
	const char *value;
};

/* The caller owns all data; it must stay valid during the exchange. */
struct http_call {
	const char *method; /* any, also GET with a body */
	const char *url;
	const struct http_header *headers;
	unsigned int header_count; /* at most HTTP_REQUEST_HEADERS */
	const void *body;          /* NULL: no body */
	size_t body_len;
	uint32_t connect_timeout_ms; /* limit for look-up, connection and TLS */
	uint32_t total_timeout_ms;   /* limit of the whole call */
	/*
	 * Called when a connection exists, new or reused, before the first byte of the request
	 * leaves. If it returns false, the request is not sent. NULL: always true.
	 */
	bool (*fence)(void *closure);
	void *closure;
	/*
	 * 0: send the body at once. Otherwise send it in HTTP_PIECES pieces, this many milliseconds
	 * apart.
	 */
	uint32_t piece_ms;
	bool last; /* ask the peer to close the connection afterwards; it is not reused */
};

enum http_outcome {
	HTTP_ANSWERED,  /* status, headers and the whole body arrived */
	HTTP_CUT,       /* a byte of the request may have left; no complete response arrived */
	HTTP_TOO_LARGE, /* like HTTP_CUT: the response exceeded its limits */
	HTTP_NOT_SENT,  /* no byte of the request left this machine */
	HTTP_FENCED,    /* like HTTP_NOT_SENT: the fence returned false */
	/* like HTTP_NOT_SENT: memory is exhausted, or the URL or a header is invalid */
	HTTP_FAILED,
};

/* Why there is no response; only reasons with a remedy of their own. */
enum http_fault {
	HTTP_FAULT_OTHER,
	HTTP_FAULT_NAME,             /* the host has no address */
	HTTP_FAULT_CONNECT,          /* the host refuses connections or is unreachable */
	HTTP_FAULT_TLS,              /* the TLS handshake with the peer fails */
	HTTP_FAULT_CERTIFICATE,      /* an unknown issuer; with some TLS libraries also expired */
	HTTP_FAULT_CERTIFICATE_NAME, /* the certificate belongs to another host */
	HTTP_FAULT_CERTIFICATE_DATE, /* the certificate has expired, or is not valid yet */
	HTTP_FAULT_COUNT
};

/* Returns what to do about @fault, as a phrase; "" if there is nothing general to do. */
const char *http_fault_remedy(enum http_fault fault);

struct http_answer {
	enum http_outcome outcome;
	enum http_fault fault; /* unless HTTP_ANSWERED */
	int code;              /* HTTP status; 0: no response */
	bool timed_out;
	int64_t ms;            /* duration from http_begin() to the end */
	struct buffer headers; /* "Name: value\n" lines of the final answer */
	struct buffer body;
	char error[HTTP_ERROR_SIZE]; /* error text, unless HTTP_ANSWERED; holds no secret */
	void *owner;                 /* for the caller's use */
	/* http's own */
	bool done;
	struct http_answer *next;
};

/* Requirements on peers. All zero: any address, and the system's certificates. */
struct http_demands {
	/*
	 * Connect only to public addresses (base/network.h) and to those in the @network_count
	 * @networks, which must outlive the client. The address is checked at the connection and
	 * before each request.
	 */
	bool public_only;
	const struct network *networks;
	unsigned int network_count;
	const char *ca_file; /* PEM; NULL: the system's */
};

/*
 * A client keeps connections open between its exchanges. For one thread. http_client_new() returns
 * NULL if memory is exhausted, or if libcurl cannot be loaded, which it logs. Freeing the client cuts its exchanges off; their answers are never
 * done.
 */
struct http_client;
struct http_client *http_client_new(void);
void http_client_free(struct http_client *client);
/*
 * Keeps at most @count connections open, the most recently used. The default is HTTP_EXCHANGES_MAX.
 */
void http_client_keep(struct http_client *client, unsigned int count);
/* Copies @demands. Returns false if memory is exhausted. */
bool http_client_demand(struct http_client *client, const struct http_demands *demands);

/* Prepare @answer without allocation, and free its memory. Neither changes @owner. */
void http_answer_init(struct http_answer *answer);
void http_answer_free(struct http_answer *answer);

/*
 * Begins an exchange. The memory of @call, and @answer, must stay valid until http_take() returns
 * @answer. It always does, even if the exchange could not begin.
 */
void http_begin(struct http_client *client, const struct http_call *call,
	struct http_answer *answer);

/*
 * Makes http_run() also return when @fd is readable. -1: no descriptor, as at first.
 */
void http_client_watch(struct http_client *client, int fd);

/* Runs until an exchange is done, none is left, or @timeout_ms have passed. */
void http_run(struct http_client *client, uint32_t timeout_ms);

/* Returns the answer of a finished exchange, each once, or NULL if there is none. */
struct http_answer *http_take(struct http_client *client);

/* Runs one exchange to its end, and the others meanwhile. Returns its outcome. */
enum http_outcome http_exchange(struct http_client *client, const struct http_call *call,
	struct http_answer *answer);

/*
 * Copies the value of header @name (in any case) to @value. Returns false if it is absent or longer
 * than @size permits.
 */
bool http_answer_header(const struct http_answer *answer, const char *name, char *value,
	size_t size);

/* Returns true if each header @name, if any, has exactly this @value (both in any case). */
bool http_answer_only(const struct http_answer *answer, const char *name, const char *value);

/*
 * Returns true if @url is valid as a dealer's base URL: https (or http with @allow_http), a host,
 * no user info, no query, no fragment. Otherwise @why gets a sentence.
 */
bool http_url_check(const char *url, bool allow_http, char *why, size_t why_size);

/*
 * Copies the host of @url, a name or an address; IPv6 without brackets. Returns false if there is
 * none or it does not fit.
 */
bool http_url_host(const char *url, char *host, size_t size);

#endif
