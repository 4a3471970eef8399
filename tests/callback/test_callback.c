/*
 * Tests one HTTP exchange (callback/http.h) against servers that answer, stall, break off and
 * send too much.
 */
#include "base/clock.h"
#include "callback/http.h"
#include "suites.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <tap.h>
#include <unistd.h>

#define SEEN_MAX 8192

/* A server that accepts one connection after the other and sends each the same answer. */
struct server {
	int listener;
	int port;
	const char *answer; /* NULL: no answer; the connection is kept open */
	size_t padding;     /* number of 'x' after the answer */
	/* the connection is closed at the request of this number; 0: never */
	unsigned int cut_at;
	unsigned int requests;
	char seen[SEEN_MAX]; /* the last request */
	pthread_t thread;
};

static int listen_on_loopback(int *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* Reads a request's head and body. Returns false if the peer closed the connection. */
static bool read_request(struct server *server, int fd)
{
	char text[SEEN_MAX] = "";
	size_t len = 0, need = 0;
	const char *end, *field;
	ssize_t got;

	while (!need || len < need) {
		got = recv(fd, text + len, sizeof(text) - 1 - len, 0);
		if (got <= 0)
			return false;
		len += (size_t)got;
		end = strstr(text, "\r\n\r\n");
		if (!end)
			continue;
		field = strcasestr(text, "content-length:");
		need = (size_t)(end - text) + 4 +
			(field ? (size_t)strtoul(field + 15, NULL, 10) : 0);
	}
	memcpy(server->seen, text, sizeof(text));
	return true;
}

static void serve(struct server *server, int fd)
{
	char padding[1024];

	memset(padding, 'x', sizeof(padding));
	for (unsigned int i = 1; read_request(server, fd); i++) {
		server->requests++;
		if (i == server->cut_at)
			return;
		if (!server->answer)
			continue;
		send(fd, server->answer, strlen(server->answer), MSG_NOSIGNAL);
		for (size_t sent = 0; sent < server->padding; sent += sizeof(padding))
			send(fd, padding, sizeof(padding), MSG_NOSIGNAL);
		if (server->padding)
			return;
	}
}

static void *run_server(void *arg)
{
	struct server *server = arg;
	int fd;

	while ((fd = accept(server->listener, NULL, NULL)) >= 0) {
		serve(server, fd);
		close(fd);
	}
	return NULL;
}

static void server_start(struct server *server)
{
	server->listener = listen_on_loopback(&server->port);
	ck_assert_int_eq(pthread_create(&server->thread, NULL, run_server, server), 0);
}

/* Call it after the client has ended, so that the server waits in accept(). */
static void server_stop(struct server *server)
{
	shutdown(server->listener, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->listener);
}

/* Deadline of an exchange. Only its own test must reach it, also on a slow machine. */
static uint32_t deadline_ms = 5000;

static enum http_outcome exchange(struct http_client *client, int port, const char *method,
	const char *body, struct http_answer *answer)
{
	const struct http_header headers[] = {{"Content-Type", "application/json"},
		{"x-casino-signature", "abc"}};
	char url[64];
	const struct http_call call = {
		.method = method,
		.url = url,
		.headers = headers,
		.header_count = 2,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.connect_timeout_ms = deadline_ms,
		.total_timeout_ms = deadline_ms,
	};

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/path", port);
	return http_exchange(client, &call, answer);
}

/* Makes one exchange with a server that behaves as @server specifies. */
static enum http_outcome exchange_once(struct server *server, const char *method, const char *body,
	struct http_answer *answer)
{
	struct http_client *client = http_client_new();
	enum http_outcome outcome;

	ck_assert_ptr_nonnull(client);
	server_start(server);
	http_answer_init(answer);
	outcome = exchange(client, server->port, method, body, answer);
	http_client_free(client);
	server_stop(server);
	return outcome;
}

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Request-Id:  r1\r\n\r\n{}"

START_TEST(methods_carry_their_body)
{
	static const struct {
		const char *method;
		const char *body;
	} calls[] = {{"GET", "{\"a\":1}"}, {"POST", "{\"a\":1}"}, {"DELETE", "x"}, {"GET", NULL},
		{"POST", ""}};
	struct server server = {.answer = OK_ANSWER};
	struct http_answer answer;
	char line[64], value[16];

	ck_assert_int_eq(exchange_once(&server, calls[_i].method, calls[_i].body, &answer),
		HTTP_ANSWERED);
	ck_assert_int_eq(answer.code, 200);
	ck_assert_uint_eq(answer.body.len, 2);
	ck_assert_mem_eq(answer.body.data, "{}", 2);
	ck_assert(http_answer_header(&answer, "x-request-id", value, sizeof(value)));
	ck_assert_str_eq(value, "r1");
	ck_assert(!http_answer_header(&answer, "x-request", value, sizeof(value)));
	snprintf(line, sizeof(line), "%s /path HTTP/1.1\r\n", calls[_i].method);
	ck_assert(strncmp(server.seen, line, strlen(line)) == 0);
	ck_assert_ptr_nonnull(strstr(server.seen, "\r\nx-casino-signature: abc\r\n"));
	ck_assert_ptr_nonnull(strstr(server.seen, "\r\nContent-Type: application/json\r\n"));
	ck_assert_ptr_null(strcasestr(server.seen, "expect:"));
	if (calls[_i].body)
		ck_assert_str_eq(strstr(server.seen, "\r\n\r\n") + 4, calls[_i].body);
	http_answer_free(&answer);
}
END_TEST

START_TEST(a_redirect_is_an_answer)
{
	struct server server = {.answer = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
					  "Content-Length: 0\r\n\r\n"};
	struct http_answer answer;

	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_ANSWERED);
	ck_assert_int_eq(answer.code, 302);
	ck_assert_uint_eq(server.requests, 1);
	http_answer_free(&answer);
}
END_TEST

