/*
 * Tests the FastCGI protocol on one connection: violations, and how requests end.
 */
#include "web_case.h"

#include "base/clock.h"
#include "fcgi/connection.h"
#include "web/request/headers.h"

#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 100

enum { BEGIN_REQUEST = 1, ABORT_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT, GET_VALUES = 9 };
enum { REQUEST_COMPLETE };

static struct fcgi_conn conn;
static int front; /* the web server's end */
static struct http_request request;
static uint8_t store[BODY_MAX + 1];

static void setup(void)
{
	char why[256];
	int fds[2];

	ck_assert_msg(fcgi_library_init(why, sizeof(why)), "%s", why);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	front = fds[0];
	fcgi_conn_init(&conn);
	fcgi_conn_open(&conn, fds[1], WAIT_MS);
}

static void teardown(void)
{
	fcgi_conn_free(&conn);
	close(front);
}

static void put(uint8_t type, uint16_t id, const void *data, size_t len, uint8_t padding)
{
	uint8_t record[8 + 1024 + 255] = {1, type, (uint8_t)(id >> 8), (uint8_t)id,
		(uint8_t)(len >> 8), (uint8_t)len, padding};

	ck_assert_uint_le(len, 1024);
	memcpy(record + 8, data, len);
	ck_assert_int_eq(send(front, record, 8 + len + padding, MSG_NOSIGNAL),
		(ssize_t)(8 + len + padding));
}

static void put_begin(uint16_t id, uint8_t role, bool keep)
{
	const uint8_t body[8] = {0, role, keep};

	put(BEGIN_REQUEST, id, body, sizeof(body), 0);
}

/* Sends variables that announce a body of 5 bytes. */
static void put_params(uint16_t id)
{
	static const char params[] = "\x0e\x04REQUEST_METHODPOST\x0e\x01"
				     "CONTENT_LENGTH5";

	put(PARAMS, id, params, 20, 3);
	put(PARAMS, id, params + 20, sizeof(params) - 21, 0);
	put(PARAMS, id, "", 0, 0);
}

static void put_request(uint16_t id, bool keep, const char *body)
{
	put_begin(id, 1, keep);
	put_params(id);
	put(STDIN, id, body, strlen(body), 1);
	put(STDIN, id, "", 0, 0);
}

static bool take_body(void)
{
	const struct http_source source = {.read = fcgi_conn_read, .context = &conn};

	return http_body_read(&request, store, &source);
}

static void check_body(enum http_body state, const char *body)
{
	ck_assert_int_eq(request.body_state, state);
	ck_assert_uint_eq(request.body_len, strlen(body));
	ck_assert_mem_eq(request.body, body, strlen(body));
}

/* Returns the byte at @at of an answer, head and body together. */
static uint8_t octet(size_t at)
{
	return (uint8_t)(at % 251);
}

static bool reply_of(size_t first, size_t len)
{
	static uint8_t text[10 + 2 * 1024 * 1024];
	const struct buffer head = {text, first, first, first, false};
	const struct buffer body = {text + first, len, len, len, false};

	ck_assert_uint_le(first + len, sizeof(text));
	for (size_t i = 0; i < first + len; i++)
		text[i] = octet(i);
	return fcgi_conn_reply(&conn, &head, &body);
}

static bool reply(size_t len)
{
	return reply_of(10, len);
}

/* Reads the next record into @content. Returns the length of its content. */
static size_t take(uint8_t type, uint16_t id, uint8_t content[65535])
{
	uint8_t head[8], padding[255];
	size_t len;

	ck_assert_int_eq(recv(front, head, sizeof(head), MSG_WAITALL), sizeof(head));
	len = (size_t)head[4] << 8 | head[5];
	ck_assert_int_eq(head[0], 1);
	ck_assert_int_eq(head[1], type);
	ck_assert_int_eq(head[2] << 8 | head[3], id);
	if (len)
		ck_assert_int_eq(recv(front, content, len, MSG_WAITALL), (ssize_t)len);
	if (head[6])
		ck_assert_int_eq(recv(front, padding, head[6], MSG_WAITALL), head[6]);
	return len;
}

static void take_end(uint16_t id, uint8_t status)
{
	uint8_t content[65535];

	ck_assert_uint_eq(take(END_REQUEST, id, content), 8);
	ck_assert_int_eq(content[4], status);
}

static void take_reply(uint16_t id, size_t body)
{
	uint8_t content[65535];
	size_t sum = 0, len;

	while ((len = take(STDOUT, id, content)) > 0) {
		for (size_t i = 0; i < len; i++)
			if (content[i] != octet(sum + i))
				ck_abort_msg("byte %zu is %u", sum + i, content[i]);
		sum += len;
	}
	ck_assert_uint_eq(sum, 10 + body);
	take_end(id, REQUEST_COMPLETE);
}

