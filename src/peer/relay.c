#include "peer/relay.h"

#include "base/text.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A host that is gone is noticed after about this time, also while nothing is sent. */
#define ALIVE_IDLE_S     2
#define ALIVE_INTERVAL_S 1
#define ALIVE_COUNT      3
#define UNSENT_MS        5000

static ssize_t plain_read(void *context, void *to, size_t size)
{
	const struct relay_side *side = context;
	ssize_t got = recv(side->fd, to, size, MSG_DONTWAIT);

	if (got >= 0)
		return got;
	return errno == EAGAIN || errno == EINTR ? END_AGAIN : END_BROKEN;
}

static ssize_t plain_write(void *context, const void *from, size_t size)
{
	const struct relay_side *side = context;
	ssize_t put = send(side->fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (put >= 0)
		return put;
	return errno == EAGAIN || errno == EINTR ? END_AGAIN : END_BROKEN;
}

static struct pump_end plain_end(struct relay *relay)
{
	return (struct pump_end){plain_read, plain_write, &relay->plain};
}

static struct pump_end wire_end(struct relay *relay)
{
	return (struct pump_end){tls_read, tls_write, relay->tls};
}

/* Has epoll report @events of a side; none at all for 0, or a closed one would be reported for ever. */
static void watch_side(struct relay *relay, struct relay_side *side, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = side};
	int operation = !side->watched ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

	if (side->fd < 0 || side->watched == events)
		return;
	if (epoll_ctl(relay->epoll, operation, side->fd, &event) < 0)
		relay->stage = RELAY_ENDED;
	else
		side->watched = events;
}

static void tune_wire(int fd)
{
	const int on = 1, idle = ALIVE_IDLE_S, interval = ALIVE_INTERVAL_S, count = ALIVE_COUNT,
		  unsent = UNSENT_MS;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent, sizeof(unsent));
}

static struct relay *relay_make(int epoll, int wire, int plain, struct tls_identity *identity,
	bool inward)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay) {
		close(wire);
		if (plain >= 0)
			close(plain);
		return NULL;
	}
	relay->epoll = epoll;
	relay->inward = inward;
	relay->wire = (struct relay_side){relay, wire, 0};
	relay->plain = (struct relay_side){relay, plain, 0};
	relay->tls = tls_begin(identity, wire, inward);
	if (!relay->tls || !pump_init(&relay->in) || !pump_init(&relay->out)) {
		relay_free(relay);
		return NULL;
	}
	tune_wire(wire);
	return relay;
}

struct relay *relay_inward(int epoll, int fd, struct tls_identity *identity, int64_t deadline_ms)
{
	struct relay *relay = relay_make(epoll, fd, -1, identity, true);

	if (!relay)
		return NULL;
	address_of_socket(fd, relay->address);
	relay->deadline_ms = deadline_ms;
	relay->stage = RELAY_SHAKING;
	watch_side(relay, &relay->wire, EPOLLIN);
	return relay;
}

struct relay *relay_outward(int epoll, int fd, struct tls_identity *identity,
	const struct address *to, const struct hello *hello, int64_t deadline_ms)
{
	int wire = socket(to->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct relay *relay;
	char line[HELLO_MAX];
	size_t len = hello_put(line, hello);

	if (wire < 0) {
		close(fd);
		return NULL;
	}
	relay = relay_make(epoll, wire, fd, identity, false);
	if (!relay)
		return NULL;
	relay->deadline_ms = deadline_ms;
	relay->hello = *hello;
	relay->stage = RELAY_CONNECTING;
	if (!len || !pump_put(&relay->out, line, len) ||
		(connect(wire, (const struct sockaddr *)&to->storage, to->size) < 0 &&
			errno != EINPROGRESS))
		relay_refuse(relay, RELAY_REFUSED_TLS, strerror(errno));
	else
		watch_side(relay, &relay->wire, EPOLLOUT);
	return relay;
}

void relay_free(struct relay *relay)
{
	tls_end(relay->tls);
	if (relay->wire.fd >= 0)
		close(relay->wire.fd);
	if (relay->plain.fd >= 0)
		close(relay->plain.fd);
	pump_free(&relay->in);
	pump_free(&relay->out);
	free(relay);
}

void relay_refuse(struct relay *relay, enum relay_refusal refusal, const char *why)
{
	relay->failed = true;
	relay->refusal = refusal;
	snprintf(relay->why, sizeof(relay->why), "%s", why);
	relay->stage = RELAY_ENDED;
}

void relay_admit(struct relay *relay, int fd)
{
	relay->plain.fd = fd;
	relay->stage = RELAY_OPEN;
}

static void step_connect(struct relay *relay)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(relay->wire.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error)
		relay_refuse(relay, RELAY_REFUSED_TLS, strerror(error));
	else
		relay->stage = RELAY_SHAKING;
}

