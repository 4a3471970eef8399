#include "callback/http_exchange.h"

#include "base/clock.h"
#include "callback/curl_library.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* An idle connection older than this is not reused: the peer has probably closed it. */
#define IDLE_AGE_S 20L
/* A connection is not kept longer than this: the dealer's name may get another address. */
#define LIFETIME_S 300L

struct exchange *exchange_new(const struct http_demands *demands, struct http_sockets *sockets)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));

	if (!exchange)
		return NULL;
	exchange->demands = demands;
	exchange->sockets = sockets;
	exchange->curl = curl_library.easy_init();
	if (!exchange->curl) {
		free(exchange);
		return NULL;
	}
	return exchange;
}

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	curl_library.easy_cleanup(exchange->curl);
	curl_library.slist_free_all(exchange->headers);
	free(exchange);
}

/* Returns true if the demands permit connections to @address. */
static bool address_is_allowed(const struct http_demands *demands,
	const uint8_t address[NETWORK_ADDRESS_SIZE])
{
	if (!demands->public_only || network_is_public(address))
		return true;
	for (unsigned int i = 0; i < demands->network_count; i++) {
		if (network_contains(&demands->networks[i], address))
			return true;
	}
	return false;
}

static void refuse_address(struct exchange *exchange, const uint8_t address[NETWORK_ADDRESS_SIZE])
{
	char text[NETWORK_TEXT_MAX];

	network_address_format(address, text);
	snprintf(exchange->refused, sizeof(exchange->refused),
		"the address %s is not public and not in callback_networks", text);
}

static curl_socket_t open_socket(void *closure, curlsocktype purpose, struct curl_sockaddr *peer)
{
	struct exchange *exchange = closure;
	uint8_t address[NETWORK_ADDRESS_SIZE];
	int fd;

	if (purpose != CURLSOCKTYPE_IPCXN || !network_address_of(&peer->addr, address)) {
		snprintf(exchange->refused, sizeof(exchange->refused),
			"the dealer's host has "
			"no Internet address: correct its URL");
		return CURL_SOCKET_BAD;
	}
	if (!address_is_allowed(exchange->demands, address)) {
		refuse_address(exchange, address);
		return CURL_SOCKET_BAD;
	}
	fd = http_sockets_open(exchange->sockets, peer->family, peer->socktype, peer->protocol);
	/* The peer is not at fault, as libcurl's message would suggest. */
	if (fd < 0)
		snprintf(exchange->refused, sizeof(exchange->refused), "no socket: %s",
			strerror(errno));
	return fd;
}

/* libcurl may call this long after the exchange that opened the socket. */
static int close_socket(void *closure, curl_socket_t fd)
{
	return http_sockets_close(closure, fd);
}

/*
 * Returns true if unexpected data arrived on a reused connection. libcurl 7.88 would read it as the
 * response to the next request. Such a connection is closed.
 */
static bool has_unasked(const struct exchange *exchange, const char *own_ip, int own_port,
	const char *peer_ip, int peer_port)
{
	struct pollfd state = {.events = POLLIN};
	long new_connections = 0;

	if (curl_library.easy_getinfo(exchange->curl, CURLINFO_NUM_CONNECTS, &new_connections) !=
			CURLE_OK ||
		new_connections)
		return false;
	state.fd = http_sockets_find(exchange->sockets, own_ip, own_port, peer_ip, peer_port);
	if (state.fd < 0)
		return true;
	if (poll(&state, 1, 0) == 0)
		return false;
	shutdown(state.fd, SHUT_RDWR);
	return true;
}

/*
 * Called when a connection exists and nothing of the request has left. libcurl also calls this
 * before it sends a request a second time.
 */
