/*
 * sockets - edge.sock, admin.sock and desk.sock, created here or passed by systemd; and peer.sock, created
 * here if the host belongs to a cell (settings.cell_listen).
 */
#ifndef LEDGER_DAEMON_SOCKETS_H
#define LEDGER_DAEMON_SOCKETS_H

#include "base/settings.h"
#include "ledger/daemon/identity.h"

/* Names in settings.socket_directory. */
#define SOCKETS_EDGE  "edge.sock"
#define SOCKETS_ADMIN "admin.sock"
/* Carries the clients of other hosts: each connection begins with a hello (link/hello.h). */
#define SOCKETS_PEER "peer.sock"
#define SOCKETS_DESK "desk.sock"

struct relay_board;
struct sockets {
	int edge;  /* 0660, group of settings.socket_group */
	int admin; /* 0600, and a list of @groups */
	int peer;  /* 0600; -1: this host belongs to no cell */
	struct relay_board
		*relay; /* of the peer (relay_keeper.h); NULL: this host belongs to no cell */
	struct role_groups groups; /* that may connect to @admin, too */
	int desk; /* 0600, with an access control list for settings.console_group; -1: there is no console */
};

/*
 * Takes the sockets "edge", "admin" and "desk" from systemd (sd_listen_fds(3)), or creates them in
 * settings.socket_directory. On failure writes a reason to @why. Returns STATUS_CONFIG, or another
 * status if a restart may succeed. Replaces a socket file that a killed ledger left: the caller
 * holds the lock of the state.
 */
enum status sockets_open(const struct settings *settings, struct sockets *sockets, char *why,
	size_t why_size);

/*
 * Looks up read_group and support_group and lets them connect to admin.sock, and console_group to
 * desk.sock. A failure is logged, and the ledger goes on without that group: the operator can still
 * connect to admin.sock.
 */
void sockets_admit_groups(const struct settings *settings, struct sockets *sockets);

/*
 * Creates the directory SETTINGS_TOGETHER in the socket directory @directory, with mode 1770 and
 * the group of edge.sock. An existing one gets this mode and group. Returns false and writes a
 * reason to @why.
 */
bool sockets_make_together(const char *directory, char *why, size_t why_size);

#endif
