/*
 * shared_listener - lets one worker process, the leader, accept for all workers of a mount.
 *
 * Apache mod_fcgid gives each process a listening socket of its own and one request at a time.
 * Every request under way then occupies a process, and each step of a request costs a switch
 * between processes. So the first worker leads. It serves from its own socket and from the
 * sockets that the other workers, its followers, hand over.
 *
 * A follower sleeps until it is to stop, or until the leader is gone; then another worker leads.
 * Connections queued on a follower's socket survive a change of leader, because the follower
 * keeps the socket open. If connections are queued and the leader does not respond, the follower
 * serves them itself.
 *
 * Workers find the leader by the name of a socket, which one process at a time can own
 * (fcgi/handoff.h). A worker that can neither lead nor follow serves by itself and tries again
 * later. Both sides accept only peers with their own effective user and group. An installed
 * worker is setgid, which separates it from other programs of the web server's user.
 */
#ifndef FCGI_SHARED_LISTENER_H
#define FCGI_SHARED_LISTENER_H

#include "base/fiber.h"
#include "fcgi/handoff.h"
#include "fcgi/listeners.h"

#include <stdbool.h>

/* Followers of one leader: the number of processes that fcgi-conf/ allows mod_fcgid. */
#define SHARED_LISTENER_FOLLOWERS_MAX 1000
/* Descriptors of a leader for each follower: its listening socket and the connection to it. */
#define SHARED_LISTENER_DESCRIPTORS_EACH 2

struct follower;

/* Limit of the wait for a leader at a later attempt, since calls wait meanwhile. */
#define SHARED_LISTENER_AGAIN_PATIENCE_MS 500
/* A worker that serves by itself tries again after this time, which doubles up to the limit. */
#define SHARED_LISTENER_AGAIN_MS     2000
#define SHARED_LISTENER_AGAIN_MAX_MS 300000

struct shared_listener {
	struct handoff_name name;
	int handoff_fd; /* the handoff socket; -1: not the leader */
	int epoll_fd;   /* of the handoff socket, the followers, and the pool's stop */
	struct listeners *listeners;
	struct follower *followers;
	unsigned int count; /* entries of followers that were ever used */
	unsigned int room;  /* entries that may be used; SHARED_LISTENER_FOLLOWERS_MAX at most */
};

/* The workers that serve together. */
struct shared_listener_group {
	const char *directory; /* where they meet */
	const char *file;  /* the socket there: HANDOFF_FILE_CHARS characters, the same for all */
	const char *mount; /* for the log */
};

/*
 * Joins @group with the listening socket @listen_fd. Returns true if this process is the leader.
 *
 * A follower sleeps in this function until the leader is gone or the process is to stop. Returns
 * false if the process is to serve from @listen_fd by itself. Either it is to stop, and must serve
 * the connections that are queued; or there is no leader, and the reason was logged.
 *
 * @again: an earlier call returned false, so less patience and less logging are due. The signals
 * that stop the process must be blocked (fcgi/signals.h); none is consumed.
 */
bool shared_listener_join(struct shared_listener *shared, const struct shared_listener_group *group,
	int listen_fd, bool again);

/*
 * Adds the fiber that receives followers' sockets into @listeners. When @stop_fd becomes
 * readable, the leader steps down, and the followers find another one. Returns false if that
 * fails, see errno.
 */
bool shared_listener_begin(struct shared_listener *shared, struct fibers *fibers,
	struct listeners *listeners, int stop_fd);
/* Called after the fibers have ended. Has no effect if shared_listener_begin() was not called. */
void shared_listener_free(struct shared_listener *shared);

#endif
