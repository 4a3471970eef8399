/*
 * mux - one connection to the ledger for the calls of many fibers (base/fiber.h).
 *
 * The frames of all that are ready leave in one send() and their answers come in one recv(). What a
 * single attempt comes to is told to link_call(), which repeats it as it does on a connection of its
 * own: when the connection breaks, every call on it was lost.
 */
#ifndef LINK_MUX_H
#define LINK_MUX_H

#include "base/buffer.h"
#include "base/fiber.h"

#include <stdbool.h>
#include <stdint.h>

/* Calls that were sent and not answered, those among them for which nobody waits any more. */
#define MUX_CALLS_MAX 256
/* Frames that nobody waits for among them: what may get lost leaves room for the calls. */
#define MUX_POSTS_MAX 8

/* What one attempt came to. */
enum link_try {
	LINK_TRY_ANSWERED,
	LINK_TRY_NOT_SENT, /* not one byte can have reached the ledger */
	LINK_TRY_LOST,     /* sent in part or whole, no answer that can be read */
	LINK_TRY_PROTOCOL, /* not sent: the greeting is another version's */
	LINK_TRY_NOMEM,
};

enum mux_state {
	MUX_DOWN,
	MUX_CONNECTING, /* some fiber does */
	MUX_UP,
};

/* What is sent. */
struct mux_frame {
	const struct buffer *bytes;
	uint64_t tag;
	bool reads; /* the command needs no commit */
};

/* An attempt of a fiber that waits; on its stack. */
struct mux_call {
	struct fiber *fiber;
	struct buffer *in; /* gets the frame */
	bool done;
	enum link_try tried;
};

/* A frame that was handed over and not answered. */
struct mux_sent {
	uint64_t tag;
	uint64_t at;           /* of its first byte, in all that is sent on this connection */
	struct mux_call *call; /* NULL: nobody waits for the answer */
	bool posted;           /* nobody ever did */
};

struct mux {
	char path[108];
	int fd;
	enum mux_state state;
	struct fiber *pump; /* that runs mux_pump() */
	uint64_t next_tag;
	uint64_t sent_bytes; /* on this connection */
	struct buffer out;
	struct buffer in;
	struct mux_sent sent[MUX_CALLS_MAX]; /* a ring: answers come in order */
	unsigned int first, count;
	unsigned int posts; /* of them */
};

/*
 * The ledger takes so many commands at a time from one connection: whoever has more calls under way
 * has more connections.
 */
#define MUX_CALLS_EACH 32
#define MUXES_MAX      8

struct muxes {
	unsigned int count;
	unsigned int next; /* whose turn it is to be picked */
	struct mux list[MUXES_MAX];
};

/* For @calls at a time. False: @path is too long. */
bool muxes_init(struct muxes *muxes, const char *path, unsigned int calls);
void muxes_free(struct muxes *muxes);
/* The one for a further caller, or NULL where there is none: neighbours share one. */
struct mux *muxes_pick(struct muxes *muxes);

/* @path: edge.sock. Connects at the first call. False: @path is too long. */
bool mux_init(struct mux *mux, const char *path);
void mux_free(struct mux *mux);

/* A fiber of its own for each struct mux: it sends and receives, and does not end. */
void mux_pump(void *mux);

/* A tag that no other frame on any of its connections has. */
uint64_t mux_tag(struct mux *mux);

/*
 * Sends the @frame and waits for its answer, which it puts into @in, alone. To be called by fibers
 * only.
 */
enum link_try mux_try(struct mux *mux, const struct mux_frame *frame, struct buffer *in,
	int64_t deadline_ms);

/*
 * Sends the @frame, if that is possible at once, and nobody waits for its answer. False: there is no
 * connection, or MUX_POSTS_MAX have not been answered.
 */
bool mux_post(struct mux *mux, const struct mux_frame *frame);

#endif
