#include "callback/http.h"

#include "callback/curl_library.h"

#include <stdio.h>
#include <string.h>

/* Returns NULL if memory is exhausted or libcurl cannot be loaded. */
static CURLU *url_new(void)
{
	return curl_library_load() ? curl_library.url() : NULL;
}

static void url_free(CURLU *url)
{
	if (url)
		curl_library.url_cleanup(url);
}

/* Returns true if @url has the part @part. */
static bool url_has(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool has = curl_library.url_get(url, part, &text, 0) == CURLUE_OK && text[0];

	curl_library.free(text);
	return has;
}

static const char *url_fault(const char *text, CURLU *url, bool allow_http)
{
	char *scheme = NULL;
	bool https, http;

	if (curl_library.url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
		curl_library.url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
		return "it is not a URL";
	https = strcmp(scheme, "https") == 0;
	http = strcmp(scheme, "http") == 0;
	curl_library.free(scheme);
	if (!https && !http)
		return "its scheme is not https";
	if (http && !allow_http)
		return "http is only accepted with --allow-http";
	if (!url_has(url, CURLUPART_HOST))
		return "it names no host";
	if (url_has(url, CURLUPART_USER) || url_has(url, CURLUPART_PASSWORD))
		return "it may not hold a user or a password";
	/* Refuse an empty query or fragment too: a path will be appended. */
	if (strpbrk(text, "?#"))
		return "it may not hold a query or a fragment";
	return NULL;
}

bool http_url_check(const char *url, bool allow_http, char *why, size_t why_size)
{
	CURLU *parsed = url_new();
	const char *fault = parsed
		? url_fault(url, parsed, allow_http)
		: "it was not checked: out of memory, or libcurl cannot be loaded";

	url_free(parsed);
	if (fault)
		snprintf(why, why_size, "%s", fault);
	return !fault;
}

bool http_url_host(const char *url, char *host, size_t size)
{
	CURLU *parsed = url_new();
	char *text = NULL;
	bool found = false;
	size_t len;

	if (parsed && curl_library.url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl_library.url_get(parsed, CURLUPART_HOST, &text, 0) == CURLUE_OK) {
		len = strlen(text);
		/* An IPv6 address is in brackets. */
		if (text[0] == '[' && text[len - 1] == ']')
			found = (size_t)snprintf(host, size, "%.*s", (int)len - 2, text + 1) < size;
		else
			found = (size_t)snprintf(host, size, "%s", text) < size;
	}
	if (parsed)
		curl_library.free(text);
	url_free(parsed);
	return found;
}
