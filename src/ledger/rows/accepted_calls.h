/*
 * accepted_calls - the newest calls that the ledger accepted, in memory, by the id of their HTTP request.
 *
 * The log of the workers has every call. This list answers the search of the console, which reads no log. A start
 * begins with none.
 */
#ifndef LEDGER_ROWS_ACCEPTED_CALLS_H
#define LEDGER_ROWS_ACCEPTED_CALLS_H

#include "link/commands.h"
#include "link/frame.h"
#include "wire/operations.h"

/* Together 11 MiB at most. */
#define ACCEPTED_CALLS_MAX 65536

struct accepted_call {
	char request_id[FRAME_REQUEST_ID_SIZE];
	/* A game server's client_id; of an operation on a player, the casino_id of its dealer; else that of the caller. */
	char owner[CASINO_ID_SIZE];
	bool of_client; /* @owner is a client_id */
	enum web_operation operation;
	uint64_t transaction_id; /* that it made, repeated, asked about or cancelled; 0: none */
	uint64_t event;          /* the callback of the result; 0: none */
	int64_t time_ms;
};

struct accepted_calls {
	int64_t from_ms; /* every call after this time is here */
	uint32_t first, count;
	/* Two rings, in the order of the answers. NULL until the first call. */
	uint32_t *hashes; /* of the request ids */
	struct accepted_call *calls;
};

/* Begins with no call. */
void accepted_calls_init(struct accepted_calls *calls, int64_t wall_ms);
void accepted_calls_free(struct accepted_calls *calls);

/*
 * Adds the call of a frame that the ledger answered at @wall_ms, if it is a call of a dealer or of a game server with a
 * request id and was accepted. A bet that is sent to its dealer is accepted; the dealer may still refuse it. Without
 * memory nothing is kept.
 */
void accepted_calls_note(struct accepted_calls *calls, const char *request_id, enum command command,
	const union any_cmd *cmd, const union any_result *result, int64_t wall_ms);

/*
 * Returns the call before @before with the request id, the newest first, or NULL. @before is NULL at first, and then
 * the call that was returned. The call is valid until the next one is noted.
 */
const struct accepted_call *accepted_calls_find(const struct accepted_calls *calls,
	const char *request_id, const struct accepted_call *before);

#endif
