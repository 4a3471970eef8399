/*
 * mux - one connection to the ledger shared by many fibers (base/fiber.h).
 *
 * One send() carries the frames of all ready fibers, and one recv() their answers. mux_try()
 * returns the outcome of one attempt to link_call(), which repeats it as on a connection of its
 * own. When the connection breaks, every unanswered call on it is lost.
 */
#ifndef LINK_MUX_H
#define LINK_MUX_H

#include "base/buffer.h"
#include "base/fiber.h"

#include <stdbool.h>
#include <stdint.h>

/* Limit of unanswered calls, including those whose caller no longer waits. */
#define MUX_CALLS_MAX 256
/* Limit of posted frames without an answer; posts leave room for calls. */
#define MUX_POSTS_MAX 8

/* The outcome of one attempt. */
enum link_try {
	LINK_TRY_ANSWERED,
	LINK_TRY_NOT_SENT, /* no byte reached the ledger */
	LINK_TRY_LOST,     /* sent in part or whole, without a readable answer */
	LINK_TRY_PROTOCOL, /* not sent: the greeting has another protocol version */
	LINK_TRY_NOMEM,
};

enum mux_state {
	MUX_DOWN,
	MUX_CONNECTING, /* a fiber is connecting */
	MUX_UP,
};

/* A frame to send. */
struct mux_frame {
	const struct buffer *bytes;
	uint64_t tag;
	bool reads; /* the command needs no commit */
};

/* An attempt of a waiting fiber, on its stack. */
struct mux_call {
	struct fiber *fiber;
	struct buffer *in; /* gets the frame */
	bool done;
	enum link_try tried;
};

/* A frame that was handed over and has no answer yet. */
struct mux_sent {
	uint64_t tag;
	uint64_t at; /* offset of its first byte among all bytes sent on this connection */
	struct mux_call *call; /* NULL: no caller waits for the answer */
	bool posted;           /* it was posted: no caller ever waited */
};

struct mux {
	char path[108];
	int fd;
	enum mux_state state;
	struct fiber *pump; /* the fiber that runs mux_pump() */
	uint64_t next_tag;
	uint64_t sent_bytes; /* on this connection */
	struct buffer out;
	struct buffer in;
	struct mux_sent sent[MUX_CALLS_MAX]; /* a ring: answers come in order */
	unsigned int first, count;
	unsigned int posts; /* of them */
};

/*
 * The number of concurrent commands that the ledger accepts from one connection. More concurrent
 * calls need more connections.
 */
#define MUX_CALLS_EACH 32
#define MUXES_MAX      8

struct muxes {
	unsigned int count;
	unsigned int next; /* index of the next one to pick */
	struct mux list[MUXES_MAX];
};

/* Prepares connections for @calls concurrent calls. Returns false if @path is too long. */
bool muxes_init(struct muxes *muxes, const char *path, unsigned int calls);
void muxes_free(struct muxes *muxes);
/* Returns the connection for another caller, or NULL if there is none. Neighbours share one. */
struct mux *muxes_pick(struct muxes *muxes);

/* @path: edge.sock. Connects at the first call. Returns false if @path is too long. */
bool mux_init(struct mux *mux, const char *path);
void mux_free(struct mux *mux);

/* Sends and receives, without end. Each struct mux needs a fiber that runs it. */
void mux_pump(void *mux);

/* Returns a tag that no other frame on its connections has. */
uint64_t mux_tag(struct mux *mux);

/* Sends @frame and waits for its answer, which becomes the only content of @in. Only for fibers. */
enum link_try mux_try(struct mux *mux, const struct mux_frame *frame, struct buffer *in,
	int64_t deadline_ms);

/*
 * Sends @frame if that is possible immediately; no caller waits for its answer. Returns false if
 * there is no connection or MUX_POSTS_MAX posts have no answer yet.
 */
bool mux_post(struct mux *mux, const struct mux_frame *frame);

#endif
