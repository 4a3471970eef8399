#include "ledger/daemon/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"
#include "ledger/daemon/group_commit.h"
#include "state/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX  128
#define ACCEPTS_MAX 64
#define TICK_MS     1000

/* The receiver of the answer to the slot of the same index. */
struct pending {
	struct connection *connection;
	uint64_t tag;
};

struct server {
	struct ledger *ledger;
	const struct sockets *sockets;
	const struct server_options *options;
	int epoll;
	struct connection **connections; /* connection_count of connection_room */
	uint32_t connection_count;
	uint32_t connection_room;
	uint32_t edge_count;  /* all on edge.sock */
	uint32_t edge_served; /* of these, connections within the limit */
	uint32_t admin_count;
	struct slot *slots; /* queue_len of options->queue_max */
	struct pending *pending;
	uint32_t queue_len;
	uint32_t singles; /* queued commands of clients that send one at a time */
	uint64_t links;   /* numbers given to connections */
	struct group_commit group_commit;
	bool paused; /* not accepting until the next tick */
	bool stop;
};

static bool server_open(struct server *server)
{
	const struct server_options *options = server->options;
	const int fds[] = {server->sockets->edge, server->sockets->admin, options->stop_fd};

	server->connection_room = options->connections_max + SERVER_SURPLUS_MAX + SERVER_ADMIN_MAX;
	server->connections = calloc(server->connection_room, sizeof(*server->connections));
	server->slots = calloc(options->queue_max, sizeof(*server->slots));
	server->pending = calloc(options->queue_max, sizeof(*server->pending));
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!server->connections || !server->slots || !server->pending || server->epoll < 0)
		return false;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		/*
		 * The listeners and the stop descriptor carry 1, 2 and 3; connections carry their
		 * address.
		 */
		struct epoll_event event = {.events = EPOLLIN, .data.u64 = i + 1};

		if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fds[i], &event) < 0)
			return false;
	}
	return true;
}

static void server_close(struct server *server)
{
	for (uint32_t i = 0; i < server->connection_count; i++)
		connection_free(server->connections[i]);
	free(server->connections);
	free(server->slots);
	free(server->pending);
	if (server->epoll >= 0)
		close(server->epoll);
}

/*
 * Serves a surplus connection from now on if there is room. Workers keep their connections; a
 * worker that connected at a busy time must not stay refused.
 */
static void serve_surplus(struct server *server, struct connection *connection)
{
	if (!connection->surplus || server->edge_served >= server->options->connections_max)
		return;
	connection->surplus = false;
	server->edge_served++;
}

/* Accepts a new client. Returns false if there is no room or memory. */
static bool admit_connection(struct server *server, int fd, bool admin)
{
	struct connection *connection;
	struct epoll_event event = {.events = EPOLLIN};
	uint32_t *count = admin ? &server->admin_count : &server->edge_count;
	uint32_t max =
		admin ? SERVER_ADMIN_MAX : server->options->connections_max + SERVER_SURPLUS_MAX;

	if (*count >= max)
		return false;
	connection = connection_new(fd, admin);
	if (!connection)
		return false;
	connection->surplus = !admin;
	connection->link = ++server->links;
	event.data.ptr = connection;
	greeting_put(&connection->out, command_protocol(), server->ledger->derived.generation);
	if (connection->out.failed || epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		connection->fd = -1;
		connection_free(connection);
		return false;
	}
	serve_surplus(server, connection);
	connection_flush(connection, server->epoll, clock_boot_ms());
	server->connections[server->connection_count++] = connection;
	++*count;
	return true;
}

/*
 * Enables or disables the listeners. Without free descriptors the loop would spin on connections
 * that it cannot accept.
 */
static void listen_to_clients(struct server *server, bool listening)
{
	const int fds[] = {server->sockets->edge, server->sockets->admin};

	for (size_t i = 0; i < 2; i++) {
		struct epoll_event event = {.events = listening ? EPOLLIN : 0u, .data.u64 = i + 1};

		epoll_ctl(server->epoll, EPOLL_CTL_MOD, fds[i], &event);
	}
	server->paused = !listening;
}

/* After accept() failed, accepts no client until the next tick. Logs this once for that time. */
static void pause_accepting(struct server *server)
{
	log_line(LOG_LEVEL_ERROR, "accept_failed", "error=\"%s\"", strerror(errno));
	listen_to_clients(server, false);
}

static void accept_clients(struct server *server, bool admin)
{
	int listener = admin ? server->sockets->admin : server->sockets->edge;
	int fd;

	for (unsigned int i = 0; i < ACCEPTS_MAX; i++) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				pause_accepting(server);
			return;
		}
		if (!admit_connection(server, fd, admin))
			close(fd);
	}
}

/* Answers without the ledger. Allowed only while no frame of the connection is queued. */
static void answer_now(struct server *server, struct connection *connection,
	const struct frame_request *request, enum frame_outcome outcome)
{
	struct frame_answer answer = {
		.command = request->command,
		.outcome = (uint16_t)outcome,
		.tag = request->tag,
		.generation = server->ledger->derived.generation,
	};

	frame_close(&connection->out, frame_open_answer(&connection->out, &answer));
	if (outcome == FRAME_BUSY)
		server->ledger->figures.refused_busy++;
}

