/*
 * Tests fcgi_run() in a child process, between a FastCGI client and a fake ledger: kept
 * connections, bodies, and how it stops.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "fcgi/server.h"
#include "fcgi/signals.h"
#include "wire/signature.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define BODY BODY_TRANSFER
/* A worker without pending work exits long before FCGI_STOP_MS. */
#define PROMPT_MS (FCGI_STOP_MS - 2000)
/* Timeout for events that must occur. */
#define WAIT_MS 10000

/* Record types of the FastCGI specification. */
enum { BEGIN_REQUEST = 1, END_REQUEST = 3, PARAMS = 4, STDIN = 5, STDOUT = 6 };

static char socket_path[128];
static pid_t pid;
/* Requests run in fibers that share a connection to the ledger. */
static bool in_fibers;

static void setup(void)
{
	fake_init(&fake);
	fake_add_dealer(&fake, "demo", KEY_ONE, "");
	snprintf(socket_path, sizeof(socket_path), "%s/fcgi.sock", fake.directory);
}

static void setup_fibers(void)
{
	setup();
	in_fibers = true;
}

/*
 * Starts the worker process, then the ledger's thread (in this order, because a fork copies no
 * threads). If @inherited is NULL, the worker has its own socket. Otherwise it inherits one,
 * which stays open here.
 */
static void start_on(unsigned int threads, bool exclusive, int *inherited)
{
	static struct muxes muxes;
	struct fcgi_program program;
	struct fcgi_socket own;
	char why[256];

	service = (struct web_service){.group = SERVE_WALLET, .ledger_deadline_ms = 3000};
	text_copy(service.ledger_path, sizeof(service.ledger_path), fake.path);
	if (in_fibers) {
		ck_assert(muxes_init(&muxes, fake.path, threads));
		service.muxes = &muxes;
	}
	program = web_service_program(&service);
	program.exclusive = exclusive;
	ck_assert_msg(socket_open(&own, socket_path, "", why, sizeof(why)) == STATUS_OK, "%s", why);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(fake.listen_fd);
		log_open("test", false, LOG_LEVEL_ERROR);
		signals_block();
		exit(fcgi_run(&program, own.fd, threads, inherited ? NULL : &own));
	}
	if (inherited)
		*inherited = own.fd;
	else
		close(own.fd);
	fake_start(&fake);
}

static void start(unsigned int threads)
{
	start_on(threads, false, NULL);
}

