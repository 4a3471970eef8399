/*
 * flood - bounds what callers without a valid signature cost a worker process.
 *
 * The signature covers the whole body, so a caller without a key could use up the CPU with large
 * bodies. The bytes hashed for failed requests are therefore charged to the caller's address and
 * to the process. While either budget is used up:
 *
 * - A caller id with a valid signature from the same address within FLOOD_TRUST_MS (a trusted
 *   pair) is checked. Its failed requests are also charged to a budget of the pair. Above that
 *   budget, only bodies of at most FLOOD_SMALL_BYTES are checked, which every operation of the
 *   wallet fits. So a flood of large bodies under a caller's own id and address does not block
 *   its small calls.
 * - Any other caller id has a small budget of its own, so that a caller with a key is accepted
 *   during a flood. All ids that do not exist share one budget.
 * - Further requests are rejected before anything is hashed: 429 rate_limited.
 *
 * A request with a valid signature is not charged. All threads of a process share one struct
 * flood.
 */
#ifndef WEB_FLOOD_H
#define WEB_FLOOD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOOD_ADDRESSES 1024
#define FLOOD_CALLERS   256
#define FLOOD_TRUSTED   4096
#define FLOOD_TRUST_MS  INT64_C(600000)

/*
 * Budgets in bytes: a burst, and bytes per second. A request costs its body and
 * FLOOD_REQUEST_BYTES.
 */
#define FLOOD_REQUEST_BYTES 1024
#define FLOOD_ADDRESS_BURST (INT64_C(16) << 20)
#define FLOOD_ADDRESS_PER_S (INT64_C(8) << 20)
#define FLOOD_PROCESS_BURST (INT64_C(64) << 20)
#define FLOOD_PROCESS_PER_S (INT64_C(32) << 20)
#define FLOOD_CALLER_BURST  (INT64_C(2) << 20)
#define FLOOD_CALLER_PER_S  (INT64_C(1) << 20)
#define FLOOD_PAIR_BURST    (INT64_C(4) << 20)
#define FLOOD_PAIR_PER_S    (INT64_C(4) << 20)
/* The signature of a body of this size costs less than the rest of the call. */
#define FLOOD_SMALL_BYTES 2048
/* Log lines for requests without a valid signature: a burst, and lines per second. */
#define FLOOD_LINES_BURST 256
#define FLOOD_LINES_PER_S 64

struct flood_budget {
	int64_t spent;   /* charged and not yet recovered */
	int64_t from_ms; /* boot time of @spent */
};

/* A caller id, and an address from which it sent a valid signature. */
struct flood_pair {
	uint64_t pair; /* the hash of both */
	int64_t until_ms;
	struct flood_budget budget; /* of its failed requests */
};

struct flood {
	pthread_mutex_t mutex;
	uint64_t seed;
	struct flood_budget process;
	struct flood_budget lines;
	uint64_t lines_left_out;
	struct flood_budget addresses[FLOOD_ADDRESSES]; /* by the hash of the address */
	struct flood_budget
		callers[FLOOD_CALLERS]; /* by the hash of an existing id; [0]: other ids */
	struct flood_pair trusted[FLOOD_TRUSTED]; /* by the hash of the pair */
};

/* A request before its signature is checked. */
struct flood_request {
	const char *address;   /* as the web server reports it; may be "" */
	const char *caller_id; /* as sent */
	bool exists;           /* the caller id exists */
	size_t body_len;       /* bytes */
	int64_t now_ms;        /* boot time */
};

enum flood_room {
	FLOOD_ROOM,    /* within the budgets: check with the same work for all */
	FLOOD_LEAN,    /* above a budget: check with the least work */
	FLOOD_REFUSED, /* above all budgets: reject without a check */
};

/* Returns false if randomness is exhausted. */
bool flood_init(struct flood *flood);

/* Returns how @request may be checked. The result is FLOOD_LEAN or FLOOD_REFUSED only above a
 * budget. */
enum flood_room flood_enter(struct flood *flood, const struct flood_request *request);

/*
 * Reports the result of the check. A valid signature makes the pair trusted; an invalid one is
 * charged.
 */
void flood_leave(struct flood *flood, const struct flood_request *request, bool good);

/*
 * Returns true if a line may be logged for a request without a valid signature. *@left_out is the
 * number of lines dropped since the last one that was logged.
 */
bool flood_may_log(struct flood *flood, int64_t now_ms, uint64_t *left_out);

#endif
