#include "callback/http.h"

#include <curl/curl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An idle connection older than this is not used again: the peer is likely to have closed it. */
#define IDLE_AGE_S 20L

struct http_client {
	CURL *curl;
};

/* What the callbacks of one exchange share. */
struct exchange {
	const uint8_t *body;
	size_t left;
	bool too_large;
	struct http_answer *answer;
};

static pthread_once_t global_once = PTHREAD_ONCE_INIT;

static void global_init(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct http_client *http_client_new(void)
{
	struct http_client *client = calloc(1, sizeof(*client));

	pthread_once(&global_once, global_init);
	if (!client)
		return NULL;
	client->curl = curl_easy_init();
	if (!client->curl) {
		free(client);
		return NULL;
	}
	return client;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	curl_easy_cleanup(client->curl);
	free(client);
}

void http_answer_init(struct http_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->outcome = HTTP_FAILED;
	buffer_init(&answer->headers, HTTP_ANSWER_HEADER_MAX);
	buffer_init(&answer->body, HTTP_ANSWER_MAX);
}

void http_answer_free(struct http_answer *answer)
{
	buffer_free(&answer->headers);
	buffer_free(&answer->body);
}

static size_t give_body(char *to, size_t size, size_t count, void *closure)
{
	struct exchange *exchange = closure;
	size_t len = size * count;

	if (len > exchange->left)
		len = exchange->left;
	if (len)
		memcpy(to, exchange->body, len);
	exchange->body += len;
	exchange->left -= len;
	return len;
}

static size_t take_body(char *data, size_t size, size_t count, void *closure)
{
	struct exchange *exchange = closure;
	size_t len = size * count;

	if (buffer_append(&exchange->answer->body, data, len))
		return len;
	exchange->too_large = true;
	return 0;
}

/* Called once a line, with its CR LF; interim (1xx) answers are headed by a status line too. */
static size_t take_header(char *data, size_t size, size_t count, void *closure)
{
	struct exchange *exchange = closure;
	struct buffer *headers = &exchange->answer->headers;
	size_t len = size * count, text = len;

	while (text && (data[text - 1] == '\r' || data[text - 1] == '\n'))
		text--;
	if (text >= 5 && strncasecmp(data, "HTTP/", 5) == 0) {
		buffer_reset(headers);
		return len;
	}
	/* Lines beyond the bound are not kept; the answer is as good without them. */
	if (text && buffer_reserve(headers, text + 1)) {
		buffer_append(headers, data, text);
		buffer_append(headers, "\n", 1);
	}
	return len;
}

static struct curl_slist *list_add(struct curl_slist *list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(list, line);

	if (!longer)
		curl_slist_free_all(list);
	return longer;
}

/* Returns libcurl's header list, or NULL with a sentence in @error. */
static struct curl_slist *make_headers(const struct http_call *call, char *error)
{
	/* Neither a wait for "100 Continue" nor libcurl's own idea of the content type. */
	struct curl_slist *list = list_add(NULL, "Expect:");
	bool typed = false;
	char line[4096];
	int len;

	for (unsigned int i = 0; list && i < call->header_count; i++) {
		const struct http_header *header = &call->headers[i];

		len = snprintf(line, sizeof(line), "%s: %s", header->name, header->value);
		if (i >= HTTP_REQUEST_HEADERS || len < 0 || (size_t)len >= sizeof(line) ||
			strpbrk(line, "\r\n")) {
			curl_slist_free_all(list);
			snprintf(error, HTTP_ERROR_SIZE, "a request header is not usable");
			return NULL;
		}
		typed = typed || strcasecmp(header->name, "Content-Type") == 0;
		list = list_add(list, line);
	}
	if (list && !typed)
		list = list_add(list, "Content-Type:");
	if (!list)
		snprintf(error, HTTP_ERROR_SIZE, "out of memory");
	return list;
}

static void set_method(CURL *curl, const struct http_call *call)
{
	if (call->body) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_len);
	} else if (strcmp(call->method, "HEAD") == 0) {
		curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	} else {
		curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
}

