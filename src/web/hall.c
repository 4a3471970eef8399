#include "web/hall.h"

#include "web/socket.h"
#include "wire/digest.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG 1024

bool hall_name(struct hall_name *name, const char *mount)
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE];
	pid_t parent = getppid();
	bool ready;

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
	/* The first byte is 0: an abstract name (unix(7)). */
	*name = (struct hall_name){.address.sun_family = AF_UNIX};
	name->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		(size_t)snprintf(name->address.sun_path + 1, sizeof(name->address.sun_path) - 1,
			"creditbridge.fcgi/%s", text));
	return true;
}

int hall_open(const struct hall_name *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&name->address, name->len) == 0 &&
		listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
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
static bool agreed(int fd, int signal_fd)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	int count = poll(fds, 2, HALL_PATIENCE_MS);

	if (count > 0 && !fds[1].revents && hall_hear(fd) == HALL_FOLLOW)
		return true;
	errno = count == 0 ? EAGAIN : fds[1].revents ? EINTR : ECONNRESET;
	return false;
}

int hall_enter(const struct hall_name *name, int listen_fd, int signal_fd)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&name->address, name->len) == 0 &&
		(hall_is_own_kind(fd) || (errno = EPERM, false)) && hand_over(fd, listen_fd) &&
		agreed(fd, signal_fd) && hall_say(fd, HALL_FOLLOW))
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
