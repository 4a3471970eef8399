/*
 * refused_calls - every call that was answered 4xx, kept on disk for `creditbridgectl refused list`
 * and `explain`.
 *
 * A worker collects what it refused and sends it in batches (web/refusal_queue.h). The ledger
 * appends it to files beside its data (ledger/refused/refused_log.h). A kept call has no body, no
 * signature and no key. It has ids, an amount and the address of the caller, so that support finds
 * it. If @proved is false, the caller did not prove a key, and any client of the web server may
 * have written the other members.
 */
#ifndef LINK_REFUSED_CALLS_H
#define LINK_REFUSED_CALLS_H

#include "link/edge_commands.h"
#include "link/frame.h"

#define REFUSED_AMOUNT_SIZE  33
#define REFUSED_ADDRESS_SIZE 46 /* of an IPv6 address */
/* Bytes of a path in a kept call; a longer one is cut. */
#define REFUSED_CALL_PATH_SIZE 129
/* Bytes of the longest packed call. Its strings have at most 1100 bytes in all. */
#define REFUSED_CALL_MAX 2048
/* Bytes of the packed calls of one command. */
#define REFUSED_KEEP_MAX (64 * 1024)

/* Why the signature check failed, for 401 and for 429 before the check. */
enum refused_why {
	REFUSED_WHY_NONE,
	REFUSED_WHY_HEADERS,   /* id or signature missing, sent twice, or with invalid characters */
	REFUSED_WHY_CALLER,    /* there is no such caller */
	REFUSED_WHY_SIGNATURE, /* no key of the caller made the signature */
	REFUSED_WHY_CLOCK,     /* request_timestamp is outside the window */
	REFUSED_WHY_FLOOD,     /* too many wrong signatures: nothing was checked */
	REFUSED_WHY_COUNT
};
extern const char *const refused_why_names[REFUSED_WHY_COUNT];

/* What a kept call shows of its cause beyond @why, without its body and signature. The names are ids of explain/causes.def. */
enum refused_form {
	REFUSED_FORM_NONE,
	REFUSED_FORM_ID_MISSING,
	REFUSED_FORM_ID_NOT_SINGLE,
	REFUSED_FORM_SIGNATURE_MISSING,
	REFUSED_FORM_SIGNATURE_NOT_SINGLE,
	REFUSED_FORM_CLOCK_UNIT,
	REFUSED_FORM_CLOCK_ZONE,
	REFUSED_FORM_CLOCK_AHEAD,
	REFUSED_FORM_CLOCK_BEHIND,
	REFUSED_FORM_COUNT
};
extern const char *const refused_form_names[REFUSED_FORM_COUNT];

/* A member that the call did not have, or that does not fit, is "" or 0. */
struct refused_call {
	uint64_t number; /* rises with each kept call; set by the ledger */
	int64_t time_ms; /* when the request was read */
	char request_id[FRAME_REQUEST_ID_SIZE];
	enum keyring_of of; /* mount of the dealers (group A) or the clients (C) */
	bool proved;        /* the signature was valid */
	enum refused_why why;
	enum refusal refusal; /* the answer ... */
	char detail[161];     /* ... and its detail */
	char operation[24];   /* name in wire/operations.def; "none": no such path */
	char method[17];
	char path[REFUSED_CALL_PATH_SIZE]; /* as sent; characters that are hidden are '?' */
	char caller[CASINO_ID_SIZE];       /* id in the header, if it has the form of one */
	char casino_id[CASINO_ID_SIZE];    /* of the dealer: @caller, or from the body in group C */
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[EXTERNAL_ID_SIZE]; /* from the body in group C */
	char game_id[EXTERNAL_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char amount[REFUSED_AMOUNT_SIZE]; /* as written in the body */
	int64_t request_timestamp;
	char address[REFUSED_ADDRESS_SIZE]; /* of the client, as the web server sees it */
	uint32_t caller_count;              /* number of id headers */
	uint32_t signature_count;
	uint32_t body_len; /* bytes of the received body */
};
extern const struct field refused_call_fields[];

/* Returns the form of the call. */
enum refused_form refused_call_form(const struct refused_call *call);
/*
 * Returns how a request_timestamp that was too far from the time @time_ms is wrong: REFUSED_FORM_CLOCK_UNIT if it is near in
 * seconds, microseconds or nanoseconds; REFUSED_FORM_CLOCK_ZONE if a time zone makes up the difference.
 */
enum refused_form refused_clock(int64_t timestamp, int64_t time_ms);

/* Keeps calls. The result has the number of those that the ledger kept. */
struct refused_keep_cmd {
	struct bytes calls; /* packed refused_call, at most REFUSED_KEEP_MAX bytes */
};
struct refused_keep_result {
	struct verdict verdict;
	uint32_t kept;
	uint32_t left_out; /* over a sender's share of a second, or not writable */
};

/* The kept calls with one cause: what was answered, and why. */
struct refused_cause {
	enum refusal refusal;
	enum refused_why why;
	enum refused_form form;
	uint64_t calls;
	uint64_t proved; /* of them, those of a caller that proved its key */
	int64_t newest_ms;
};
extern const struct field refused_cause_fields[];
/* Different causes that calls can have: a form belongs to one @why. */
#define REFUSED_CAUSES_EACH (REFUSED_WHY_COUNT + REFUSED_FORM_COUNT)
#define REFUSED_CAUSES_MAX  (REFUSAL_COUNT * REFUSED_CAUSES_EACH)

/*
 * Reads kept calls, the newest first. A command reads a bounded part of the files. Repeat it with
 * @before = next until next is 0. An empty member of the filter matches all calls.
 */
#define REFUSED_PAGE_MAX 256
struct refused_list_cmd {
	uint64_t before; /* only calls with a lower number; 0: from the newest */
	int64_t since_ms;
	int64_t until_ms; /* before this time; 0: no limit */
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	/* of the same player: a call that names it by its player_id matches @casino_id and @user_id */
	char player_id[EXTERNAL_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char request_id[FRAME_REQUEST_ID_SIZE];
	char client_id[CLIENT_ID_SIZE]; /* of the mount of game servers, calls with this id */
	bool of_refusal;                /* only calls that were answered with @refusal */
	enum refusal refusal;
	bool of_why; /* only calls with this @why */
	enum refused_why why;
	bool count_only; /* do not return the calls */
	bool by_cause;   /* with @count_only: count each cause */
	uint32_t limit;  /* at most this many calls; 0: REFUSED_PAGE_MAX */
};
struct refused_list_result {
	struct verdict verdict;
	struct bytes calls;  /* packed refused_call, the newest first */
	uint32_t matches;    /* calls in this answer, or counted */
	uint64_t next;       /* 0: there are no older calls */
	bool keeps;          /* calls are kept on disk (refused_keep_mib is not 0) */
	uint64_t bytes;      /* on the disk */
	int64_t since_ms;    /* time of the oldest kept call; 0: none, or not known yet */
	uint64_t left_out;   /* calls that were not kept since the engine started */
	int64_t started_ms;  /* when the engine started */
	int64_t looked_ms;   /* time of the oldest call that the command looked at; 0: none */
	struct bytes causes; /* with @by_cause: packed refused_cause, each with a call */
};

/* Returns true if @call passes the filter of @cmd (@before and @limit aside). */
bool refused_call_matches(const struct refused_call *call, const struct refused_list_cmd *cmd);

#endif