static void step_handshake(struct relay *relay)
{
	char why[TLS_WHY_SIZE];

	switch (tls_handshake(relay->tls)) {
	case TLS_WANTS_READ:
		watch_side(relay, &relay->wire, EPOLLIN);
		return;
	case TLS_WANTS_WRITE:
		watch_side(relay, &relay->wire, EPOLLOUT);
		return;
	case TLS_FAILED:
		relay_refuse(relay, tls_refusal(relay->tls, why), "");
		text_copy(relay->why, sizeof(relay->why), why);
		return;
	case TLS_READY:
		break;
	}
	if (relay->inward)
		relay->stage = RELAY_LISTENING;
	else if (relay->expected[0] && strcmp(relay->expected, tls_member(relay->tls)) != 0)
		relay_refuse(relay, RELAY_REFUSED_CERT, "another member answers at this address");
	else
		relay->stage = RELAY_OPEN;
}

static void step_hello(struct relay *relay)
{
	const struct pump_end wire = wire_end(relay);
	const bool broken = !pump_fill(&relay->in, &wire);
	struct bytes line = {relay->in.data + relay->in.start, relay->in.len};
	size_t size;

	switch (hello_get(line, &relay->hello, &size)) {
	case FRAME_COMPLETE:
		if (strcmp(relay->hello.member, tls_member(relay->tls)) == 0)
			relay->stage = RELAY_NAMED;
		else
			relay_refuse(relay, RELAY_REFUSED_HELLO,
				"the hello names another member than the certificate");
		return;
	case FRAME_INCOMPLETE:
		if (broken || relay->in.ended)
			relay_refuse(relay, RELAY_REFUSED_HELLO, "it closed before its hello");
		else
			watch_side(relay, &relay->wire, EPOLLIN);
		return;
	case FRAME_GARBAGE:
		relay_refuse(relay, RELAY_REFUSED_HELLO, "there is no hello of this form");
		return;
	}
}

/* Passes bytes from the wire on. */
static bool pass_in(struct relay *relay, const struct pump_end *plain, const struct pump_end *wire,
	bool ready)
{
	const size_t before = relay->in.len;

	do {
		if (ready && !pump_fill(&relay->in, wire))
			relay->in.ended = true;
		relay->heard |= relay->in.len > before;
		/* The client has gone: nothing takes these bytes. */
		if (relay->said)
			relay->in.len = 0;
		else if (!pump_drain(&relay->in, plain))
			return false;
		ready = tls_has_more(relay->tls) && pump_room(&relay->in) && !relay->in.ended;
	} while (ready);
	return true;
}

static bool pass_out(struct relay *relay, const struct pump_end *plain, const struct pump_end *wire,
	bool ready)
{
	if (ready && !pump_fill(&relay->out, plain))
		relay->out.ended = true;
	return pump_drain(&relay->out, wire);
}

static void step_open(struct relay *relay, bool plain_ready, bool wire_ready, int64_t now_ms)
{
	const struct pump_end plain = plain_end(relay), wire = wire_end(relay);

	if (!pass_in(relay, &plain, &wire, wire_ready) ||
		!pass_out(relay, &plain, &wire, plain_ready) ||
		(relay->in.ended && !relay->in.len)) {
		relay->stage = RELAY_ENDED;
		return;
	}
	/* A close with unread bytes could take back what was sent: the other side closes first. */
	if (relay->out.ended && !relay->out.len && !relay->said) {
		tls_say_end(relay->tls);
		relay->said = true;
	}
	if (!relay->closing && (relay->in.ended || relay->out.ended)) {
		relay->closing = true;
		relay->deadline_ms = now_ms + RELAY_LINGER_MS;
	}
	watch_side(relay, &relay->plain,
		(!relay->out.ended && pump_room(&relay->out) ? (uint32_t)EPOLLIN : 0) |
			(relay->in.len ? (uint32_t)EPOLLOUT : 0));
	watch_side(relay, &relay->wire,
		(!relay->in.ended && pump_room(&relay->in) ? (uint32_t)EPOLLIN : 0) |
			(relay->out.len ? (uint32_t)EPOLLOUT : 0));
}

void relay_step(struct relay *relay, bool plain, bool wire, int64_t now_ms)
{
	if (relay->stage == RELAY_CONNECTING)
		step_connect(relay);
	if (relay->stage == RELAY_SHAKING)
		step_handshake(relay);
	if (relay->stage == RELAY_LISTENING)
		step_hello(relay);
	if (relay->stage == RELAY_OPEN)
		step_open(relay, plain, wire, now_ms);
}
