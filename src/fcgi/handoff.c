#include "fcgi/handoff.h"

#include "base/lock.h"
#include "base/text.h"
#include "fcgi/socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG      1024
#define LOCK_WAIT_MS 3000
/* Names that are checked for sockets of dead leaders. */
#define STALE_MAX 256

bool handoff_name(struct handoff_name *name, const char *directory, const char *file)
{
	int len;

	*name = (struct handoff_name){.address.sun_family = AF_UNIX};
	if (strlen(file) != HANDOFF_FILE_CHARS) {
		errno = EINVAL;
		return false;
	}
	len = snprintf(name->address.sun_path, sizeof(name->address.sun_path), "%s/%s", directory,
		file);
	if (len < 0 || (size_t)len >= sizeof(name->address.sun_path) ||
		!text_copy(name->directory, sizeof(name->directory), directory)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return true;
}

/*
 * Opens and locks the directory. Returns -1 on failure, see errno; EPERM: others than its owner
 * and group may write there, and could take its names.
 */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	int error;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) == 0) {
		errno = EPERM;
		if (!(info.st_mode & S_IWOTH) && lock_wait(fd, LOCK_WAIT_MS))
			return fd;
	}
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Returns true if a process listens at @address. */
static bool name_is_served(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused = fd >= 0 &&
		connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
		(errno == ECONNREFUSED || errno == ENOENT);

	if (fd >= 0)
		close(fd);
	/* If the check fails, the name stays. */
	return !refused;
}

/* Removes sockets of killed leaders whose web servers are gone. The directory is locked. */
static void remove_stale_names(const struct handoff_name *own)
{
	DIR *directory = opendir(own->directory);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct dirent *entry;
	unsigned int looked = 0;
	int len;

	while (directory && looked++ < STALE_MAX && (entry = readdir(directory))) {
		len = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", own->directory,
			entry->d_name);
		if (strlen(entry->d_name) == HANDOFF_FILE_CHARS && len > 0 &&
			(size_t)len < sizeof(address.sun_path) &&
			strcmp(address.sun_path, own->address.sun_path) != 0 &&
			!name_is_served(&address))
			unlink(address.sun_path);
	}
	if (directory)
		closedir(directory);
}

/*
 * Binds @fd to the name if no process listens there; see handoff_open(). The directory is locked.
 */
static bool bind_name(int fd, struct handoff_name *name, bool take_over)
{
	const struct sockaddr *address = (const struct sockaddr *)&name->address;
	struct stat info;

	if (bind(fd, address, sizeof(name->address)) < 0) {
		if (errno != EADDRINUSE)
			return false;
		if (!take_over || name_is_served(&name->address)) {
			errno = EADDRINUSE;
			return false;
		}
		if (unlink(name->address.sun_path) < 0 ||
			bind(fd, address, sizeof(name->address)) < 0)
			return false;
	}
	if (listen(fd, BACKLOG) < 0 || lstat(name->address.sun_path, &info) < 0)
		return false;
	name->device = info.st_dev;
	name->inode = info.st_ino;
	return true;
}

int handoff_open(struct handoff_name *name, bool take_over)
{
	int lock = lock_directory(name->directory), fd = -1, error;

	if (lock < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind_name(fd, name, take_over)) {
		remove_stale_names(name);
		close(lock);
		return fd;
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	close(lock);
	errno = error;
	return -1;
}

void handoff_close(const struct handoff_name *name, int fd)
{
	int lock = lock_directory(name->directory);
	struct stat info;

	/* Another worker may have taken the name over. */
	if (lock >= 0 && lstat(name->address.sun_path, &info) == 0 && info.st_dev == name->device &&
		info.st_ino == name->inode)
		unlink(name->address.sun_path);
	if (lock >= 0)
		close(lock);
	close(fd);
}

bool handoff_peer_is_own(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid() &&
		peer.gid == getegid();
}

bool handoff_send(int fd, enum handoff_message word)
{
	const char said = (char)word;

	return send(fd, &said, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

enum handoff_message handoff_receive(int fd)
{
	char said = 0;

	if (recv(fd, &said, 1, MSG_DONTWAIT) != 1)
		return HANDOFF_NONE;
	return said == HANDOFF_FOLLOW || said == HANDOFF_LEAVE ? (enum handoff_message)said
							       : HANDOFF_NONE;
}

/* A message with room for a descriptor. */
struct descriptor_message {
	char word;
	struct iovec iov;
	struct msghdr message;
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
};

static void descriptor_message_init(struct descriptor_message *with)
{
	*with = (struct descriptor_message){.word = HANDOFF_NONE};
	with->iov = (struct iovec){.iov_base = &with->word, .iov_len = 1};
	with->message = (struct msghdr){.msg_iov = &with->iov,
		.msg_iovlen = 1,
		.msg_control = &with->control,
		.msg_controllen = sizeof(with->control.space)};
}

static bool send_socket(int fd, int listen_fd)
{
	struct descriptor_message message;

	descriptor_message_init(&message);
	message.word = HANDOFF_FOLLOW;
	message.control.head.cmsg_len = CMSG_LEN(sizeof(int));
	message.control.head.cmsg_level = SOL_SOCKET;
	message.control.head.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&message.control.head), &listen_fd, sizeof(listen_fd));
	return sendmsg(fd, &message.message, MSG_NOSIGNAL) == 1;
}

/* Waits for the leader's confirmation. Returns false on failure, see errno. */
static bool wait_for_agreement(int fd, int signal_fd, int patience_ms)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	int count = poll(fds, 2, patience_ms);

	if (count > 0 && !fds[1].revents && handoff_receive(fd) == HANDOFF_FOLLOW)
		return true;
	errno = count == 0 ? EAGAIN : fds[1].revents ? EINTR : ECONNRESET;
	return false;
}

int handoff_register(const struct handoff_name *name, int listen_fd, int signal_fd, int patience_ms)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd >= 0 &&
		connect(fd, (const struct sockaddr *)&name->address, sizeof(name->address)) == 0 &&
		(handoff_peer_is_own(fd) || (errno = EPERM, false)) && send_socket(fd, listen_fd) &&
		wait_for_agreement(fd, signal_fd, patience_ms) && handoff_send(fd, HANDOFF_FOLLOW))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

/*
 * Returns the descriptor in @message. Closes several ones. Returns -1 if there is not exactly
 * one, or if some were lost.
 */
static int received_descriptor(struct msghdr *message)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);
	bool right = head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS;
	size_t count = right ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	int fd = -1;

	for (size_t i = 0; i < count; i++) {
		memcpy(&fd, CMSG_DATA(head) + i * sizeof(fd), sizeof(fd));
		if (count == 1 && !(message->msg_flags & MSG_CTRUNC))
			return fd;
		close(fd);
	}
	return -1;
}

int handoff_receive_socket(int fd)
{
	struct descriptor_message message;
	ssize_t got;
	int listen_fd;

	descriptor_message_init(&message);
	got = recvmsg(fd, &message.message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	listen_fd = got < 0 ? -1 : received_descriptor(&message.message);
	if (listen_fd >= 0 && got == 1 && message.word == HANDOFF_FOLLOW &&
		socket_is_listening(listen_fd) && socket_is_unix(listen_fd))
		return listen_fd;
	if (listen_fd >= 0)
		close(listen_fd);
	return -1;
}
