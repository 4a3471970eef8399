/*
 * flood - the bound of what callers without a key cost a worker process.
 *
 * The signature of a request is checked over its whole body, so a caller without a key could use up the
 * processor with large bodies. The bytes that were hashed for requests that failed are therefore charged
 * to the caller's address and to the process. Above either budget:
 *
 * - a caller id that signed well from the same address within FLOOD_TRUST_MS (a trusted pair) is checked.
 *   Its requests that fail are charged to a budget of the pair, too. Above that budget it is checked only
 *   if its body has at most FLOOD_SMALL_BYTES, as every body of the wallet's operations needs. So a flood of
 *   large bodies from a caller's own address under its own id keeps none of its small calls out;
 * - another caller id has a small budget of its own, so that a caller with a key is let in beside a
 *   flood; all ids that do not exist share one;
 * - what exceeds that is refused before anything is hashed: 429 rate_limited.
 *
 * A request with a good signature charges nothing. All threads of a process share one struct flood.
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

/* Budgets in bytes: at once, and a second. A request costs its body and FLOOD_REQUEST_BYTES. */
#define FLOOD_REQUEST_BYTES    1024
#define FLOOD_ADDRESS_BURST    (INT64_C(16) << 20)
#define FLOOD_ADDRESS_PER_S    (INT64_C(8) << 20)
#define FLOOD_PROCESS_BURST    (INT64_C(64) << 20)
#define FLOOD_PROCESS_PER_S    (INT64_C(32) << 20)
#define FLOOD_CALLER_BURST     (INT64_C(2) << 20)
#define FLOOD_CALLER_PER_S     (INT64_C(1) << 20)
#define FLOOD_PAIR_BURST       (INT64_C(4) << 20)
#define FLOOD_PAIR_PER_S       (INT64_C(4) << 20)
/* The signature of such a body costs less than the rest of the call. */
#define FLOOD_SMALL_BYTES      2048
/* Lines in the log for requests whose caller was not let in: at once, and a second. */
#define FLOOD_LINES_BURST 256
#define FLOOD_LINES_PER_S 64

struct flood_budget {
	int64_t spent;   /* what was taken and did not come back yet */
	int64_t from_ms; /* boot time of @spent */
};

/* A caller id at an address from which it signed well. */
struct flood_pair {
	uint64_t pair; /* the hash of both */
	int64_t until_ms;
	struct flood_budget budget; /* of its requests that failed */
};

struct flood {
	pthread_mutex_t mutex;
	uint64_t seed;
	struct flood_budget process;
	struct flood_budget lines;
	uint64_t lines_left_out;
	struct flood_budget addresses[FLOOD_ADDRESSES]; /* by the hash of the address */
	struct flood_budget callers[FLOOD_CALLERS];     /* by the hash of an id that exists; see above */
	struct flood_pair trusted[FLOOD_TRUSTED];       /* by the hash of the pair */
};

/* A request before its signature is checked. */
struct flood_request {
	const char *address;   /* the caller's, as the web server gives it; may be "" */
	const char *caller_id; /* as sent */
	bool exists;           /* there is such a caller */
	size_t body_len;       /* bytes */
	int64_t now_ms;        /* boot time */
};

enum flood_room {
	FLOOD_ROOM,    /* nothing is short: to be checked, with the same work for all */
	FLOOD_LEAN,    /* above a budget: to be checked with as little work as possible */
	FLOOD_REFUSED, /* above all budgets: to be refused without work */
};

/* False: no randomness. */
bool flood_init(struct flood *flood);

/* How @request may be checked. FLOOD_LEAN and FLOOD_REFUSED only above a budget. */
enum flood_room flood_enter(struct flood *flood, const struct flood_request *request);

/* The end of the check of @request: a good signature makes the pair trusted, a wrong one is charged. */
void flood_leave(struct flood *flood, const struct flood_request *request, bool good);

/*
 * Whether a line may be logged for a request whose caller was not let in. *@left_out is how many lines
 * were left out since the last one that was logged.
 */
bool flood_may_log(struct flood *flood, int64_t now_ms, uint64_t *left_out);

#endif