static void teardown(void)
{
	if (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	unlink(socket_path);
	fake_stop(&fake);
}

/* Waits at most @limit_ms for the worker to exit. Returns its exit code, or -1. */
static int ended(int64_t limit_ms)
{
	int64_t until_ms = clock_boot_ms() + limit_ms;
	int info;

	while (waitpid(pid, &info, WNOHANG) == 0) {
		if (clock_boot_ms() > until_ms)
			return -1;
		clock_sleep_ms(5);
	}
	pid = 0;
	return WIFEXITED(info) ? WEXITSTATUS(info) : -1;
}

/* Returns a connection, or -1 with errno. */
static int try_dial(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int error;

	text_copy(address.sun_path, sizeof(address.sun_path), socket_path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int dial(void)
{
	int fd = try_dial();

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void put_record(struct buffer *out, uint8_t type, const void *data, size_t len)
{
	uint8_t head[8] = {1, type, 0, 1, (uint8_t)(len >> 8), (uint8_t)len, 0, 0};

	buffer_append(out, head, sizeof(head));
	buffer_append(out, data, len);
}

static void put_param(struct buffer *out, const char *name, const char *value)
{
	uint8_t head[2] = {(uint8_t)strlen(name), (uint8_t)strlen(value)};

	ck_assert_uint_lt(strlen(value), 128);
	buffer_append(out, head, sizeof(head));
	buffer_append_str(out, name);
	buffer_append_str(out, value);
}

/*
 * Sends a signed transfer-in with @length as CONTENT_LENGTH. If @held is not 0, omits the last
 * @held bytes of the body and the end of the stream. Returns false if the connection is closed.
 */
static bool try_request(int fd, bool keep, size_t length, size_t held)
{
	uint8_t begin[8] = {0, 1, keep, 0, 0, 0, 0, 0};
	char signature[SIGNATURE_TEXT_MAX], number[32];
	struct buffer params, out;
	bool sent;

	ck_assert(
		signature_make(HMAC_SHA256, ENCODING_HEX, KEY_ONE, BODY, strlen(BODY), signature));
	snprintf(number, sizeof(number), "%zu", length);
	buffer_init(&params, 4096);
	buffer_init(&out, 8192);
	put_param(&params, "REQUEST_METHOD", "POST");
	put_param(&params, "SCRIPT_NAME", "/wallet-service");
	put_param(&params, "PATH_INFO", "/credit/transfer-in");
	put_param(&params, "CONTENT_LENGTH", number);
	put_param(&params, "HTTP_X_CASINO_ID", "demo");
	put_param(&params, "HTTP_X_CASINO_SIGNATURE", signature);
	put_record(&out, BEGIN_REQUEST, begin, sizeof(begin));
	put_record(&out, PARAMS, params.data, params.len);
	put_record(&out, PARAMS, "", 0);
	put_record(&out, STDIN, BODY, strlen(BODY) - held);
	if (!held)
		put_record(&out, STDIN, "", 0);
	sent = send(fd, out.data, out.len, MSG_NOSIGNAL) == (ssize_t)out.len;
	buffer_free(&params);
	buffer_free(&out);
	return sent;
}

static void send_request(int fd, bool keep, size_t length, size_t held)
{
	ck_assert(try_request(fd, keep, length, held));
}

/* Sends the part of the body that send_request() omitted, and its end if @end is true. */
static void send_part(int fd, size_t held, bool end)
{
	struct buffer out;

	buffer_init(&out, 4096);
	put_record(&out, STDIN, &BODY[strlen(BODY) - held], held);
	if (end)
		put_record(&out, STDIN, "", 0);
	ck_assert_int_eq(send(fd, out.data, out.len, MSG_NOSIGNAL), (ssize_t)out.len);
	buffer_free(&out);
}

static void send_rest(int fd, size_t held)
{
	send_part(fd, held, true);
}

/* Reads exactly @len bytes within WAIT_MS. */
static bool read_all(int fd, uint8_t *to, size_t len)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	ssize_t got;

	while (len) {
		if (poll(&pfd, 1, WAIT_MS) <= 0)
			return false;
		got = recv(fd, to, len, 0);
		if (got <= 0)
			return false;
		to += got;
		len -= (size_t)got;
	}
	return true;
}

/* Reads a whole answer. Returns its HTTP status; 0 if the connection ended or nothing arrived. */
static int read_answer(int fd)
{
	uint8_t head[8], content[65536 + 256];
	struct buffer text;
	size_t len;
	int code = 0;

	buffer_init(&text, 65536);
	for (;;) {
		if (!read_all(fd, head, sizeof(head)))
			break;
		len = (size_t)head[4] << 8 | head[5];
		if (!read_all(fd, content, len + head[6]))
			break;
		if (head[1] == STDOUT)
			buffer_append(&text, content, len);
		if (head[1] != END_REQUEST)
			continue;
		buffer_append(&text, "", 1);
		ck_assert_int_eq(sscanf((const char *)text.data, "Status: %d", &code), 1);
		break;
	}
	buffer_free(&text);
	return code;
}

/*
 * Waits until the ledger has the first transfer, which it answers after slow_ms. It answers the
 * next ones at once, because queued connections are served for only FCGI_GRACE_MS.
 */
static void wait_for_first_transfer(void)
{
	unsigned int calls;

	for (int i = 0; i < WAIT_MS / 5; i++) {
		fake_lock(&fake);
		calls = fake.calls[COMMAND_TRANSFER];
		if (calls)
			fake.acts[COMMAND_TRANSFER] = FAKE_ANSWER;
		fake_unlock(&fake);
		if (calls)
			return;
		clock_sleep_ms(5);
	}
	ck_abort_msg("the ledger was sent no transfer");
}

/* Returns true if the peer has closed the connection. */
static bool closed(int fd)
{
	uint8_t byte;
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, WAIT_MS) == 1 && recv(fd, &byte, 1, 0) == 0;
}

START_TEST(test_requests)
{
	int fd;

	start(2);
	for (int i = 0; i < 20; i++) {
		fd = dial();
		send_request(fd, false, strlen(BODY), 0);
		ck_assert_int_eq(read_answer(fd), 200);
		ck_assert(closed(fd));
		close(fd);
	}
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 20);
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
	ck_assert_int_ne(access(socket_path, F_OK), 0);
}
END_TEST

/* A body longer or shorter than announced leaves a kept connection in sync. */
START_TEST(test_kept)
{
	int fd;

	start(1);
	fd = dial();
	send_request(fd, true, strlen(BODY), 0);
	ck_assert_int_eq(read_answer(fd), 200);
	send_request(fd, true, strlen(BODY) - 9, 0);
	ck_assert_int_eq(read_answer(fd), 401);
	send_request(fd, true, strlen(BODY) + 1, 0);
	ck_assert_int_eq(read_answer(fd), 400);
	send_request(fd, true, 70000, 0);
	ck_assert_int_eq(read_answer(fd), 413);
	send_request(fd, true, strlen(BODY), 0);
	ck_assert_int_eq(read_answer(fd), 200);
	kill(pid, SIGUSR1);
	ck_assert(closed(fd));
	close(fd);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

/* When the web server closes a kept connection, no thread stays blocked in accept(). */
START_TEST(test_kept_closed)
{
	int fd;

	start(1);
	fd = dial();
	send_request(fd, true, strlen(BODY), 0);
	ck_assert_int_eq(read_answer(fd), 200);
	close(fd);
	clock_sleep_ms(100);
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

/* Idle kept connections do not starve others, even with a single thread. */
START_TEST(test_kept_gives_way)
{
	int first, second, third;

	start(1);
	first = dial();
	send_request(first, true, strlen(BODY), 0);
	ck_assert_int_eq(read_answer(first), 200);
	second = dial();
	send_request(second, true, strlen(BODY), 0);
	third = dial();
	send_request(third, false, strlen(BODY), 0);
	ck_assert(closed(first));
	close(first);
	ck_assert_int_eq(read_answer(second), 200);
	/*
	 * The web server closes an idle connection: the worker notices it and serves the next
	 * one.
	 */
	close(second);
	ck_assert_int_eq(read_answer(third), 200);
	close(third);
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

START_TEST(test_stop_finishes_requests)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGUSR1};
	int slow, fast, waiting;

	fake.acts[COMMAND_TRANSFER] = FAKE_SLOW;
	fake.slow_ms = 250;
	start(2);
	/* One request is at the ledger, one has sent half its body, one is in the backlog. */
	slow = dial();
	send_request(slow, false, strlen(BODY), 0);
	fast = dial();
	send_request(fast, false, strlen(BODY), 10);
	wait_for_first_transfer();
	clock_sleep_ms(100);
	waiting = dial();
	send_request(waiting, false, strlen(BODY), 0);
	kill(pid, signals[_i]);
	kill(pid, signals[_i]);
	clock_sleep_ms(100);
	send_rest(fast, 10);
	ck_assert_int_eq(read_answer(slow), 200);
	close(slow);
	ck_assert_int_eq(read_answer(fast), 200);
	close(fast);
	ck_assert_int_eq(read_answer(waiting), 200);
	close(waiting);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

/*
 * After the signal, the worker's own socket refuses new connections. It serves those made before.
 * No connection is reset.
 */
START_TEST(test_stop_refuses_newcomers)
{
	int inherited, slow, waiting[3], fd = 0;

	fake.acts[COMMAND_TRANSFER] = FAKE_SLOW;
	fake.slow_ms = 100;
	start_on(1, true, &inherited);
	slow = dial();
	send_request(slow, false, strlen(BODY), 0);
	wait_for_first_transfer();
	for (int i = 0; i < 3; i++) {
		waiting[i] = dial();
		send_request(waiting[i], false, strlen(BODY), 0);
	}
	kill(pid, SIGTERM);
	/* As soon as the worker has received the signal. */
	for (int i = 0; i < WAIT_MS / 5 && (fd = try_dial()) >= 0; i++) {
		close(fd);
		clock_sleep_ms(5);
	}
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(errno, ECONNREFUSED);
	ck_assert_int_eq(read_answer(slow), 200);
	close(slow);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(read_answer(waiting[i]), 200);
		close(waiting[i]);
	}
	ck_assert_int_eq(ended(PROMPT_MS), 0);
	close(inherited);
}
END_TEST

/* A socket from which other processes also accept stays usable for them. */
START_TEST(test_stop_leaves_shared_socket)
{
	int inherited, fd, accepted;

	start_on(2, false, &inherited);
	fd = dial();
	send_request(fd, false, strlen(BODY), 0);
	ck_assert_int_eq(read_answer(fd), 200);
	close(fd);
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
	fd = dial();
	accepted = accept(inherited, NULL, NULL);
	ck_assert_int_ge(accepted, 0);
	close(accepted);
	close(fd);
	close(inherited);
}
END_TEST

/* A kept connection with continuous requests does not delay the exit. */
START_TEST(test_stop_ends_kept)
{
	int fd, answered = 0;

	fake.acts[COMMAND_TRANSFER] = FAKE_SLOW;
	fake.slow_ms = 250;
	start(2);
	fd = dial();
	send_request(fd, true, strlen(BODY), 0);
	wait_for_first_transfer();
	kill(pid, SIGTERM);
	ck_assert_int_eq(read_answer(fd), 200);
	do {
		/* Each request is sent after the worker has begun to wait for it. */
		clock_sleep_ms(20);
		if (!try_request(fd, true, strlen(BODY), 0))
			break;
		answered++;
	} while (read_answer(fd) == 200 && answered < WAIT_MS / 20);
	close(fd);
	ck_assert_int_le(answered, 2);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

/*
 * A request that never ends does not delay the exit beyond Apache's timeout of 8 s. The test is
 * repeated if the machine stalls that long.
 */
START_TEST(test_stop_is_bounded)
{
	int64_t start_ms, took_ms;
	int fd, tries = 0;

	start(1);
	for (;;) {
		fd = dial();
		send_request(fd, false, strlen(BODY), 10);
		clock_sleep_ms(50);
		start_ms = clock_boot_ms();
		kill(pid, SIGTERM);
		ck_assert_int_eq(ended(2 * (int64_t)FCGI_STOP_MS), 0);
		took_ms = clock_boot_ms() - start_ms;
		close(fd);
		ck_assert_int_ge(took_ms, FCGI_STOP_MS - 200);
		if (took_ms < 7900 || ++tries == 3)
			break;
		fake_stop(&fake);
		setup();
		start(1);
	}
	ck_assert_int_lt(took_ms, 7900);
}
END_TEST

/*
 * If the ledger has another version, the request is answered and the process exits to be
 * restarted.
 */
START_TEST(test_other_protocol)
{
	int fd;

	fake.protocol_xor = 1;
	start(2);
	fd = dial();
	send_request(fd, false, strlen(BODY), 0);
	ck_assert_int_eq(read_answer(fd), 503);
	close(fd);
	ck_assert_int_eq(ended(PROMPT_MS), 75);
}
END_TEST

/* A client that is not a web server does not affect the others. */
START_TEST(test_garbage)
{
	int fd;

	start(1);
	fd = dial();
	ck_assert_int_eq(send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL), 18);
	ck_assert(closed(fd));
	close(fd);
	fd = dial();
	close(fd);
	fd = dial();
	send_request(fd, false, strlen(BODY), 10);
	close(fd);
	fd = dial();
	send_request(fd, false, strlen(BODY), 0);
	ck_assert_int_eq(read_answer(fd), 200);
	close(fd);
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 1);
}
END_TEST

#define HELD_THREADS 2
#define WAITING      (2 * HELD_THREADS + 1)

/* Makes @count calls; each body lacks its last @missing bytes. */
static void dial_all(int *fds, int count, size_t missing)
{
	for (int i = 0; i < count; i++) {
		fds[i] = dial();
		send_request(fds[i], false, strlen(BODY), missing);
	}
}

/*
 * Makes every thread wait for the rest of a body, and @count more calls, which lack @missing
 * bytes, wait in the queue.
 */
static void start_held(int held[HELD_THREADS], int *waiting, int count, size_t missing)
{
	start(HELD_THREADS);
	dial_all(held, HELD_THREADS, 10);
	clock_sleep_ms(100);
	dial_all(waiting, count, missing);
}

/* Completes the held requests, then those that waited. */
static void release(const int held[HELD_THREADS], const int waiting[HELD_THREADS])
{
	for (int i = 0; i < HELD_THREADS; i++) {
		send_rest(held[i], 10);
		ck_assert_int_eq(read_answer(held[i]), 200);
		close(held[i]);
	}
	for (int i = 0; i < HELD_THREADS; i++) {
		ck_assert_int_eq(read_answer(waiting[i]), 200);
		close(waiting[i]);
	}
}

/*
 * While every thread is held, as many connections may wait as there are threads. Further ones are
 * rejected and do not reach the ledger. Afterwards the worker serves as before.
 */
START_TEST(test_excess)
{
	int held[HELD_THREADS], waiting[WAITING], fd;

	start_held(held, waiting, WAITING, 0);
	for (int i = HELD_THREADS; i < WAITING; i++) {
		ck_assert_int_eq(read_answer(waiting[i]), 503);
		ck_assert(closed(waiting[i]));
		close(waiting[i]);
	}
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 0);
	release(held, waiting);
	for (int i = 0; i < 20; i++) {
		fd = dial();
		send_request(fd, false, strlen(BODY), 0);
		ck_assert_int_eq(read_answer(fd), 200);
		close(fd);
	}
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

/* A silent connection is closed without an answer. The other waiting connections are served. */
START_TEST(test_excess_silent)
{
	int held[HELD_THREADS], silent, waiting[HELD_THREADS];

	start_held(held, waiting, HELD_THREADS, 0);
	silent = dial();
	ck_assert(closed(silent));
	close(silent);
	release(held, waiting);
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

/* If a web server withdraws an incomplete request, the worker sends no refusal. */
START_TEST(test_broken_off)
{
	int fd;

	start(1);
	fd = dial();
	send_request(fd, false, strlen(BODY), 1);
	send_part(fd, 1, false);
	shutdown(fd, SHUT_WR);
	ck_assert(closed(fd));
	close(fd);
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 0);
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

/*
 * An excess request is rejected even while its body is arriving, and does not delay the next
 * rejection.
 */
START_TEST(test_excess_slow)
{
	int held[HELD_THREADS], waiting[WAITING];
	int64_t begun_ms;

	start_held(held, waiting, WAITING, 10);
	begun_ms = clock_boot_ms();
	for (int i = HELD_THREADS; i < WAITING; i++) {
		ck_assert_int_eq(read_answer(waiting[i]), 503);
		close(waiting[i]);
	}
	ck_assert_int_lt(clock_boot_ms() - begun_ms, 5000);
	for (int i = 0; i < HELD_THREADS; i++) {
		close(held[i]);
		close(waiting[i]);
	}
	ck_assert_uint_eq(fake.calls[COMMAND_TRANSFER], 0);
	kill(pid, SIGTERM);
	ck_assert_int_eq(ended(PROMPT_MS), 0);
}
END_TEST

static TCase *cases(const char *name, SFun begin)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, begin, teardown);
	tcase_add_test(tcase, test_requests);
	tcase_add_test(tcase, test_kept);
	tcase_add_test(tcase, test_kept_closed);
	tcase_add_test(tcase, test_kept_gives_way);
	tcase_add_loop_test(tcase, test_stop_finishes_requests, 0, 3);
	tcase_add_test(tcase, test_stop_refuses_newcomers);
	tcase_add_test(tcase, test_stop_leaves_shared_socket);
	tcase_add_test(tcase, test_stop_ends_kept);
	tcase_add_test(tcase, test_other_protocol);
	tcase_add_test(tcase, test_excess);
	tcase_add_test(tcase, test_excess_silent);
	tcase_add_test(tcase, test_excess_slow);
	tcase_add_test(tcase, test_broken_off);
	tcase_add_test(tcase, test_garbage);
	return tcase;
}

Suite *fcgi_server_suite(void)
{
	Suite *suite = suite_create("fcgi_server");
	TCase *threads = cases("threads", setup);

	tcase_add_test(threads, test_stop_is_bounded);
	suite_add_tcase(suite, threads);
	suite_add_tcase(suite, cases("fibers", setup_fibers));
	return suite;
}