START_TEST(the_environments_proxy_is_not_used)
{
	struct server server = {.answer = OK_ANSWER};
	struct http_answer answer;

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_ANSWERED);
	http_answer_free(&answer);
}
END_TEST

START_TEST(silence_ends_by_the_timeout)
{
	struct server server = {.answer = NULL};
	struct http_answer answer;
	int64_t begin_ms = clock_boot_ms();

	deadline_ms = 1000;
	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_CUT);
	deadline_ms = 5000;
	ck_assert(answer.timed_out);
	ck_assert_int_eq(answer.code, 0);
	ck_assert_int_lt(clock_boot_ms() - begin_ms, 4000);
	ck_assert_int_ge(clock_boot_ms() - begin_ms, 900);
	http_answer_free(&answer);
}
END_TEST

START_TEST(a_cut_answer_is_none)
{
	/* It announces more than it sends. */
	struct server server = {.answer = "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n",
		.padding = 1024};
	struct http_answer answer;

	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_CUT);
	ck_assert(!answer.timed_out);
	ck_assert(answer.error[0]);
	http_answer_free(&answer);
}
END_TEST

START_TEST(an_answer_is_bounded)
{
	struct server server = {.answer = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		.padding = HTTP_ANSWER_MAX};
	struct http_answer answer;

	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_ANSWERED);
	ck_assert_uint_eq(answer.body.len, HTTP_ANSWER_MAX);
	http_answer_free(&answer);
	server.padding += 1024;
	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_TOO_LARGE);
	ck_assert_uint_le(answer.body.len, HTTP_ANSWER_MAX);
	http_answer_free(&answer);
}
END_TEST

START_TEST(headers_are_bounded)
{
	static char answer_text[HTTP_ANSWER_HEADER_MAX + 128] = "HTTP/1.1 200 OK\r\nX-A: ";
	struct server server = {.answer = answer_text};
	struct http_answer answer;
	size_t len = strlen(answer_text);

	memset(answer_text + len, 'x', HTTP_ANSWER_HEADER_MAX - len);
	strcpy(answer_text + HTTP_ANSWER_HEADER_MAX - 23, "\r\nContent-Length: 0\r\n\r\n");
	ck_assert_uint_eq(strlen(answer_text), HTTP_ANSWER_HEADER_MAX);
	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_ANSWERED);
	http_answer_free(&answer);
	strcpy(answer_text + HTTP_ANSWER_HEADER_MAX - 23, "x\r\nContent-Length: 0\r\n\r\n");
	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_TOO_LARGE);
	http_answer_free(&answer);
}
END_TEST

/* libcurl itself accepts such an answer. */
START_TEST(an_answer_cut_among_its_headers_is_none)
{
	struct server server = {.answer = "HTTP/1.1 200 OK\r\nX-Padding: ", .padding = 1024};
	struct http_answer answer;

	ck_assert_int_eq(exchange_once(&server, "POST", "{}", &answer), HTTP_CUT);
	ck_assert_str_eq(answer.error, "the answer ended within its headers");
	http_answer_free(&answer);
}
END_TEST

START_TEST(nothing_is_sent_to_nobody)
{
	struct http_client *client = http_client_new();
	struct http_answer answer;
	int port, fd = listen_on_loopback(&port);

	close(fd);
	http_answer_init(&answer);
	ck_assert_int_eq(exchange(client, port, "POST", "{}", &answer), HTTP_NOT_SENT);
	ck_assert(answer.error[0]);
	http_answer_free(&answer);
	http_client_free(client);
}
END_TEST