static int before_request(void *closure, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
	struct exchange *exchange = closure;
	uint8_t address[NETWORK_ADDRESS_SIZE];

	if (exchange->leaving) {
		snprintf(exchange->refused, sizeof(exchange->refused),
			"the kept connection died; the request is not sent again");
		return CURL_PREREQFUNC_ABORT;
	}
	if (exchange->demands->public_only) {
		if (!network_address_parse(peer_ip, address)) {
			snprintf(exchange->refused, sizeof(exchange->refused),
				"the dealer's host has no Internet address: correct its URL");
			return CURL_PREREQFUNC_ABORT;
		}
		if (!address_is_allowed(exchange->demands, address)) {
			refuse_address(exchange, address);
			return CURL_PREREQFUNC_ABORT;
		}
	}
	if (has_unasked(exchange, own_ip, own_port, peer_ip, peer_port)) {
		exchange->stale = true;
		snprintf(exchange->refused, sizeof(exchange->refused),
			"the kept connection was not fit for use");
		return CURL_PREREQFUNC_ABORT;
	}
	if (exchange->fence && !exchange->fence(exchange->closure)) {
		exchange->fenced = true;
		return CURL_PREREQFUNC_ABORT;
	}
	exchange->leaving = true;
	return CURL_PREREQFUNC_OK;
}

static size_t give_body(char *to, size_t size, size_t count, void *closure)
{
	struct exchange *exchange = closure;
	size_t len = size * count;

	if (exchange->piece) {
		if (clock_boot_ms() < exchange->piece_due_ms) {
			exchange->piece_awaited = true;
			return CURL_READFUNC_PAUSE;
		}
		exchange->piece_due_ms = clock_boot_ms() + exchange->piece_ms;
		len = len < exchange->piece ? len : exchange->piece;
	}
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

/* Called for each line with its CR LF. Interim (1xx) responses also begin with a status line. */
static size_t take_header(char *data, size_t size, size_t count, void *closure)
{
	struct exchange *exchange = closure;
	struct buffer *headers = &exchange->answer->headers;
	size_t len = size * count, text = len;

	exchange->header_bytes += len;
	if (exchange->header_bytes > HTTP_ANSWER_HEADER_MAX) {
		exchange->too_large = true;
		return 0;
	}
	while (text && (data[text - 1] == '\r' || data[text - 1] == '\n'))
		text--;
	if (text >= 5 && strncasecmp(data, "HTTP/", 5) == 0) {
		buffer_reset(headers);
		exchange->header_ended = false;
		return len;
	}
	if (!text)
		exchange->header_ended = true;
	else if (!buffer_append(headers, data, text) || !buffer_append(headers, "\n", 1))
		return 0;
	return len;
}

static struct curl_slist *list_add(struct curl_slist *list, const char *line)
{
	struct curl_slist *longer = curl_library.slist_append(list, line);

	if (!longer)
		curl_library.slist_free_all(list);
	return longer;
}

/* Returns libcurl's header list, or NULL with a sentence in @error. */
static struct curl_slist *make_headers(const struct http_call *call, char *error)
{
	/* Prevents a wait for "100 Continue" and libcurl's own content type. */
	struct curl_slist *list = list_add(NULL, "Expect:");
	bool typed = false;
	char line[4096];
	int len;

	for (unsigned int i = 0; list && i < call->header_count; i++) {
		const struct http_header *header = &call->headers[i];

		len = snprintf(line, sizeof(line), "%s: %s", header->name, header->value);
		if (i >= HTTP_REQUEST_HEADERS || len < 0 || (size_t)len >= sizeof(line) ||
			strpbrk(line, "\r\n")) {
			curl_library.slist_free_all(list);
			snprintf(error, HTTP_ERROR_SIZE,
				"a request header is not usable: it "
				"holds a control character");
			return NULL;
		}
		typed = typed || strcasecmp(header->name, "Content-Type") == 0;
		list = list_add(list, line);
	}
	if (list && !typed)
		list = list_add(list, "Content-Type:");
	if (list && call->last)
		list = list_add(list, "Connection: close");
	if (!list)
		snprintf(error, HTTP_ERROR_SIZE, "out of memory");
	return list;
}

static void set_method(CURL *curl, const struct http_call *call)
{
	if (call->body) {
		curl_library.easy_setopt(curl, CURLOPT_POST, 1L);
		curl_library.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
			(curl_off_t)call->body_len);
	} else if (strcmp(call->method, "HEAD") == 0) {
		curl_library.easy_setopt(curl, CURLOPT_NOBODY, 1L);
	} else {
		curl_library.easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	}
	curl_library.easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
}

