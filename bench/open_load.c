/*
 * open_load - HTTP calls in an open loop: each is due at its own moment, whatever became of the others.
 *
 *   open_load ADDRESS PORT PATH HEAD ID KEY RATE SECONDS CONNECTIONS PLAYERS FIRST
 *   <BODY
 *
 * Calls from ADDRESS to 127.0.0.1:PORT. HEAD: "casino" or "client", the word in the names of the headers
 * of ID and signature. ID "-": neither header is sent. KEY signs each body. In BODY each '@' stands for
 * the number of the call, from FIRST on, and each '#' for a random number below PLAYERS; without both one request
 * is made, and sent again and again. RATE: calls a second. At most CONNECTIONS are open; a call that is
 * due while all are busy waits for one.
 *
 * A latency counts from the moment at which the call was due. Prints one line of JSON: calls answered
 * ("answered") with their latencies in ms, of them those with another status than 200 ("refused"), calls
 * without an answer ("broken"), and calls that were not sent within the time ("unsent").
 */
#include "base/clock.h"
#include "wire/signature.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define CALLS_MAX       (1 << 22)
#define BODY_ROOM       (128 * 1024)
#define REQUEST_ROOM    (BODY_ROOM + 1024)
#define ANSWER_ROOM     16384
#define GRACE_NS        (10 * INT64_C(1000000000)) /* for calls that were sent before the end */
#define LATE_NS         INT64_C(1000000000) /* after the end, for calls that were due before */
#define STATUS_COUNT    600

struct connection {
	int fd;          /* -1: not open */
	bool busy;       /* a call is under way */
	bool used;       /* it has answered a call before */
	int64_t due_ns;  /* of the call */
	char *request;   /* REQUEST_ROOM bytes; NULL: the one that all calls share */
	size_t len;      /* of the request */
	size_t sent;     /* of it */
	size_t received; /* of the answer */
	char answer[ANSWER_ROOM];
};

static const char *path, *head, *id, *key;
static struct sockaddr_in from, to;
static char body[BODY_ROOM + 1], shared[REQUEST_ROOM];
static size_t shared_len;
static struct connection connections[CONNECTIONS_MAX];
static unsigned int connections_max;
static unsigned long players;
static uint64_t first;
static uint64_t due_count, begun_count, broken, random_state = UINT64_C(88172645463325252);
static uint64_t statuses[STATUS_COUNT];
static uint32_t *took_us;
static size_t took_count;
static int64_t begin_ns, each_ns;
static int poll_fd;

static void fail(const char *what)
{
	fprintf(stderr, "open_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* The body of call @number, in @text of BODY_ROOM bytes. Its length. */
static size_t body_make(uint64_t number, char *text)
{
	size_t len = 0;

	for (const char *at = body; *at && len < BODY_ROOM - 24; at++) {
		if (*at == '@')
			len += (size_t)sprintf(text + len, "%" PRIu64, number);
		else if (*at == '#')
			len += (size_t)sprintf(text + len, "%" PRIu64, next_random() % players);
		else
			text[len++] = *at;
	}
	return len;
}

/* The request of call @number, in @request of REQUEST_ROOM bytes. Its length. */
static size_t request_make(uint64_t number, char *request)
{
	static char text[BODY_ROOM];
	char signature[SIGNATURE_TEXT_MAX], signed_head[512] = "";
	size_t len = body_make(number, text), start;

	if (!signature_make(HMAC_SHA256, ENCODING_HEX, key, text, len, signature))
		fail("a signature");
	if (strcmp(id, "-") != 0)
		snprintf(signed_head, sizeof(signed_head), "x-%s-id: %s\r\nx-%s-signature: %s\r\n",
			head, id, head, signature);
	start = (size_t)snprintf(request, REQUEST_ROOM - BODY_ROOM,
		"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n%s\r\n",
		path, len, signed_head);
	memcpy(request + start, text, len);
	return start + len;
}

static void connection_shut(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	connection->used = false;
}

static bool connection_open(struct connection *connection)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection};

	connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		fail("socket");
	if (bind(connection->fd, (const struct sockaddr *)&from, sizeof(from)) < 0)
		fail("bind");
	if (connect(connection->fd, (const struct sockaddr *)&to, sizeof(to)) < 0 &&
		errno != EINPROGRESS) {
		connection_shut(connection);
		return false;
	}
	if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, connection->fd, &event) < 0)
		fail("epoll_ctl");
	return true;
}

