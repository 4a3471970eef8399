/*
 * http_sockets - the sockets of a client's connections.
 *
 * When libcurl is about to reuse a connection, it reports the addresses but not the socket. This
 * module finds the socket by them.
 */
#ifndef CALLBACK_HTTP_SOCKETS_H
#define CALLBACK_HTTP_SOCKETS_H

#include <stdbool.h>

/* More than a client uses for exchanges and kept connections. */
#define HTTP_SOCKETS_MAX 1024

struct http_sockets {
	int fds[HTTP_SOCKETS_MAX];
	unsigned int count;
};

/*
 * Opens a socket with close-on-exec and remembers it. Returns -1 if there is no free slot, or with
 * errno.
 */
int http_sockets_open(struct http_sockets *sockets, int family, int type, int protocol);

/* Closes @fd and forgets it. */
int http_sockets_close(struct http_sockets *sockets, int fd);

/* Returns the socket between these addresses, as inet_ntop() writes them, and ports, or -1. */
int http_sockets_find(const struct http_sockets *sockets, const char *own_ip, int own_port,
	const char *peer_ip, int peer_port);

#endif