/* Queues a frame. Returns false if it does not decode. */
static bool enqueue_command(struct server *server, struct connection *connection,
	const struct frame_request *request)
{
	struct slot *slot = &server->slots[server->queue_len];
	struct bytes payload = request->payload;

	memset(&slot->cmd, 0, command_infos[request->command].cmd_size);
	if (!unpack_record(&payload, command_infos[request->command].cmd_fields, &slot->cmd) ||
		payload.len)
		return false;
	slot->command = (enum command)request->command;
	slot->peer_uid = connection->peer_uid;
	slot->link = connection->link;
	slot->payload_len = request->payload.len;
	memcpy(slot->request_id, request->request_id, sizeof(slot->request_id));
	server->pending[server->queue_len++] =
		(struct pending){.connection = connection, .tag = request->tag};
	server->singles += group_commit_is_single(&connection->several, connection->queued++ > 0);
	return true;
}

/* Returns true if another command of the connection may run now. */
static bool may_collect(const struct connection *connection)
{
	return !connection->dead && connection->queued < CONNECTION_QUEUED_MAX &&
		connection->out.len <= CONNECTION_OUT_ENOUGH;
}

/* Moves a connection's complete frames into the queue. */
static void collect_commands(struct server *server, struct connection *connection, int64_t now_ms)
{
	struct frame_request request;
	enum frame_outcome outcome;
	size_t before;

	connection->again = false;
	serve_surplus(server, connection);
	while (may_collect(connection)) {
		before = connection->taken;
		if (!connection_take(connection, &request, now_ms))
			return;
		if (request.command >= COMMAND_COUNT) {
			connection->dead = true;
			return;
		}
		outcome = FRAME_DONE;
		if (command_infos[request.command].socket == SOCKET_ADMIN && !connection->admin)
			outcome = FRAME_FORBIDDEN;
		else if (connection->surplus || server->queue_len == server->options->queue_max)
			outcome = FRAME_BUSY;
		if (outcome == FRAME_DONE) {
			connection->dead = !enqueue_command(server, connection, &request);
		} else if (connection->queued) {
			/* Answers keep the order of requests, so this one waits. */
			connection->taken = before;
			break;
		} else {
			answer_now(server, connection, &request, outcome);
		}
	}
	connection->again = !connection->dead;
}

/* Returns how many queued commands after @done may form one batch, also limited by their bytes. */
static uint32_t batch_of(const struct server *server, uint32_t done)
{
	const uint32_t left = server->queue_len - done;
	const uint32_t most = left < LEDGER_BATCH_MAX ? left : LEDGER_BATCH_MAX;
	uint32_t count = 0;
	size_t bytes = 0;

	while (count < most && bytes < LEDGER_BATCH_BYTES)
		bytes += server->slots[done + count++].payload_len;
	return count;
}

/* Runs the queue in batches and writes the answers. Returns false if a batch was lost. */
static bool run_queue(struct server *server)
{
	uint32_t done = 0;

	while (done < server->queue_len) {
		const struct moment now = clock_now();
		uint32_t count = batch_of(server, done);

		if (ledger_run_some(server->ledger, server->slots + done, &count, &now) !=
			STATUS_OK)
			return false;
		for (uint32_t i = done; i < done + count; i++) {
			struct connection *connection = server->pending[i].connection;

			connection->queued--;
			if (connection->dead)
				continue;
			ledger_answer(server->ledger, &server->slots[i], server->pending[i].tag,
				&connection->out);
			if (!connection->queued || connection->out.len > FRAME_MAX)
				connection_flush(connection, server->epoll, clock_boot_ms());
		}
		done += count;
	}
	server->queue_len = server->singles = 0;
	return true;
}

/*
 * Closes the dead connections. Returns true if complete frames are left that epoll will not
 * report.
 */
static bool remove_dead(struct server *server)
{
	bool again = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < server->connection_count; i++) {
		struct connection *connection = server->connections[i];

		if (connection->dead) {
			--*(connection->admin ? &server->admin_count : &server->edge_count);
			server->edge_served -= !connection->admin && !connection->surplus;
			ledger_link_gone(server->ledger, connection->link);
			connection_free(connection);
			continue;
		}
		again |= connection->again && may_collect(connection);
		server->connections[kept++] = connection;
	}
	server->connection_count = kept;
	return again;
}

static void cut_connection(struct server *server, struct connection *client, const char *reason)
{
	client->dead = true;
	server->ledger->figures.clients_cut++;
	log_line(LOG_LEVEL_WARNING, "client_cut", "uid=%u reason=%s", client->peer_uid, reason);
}

/*
 * Closes the connections that exceed the lease of a callback by far, so that other workers may
 * take over.
 */
