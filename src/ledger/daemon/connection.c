#include "ledger/daemon/connection.h"

#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (16 * 1024)

struct connection *connection_new(int fd, bool admin, const struct role_groups *groups)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->fd = fd;
	connection->admin = admin;
	connection->identity = identity_of(fd, groups);
	buffer_init(&connection->in, FRAME_REQUEST_MAX + READ_SIZE);
	buffer_init(&connection->out, CONNECTION_OUT_MAX);
	return connection;
}

void connection_free(struct connection *connection)
{
	close(connection->fd);
	buffer_free(&connection->in);
	buffer_free(&connection->out);
	free(connection);
}

bool connection_is_staff(const struct connection *connection)
{
	return connection->admin && connection->identity.role != ROLE_ADMIN;
}

void connection_read(struct connection *connection)
{
	uint8_t *to;
	ssize_t got;

	buffer_consume(&connection->in, connection->taken);
	connection->taken = 0;
	/* The buffer is full of complete frames; run these first. */
	if (connection->in.len >= FRAME_REQUEST_MAX)
		return;
	/* Release the memory that a large frame took. */
	if (!connection->in.len && connection->in.cap > 2 * FRAME_MAX)
		buffer_free(&connection->in);
	to = buffer_reserve(&connection->in, READ_SIZE);
	if (!to) {
		connection->dead = true;
		return;
	}
	do
		got = recv(connection->fd, to, READ_SIZE, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		connection->in.len += (size_t)got;
	else if (got == 0 || errno != EAGAIN)
		connection->dead = true;
}

void connection_refuse_bytes(struct connection *connection)
{
	connection->dead = connection->garbage = true;
}

bool connection_take_hello(struct connection *connection)
{
	struct bytes left = {connection->in.data, (uint32_t)connection->in.len};
	struct hello hello;
	size_t size;

	switch (hello_get(left, &hello, &size)) {
	case FRAME_COMPLETE:
		connection->taken = size;
		connection->unnamed = false;
		connection->partial_since_ms = 0;
		connection->admin = hello.socket == SOCKET_ADMIN;
		connection->desk = hello.socket == SOCKET_DESK;
		connection->identity = (struct client_identity){hello.uid, hello.role};
		text_copy(connection->host, sizeof(connection->host), hello.member);
		return true;
	case FRAME_INCOMPLETE:
		return false;
	case FRAME_GARBAGE:
		break;
	}
	connection_refuse_bytes(connection);
	return false;
}

bool connection_take(struct connection *connection, struct frame_request *request, int64_t now_ms)
{
	struct bytes left = {connection->in.data + connection->taken,
		(uint32_t)(connection->in.len - connection->taken)};
	size_t size;

	if (!left.len) {
		connection->partial_since_ms = 0;
		return false;
	}
	switch (frame_get_request(left, request, &size)) {
	case FRAME_COMPLETE:
		connection->taken += size;
		connection->partial_since_ms = 0;
		return true;
	case FRAME_INCOMPLETE:
		if (!connection->partial_since_ms)
			connection->partial_since_ms = now_ms;
		return false;
	case FRAME_GARBAGE:
		break;
	}
	connection_refuse_bytes(connection);
	return false;
}

/* While answers wait, read nothing more: the client must read first. */
static void watch_connection(struct connection *connection, int epoll)
{
	const bool waits = connection->out.len > 0;
	struct epoll_event event = {.events = waits ? EPOLLOUT : EPOLLIN, .data.ptr = connection};

	if (connection->dead || waits == connection->waiting_to_write)
		return;
	connection->waiting_to_write = waits;
	epoll_ctl(epoll, EPOLL_CTL_MOD, connection->fd, &event);
}

void connection_flush(struct connection *connection, int epoll, int64_t now_ms)
{
	ssize_t sent;

	if (connection->out.failed)
		connection->dead = true;
	while (connection->out.len && !connection->dead) {
		sent = send(connection->fd, connection->out.data, connection->out.len,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent > 0)
			buffer_consume(&connection->out, (size_t)sent);
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			connection->dead = true;
	}
	/* Release the memory that many large answers took. */
	if (!connection->out.len && connection->out.cap > 2 * FRAME_MAX)
		buffer_free(&connection->out);
	if (!connection->out.len)
		connection->stuck_since_ms = 0;
	else if (!connection->stuck_since_ms)
		connection->stuck_since_ms = now_ms;
	watch_connection(connection, epoll);
}

bool connection_has_news(const struct connection *connection)
{
	struct pollfd state = {.fd = connection->fd,
		.events = connection->waiting_to_write ? POLLOUT : POLLIN};

	return poll(&state, 1, 0) > 0;
}

static bool is_late(int64_t since_ms, int64_t now_ms)
{
	return since_ms && now_ms - since_ms > CONNECTION_PATIENCE_MS;
}

bool connection_overdue(const struct connection *connection, int64_t now_ms)
{
	return (is_late(connection->partial_since_ms, now_ms) ||
		       is_late(connection->stuck_since_ms, now_ms)) &&
		!connection_has_news(connection);
}

bool connection_carries(const struct connection *connection, enum command_socket socket)
{
	return socket == SOCKET_EDGE || (socket == SOCKET_ADMIN && connection->admin);
}
