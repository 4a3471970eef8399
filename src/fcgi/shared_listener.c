#include "fcgi/shared_listener.h"

#include "base/clock.h"
#include "base/log.h"
#include "fcgi/signals.h"
#include "fcgi/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Attempts to find a leader while leadership changes, and the pause between them. */
#define JOIN_TRIES    200
#define JOIN_PAUSE_US 5000
/* After following for this time, the worker counts its attempts anew. */
#define JOINED_MS 1000
/* How often a follower checks its socket for queued connections. */
#define CHECK_MS   2000
#define EVENTS_MAX 16
/* Pause after accept() has failed, for example without descriptors. */
#define ACCEPT_PAUSE_MS 100

struct follower {
	int fd;                   /* the connection to it; -1: closed */
	struct listener listener; /* fd is -1 until it was handed over */
	bool follows;             /* confirmed: the leader accepts from the listener */
};

/* Returns true if the leader at @fd answers; false if it hangs or is gone. */
static bool leader_answers(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return handoff_send(fd, HANDOFF_FOLLOW) && poll(&pfd, 1, HANDOFF_PATIENCE_MS) == 1 &&
		handoff_receive(fd) == HANDOFF_FOLLOW;
}

/*
 * Follows the leader at @fd. Returns true when the leader is gone. Returns false if this process
 * is to serve by itself: it is to stop, or connections are queued at @listen_fd and the leader
 * does not answer.
 */
static bool follow_leader(int fd, int listen_fd, int signal_fd)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	struct pollfd queued = {.fd = listen_fd, .events = POLLIN};
	int count;

	do {
		count = poll(fds, 2, CHECK_MS);
		if (count == 0 && poll(&queued, 1, 0) == 1 && !leader_answers(fd)) {
			count = poll(fds, 2, 0);
			errno = EAGAIN;
			break;
		}
	} while (count == 0 || (count < 0 && errno == EINTR));
	if (count > 0 && !fds[1].revents)
		return true;
	/* The leader stops serving from this process's socket. */
	handoff_send(fd, HANDOFF_LEAVE);
	return false;
}

/* Returns true as the leader. Returns false if the process is to serve by itself, see errno. */
static bool lead_or_follow(struct shared_listener *shared, int listen_fd, int signal_fd,
	int patience_ms)
{
	int64_t begin_ms, until_ms = clock_boot_ms() + 2 * patience_ms;
	bool followed, take_over = false;
	int fd;

	for (int tries = 0; tries < JOIN_TRIES && clock_boot_ms() < until_ms; tries++) {
		shared->handoff_fd = handoff_open(&shared->name, take_over);
		if (shared->handoff_fd >= 0)
			return true;
		if (errno != EADDRINUSE)
			return false;
		fd = handoff_register(&shared->name, listen_fd, signal_fd, patience_ms);
		/* The leader hangs or is foreign, or this process is to stop: serve by itself. */
		if (fd < 0 && (errno == EAGAIN || errno == EPERM || errno == EINTR))
			return false;
		take_over = fd < 0 && errno == ECONNREFUSED;
		if (fd >= 0) {
			begin_ms = clock_boot_ms();
			followed = follow_leader(fd, listen_fd, signal_fd);
			close(fd);
			if (!followed)
				return false;
			if (clock_boot_ms() - begin_ms >= JOINED_MS)
				tries = 0;
			until_ms = clock_boot_ms() + 2 * patience_ms;
		}
		clock_sleep_us(JOIN_PAUSE_US);
	}
	return false;
}

bool shared_listener_join(struct shared_listener *shared, const struct shared_listener_group *group,
	int listen_fd, bool again)
{
	struct pollfd stopping = {.fd = signals_open(), .events = POLLIN};
	bool leads;

	*shared = (struct shared_listener){.handoff_fd = -1,
		.epoll_fd = -1,
		.room = SHARED_LISTENER_FOLLOWERS_MAX};
	leads = stopping.fd >= 0 && handoff_name(&shared->name, group->directory, group->file) &&
		lead_or_follow(shared, listen_fd, stopping.fd,
			again ? SHARED_LISTENER_AGAIN_PATIENCE_MS : HANDOFF_PATIENCE_MS);
	if (leads)
		log_line(LOG_LEVEL_INFO, "lead", "mount=\"%s\"", group->mount);
	else if (poll(&stopping, 1, 0) != 1)
		log_line(again ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING, "leader",
			"directory=%s error=\"%s\" remedy=\"serves by itself, and tries again\"",
			group->directory, strerror(errno));
	if (stopping.fd >= 0)
		close(stopping.fd);
	return leads;
}

/* Returns an unused entry, or NULL if there is none. */
static struct follower *free_follower(struct shared_listener *shared)
{
	for (unsigned int i = 0; i < shared->count; i++) {
		if (shared->followers[i].fd < 0 && shared->followers[i].listener.fd < 0)
			return &shared->followers[i];
	}
	if (shared->count == shared->room)
		return NULL;
	shared->followers[shared->count] = (struct follower){.fd = -1, .listener.fd = -1};
	return &shared->followers[shared->count++];
}

