#include "link/mux.h"

#include "base/clock.h"
#include "base/text.h"
#include "link/commands.h"
#include "link/frame.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define READ_SIZE 65536
/* Poll interval of fibers that wait while another fiber connects. */
#define LOOK_MS 2

bool mux_init(struct mux *mux, const char *path)
{
	memset(mux, 0, sizeof(*mux));
	mux->fd = -1;
	buffer_init(&mux->out, FRAME_REQUEST_MAX + 4 * FRAME_MAX);
	buffer_init(&mux->in, FRAME_MAX + READ_SIZE);
	return text_copy(mux->path, sizeof(mux->path), path);
}

void mux_free(struct mux *mux)
{
	if (mux->fd >= 0)
		close(mux->fd);
	buffer_free(&mux->out);
	buffer_free(&mux->in);
}

bool muxes_init(struct muxes *muxes, const char *path, unsigned int calls)
{
	unsigned int count = (calls + MUX_CALLS_EACH - 1) / MUX_CALLS_EACH;

	muxes->count = count < MUXES_MAX ? count : MUXES_MAX;
	muxes->next = 0;
	for (unsigned int i = 0; i < muxes->count; i++) {
		if (!mux_init(&muxes->list[i], path))
			return false;
	}
	return true;
}

void muxes_free(struct muxes *muxes)
{
	for (unsigned int i = 0; i < muxes->count; i++)
		mux_free(&muxes->list[i]);
	muxes->count = 0;
}

struct mux *muxes_pick(struct muxes *muxes)
{
	if (!muxes || !muxes->count)
		return NULL;
	return &muxes->list[muxes->next++ / MUX_CALLS_EACH % muxes->count];
}

uint64_t mux_tag(struct mux *mux)
{
	return ++mux->next_tag;
}

static void finish_call(struct mux_call *call, enum link_try tried)
{
	if (!call)
		return;
	call->tried = tried;
	call->done = true;
	fiber_wake(call->fiber);
}

/* Closes the connection; every unanswered call is lost. */
static void disconnect_mux(struct mux *mux)
{
	const struct mux_sent *sent;

	if (mux->fd >= 0) {
		fiber_forget(mux->fd);
		close(mux->fd);
	}
	mux->fd = -1;
	mux->state = MUX_DOWN;
	for (; mux->count; mux->count--) {
		sent = &mux->sent[mux->first];
		mux->first = (mux->first + 1) % MUX_CALLS_MAX;
		finish_call(sent->call,
			sent->at >= mux->sent_bytes ? LINK_TRY_NOT_SENT : LINK_TRY_LOST);
	}
	buffer_reset(&mux->out);
	buffer_reset(&mux->in);
	mux->sent_bytes = 0;
	mux->posts = 0;
}

