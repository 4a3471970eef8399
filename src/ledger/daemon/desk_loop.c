#include "ledger/daemon/desk_loop.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int64_t now_us(void)
{
	return clock_boot_ns() / 1000;
}

void desk_loop_close(struct desk_loop *loop)
{
	for (uint32_t i = 0; i < loop->count; i++)
		connection_free(loop->connections[i]);
	loop->count = 0;
}

/* Returns false if there is no room or no memory. */
static bool admit_desk(struct desk_loop *loop, int fd, int epoll, uint64_t generation,
	uint64_t *links)
{
	static const struct role_groups none = {(gid_t)-1, (gid_t)-1};
	struct connection *connection;
	struct epoll_event event = {.events = EPOLLIN};

	if (loop->count == DESK_CONNECTIONS_MAX)
		return false;
	connection = connection_new(fd, false, &none);
	if (!connection)
		return false;
	connection->link = ++*links;
	event.data.ptr = connection;
	greeting_put(&connection->out, command_protocol(), generation);
	if (connection->out.failed || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		connection->fd = -1;
		connection_free(connection);
		return false;
	}
	connection_flush(connection, epoll, clock_boot_ms());
	loop->connections[loop->count++] = connection;
	return true;
}

bool desk_loop_take(struct desk_loop *loop, struct connection *connection, int epoll,
	uint64_t generation, int64_t now_ms)
{
	if (loop->count == DESK_CONNECTIONS_MAX)
		return false;
	greeting_put(&connection->out, command_protocol(), generation);
	connection_flush(connection, epoll, now_ms);
	connection->again = true;
	loop->connections[loop->count++] = connection;
	return true;
}

bool desk_loop_accept(struct desk_loop *loop, int listener, int epoll, uint64_t generation,
	uint64_t *links)
{
	int fd;

	for (unsigned int i = 0; i < 2 * DESK_CONNECTIONS_MAX; i++) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
		if (!admit_desk(loop, fd, epoll, generation, links))
			close(fd);
	}
	return true;
}

bool desk_loop_pending(const struct desk_loop *loop)
{
	for (uint32_t i = 0; i < loop->count; i++) {
		const struct connection *connection = loop->connections[i];

		if (connection->again && !connection->dead && !connection->out.len)
			return true;
	}
	return false;
}

/* Takes the next frame of the connections in turn. Returns its connection, or NULL. */
static struct connection *take_frame(struct desk_loop *loop, struct frame_request *request)
{
	for (uint32_t i = 0; i < loop->count; i++) {
		struct connection *connection = loop->connections[(loop->turn + i) % loop->count];

		if (!connection->again || connection->dead || connection->out.len)
			continue;
		if (connection_take(connection, request, clock_boot_ms())) {
			loop->turn = (loop->turn + i + 1) % loop->count;
			return connection;
		}
		connection->again = false;
	}
	return NULL;
}

/* Decodes the command. Returns false if it is malformed. */
static bool decode_command(const struct connection *connection, const struct frame_request *request,
	struct slot *slot)
{
	struct bytes payload = request->payload;

	memset(slot, 0, sizeof(*slot));
	if (request->command >= COMMAND_COUNT || payload.len > FRAME_MAX ||
		!unpack_record(&payload, command_infos[request->command].cmd_fields, &slot->cmd) ||
		payload.len)
		return false;
	slot->command = (enum command)request->command;
	slot->peer_uid = connection->identity.uid;
	slot->link = connection->link;
	slot->payload_len = request->payload.len;
	memcpy(slot->request_id, request->request_id, sizeof(slot->request_id));
	return true;
}

/*
 * Ignores the operator that the console's frame names: the audit gets the name of the session, and
 * the user of the console's process.
 */
static void sign_command(const struct connection *connection, struct slot *slot)
{
	const struct client_identity console = {.uid = connection->identity.uid, .role = ROLE_NONE};

	identity_sign(&console, slot->command, &slot->cmd);
}

