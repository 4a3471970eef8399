#include "fcgi/handoff.h"

#include "base/lock.h"
#include "base/text.h"
#include "fcgi/socket.h"
#include "wire/digest.h"

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
/* Characters of the digest in the socket's name: a socket's path is short. */
#define DIGEST_CHARS 16
/* So many names are looked at for sockets that dead leaders left. */
#define STALE_MAX 256

bool hall_name(struct hall_name *name, const char *directory, const char *mount)
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE];
	pid_t parent = getppid();
	bool ready;
	int len;

	digest_begin(&digest);
	digest_add(&digest, PACKAGE_VERSION, sizeof(PACKAGE_VERSION));
	digest_add(&digest, &parent, sizeof(parent));
	digest_add(&digest, mount, strlen(mount));
	ready = digest_text(&digest, text);
	digest_end(&digest);
	if (!ready) {
		errno = ENOMEM;
		return false;
	}
	*name = (struct hall_name){.address.sun_family = AF_UNIX};
	len = snprintf(name->address.sun_path, sizeof(name->address.sun_path), "%s/%.*s", directory,
		DIGEST_CHARS, text);
	if (len < 0 || (size_t)len >= sizeof(name->address.sun_path) ||
		!text_copy(name->directory, sizeof(name->directory), directory)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return true;
}

/*
 * Opens and locks the directory. -1: errno tells; EPERM: others than its owner and its group may write
 * there, so its names can be taken.
 */
static int directory_lock(const char *path)
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

/* True: a process listens at @address. */
static bool is_led(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused = fd >= 0 &&
		connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
		(errno == ECONNREFUSED || errno == ENOENT);

	if (fd >= 0)
		close(fd);
	/* Where it cannot be asked it is left alone. */
	return !refused;
}

/* Removes what leaders left that were killed, of web servers that are gone. The directory is locked. */
static void remove_stale(const struct hall_name *own)
{
	DIR *directory = opendir(own->directory);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct dirent *entry;
	unsigned int looked = 0;
	int len;

	while (directory && looked++ < STALE_MAX && (entry = readdir(directory))) {
		len = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", own->directory,
			entry->d_name);
		if (strlen(entry->d_name) == DIGEST_CHARS && len > 0 &&
			(size_t)len < sizeof(address.sun_path) &&
			strcmp(address.sun_path, own->address.sun_path) != 0 && !is_led(&address))
			unlink(address.sun_path);
	}
	if (directory)
		closedir(directory);
}

/* Binds @fd to the name, where no process listens; see hall_open(). The directory is locked. */
static bool bind_free(int fd, struct hall_name *name, bool take_over)
{
	const struct sockaddr *address = (const struct sockaddr *)&name->address;
	struct stat info;

	if (bind(fd, address, sizeof(name->address)) < 0) {
		if (errno != EADDRINUSE)
			return false;
		if (!take_over || is_led(&name->address)) {
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

int hall_open(struct hall_name *name, bool take_over)
{
	int lock = directory_lock(name->directory), fd = -1, error;

	if (lock < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind_free(fd, name, take_over)) {
		remove_stale(name);
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

void hall_close(const struct hall_name *name, int fd)
{
	int lock = directory_lock(name->directory);
	struct stat info;

	/* Another worker may have found no leader, and taken the name. */
	if (lock >= 0 && lstat(name->address.sun_path, &info) == 0 &&
		info.st_dev == name->device && info.st_ino == name->inode)
		unlink(name->address.sun_path);
	if (lock >= 0)
		close(lock);
	close(fd);
}

bool hall_is_own_kind(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
		peer.uid == geteuid() && peer.gid == getegid();
}

bool hall_say(int fd, enum hall_word word)
{
	const char said = (char)word;

	return send(fd, &said, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

enum hall_word hall_hear(int fd)
{
	char said = 0;

	if (recv(fd, &said, 1, MSG_DONTWAIT) != 1)
		return HALL_NOTHING;
	return said == HALL_FOLLOW || said == HALL_LEAVE ? (enum hall_word)said : HALL_NOTHING;
}

/* A word, with room for a descriptor beside it. */
struct letter {
	char word;
	struct iovec iov;
	struct msghdr message;
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
};

static void letter_init(struct letter *letter)
{
	*letter = (struct letter){.word = HALL_NOTHING};
	letter->iov = (struct iovec){.iov_base = &letter->word, .iov_len = 1};
	letter->message = (struct msghdr){.msg_iov = &letter->iov,
		.msg_iovlen = 1,
		.msg_control = &letter->control,
		.msg_controllen = sizeof(letter->control.space)};
}

static bool hand_over(int fd, int listen_fd)
{
	struct letter letter;

	letter_init(&letter);
	letter.word = HALL_FOLLOW;
	letter.control.head.cmsg_len = CMSG_LEN(sizeof(int));
	letter.control.head.cmsg_level = SOL_SOCKET;
	letter.control.head.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&letter.control.head), &listen_fd, sizeof(listen_fd));
	return sendmsg(fd, &letter.message, MSG_NOSIGNAL) == 1;
}

/* Waits for the leader's word. False: errno tells. */
static bool agreed(int fd, int signal_fd, int patience_ms)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	int count = poll(fds, 2, patience_ms);

	if (count > 0 && !fds[1].revents && hall_hear(fd) == HALL_FOLLOW)
		return true;
	errno = count == 0 ? EAGAIN : fds[1].revents ? EINTR : ECONNRESET;
	return false;
}

int hall_enter(const struct hall_name *name, int listen_fd, int signal_fd, int patience_ms)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&name->address,
			   sizeof(name->address)) == 0 &&
		(hall_is_own_kind(fd) || (errno = EPERM, false)) && hand_over(fd, listen_fd) &&
		agreed(fd, signal_fd, patience_ms) && hall_say(fd, HALL_FOLLOW))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

/* The descriptor that came with @message; others are closed. -1: not one, or something got lost. */
static int only_descriptor(struct msghdr *message)
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

int hall_receive(int fd)
{
	struct letter letter;
	ssize_t got;
	int listen_fd;

	letter_init(&letter);
	got = recvmsg(fd, &letter.message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	listen_fd = got < 0 ? -1 : only_descriptor(&letter.message);
	if (listen_fd >= 0 && got == 1 && letter.word == HALL_FOLLOW &&
		socket_is_listening(listen_fd) && socket_is_unix(listen_fd))
		return listen_fd;
	if (listen_fd >= 0)
		close(listen_fd);
	return -1;
}