static void cut_overdue_senders(struct server *server, int64_t now_ms)
{
	uint64_t link = ledger_link_overdue(server->ledger, now_ms);

	if (!link)
		return;
	for (uint32_t i = 0; i < server->connection_count; i++) {
		struct connection *connection = server->connections[i];

		if (connection->link != link)
			continue;
		/* The unread bytes may contain the outcome of the callback. */
		if (connection_has_news(connection))
			return;
		if (!connection->dead)
			cut_connection(server, connection, "lease");
	}
	/* Its callbacks are free from now on; one connection is closed each tick. */
	ledger_link_gone(server->ledger, link);
}

static void cut_overdue_clients(struct server *server, int64_t now_ms)
{
	for (uint32_t i = 0; i < server->connection_count; i++) {
		if (connection_overdue(server->connections[i], now_ms))
			cut_connection(server, server->connections[i], "overdue");
	}
}

static void server_tick(struct server *server, int64_t now_ms)
{
	struct ledger *ledger = server->ledger;
	bool low;

	cut_overdue_clients(server, now_ms);
	cut_overdue_senders(server, now_ms);
	if (server->paused)
		listen_to_clients(server, true);
	ledger->figures.connections = server->connection_count;
	ledger->figures.disk_free_bytes = disk_free_bytes(server->options->state_directory);
	low = ledger->figures.disk_free_bytes < server->options->low_water_bytes;
	if (low != ledger->storage_low)
		log_line(LOG_LEVEL_WARNING, low ? "storage_low" : "storage_recovered",
			"free_bytes=%llu", (unsigned long long)ledger->figures.disk_free_bytes);
	ledger->storage_low = low;
	disk_ballast_make(server->options->state_directory, server->options->ballast_bytes,
		server->options->low_water_bytes);
}

static void on_event(struct server *server, const struct epoll_event *event, int64_t now_ms)
{
	struct connection *connection = event->data.ptr;

	switch (event->data.u64) {
	case 1:
	case 2:
		accept_clients(server, event->data.u64 == 2);
		return;
	case 3:
		server->stop = true;
		return;
	}
	if (connection->waiting_to_write) {
		if (event->events & (EPOLLERR | EPOLLHUP))
			connection->dead = true;
		else
			connection_flush(connection, server->epoll, now_ms);
	} else if (!connection->queued) {
		/* Queued frames point into the bytes that were read. */
		connection_read(connection);
		connection->again = true;
	}
}

/*
 * Reads data that arrives within @timeout_ms and frames that were left. Returns the number of
 * events.
 */
static int take_in(struct server *server, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(server->epoll, events, EVENTS_MAX, timeout_ms);
	int64_t now_ms = clock_boot_ms();

	for (int i = 0; i < count; i++)
		on_event(server, &events[i], now_ms);
	for (uint32_t i = 0; i < server->connection_count; i++) {
		struct connection *connection = server->connections[i];

		if (!connection->again || connection->dead)
			continue;
		collect_commands(server, connection, now_ms);
		if (connection->dead)
			cut_connection(server, connection, "garbage");
		else if (connection->out.len && !connection->queued)
			connection_flush(connection, server->epoll, now_ms);
	}
	return count;
}

/* One round of the loop: new data, remaining frames, the batches, dead connections. */
static bool round_once(struct server *server, int timeout_ms, bool *again)
{
	int count = take_in(server, timeout_ms);
	bool waits = server->options->gather_us &&
		group_commit_wants(&server->group_commit, server->slots, server->queue_len,
			server->singles);
	struct moment now;

	if (waits) {
		clock_sleep_us(server->options->gather_us);
		take_in(server, 0);
	}
	group_commit_learn(&server->group_commit, server->queue_len, waits);
	if (!run_queue(server))
		return false;
	*again = remove_dead(server);
	now = clock_now();
	return retention_use_time(&server->ledger->retention, timeout_ms > 0 && count <= 0, &now);
}

enum server_end server_run(struct ledger *ledger, const struct sockets *sockets,
	const struct server_options *options)
{
	struct server server = {.ledger = ledger,
		.sockets = sockets,
		.options = options,
		.epoll = -1};
	enum server_end end = SERVER_STOPPED;
	int64_t next_tick_ms = 0, now_ms;
	bool again = false;
	int wait_ms;

	ledger->figures.disk_low_water_bytes = options->low_water_bytes;
	if (!server_open(&server)) {
		server_close(&server);
		return SERVER_FAILED;
	}
	while (!server.stop && !ledger->resume_asked) {
		now_ms = clock_boot_ms();
		if (now_ms >= next_tick_ms) {
			server_tick(&server, now_ms);
			next_tick_ms = now_ms + TICK_MS;
		}
		wait_ms =
			retention_wait_ms(&ledger->retention, now_ms, (int)(next_tick_ms - now_ms));
		if (!round_once(&server, again ? 0 : wait_ms, &again)) {
			end = SERVER_LOST;
			break;
		}
	}
	if (ledger->resume_asked)
		end = SERVER_RESUMED;
	server_close(&server);
	return end;
}