/* Answers a frame that the ledger does not execute. */
static void answer_slot(struct connection *connection, const struct slot *slot, uint64_t tag,
	enum frame_outcome outcome, uint64_t generation)
{
	const struct frame_answer answer = {.command = (uint16_t)slot->command,
		.outcome = (uint16_t)outcome,
		.tag = tag,
		.generation = generation};
	size_t start = frame_open_answer(&connection->out, &answer);

	if (outcome == FRAME_DONE)
		pack_record(&connection->out, command_infos[slot->command].result_fields,
			&slot->result);
	frame_close(&connection->out, start);
}

/* Checks the command in @slot, executes it and appends the answer. Returns false if it was lost. */
static bool execute_frame(struct desk_loop *loop, struct ledger *ledger,
	struct connection *connection, const struct frame_request *request, struct slot *slot)
{
	const struct moment now = clock_now();

	loop->desk.operators = ledger->store ? &ledger->derived.operators : NULL;
	switch (desk_admit(&loop->desk, request, slot, &now)) {
	case DESK_FORBIDDEN:
		answer_slot(connection, slot, request->tag, FRAME_FORBIDDEN,
			ledger->derived.generation);
		return true;
	case DESK_ANSWERED:
		answer_slot(connection, slot, request->tag, FRAME_DONE, ledger->derived.generation);
		return true;
	case DESK_RUN:
		break;
	}
	sign_command(connection, slot);
	if (ledger_run(ledger, slot, 1, &now) != STATUS_OK)
		return false;
	desk_executed(&loop->desk, slot, &now);
	ledger_answer(ledger, slot, request->tag, &connection->out);
	return true;
}

/* Removes the dead connections. */
static void remove_dead_desks(struct desk_loop *loop, struct ledger *ledger)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < loop->count; i++) {
		struct connection *connection = loop->connections[i];

		if (!connection->dead) {
			loop->connections[kept++] = connection;
			continue;
		}
		ledger_link_gone(ledger, connection->link);
		connection_free(connection);
	}
	loop->count = kept;
	if (loop->turn >= kept)
		loop->turn = 0;
}

/* Takes one frame and serves it. Returns false if its batch was lost. */
static bool serve_frame(struct desk_loop *loop, struct ledger *ledger, int epoll)
{
	static struct slot slot;
	const int64_t begun_us = now_us();
	struct frame_request request;
	struct connection *connection;
	bool kept = true;

	if (share_wait_us(&loop->share, begun_us) > 0)
		return true;
	connection = take_frame(loop, &request);
	if (!connection)
		return true;
	if (decode_command(connection, &request, &slot))
		kept = execute_frame(loop, ledger, connection, &request, &slot);
	else
		connection->dead = true;
	if (kept)
		connection_flush(connection, epoll, clock_boot_ms());
	share_spend(&loop->share, now_us(), now_us() - begun_us);
	explicit_bzero(&slot.cmd, sizeof(slot.cmd));
	return kept;
}

bool desk_loop_serve(struct desk_loop *loop, struct ledger *ledger, int epoll)
{
	const bool kept = serve_frame(loop, ledger, epoll);

	remove_dead_desks(loop, ledger);
	return kept;
}

int desk_loop_wait_ms(const struct desk_loop *loop, int wait_ms)
{
	int64_t left_ms;

	if (!desk_loop_pending(loop))
		return wait_ms;
	left_ms = (share_wait_us(&loop->share, now_us()) + 999) / 1000;
	return left_ms < wait_ms ? (int)left_ms : wait_ms;
}

void desk_loop_tick(struct desk_loop *loop, int64_t now_ms)
{
	/* Without a front secret, each frame is refused: also those that other hosts relay. */
	if (loop->front_file && loop->front_file[0])
		front_read(&loop->desk.front, loop->front_file);
	for (uint32_t i = 0; i < loop->count; i++) {
		struct connection *connection = loop->connections[i];

		if (connection_overdue(connection, now_ms)) {
			log_line(LOG_LEVEL_WARNING, "client_cut", "uid=%u reason=overdue",
				connection->identity.uid);
			connection->dead = true;
		}
	}
}
