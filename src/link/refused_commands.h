/*
 * refused_commands - requests that were answered 400, 401 or user_not_found, kept for `creditbridgectl explain`.
 *
 * A worker notes one after its answer has left (web/rejection_log.h); the ledger keeps the newest in
 * memory alone (ledger/commands/rejected_requests.h), and tells admin.sock of one by its request id. What is kept was
 * sent by whoever could reach the web server: none of it is checked. It is for the operator, and
 * never goes into a log, a file, an export or a backup. The one exception is the user_id of a dealer's
 * user_not_found, which passed the check of the signature: the ledger logs it if a player's id is near.
 */
#ifndef LINK_REFUSED_COMMANDS_H
#define LINK_REFUSED_COMMANDS_H

#include "link/edge_commands.h"
#include "link/frame.h"

/* What is kept at most; more is cut off, and the counts beside it tell so. */
#define REFUSED_ID_MAX        256
#define REFUSED_SIGNATURE_MAX 512
#define REFUSED_QUERY_MAX     1024
#define REFUSED_BODY_MAX      65536
#define REFUSED_PATH_SIZE     129
#define REFUSED_DETAIL_SIZE   161

struct refused_request {
	int64_t time_ms;       /* when the request was read: what request_timestamp was held against */
	char request_id[FRAME_REQUEST_ID_SIZE];
	enum keyring_of of;    /* whose mount: the dealers' (group A) or the clients' (C) */
	char operation[24];    /* as it is counted: metrics/operations.def */
	char method[17];
	char path[REFUSED_PATH_SIZE]; /* the route's, below base_path */
	enum refusal refusal;  /* what was answered ... */
	char detail[REFUSED_DETAIL_SIZE]; /* ... and its detail, cut to fit */
	uint32_t caller_count; /* how often the id was sent: x-casino-id or x-client-id */
	uint32_t signature_count;
	uint32_t body_len;     /* of the body that came; above body.len it was cut */
	bool body_broken;      /* it is not as long as Content-Length told */
	struct bytes caller;   /* the first, as sent */
	struct bytes signature;
	struct bytes query;    /* QUERY_STRING */
	struct bytes body;
};

/* Keeps a request. Needs no answer: see link_post(). */
struct refused_note_cmd {
	struct refused_request request;
};
struct refused_note_result {
	struct verdict verdict;
	bool kept; /* false: there are more than the ledger takes in a second */
};

/* A key that was taken away since the ledger's engine started. */
struct retired_key {
	enum keyring_of of;
	char casino_id[CASINO_ID_SIZE]; /* or the client_id */
	char key_id[KEY_ID_SIZE];
	char secret[KEY_SECRET_SIZE];
	int64_t retired_ms;
};

/* The newest that is kept of this request id, and the retired keys of its caller. */
struct refused_find_cmd {
	char request_id[FRAME_REQUEST_ID_SIZE];
};
struct refused_find_result {
	struct verdict verdict;
	uint32_t matches; /* kept of this request id: callers choose their own; 0: none */
	uint32_t kept;    /* in all */
	uint64_t dropped; /* not taken by the ledger since its engine started */
	int64_t since_ms; /* of the oldest that is kept; 0: none is */
	int64_t started_ms; /* when the engine began to keep them */
	struct refused_request request;
	uint32_t retired_count;
	struct bytes retired; /* packed retired_key, the newest first */
};

extern const struct field refused_request_fields[];
extern const struct field retired_key_fields[];

#endif
