/* The FastCGI protocol on one connection: what breaks its rules, and how requests end. */
#include "web_case.h"

#include "base/clock.h"
#include "fcgi/connection.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS 100
/* Of an answer, in one record. */
#define RECORD_MOST (FCGI_OUT_SIZE - 32)

enum { BEGIN_REQUEST = 1, ABORT_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT };
enum { REQUEST_COMPLETE, CANT_MPX_CONN, UNKNOWN_ROLE = 3 };

static struct fcgi_conn conn;
static int front; /* the web server's end */
static struct http_request request;
static uint8_t store[HTTP_BODY_STORE];

static void setup(void)
{
	int fds[2];

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

/* Variables with a body of 5 bytes. */
static void put_params(uint16_t id)
{
	static const char params[] = "\x0e\x04REQUEST_METHODPOST\x0e\x01" "CONTENT_LENGTH5";

	put(PARAMS, id, params, 20, 3);
	put(PARAMS, id, params + 20, sizeof(params) - 21, 0);
	put(PARAMS, id, "", 0, 7);
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

/* The byte at @at of an answer, head and body together. */
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

/* Takes the next record, whose content goes to @content. Returns its length. */
static size_t take(uint8_t type, uint16_t id, uint8_t content[65535])
{
	uint8_t head[8];
	size_t len;

	ck_assert_int_eq(recv(front, head, sizeof(head), MSG_WAITALL), sizeof(head));
	len = (size_t)head[4] << 8 | head[5];
	ck_assert_int_eq(head[0], 1);
	ck_assert_int_eq(head[1], type);
	ck_assert_int_eq(head[2] << 8 | head[3], id);
	ck_assert_int_eq(head[6], 0);
	if (len)
		ck_assert_int_eq(recv(front, content, len, MSG_WAITALL), (ssize_t)len);
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
	size_t sum = 0, len, records = 0;

	for (; (len = take(STDOUT, id, content)) > 0; records++) {
		for (size_t i = 0; i < len; i++)
			ck_assert_uint_eq(content[i], octet(sum + i));
		sum += len;
	}
	ck_assert_uint_eq(sum, 10 + body);
	/* Head and body share the first one. */
	ck_assert_uint_eq(records, (sum + RECORD_MOST - 1) / RECORD_MOST);
	take_end(id, REQUEST_COMPLETE);
}

static void take_nothing(void)
{
	char byte;

	ck_assert_int_le(recv(front, &byte, 1, MSG_DONTWAIT), 0);
}

/* Answers of any length are as few records as hold them, and the connection goes on. */
START_TEST(test_answers)
{
	static const size_t lengths[] = {0, 1, 65493, 65494, 65495, 65503, 65504, 65505, 65535,
		65536, 130997, 130998, 130999, 150000};

	put_request(0xfffe, true, "hello");
	ck_assert(fcgi_conn_request(&conn, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "hello");
	ck_assert(reply(lengths[_i]));
	take_reply(0xfffe, lengths[_i]);
	put_request(1, false, "longer, and dropped");
	ck_assert(fcgi_conn_request(&conn, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "longe");
	ck_assert(!reply(lengths[_i]));
	take_reply(1, lengths[_i]);
}
END_TEST

/* Wherever the head ends. */
START_TEST(test_heads)
{
	static const size_t heads[] = {0, 1, 65503, 65504, 65505, 70000, 131008, 140000};

	put_request(1, true, "hello");
	ck_assert(fcgi_conn_request(&conn, &request));
	ck_assert(take_body());
	/* take_reply() counts ten bytes of a head. */
	ck_assert(reply_of(heads[_i], 150000 - heads[_i]));
	take_reply(1, 150000 - 10);
}
END_TEST

/* A second request is refused, and none of its bytes get into the first one. */
START_TEST(test_multiplexed)
{
	put_begin(1, 1, true);
	put_begin(2, 1, true);
	put_params(2);
	put_params(1);
	put(STDIN, 2, "HELLO", 5, 0);
	put(STDIN, 1, "he", 2, 200);
	put(STDIN, 2, "", 0, 0);
	put(STDIN, 1, "llo", 3, 0);
	put(STDIN, 1, "", 0, 0);
	put(STDIN, 2, "late", 4, 0);
	put(STDIN, 1, "late", 4, 0);
	ck_assert(fcgi_conn_request(&conn, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "hello");
	take_end(2, CANT_MPX_CONN);
	ck_assert(reply(0));
	take_reply(1, 0);
	put_request(2, true, "again");
	ck_assert(fcgi_conn_request(&conn, &request));
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "again");
}
END_TEST

/* lighttpd puts a new beginning before the old one when a worker died under it. */
START_TEST(test_begun_anew)
{
	put_begin(1, 3, true);
	put_begin(1, 1, false);
	put(PARAMS, 1, "\3\1abc", 5, 0);
	put_begin(1, 1, false);
	put_params(1);
	put_request(1, true, "hello");
	put(STDIN, 1, "", 0, 0);
	ck_assert(fcgi_conn_request(&conn, &request));
	ck_assert_str_eq(request.method.value, "POST");
	ck_assert_uint_eq(request.method.count, 1);
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "hello");
	take_end(1, UNKNOWN_ROLE);
	ck_assert(reply(0));
	take_reply(1, 0);
}
END_TEST

/* Not in its body, and not for ever: neither is answered for the other. */
START_TEST(test_begun_too_late)
{
	put_begin(1, 1, true);
	for (int i = 0; _i && i < 16; i++)
		put_begin(1, 1, true);
	put_params(1);
	put(STDIN, 1, "he", 2, 0);
	put_request(1, true, "hello");
	ck_assert_int_eq(fcgi_conn_request(&conn, &request), !_i);
	if (!_i) {
		take_body();
		check_body(HTTP_BODY_BROKEN, "he");
	}
	take_nothing();
	ck_assert(conn.failed);
}
END_TEST

/* A role that is not ours is refused; a connection that is kept goes on. */
START_TEST(test_role)
{
	put_begin(1, 2, true);
	put_params(1);
	put(STDIN, 1, "", 0, 0);
	put_request(3, true, "hello");
	ck_assert(fcgi_conn_request(&conn, &request));
	take_end(1, UNKNOWN_ROLE);
	ck_assert(take_body());
	check_body(HTTP_BODY_WHOLE, "hello");
	ck_assert(reply(0));
	take_reply(3, 0);
	put_begin(4, 3, false);
	ck_assert(!fcgi_conn_request(&conn, &request));
	take_end(4, UNKNOWN_ROLE);
}
END_TEST

/* Whoever falls silent in a body or takes the request back can be answered, and then no more is read. */
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
	ck_assert(fcgi_conn_request(&conn, &request));
	take_body();
	check_body(HTTP_BODY_BROKEN, "hel");
	ck_assert(conn.failed);
	ck_assert(!reply(0));
	take_reply(1, 0);
	/* Nor does closing wait for longer. */
	fcgi_conn_close(&conn);
	ck_assert_int_lt(clock_boot_ms() - begun_ms, 3 * WAIT_MS + 500);
}
END_TEST

/* A web server that takes nothing is given up. */
START_TEST(test_takes_nothing)
{
	int64_t begun_ms = clock_boot_ms();

	put_request(1, true, "hello");
	ck_assert(fcgi_conn_request(&conn, &request));
	ck_assert(take_body());
	ck_assert(!reply(2 * 1024 * 1024));
	ck_assert_int_ge(clock_boot_ms() - begun_ms, WAIT_MS - 10);
	ck_assert_int_lt(clock_boot_ms() - begun_ms, WAIT_MS + 2000);
}
END_TEST

Suite *web_fcgi_conn_suite(void)
{
	Suite *suite = suite_create("web_fcgi_conn");
	TCase *tcase = tcase_create("records");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_answers, 0, 14);
	tcase_add_loop_test(tcase, test_heads, 0, 8);
	tcase_add_test(tcase, test_multiplexed);
	tcase_add_test(tcase, test_begun_anew);
	tcase_add_loop_test(tcase, test_begun_too_late, 0, 2);
	tcase_add_test(tcase, test_role);
	tcase_add_loop_test(tcase, test_breaks_off, 0, 3);
	tcase_add_test(tcase, test_takes_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
