/*
 * desk_loop - the connections on desk.sock, and when the loop of the ledger serves one.
 *
 * One command runs in a round of the loop, after those of all other sockets, and at most for the share of the
 * time that ledger/desk/share.h allows. Connections take turns.
 */
#ifndef LEDGER_DAEMON_DESK_LOOP_H
#define LEDGER_DAEMON_DESK_LOOP_H

#include "ledger/daemon/connection.h"
#include "ledger/desk/desk.h"
#include "ledger/desk/share.h"
#include "ledger/ledger.h"

/* On this host, 8 threads of the console, and JOBS_MAX jobs that ask for their operator
 * (link/jobs.h). The others are of the hosts that relay to it. */
#define DESK_CONNECTIONS_MAX 24

struct desk_loop {
	struct desk desk;
	struct share share;
	const char *front_file;
	struct connection *connections[DESK_CONNECTIONS_MAX];
	uint32_t count;
	uint32_t turn; /* the connection to be looked at first */
};

/* Closes all connections. */
void desk_loop_close(struct desk_loop *loop);

/*
 * Accepts the clients that wait at @listener. Further ones than DESK_CONNECTIONS_MAX are closed. Returns false
 * if there is no descriptor.
 */
bool desk_loop_accept(struct desk_loop *loop, int listener, int epoll, uint64_t generation,
	uint64_t *links);

/*
 * Takes over a connection that another host relays from its desk.sock, with what it has sent after its hello.
 * Returns false, and takes nothing, if there is no room.
 */
bool desk_loop_take(struct desk_loop *loop, struct connection *connection, int epoll,
	uint64_t generation, int64_t now_ms);

/* Returns true if a connection may have a complete frame. */
bool desk_loop_pending(const struct desk_loop *loop);

/*
 * Takes the next frame, checks it, executes it, and answers it. Takes none while the share of the time is
 * used up. Removes the dead connections. Returns false if the batch was lost: the process must end.
 */
bool desk_loop_serve(struct desk_loop *loop, struct ledger *ledger, int epoll);

/* Returns @wait_ms, or less if a desk command may run sooner. */
int desk_loop_wait_ms(const struct desk_loop *loop, int wait_ms);

/* Each second: reads the front secrets if they changed, and cuts clients that keep the loop waiting. */
void desk_loop_tick(struct desk_loop *loop, int64_t now_ms);

#endif
