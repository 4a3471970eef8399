#include "web/leader.h"

#include "base/clock.h"
#include "base/log.h"
#include "web/hall.h"
#include "web/signals.h"
#include "web/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A leader that is just coming or going is looked for again so often, and so long apart. */
#define JOIN_TRIES    200
#define JOIN_PAUSE_US 5000
#define EVENTS_MAX    16

struct follower {
	int fd;           /* the connection to it; -1: it is gone */
	struct door door; /* fd is -1 until it was handed over */
	bool follows;     /* it has said so: the door is among the leader's */
};

/* Follows whoever leads by @fd, until he is gone (true) or @signal_fd tells to stop. */
static bool follow(int fd, int signal_fd)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

/* Leads, or follows until it is to lead or to stop. */
static enum leader_part take_part(struct leader *leader, const struct hall_name *name,
	int listen_fd, int signal_fd)
{
	int fd;

	for (int tries = 0; tries < JOIN_TRIES; tries++) {
		leader->hall_fd = hall_open(name);
		if (leader->hall_fd >= 0)
			return LEADER_LEADS;
		if (errno != EADDRINUSE)
			break;
		fd = hall_enter(name, listen_fd);
		/* He hangs, or is a stranger: better to serve beside him. */
		if (fd < 0 && (errno == EAGAIN || errno == EPERM))
			break;
		if (fd >= 0) {
			if (!follow(fd, signal_fd))
				return LEADER_STOPPED;
			close(fd);
			tries = 0;
		}
		clock_sleep_us(JOIN_PAUSE_US);
	}
	return LEADER_ALONE;
}

enum leader_part leader_join(struct leader *leader, const char *mount, int listen_fd)
{
	enum leader_part part = LEADER_ALONE;
	struct hall_name name;
	int signal_fd = signals_open();

	*leader = (struct leader){.hall_fd = -1, .epoll_fd = -1};
	if (signal_fd >= 0 && hall_name(&name, mount))
		part = take_part(leader, &name, listen_fd, signal_fd);
	if (part == LEADER_LEADS)
		log_line(LOG_LEVEL_INFO, "lead", "mount=\"%s\"", mount);
	if (part == LEADER_ALONE)
		log_line(LOG_LEVEL_WARNING, "leader", "error=\"%s\" remedy=\"serves by itself\"",
			strerror(errno));
	/* As any worker that stops does: the web server tries another one. */
	if (part == LEADER_STOPPED)
		shutdown(listen_fd, SHUT_RD);
	if (signal_fd >= 0)
		close(signal_fd);
	return part;
}

/* A free place. NULL: there is none. */
static struct follower *place(struct leader *leader)
{
	for (unsigned int i = 0; i < leader->count; i++) {
		if (leader->followers[i].fd < 0 && leader->followers[i].door.fd < 0)
			return &leader->followers[i];
	}
	if (leader->count == LEADER_FOLLOWERS_MAX)
		return NULL;
	return &leader->followers[leader->count++];
}

/* It has ended, or serves by itself if it did not follow yet: then its socket is not to be touched. */
static void follower_gone(struct leader *leader, struct follower *follower)
{
	close(follower->fd);
	follower->fd = -1;
	if (follower->follows) {
		doors_leave(leader->doors, &follower->door);
	} else if (follower->door.fd >= 0) {
		close(follower->door.fd);
		follower->door.fd = -1;
	}
}

/* Somebody comes to the hall. Who is sent away serves by himself. */
static void come(struct leader *leader)
{
	struct follower *follower = place(leader);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = follower};
	int fd = accept4(leader->hall_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (follower && epoll_ctl(leader->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		*follower = (struct follower){.fd = fd, .door.fd = -1};
	else
		close(fd);
}

/* The next that @follower says. False: he has gone, or is sent away. */
static bool hear(struct leader *leader, struct follower *follower)
{
	if (follower->follows)
		return false;
	if (follower->door.fd < 0) {
		follower->door.fd = hall_receive(follower->fd);
		return follower->door.fd >= 0 && hall_say(follower->fd);
	}
	follower->follows = hall_heard(follower->fd) && socket_set_nonblocking(follower->door.fd) &&
		doors_add(leader->doors, &follower->door);
	return follower->follows;
}

/* Leaves the followers, who find another leader. */
static void resign(struct leader *leader)
{
	close(leader->hall_fd);
	leader->hall_fd = -1;
	for (unsigned int i = 0; i < leader->count; i++) {
		struct follower *follower = &leader->followers[i];

		if (follower->fd < 0)
			continue;
		if (follower->follows)
			doors_close(leader->doors, &follower->door);
		follower->follows = false;
		follower_gone(leader, follower);
	}
}

static void lead(void *context)
{
	struct leader *leader = context;
	struct epoll_event events[EVENTS_MAX];
	int count;

	while (leader->hall_fd >= 0) {
		fiber_wait(leader->epoll_fd, POLLIN, FIBER_FOREVER);
		count = epoll_wait(leader->epoll_fd, events, EVENTS_MAX, 0);
		for (int i = 0; i < count && leader->hall_fd >= 0; i++) {
			if (events[i].data.ptr == leader)
				come(leader);
			else if (events[i].data.ptr == leader->doors)
				resign(leader);
			else if (!hear(leader, events[i].data.ptr))
				follower_gone(leader, events[i].data.ptr);
		}
	}
}

bool leader_begin(struct leader *leader, struct fibers *fibers, struct doors *doors, int stop_fd)
{
	struct epoll_event coming = {.events = EPOLLIN, .data.ptr = leader};
	struct epoll_event stopping = {.events = EPOLLIN, .data.ptr = doors};

	leader->doors = doors;
	leader->followers = calloc(LEADER_FOLLOWERS_MAX, sizeof(*leader->followers));
	leader->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return leader->followers && leader->epoll_fd >= 0 && doors_open(doors) &&
		epoll_ctl(leader->epoll_fd, EPOLL_CTL_ADD, leader->hall_fd, &coming) == 0 &&
		epoll_ctl(leader->epoll_fd, EPOLL_CTL_ADD, stop_fd, &stopping) == 0 &&
		fibers_add(fibers, lead, leader, true);
}

void leader_free(struct leader *leader)
{
	if (leader->hall_fd >= 0)
		resign(leader);
	for (unsigned int i = 0; i < leader->count; i++)
		doors_close(leader->doors, &leader->followers[i].door);
	if (leader->epoll_fd >= 0)
		close(leader->epoll_fd);
	free(leader->followers);
}
