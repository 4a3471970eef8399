#include "ledger/daemon/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"
#include "ledger/daemon/admit.h"
#include "ledger/daemon/relay_board.h"
#include "ledger/replay.h"
#include "state/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 128
#define TICK_MS    1000
/*
 * Pause between two looks for due callbacks while a sweeper waits for one. A look costs a few
 * microseconds for each hundred dealers.
 */
#define DUE_LOOK_MS 5

static bool server_open(struct server *server)
{
	const struct server_options *options = server->options;
	const int fds[] = {server->sockets->edge, server->sockets->admin, options->stop_fd,
		server->sockets->peer, server->sockets->desk};

	server->connection_room = options->connections_max + SERVER_SURPLUS_MAX + SERVER_ADMIN_MAX +
		SERVER_UNNAMED_MAX;
	server->connections = calloc(server->connection_room, sizeof(*server->connections));
	server->slots = calloc(options->queue_max, sizeof(*server->slots));
	server->pending = calloc(options->queue_max, sizeof(*server->pending));
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!server->connections || !server->slots || !server->pending || server->epoll < 0)
		return false;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		/* The listeners and the stop descriptor carry 1 to 5; connections their address. */
		struct epoll_event event = {.events = EPOLLIN, .data.u64 = i + 1};

		if (fds[i] >= 0 && epoll_ctl(server->epoll, EPOLL_CTL_ADD, fds[i], &event) < 0)
			return false;
	}
	return true;
}

