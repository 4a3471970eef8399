/*
 * shared_listener - the worker processes of one mount, which a web server has started, serve together: the
 * leader accepts from the listening sockets of all.
 *
 * Apache mod_fcgid gives each process a socket of its own and one request at a time. Served so, each
 * request that is under way keeps a process, and the processor goes from one to the other for each
 * step of each. So the first process to come leads: it serves from its own socket, and from those
 * that the others, which follow, hand over to it. A follower then sleeps until it is told to stop,
 * or the leader is gone: then another one leads. Who waits at a follower's socket meanwhile is not
 * lost, for the follower still holds it. Who has to wait there and sees the leader not answer is
 * served by the follower.
 *
 * The leader is found by the name of a socket, which at most one process has (fcgi/handoff.h). A worker that
 * can neither lead nor follow serves by itself and tries again. Both sides talk to their own user and group alone (as they
 * are in effect: installed setgid, the worker is told from what else the web server's user runs).
 */
#ifndef FCGI_SHARED_LISTENER_H
#define FCGI_SHARED_LISTENER_H

#include "base/fiber.h"
#include "fcgi/handoff.h"
#include "fcgi/listeners.h"

#include <stdbool.h>

/* Followers of one leader; as many processes as mod_fcgid runs by fcgi-conf/. */
#define SHARED_LISTENER_FOLLOWERS_MAX 1000
/* Descriptors of a leader for each: the follower's socket, and the connection to it. */
#define SHARED_LISTENER_DESCRIPTORS_EACH 2

struct follower;

/* A worker that tries again waits no longer for a leader: calls wait at its socket meanwhile. */
#define SHARED_LISTENER_AGAIN_PATIENCE_MS 500
/* How long a worker serves by itself before it tries again: at first, and at most. */
#define SHARED_LISTENER_AGAIN_MS     2000
#define SHARED_LISTENER_AGAIN_MAX_MS 300000

struct shared_listener {
	struct handoff_name name;
	int handoff_fd;  /* where followers come */
	int epoll_fd; /* the handoff, the followers, and the pool's stop */
	struct listeners *listeners;
	struct follower *followers;
	unsigned int count; /* of followers' places that were ever taken */
	unsigned int room;  /* for so many; SHARED_LISTENER_FOLLOWERS_MAX at most */
};

/* The workers that serve together. */
struct shared_listener_group {
	const char *directory; /* where they meet */
	const char *file;      /* the socket there: HANDOFF_FILE_CHARS characters, the same for all */
	const char *mount;     /* for the log */
};

/*
 * Joins @group with the listening socket @listen_fd. Returns true if this process is the leader.
 *
 * A follower sleeps in this function until the leader is gone or the process is to stop. Returns false
 * if the process is to serve from @listen_fd by itself. Either it is to stop, and must serve the
 * connections that are queued; or there is no leader, and the reason was logged.
 *
 * @again: an earlier call returned false, so less patience and less logging are due. The signals that
 * stop the process must be blocked (fcgi/signals.h); none is consumed.
 */
bool shared_listener_join(struct shared_listener *shared, const struct shared_listener_group *group,
	int listen_fd, bool again);

/*
 * Adds the fiber that takes in followers' sockets to @listeners. When @stop_fd can be read it leaves the
 * followers, who find another shared. False: errno tells.
 */
bool shared_listener_begin(struct shared_listener *shared, struct fibers *fibers,
	struct listeners *listeners, int stop_fd);
/* After the fibers have ended. Of no effect on one that was not made. */
void shared_listener_free(struct shared_listener *shared);

#endif
