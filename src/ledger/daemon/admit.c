#include "ledger/daemon/admit.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_MAX 64

void admit_surplus(struct server *server, struct connection *connection)
{
	if (!connection->surplus || server->edge_served >= server->options->connections_max)
		return;
	connection->surplus = false;
	server->edge_served++;
}

uint32_t *admit_count(struct server *server, const struct connection *connection, uint32_t *max)
{
	if (connection->unnamed) {
		*max = SERVER_UNNAMED_MAX;
		return &server->unnamed_count;
	}
	*max = connection->admin ? SERVER_ADMIN_MAX
				 : server->options->connections_max + SERVER_SURPLUS_MAX;
	return connection->admin ? &server->admin_count : &server->edge_count;
}

/*
 * Returns true if the person on admin.sock may stay. The mode and the list of the file decided whether it
 * could connect; the ledger may have other groups.
 */
static bool may_stay(const struct server *server, const struct connection *connection)
{
	return !connection_is_staff(connection) ||
		(connection->identity.role != ROLE_NONE && server->staff_count < SERVER_STAFF_MAX);
}

/* Begins to serve a client whose socket is known. Returns false if there is no room. */
static bool greet_client(struct server *server, struct connection *connection)
{
	uint32_t max, *count = admit_count(server, connection, &max);

	if (*count >= max || !may_stay(server, connection))
		return false;
	++*count;
	server->staff_count += connection_is_staff(connection);
	connection->surplus = !connection->admin;
	greeting_put(&connection->out, command_protocol(), server->ledger->derived.generation);
	admit_surplus(server, connection);
	return true;
}

/* Accepts a new client. Returns false if there is no room or memory. */
static bool admit_connection(struct server *server, int fd, int listener)
{
	struct connection *connection =
		connection_new(fd, listener == server->sockets->admin, &server->sockets->groups);
	struct epoll_event event = {.events = EPOLLIN};
	uint32_t max, *count;
	bool admitted = false;

	if (!connection)
		return false;
	connection->unnamed = listener == server->sockets->peer;
	connection->link = ++server->links;
	event.data.ptr = connection;
	count = admit_count(server, connection, &max);
	if (connection->unnamed) {
		/* A hello that does not come is like a frame that does not end. */
		connection->partial_since_ms = clock_boot_ms();
		admitted = *count < max;
		*count += admitted;
	} else {
		admitted = greet_client(server, connection);
	}
	if (admitted &&
		(connection->out.failed ||
			epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0)) {
		server->edge_served -=
			!connection->unnamed && !connection->admin && !connection->surplus;
		server->staff_count -= !connection->unnamed && connection_is_staff(connection);
		--*count;
		admitted = false;
	}
	if (!admitted) {
		connection->fd = -1;
		connection_free(connection);
		return false;
	}
	connection_flush(connection, server->epoll, clock_boot_ms());
	server->connections[server->connection_count++] = connection;
	return true;
}

/* Gives a connection that another host relays from its desk.sock to the part of the loop that serves those. */
static void hand_to_desk(struct server *server, struct connection *connection, int64_t now_ms)
{
	uint32_t at = 0;

	if (!desk_loop_take(&server->desk, connection, server->epoll,
		    server->ledger->derived.generation, now_ms)) {
		/* No room: it is closed like one without a name. */
		connection->unnamed = connection->dead = true;
		return;
	}
	server->unnamed_count--;
	while (server->connections[at] != connection)
		at++;
	server->connections[at] = server->connections[--server->connection_count];
}

void admit_named(struct server *server, struct connection *connection, int64_t now_ms)
{
	if (!connection_take_hello(connection))
		return;
	if (connection->desk) {
		hand_to_desk(server, connection, now_ms);
		return;
	}
	server->unnamed_count--;
	if (!greet_client(server, connection)) {
		/* Closed without being counted. */
		server->unnamed_count++;
		connection->unnamed = connection->dead = true;
		return;
	}
	connection_flush(connection, server->epoll, now_ms);
}

void admit_listen(struct server *server, bool listening)
{
	const int fds[] = {server->sockets->edge, server->sockets->admin, -1, server->sockets->peer,
		server->sockets->desk};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		struct epoll_event event = {.events = listening ? EPOLLIN : 0u, .data.u64 = i + 1};

		if (fds[i] >= 0)
			epoll_ctl(server->epoll, EPOLL_CTL_MOD, fds[i], &event);
	}
	server->paused = !listening;
}

void admit_pause(struct server *server)
{
	log_line(LOG_LEVEL_ERROR, "accept_failed", "error=\"%s\"", strerror(errno));
	admit_listen(server, false);
}

void admit_clients(struct server *server, int listener)
{
	int fd;

	for (unsigned int i = 0; i < ACCEPTS_MAX; i++) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				admit_pause(server);
			return;
		}
		if (!admit_connection(server, fd, listener))
			close(fd);
	}
}
