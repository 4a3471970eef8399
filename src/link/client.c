#include "link/client.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"
#include "link/frame.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* pause between attempts to connect */
#define RECONNECT_MS 10
/* While a call waits, link->idle is called this often. */
#define IDLE_MS 10

bool link_init(struct link *link, const char *path)
{
	memset(link, 0, sizeof(*link));
	link->fd = -1;
	buffer_init(&link->out, FRAME_REQUEST_MAX);
	buffer_init(&link->in, FRAME_MAX);
	return text_copy(link->path, sizeof(link->path), path);
}

static void disconnect_link(struct link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	link->posted = 0;
}

void link_close(struct link *link)
{
	disconnect_link(link);
	buffer_free(&link->out);
	buffer_free(&link->in);
}

/* Returns true if calls use link->mux. */
static bool is_shared(const struct link *link)
{
	return link->mux && fiber_current();
}

/* Calls link->idle while a call waits. Preserves errno. */
static void be_idle(const struct link *link)
{
	int kept = errno;

	if (link->idle && !is_shared(link))
		link->idle(link->idle_closure);
	errno = kept;
}

/* Waits for @events until the deadline. Returns false if it has passed or the wait failed. */
static bool wait_for(const struct link *link, short events, int64_t deadline_ms)
{
	struct pollfd pfd = {.fd = link->fd, .events = events};
	int64_t left, most = link->idle ? IDLE_MS : INT_MAX;
	int ready;

	for (;;) {
		left = deadline_ms - clock_boot_ms();
		if (left <= 0)
			return false;
		ready = poll(&pfd, 1, (int)(left < most ? left : most));
		if (ready > 0 || (ready < 0 && errno != EINTR))
			return ready > 0;
		be_idle(link);
	}
}

/*
 * Reads more into link->in. Returns false if the connection ended, the deadline passed or memory is
 * exhausted. If the deadline has already passed, it checks once. It waits in poll(): recv() on a
 * Unix socket also wakes when the peer reads what was sent, so every second wake-up would be
 * useless.
 */
static bool receive_frame(struct link *link, int64_t deadline_ms)
{
	uint8_t *to = buffer_reserve(&link->in, 4096);
	ssize_t got;
	bool in_time;

	if (!to)
		return false;
	do {
		in_time = wait_for(link, POLLIN, deadline_ms);
		got = recv(link->fd, to, link->in.cap - link->in.len, MSG_DONTWAIT);
	} while (got < 0 && (errno == EINTR || (errno == EAGAIN && in_time)));
	if (got <= 0)
		return false;
	link->in.len += (size_t)got;
	return true;
}

static struct bytes received_bytes(const struct link *link)
{
	return (struct bytes){link->in.data, (uint32_t)link->in.len};
}

/* Connects and reads the greeting. */
static enum link_try connect_once(struct link *link, int64_t deadline_ms)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t protocol;
	enum frame_read read = FRAME_INCOMPLETE;

	memcpy(address.sun_path, link->path, sizeof(address.sun_path));
	link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (link->fd < 0)
		return LINK_TRY_NOT_SENT;
	if (connect(link->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		disconnect_link(link);
		return LINK_TRY_NOT_SENT;
	}
	buffer_reset(&link->in);
	while (read == FRAME_INCOMPLETE && receive_frame(link, deadline_ms))
		read = greeting_get(received_bytes(link), &protocol, &link->generation);
	if (read == FRAME_COMPLETE && protocol == command_protocol()) {
		buffer_consume(&link->in, GREETING_SIZE);
		return LINK_TRY_ANSWERED;
	}
	disconnect_link(link);
	return read == FRAME_INCOMPLETE ? LINK_TRY_NOT_SENT : LINK_TRY_PROTOCOL;
}

/* Sends link->out. */
static enum link_try send_all(struct link *link, int64_t deadline_ms)
{
	size_t sent = 0;
	ssize_t n;

