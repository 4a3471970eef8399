/*
 * server - the ledger's loop: read every complete frame, run them in batches, write the answers.
 *
 * While a batch is on its way to the disk the next one gathers in the sockets. Nothing grows
 * without a bound: connections beyond the limit and frames beyond the queue are answered busy
 * (service_unavailable), a client that does not read is cut off.
 */
#ifndef LEDGER_DAEMON_SERVER_H
#define LEDGER_DAEMON_SERVER_H

#include "ledger/daemon/connection.h"
#include "ledger/daemon/sockets.h"
#include "ledger/ledger.h"

/* Connections above the limit that are still told "busy"; more are closed at once. */
#define SERVER_SURPLUS_MAX 64
/* On admin.sock, beside the limit: the operator gets in when the edge is full. */
#define SERVER_ADMIN_MAX 32

struct server_options {
	uint32_t connections_max;
	uint32_t queue_max;
	const char *state_directory; /* whose free space is watched */
	uint32_t gather_us; /* group_commit.h; 0: never */
	uint64_t low_water_bytes;
	uint64_t ballast_bytes; /* made anew when it was dropped and there is room again */
	int stop_fd; /* readable (signalfd): finish the batch and return */
};

enum server_end {
	SERVER_STOPPED, /* asked to */
	SERVER_LOST,    /* a batch's outcome is unknown: end the process and recover */
	SERVER_RESUMED, /* halted, and the operator wants to go on */
	SERVER_FAILED,  /* no memory or epoll at the start */
};

/* Serves until it ends. */
enum server_end server_run(struct ledger *ledger, const struct sockets *sockets,
	const struct server_options *options);

#endif
