#include "peer/host.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "ledger/daemon/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ACCEPTS_MAX 16

static void log_refused(struct peer_host *host, const struct relay *relay)
{
	const char *member = tls_member(relay->tls);
	char quoted[LOG_QUOTED_MAX];

	host->counts->refused[relay->refusal]++;
	if (host->logged++ >= HOST_LOGGED_A_SECOND) {
		host->unlogged++;
		return;
	}
	log_line(LOG_LEVEL_WARNING, "peer_refused", "reason=%s address=%s member=%s why=\"%s\"",
		relay_refusal_names[relay->refusal], relay->address, member[0] ? member : "-",
		log_quote(quoted, relay->why));
}

/* A local client did not reach the active host: the others wait in the backlog for a moment. */
static void log_failed(struct peer_host *host, const struct relay *relay, int64_t now_ms)
{
	char quoted[LOG_QUOTED_MAX];

	host->counts->failed++;
	host->pause_ms = host->pause_ms ? 2 * host->pause_ms : HOST_PAUSE_MS;
	if (host->pause_ms > HOST_PAUSE_MAX_MS)
		host->pause_ms = HOST_PAUSE_MAX_MS;
	host->paused_until_ms = now_ms + host->pause_ms;
	if (host->logged++ < HOST_LOGGED_A_SECOND)
		log_line(LOG_LEVEL_WARNING, "relay_failed", "address=%s why=\"%s\"",
			host->view.address,
			log_quote(quoted, relay->failed ? relay->why : "it closed at once"));
}

static bool add_relay(struct peer_host *host, struct relay *relay)
{
	if (!relay)
		return false;
	host->relays[host->count++] = relay;
	host->unsettled = true;
	host->some_ended |= relay->stage == RELAY_ENDED;
	return true;
}

/* The address without its port. */
static size_t ip_length(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? (size_t)(colon - address) : strlen(address);
}

static bool same_ip(const struct relay *a, const struct relay *b)
{
	size_t len = ip_length(a->address);

	return len == ip_length(b->address) && strncmp(a->address, b->address, len) == 0;
}

static bool is_stranger(const struct relay *relay)
{
	return relay->inward && relay->stage < RELAY_OPEN;
}

/* Gives up the oldest handshake of the address that has most. */
static void push_out_stranger(struct peer_host *host)
{
	struct relay *chosen = NULL;
	unsigned int most = 0, same;

	for (uint32_t i = 0; i < host->count; i++) {
		if (!is_stranger(host->relays[i]))
			continue;
		same = 0;
		for (uint32_t j = 0; j < host->count; j++)
			same += is_stranger(host->relays[j]) &&
				same_ip(host->relays[i], host->relays[j]);
		/* In the order of their age: the first of several stays chosen. */
		if (same > most) {
			most = same;
			chosen = host->relays[i];
		}
	}
	if (chosen)
		relay_refuse(chosen, RELAY_REFUSED_FULL, "too many handshakes run at a time");
}

void host_accept_inward(struct peer_host *host, int64_t now_ms)
{
	struct relay *relay;
	int fd;

	for (unsigned int i = 0; i < ACCEPTS_MAX; i++) {
		if (host->strangers >= PEER_STRANGERS_MAX) {
			push_out_stranger(host);
			host_sweep(host, now_ms);
		}
		if (host->count == host->room)
			return;
		fd = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		relay = relay_inward(host->epoll, fd, host->identity, now_ms + PEER_HANDSHAKE_MS);
		host->strangers += add_relay(host, relay);
	}
}

/* Reads the login uid of the process @pid. UINT32_MAX: none, or it has ended. */
static uint32_t login_uid_of(pid_t pid)
{
	char path[64], text[16] = "";
	uint64_t uid;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/loginuid", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return UINT32_MAX;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return text_unsigned(text, UINT32_MAX, &uid) ? (uint32_t)uid : UINT32_MAX;
}

/* Describes the client of a local socket. Returns false if it may not be relayed. */
static bool describe_client(const struct peer_host *host, int fd, enum command_socket socket,
	struct hello *hello)
{
	struct ucred client;
	socklen_t len = sizeof(client);

	memset(hello, 0, sizeof(*hello));
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &client, &len) < 0)
		return false;
	if (socket == SOCKET_ADMIN)
		hello->role = identity_of(fd, &host->sockets->groups).role;
	/* The active host relies on this role: it does not see the groups of this host. */
	if (socket == SOCKET_ADMIN && hello->role == ROLE_NONE) {
		log_line(LOG_LEVEL_WARNING, "relay_forbidden", "uid=%u socket=admin", client.uid);
		return false;
	}
	hello->socket = socket;
	hello->uid = client.uid;
	hello->login_uid = login_uid_of(client.pid);
	return text_copy(hello->cell, sizeof(hello->cell), host->cell) &&
		text_copy(hello->member, sizeof(hello->member), host->settings->cell_member);
}

