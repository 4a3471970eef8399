/*
 * listeners - the listening sockets that a process accepts from: its own, and those that others have
 * handed over (fcgi/shared_listener.h).
 *
 * One thread's, once a listener was added to the own one.
 */
#ifndef FCGI_LISTENERS_H
#define FCGI_LISTENERS_H

#include <stdbool.h>
#include <sys/epoll.h>

#define LISTENERS_READY 16

/* A listening socket that does not block. */
struct listener {
	int fd;    /* -1: there is none */
	bool drained; /* nobody comes any more, and nobody waits */
	bool owner_gone; /* whose it was is gone: it is closed once it is shut */
};

struct listeners {
	struct listener own;
	int fd;        /* readable while somebody may wait: the own socket, or an epoll of all */
	unsigned int at, count; /* of ready: where somebody may wait */
	struct epoll_event ready[LISTENERS_READY];
};

/* Of the own socket alone, which is not closed here. */
void listeners_init(struct listeners *listeners, int own_fd);
void listeners_free(struct listeners *listeners);

/* Prepares for more. False: errno tells. */
bool listeners_begin_many(struct listeners *listeners);
/* Adds @listener, which stays where it is until its fd is -1. False: errno tells. */
bool listeners_add(struct listeners *listeners, struct listener *listener);
/* Closes @listener, whoever waits there. */
void listeners_close(struct listeners *listeners, struct listener *listener);
/* Whose @listener it was is gone: who waits is let in, nobody else comes, and it is closed. */
void listeners_owner_gone(struct listeners *listeners, struct listener *listener);

/* Accepts somebody. -1: errno tells as accept4(2) does; EAGAIN: nobody waits at any listener. */
int listeners_accept(struct listeners *listeners);

#endif
