#include "fcgi/listeners.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

void listeners_init(struct listeners *listeners, int own_fd)
{
	*listeners = (struct listeners){.own.fd = own_fd, .fd = own_fd};
}

static bool has_many(const struct listeners *listeners)
{
	return listeners->fd != listeners->own.fd;
}

void listeners_free(struct listeners *listeners)
{
	if (has_many(listeners))
		close(listeners->fd);
	listeners->fd = listeners->own.fd;
}

bool listeners_begin_many(struct listeners *listeners)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return false;
	listeners->fd = fd;
	if (listeners_add(listeners, &listeners->own))
		return true;
	listeners_free(listeners);
	return false;
}

bool listeners_add(struct listeners *listeners, struct listener *listener)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = listener};

	listener->drained = false;
	listener->owner_gone = false;
	return epoll_ctl(listeners->fd, EPOLL_CTL_ADD, listener->fd, &event) == 0;
}

/* Drops pending events of @listener, so that they are not taken for events of its successor. */
static void forget_ready(struct listeners *listeners, const struct listener *listener)
{
	for (unsigned int i = listeners->at; i < listeners->count; i++) {
		if (listeners->ready[i].data.ptr == listener)
			listeners->ready[i].events = 0;
	}
}

void listeners_close(struct listeners *listeners, struct listener *listener)
{
	if (listener->fd < 0)
		return;
	forget_ready(listeners, listener);
	/* close() is not enough: the follower may hold the socket too. */
	if (!listener->drained)
		epoll_ctl(listeners->fd, EPOLL_CTL_DEL, listener->fd, NULL);
	close(listener->fd);
	listener->fd = -1;
}

void listeners_owner_gone(struct listeners *listeners, struct listener *listener)
{
	if (listener->drained) {
		listeners_close(listeners, listener);
		return;
	}
	listener->owner_gone = true;
	shutdown(listener->fd, SHUT_RD);
}

/* Stops polling a listener that was shut down and drained; epoll would report it ready forever. */
static void stop_polling(struct listeners *listeners, struct listener *listener)
{
	epoll_ctl(listeners->fd, EPOLL_CTL_DEL, listener->fd, NULL);
	listener->drained = true;
	if (listener->owner_gone)
		listeners_close(listeners, listener);
}

/*
 * Returns the next event of a listener: a connection, or its shutdown. Returns NULL if there is
 * none, see errno.
 */
static const struct epoll_event *next_ready_event(struct listeners *listeners)
{
	int count;

	if (listeners->at == listeners->count) {
		count = epoll_wait(listeners->fd, listeners->ready, LISTENERS_READY, 0);
		listeners->at = 0;
		listeners->count = count > 0 ? (unsigned int)count : 0;
		if (!count)
			errno = EAGAIN;
		if (count <= 0)
			return NULL;
	}
	return &listeners->ready[listeners->at++];
}

int listeners_accept(struct listeners *listeners)
{
	const struct epoll_event *event;
	struct listener *listener;
	int fd;

	if (!has_many(listeners))
		return accept4(listeners->own.fd, NULL, NULL, SOCK_CLOEXEC);
	while ((event = next_ready_event(listeners))) {
		listener = event->data.ptr;
		if (listener->fd < 0 || listener->drained)
			continue;
		fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			return -1;
		/* A socket that was shut down stays ready, but gets no more connections. */
		if (errno == EAGAIN && event->events & EPOLLRDHUP)
			stop_polling(listeners, listener);
	}
	return -1;
}