static void server_close(struct server *server)
{
	for (uint32_t i = 0; i < server->connection_count; i++)
		connection_free(server->connections[i]);
	desk_loop_close(&server->desk);
	free(server->connections);
	free(server->slots);
	free(server->pending);
	if (server->epoll >= 0)
		close(server->epoll);
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

/* Holds CALLBACK_WAIT back. */
static void begin_wait(struct server *server, struct connection *connection, uint64_t tag)
{
	connection->waits_for_due = true;
	connection->wait_tag = tag;
	server->due_waiters++;
	server->due_may_be = true;
}

/* Answers the CALLBACK_WAIT that was held back, if there is one. */
static void end_wait(struct server *server, struct connection *connection)
{
	const struct callback_wait_result result = {.verdict = {.refusal = REFUSAL_NONE}};
	const struct frame_answer answer = {.command = COMMAND_CALLBACK_WAIT,
		.outcome = FRAME_DONE,
		.tag = connection->wait_tag,
		.generation = server->ledger->derived.generation};
	size_t start;

	if (!connection->waits_for_due)
		return;
	connection->waits_for_due = false;
	server->due_waiters--;
	start = frame_open_answer(&connection->out, &answer);
	pack_record(&connection->out, callback_wait_result_fields, &result);
	frame_close(&connection->out, start);
}

/* Answers the waiting sweepers if a callback can be claimed. */
static void wake_sweepers(struct server *server, int64_t now_ms)
{
	if (!server->due_waiters || !server->due_may_be || now_ms < server->due_look_ms)
		return;
	server->due_may_be = false;
	server->due_look_ms = now_ms + DUE_LOOK_MS;
	if (!ledger_has_due(server->ledger, now_ms))
		return;
	for (uint32_t i = 0; i < server->connection_count; i++) {
		struct connection *connection = server->connections[i];

		if (!connection->waits_for_due || connection->dead)
			continue;
		end_wait(server, connection);
		connection_flush(connection, server->epoll, now_ms);
	}
}

enum queued { QUEUED, QUEUE_GARBAGE, QUEUE_REFUSED };

/* Queues a frame, or answers it if the peer's role does not allow it. */
static enum queued enqueue_command(struct server *server, struct connection *connection,
	const struct frame_request *request)
{
	struct slot *slot = &server->slots[server->queue_len];
	struct bytes payload = request->payload;

	memset(&slot->cmd, 0, command_infos[request->command].cmd_size);
	if (!unpack_record(&payload, command_infos[request->command].cmd_fields, &slot->cmd) ||
		payload.len)
		return QUEUE_GARBAGE;
	if (connection_is_staff(connection)) {
		if (!role_may(connection->identity.role, request->command, &slot->cmd)) {
			identity_refuse(&connection->identity, request, &slot->cmd,
				server->ledger->derived.generation, &connection->out);
			return QUEUE_REFUSED;
		}
		identity_sign(&connection->identity, request->command, &slot->cmd);
	}
	slot->command = (enum command)request->command;
	slot->peer_uid = connection->identity.uid;
	slot->role = connection->admin ? connection->identity.role : ROLE_NONE;
	slot->link = connection->link;
	slot->payload_len = request->payload.len;
	memcpy(slot->request_id, request->request_id, sizeof(slot->request_id));
	server->pending[server->queue_len++] =
		(struct pending){.connection = connection, .tag = request->tag};
	server->singles += group_commit_is_single(&connection->several, connection->queued++ > 0);
	return QUEUED;
}

/* Returns true if another command of the connection may run now. */
static bool may_collect(const struct connection *connection)
{
	const unsigned int most = connection_is_staff(connection) ? CONNECTION_STAFF_QUEUED_MAX
								  : CONNECTION_QUEUED_MAX;

	return !connection->dead && connection->queued < most &&
		connection->out.len <= CONNECTION_OUT_ENOUGH;
}

/* Moves a connection's complete frames into the queue. */
static void collect_commands(struct server *server, struct connection *connection, int64_t now_ms)
{
	struct frame_request request;
	enum frame_outcome outcome;
	size_t before;

	connection->again = false;
	if (connection->unnamed)
		admit_named(server, connection, now_ms);
	if (connection->unnamed || connection->desk || connection->dead)
		return;
	admit_surplus(server, connection);
	while (may_collect(connection)) {
		before = connection->taken;
		if (!connection_take(connection, &request, now_ms))
			return;
		if (request.command >= COMMAND_COUNT ||
			(request.payload.len > FRAME_MAX &&
				request.command != COMMAND_SETTLE_BATCH)) {
			connection_refuse_bytes(connection);
			return;
		}
		/* Answers keep the order of requests. */
		end_wait(server, connection);
		if (request.command == COMMAND_CALLBACK_WAIT && !connection->queued &&
			!connection->surplus && !connection_is_staff(connection)) {
			begin_wait(server, connection, request.tag);
			continue;
		}
		outcome = FRAME_DONE;
		if (!connection_carries(connection, command_infos[request.command].socket))
			outcome = FRAME_FORBIDDEN;
		else if (connection->surplus || server->queue_len == server->options->queue_max)
			outcome = FRAME_BUSY;
		if (outcome == FRAME_DONE) {
			if (enqueue_command(server, connection, &request) == QUEUE_GARBAGE)
				connection_refuse_bytes(connection);
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

static bool is_fenced(const struct ledger *ledger)
{
	return ledger->store && ledger->store->fenced;
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
			if (is_fenced(server->ledger))
				return false;
			if (!connection->queued || connection->out.len > FRAME_MAX)
				connection_flush(connection, server->epoll, clock_boot_ms());
		}
		done += count;
	}
	server->due_may_be |= server->queue_len > 0;
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
	uint32_t kept = 0, max;

	for (uint32_t i = 0; i < server->connection_count; i++) {
		struct connection *connection = server->connections[i];

		if (connection->dead) {
			--*admit_count(server, connection, &max);
			server->staff_count -=
				!connection->unnamed && connection_is_staff(connection);
			server->edge_served -=
				!connection->unnamed && !connection->admin && !connection->surplus;
			server->due_waiters -= connection->waits_for_due;
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
	log_line(LOG_LEVEL_WARNING, "client_cut", "uid=%u host=%s reason=%s", client->identity.uid,
		client->host[0] ? client->host : "-", reason);
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

static void read_relay_counts(const struct server *server)
{
	struct status_result *figures = &server->ledger->figures;
	const struct relay_counts *counts;

	if (!server->sockets->relay)
		return;
	counts = relay_board_counts(server->sockets->relay);
	figures->relayed = counts->inward;
	figures->relayed_open = counts->inward_open;
	figures->peers_refused = 0;
	for (unsigned int i = 0; i < RELAY_REFUSAL_COUNT; i++)
		figures->peers_refused += counts->refused[i];
}

/* Samples the workers' counters, whose file may be missing. */
static void sample_activity(const struct server *server, int64_t now_ms)
{
	static struct counters counters;

	if (server->ledger->metrics && server->options->counters_path &&
		counters_copy(server->options->counters_path, &counters))
		activity_take(&server->ledger->metrics->activity, &counters, now_ms);
}

static void server_tick(struct server *server, int64_t now_ms)
{
	struct ledger *ledger = server->ledger;
	const struct moment now = clock_now();
	bool low;

	refused_log_step(&ledger->refused_log, &now);
	cut_overdue_clients(server, now_ms);
	cut_overdue_senders(server, now_ms);
	desk_loop_tick(&server->desk, now_ms);
	if (server->paused)
		admit_listen(server, true);
	ledger->figures.connections = server->connection_count;
	read_relay_counts(server);
	sample_activity(server, now_ms);
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
		admit_clients(server, server->sockets->edge);
		return;
	case 2:
		admit_clients(server, server->sockets->admin);
		return;
	case 3:
		server->stop = true;
		return;
	case 4:
		admit_clients(server, server->sockets->peer);
		return;
	case 5:
		if (!desk_loop_accept(&server->desk, server->sockets->desk, server->epoll,
			    server->ledger->derived.generation, &server->links))
			admit_pause(server);
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
		/* A client that has gone is closed, too, but did nothing wrong. */
		if (connection->garbage)
			cut_connection(server, connection, "garbage");
		else if (connection->out.len && !connection->queued)
			connection_flush(connection, server->epoll, now_ms);
	}
	return count;
}

/* Returns @wait_ms, or less if a look for due callbacks comes sooner. */
static int wait_for_look_ms(const struct server *server, int64_t now_ms, int wait_ms)
{
	int64_t look_ms = server->due_look_ms - now_ms;

	if (!server->due_waiters || !server->due_may_be || look_ms >= wait_ms)
		return wait_ms;
	return look_ms > 0 ? (int)look_ms : 0;
}

/* Returns @wait_ms, or less if the store must be vouched for sooner. */
static int wait_for_beat_ms(const struct store *store, int64_t now_ms, int wait_ms)
{
	const int64_t left_ms =
		store && store->vouch ? store->vouched_ms + STORE_BEAT_MS - now_ms : wait_ms;

	return left_ms >= wait_ms ? wait_ms : left_ms > 0 ? (int)left_ms : 0;
}

/* An idle ledger commits now and then, so that no other one takes over. */
static bool beat_store(struct store *store)
{
	return !store || !store->vouch || store->vouch(store, STORE_BEAT_MS - 1) == STATUS_OK;
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
	if (server->queue_len)
		share_others(&server->desk.share, clock_boot_ns() / 1000);
	if (!run_queue(server))
		return false;
	if (!beat_store(server->ledger->store))
		return false;
	now = clock_now();
	wake_sweepers(server, now.boot_ms);
	if (!desk_loop_serve(&server->desk, server->ledger, server->epoll))
		return false;
	*again = remove_dead(server);
	return replay_use_time(server->ledger, timeout_ms > 0 && count <= 0, &now) &&
		retention_use_time(&server->ledger->retention, timeout_ms > 0 && count <= 0, &now);
}

enum server_end server_run(struct ledger *ledger, const struct sockets *sockets,
	const struct server_options *options)
{
	struct server server = {.ledger = ledger,
		.sockets = sockets,
		.options = options,
		.links = ledger->store ? ledger->store->epoch << 32 : 0,
		.desk = options->desk,
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
		wait_ms = replay_wait_ms(ledger, now_ms, wait_ms);
		wait_ms = wait_for_look_ms(&server, now_ms, wait_ms);
		wait_ms = wait_for_beat_ms(ledger->store, now_ms, wait_ms);
		wait_ms = desk_loop_wait_ms(&server.desk, wait_ms);
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
