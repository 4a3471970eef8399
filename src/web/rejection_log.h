/*
 * rejection_log - reports to the ledger a request that was answered 400, 401 or, to a dealer,
 * user_not_found, so that `explain` can name the cause (link/refused_commands.h).
 *
 * It is taken while the request is at hand, which costs a copy of its headers, and sent once the
 * answer has left: no answer waits for it. It is sent on the thread's own link without waiting for
 * the ledger (link_post), one at a time. A thread sends no more than its budget allows; what is
 * above is dropped and counted, so that a flood of refused requests costs no other call anything.
 */
#ifndef WEB_REJECTION_LOG_H
#define WEB_REJECTION_LOG_H

#include "fcgi/request.h"
#include "link/client.h"
#include "metrics/counters.h"
#include "web/request/reply.h"
#include "web/route.h"

/* The budget: so much at once and so much a second. A note costs 1, and 1 for each 4 KiB of body. */
#define REJECTION_LOG_BURST  64
#define REJECTION_LOG_PER_S  16
#define REJECTION_LOG_BYTES  4096

/* Of a thread. Needs no init beyond zeros. */
struct rejection_log {
	bool pending;
	struct refused_request request; /* points into the members below, and to the request's body */
	uint8_t caller[REFUSED_ID_MAX];
	uint8_t signature[REFUSED_SIGNATURE_MAX];
	uint8_t query[REFUSED_QUERY_MAX];
	int64_t budget_ms;    /* boot time of the budget below ... */
	int64_t budget_milli; /* ... in thousandths */
};

/*
 * Takes @request, which @reply answers, unless the budget is used up. Its body must stay where it
 * is until rejection_log_send(). Of other answers than those nothing is taken. The note of
 * a user_not_found leaves half of the budget to the others.
 */
void rejection_log_record(struct rejection_log *log, const struct route *route,
	const struct http_request *request, const struct http_reply *reply,
	struct counting *counting);

/* Sends what was taken, or drops it; the signature is wiped. */
void rejection_log_send(struct rejection_log *log, struct link *link, struct counting *counting);

#endif
