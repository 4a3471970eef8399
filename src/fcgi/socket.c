#include "fcgi/socket.h"

#include "base/group.h"
#include "base/lock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG      1024
#define LOCK_WAIT_MS 3000

/* Writes @what with the text of errno to @why, and returns the status. */
static enum status errno_status(const char *what, char *why, size_t why_size)
{
	const int error = errno;

	snprintf(why, why_size, "%s: %s", what, strerror(error));
	return status_of_errno(error);
}

/* Makes room at the address's path. Returns STATUS_OK if the path is free. */
static enum status clear_path(const struct sockaddr_un *address, char *why, size_t why_size)
{
	struct stat info;
	int fd, rc, error;

	if (lstat(address->sun_path, &info) < 0)
		return errno == ENOENT ? STATUS_OK : errno_status(address->sun_path, why, why_size);
	if (!S_ISSOCK(info.st_mode)) {
		snprintf(why, why_size,
			"%s exists and is no socket: move it away, or give "
			"another --socket",
			address->sun_path);
		return STATUS_CONFIG;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno_status("socket", why, why_size);
	rc = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	error = errno;
	close(fd);
	errno = error;
	if (rc < 0 && error != EAGAIN && status_of_errno(error) != STATUS_CONFIG)
		return errno_status(address->sun_path, why, why_size);
	/* EAGAIN: a process listens, and its backlog is full. */
	if (rc == 0 || error != ECONNREFUSED) {
		snprintf(why, why_size,
			"%s is in use by another process: stop that one, or "
			"give another --socket",
			address->sun_path);
		return STATUS_CONFIG;
	}
	unlink(address->sun_path);
	return STATUS_OK;
}

/*
 * Locks the directory of the socket. Otherwise another process could take the path between the
 * check and bind(). A directory that cannot be opened is not locked. Close *@lock unless it is
 * -1. Returns false if another process holds the lock for LOCK_WAIT_MS.
 */
static bool lock_directory_of(const char *path, int *lock)
{
	char directory[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

	text_copy(directory, sizeof(directory), path);
	*lock = open(dirname(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *lock < 0 || lock_wait(*lock, LOCK_WAIT_MS) || errno != EWOULDBLOCK;
}

static void unlock_directory(int lock)
{
	if (lock >= 0)
		close(lock);
}

/* The directory is locked. */
static void unlink_own(const struct fcgi_socket *sock)
{
	struct stat info;

	if (lstat(sock->path, &info) == 0 && info.st_dev == sock->device &&
		info.st_ino == sock->inode)
		unlink(sock->path);
}

/* Makes a listening socket at a path that is free. */
static enum status bind_and_listen(struct fcgi_socket *sock, const struct sockaddr_un *address,
	gid_t gid, char *why, size_t why_size)
{
	const char *path = sock->path;
	enum status status;
	struct stat info;
	mode_t mask;
	int rc;

	sock->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock->fd < 0)
		return errno_status("socket", why, why_size);
	/* No process may connect before the group is set, so listen() comes last. */
	mask = umask(0117);
	rc = bind(sock->fd, (const struct sockaddr *)address, sizeof(*address));
	umask(mask);
	if (rc < 0 || lstat(path, &info) < 0) {
		status = errno_status(path, why, why_size);
		goto out;
	}
	sock->device = info.st_dev;
	sock->inode = info.st_ino;
	if (gid != (gid_t)-1 && lchown(path, (uid_t)-1, gid) < 0) {
		status = status_of_errno(errno);
		snprintf(why, why_size, "%s: cannot give it to socket_group: %s", path,
			strerror(errno));
	} else if (listen(sock->fd, BACKLOG) < 0) {
		status = errno_status(path, why, why_size);
	} else {
		return STATUS_OK;
	}
	unlink_own(sock);
out:
	close(sock->fd);
	sock->fd = -1;
	return status;
}

enum status socket_open(struct fcgi_socket *sock, const char *path, const char *group, char *why,
	size_t why_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	enum status status;
	gid_t gid;
	int lock;

	*sock = (struct fcgi_socket){.fd = -1, .path = path};
	if (!path[0] || !text_copy(address.sun_path, sizeof(address.sun_path), path)) {
		snprintf(why, why_size, "%s: a socket's path is 1 to %zu bytes", path,
			sizeof(address.sun_path) - 1);
		return STATUS_CONFIG;
	}
	/* Before the lock, since a directory service may be slow. */
	status = group_find("socket_group", group, &gid, why, why_size);
	if (status)
		return status;
	if (lock_directory_of(path, &lock)) {
		status = clear_path(&address, why, why_size);
		if (!status)
			status = bind_and_listen(sock, &address, gid, why, why_size);
	} else {
		status = STATUS_CONFIG;
		snprintf(why, why_size,
			"%s: another process has its directory locked: wait "
			"until that process has started, and repeat this",
			path);
	}
	unlock_directory(lock);
	return status;
}

void socket_unlink(const struct fcgi_socket *sock)
{
	int lock;

	/* A process that finds no listener replaces the file. */
	if (lock_directory_of(sock->path, &lock))
		unlink_own(sock);
	unlock_directory(lock);
}

bool socket_is_listening(int fd)
{
	int listening = 0;
	socklen_t len = sizeof(listening);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening;
}

bool socket_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool socket_is_unix(int fd)
{
	int domain = AF_UNSPEC;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}
