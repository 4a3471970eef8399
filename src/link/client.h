/*
 * client - one connection to the ledger, for one command at a time.
 *
 * link_call() sends a command and waits for its answer. When the connection breaks (the ledger was
 * killed), it reconnects and sends the same bytes again until the deadline. Commands that change
 * something carry an idempotency key, so a repeated command acts once. Not for use by two threads
 * at once.
 */
#ifndef LINK_CLIENT_H
#define LINK_CLIENT_H

#include "base/buffer.h"
#include "base/status.h"
#include "link/commands.h"
#include "link/frame.h"
#include "link/mux.h"

struct link {
	char path[108];
	struct mux *mux;     /* mux for the calls of fibers, used instead of @fd; else NULL */
	int fd;              /* -1: not connected */
	uint64_t generation; /* generation of the keyring in the newest answer */
	int64_t asked_ms;    /* boot time: the newest answer is not older than this */
	/* id of the HTTP request for which the calls are made; NULL: none */
	const char *request_id;
	/* On desk.sock: what proves the sender of the calls; NULL: nothing. */
	const struct frame_vouch *vouch;
	/*
	 * Called every few milliseconds while a call waits for the ledger, for work that must not
	 * wait. It may not use the link. Not called for calls over @mux. NULL: none.
	 */
	void (*idle)(void *closure);
	void *idle_closure;
	uint64_t next_tag;
	uint64_t posted; /* tag of a posted command without an answer so far; 0: none */
	struct buffer out;
	struct buffer in; /* holds the answer last received */
};

/*
 * @path: edge.sock, admin.sock or desk.sock. Connects at the first call. Returns false if @path is too long.
 */
bool link_init(struct link *link, const char *path);
void link_close(struct link *link);

/*
 * Sends @command and fills @result, a struct of the command's result type. Pointers in the result
 * (struct bytes) are valid until the next call.
 *
 * STATUS_OK: the ledger answered; see the verdict.
 * STATUS_NOT_SENT: no ledger was reached before @deadline_ms (boot time); it got nothing.
 * STATUS_UNKNOWN: sent at least once, but no answer arrived before the deadline.
 * STATUS_BUSY: the ledger is overloaded or halted; nothing done.
 * STATUS_FORBIDDEN, STATUS_FAULT: nothing done.
 * STATUS_PROTOCOL: the ledger has another version and did not get this call. This process should
 * exit and be started again.
 * STATUS_NOMEM: memory is exhausted.
 */
enum status link_call(struct link *link, enum command command, const void *cmd, void *result,
	int64_t deadline_ms);

/*
 * Sends @count commands of one kind together, so that the ledger may run them as one batch, and
 * calls @each for every answer, in their order, with the status of link_call() and, on STATUS_OK,
 * the result. Pointers in the result are valid until @each returns. @each may not use the link.
 * Commands that the connection did not answer are repeated one by one, as link_call() does.
 */
#define LINK_SEVERAL_MAX 32
typedef void link_each(void *closure, unsigned int at, enum status status, const void *result);
void link_call_several(struct link *link, enum command command, const void *const *cmds,
	unsigned int count, link_each *each, void *closure, int64_t deadline_ms);

/*
 * Returns true if no answer to a posted command is outstanding: it arrived, or the connection ended
 * and was closed. Does not wait. While it returns false, the answer makes @link->fd readable.
 */
bool link_post_ended(struct link *link);

/*
 * Sends @command without waiting for the socket or for the answer, which the next call skips.
 * Returns true if it was sent, once. Returns false if it was dropped: there is no connection, the
 * previous post has no answer yet, or the socket is full. For commands that may be lost.
 */
bool link_post(struct link *link, enum command command, const void *cmd);

/*
 * Packs the first @count key fields of @record_row (a struct of kind @record) for list_cmd.prefix.
 * The bytes are in @buffer.
 */
struct bytes link_list_key(struct buffer *buffer, enum record record, unsigned int count,
	const void *record_row);

/*
 * Unpacks the next row of @rows into @row. Returns false after the last row, or if the data is
 * damaged; rows->len is then not 0.
 */
bool link_list_row(struct bytes *rows, enum record record, void *row);

#endif