static void take_nothing(void)
{
	char byte;

	ck_assert_int_le(recv(front, &byte, 1, MSG_DONTWAIT), 0);
}

/* Answers of any length arrive complete, and the connection stays usable. */
START_TEST(test_answers)
{
	static const size_t lengths[] = {0, 1, 65493, 65494, 65495, 65503, 65504, 65505, 65535,
		65536, 130997, 130998, 130999, 150000};

	put_request(0xfffe, true, "hello");
	ck_assert(fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "hello");
	ck_assert(reply(lengths[_i]));
	take_reply(0xfffe, lengths[_i]);
	put_request(1, false, "longer, and dropped");
	ck_assert(fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "longe");
	ck_assert(!reply(lengths[_i]));
	take_reply(1, lengths[_i]);
}
END_TEST

/* The head may end at any position. */
START_TEST(test_heads)
{
	static const size_t heads[] = {0, 1, 65503, 65504, 65505, 70000, 131008, 140000};

	put_request(1, true, "hello");
	ck_assert(fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(take_body());
	/* take_reply() requires a head of ten bytes. */
	ck_assert(reply_of(heads[_i], 150000 - heads[_i]));
	take_reply(1, 150000 - 10);
}
END_TEST

/* Both requests of a connection may arrive before the first one is read. */
START_TEST(test_both_at_once)
{
	put_request(1, true, "hello");
	put_request(2, true, "again");
	ck_assert(fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "hello");
	ck_assert(reply(0));
	take_reply(1, 0);
	ck_assert_uint_lt(conn.at, conn.len);
	ck_assert(fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "again");
	ck_assert(reply(0));
	take_reply(2, 0);
	ck_assert_uint_eq(conn.at, conn.len);
}
END_TEST

/*
 * A whole connection is sent byte by byte: libfcgi and the guard wait within each record's head.
 */
START_TEST(test_byte_by_byte)
{
	uint8_t all[512];
	ssize_t len;
	int ends[2], kept = front;
	pid_t child;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	front = ends[0];
	put_request(7, true, "hello");
	front = kept;
	len = recv(ends[1], all, sizeof(all), 0);
	ck_assert_int_gt(len, 80);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		for (ssize_t i = 0; i < len; i++) {
			send(front, all + i, 1, MSG_NOSIGNAL);
			sched_yield();
		}
		_exit(0);
	}
	ck_assert(fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "hello");
	ck_assert(reply(1));
	take_reply(7, 1);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* Sends FCGI_GET_VALUES in place of a request's variables. */
static void put_values(unsigned int count)
{
	static const char pair[] = "\x0e\x00"
				   "FCGI_MAX_CONNS";
	char names[60 * (sizeof(pair) - 1)];

	for (unsigned int i = 0; i < count; i++)
		memcpy(names + i * (sizeof(pair) - 1), pair, sizeof(pair) - 1);
	put(GET_VALUES, 0, names, count * (sizeof(pair) - 1), 0);
}

/* Sends variables of 1 MiB and more. */
static void put_many_params(void)
{
	static uint8_t content[1024];
	int small = 4096;
	ssize_t sent = 1;

	content[0] = 0;
	setsockopt(front, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	if (fork() == 0) {
		while (sent > 0) {
			const uint8_t head[8] = {1, PARAMS, 0, 1, 4, 0, 0};

			sent = send(front, head, sizeof(head), MSG_NOSIGNAL);
			sent = sent > 0 ? send(front, content, sizeof(content), MSG_NOSIGNAL)
					: sent;
		}
		_exit(0);
	}
}

enum bad {
	BAD_ROLE,
	BAD_VERSION,
	BAD_VALUES,
	BAD_MANAGEMENT,
	BAD_SECOND_ID,
	BAD_SECOND_BEGIN,
	BAD_PADDING,
	BAD_PADDING_OF_BEGIN,
	BAD_PARAMS_LEFT_OPEN,
	BAD_NO_BEGIN,
	BAD_BEGIN_LENGTH,
	BAD_STREAM,
	BAD_LENGTH,
	BAD_TOO_MUCH,
	BAD_COUNT,
};

static void put_bad(enum bad bad)
{
	const uint8_t version[8] = {2, BEGIN_REQUEST, 0, 1, 0, 8};

	if (bad == BAD_VERSION)
		ck_assert_int_eq(send(front, version, sizeof(version), 0), sizeof(version));
	else if (bad == BAD_NO_BEGIN)
		put(PARAMS, 1, "", 0, 0);
	else if (bad == BAD_BEGIN_LENGTH)
		put(BEGIN_REQUEST, 1, "\0\1\1\0\0\0\0", 7, 0);
	else if (bad == BAD_VALUES)
		put_values(60);
	else if (bad == BAD_PADDING_OF_BEGIN)
		put(BEGIN_REQUEST, 1, "\0\1\1\0\0\0\0\0", 8, 8);
	else
		put_begin(1, bad == BAD_ROLE ? 2 : 1, true);
	if (bad == BAD_MANAGEMENT)
		put(GET_VALUES + 30, 0, "", 0, 0);
	else if (bad == BAD_SECOND_ID)
		put_begin(2, 1, true);
	else if (bad == BAD_SECOND_BEGIN)
		put_begin(1, 1, true);
	else if (bad == BAD_STREAM)
		put(STDIN, 1, "x", 1, 0);
	else if (bad == BAD_LENGTH)
		put(PARAMS, 1,
			"\3\xff\xff\xff\xff"
			"abc",
			8, 0);
	else if (bad == BAD_TOO_MUCH)
		put_many_params();
	else if (bad == BAD_PARAMS_LEFT_OPEN)
		put(PARAMS, 1, "\3\1abc", 5, 0);
	if (bad == BAD_PADDING)
		put(PARAMS, 1, "", 0, 8);
	if (bad == BAD_PARAMS_LEFT_OPEN)
		shutdown(front, SHUT_WR);
	else if (bad != BAD_TOO_MUCH)
		put_params(1);
}

/* A violation of the protocol is not answered, and the process survives. */
START_TEST(test_refused)
{
	if (_i == BAD_TOO_MUCH)
		conn.wait_ms = 20000;
	put_bad((enum bad)_i);
	if (_i != BAD_TOO_MUCH && _i != BAD_PARAMS_LEFT_OPEN)
		put(STDIN, 1, "", 0, 0);
	ck_assert(!fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(conn.failed);
	take_nothing();
	fcgi_conn_close(&conn);
}
END_TEST

/*
 * A violation within a body: no byte of another request enters the body, and it never counts as
 * complete.
 */
START_TEST(test_refused_in_body)
{
	put_begin(1, 1, true);
	put_params(1);
	put(STDIN, 1, "he", 2, 0);
	if (_i == 0)
		put_request(1, true, "hello");
	else if (_i == 1)
		put(STDIN, 2, "llo", 3, 0);
	else
		put_values(60);
	put(STDIN, 1, "llo", 3, 0);
	put(STDIN, 1, "", 0, 0);
	ck_assert_int_eq(fcgi_conn_request(&conn, &web_format, &request), false);
	take_nothing();
}
END_TEST

/* A web server that stops sending in a body can be answered; then nothing more is read. */
START_TEST(test_breaks_off)
{
	int64_t begun_ms = clock_boot_ms();

	put_begin(1, 1, true);
	put_params(1);
	put(STDIN, 1, "hel", 3, 0);
	if (_i == 1)
		put(ABORT_REQUEST, 1, "", 0, 0);
	if (_i == 2)
		shutdown(front, SHUT_WR);
	/* A withdrawn request is not even begun. */
	ck_assert_int_eq(fcgi_conn_request(&conn, &web_format, &request), _i != 1);
	if (_i == 1)
		return;
	take_body();
	check_body(HTTP_BODY_BROKEN, "hel");
	ck_assert(conn.failed);
	ck_assert(!reply(0));
	take_reply(1, 0);
	/* Closing does not wait for longer either. */
	fcgi_conn_close(&conn);
	ck_assert_int_lt(clock_boot_ms() - begun_ms, 3 * WAIT_MS + 500);
}
END_TEST

/* A connection whose web server reads nothing is abandoned. */
START_TEST(test_takes_nothing)
{
	int64_t begun_ms = clock_boot_ms();

	put_request(1, true, "hello");
	ck_assert(fcgi_conn_request(&conn, &web_format, &request));
	ck_assert(take_body());
	ck_assert(!reply(2 * 1024 * 1024));
	ck_assert_int_ge(clock_boot_ms() - begun_ms, WAIT_MS - 10);
	ck_assert_int_lt(clock_boot_ms() - begun_ms, WAIT_MS + 2000);
}
END_TEST

Suite *fcgi_connection_suite(void)
{
	Suite *suite = suite_create("fcgi_connection");
	TCase *tcase = tcase_create("records");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_answers, 0, 14);
	tcase_add_loop_test(tcase, test_heads, 0, 8);
	tcase_add_test(tcase, test_both_at_once);
	tcase_add_test(tcase, test_byte_by_byte);
	tcase_add_loop_test(tcase, test_refused, 0, BAD_COUNT);
	tcase_add_loop_test(tcase, test_refused_in_body, 0, 3);
	tcase_add_loop_test(tcase, test_breaks_off, 0, 3);
	tcase_add_test(tcase, test_takes_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
