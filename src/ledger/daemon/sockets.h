/* sockets - edge.sock and admin.sock, created here or passed by systemd. */
#ifndef LEDGER_DAEMON_SOCKETS_H
#define LEDGER_DAEMON_SOCKETS_H

#include "base/settings.h"

/* Names in settings.socket_directory. */
#define SOCKETS_EDGE  "edge.sock"
#define SOCKETS_ADMIN "admin.sock"

struct sockets {
	int edge;  /* 0660, group of settings.socket_group */
	int admin; /* 0600 */
};

/*
 * Takes the sockets "edge" and "admin" from systemd (sd_listen_fds(3)), or creates them in
 * settings.socket_directory. On failure writes a reason to @why. Returns STATUS_CONFIG, or another
 * status if a restart may succeed. Replaces a socket file that a killed ledger left: the caller
 * holds the lock of the state.
 */
enum status sockets_open(const struct settings *settings, struct sockets *sockets, char *why,
	size_t why_size);

/*
 * Creates the directory SETTINGS_TOGETHER in the socket directory @directory, with mode 1770 and
 * the group of edge.sock. An existing one gets this mode and group. Returns false and writes a
 * reason to @why.
 */
bool sockets_make_together(const char *directory, char *why, size_t why_size);

#endif
