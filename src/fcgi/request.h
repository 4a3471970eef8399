/*
 * request - one request as the web server handed it over, free of FastCGI.
 *
 * Strings point into what http_request_variable() was given, the body into the storage
 * of http_body_read(); both must outlive the request.
 */
#ifndef FCGI_REQUEST_H
#define FCGI_REQUEST_H

#include "wire/body.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest SCRIPT_NAME + PATH_INFO that any route under any base_path can have, and more. */
#define HTTP_PATH_SIZE 512
/* A body is kept up to the byte that shows that it is too large. */
#define HTTP_BODY_STORE (BODY_MAX + 1)
/*
 * So much of a body is taken off the web server, which would else be left with a broken pipe and
 * answer 500 in place of our 413. The files of fcgi-conf/ allow no larger bodies.
 */
#define HTTP_DRAIN_MAX (16 * 1024 * 1024)

/* A variable of the CGI environment. */
struct http_variable {
	const char *value;  /* NULL: absent; the first one when sent repeatedly */
	unsigned int count; /* how often it is there */
};

enum http_body {
	HTTP_BODY_WHOLE,
	HTTP_BODY_TOO_LARGE, /* above BODY_MAX bytes */
	HTTP_BODY_BROKEN,    /* CONTENT_LENGTH is no number, or the body ended before it */
};

struct http_request {
	struct http_variable method;
	struct http_variable script_name;
	struct http_variable path_info;
	struct http_variable query_string; /* nothing is taken from it; `explain` looks at it */
	struct http_variable remote_address; /* the address that the caller has, to the web server */
	struct http_variable content_type;   /* nothing is taken from it but the words of a refusal ... */
	struct http_variable content_encoding; /* ... and from this */
	struct http_variable content_length;
	struct http_variable transfer_encoding;
	struct http_variable casino_id;
	struct http_variable signature;        /* of a dealer, or of a callback */
	struct http_variable client_id;
	struct http_variable client_signature; /* of a game server */
	struct http_variable request_id;
	struct http_variable webhook_id; /* of callbacks */
	char path[HTTP_PATH_SIZE]; /* SCRIPT_NAME + PATH_INFO; "" when longer than any route */
	bool excess; /* it is not to be served: too many wait */
	enum http_body body_state;
	const uint8_t *body;
	size_t body_len;
	int64_t wall_ms; /* when it was read: Unix time ... */
	int64_t boot_ms; /* ... and time since boot, from which the ledger's deadline counts */
};

/* Where the body comes from: fewer bytes than asked for mean that it has ended. */
struct http_source {
	size_t (*read)(void *context, void *to, size_t len);
	void *context;
};

/*
 * Fills @request but for the body and the times: first nothing, then each variable, the name in @len
 * bytes, then the path. Any may come. REQUEST_URI is never looked at (api.md, Common rules, Routing).
 */
void http_request_begin(struct http_request *request);
void http_request_variable(struct http_request *request, const char *name, size_t len,
	const char *value);
void http_request_route(struct http_request *request);

/*
 * Reads the body: CONTENT_LENGTH bytes ("0", "" and absent: none), or without a CONTENT_LENGTH and
 * with a chunked Transfer-Encoding up to its end. What follows is dropped, up to HTTP_DRAIN_MAX.
 * Returns true when the source was read to its end.
 */
bool http_body_read(struct http_request *request, uint8_t store[HTTP_BODY_STORE],
	const struct http_source *source);

/*
 * True: @header was sent exactly once, is not empty and holds no comma, space or control
 * character (api.md, Signature: anything else is a 401).
 */
bool http_header_is_single(const struct http_variable *header);

#endif
