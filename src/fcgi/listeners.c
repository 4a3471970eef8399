#include "fcgi/listeners.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

void doors_init(struct doors *doors, int own_fd)
{
	*doors = (struct doors){.own.fd = own_fd, .fd = own_fd};
}

static bool are_many(const struct doors *doors)
{
	return doors->fd != doors->own.fd;
}

void doors_free(struct doors *doors)
{
	if (are_many(doors))
		close(doors->fd);
	doors->fd = doors->own.fd;
}

bool doors_open(struct doors *doors)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return false;
	doors->fd = fd;
	if (doors_add(doors, &doors->own))
		return true;
	doors_free(doors);
	return false;
}

bool doors_add(struct doors *doors, struct door *door)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = door};

	door->shut = false;
	door->left = false;
	return epoll_ctl(doors->fd, EPOLL_CTL_ADD, door->fd, &event) == 0;
}

/* What was told of @door is not true of the next whose place it is. */
static void forget(struct doors *doors, const struct door *door)
{
	for (unsigned int i = doors->at; i < doors->count; i++) {
		if (doors->ready[i].data.ptr == door)
			doors->ready[i].events = 0;
	}
}

void doors_close(struct doors *doors, struct door *door)
{
	if (door->fd < 0)
		return;
	forget(doors, door);
	/* Closing alone would not do: whose it is may hold the socket, too. */
	if (!door->shut)
		epoll_ctl(doors->fd, EPOLL_CTL_DEL, door->fd, NULL);
	close(door->fd);
	door->fd = -1;
}

void doors_leave(struct doors *doors, struct door *door)
{
	if (door->shut) {
		doors_close(doors, door);
		return;
	}
	door->left = true;
	shutdown(door->fd, SHUT_RD);
}

/* Nobody is left at a door that was shut, which would be told of for ever. */
static void shut(struct doors *doors, struct door *door)
{
	epoll_ctl(doors->fd, EPOLL_CTL_DEL, door->fd, NULL);
	door->shut = true;
	if (door->left)
		doors_close(doors, door);
}

/* Of a door where somebody may wait, or that was shut. NULL: there is none, errno tells. */
static const struct epoll_event *next_ready(struct doors *doors)
{
	int count;

	if (doors->at == doors->count) {
		count = epoll_wait(doors->fd, doors->ready, DOORS_READY, 0);
		doors->at = 0;
		doors->count = count > 0 ? (unsigned int)count : 0;
		if (!count)
			errno = EAGAIN;
		if (count <= 0)
			return NULL;
	}
	return &doors->ready[doors->at++];
}

int doors_accept(struct doors *doors)
{
	const struct epoll_event *event;
	struct door *door;
	int fd;

	if (!are_many(doors))
		return accept4(doors->own.fd, NULL, NULL, SOCK_CLOEXEC);
	while ((event = next_ready(doors))) {
		door = event->data.ptr;
		if (door->fd < 0 || door->shut)
			continue;
		fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			return -1;
		/* One that was shut is ready for ever, and never has anybody again. */
		if (errno == EAGAIN && event->events & EPOLLRDHUP)
			shut(doors, door);
	}
	return -1;
}
