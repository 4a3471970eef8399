/*
 * listeners - the listening sockets that a process accepts from: its own, and those of its
 * followers (fcgi/shared_listener.h).
 *
 * After listeners_begin_many(), only one thread may use it.
 */
#ifndef FCGI_LISTENERS_H
#define FCGI_LISTENERS_H

#include <stdbool.h>
#include <sys/epoll.h>

#define LISTENERS_READY 16

/* A listening socket that does not block. */
struct listener {
	int fd;          /* -1: not in use */
	bool drained;    /* shut down, and its backlog is empty */
	bool owner_gone; /* the follower has ended: close the socket once it is drained */
};

struct listeners {
	struct listener own;
	int fd; /* readable if a connection may be queued: the own socket, or an epoll of all */
	unsigned int at, count; /* of ready: sockets that may have a connection */
	struct epoll_event ready[LISTENERS_READY];
};

/* Begins with the own socket only. It is not closed here. */
void listeners_init(struct listeners *listeners, int own_fd);
void listeners_free(struct listeners *listeners);

/* Prepares for more sockets. Returns false if that fails, see errno. */
bool listeners_begin_many(struct listeners *listeners);
/*
 * Adds @listener, which must stay in place until its fd is -1. Returns false if that fails, see
 * errno.
 */
bool listeners_add(struct listeners *listeners, struct listener *listener);
/* Closes @listener. Connections in its backlog stay with the follower's descriptor. */
void listeners_close(struct listeners *listeners, struct listener *listener);
/*
 * Called when the follower of @listener has ended. Shuts the socket down, so that no connection
 * can arrive. Queued connections are accepted; then the socket is closed.
 */
void listeners_owner_gone(struct listeners *listeners, struct listener *listener);

/*
 * Accepts a connection. Returns -1 if that fails, with errno as of accept4(2); EAGAIN: no socket
 * has one.
 */
int listeners_accept(struct listeners *listeners);

#endif
