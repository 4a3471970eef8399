/*
 * connection - one client of the ledger: bytes in, frames out.
 *
 * A client that sends garbage, leaves a frame unfinished or does not read its answers is cut off
 * and harms nobody else (CONNECTION_PATIENCE_MS).
 */
#ifndef LEDGER_DAEMON_CONNECTION_H
#define LEDGER_DAEMON_CONNECTION_H

#include "base/buffer.h"
#include "link/frame.h"

#include <stdbool.h>
#include <stdint.h>

#define CONNECTION_PATIENCE_MS 5000
/* Frames of one connection in the ledger's queue at a time. */
#define CONNECTION_QUEUED_MAX 32
/* With more of its answers waiting to be read a connection gets no further commands done. */
#define CONNECTION_OUT_ENOUGH (FRAME_MAX / 2)
/* That, and an answer of the largest kind to each of its frames in the queue. */
#define CONNECTION_OUT_MAX ((CONNECTION_QUEUED_MAX + 1) * FRAME_MAX)

struct connection {
	int fd;
	bool admin;   /* accepted on admin.sock */
	bool surplus; /* beyond the limit of connections: frames are answered busy */
	bool dead;    /* to be closed at the end of the round */
	bool again;   /* complete frames may be left in @in */
	bool waiting_to_write;
	uint32_t peer_uid;
	uint64_t link; /* its number: the owner of what it sends */
	unsigned int queued; /* its frames in the queue */
	uint32_t several;    /* lately there were two at a time: it gathers them by itself (group_commit.h) */
	size_t taken;        /* bytes of @in that were taken as frames */
	struct buffer in;
	struct buffer out;
	int64_t partial_since_ms; /* a frame is unfinished since; 0: none */
	int64_t stuck_since_ms;   /* answers wait to be read since; 0: none */
};

/* Returns a new connection for @fd, or NULL: no memory. */
struct connection *connection_new(int fd, bool admin);
void connection_free(struct connection *connection);

/* Reads what has arrived. May move @in: no frame taken from it may be in use. */
void connection_read(struct connection *connection);

/*
 * Takes the next complete frame; its payload is valid until the next connection_read(). False:
 * there is none; a connection that sent garbage is dead then.
 */
bool connection_take(struct connection *connection, struct frame_request *request, int64_t now_ms);

/* Sends what it can of @out. @epoll, which knows the connection, is to tell when the rest can be sent. */
void connection_flush(struct connection *connection, int epoll, int64_t now_ms);

/* True: what the ledger waits for of this client lies in its socket: bytes, or room for answers. */
bool connection_has_news(const struct connection *connection);

/*
 * True: it kept the ledger waiting for too long. One that has news did not: the ledger did not look,
 * because a disk was slow or it was stopped itself.
 */
bool connection_overdue(const struct connection *connection, int64_t now_ms);

#endif
