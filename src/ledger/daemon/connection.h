/*
 * connection - one client of the ledger: bytes in, frames out.
 *
 * If a client sends invalid data, leaves a frame unfinished or does not read its answers, the
 * ledger closes its connection (CONNECTION_PATIENCE_MS). Other clients are not affected.
 */
#ifndef LEDGER_DAEMON_CONNECTION_H
#define LEDGER_DAEMON_CONNECTION_H

#include "base/buffer.h"
#include "ledger/daemon/identity.h"
#include "link/frame.h"
#include "link/hello.h"

#include <stdbool.h>
#include <stdint.h>

#define CONNECTION_PATIENCE_MS 5000
/* The most frames of one connection in the queue of the ledger. */
#define CONNECTION_QUEUED_MAX 32
/* The same for a peer below ROLE_ADMIN. */
#define CONNECTION_STAFF_QUEUED_MAX 1
/* With more unread answer bytes, the ledger runs no further commands of the connection. */
#define CONNECTION_OUT_ENOUGH (FRAME_MAX / 2)
/*
 * The limit of unread answers: one answer of the largest size for each queued frame, and one more.
 */
#define CONNECTION_OUT_MAX ((CONNECTION_QUEUED_MAX + 1) * FRAME_MAX)

struct connection {
	int fd;
	bool admin;   /* accepted on admin.sock, here or on the host that relays it */
	bool desk;    /* its hello names desk.sock, on the host that relays it */
	bool unnamed; /* accepted on peer.sock, and its hello has not come */
	bool surplus; /* beyond the limit of connections: frames are answered busy */
	bool dead;    /* to be closed at the end of the round */
	bool garbage; /* dead, because the client sent bytes that are no hello and no command */
	bool again;   /* complete frames may be left in @in */
	bool waiting_to_write;
	bool waits_for_due; /* for the answer to CALLBACK_WAIT ... */
	uint64_t wait_tag;  /* ... with this tag */
	struct client_identity
		identity; /* of the client, on its host; the role matters on admin.sock only */
	char host[HELLO_MEMBER_SIZE]; /* the host that relays the client; "": this one */
	uint64_t link;                /* its number: the owner of what it sends */
	unsigned int queued;          /* its frames in the queue */
	uint32_t several;             /* sends several at a time (group_commit.h) */
	size_t taken;                 /* bytes of @in that were taken as frames */
	struct buffer in;
	struct buffer out;
	int64_t partial_since_ms; /* a frame is unfinished since; 0: none */
	int64_t stuck_since_ms;   /* answers wait to be read since; 0: none */
};

/* The client sent something that it must not send: its connection is to be closed. */
void connection_refuse_bytes(struct connection *connection);

/* Returns a new connection for @fd, or NULL if memory is exhausted. */
struct connection *connection_new(int fd, bool admin, const struct role_groups *groups);
void connection_free(struct connection *connection);

/* Returns true for a person below ROLE_ADMIN on admin.sock. */
bool connection_is_staff(const struct connection *connection);

/* Returns true if the connection, on edge.sock or admin.sock, may carry commands of @socket. */
bool connection_carries(const struct connection *connection, enum command_socket socket);

/* Reads the available bytes. May move @in: no frame taken from it may be in use. */
void connection_read(struct connection *connection);

/*
 * Takes the hello of a connection that was accepted on peer.sock: from then on it is one of the named
 * socket, host and user. Returns true if it has come. If it is none, marks the connection
 * as dead and garbage.
 */
bool connection_take_hello(struct connection *connection);

/*
 * Takes the next complete frame. Its payload is valid until the next connection_read(). Returns
 * false if there is none. If the data is invalid, marks the connection as dead and garbage.
 */
bool connection_take(struct connection *connection, struct frame_request *request, int64_t now_ms);

/*
 * Sends as much of @out as possible and has @epoll report when the rest can be sent. @epoll must
 * contain the connection.
 */
void connection_flush(struct connection *connection, int epoll, int64_t now_ms);

/* Returns true if the socket has the bytes, or the room for answers, that the ledger waits for. */
bool connection_has_news(const struct connection *connection);

/*
 * Returns true if the client kept the ledger waiting too long. If the socket is ready, the delay
 * was of the ledger: the disk was slow or the process was stopped.
 */
bool connection_overdue(const struct connection *connection, int64_t now_ms);

#endif
