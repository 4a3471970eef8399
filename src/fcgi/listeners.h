/*
 * listeners - the listening sockets that a process accepts from: its own, and those that others have
 * handed over (fcgi/shared_listener.h).
 *
 * One thread's, once a door was added to the own one.
 */
#ifndef FCGI_LISTENERS_H
#define FCGI_LISTENERS_H

#include <stdbool.h>
#include <sys/epoll.h>

#define DOORS_READY 16

/* A listening socket that does not block. */
struct door {
	int fd;    /* -1: there is none */
	bool shut; /* nobody comes any more, and nobody waits */
	bool left; /* whose it was is gone: it is closed once it is shut */
};

struct doors {
	struct door own;
	int fd;        /* readable while somebody may wait: the own socket, or an epoll of all */
	unsigned int at, count; /* of ready: where somebody may wait */
	struct epoll_event ready[DOORS_READY];
};

/* Of the own socket alone, which is not closed here. */
void doors_init(struct doors *doors, int own_fd);
void doors_free(struct doors *doors);

/* Prepares for more. False: errno tells. */
bool doors_open(struct doors *doors);
/* Adds @door, which stays where it is until its fd is -1. False: errno tells. */
bool doors_add(struct doors *doors, struct door *door);
/* Closes @door, whoever waits there. */
void doors_close(struct doors *doors, struct door *door);
/* Whose @door it was is gone: who waits is let in, nobody else comes, and it is closed. */
void doors_leave(struct doors *doors, struct door *door);

/* Accepts somebody. -1: errno tells as accept4(2) does; EAGAIN: nobody waits at any door. */
int doors_accept(struct doors *doors);

#endif