/* Sets the options of every exchange. */
static void set_manners(CURL *curl)
{
	curl_library.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	/* Do not wait for a hanging resolver after the timeout. */
	curl_library.easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	curl_library.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_library.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_library.easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	curl_library.easy_setopt(curl, CURLOPT_PROXY, "");
	curl_library.easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_library.easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_library.easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_library.easy_setopt(curl, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
	curl_library.easy_setopt(curl, CURLOPT_MAXAGE_CONN, IDLE_AGE_S);
	curl_library.easy_setopt(curl, CURLOPT_MAXLIFETIME_CONN, LIFETIME_S);
}

static void set_functions(CURL *curl, struct exchange *exchange)
{
	curl_library.easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->error);
	curl_library.easy_setopt(curl, CURLOPT_PRIVATE, exchange);
	curl_library.easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_library.easy_setopt(curl, CURLOPT_OPENSOCKETDATA, exchange);
	curl_library.easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
	curl_library.easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, exchange->sockets);
	curl_library.easy_setopt(curl, CURLOPT_PREREQFUNCTION, before_request);
	curl_library.easy_setopt(curl, CURLOPT_PREREQDATA, exchange);
	/* There is no seek function, so the body cannot be sent again. */
	curl_library.easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
	curl_library.easy_setopt(curl, CURLOPT_READDATA, exchange);
	curl_library.easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_library.easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	curl_library.easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_library.easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
}

bool exchange_begin(struct exchange *exchange, const struct http_call *call,
	struct http_answer *answer)
{
	CURL *curl = exchange->curl;

	exchange->headers = make_headers(call, answer->error);
	if (!exchange->headers)
		return false;
	exchange->answer = answer;
	exchange->body = call->body;
	exchange->left = call->body ? call->body_len : 0;
	exchange->piece = call->piece_ms ? exchange->left / HTTP_PIECES + 1 : 0;
	exchange->piece_ms = call->piece_ms;
	exchange->piece_due_ms = 0;
	exchange->piece_awaited = false;
	exchange->fence = call->fence;
	exchange->closure = call->closure;
	exchange->begin_ms = clock_boot_ms();
	exchange->deadline_ms = exchange->begin_ms + call->total_timeout_ms;
	exchange->header_bytes = 0;
	exchange->header_ended = exchange->stale = exchange->leaving = false;
	exchange->fenced = exchange->too_large = false;
	exchange->refused[0] = exchange->error[0] = '\0';
	curl_library.easy_reset(curl);
	set_manners(curl);
	set_functions(curl, exchange);
	curl_library.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)call->connect_timeout_ms);
	curl_library.easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)call->total_timeout_ms);
	curl_library.easy_setopt(curl, CURLOPT_HTTPHEADER, exchange->headers);
	curl_library.easy_setopt(curl, CURLOPT_FORBID_REUSE, call->last ? 1L : 0L);
	if (exchange->demands->ca_file)
		curl_library.easy_setopt(curl, CURLOPT_CAINFO, exchange->demands->ca_file);
	set_method(curl, call);
	/* The only required option that copies, and so can fail. */
	if (curl_library.easy_setopt(curl, CURLOPT_URL, call->url) != CURLE_OK) {
		exchange_end(exchange, CURLE_OUT_OF_MEMORY);
		return false;
	}
	return true;
}