static void call_end(struct connection *connection, bool answered)
{
	const int64_t took_ns = clock_boot_ns() - connection->due_ns;

	connection->busy = false;
	if (!answered)
		broken++;
	else
		took_us[took_count++] = took_ns > 0 ? (uint32_t)(took_ns / 1000) : 0;
}

/* The connection broke. A server may close one that was kept at any moment: the call is sent anew. */
static void call_broken(struct connection *connection)
{
	const bool anew = connection->busy && connection->used && !connection->received;

	connection_shut(connection);
	if (!connection->busy)
		return;
	connection->sent = connection->received = 0;
	if (!anew || !connection_open(connection))
		call_end(connection, false);
}

static void call_send(struct connection *connection)
{
	const char *request = connection->request ? connection->request : shared;
	ssize_t some;

	while (connection->busy && connection->sent < connection->len) {
		some = send(connection->fd, request + connection->sent,
			connection->len - connection->sent, MSG_NOSIGNAL);
		if (some < 0 && (errno == EAGAIN || errno == ENOTCONN))
			return;
		if (some < 0) {
			call_broken(connection);
			return;
		}
		connection->sent += (size_t)some;
	}
}

/* Looks whether the answer is there as a whole, and ends the call then. */
static void answer_look(struct connection *connection)
{
	const char *end, *length;
	unsigned long status, len = 0;
	bool shuts;

	connection->answer[connection->received] = '\0';
	end = strstr(connection->answer, "\r\n\r\n");
	if (!end)
		return;
	length = strcasestr(connection->answer, "\r\ncontent-length:");
	if (length && length < end)
		len = strtoul(length + 17, NULL, 10);
	if (connection->received < (size_t)(end + 4 - connection->answer) + len)
		return;
	status = strtoul(connection->answer + 9, NULL, 10);
	statuses[status < STATUS_COUNT ? status : 0]++;
	length = strcasestr(connection->answer, "\r\nconnection: close");
	shuts = (length && length < end) || connection->sent < connection->len;
	connection->used = true;
	call_end(connection, true);
	if (shuts)
		connection_shut(connection);
}

static void call_receive(struct connection *connection)
{
	ssize_t some;

	while (connection->fd >= 0) {
		some = recv(connection->fd, connection->answer + connection->received,
			ANSWER_ROOM - 1 - connection->received, 0);
		if (some < 0 && errno == EAGAIN)
			return;
		if (some <= 0) {
			call_broken(connection);
			return;
		}
		connection->received += (size_t)some;
		if (connection->busy)
			answer_look(connection);
	}
}

/* Begins the calls that are due while there is a connection for them. */
static void calls_begin(void)
{
	while (begun_count < due_count) {
		struct connection *connection = NULL;

		for (unsigned int i = 0; i < connections_max; i++) {
			if (connections[i].busy)
				continue;
			if (!connection || (connections[i].fd >= 0 && connection->fd < 0))
				connection = &connections[i];
			if (connection->fd >= 0)
				break;
		}
		if (!connection)
			return;
		connection->due_ns = begin_ns + (int64_t)begun_count * each_ns;
		connection->len = connection->request
			? request_make(first + begun_count, connection->request)
			: shared_len;
		connection->sent = connection->received = 0;
		connection->busy = true;
		begun_count++;
		if (connection->fd < 0 && !connection_open(connection))
			call_end(connection, false);
		else
			call_send(connection);
	}
}

static unsigned int busy_count(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < connections_max; i++)
		count += connections[i].busy;
	return count;
}

static void on_event(const struct epoll_event *event)
{
	struct connection *connection = event->data.ptr;

	if (connection->fd < 0)
		return;
	if (event->events & EPOLLOUT)
		call_send(connection);
	if (event->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		call_receive(connection);
}

static void timer_set(int timer, int64_t at_ns)
{
	const struct itimerspec when = {
		.it_value = {.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000}};

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) < 0)
		fail("timerfd_settime");
}

