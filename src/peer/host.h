/*
 * host - the state of the loop of peer.c, and the functions that accept and end its clients.
 */
#ifndef PEER_HOST_H
#define PEER_HOST_H

#include "peer/relay.h"

/* Unfinished handshakes of other hosts at a time. */
#define PEER_STRANGERS_MAX 64
/*
 * Local clients of one host that have not heard from the engine. The others wait in the backlog: when all of
 * a host connect at once, their handshakes must not push out each other.
 */
#define PEER_REACHING_MAX 24
/* From the connection to the end of the hello. */
#define PEER_HANDSHAKE_MS 2000

/* Refused connections of one second that are logged one by one; the others are counted. */
#define HOST_LOGGED_A_SECOND 20
/* After a relay did not reach the active host, the peer accepts no client for this time, doubled each time. */
#define HOST_PAUSE_MS     20
#define HOST_PAUSE_MAX_MS 500

struct peer_host {
	const struct settings *settings;
	const struct sockets *sockets;
	int listener; /* TLS */
	const char *cell;
	struct relay_counts *counts;
	struct tls_identity *identity;
	struct relay_view view;
	struct address active; /* STANDBY: view.address; size 0: unusable */
	int epoll;
	struct relay **relays; /* count of room */
	uint32_t count;
	uint32_t room;
	uint32_t each_max;  /* open relays each way */
	uint32_t reaching;  /* outward relays that have not heard from the engine */
	uint32_t strangers; /* inward relays before RELAY_OPEN */
	bool some_ended;    /* a relay is to be freed */
	bool unsettled;     /* some may be before RELAY_OPEN, or closing: they have deadlines */
	bool accepts_local; /* the local listeners are in epoll */
	int64_t pause_ms;   /* the last pause; 0: the last relay reached the active host */
	int64_t paused_until_ms;
	uint32_t logged;   /* refused connections of this second that were logged ... */
	uint32_t unlogged; /* ... and that were not */
	bool stop;
};

/* Accept the connections that wait on a listener, a bounded number at a time. */
void host_accept_inward(struct peer_host *host, int64_t now_ms);
void host_accept_outward(struct peer_host *host, int listener, enum command_socket socket,
	int64_t now_ms);

/* Returns true if one more local client may be relayed. */
bool host_has_room(const struct peer_host *host);

/* Continues a relay after an event, admits or refuses a client of another host, and counts. */
void host_step(struct peer_host *host, struct relay *relay, bool plain, bool wire, int64_t now_ms);

/* Ends the relays that are overdue, then frees and counts those that ended. */
void host_sweep(struct peer_host *host, int64_t now_ms);

/* Ends the relays that this view does not have, and the ones of removed certificates. */
void host_review(struct peer_host *host);

#endif
