#include "peer/peer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/rlimit.h"
#include "peer/host.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS_MAX 128
#define BACKLOG    512
/* Handshakes that are continued in one round, after all open relays had their turn. */
#define HANDSHAKES_MAX 16
#define SWEEP_MS       50
#define LOOK_MS        1000
/* Open relays each way, besides those of settings.ledger_connections_max: surplus ones and operators. */
#define RELAYS_SPARE      128
#define DESCRIPTORS_SPARE 64

/* What epoll carries for a descriptor that is no side of a relay. */
enum {
	EVENT_EDGE = 1,
	EVENT_ADMIN,
	EVENT_DESK,
	EVENT_STOP,
	EVENT_WIRE,
	EVENT_BOARD,
	EVENT_NUMBERS
};

enum status peer_prepare(const struct settings *settings, int *listener, char *why, size_t why_size)
{
	struct tls_identity *identity;
	struct address address;
	const int on = 1;
	enum status status;
	int fd;

	if (!address_parse(settings->cell_listen, &address)) {
		snprintf(why, why_size,
			"cell_listen = \"%s\" is no IP address with a port, such as 10.0.0.1:7410",
			settings->cell_listen);
		return STATUS_CONFIG;
	}
	status = tls_identity_load(settings->cell_tls_directory, settings->cell_member, &identity,
		why, why_size);
	if (status)
		return status;
	tls_identity_drop(identity);
	fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		bind(fd, (const struct sockaddr *)&address.storage, address.size) == 0 &&
		listen(fd, BACKLOG) == 0) {
		*listener = fd;
		return STATUS_OK;
	}
	status = status_of_errno(errno);
	snprintf(why, why_size, "cannot listen on cell_listen = %s: %s", settings->cell_listen,
		strerror(errno));
	if (fd >= 0)
		close(fd);
	return status;
}

/* Mixes what shows that the file NAME SUFFIX of the directory changed into @stamp. */
static uint64_t stamp_file(uint64_t stamp, const struct settings *settings, const char *name,
	const char *suffix)
{
	char path[SETTINGS_PATH_MAX + 128];
	struct stat info;

	snprintf(path, sizeof(path), "%s/%s%s", settings->cell_tls_directory, name, suffix);
	memset(&info, 0, sizeof(info));
	if (stat(path, &info) == 0)
		stamp += (uint64_t)info.st_ino + (uint64_t)info.st_mtim.tv_sec * 1000000007 +
			(uint64_t)info.st_mtim.tv_nsec + (uint64_t)info.st_size;
	return stamp * 1000003 + 1;
}

/* A number that changes with each file of the identity. */
static uint64_t files_stamp(const struct settings *settings)
{
	uint64_t stamp = stamp_file(0, settings, TLS_CA, "");

	stamp = stamp_file(stamp, settings, TLS_REMOVED, "");
	stamp = stamp_file(stamp, settings, settings->cell_member, ".pem");
	return stamp_file(stamp, settings, settings->cell_member, "-key.pem");
}

/* Reads the certificates again if a file changed. While they cannot be used, the old ones stay. */
static void look_at_files(struct peer_host *host, uint64_t *stamp)
{
	uint64_t now = files_stamp(host->settings);
	struct tls_identity *identity;
	char why[512];

	if (now == *stamp)
		return;
	*stamp = now;
	if (tls_identity_load(host->settings->cell_tls_directory, host->settings->cell_member,
		    &identity, why, sizeof(why)) != STATUS_OK) {
		log_line(LOG_LEVEL_ERROR, "certificates_not_read", "reason=\"%s\"", why);
		return;
	}
	tls_identity_drop(host->identity);
	host->identity = identity;
	host_review(host);
	log_line(LOG_LEVEL_INFO, "certificates_read", "member=%s", host->settings->cell_member);
}