bool exchange_again(struct exchange *exchange)
{
	int64_t left_ms = exchange->deadline_ms - clock_boot_ms();

	if (!exchange->stale || exchange->leaving || left_ms <= 0)
		return false;
	exchange->stale = false;
	exchange->refused[0] = exchange->error[0] = '\0';
	curl_library.easy_setopt(exchange->curl, CURLOPT_FRESH_CONNECT, 1L);
	curl_library.easy_setopt(exchange->curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
	return true;
}

int64_t exchange_wake(struct exchange *exchange)
{
	int64_t left_ms = exchange->piece_due_ms - clock_boot_ms();

	if (!exchange->piece_awaited)
		return INT64_MAX;
	if (left_ms > 0)
		return left_ms;
	exchange->piece_awaited = false;
	/* If this fails, the call ends at its timeout. */
	curl_library.easy_pause(exchange->curl, CURLPAUSE_CONT);
	return 0;
}

static enum http_outcome judge_outcome(const struct exchange *exchange, CURLcode code)
{
	/*
	 * libcurl accepts a connection that ends inside the headers as a response without a body.
	 */
	if (code == CURLE_OK)
		return exchange->header_ended ? HTTP_ANSWERED : HTTP_CUT;
	if (exchange->too_large)
		return HTTP_TOO_LARGE;
	/* Ignore libcurl's byte count: a released request may have been sent. */
	if (exchange->leaving)
		return HTTP_CUT;
	if (exchange->fenced)
		return HTTP_FENCED;
	if (code == CURLE_OUT_OF_MEMORY || code == CURLE_URL_MALFORMAT ||
		code == CURLE_UNSUPPORTED_PROTOCOL)
		return HTTP_FAILED;
	return HTTP_NOT_SENT;
}

const char *http_fault_remedy(enum http_fault fault)
{
	static const char *const remedies[HTTP_FAULT_COUNT] = {
		[HTTP_FAULT_NAME] = "correct the host in the URL, or the name server's entry",
		[HTTP_FAULT_CONNECT] =
			"start the web server there, or correct host and port of the URL",
		[HTTP_FAULT_TLS] = "see that the port of the URL is one for TLS 1.2 or later",
		[HTTP_FAULT_CERTIFICATE] =
			"see that the server's certificate has not expired and is sent with "
			"its whole chain, or add its private CA to this machine "
			"(update-ca-certificates)",
		[HTTP_FAULT_CERTIFICATE_NAME] =
			"use the host name in the certificate in the URL, or give "
			"the server a certificate for this one",
		[HTTP_FAULT_CERTIFICATE_DATE] = "renew the server's certificate, or correct this "
						"machine's clock",
	};

	return (unsigned int)fault < HTTP_FAULT_COUNT && remedies[fault] ? remedies[fault] : "";
}

/* Returns the certificate fault that the message @error of the TLS library describes. */
static enum http_fault certificate_fault(const char *error)
{
	if (strstr(error, "expired") || strstr(error, "not yet valid"))
		return HTTP_FAULT_CERTIFICATE_DATE;
	if (strstr(error, "subject name") || strstr(error, "does not match") ||
		strstr(error, "ostname mismatch"))
		return HTTP_FAULT_CERTIFICATE_NAME;
	return HTTP_FAULT_CERTIFICATE;
}

static enum http_fault fault_of(const struct exchange *exchange, CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return HTTP_FAULT_NAME;
	case CURLE_COULDNT_CONNECT:
		return exchange->refused[0] ? HTTP_FAULT_OTHER : HTTP_FAULT_CONNECT;
	case CURLE_SSL_CONNECT_ERROR:
		return HTTP_FAULT_TLS;
	case CURLE_PEER_FAILED_VERIFICATION:
		return certificate_fault(exchange->error);
	default:
		return HTTP_FAULT_OTHER;
	}
}

void exchange_end(struct exchange *exchange, CURLcode code)
{
	struct http_answer *answer = exchange->answer;
	const char *error = exchange->error;
	long status = 0;

	answer->outcome = judge_outcome(exchange, code);
	answer->fault = fault_of(exchange, code);
	answer->timed_out = code == CURLE_OPERATION_TIMEDOUT;
	answer->ms = clock_boot_ms() - exchange->begin_ms;
	curl_library.easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
	answer->code = (int)status;
	if (answer->outcome == HTTP_TOO_LARGE)
		snprintf(answer->error, sizeof(answer->error),
			"the answer is larger than %d bytes, or its headers than %d",
			HTTP_ANSWER_MAX, HTTP_ANSWER_HEADER_MAX);
	else if (answer->outcome == HTTP_FENCED)
		snprintf(answer->error, sizeof(answer->error), "fence");
	else if (code == CURLE_OK && answer->outcome == HTTP_CUT)
		snprintf(answer->error, sizeof(answer->error),
			"the answer ended within its headers");
	else if (code != CURLE_OK && exchange->refused[0])
		snprintf(answer->error, sizeof(answer->error), "%s", exchange->refused);
	else if (code != CURLE_OK)
		snprintf(answer->error, sizeof(answer->error), "%.*s", HTTP_ERROR_SIZE - 1,
			error[0] ? error : curl_library.easy_strerror(code));
	/* The handle may not point to freed data: the list or the caller's memory. */
	curl_library.easy_reset(exchange->curl);
	curl_library.slist_free_all(exchange->headers);
	exchange->headers = NULL;
	exchange->body = NULL;
	exchange->fence = NULL;
	exchange->answer = NULL;
}
