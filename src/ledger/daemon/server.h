/*
 * server - the event loop of the ledger: reads all complete frames, runs them in batches, writes
 * the answers.
 *
 * While a batch is being written to the disk, the next one gathers in the sockets. All memory use
 * is bounded. Connections over the limit and frames over the queue are answered busy
 * (service_unavailable). A client that does not read is disconnected.
 */
#ifndef LEDGER_DAEMON_SERVER_H
#define LEDGER_DAEMON_SERVER_H

#include "ledger/daemon/connection.h"
#include "ledger/daemon/desk_loop.h"
#include "ledger/daemon/sockets.h"
#include "ledger/ledger.h"

/* Connections over the limit that are answered "busy"; further ones are closed at once. */
#define SERVER_SURPLUS_MAX 64
/* Connections on admin.sock, besides the limit: the operator can connect when the edge is full. */
#define SERVER_ADMIN_MAX 32
/* Of these, connections of peers below ROLE_ADMIN: the others are always free for the operator. */
#define SERVER_STAFF_MAX 24
/* Connections on peer.sock whose hello has not come; the peer sends it at once. */
#define SERVER_UNNAMED_MAX 128

struct server_options {
	uint32_t connections_max;
	uint32_t queue_max;
	const char *state_directory; /* whose free space is watched */
	/* of the workers (metrics/counters.h), whose counts are sampled; NULL: none */
	const char *counters_path;
	uint32_t gather_us; /* group_commit.h; 0: never */
	uint64_t low_water_bytes;
	uint64_t ballast_bytes; /* recreated if it was dropped and space is free again */
	struct desk_loop desk;  /* of the web console, without connections */
	int stop_fd;            /* readable (signalfd): finish the batch and return */
};

enum server_end {
	SERVER_STOPPED, /* asked to */
	SERVER_LOST,    /* a batch's outcome is unknown: end the process and recover */
	SERVER_RESUMED, /* halted, and the operator wants to go on */
	SERVER_FAILED,  /* no memory or epoll at the start */
};

/* Serves until one of these ends. */
enum server_end server_run(struct ledger *ledger, const struct sockets *sockets,
	const struct server_options *options);

#endif
