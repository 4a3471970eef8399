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

/* A leader that is just coming or going is looked for again so often, and so long apart. */
#define JOIN_TRIES    200
#define JOIN_PAUSE_US 5000
/* Who followed so long is no sign of a leader that sends all away. */
#define JOINED_MS 1000
/* How often a follower looks whether somebody waits at its socket. */
#define LOOK_MS    2000
#define EVENTS_MAX 16
/* Without descriptors nobody is taken in for so long. */
#define COME_PAUSE_MS 100

struct follower {
	int fd;           /* the connection to it; -1: it is gone */
	struct door door; /* fd is -1 until it was handed over */
	bool follows;     /* it has said so: the door is among the leader's */
};

/* True: the leader by @fd answers. False: he hangs, or is gone. */
static bool answers(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return hall_say(fd, HALL_FOLLOW) && poll(&pfd, 1, HALL_PATIENCE_MS) == 1 &&
		hall_hear(fd) == HALL_FOLLOW;
}

/*
 * Follows whoever leads by @fd until he is gone (true), or this process is to serve by itself: to
 * stop, or because he leaves somebody waiting at @listen_fd and does not answer.
 */
static bool follow(int fd, int listen_fd, int signal_fd)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	struct pollfd waiting = {.fd = listen_fd, .events = POLLIN};
	int count;

	do {
		count = poll(fds, 2, LOOK_MS);
		if (count == 0 && poll(&waiting, 1, 0) == 1 && !answers(fd)) {
			count = poll(fds, 2, 0);
			errno = EAGAIN;
			break;
		}
	} while (count == 0 || (count < 0 && errno == EINTR));
	if (count > 0 && !fds[1].revents)
		return true;
	/* His from now on is not what is served here. */
	hall_say(fd, HALL_LEAVE);
	return false;
}

