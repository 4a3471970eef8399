/*
 * headers - the header variables that the wallet reads of a request.
 */
#ifndef WEB_REQUEST_HEADERS_H
#define WEB_REQUEST_HEADERS_H

#include "fcgi/request.h"

/* Indexes of http_request.headers. */
enum web_header {
	HEADER_CASINO_ID,        /* x-casino-id: a dealer */
	HEADER_SIGNATURE,        /* x-casino-signature: of a dealer */
	HEADER_CLIENT_ID,        /* x-client-id: a game server */
	HEADER_CLIENT_SIGNATURE, /* x-client-signature: of a game server */
	HEADER_REQUEST_ID,       /* x-request-id */
	WEB_HEADER_COUNT,
};

/*
 * The program's headers, and bodies of at most BODY_MAX bytes; on the platform mount of at most
 * BODY_BATCH_MAX, of which each operation has its limit (http_operation_body_max()).
 */
extern const struct http_format web_format;
extern const struct http_format web_platform_format;

#endif
