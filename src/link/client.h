/*
 * client - one connection to the ledger, one command at a time.
 *
 * link_call() sends a command and waits for its answer. When the connection breaks (the ledger was
 * killed) it connects again and sends the same bytes again until the deadline: commands that move
 * something carry an idempotency key, so a command that arrives twice acts once. Not for use by two
 * threads at once.
 */
#ifndef LINK_CLIENT_H
#define LINK_CLIENT_H

#include "base/buffer.h"
#include "base/status.h"
#include "link/commands.h"
#include "link/mux.h"

struct link {
	char path[108];
	struct mux *mux; /* NULL, or over which fibers call; then there is no connection here */
	int fd; /* -1: not connected */
	uint64_t generation; /* of the keyring, as the newest answer told */
	int64_t asked_ms;    /* boot time: what the newest answer answers was asked then or later */
	const char *request_id; /* of the HTTP request that calls are made for; NULL: none */
	/*
	 * Called every few milliseconds while a call waits for the ledger, for what must not wait
	 * with it; it may not use the link. Not where calls go over @mux. NULL: nothing.
	 */
	void (*idle)(void *closure);
	void *idle_closure;
	uint64_t next_tag;
	uint64_t posted; /* tag of a command that was posted and whose answer has not come; 0: none */
	struct buffer out;
	struct buffer in; /* holds the answer last received */
};

/* @path: edge.sock or admin.sock. Connects at the first call. False: @path is too long. */
bool link_init(struct link *link, const char *path);
void link_close(struct link *link);

/*
 * Asks @command and fills @result, a struct of the command's result type. Pointers in the result
 * (struct bytes) are valid until the next call.
 *
 * STATUS_OK        answered: see the verdict
 * STATUS_NOT_SENT  no ledger could be reached before @deadline_ms (boot time): it saw nothing
 * STATUS_UNKNOWN   it was sent at least once; no answer came before the deadline
 * STATUS_BUSY      the ledger is overloaded or halted: it did nothing
 * STATUS_FORBIDDEN, STATUS_FAULT  nothing done
 * STATUS_PROTOCOL  the ledger is another version, and this call was not sent to it: this process
 *                  should end and be started anew
 * STATUS_NOMEM
 */
enum status link_call(struct link *link, enum command command, const void *cmd, void *result,
	int64_t deadline_ms);

/*
 * Sends @command and waits for nothing: neither for the ledger to take it nor for its answer, which
 * the next call skips. True: it was sent, once. False: it was dropped, because there is no
 * connection, or the one before has not been answered, or the socket is full. For what may get
 * lost.
 */
bool link_post(struct link *link, enum command command, const void *cmd);

/*
 * Packs the first @count key fields of @record_row (a struct of kind @record) as list_cmd.prefix;
 * the bytes lie in @buffer.
 */
struct bytes link_list_key(struct buffer *buffer, enum record record, unsigned int count,
	const void *record_row);

/* Takes the next row off @rows into @row. False: no more (or damaged: rows->len is then not 0). */
bool link_list_row(struct bytes *rows, enum record record, void *row);

#endif
