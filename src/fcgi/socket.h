/*
 * socket - the Unix socket on which a web server that starts no workers itself reaches this one
 * (nginx, Apache mod_proxy_fcgi).
 */
#ifndef FCGI_SOCKET_H
#define FCGI_SOCKET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fcgi_socket {
	int fd;
	const char *path;
	dev_t device; /* of the file at @path, as made */
	ino_t inode;
};

/*
 * Listens on a new socket at @path, mode 0660, of @group ("": the process's own). A socket that
 * nobody listens on any more is replaced, anything else there is left alone. Else a sentence
 * is in @why: STATUS_CONFIG, or what status_of_errno() calls passing.
 */
enum status socket_open(struct fcgi_socket *sock, const char *path, const char *group, char *why,
	size_t why_size);

/* Removes the file, unless another one has taken its place. The socket itself stays open. */
void socket_unlink(const struct fcgi_socket *sock);

/* True: @fd is a socket that listens. */
bool socket_is_listening(int fd);

bool socket_is_unix(int fd);

/* False: errno tells why. */
bool socket_set_nonblocking(int fd);

#endif