/* False: to be alone, errno tells why. */
static bool take_part(struct leader *leader, int listen_fd, int signal_fd, int patience_ms)
{
	int64_t begin_ms, until_ms = clock_boot_ms() + 2 * patience_ms;
	bool followed, take_over = false;
	int fd;

	for (int tries = 0; tries < JOIN_TRIES && clock_boot_ms() < until_ms; tries++) {
		leader->hall_fd = hall_open(&leader->name, take_over);
		if (leader->hall_fd >= 0)
			return true;
		if (errno != EADDRINUSE)
			return false;
		fd = hall_enter(&leader->name, listen_fd, signal_fd, patience_ms);
		/* He hangs, is a stranger, or this process is to stop: better to serve beside him. */
		if (fd < 0 && (errno == EAGAIN || errno == EPERM || errno == EINTR))
			return false;
		take_over = fd < 0 && errno == ECONNREFUSED;
		if (fd >= 0) {
			begin_ms = clock_boot_ms();
			followed = follow(fd, listen_fd, signal_fd);
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

bool leader_join(struct leader *leader, const char *directory, const char *mount, int listen_fd,
	bool again)
{
	struct pollfd stopping = {.fd = signals_open(), .events = POLLIN};
	bool leads;

	*leader = (struct leader){.hall_fd = -1, .epoll_fd = -1, .room = LEADER_FOLLOWERS_MAX};
	leads = stopping.fd >= 0 && hall_name(&leader->name, directory, mount) &&
		take_part(leader, listen_fd, stopping.fd,
			again ? LEADER_AGAIN_PATIENCE_MS : HALL_PATIENCE_MS);
	if (leads)
		log_line(LOG_LEVEL_INFO, "lead", "mount=\"%s\"", mount);
	else if (poll(&stopping, 1, 0) != 1)
		log_line(again ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING, "leader",
			"directory=%s error=\"%s\" remedy=\"serves by itself, and tries again\"",
			directory, strerror(errno));
	if (stopping.fd >= 0)
		close(stopping.fd);
	return leads;
}

/* A free place. NULL: there is none. */
static struct follower *place(struct leader *leader)
{
	for (unsigned int i = 0; i < leader->count; i++) {
		if (leader->followers[i].fd < 0 && leader->followers[i].door.fd < 0)
			return &leader->followers[i];
	}
	if (leader->count == leader->room)
		return NULL;
	leader->followers[leader->count] = (struct follower){.fd = -1, .door.fd = -1};
	return &leader->followers[leader->count++];
}

/* It has ended, or serves by itself: if it does, its socket is not to be touched. */
static void follower_gone(struct leader *leader, struct follower *follower, bool ended)
{
	close(follower->fd);
	follower->fd = -1;
	if (follower->follows && ended) {
		doors_leave(leader->doors, &follower->door);
	} else if (follower->follows) {
		doors_close(leader->doors, &follower->door);
	} else if (follower->door.fd >= 0) {
		close(follower->door.fd);
		follower->door.fd = -1;
	}
	follower->follows = false;
}

/* Somebody comes to the hall. Who is sent away serves by himself. False: nobody can come. */
static bool come(struct leader *leader)
{
	int fd = accept4(leader->hall_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct follower *follower;
	struct epoll_event event = {.events = EPOLLIN};

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
	follower = hall_is_own_kind(fd) ? place(leader) : NULL;
	event.data.ptr = follower;
	if (follower && epoll_ctl(leader->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		*follower = (struct follower){.fd = fd, .door.fd = -1};
	else
		close(fd);
	return true;
}

/* What @follower says while it follows: that it does, to be answered, or that it leaves. */
static void hear_again(struct leader *leader, struct follower *follower)
{
	enum hall_word word = hall_hear(follower->fd);

	/* Who does not hear it any more has left or ended, and is heard of next. */
	if (word == HALL_FOLLOW)
		hall_say(follower->fd, HALL_FOLLOW);
	else
		follower_gone(leader, follower, word != HALL_LEAVE);
}

/* The next that @follower says. */
static void hear(struct leader *leader, struct follower *follower)
{
	if (follower->follows) {
		hear_again(leader, follower);
		return;
	}
	if (follower->door.fd < 0) {
		follower->door.fd = hall_receive(follower->fd);
		if (follower->door.fd < 0 || !hall_say(follower->fd, HALL_FOLLOW))
			follower_gone(leader, follower, false);
		return;
	}
	follower->follows = hall_hear(follower->fd) == HALL_FOLLOW &&
		socket_set_nonblocking(follower->door.fd) &&
		doors_add(leader->doors, &follower->door);
	if (!follower->follows)
		follower_gone(leader, follower, false);
}

/* Leaves the followers, who find another leader. */
static void resign(struct leader *leader)
{
	hall_close(&leader->name, leader->hall_fd);
	leader->hall_fd = -1;
	for (unsigned int i = 0; i < leader->count; i++) {
		if (leader->followers[i].fd >= 0)
			follower_gone(leader, &leader->followers[i], false);
	}
}

/* What happened, by whom epoll names: the leader for the hall, its doors for the stop. */
static bool on_event(struct leader *leader, void *what)
{
	if (what == leader)
		return come(leader);
	if (what == leader->doors)
		resign(leader);
	else
		hear(leader, what);
	return true;
}

static void lead(void *context)
{
	struct leader *leader = context;
	struct epoll_event events[EVENTS_MAX];
	bool can_come = true;
	int count;

	while (leader->hall_fd >= 0) {
		if (can_come)
			fiber_wait(leader->epoll_fd, POLLIN, FIBER_FOREVER);
		else
			fiber_wait(-1, 0, clock_boot_ms() + COME_PAUSE_MS);
		can_come = true;
		count = epoll_wait(leader->epoll_fd, events, EVENTS_MAX, 0);
		for (int i = 0; i < count && leader->hall_fd >= 0; i++)
			can_come &= on_event(leader, events[i].data.ptr);
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
