/*
 * relay - one connection between a client of one host and the engine of another one.
 *
 *     inward    other host --wire--> here --plain--> peer.sock
 *     outward   client --plain--> here --wire--> active host
 *
 * It has one buffer of PUMP_SIZE each way. It ends when one side ends and the bytes before that were passed on.
 */
#ifndef PEER_RELAY_H
#define PEER_RELAY_H

#include "link/hello.h"
#include "peer/address.h"
#include "peer/pump.h"
#include "peer/tls.h"

/* After one side ended, the other one has this time to take the rest. */
#define RELAY_LINGER_MS 2000

enum relay_stage {
	RELAY_CONNECTING, /* outward: TCP */
	RELAY_SHAKING,    /* TLS */
	RELAY_LISTENING,  /* inward: for the hello */
	RELAY_NAMED,      /* inward: the hello has come; the caller admits or refuses */
	RELAY_OPEN,
	RELAY_ENDED, /* the caller frees it */
};

struct relay;
/* The pointer that epoll reports: one of the two sockets of a relay. */
struct relay_side {
	struct relay *relay;
	int fd;           /* -1: none yet */
	uint32_t watched; /* events in epoll; 0: not in it */
};

struct relay {
	enum relay_stage stage;
	bool inward;
	bool heard;    /* bytes came from the wire */
	bool reached;  /* the caller noted that */
	bool closing;  /* one side has ended */
	bool said;     /* the other host knows that the plain side has ended */
	bool admitted; /* inward: it was open */
	bool moved;    /* ended by this host: its role changed, or a member was removed */
	bool failed;   /* refused, or could not be opened: @refusal and @why */
	struct relay_side plain, wire;
	struct tls *tls;
	struct pump in;      /* from the wire */
	struct pump out;     /* to the wire */
	int64_t deadline_ms; /* of the stages before RELAY_OPEN; when closing, of the rest */
	struct hello hello;
	char address[RELAY_ADDRESS_SIZE]; /* of the other host */
	char expected[HELLO_MEMBER_SIZE]; /* outward: the member that must answer; "": any */
	enum relay_refusal refusal;
	char why[TLS_WHY_SIZE];
	int epoll;
};

/*
 * Begin a relay with the socket @fd, which it owns from then on, also if NULL is returned for lack of memory.
 * An inward one is a server on the wire. An outward one connects to @to, and first sends @hello.
 */
struct relay *relay_inward(int epoll, int fd, struct tls_identity *identity, int64_t deadline_ms);
struct relay *relay_outward(int epoll, int fd, struct tls_identity *identity,
	const struct address *to, const struct hello *hello, int64_t deadline_ms);
void relay_free(struct relay *relay);

/*
 * Continues it. @plain, @wire: epoll reported this side. At RELAY_NAMED the caller calls relay_admit() or
 * relay_refuse(), and this again.
 */
void relay_step(struct relay *relay, bool plain, bool wire, int64_t now_ms);

/* Admits the client of another host: @fd is connected to the engine. The hello is the first that it gets. */
void relay_admit(struct relay *relay, int fd);
/* Ends the relay with a reason. */
void relay_refuse(struct relay *relay, enum relay_refusal refusal, const char *why);

#endif
