/*
 * late_dealer - a dealer that answers each callback after some milliseconds, as many at a time as come.
 *
 *   late_dealer PORT MILLISECONDS [EACH]
 *
 * With EACH it never answers each EACH-th call to /betting. Prints a line when it listens. GET / answers
 * with what it received since the last GET: the number of callbacks, how many were under way at most, when
 * the last answer left (CLOCK_MONOTONIC, seconds), how many bets it left without an answer, and the number of
 * refunds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096
#define REQUEST_MAX     16384

/* A connection, with one request at a time. */
struct connection {
	int fd;
	size_t len;
	bool waiting; /* for its time to be answered */
	double due_s;
	char in[REQUEST_MAX + 1];
};

static struct connection *connections[CONNECTIONS_MAX];
/* Those that wait, a ring in the order of their times, since all wait equally long. */
static struct connection *ring[CONNECTIONS_MAX];
static unsigned int first, under_way, most, received, bets, silent, silent_each, refunds;
static double last_s, delay_s;
static int epoll;

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void put(struct connection *connection, const char *body)
{
	char text[512];
	int len = snprintf(text, sizeof(text),
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(body), body);

	if (write(connection->fd, text, (size_t)len) != len)
		fprintf(stderr, "late_dealer: an answer was not sent\n");
}

static void report(struct connection *connection)
{
	char text[192];

	snprintf(text, sizeof(text),
		"{\"received\":%u,\"most\":%u,\"last_s\":%.6f,\"silent\":%u,\"refunds\":%u}",
		received, most, last_s, silent, refunds);
	received = most = silent = refunds = 0;
	last_s = 0;
	put(connection, text);
}

/* Returns true if a whole request is there. */
static bool is_whole(const struct connection *connection)
{
	const char *end = strstr(connection->in, "\r\n\r\n");
	const char *length = strcasestr(connection->in, "\r\ncontent-length:");
	size_t body = length && end && length < end ? strtoul(length + 17, NULL, 10) : 0;

	return end && connection->len >= (size_t)(end + 4 - connection->in) + body;
}

static void hang_up(struct connection *connection)
{
	close(connection->fd);
	connection->fd = -1;
}

/* Counts a bet or a refund. Returns true if the call stays without an answer. */
static bool stays_silent(const struct connection *connection)
{
	refunds += strncmp(connection->in, "POST /betting-refund ", 21) == 0;
	if (!silent_each || strncmp(connection->in, "POST /betting ", 14) != 0 ||
		++bets % silent_each)
		return false;
	silent++;
	return true;
}

static void take(struct connection *connection)
{
	ssize_t got = read(connection->fd, connection->in + connection->len,
		REQUEST_MAX - connection->len);

	if (got <= 0 && (got == 0 || errno != EAGAIN)) {
		hang_up(connection);
		return;
	}
	connection->len += got > 0 ? (size_t)got : 0;
	connection->in[connection->len] = '\0';
	if (!is_whole(connection))
		return;
	connection->len = 0;
	if (strncmp(connection->in, "GET", 3) == 0) {
		report(connection);
		return;
	}
	if (stays_silent(connection))
		return;
	connection->due_s = now_s() + delay_s;
	ring[(first + under_way++) % CONNECTIONS_MAX] = connection;
	most = under_way > most ? under_way : most;
}

static void answer_due(void)
{
	while (under_way && ring[first]->due_s <= now_s()) {
		struct connection *connection = ring[first];

		first = (first + 1) % CONNECTIONS_MAX;
		under_way--;
		received++;
		if (connection->fd >= 0)
			put(connection, "{}");
		last_s = now_s();
	}
}

static void admit(int listener)
{
	struct connection *connection;
	struct epoll_event event = {.events = EPOLLIN};
	const int one = 1;
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (fd >= CONNECTIONS_MAX) {
		close(fd);
		return;
	}
	if (!connections[fd])
		connections[fd] = calloc(1, sizeof(*connection));
	connection = connections[fd];
	if (!connection)
		exit(EXIT_FAILURE);
	connection->fd = fd;
	connection->len = 0;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	event.data.ptr = connection;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_listener(const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int one = 1;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(listener, 1024) < 0) {
		perror("late_dealer");
		exit(EXIT_FAILURE);
	}
	return listener;
}

/* Waits for events until the next answer is due, to the microsecond. */
static int wait_events(struct epoll_event *events, int max)
{
	double left_s = under_way ? ring[first]->due_s - now_s() : 0;
	struct timespec left;

	if (left_s < 0)
		left_s = 0;
	left.tv_sec = (time_t)left_s;
	left.tv_nsec = (long)((left_s - (double)left.tv_sec) * 1e9);
	return epoll_pwait2(epoll, events, max, under_way ? &left : NULL, NULL);
}

int main(int argc, char **argv)
{
	struct epoll_event events[64], event = {.events = EPOLLIN, .data.ptr = NULL};
	int listener, count;

	if (argc != 3 && argc != 4)
		return EXIT_FAILURE;
	silent_each = argc == 4 ? (unsigned int)atoi(argv[3]) : 0;
	delay_s = atof(argv[2]) / 1000;
	listener = open_listener(argv[1]);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	puts("ready");
	fflush(stdout);
	for (;;) {
		count = wait_events(events, 64);
		for (int i = 0; i < count; i++) {
			if (!events[i].data.ptr)
				admit(listener);
			else if (((struct connection *)events[i].data.ptr)->fd >= 0)
				take(events[i].data.ptr);
		}
		answer_due();
	}
}
