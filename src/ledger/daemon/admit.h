/*
 * admit - the clients of the loop of server.c: which are accepted, counted and greeted.
 *
 * Also has the state of the loop, struct server, for these two files.
 */
#ifndef LEDGER_DAEMON_ADMIT_H
#define LEDGER_DAEMON_ADMIT_H

#include "ledger/daemon/desk_loop.h"
#include "ledger/daemon/group_commit.h"
#include "ledger/daemon/server.h"

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
	uint32_t staff_count;   /* of these, below ROLE_ADMIN */
	uint32_t unnamed_count; /* on peer.sock, before the hello */
	struct slot *slots;     /* queue_len of options->queue_max */
	struct pending *pending;
	uint32_t queue_len;
	uint32_t singles; /* queued commands of clients that send one at a time */
	uint64_t links;   /* numbers given to connections */
	struct group_commit group_commit;
	struct desk_loop desk;
	uint32_t due_waiters; /* connections that wait for a due callback */
	bool due_may_be;      /* a batch or a new waiter came since the last look */
	int64_t due_look_ms;  /* boot time of the next look */
	bool paused;          /* not accepting until the next tick */
	bool stop;
};

/* Accepts the clients that wait on @listener, one of server->sockets. */
void admit_clients(struct server *server, int listener);

/* Takes the hello of a client that another host relays, if it has come, and greets the client. */
void admit_named(struct server *server, struct connection *connection, int64_t now_ms);

/*
 * Serves a surplus connection from now on if there is room. Workers keep their connections; a
 * worker that connected at a busy time must not stay refused.
 */
void admit_surplus(struct server *server, struct connection *connection);

/* Returns the count of @connection's kind, and sets *@max to its limit. */
uint32_t *admit_count(struct server *server, const struct connection *connection, uint32_t *max);

/*
 * Enables or disables the listeners. Without free descriptors the loop would spin on connections
 * that it cannot accept.
 */
void admit_listen(struct server *server, bool listening);

/* After accept() failed, accepts no client until the next tick. Logs this once for that time. */
void admit_pause(struct server *server);

#endif
