/*
 * handoff - the Unix socket on which followers hand their listening sockets to the leader
 * (fcgi/shared_listener.h).
 *
 * The socket is in a directory that only workers may enter. The ledger makes it below the socket
 * directory, mode 1770, with the group of edge.sock. An installed worker has that group by its
 * setgid bit. So no other local user can take a name there, nor can another program of the web
 * server's user.
 *
 * A process locks the directory while it takes or releases a name. A new leader takes over the
 * name of a leader that was killed.
 */
#ifndef FCGI_HANDOFF_H
#define FCGI_HANDOFF_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define HANDOFF_PATIENCE_MS 5000
/* Characters of the socket's file name. The path of a Unix socket is short. */
#define HANDOFF_FILE_CHARS 16

struct handoff_name {
	char directory[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct sockaddr_un address;
	dev_t device; /* of the socket that handoff_open() made */
	ino_t inode;
};

/* A message has one byte. */
enum handoff_message {
	HANDOFF_NONE = 0,     /* the connection is closed, or the byte is unknown */
	HANDOFF_FOLLOW = 'f', /* I follow, or I lead: the agreement stands */
	HANDOFF_LEAVE = 'l',  /* I serve from my own socket from now on */
};

/*
 * Makes the name of the socket @file in @directory; @file has HANDOFF_FILE_CHARS characters.
 * Returns false with ENAMETOOLONG if the path is too long for a Unix socket, or with EINVAL for a
 * wrong @file.
 */
bool handoff_name(struct handoff_name *name, const char *directory, const char *file);

/*
 * Makes the socket, so that this process is the leader. The socket does not block. Returns -1 on
 * failure:
 *
 * - EADDRINUSE: another process leads. If @take_over is false, also: a killed leader left the
 *   name; handoff_register() then fails with ECONNREFUSED.
 * - EPERM: others may write to the directory.
 * - EWOULDBLOCK: another process keeps the directory locked.
 */
int handoff_open(struct handoff_name *name, bool take_over);
/* Removes the name, and closes the socket of handoff_open(). */
void handoff_close(const struct handoff_name *name, int fd);

/*
 * Hands @listen_fd over to the leader, waits for the leader's confirmation, and confirms in turn.
 * Returns the connection, which does not block; the leader's end closes it. Returns -1 on
 * failure, and @listen_fd is then not shared:
 *
 * - EAGAIN: no answer within @patience_ms, or too many processes wait for one.
 * - EPERM: the leader has another user or group.
 * - EINTR: @signal_fd is readable.
 */
int handoff_register(const struct handoff_name *name, int listen_fd, int signal_fd,
	int patience_ms);

/* Returns true if the peer has the effective user and group of this process. */
bool handoff_peer_is_own(int fd);

/*
 * Called by the leader. Receives a follower's first message and returns the listening socket that
 * came with it, or -1. Until the follower's second message, the follower may still withdraw.
 */
int handoff_receive_socket(int fd);

/* Send and receive a message, without blocking. */
bool handoff_send(int fd, enum handoff_message word);
enum handoff_message handoff_receive(int fd);

#endif
