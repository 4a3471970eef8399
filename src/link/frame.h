/*
 * frame - the format of commands and answers on the ledger's sockets.
 *
 *     greeting  "CBL1" protocol:u64 generation:u64                     ledger -> client, once
 *     request   length:u32 command:u16 named:u16 tag:u64 id vouch payload    client -> ledger
 *     answer    length:u32 command:u16 outcome:u16 tag:u64 generation:u64 payload
 *
 * Numbers are big-endian; length excludes itself. id is the id of the HTTP request that the command
 * belongs to, for the log. It has as many bytes as the lower 15 bits of "named" say, 0 if there is none.
 * If the highest bit is set, the 128 bytes of struct frame_vouch follow. The payload of a request is
 * the packed command. An answer with outcome FRAME_DONE has the packed result, any other has none.
 * Answers carry the tag of their request. On one connection they arrive in the order of the
 * requests.
 */
#ifndef LINK_FRAME_H
#define LINK_FRAME_H

#include "base/buffer.h"
#include "base/field.h"

/* The body of a request is at most 64 KiB; the rest of a frame is small. */
#define FRAME_MAX (256 * 1024)
/* A batch of results has up to 1 MiB, so one of its frames is larger. */
#define FRAME_REQUEST_MAX     (FRAME_MAX + 1024 * 1024)
#define GREETING_SIZE         20
#define FRAME_LENGTH_SIZE     4
#define FRAME_REQUEST_SIZE    16 /* length included */
#define FRAME_ANSWER_SIZE     24
#define FRAME_REQUEST_ID_SIZE 65 /* 1 to 64 of [A-Za-z0-9._-] */
/* Part of the protocol version: change it with the frame format. */
#define FRAME_FORM "named and vouched requests"

/*
 * The sender of a frame on desk.sock: the front secret, which proves that the web server passed
 * the request on, and the session of the operator. Each is 64 hex characters in lower case, or "".
 */
#define FRAME_VOUCH_SIZE 65
struct frame_vouch {
	char front[FRAME_VOUCH_SIZE];
	char session[FRAME_VOUCH_SIZE];
};

enum frame_outcome {
	FRAME_DONE,      /* applied; the payload is the result */
	FRAME_BUSY,      /* overloaded or halted: nothing done, try later */
	FRAME_FORBIDDEN, /* this socket does not permit the command: nothing done */
	FRAME_FAULT,     /* the ledger found its own bug: nothing done */
};

struct frame_request {
	uint16_t command;
	uint64_t tag;
	char request_id[FRAME_REQUEST_ID_SIZE]; /* "": none */
	struct frame_vouch vouch;               /* empty if it was not sent */
	struct bytes payload;
};
struct frame_answer {
	uint16_t command;
	uint16_t outcome;
	uint64_t tag;
	uint64_t generation;
	struct bytes payload;
};

enum frame_read { FRAME_COMPLETE, FRAME_INCOMPLETE, FRAME_GARBAGE };

void greeting_put(struct buffer *out, uint64_t protocol, uint64_t generation);
/* Returns FRAME_GARBAGE if the peer is not a ledger. */
enum frame_read greeting_get(struct bytes in, uint64_t *protocol, uint64_t *generation);

/*
 * Begins a request in @out. Append the payload, then call frame_close() with the returned start.
 * Answers work in the same way.
 */
size_t frame_open_request(struct buffer *out, uint16_t command, uint64_t tag);
size_t frame_open_answer(struct buffer *out, const struct frame_answer *answer);
void frame_close(struct buffer *out, size_t start);
/* Sets the id of the HTTP request. Call it before the payload is appended. */
void frame_name_request(struct buffer *out, size_t start, const char *request_id);
/*
 * Adds what proves the sender on desk.sock. Call it after frame_name_request() and before the payload is
 * appended. A text that is not 64 hex characters in lower case is left out.
 */
void frame_vouch_request(struct buffer *out, size_t start, const struct frame_vouch *vouch);

/*
 * Reads the first frame in @in. On FRAME_COMPLETE, *size is the length of the whole frame and the
 * payload points into @in.
 */
enum frame_read frame_get_request(struct bytes in, struct frame_request *request, size_t *size);
enum frame_read frame_get_answer(struct bytes in, struct frame_answer *answer, size_t *size);

#endif
