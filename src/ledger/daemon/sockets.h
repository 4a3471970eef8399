/*
 * sockets - edge.sock and admin.sock, made here or handed over by systemd.
 */
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
 * Takes the sockets named "edge" and "admin" from systemd (sd_listen_fds(3)) or makes them in
 * settings.socket_directory. Else a sentence is in @why: STATUS_CONFIG, or another
 * status for what may succeed when the program is started again. A socket file left by a
 * killed ledger is replaced: the caller holds the state's lock.
 */
enum status sockets_open(const struct settings *settings, struct sockets *sockets, char *why,
	size_t why_size);

/*
 * Makes the directory SETTINGS_TOGETHER in the socket directory @directory, mode 1770, of the group of
 * edge.sock, or gives the one that is there this mode and group. False: a sentence is in @why.
 */
bool sockets_make_together(const char *directory, char *why, size_t why_size);

#endif
