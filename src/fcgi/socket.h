/*
 * socket - the Unix socket for web servers that start no workers (nginx, Apache mod_proxy_fcgi).
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
	dev_t device; /* of the file at @path */
	ino_t inode;
};

/*
 * Listens on a new socket at @path with mode 0660 and @group ("": the group of the process).
 * Replaces a socket that no process listens on; any other file is left in place. On failure
 * writes the reason to @why. Returns STATUS_CONFIG, or the status of the error by
 * status_of_errno() if it may pass.
 */
enum status socket_open(struct fcgi_socket *sock, const char *path, const char *group, char *why,
	size_t why_size);

/* Removes the file, unless it was replaced by another. The socket stays open. */
void socket_unlink(const struct fcgi_socket *sock);

/* Returns true if @fd is a listening socket. */
bool socket_is_listening(int fd);

bool socket_is_unix(int fd);

/* Returns false if that fails, see errno. */
bool socket_set_nonblocking(int fd);

#endif
