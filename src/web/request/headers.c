#include "web/request/headers.h"

#include "wire/body.h"

static const char *const names[] = {
	[HEADER_CASINO_ID] = "HTTP_X_CASINO_ID",
	[HEADER_SIGNATURE] = "HTTP_X_CASINO_SIGNATURE",
	[HEADER_CLIENT_ID] = "HTTP_X_CLIENT_ID",
	[HEADER_CLIENT_SIGNATURE] = "HTTP_X_CLIENT_SIGNATURE",
	[HEADER_REQUEST_ID] = "HTTP_X_REQUEST_ID",
};
_Static_assert(WEB_HEADER_COUNT <= HTTP_HEADERS_MAX, "too many headers");

const struct http_format web_format = {
	.headers = names,
	.header_count = WEB_HEADER_COUNT,
	.body_max = BODY_MAX,
};

const struct http_format web_platform_format = {
	.headers = names,
	.header_count = WEB_HEADER_COUNT,
	.body_max = BODY_BATCH_MAX,
};
