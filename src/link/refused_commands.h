/*
 * refused_commands - requests answered with 400, 401 or user_not_found, stored for `creditbridgectl
 * explain`.
 *
 * A worker notes such a request after it has sent the answer (web/rejection_log.h). The ledger
 * keeps the newest notes in memory only (ledger/commands/refused/rejected_requests.h). admin.sock reads one
 * by its request id.
 *
 * Any client of the web server can send such content, and none of it is verified. It is for the
 * operator and never written to a log, file, export or backup. One exception: the user_id of a
 * dealer's user_not_found has passed the signature check. The ledger logs it if a player's id is
 * similar.
 */
#ifndef LINK_REFUSED_COMMANDS_H
#define LINK_REFUSED_COMMANDS_H

#include "link/edge_commands.h"
#include "link/frame.h"

/* Limits of the stored parts. Longer ones are cut; the counts show the full length. */
#define REFUSED_ID_MAX        256
#define REFUSED_SIGNATURE_MAX 512
#define REFUSED_QUERY_MAX     1024
#define REFUSED_BODY_MAX      65536
#define REFUSED_PATH_SIZE     129
#define REFUSED_DETAIL_SIZE   161

struct refused_request {
	int64_t time_ms; /* when the request was read; compared with request_timestamp */
	char request_id[FRAME_REQUEST_ID_SIZE];
	enum keyring_of of; /* mount of the dealers (group A) or the clients (C) */
	char operation[24]; /* name of the operation in wire/operations.def */
	char method[17];
	char path[REFUSED_PATH_SIZE];     /* path of the route, below base_path */
	enum refusal refusal;             /* the answer ... */
	char detail[REFUSED_DETAIL_SIZE]; /* ... and its detail, cut to fit */
	uint32_t caller_count;            /* number of x-casino-id or x-client-id headers */
	uint32_t signature_count;
	uint32_t body_len;   /* length of the received body; the stored body is cut if shorter */
	bool body_broken;    /* its length differs from Content-Length */
	struct bytes caller; /* the first such header, as sent */
	struct bytes signature;
	struct bytes query; /* QUERY_STRING */
	struct bytes body;
};

/* Stores a request. Needs no answer; see link_post(). */
struct refused_note_cmd {
	struct refused_request request;
};
struct refused_note_result {
	struct verdict verdict;
	bool kept; /* false: over the ledger's limit for one second */
};

/* A key that was retired since the ledger's engine started, as the ledger keeps it in memory. */
struct retired_key {
	enum keyring_of of;
	char caller_id[CASINO_ID_SIZE]; /* casino_id or client_id */
	char key_id[KEY_ID_SIZE];
	char secret[KEY_SECRET_SIZE];
	int64_t retired_ms;
};

/* Finds the newest stored request with this request id. On desk.sock it comes without its signature. */
struct refused_find_cmd {
	char request_id[FRAME_REQUEST_ID_SIZE];
};
struct refused_find_result {
	struct verdict verdict;
	uint32_t matches; /* stored requests with this id; callers choose their own ids; 0: none */
	uint32_t kept;    /* in all */
	uint64_t dropped; /* requests not stored since the engine started */
	int64_t since_ms; /* time of the oldest stored request; 0: none */
	int64_t started_ms; /* when the engine began to store them */
	struct refused_request request;
};

/*
 * Finds the key that made a signature. The keys stay in the ledger. Without @others it tries the live
 * keys of @caller_id and then its retired ones, the newest first. With @others it tries the live keys
 * of all other callers, of dealers before those of game servers: while @more is set and nothing was
 * found, repeat with @after. Refusals: bad_request if @digest is no digest of @algorithm.
 */
struct key_try_cmd {
	enum keyring_of of;
	char caller_id[CASINO_ID_SIZE]; /* casino_id or client_id; "": none */
	bool others;
	enum keyring_of after_of; /* begin after this caller */
	char after[CASINO_ID_SIZE];
	enum signature_algorithm algorithm;
	enum key_use use;
	struct bytes digest; /* the signature, decoded */
	struct bytes body;
};
struct key_try_result {
	struct verdict verdict;
	bool found;
	enum keyring_of of; /* the owner of the key ... */
	char caller_id[CASINO_ID_SIZE];
	char key_id[KEY_ID_SIZE];
	bool retired;
	int64_t time_ms; /* when the key was issued; of a retired one, when it was retired */
	bool more;       /* with @others: callers are left */
	enum keyring_of after_of;
	char after[CASINO_ID_SIZE];
};

extern const struct field refused_request_fields[];

#endif
