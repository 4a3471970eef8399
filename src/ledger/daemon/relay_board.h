/*
 * relay_board - shared memory between the supervisor and its process `peer` (src/peer/peer.h).
 *
 * The supervisor makes it before it forks. The engine writes which host is active; the peer reads this. The
 * peer writes its counts; the engine reads them for the metrics. Only one process at a time writes each part.
 */
#ifndef LEDGER_DAEMON_RELAY_BOARD_H
#define LEDGER_DAEMON_RELAY_BOARD_H

#include "base/settings.h"
#include "ledger/daemon/sockets.h"
#include "link/hello.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* "10.0.0.1:7410" or "[fd00::1]:7410": no names, because a look-up could block the peer. */
#define RELAY_ADDRESS_SIZE 64

enum relay_role {
	RELAY_UNKNOWN, /* no active ledger is known: local clients wait in the backlog */
	RELAY_STANDBY, /* the one at view.address is active: local clients are relayed to it */
	RELAY_ACTIVE, /* the engine of this host serves: it accepts local clients, the peer strangers' */
};

struct relay_view {
	enum relay_role role;
	char address[RELAY_ADDRESS_SIZE]; /* STANDBY: where the peer of the active host listens */
	char member[HELLO_MEMBER_SIZE];   /* STANDBY: its name in the certificate; "": any member */
};

/* Why a connection of another host was refused. */
enum relay_refusal {
	RELAY_REFUSED_TLS,      /* not TLS 1.3, or broken */
	RELAY_REFUSED_CERT,     /* no certificate, or not of this cell's CA */
	RELAY_REFUSED_EXPIRED,  /* not yet or no longer valid */
	RELAY_REFUSED_REMOVED,  /* of a member that was removed */
	RELAY_REFUSED_HELLO,    /* no hello, or of another cell or member than the certificate's */
	RELAY_REFUSED_DEADLINE, /* handshake and hello took too long */
	RELAY_REFUSED_NOT_ACTIVE, /* this host's engine does not serve */
	RELAY_REFUSED_FULL,       /* too many connections */
	RELAY_REFUSAL_COUNT
};
extern const char *const relay_refusal_names[RELAY_REFUSAL_COUNT];

struct relay_counts {
	uint64_t inward;      /* connections of other hosts that were relayed to the engine, ever */
	uint64_t outward;     /* local connections that were relayed to another host, ever */
	uint64_t inward_open; /* now */
	uint64_t outward_open; /* now */
	uint64_t failed;       /* local connections that did not reach the active host, ever */
	uint64_t refused[RELAY_REFUSAL_COUNT];
};

struct relay_board;

/*
 * Returns a board with the role RELAY_UNKNOWN for processes that are forked later, or NULL with errno. It
 * lives until the last of them ends.
 */
struct relay_board *relay_board_new(void);

/*
 * The entry points of src/peer. main() passes them to the supervisor, because src/peer lies above this
 * folder. src/peer/peer.h has their contract.
 */
struct relay_process {
	enum status (*prepare)(const struct settings *settings, int *listener, char *why,
		size_t why_size);
	int (*run)(const struct settings *settings, const struct sockets *sockets, int listener,
		const char *cell, struct relay_board *board);
};

/* Only the engine, of which there is one at a time: publishes @view and wakes the peer. Never blocks. */
void relay_board_set(struct relay_board *board, const struct relay_view *view);

/* Copies what was published last. */
void relay_board_get(const struct relay_board *board, struct relay_view *view);

/* The descriptor, an eventfd(2), that becomes readable with each relay_board_set(). For the peer. */
int relay_board_fd(const struct relay_board *board);

/* Returns the pid of the process that made the board: the peer ends when it is no longer its parent. */
pid_t relay_board_owner(const struct relay_board *board);

/*
 * The counts. The peer adds to them; a new peer process sets the two of open connections to 0. Readers see
 * each number whole.
 */
struct relay_counts *relay_board_counts(struct relay_board *board);

#endif
