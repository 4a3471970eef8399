/*
 * request - one request as the web server handed it over, free of FastCGI.
 *
 * Strings point into what http_request_variable() was given, the body into the storage
 * of http_body_read(); both must outlive the request.
 */
#ifndef FCGI_REQUEST_H
#define FCGI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest SCRIPT_NAME + PATH_INFO that any route under any base_path can have, and more. */
#define HTTP_PATH_SIZE 512
/* Header variables that a program names, at most. */
#define HTTP_HEADERS_MAX 8
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

/* What a program reads of a request besides the variables of every request. */
struct http_format {
	/* The names of its header variables, such as HTTP_X_REQUEST_ID; HTTP_HEADERS_MAX at most. */
	const char *const *headers;
	unsigned int header_count;
	size_t body_max; /* bytes that a body may have */
};

enum http_body {
	HTTP_BODY_WHOLE,
	HTTP_BODY_TOO_LARGE, /* above http_format.body_max bytes */
	HTTP_BODY_BROKEN,    /* CONTENT_LENGTH is no number, or the body ended before it */
};

struct http_request {
	const struct http_format *format;
	struct http_variable method;
	struct http_variable script_name;
	struct http_variable path_info;
	struct http_variable query_string; /* nothing is taken from it; `explain` looks at it */
	struct http_variable remote_address; /* the address that the caller has, to the web server */
	struct http_variable content_type;   /* nothing is taken from it but the words of a refusal ... */
	struct http_variable content_encoding; /* ... and from this */
	struct http_variable content_length;
	struct http_variable transfer_encoding;
	struct http_variable headers[HTTP_HEADERS_MAX]; /* in the order of http_format.headers */
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
void http_request_begin(struct http_request *request, const struct http_format *format);
void http_request_variable(struct http_request *request, const char *name, size_t len,
	const char *value);
void http_request_route(struct http_request *request);

/*
 * Reads the body: CONTENT_LENGTH bytes ("0", "" and absent: none), or without a CONTENT_LENGTH and
 * with a chunked Transfer-Encoding up to its end. What follows is dropped, up to HTTP_DRAIN_MAX.
 * Returns true when the source was read to its end.
 */
bool http_body_read(struct http_request *request, uint8_t *store, const struct http_source *source);

/*
 * True: @header was sent exactly once, is not empty and holds no comma, space or control
 * character (api.md, Signature: anything else is a 401).
 */
bool http_header_is_single(const struct http_variable *header);

#endif