	while (sent < link->out.len) {
		n = send(link->fd, link->out.data + sent, link->out.len - sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			sent += (size_t)n;
		else if (errno == EAGAIN && wait_for(link, POLLOUT, deadline_ms))
			continue;
		else if (errno != EINTR)
			return sent ? LINK_TRY_LOST : LINK_TRY_NOT_SENT;
	}
	return LINK_TRY_ANSWERED;
}

/* Removes the answer to the posted command, the first @size bytes, from link->in. */
static void skip_posted(struct link *link, size_t size)
{
	buffer_consume(&link->in, size);
	link->posted = 0;
}

/* Sends the frame over link->mux. */
static enum link_try try_shared(struct link *link, struct frame_answer *answer,
	const struct mux_frame *frame, int64_t deadline_ms)
{
	enum link_try tried = mux_try(link->mux, frame, &link->in, deadline_ms);
	size_t size;

	if (tried == LINK_TRY_ANSWERED &&
		frame_get_answer(received_bytes(link), answer, &size) != FRAME_COMPLETE)
		return LINK_TRY_LOST;
	return tried;
}

/* Sends the frame in link->out on the link's own connection and waits for the answer. */
static enum link_try try_once(struct link *link, struct frame_answer *answer,
	const struct mux_frame *frame, int64_t deadline_ms)
{
	enum link_try tried;
	enum frame_read read;
	size_t size;

	if (is_shared(link))
		return try_shared(link, answer, frame, deadline_ms);
	if (link->fd < 0) {
		tried = connect_once(link, deadline_ms);
		if (tried != LINK_TRY_ANSWERED)
			return tried;
	}
	tried = send_all(link, deadline_ms);
	if (tried != LINK_TRY_ANSWERED) {
		disconnect_link(link);
		return tried;
	}
	/* The answer to the posted command may be here, in part or whole. */
	if (!link->posted)
		buffer_reset(&link->in);
	for (;;) {
		if (!receive_frame(link, deadline_ms)) {
			disconnect_link(link);
			return link->in.failed ? LINK_TRY_NOMEM : LINK_TRY_LOST;
		}
		read = frame_get_answer(received_bytes(link), answer, &size);
		if (read == FRAME_COMPLETE && link->posted && answer->tag == link->posted) {
			skip_posted(link, size);
			if (!link->in.len)
				continue;
			read = frame_get_answer(received_bytes(link), answer, &size);
		}
		if (read == FRAME_COMPLETE && answer->tag == frame->tag && size == link->in.len) {
			/* Answers arrive in order: a skipped one can no longer arrive. */
			link->posted = 0;
			return LINK_TRY_ANSWERED;
		}
		if (read != FRAME_INCOMPLETE) {
			disconnect_link(link);
			return LINK_TRY_LOST;
		}
	}
}

/* Returns the status of an answer. */
static enum status read_answer(struct link *link, enum command command,
	const struct frame_answer *answer, void *result)
{
	struct bytes payload = answer->payload;

	switch (answer->outcome) {
	case FRAME_DONE:
		if (answer->command == command &&
			unpack_record(&payload, command_infos[command].result_fields, result) &&
			payload.len == 0)
			return STATUS_OK;
		/* The command was applied, whatever the answer. */
		disconnect_link(link);
		return STATUS_UNKNOWN;
	case FRAME_BUSY:
		return STATUS_BUSY;
	case FRAME_FORBIDDEN:
		return STATUS_FORBIDDEN;
	default:
		return STATUS_FAULT;
	}
}

/*
 * Returns true if the answer means that this attempt did nothing but says nothing about an earlier
 * attempt, which may have been applied.
 */
static bool tells_of_itself_only(enum status status, const void *result)
{
	const struct verdict *verdict = result;

	if (status == STATUS_OK)
		return verdict->refusal == REFUSAL_RATE_LIMITED ||
			verdict->refusal == REFUSAL_STORAGE_FULL;
	return status != STATUS_NOMEM && status != STATUS_UNKNOWN;
}

/*
 * Appends the frame of a command to link->out and describes it in @frame. Returns false if memory is
 * exhausted.
 */
static bool add_frame(struct link *link, enum command command, const void *cmd,
	struct mux_frame *frame)
{
	size_t start;