static bool watch_number(const struct peer_host *host, int fd, uint64_t number)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = number};

	return epoll_ctl(host->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Accepts local clients only while this host relays, has room, and the active host was reached. */
static void choose_listening(struct peer_host *host, int64_t now_ms)
{
	const struct {
		int fd; /* -1: this host has none */
		uint64_t event;
	} listeners[] = {{host->sockets->edge, EVENT_EDGE}, {host->sockets->admin, EVENT_ADMIN},
		{host->sockets->desk, EVENT_DESK}};
	const bool wanted = host->view.role == RELAY_STANDBY && host->active.size &&
		now_ms >= host->paused_until_ms && host_has_room(host);

	if (wanted == host->accepts_local)
		return;
	host->accepts_local = wanted;
	for (size_t i = 0; i < sizeof(listeners) / sizeof(listeners[0]); i++) {
		if (listeners[i].fd < 0)
			continue;
		if (wanted)
			watch_number(host, listeners[i].fd, listeners[i].event);
		else
			epoll_ctl(host->epoll, EPOLL_CTL_DEL, listeners[i].fd, NULL);
	}
}

static void read_board(struct peer_host *host, struct relay_board *board)
{
	static const char *const names[] = {"unknown", "standby", "active"};
	uint64_t times;

	if (read(relay_board_fd(board), &times, sizeof(times)) < 0 && errno != EAGAIN)
		log_line(LOG_LEVEL_ERROR, "board_failed", "error=\"%s\"", strerror(errno));
	relay_board_get(board, &host->view);
	host->active.size = 0;
	if (host->view.role == RELAY_STANDBY && !address_parse(host->view.address, &host->active)) {
		host->active.size = 0;
		log_line(LOG_LEVEL_ERROR, "no_address", "address=\"%.63s\"", host->view.address);
	}
	host->pause_ms = host->paused_until_ms = 0;
	host_review(host);
	log_line(LOG_LEVEL_INFO, "peer_role", "role=%s address=%s member=%s",
		names[host->view.role <= RELAY_ACTIVE ? host->view.role : RELAY_UNKNOWN],
		host->view.address[0] ? host->view.address : "-",
		host->view.member[0] ? host->view.member : "-");
}

static void on_number(struct peer_host *host, struct relay_board *board, uint64_t number,
	int64_t now_ms)
{
	switch (number) {
	case EVENT_EDGE:
		host_accept_outward(host, host->sockets->edge, SOCKET_EDGE, now_ms);
		return;
	case EVENT_ADMIN:
		host_accept_outward(host, host->sockets->admin, SOCKET_ADMIN, now_ms);
		return;
	case EVENT_DESK:
		host_accept_outward(host, host->sockets->desk, SOCKET_DESK, now_ms);
		return;
	case EVENT_WIRE:
		host_accept_inward(host, now_ms);
		return;
	case EVENT_BOARD:
		read_board(host, board);
		return;
	default:
		host->stop = true;
	}
}

/* Open relays first, then some handshakes, then what is new: strangers do not delay members. */
static void on_events(struct peer_host *host, struct relay_board *board,
	const struct epoll_event *events, int count, int64_t now_ms)
{
	unsigned int handshakes = 0;

	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < count; i++) {
			const uint32_t happened = events[i].events;
			struct relay_side *side = events[i].data.ptr;
			struct relay *relay;

			if (events[i].data.u64 < EVENT_NUMBERS) {
				if (pass == 2)
					on_number(host, board, events[i].data.u64, now_ms);
				continue;
			}
			relay = pass < 2 ? side->relay : NULL;
			if (!relay || relay->stage == RELAY_ENDED ||
				(pass == 0) != (relay->stage == RELAY_OPEN) ||
				(pass == 1 && ++handshakes > HANDSHAKES_MAX))
				continue;
			host_step(host, relay,
				side == &relay->plain && (happened & ~(uint32_t)EPOLLOUT),
				side == &relay->wire && (happened & ~(uint32_t)EPOLLOUT), now_ms);
		}
	}
}

static int wait_ms(const struct peer_host *host, int64_t now_ms, int64_t look_ms)
{
	int64_t wait = look_ms - now_ms;

	if (host->unsettled && wait > SWEEP_MS)
		wait = SWEEP_MS;
	if (host->paused_until_ms > now_ms && host->paused_until_ms - now_ms < wait)
		wait = host->paused_until_ms - now_ms;
	return wait > 0 ? (int)wait : 0;
}

