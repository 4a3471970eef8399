/*
 * ping_link - has another process ask a dealer's server for a balance, over ping.sock. creditbridgectl has
 * the rights of the ledger's user, and a dealer's answer is read by libcurl and its TLS library. The other
 * process has no rights: a fault there reaches neither the data nor a socket of the ledger. It gets the keys
 * of the one dealer with the request.
 *
 * One connection is one inquiry: a request and its answer, each a length (u32, big-endian) and a packed
 * record.
 */
#ifndef CALLBACK_PING_LINK_H
#define CALLBACK_PING_LINK_H

#include "base/settings.h"
#include "domain/callback.h"
#include "link/edge_commands.h"

/* The name of the socket in settings.socket_directory. */
#define PING_SOCKET "ping.sock"

struct callback_inquiry {
	int64_t asked_ms; /* boot time when the grant was asked for (granted.h) */
	char casino_id[CASINO_ID_SIZE];
	struct callback_grant grant; /* of a balance inquiry; holds secrets */
};

/* Returns true if a process takes connections to ping.sock. */
bool ping_link_is_served(const struct settings *settings);

/*
 * Has the process that listens in the socket directory of @settings send @inquiry. Returns false if there
 * is none, or memory is exhausted: nothing was sent. Otherwise sets @outcome, whose texts are clean:
 * CALLBACK_UNKNOWN if the process gave no answer in time.
 */
bool ping_link_ask(const struct settings *settings, const struct callback_inquiry *inquiry,
	struct callback_outcome *outcome);

/*
 * Serves one connection: receives an inquiry from @fd, sends it by @settings, and answers. The program must
 * ignore SIGPIPE. Returns false if no inquiry came, or the answer could not be sent.
 */
bool ping_link_serve(int fd, const struct settings *settings);

#endif