static void run(uint64_t calls)
{
	const int64_t end_ns = begin_ns + (int64_t)calls * each_ns;
	struct epoll_event events[64], tick = {.events = EPOLLIN};
	int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), count;
	uint64_t passed;
	int64_t now_ns;

	if (timer < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, timer, &tick) < 0)
		fail("timer");
	for (now_ns = clock_boot_ns(); now_ns < end_ns + GRACE_NS; now_ns = clock_boot_ns()) {
		passed = now_ns < begin_ns ? 0 : (uint64_t)((now_ns - begin_ns) / each_ns) + 1;
		due_count = passed < calls ? passed : calls;
		if (now_ns < end_ns + LATE_NS)
			calls_begin();
		if (now_ns >= end_ns && !busy_count())
			break;
		timer_set(timer,
			due_count < calls ? begin_ns + (int64_t)due_count * each_ns
					  : end_ns + GRACE_NS);
		count = epoll_wait(poll_fd, events, 64, -1);
		for (int i = 0; i < count; i++) {
			if (events[i].data.ptr)
				on_event(&events[i]);
			else if (read(timer, &passed, sizeof(passed)) < 0 && errno != EAGAIN)
				fail("timer");
		}
	}
	broken += busy_count();
}

static int compare(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static double share_ms(double share)
{
	size_t at = (size_t)((double)took_count * share);

	if (!took_count)
		return 0;
	return (double)took_us[at < took_count ? at : took_count - 1] / 1000;
}

static void report(uint64_t calls)
{
	uint64_t answered = 0;

	qsort(took_us, took_count, sizeof(*took_us), compare);
	for (unsigned int i = 0; i < STATUS_COUNT; i++)
		answered += statuses[i];
	printf("{\"calls\":%" PRIu64 ",\"answered\":%" PRIu64 ",\"refused\":%" PRIu64
	       ",\"broken\":%" PRIu64 ",\"unsent\":%" PRIu64
	       ",\"p50_ms\":%.3f,\"p90_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,\"statuses\":{",
		calls, answered, answered - statuses[200], broken, calls - begun_count,
		share_ms(0.5), share_ms(0.9), share_ms(0.99), share_ms(1));
	for (unsigned int i = 0, some = 0; i < STATUS_COUNT; i++) {
		if (statuses[i])
			printf("%s\"%u\":%" PRIu64, some++ ? "," : "", i, statuses[i]);
	}
	printf("}}\n");
}

int main(int argc, char *argv[])
{
	double rate, seconds;
	uint64_t calls;
	size_t len;

	if (argc != 12) {
		fprintf(stderr,
			"usage: open_load ADDRESS PORT PATH HEAD ID KEY RATE SECONDS CONNECTIONS "
			"PLAYERS FIRST <BODY\n");
		return 2;
	}
	from = (struct sockaddr_in){.sin_family = AF_INET};
	to = (struct sockaddr_in){.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10))};
	path = argv[3], head = argv[4], id = argv[5], key = argv[6];
	rate = strtod(argv[7], NULL), seconds = strtod(argv[8], NULL);
	connections_max = (unsigned int)strtoul(argv[9], NULL, 10);
	players = strtoul(argv[10], NULL, 10);
	first = strtoull(argv[11], NULL, 10);
	len = fread(body, 1, BODY_ROOM, stdin);
	body[len] = '\0';
	calls = rate > 0 && seconds > 0 ? (uint64_t)(rate * seconds) : 0;
	poll_fd = epoll_create1(EPOLL_CLOEXEC);
	took_us = calls && calls <= CALLS_MAX ? calloc(calls, sizeof(*took_us)) : NULL;
	if (inet_pton(AF_INET, argv[1], &from.sin_addr) != 1 || poll_fd < 0 || !took_us ||
		!players || !connections_max || connections_max > CONNECTIONS_MAX) {
		fprintf(stderr, "open_load: an argument is out of range\n");
		return 2;
	}
	for (unsigned int i = 0; i < connections_max; i++)
		connections[i].fd = -1;
	if (strpbrk(body, "@#")) {
		for (unsigned int i = 0; i < connections_max; i++) {
			if (!(connections[i].request = malloc(REQUEST_ROOM)))
				fail("memory");
		}
	} else {
		shared_len = request_make(0, shared);
	}
	each_ns = (int64_t)(1e9 / rate);
	begin_ns = clock_boot_ns();
	run(calls);
	report(calls);
	return 0;
}