/* Reads available data. Returns false if the connection ended or memory is exhausted. */
static bool receive_answers(struct mux *mux, bool *more)
{
	uint8_t *to = buffer_reserve(&mux->in, READ_SIZE);
	ssize_t got;

	*more = false;
	if (!to)
		return false;
	do
		got = recv(mux->fd, to, READ_SIZE, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		mux->in.len += (size_t)got;
	*more = got == READ_SIZE;
	return got > 0 || (got < 0 && errno == EAGAIN);
}

/* Reads the greeting of a new connection. */
static enum link_try greet_ledger(struct mux *mux, int64_t deadline_ms)
{
	enum frame_read read = FRAME_INCOMPLETE;
	uint64_t protocol, generation;
	struct bytes in;
	bool more;

	while (read == FRAME_INCOMPLETE && fiber_wait(mux->fd, POLLIN, deadline_ms)) {
		if (!receive_answers(mux, &more))
			return LINK_TRY_NOT_SENT;
		in = (struct bytes){mux->in.data, (uint32_t)mux->in.len};
		read = greeting_get(in, &protocol, &generation);
	}
	if (read == FRAME_INCOMPLETE)
		return LINK_TRY_NOT_SENT;
	if (read != FRAME_COMPLETE || protocol != command_protocol())
		return LINK_TRY_PROTOCOL;
	buffer_consume(&mux->in, GREETING_SIZE);
	return LINK_TRY_ANSWERED;
}

static enum link_try connect_once(struct mux *mux, int64_t deadline_ms)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	enum link_try tried = LINK_TRY_NOT_SENT;

	memcpy(address.sun_path, mux->path, sizeof(address.sun_path));
	mux->state = MUX_CONNECTING;
	mux->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (mux->fd >= 0 && connect(mux->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		tried = greet_ledger(mux, deadline_ms);
	if (tried != LINK_TRY_ANSWERED) {
		disconnect_mux(mux);
		return tried;
	}
	fiber_forget(mux->fd);
	mux->state = MUX_UP;
	fiber_wake_last(mux->pump, false);
	return tried;
}

/* Makes sure that there is a connection. */
static enum link_try reach_ledger(struct mux *mux, int64_t deadline_ms)
{
	while (mux->state == MUX_CONNECTING) {
		if (clock_boot_ms() >= deadline_ms)
			return LINK_TRY_NOT_SENT;
		fiber_wait(-1, 0, clock_boot_ms() + LOOK_MS);
	}
	return mux->state == MUX_UP ? LINK_TRY_ANSWERED : connect_once(mux, deadline_ms);
}

/* Passes a frame to the pump. Returns false if there is no room. */
static bool hand_over(struct mux *mux, const struct mux_frame *frame, struct mux_call *call)
{
	const struct buffer *bytes = frame->bytes;
	uint64_t at = mux->sent_bytes + mux->out.len;

	if (mux->count == MUX_CALLS_MAX || !buffer_append(&mux->out, bytes->data, bytes->len))
		return false;
	mux->sent[(mux->first + mux->count++) % MUX_CALLS_MAX] =
		(struct mux_sent){.tag = frame->tag, .at = at, .call = call, .posted = !call};
	mux->posts += !call;
	/*
	 * Other ready fibers have frames too, so the pump runs last. For reads it also yields the
	 * CPU, since other processes may bring more of them. Writes need no such wait: the ledger
	 * gathers them while it commits. A single call does not wait.
	 */
	fiber_wake_last(mux->pump, call && frame->reads && mux->count > 1);
	return true;
}

/* Removes a call that no longer waits from the ring. Its answer will be skipped. */
static void abandon_call(struct mux *mux, const struct mux_call *call)
{
	for (unsigned int i = 0; i < mux->count; i++) {
		struct mux_sent *sent = &mux->sent[(mux->first + i) % MUX_CALLS_MAX];

		if (sent->call == call)
			sent->call = NULL;
	}
}

enum link_try mux_try(struct mux *mux, const struct mux_frame *frame, struct buffer *in,
	int64_t deadline_ms)
{
	struct mux_call call = {.fiber = fiber_current(), .in = in};
	enum link_try tried = reach_ledger(mux, deadline_ms);

	if (tried != LINK_TRY_ANSWERED)
		return tried;
	if (!hand_over(mux, frame, &call)) {
		/* Only a ledger that does not answer leaves so much unsent. */
		mux->out.failed = false;
		return LINK_TRY_NOT_SENT;
	}
	while (!call.done && clock_boot_ms() < deadline_ms)
		fiber_wait(-1, 0, deadline_ms);
	if (call.done)
		return call.tried;
	abandon_call(mux, &call);
	return LINK_TRY_LOST;
}

bool mux_post(struct mux *mux, const struct mux_frame *frame)
{
	if (mux->state != MUX_UP || mux->posts == MUX_POSTS_MAX)
		return false;
	if (hand_over(mux, frame, NULL))
		return true;
	mux->out.failed = false;
	return false;
}

/* Passes complete frames to the waiting calls. Returns false on garbage or exhausted memory. */
static bool deliver_answers(struct mux *mux)
{
	struct frame_answer answer;
	struct mux_sent *sent;
	struct mux_call *call;
	struct bytes left;
	enum frame_read read;
	size_t taken = 0, size;

	for (;;) {
		left = (struct bytes){mux->in.data + taken, (uint32_t)(mux->in.len - taken)};
		read = frame_get_answer(left, &answer, &size);
		if (read != FRAME_COMPLETE)
			break;
		/* Answers arrive in order: a skipped one can no longer arrive. */
		do {
			if (!mux->count)
				return false;
			sent = &mux->sent[mux->first];
			call = sent->call;
			if (call && sent->tag != answer.tag)
				return false;
			mux->first = (mux->first + 1) % MUX_CALLS_MAX;
			mux->count--;
			mux->posts -= sent->posted;
		} while (sent->tag != answer.tag);
		taken += size;
		if (!call)
			continue;
		buffer_reset(call->in);
		finish_call(call,
			buffer_append(call->in, left.data, size) ? LINK_TRY_ANSWERED
								 : LINK_TRY_NOMEM);
	}
	buffer_consume(&mux->in, taken);
	return read == FRAME_INCOMPLETE;
}

/* Sends as much as the socket accepts. Returns false if the connection ended. */
static bool flush_calls(struct mux *mux)
{
	ssize_t sent;

	while (mux->out.len) {
		sent = send(mux->fd, mux->out.data, mux->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent > 0) {
			mux->sent_bytes += (uint64_t)sent;
			buffer_consume(&mux->out, (size_t)sent);
		} else if (errno == EAGAIN) {
			break;
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

void mux_pump(void *context)
{
	struct mux *mux = context;
	bool more;

	mux->pump = fiber_current();
	for (;;) {
		more = false;
		if (mux->state != MUX_UP) {
			fiber_wait(-1, 0, FIBER_FOREVER);
			continue;
		}
		if (!flush_calls(mux) ||
			(fiber_was_notified(mux->fd) &&
				(!receive_answers(mux, &more) || !deliver_answers(mux)))) {
			disconnect_mux(mux);
			continue;
		}
		if (!more)
			fiber_wait(mux->fd, mux->out.len ? POLLIN | POLLOUT : POLLIN,
				FIBER_FOREVER);
	}
}