/*
 * Drops a follower. @ended: the process is gone, so its queued connections are served first.
 * Otherwise the follower serves from its socket itself.
 */
static void follower_drop(struct shared_listener *shared, struct follower *follower, bool ended)
{
	close(follower->fd);
	follower->fd = -1;
	if (follower->follows && ended) {
		listeners_owner_gone(shared->listeners, &follower->listener);
	} else if (follower->follows) {
		listeners_close(shared->listeners, &follower->listener);
	} else if (follower->listener.fd >= 0) {
		close(follower->listener.fd);
		follower->listener.fd = -1;
	}
	follower->follows = false;
}

/*
 * Accepts a follower's connection. A follower that is turned away serves by itself. Returns false
 * if accept() failed.
 */
static bool accept_follower(struct shared_listener *shared)
{
	int fd = accept4(shared->handoff_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct follower *follower;
	struct epoll_event event = {.events = EPOLLIN};

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
	follower = handoff_peer_is_own(fd) ? free_follower(shared) : NULL;
	event.data.ptr = follower;
	if (follower && epoll_ctl(shared->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		*follower = (struct follower){.fd = fd, .listener.fd = -1};
	else
		close(fd);
	return true;
}

/* Handles a message of a confirmed follower: a check of the leader, or its departure. */
static void answer_follower(struct shared_listener *shared, struct follower *follower)
{
	enum handoff_message word = handoff_receive(follower->fd);

	/* If the reply fails, the follower has ended; its closed connection is the next event. */
	if (word == HANDOFF_FOLLOW)
		handoff_send(follower->fd, HANDOFF_FOLLOW);
	else
		follower_drop(shared, follower, word != HANDOFF_LEAVE);
}

/* Handles the next message of @follower. */
static void receive_from_follower(struct shared_listener *shared, struct follower *follower)
{
	if (follower->follows) {
		answer_follower(shared, follower);
		return;
	}
	if (follower->listener.fd < 0) {
		follower->listener.fd = handoff_receive_socket(follower->fd);
		if (follower->listener.fd < 0 || !handoff_send(follower->fd, HANDOFF_FOLLOW))
			follower_drop(shared, follower, false);
		return;
	}
	follower->follows = handoff_receive(follower->fd) == HANDOFF_FOLLOW &&
		socket_set_nonblocking(follower->listener.fd) &&
		listeners_add(shared->listeners, &follower->listener);
	if (!follower->follows)
		follower_drop(shared, follower, false);
}

/* Drops the followers, which find another leader. */
static void step_down(struct shared_listener *shared)
{
	handoff_close(&shared->name, shared->handoff_fd);
	shared->handoff_fd = -1;
	for (unsigned int i = 0; i < shared->count; i++) {
		if (shared->followers[i].fd >= 0)
			follower_drop(shared, &shared->followers[i], false);
	}
}

/*
 * Handles an event. epoll names the shared listener for the handoff socket, its listeners for the
 * stop, else a follower.
 */
static bool handle_event(struct shared_listener *shared, void *what)
{
	if (what == shared)
		return accept_follower(shared);
	if (what == shared->listeners)
		step_down(shared);
	else
		receive_from_follower(shared, what);
	return true;
}

static void lead_followers(void *context)
{
	struct shared_listener *shared = context;
	struct epoll_event events[EVENTS_MAX];
	bool can_accept = true;
	int count;

	while (shared->handoff_fd >= 0) {
		if (can_accept)
			fiber_wait(shared->epoll_fd, POLLIN, FIBER_FOREVER);
		else
			fiber_wait(-1, 0, clock_boot_ms() + ACCEPT_PAUSE_MS);
		can_accept = true;
		count = epoll_wait(shared->epoll_fd, events, EVENTS_MAX, 0);
		for (int i = 0; i < count && shared->handoff_fd >= 0; i++)
			can_accept &= handle_event(shared, events[i].data.ptr);
	}
}

bool shared_listener_begin(struct shared_listener *shared, struct fibers *fibers,
	struct listeners *listeners, int stop_fd)
{
	struct epoll_event registering = {.events = EPOLLIN, .data.ptr = shared};
	struct epoll_event stopping = {.events = EPOLLIN, .data.ptr = listeners};

	shared->listeners = listeners;
	shared->followers = calloc(SHARED_LISTENER_FOLLOWERS_MAX, sizeof(*shared->followers));
	shared->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return shared->followers && shared->epoll_fd >= 0 && listeners_begin_many(listeners) &&
		epoll_ctl(shared->epoll_fd, EPOLL_CTL_ADD, shared->handoff_fd, &registering) == 0 &&
		epoll_ctl(shared->epoll_fd, EPOLL_CTL_ADD, stop_fd, &stopping) == 0 &&
		fibers_add(fibers, lead_followers, shared, true);
}

void shared_listener_free(struct shared_listener *shared)
{
	if (shared->handoff_fd >= 0)
		step_down(shared);
	for (unsigned int i = 0; i < shared->count; i++)
		listeners_close(shared->listeners, &shared->followers[i].listener);
	if (shared->epoll_fd >= 0)
		close(shared->epoll_fd);
	free(shared->followers);
}