/* libcurl would repeat the request on a new connection if it could. */
START_TEST(a_reused_connection_that_dies_is_not_repeated)
{
	struct server server = {.answer = OK_ANSWER, .cut_at = 2};
	struct http_client *client = http_client_new();
	struct http_answer answer;

	server_start(&server);
	http_answer_init(&answer);
	ck_assert_int_eq(exchange(client, server.port, "POST", "{}", &answer), HTTP_ANSWERED);
	ck_assert_int_eq(exchange(client, server.port, "POST", "{}", &answer), HTTP_CUT);
	http_answer_free(&answer);
	http_client_free(client);
	server_stop(&server);
	ck_assert_uint_eq(server.requests, 2);
}
END_TEST

/* Requirements apply to each request, not only when a connection is made. */
START_TEST(demands_hold_for_kept_connections)
{
	struct server server = {.answer = OK_ANSWER};
	struct http_client *client = http_client_new();
	struct http_demands demands = {.public_only = true};
	struct http_answer answer;
	struct network loopback;

	server_start(&server);
	http_answer_init(&answer);
	ck_assert_int_eq(exchange(client, server.port, "POST", "{}", &answer), HTTP_ANSWERED);
	ck_assert(http_client_demand(client, &demands));
	ck_assert_int_eq(exchange(client, server.port, "POST", "{}", &answer), HTTP_NOT_SENT);
	ck_assert_str_eq(answer.error,
		"the address 127.0.0.1 is not public and not in callback_networks");
	ck_assert_uint_eq(server.requests, 1);
	ck_assert(network_parse("127.0.0.1", &loopback));
	demands.networks = &loopback;
	demands.network_count = 1;
	ck_assert(http_client_demand(client, &demands));
	ck_assert_int_eq(exchange(client, server.port, "POST", "{}", &answer), HTTP_ANSWERED);
	http_answer_free(&answer);
	http_client_free(client);
	server_stop(&server);
}
END_TEST

START_TEST(unusable_calls_are_refused)
{
	static const struct http_header evil[] = {{"x-a", "b\r\nx-c: d"}};
	struct http_call call = {.method = "POST",
		.url = "http://127.0.0.1:1/",
		.headers = evil,
		.header_count = 1,
		.body = "",
		.connect_timeout_ms = 100,
		.total_timeout_ms = 100};
	struct http_client *client = http_client_new();
	struct http_answer answer;

	http_answer_init(&answer);
	ck_assert_int_eq(http_exchange(client, &call, &answer), HTTP_FAILED);
	call.header_count = 0;
	call.url = "file:///etc/passwd";
	ck_assert_int_eq(http_exchange(client, &call, &answer), HTTP_FAILED);
	call.url = "http://[";
	ck_assert_int_eq(http_exchange(client, &call, &answer), HTTP_FAILED);
	http_answer_free(&answer);
	http_client_free(client);
}
END_TEST

START_TEST(urls_are_judged)
{
	static const struct {
		const char *url;
		bool https_only;
		bool with_http;
	} urls[] = {
		{"https://dealer.example", true, true},
		{"https://dealer.example:8443/a/b/", true, true},
		{"https://[::1]/x", true, true},
		{"http://dealer.example/a", false, true},
		{"http://127.0.0.1:9000", false, true},
		{"HTTPS://dealer.example/a", true, true},
		{"ftp://dealer.example", false, false},
		{"file:///etc/passwd", false, false},
		{"dealer.example", false, false},
		{"https://", false, false},
		{"https://user@dealer.example/", false, false},
		{"https://user:secret@dealer.example/", false, false},
		{"https://dealer.example/?q", false, false},
		{"https://dealer.example/?", false, false},
		{"https://dealer.example/#f", false, false},
		{"https://dealer.example/a b", false, false},
		{"", false, false},
	};
	char why[128];

	for (unsigned int i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		ck_assert_msg(http_url_check(urls[i].url, false, why, sizeof(why)) ==
				urls[i].https_only,
			"%s", urls[i].url);
		ck_assert_msg(http_url_check(urls[i].url, true, why, sizeof(why)) ==
				urls[i].with_http,
			"%s", urls[i].url);
	}
}
END_TEST

static Suite *http_suite(void)
{
	const TTest *const tests[] = {a_redirect_is_an_answer, the_environments_proxy_is_not_used,
		silence_ends_by_the_timeout, a_cut_answer_is_none, an_answer_is_bounded,
		headers_are_bounded, an_answer_cut_among_its_headers_is_none,
		nothing_is_sent_to_nobody, a_reused_connection_that_dies_is_not_repeated,
		demands_hold_for_kept_connections, unusable_calls_are_refused, urls_are_judged,
		NULL};
	Suite *suite = suite_make("http", tests, 20);
	TCase *tcase = tcase_create("methods");

	tcase_add_loop_test(tcase, methods_carry_their_body, 0, 5);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(void) = {classify_suite, http_suite, sender_suite, NULL};

	return tap_main(makers);
}
