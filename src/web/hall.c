#include "web/hall.h"

#include "web/socket.h"
#include "wire/digest.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define BACKLOG 1024
/* What either side says. */
#define WORD 'f'

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

/* False: the other end is not this program's, or is not known. */
static bool is_own_kind(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
		peer.uid == geteuid() && peer.gid == getegid();
}

static bool be_patient(int fd)
{
	const struct timeval patience = {.tv_sec = HALL_PATIENCE_S};

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0;
}

bool hall_say(int fd)
{
	const char word = WORD;

	return send(fd, &word, 1, MSG_NOSIGNAL) == 1;
}

bool hall_heard(int fd)
{
	char word = 0;
	ssize_t got = recv(fd, &word, 1, 0);

	if (got == 0)
		errno = ECONNRESET;
	return got == 1 && word == WORD;
}

static bool hand_over(int fd, int listen_fd)
{
	char word = WORD;
	struct iovec iov = {.iov_base = &word, .iov_len = 1};
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space)};

	memcpy(CMSG_DATA(&control.head), &listen_fd, sizeof(listen_fd));
	return sendmsg(fd, &message, MSG_NOSIGNAL) == 1;
}

int hall_enter(const struct hall_name *name, int listen_fd)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd >= 0 && be_patient(fd) &&
		connect(fd, (const struct sockaddr *)&name->address, name->len) == 0 &&
		(is_own_kind(fd) || (errno = EPERM, false)) && hand_over(fd, listen_fd) &&
		hall_heard(fd) && hall_say(fd))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

int hall_receive(int fd)
{
	char word = 0;
	struct iovec iov = {.iov_base = &word, .iov_len = 1};
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space)};
	const struct cmsghdr *head;
	int listen_fd;

	if (!is_own_kind(fd) || recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != 1 || word != WORD)
		return -1;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
		head->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&listen_fd, CMSG_DATA(head), sizeof(listen_fd));
	if (socket_is_listening(listen_fd) && socket_is_unix(listen_fd))
		return listen_fd;
	close(listen_fd);
	return -1;
}