	*frame = (struct mux_frame){.bytes = &link->out,
		.tag = is_shared(link) ? mux_tag(link->mux) : ++link->next_tag,
		.reads = command_infos[command].access == ACCESS_READ};
	start = frame_open_request(&link->out, (uint16_t)command, frame->tag);
	if (link->request_id)
		frame_name_request(&link->out, start, link->request_id);
	if (link->vouch)
		frame_vouch_request(&link->out, start, link->vouch);
	pack_record(&link->out, command_infos[command].cmd_fields, cmd);
	frame_close(&link->out, start);
	return !link->out.failed;
}

/* Writes the frame of a command as the only one. */
static bool make_frame(struct link *link, enum command command, const void *cmd,
	struct mux_frame *frame)
{
	buffer_reset(&link->out);
	return add_frame(link, command, cmd, frame);
}

enum status link_call(struct link *link, enum command command, const void *cmd, void *result,
	int64_t deadline_ms)
{
	struct mux_frame frame;
	struct frame_answer answer;
	enum link_try tried;
	enum status status;
	bool maybe_done = false;
	int64_t asked_ms;

	if (!make_frame(link, command, cmd, &frame))
		return STATUS_NOMEM;
	for (;;) {
		/* The answer may be read late, so it is dated at the time of its request. */
		asked_ms = clock_boot_ms();
		tried = try_once(link, &answer, &frame, deadline_ms);
		if (tried == LINK_TRY_ANSWERED) {
			link->generation = answer.generation;
			link->asked_ms = asked_ms;
			status = read_answer(link, command, &answer, result);
			if (!maybe_done || !tells_of_itself_only(status, result))
				return status;
		}
		if (tried == LINK_TRY_PROTOCOL)
			return maybe_done ? STATUS_UNKNOWN : STATUS_PROTOCOL;
		maybe_done |= tried == LINK_TRY_LOST || tried == LINK_TRY_NOMEM;
		be_idle(link);
		if (clock_boot_ms() + RECONNECT_MS >= deadline_ms)
			return maybe_done ? STATUS_UNKNOWN : STATUS_NOT_SENT;
		fiber_wait(-1, 0, clock_boot_ms() + RECONNECT_MS);
	}
}

/*
 * Receives the answer with @tag, the next one. Returns false, after closing the connection, if it does
 * not come.
 */
static bool receive_answer(struct link *link, uint64_t tag, struct frame_answer *answer,
	size_t *size, int64_t deadline_ms)
{
	enum frame_read read = frame_get_answer(received_bytes(link), answer, size);

	while (read == FRAME_INCOMPLETE && receive_frame(link, deadline_ms))
		read = frame_get_answer(received_bytes(link), answer, size);
	if (read == FRAME_COMPLETE && answer->tag == tag)
		return true;
	disconnect_link(link);
	return false;
}

/* Tries all commands once on the link's own connection. Returns how many were answered. */
static unsigned int try_several(struct link *link, enum command command, const void *const *cmds,
	unsigned int count, link_each *each, void *closure, int64_t deadline_ms)
{
	union any_result result;
	struct mux_frame frame;
	struct frame_answer answer;
	uint64_t first_tag = link->next_tag + 1;
	const int64_t asked_ms = clock_boot_ms();
	unsigned int done = 0;
	size_t size;

	if (is_shared(link) || link->posted ||
		(link->fd < 0 && connect_once(link, deadline_ms) != LINK_TRY_ANSWERED))
		return 0;
	buffer_reset(&link->out);
	for (unsigned int at = 0; at < count; at++) {
		if (!add_frame(link, command, cmds[at], &frame))
			return 0;
	}
	buffer_reset(&link->in);
	if (send_all(link, deadline_ms) != LINK_TRY_ANSWERED) {
		disconnect_link(link);
		return 0;
	}
	while (done < count &&
		receive_answer(link, first_tag + done, &answer, &size, deadline_ms)) {
		enum status status;

		memset(&result, 0, command_infos[command].result_size);
		link->generation = answer.generation;
		link->asked_ms = asked_ms;
		status = read_answer(link, command, &answer, &result);
		if (status == STATUS_UNKNOWN)
			break;
		each(closure, done++, status, &result);
		buffer_consume(&link->in, size);
	}
	/* A grant holds keys. */
	explicit_bzero(&result, command_infos[command].result_size);
	return done;
}

void link_call_several(struct link *link, enum command command, const void *const *cmds,
	unsigned int count, link_each *each, void *closure, int64_t deadline_ms)
{
	unsigned int done = try_several(link, command, cmds, count, each, closure, deadline_ms);
	union any_result result;
	enum status status;

	for (; done < count; done++) {
		memset(&result, 0, command_infos[command].result_size);
		status = link_call(link, command, cmds[done], &result, deadline_ms);
		each(closure, done, status, &result);
	}
	explicit_bzero(&result, command_infos[command].result_size);
}

/* Returns true if no posted command lacks its answer. Does not wait. */
static bool posted_was_answered(struct link *link)
{
	struct frame_answer answer;
	size_t size;

	if (!link->posted)
		return true;
	if (!receive_frame(link, 0) ||
		frame_get_answer(received_bytes(link), &answer, &size) != FRAME_COMPLETE ||
		answer.tag != link->posted || size != link->in.len)
		return false;
	skip_posted(link, size);
	return true;
}

bool link_post_ended(struct link *link)
{
	uint8_t byte;

	if (link->fd >= 0 && !posted_was_answered(link)) {
		if (recv(link->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN)
			return false;
		disconnect_link(link);
	}
	return true;
}

bool link_post(struct link *link, enum command command, const void *cmd)
{
	struct mux_frame frame;
	ssize_t sent;

	if (is_shared(link))
		return make_frame(link, command, cmd, &frame) && mux_post(link->mux, &frame);
	if (link->fd < 0 || !posted_was_answered(link) || !make_frame(link, command, cmd, &frame))
		return false;
	sent = send(link->fd, link->out.data, link->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent == (ssize_t)link->out.len) {
		buffer_reset(&link->in);
		link->posted = frame.tag;
		return true;
	}
	/* Half a frame was sent; it would precede the next one. */
	if (sent > 0)
		disconnect_link(link);
	return false;
}

struct bytes link_list_key(struct buffer *buffer, enum record record, unsigned int count,
	const void *record_row)
{
	buffer_reset(buffer);
	pack_key(buffer, record_infos[record].fields, count, record_row);
	return (struct bytes){buffer->data, (uint32_t)buffer->len};
}

bool link_list_row(struct bytes *rows, enum record record, void *row)
{
	return rows->len && unpack_record(rows, record_infos[record].fields, row);
}
