/*
 * http_sockets - the sockets that a client's connections are on.
 *
 * libcurl does not tell, when it is about to use a connection again, which socket that is; only its
 * addresses. Here they are found again.
 */
#ifndef CALLBACK_HTTP_SOCKETS_H
#define CALLBACK_HTTP_SOCKETS_H

#include <stdbool.h>

/* More than a client has: exchanges under way, and connections kept. */
#define HTTP_SOCKETS_MAX 1024

struct http_sockets {
	int fds[HTTP_SOCKETS_MAX];
	unsigned int count;
};

/* Opens a socket, close-on-exec, and remembers it. Returns -1 when there is no place, or errno. */
int http_sockets_open(struct http_sockets *sockets, int family, int type, int protocol);

/* Closes @fd and forgets it. */
int http_sockets_close(struct http_sockets *sockets, int fd);

/* The socket between these addresses, as inet_ntop() writes them, and ports; -1: there is none. */
int http_sockets_find(const struct http_sockets *sockets, const char *own_ip, int own_port,
	const char *peer_ip, int peer_port);

#endif