static void look_around(struct peer_host *host, uint64_t *stamp)
{
	look_at_files(host, stamp);
	if (host->unlogged)
		log_line(LOG_LEVEL_WARNING, "peer_refused_more", "count=%u", host->unlogged);
	host->logged = host->unlogged = 0;
}

static void serve_clients(struct peer_host *host, struct relay_board *board)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t stamp = files_stamp(host->settings);
	int64_t now_ms = clock_boot_ms(), look_ms = now_ms + LOOK_MS, sweep_ms = now_ms;
	int count;

	read_board(host, board);
	while (!host->stop) {
		choose_listening(host, now_ms);
		count = epoll_wait(host->epoll, events, EVENTS_MAX, wait_ms(host, now_ms, look_ms));
		now_ms = clock_boot_ms();
		on_events(host, board, events, count, now_ms);
		if (now_ms >= look_ms) {
			look_around(host, &stamp);
			look_ms = now_ms + LOOK_MS;
		}
		if (host->some_ended || (host->unsettled && now_ms >= sweep_ms)) {
			host_sweep(host, now_ms);
			sweep_ms = now_ms + SWEEP_MS;
		}
	}
}

/* Takes the memory and descriptors. Returns false if there are not enough. */
static bool open_host(struct peer_host *host, struct relay_board *board)
{
	rlim_t limit;
	sigset_t set;
	int stop;

	host->each_max = host->settings->ledger_connections_max + RELAYS_SPARE;
	limit = rlimit_raise_files(4 * (rlim_t)host->each_max + DESCRIPTORS_SPARE);
	if (limit && limit < 4 * (rlim_t)host->each_max + DESCRIPTORS_SPARE)
		host->each_max = limit > DESCRIPTORS_SPARE + 4
			? (uint32_t)(limit - DESCRIPTORS_SPARE) / 4
			: 1;
	host->room = 2 * host->each_max + PEER_STRANGERS_MAX;
	host->relays = calloc(host->room, sizeof(*host->relays));
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	stop = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	host->epoll = epoll_create1(EPOLL_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return host->relays && stop >= 0 && host->epoll >= 0 &&
		getppid() == relay_board_owner(board) && watch_number(host, stop, EVENT_STOP) &&
		watch_number(host, host->listener, EVENT_WIRE) &&
		watch_number(host, relay_board_fd(board), EVENT_BOARD);
}

int peer_run(const struct settings *settings, const struct sockets *sockets, int listener,
	const char *cell, struct relay_board *board)
{
	struct peer_host host = {.settings = settings,
		.sockets = sockets,
		.listener = listener,
		.cell = cell,
		.counts = relay_board_counts(board),
		.epoll = -1};
	char why[512];
	enum status status = tls_identity_load(settings->cell_tls_directory, settings->cell_member,
		&host.identity, why, sizeof(why));

	if (status) {
		log_line(LOG_LEVEL_ERROR, "peer_failed", "reason=\"%s\"", why);
		return status_exit_code(status);
	}
	host.counts->inward_open = host.counts->outward_open = 0;
	if (!open_host(&host, board)) {
		log_line(LOG_LEVEL_ERROR, "peer_failed", "reason=\"no memory or descriptors: %s\"",
			strerror(errno));
		free(host.relays);
		tls_identity_drop(host.identity);
		return status_exit_code(STATUS_NOMEM);
	}
	log_line(LOG_LEVEL_INFO, "peer_ready", "pid=%d member=%s listen=%s", (int)getpid(),
		settings->cell_member, settings->cell_listen);
	serve_clients(&host, board);
	host.view.role = RELAY_UNKNOWN;
	host_review(&host);
	host_sweep(&host, clock_boot_ms());
	free(host.relays);
	tls_identity_drop(host.identity);
	log_line(LOG_LEVEL_INFO, "peer_ended", "pid=%d", (int)getpid());
	return 0;
}

const struct relay_process peer_process = {peer_prepare, peer_run};