bool host_has_room(const struct peer_host *host)
{
	return host->counts->outward_open < host->each_max && host->count < host->room &&
		host->reaching < PEER_REACHING_MAX;
}

void host_accept_outward(struct peer_host *host, int listener, enum command_socket socket,
	int64_t now_ms)
{
	struct relay *relay;
	struct hello hello;
	int fd;

	for (unsigned int i = 0; i < ACCEPTS_MAX; i++) {
		if (!host_has_room(host))
			return;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		if (!describe_client(host, fd, socket, &hello)) {
			close(fd);
			continue;
		}
		relay = relay_outward(host->epoll, fd, host->identity, &host->active, &hello,
			now_ms + PEER_HANDSHAKE_MS);
		if (!add_relay(host, relay))
			continue;
		text_copy(relay->expected, sizeof(relay->expected), host->view.member);
		text_copy(relay->address, sizeof(relay->address), host->view.address);
		host->reaching++;
		host->counts->outward++;
		host->counts->outward_open++;
	}
}

/* Connects to the engine. Returns -1 if it has no room; while it starts, the connection waits. */
static int connect_engine(const struct peer_host *host)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.96s/" SOCKETS_PEER,
		host->settings->socket_directory);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Decides about the client of another host whose hello has come. */
static void admit_or_refuse(struct peer_host *host, struct relay *relay)
{
	int fd;

	if (strcmp(relay->hello.cell, host->cell) != 0)
		relay_refuse(relay, RELAY_REFUSED_HELLO, "the hello is of another cell");
	else if (tls_identity_refuses(host->identity, tls_serial(relay->tls)))
		/* Removed during its handshake, which used the earlier list. */
		relay_refuse(relay, RELAY_REFUSED_REMOVED, "the member was removed");
	else if (host->view.role != RELAY_ACTIVE)
		relay_refuse(relay, RELAY_REFUSED_NOT_ACTIVE, "this host's ledger does not serve");
	else if (host->counts->inward_open >= host->each_max)
		relay_refuse(relay, RELAY_REFUSED_FULL, "too many connections are relayed");
	else if ((fd = connect_engine(host)) < 0)
		relay_refuse(relay, RELAY_REFUSED_FULL, "the engine has no room");
	else
		relay_admit(relay, fd);
}

void host_step(struct peer_host *host, struct relay *relay, bool plain, bool wire, int64_t now_ms)
{
	const bool stranger = is_stranger(relay);

	relay_step(relay, plain, wire, now_ms);
	if (relay->stage == RELAY_NAMED) {
		admit_or_refuse(host, relay);
		relay_step(relay, false, true, now_ms);
		if (stranger && !relay->failed) {
			host->counts->inward++;
			host->counts->inward_open++;
			host->strangers--;
			/* Whatever follows, it counts as one that was open. */
			relay->admitted = true;
		}
	}
	if (!relay->inward && relay->heard && !relay->reached) {
		relay->reached = true;
		host->reaching--;
		host->pause_ms = 0;
	}
	host->some_ended |= relay->stage == RELAY_ENDED;
	host->unsettled |= relay->closing;
}

/* Counts the end of a relay. */
static void count_end(struct peer_host *host, const struct relay *relay, int64_t now_ms)
{
	if (!relay->inward) {
		host->counts->outward_open--;
		host->reaching -= !relay->reached;
		if (!relay->heard && !relay->closing && !relay->moved)
			log_failed(host, relay, now_ms);
		return;
	}
	if (relay->admitted)
		host->counts->inward_open--;
	else
		host->strangers--;
	if (relay->failed)
		log_refused(host, relay);
}

void host_sweep(struct peer_host *host, int64_t now_ms)
{
	uint32_t kept = 0;

	host->some_ended = host->unsettled = false;
	for (uint32_t i = 0; i < host->count; i++) {
		struct relay *relay = host->relays[i];

		if (relay->stage < RELAY_OPEN && now_ms >= relay->deadline_ms)
			relay_refuse(relay, RELAY_REFUSED_DEADLINE,
				"handshake and hello took longer than 2 s");
		else if (relay->closing && now_ms >= relay->deadline_ms)
			relay->stage = RELAY_ENDED;
		if (relay->stage != RELAY_ENDED) {
			host->unsettled |= relay->stage < RELAY_OPEN || relay->closing;
			host->relays[kept++] = relay;
			continue;
		}
		count_end(host, relay, now_ms);
		relay_free(relay);
	}
	host->count = kept;
}

void host_review(struct peer_host *host)
{
	for (uint32_t i = 0; i < host->count; i++) {
		struct relay *relay = host->relays[i];
		bool fits = relay->inward
			? relay->stage < RELAY_OPEN || host->view.role == RELAY_ACTIVE
			: host->view.role == RELAY_STANDBY &&
				strcmp(relay->address, host->view.address) == 0;

		if (fits && !tls_identity_refuses(host->identity, tls_serial(relay->tls)))
			continue;
		relay->moved = true;
		relay->stage = RELAY_ENDED;
		host->some_ended = true;
	}
}
