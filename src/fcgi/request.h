/*
 * request - an HTTP request as the web server passed it on, independent of FastCGI.
 *
 * The strings are those given to http_request_variable(); the body is in the memory given to
 * http_body_read(). Both must outlive the request.
 */
#ifndef FCGI_REQUEST_H
#define FCGI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of SCRIPT_NAME and PATH_INFO together. No route below any base_path is that long. */
#define HTTP_PATH_SIZE 512
/* Header variables that a program may name. */
#define HTTP_HEADERS_MAX 8
/*
 * Bytes of a body that are read in all. If less is read, the web server sees a broken pipe and
 * answers 500 in place of 413. The files of fcgi-conf/ allow no larger bodies.
 */
#define HTTP_DRAIN_MAX (16 * 1024 * 1024)

/* A variable of the CGI environment. */
struct http_variable {
	const char *value;  /* NULL: absent; the first value if it was sent repeatedly */
	unsigned int count; /* how often it was sent */
};

/* The parts of a request that a program reads, besides the variables of every request. */
struct http_format {
	/* Names of header variables, such as HTTP_X_REQUEST_ID; at most HTTP_HEADERS_MAX. */
	const char *const *headers;
	unsigned int header_count;
	size_t body_max; /* bytes of the largest body */
};

enum http_body {
	HTTP_BODY_WHOLE,
	HTTP_BODY_TOO_LARGE, /* larger than http_format.body_max */
	HTTP_BODY_BROKEN,    /* CONTENT_LENGTH is no number, or the body is shorter */
};

struct http_request {
	const struct http_format *format;
	struct http_variable method;
	struct http_variable script_name;
	struct http_variable path_info;
	struct http_variable query_string;     /* only for diagnosis */
	struct http_variable remote_address;   /* of the client, as the web server sees it */
	struct http_variable content_type;     /* only for the text of an error */
	struct http_variable content_encoding; /* only for the text of an error */
	struct http_variable content_length;
	struct http_variable transfer_encoding;
	struct http_variable headers[HTTP_HEADERS_MAX]; /* in the order of http_format.headers */
	char path[HTTP_PATH_SIZE]; /* SCRIPT_NAME + PATH_INFO; "" if too long */
	bool excess;               /* reject it: too many connections wait */
	enum http_body body_state;
	const uint8_t *body;
	size_t body_len;
	int64_t wall_ms; /* time of arrival, Unix time */
	int64_t boot_ms; /* time of arrival, boot time; deadlines count from it */
	/* NULL, or see http_request_hurries() */
	bool (*hurries)(void *context);
	void *hurries_context;
};

/*
 * Returns true if a handler that waits for something should answer now: the process stops, or the
 * caller has closed the connection.
 */
bool http_request_hurries(const struct http_request *request);

/* The source of a body. It returns fewer bytes than asked for only at the end of the body. */
struct http_source {
	size_t (*read)(void *context, void *to, size_t len);
	void *context;
};

/*
 * Fill @request, except for body and times. Call begin first, then variable for each variable,
 * then route. The name has @len bytes; unknown names are ignored. REQUEST_URI is not used
 * (contract, "Routing").
 */
void http_request_begin(struct http_request *request, const struct http_format *format);
void http_request_variable(struct http_request *request, const char *name, size_t len,
	const char *value);
void http_request_route(struct http_request *request);

/*
 * Reads the body into @store, which has http_format.body_max + 1 bytes. The body has
 * CONTENT_LENGTH bytes; "0", "" and absent mean none. Without CONTENT_LENGTH, a chunked
 * Transfer-Encoding is read to its end. Further bytes are dropped, up to HTTP_DRAIN_MAX in all.
 * Returns true if the source was read to its end.
 */
bool http_body_read(struct http_request *request, uint8_t *store, const struct http_source *source);

/*
 * Returns true if @header was sent exactly once, is not empty, and has no comma, space or control
 * character (contract, "Signature").
 */
bool http_header_is_single(const struct http_variable *header);

#endif
