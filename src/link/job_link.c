#include "link/job_link.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Time beyond that of the job: to read the request, and to ask the ledger. */
#define SPARE_MS INT64_C(15000)

void job_link_init(struct job_link *link)
{
	*link = (struct job_link){.fd = -1};
	buffer_init(&link->in, JOB_ANSWER_MAX);
}

void job_link_close(struct job_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	link->taken = 0;
	buffer_reset(&link->in);
}

void job_link_free(struct job_link *link)
{
	job_link_close(link);
	buffer_free(&link->in);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (!text_copy(address.sun_path, sizeof(address.sun_path), path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

enum job_link_status job_link_begin(struct job_link *link, const char *path,
	const struct job_request *request, int *error)
{
	struct buffer out;
	enum job_link_status status = JOB_LINK_NO_MEMORY;

	job_link_close(link);
	buffer_init(&out, JOB_REQUEST_MAX);
	/* The whole size at once: a buffer that grows would leave copies of the session in freed
	 * memory. */
	if (buffer_reserve(&out, JOB_REQUEST_MAX) && job_request_put(&out, request)) {
		link->until_ms = clock_boot_ms() + INT64_C(1000) * job_infos[request->job].seconds +
			SPARE_MS;
		link->fd = connect_to(path);
		*error = errno;
		status = JOB_LINK_ABSENT;
	}
	/* The request fits into the buffer of a new socket. */
	if (link->fd >= 0)
		status = send(link->fd, out.data, out.len, MSG_NOSIGNAL) == (ssize_t)out.len
			? JOB_LINK_DONE
			: JOB_LINK_LOST;
	if (out.data)
		explicit_bzero(out.data, out.len);
	buffer_free(&out);
	return status;
}

/* Receives more of the answer. */
static enum job_link_status receive_more(struct job_link *link)
{
	struct pollfd pfd = {.fd = link->fd, .events = POLLIN};
	const int64_t left_ms = link->until_ms - clock_boot_ms();
	const size_t room = JOB_ANSWER_MAX - link->in.len;
	uint8_t *to;
	ssize_t got;
	int ready;

	if (left_ms <= 0)
		return JOB_LINK_LOST;
	ready = poll(&pfd, 1, (int)left_ms);
	if (ready < 0 && errno == EINTR)
		return JOB_LINK_DONE;
	if (ready <= 0)
		return JOB_LINK_LOST;
	to = buffer_reserve(&link->in, room);
	if (!to)
		return JOB_LINK_NO_MEMORY;
	got = recv(link->fd, to, room, MSG_DONTWAIT);
	if (got > 0)
		link->in.len += (size_t)got;
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)) ? JOB_LINK_DONE
									   : JOB_LINK_LOST;
}

enum job_link_status job_link_next(struct job_link *link, struct job_part *part)
{
	enum job_link_status status;
	enum frame_read read;

	if (link->fd < 0)
		return JOB_LINK_LOST;
	buffer_consume(&link->in, link->taken);
	link->taken = 0;
	for (;;) {
		read = job_part_get((struct bytes){link->in.data, (uint32_t)link->in.len}, part,
			&link->taken);
		if (read == FRAME_COMPLETE)
			return JOB_LINK_DONE;
		if (read == FRAME_GARBAGE)
			return JOB_LINK_LOST;
		status = receive_more(link);
		if (status != JOB_LINK_DONE)
			return status;
	}
}