static void set_options(CURL *curl, const struct http_call *call, struct exchange *exchange,
	struct curl_slist *headers, char *error)
{
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)call->connect_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)call->total_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_MAXAGE_CONN, IDLE_AGE_S);
	curl_easy_setopt(curl, CURLOPT_URL, call->url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
	curl_easy_setopt(curl, CURLOPT_READDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
	set_method(curl, call);
}

static enum http_outcome classify(CURL *curl, CURLcode code, const struct exchange *exchange)
{
	long header_bytes = 0;
	curl_off_t body_bytes = 0;

	if (code == CURLE_OK)
		return HTTP_ANSWERED;
	if (exchange->too_large)
		return HTTP_TOO_LARGE;
	if (code == CURLE_OUT_OF_MEMORY || code == CURLE_URL_MALFORMAT ||
		code == CURLE_UNSUPPORTED_PROTOCOL)
		return HTTP_FAILED;
	curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &header_bytes);
	curl_easy_getinfo(curl, CURLINFO_SIZE_UPLOAD_T, &body_bytes);
	return header_bytes > 0 || body_bytes > 0 ? HTTP_CUT : HTTP_NOT_SENT;
}

enum http_outcome http_exchange(struct http_client *client, const struct http_call *call,
	struct http_answer *answer)
{
	struct exchange exchange = {
		.body = call->body,
		.left = call->body ? call->body_len : 0,
		.answer = answer,
	};
	char error[CURL_ERROR_SIZE] = "";
	struct curl_slist *headers;
	CURLcode code;
	long status = 0;

	buffer_reset(&answer->headers);
	buffer_reset(&answer->body);
	answer->error[0] = '\0';
	answer->code = 0;
	answer->timed_out = false;
	answer->outcome = HTTP_FAILED;
	headers = make_headers(call, answer->error);
	if (!headers)
		return HTTP_FAILED;
	set_options(client->curl, call, &exchange, headers, error);
	code = curl_easy_perform(client->curl);
	answer->outcome = classify(client->curl, code, &exchange);
	answer->timed_out = code == CURLE_OPERATION_TIMEDOUT;
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	answer->code = (int)status;
	if (answer->outcome == HTTP_TOO_LARGE)
		snprintf(answer->error, sizeof(answer->error),
			"the answer is larger than %d bytes", HTTP_ANSWER_MAX);
	else if (code != CURLE_OK)
		snprintf(answer->error, sizeof(answer->error), "%.*s", HTTP_ERROR_SIZE - 1,
			error[0] ? error : curl_easy_strerror(code));
	/* The list and the error buffer go away: nothing in the handle may point to them. */
	curl_easy_reset(client->curl);
	curl_slist_free_all(headers);
	return answer->outcome;
}

bool http_answer_header(const struct http_answer *answer, const char *name, char *value,
	size_t size)
{
	const char *line = (const char *)answer->headers.data;
	size_t left = answer->headers.len, name_len = strlen(name);

	while (left) {
		const char *end = memchr(line, '\n', left);
		size_t len = end ? (size_t)(end - line) : left;

		if (len > name_len && line[name_len] == ':' &&
			strncasecmp(line, name, name_len) == 0) {
			const char *text = line + name_len + 1;

			len -= name_len + 1;
			for (; len && (*text == ' ' || *text == '\t'); len--)
				text++;
			if (len >= size)
				return false;
			memcpy(value, text, len);
			value[len] = '\0';
			return true;
		}
		if (!end)
			break;
		left -= len + 1;
		line = end + 1;
	}
	return false;
}

/* True: @url has the part @part. */
static bool url_has(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK && text[0];

	curl_free(text);
	return has;
}

static const char *url_fault(const char *text, CURLU *url, bool allow_http)
{
	char *scheme = NULL;
	bool https, http;

	if (curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
		return "it is not a URL";
	https = strcmp(scheme, "https") == 0;
	http = strcmp(scheme, "http") == 0;
	curl_free(scheme);
	if (!https && !http)
		return "its scheme is not https";
	if (http && !allow_http)
		return "http is only accepted with --allow-http";
	if (!url_has(url, CURLUPART_HOST))
		return "it names no host";
	if (url_has(url, CURLUPART_USER) || url_has(url, CURLUPART_PASSWORD))
		return "it may not hold a user or a password";
	/* An empty query or fragment is one too: a path is going to be appended. */
	if (strpbrk(text, "?#"))
		return "it may not hold a query or a fragment";
	return NULL;
}

bool http_url_check(const char *url, bool allow_http, char *why, size_t why_size)
{
	CURLU *parsed = curl_url();
	const char *fault = parsed ? url_fault(url, parsed, allow_http) : "out of memory";

	curl_url_cleanup(parsed);
	if (fault)
		snprintf(why, why_size, "%s", fault);
	return !fault;
}
